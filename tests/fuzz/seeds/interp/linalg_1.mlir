#q = affine_map<(h, m, n, k) -> (h, m, k)>
#k = affine_map<(h, m, n, k) -> (h floordiv 2, n, k)>
#o = affine_map<(h, m, n, k) -> (h, m, n)>
func.func private @printMemrefI32(tensor<*xi32>)
func.func @main() {
  %a = arith.constant dense<[[-1, 2], [3, -128]]> : tensor<2x2xi8>
  %b = arith.constant dense<[[1, 0], [2, 127]]> : tensor<2x2xi8>
  %zero = arith.constant 0 : i32
  %e = tensor.empty() : tensor<2x2xi32>
  %z = linalg.fill ins(%zero : i32) outs(%e : tensor<2x2xi32>) -> tensor<2x2xi32>
  %r = linalg.matmul ins(%a, %b : tensor<2x2xi8>, tensor<2x2xi8>) outs(%z : tensor<2x2xi32>) -> tensor<2x2xi32>
  %u0 = tensor.cast %r : tensor<2x2xi32> to tensor<*xi32>
  func.call @printMemrefI32(%u0) : (tensor<*xi32>) -> ()
  %s = linalg.matmul {cast = #linalg.type_fn<cast_unsigned>} ins(%a, %b : tensor<2x2xi8>, tensor<2x2xi8>) outs(%z : tensor<2x2xi32>) -> tensor<2x2xi32>
  %u1 = tensor.cast %s : tensor<2x2xi32> to tensor<*xi32>
  func.call @printMemrefI32(%u1) : (tensor<*xi32>) -> ()
  %x = arith.constant dense<[[[1, 2]], [[3, 4]], [[5, 6]], [[7, 8]]]> : tensor<4x1x2xi32>
  %y = arith.constant dense<[[[1, 1]], [[1, -1]]]> : tensor<2x1x2xi32>
  %f = tensor.empty() : tensor<4x1x1xi32>
  %g = linalg.fill ins(%zero : i32) outs(%f : tensor<4x1x1xi32>) -> tensor<4x1x1xi32>
  %w = linalg.generic {indexing_maps = [#q, #k, #o], iterator_types = ["parallel", "parallel", "parallel", "reduction"]} ins(%x, %y : tensor<4x1x2xi32>, tensor<2x1x2xi32>) outs(%g : tensor<4x1x1xi32>) {
  ^bb0(%p: i32, %l: i32, %acc: i32):
    %0 = arith.muli %p, %l : i32
    %1 = arith.addi %acc, %0 : i32
    linalg.yield %1 : i32
  } -> tensor<4x1x1xi32>
  %v = tensor.collapse_shape %w [[0, 1, 2]] : tensor<4x1x1xi32> into tensor<4xi32>
  %u2 = tensor.cast %v : tensor<4xi32> to tensor<*xi32>
  func.call @printMemrefI32(%u2) : (tensor<*xi32>) -> ()
  return
}

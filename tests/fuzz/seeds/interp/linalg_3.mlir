func.func private @printMemrefI32(tensor<*xi32>)
func.func @main() {
  %a = arith.constant dense<[[0, 1, 2], [3, 4, 5], [6, 7, 8]]> : tensor<3x3xi32>
  %c = arith.constant -1 : i32
  %e = tensor.empty() : tensor<2x3x2x1xi32>
  %p = linalg.pack %a padding_value(%c : i32) outer_dims_perm = [1, 0] inner_dims_pos = [1, 0] inner_tiles = [2, 1] into %e : tensor<3x3xi32> -> tensor<2x3x2x1xi32>
  %f = tensor.empty() : tensor<3x3xi32>
  %u = linalg.unpack %p outer_dims_perm = [1, 0] inner_dims_pos = [1, 0] inner_tiles = [2, 1] into %f : tensor<2x3x2x1xi32> -> tensor<3x3xi32>
  %s = tensor.collapse_shape %p [[0, 1, 2, 3]] : tensor<2x3x2x1xi32> into tensor<12xi32>
  %u0 = tensor.cast %s : tensor<12xi32> to tensor<*xi32>
  func.call @printMemrefI32(%u0) : (tensor<*xi32>) -> ()
  %u1 = tensor.cast %u : tensor<3x3xi32> to tensor<*xi32>
  func.call @printMemrefI32(%u1) : (tensor<*xi32>) -> ()
  return
}

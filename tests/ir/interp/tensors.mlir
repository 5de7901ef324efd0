// value semantics: an updated tensor does not change the old one
// no-oracle: one-shot-bufferize refuses iteration arguments that change places
func.func private @printMemrefF32(tensor<*xf32>)
func.func @main() {
  %c0 = arith.constant 0 : index
  %c1 = arith.constant 1 : index
  %c3 = arith.constant 3 : index
  %z = arith.constant 0.0 : f32
  %nine = arith.constant 9.0 : f32
  %e = tensor.empty() : tensor<4xf32>
  %a = linalg.fill ins(%z : f32) outs(%e : tensor<4xf32>) -> tensor<4xf32>
  %b = tensor.insert %nine into %a[%c1] : tensor<4xf32>
  %c:2 = scf.for %i = %c0 to %c3 step %c1 iter_args(%x = %a, %y = %b) -> (tensor<4xf32>, tensor<4xf32>) {
    %f = arith.index_cast %i : index to i32
    %v = arith.sitofp %f : i32 to f32
    %n = tensor.insert %v into %x[%i] : tensor<4xf32>
    scf.yield %y, %n : tensor<4xf32>, tensor<4xf32>
  }
  %ua = tensor.cast %a : tensor<4xf32> to tensor<*xf32>
  func.call @printMemrefF32(%ua) : (tensor<*xf32>) -> ()
  %ub = tensor.cast %b : tensor<4xf32> to tensor<*xf32>
  func.call @printMemrefF32(%ub) : (tensor<*xf32>) -> ()
  %u0 = tensor.cast %c#0 : tensor<4xf32> to tensor<*xf32>
  func.call @printMemrefF32(%u0) : (tensor<*xf32>) -> ()
  %u1 = tensor.cast %c#1 : tensor<4xf32> to tensor<*xf32>
  func.call @printMemrefF32(%u1) : (tensor<*xf32>) -> ()
  return
}
// out: Unranked Memref base@ = 0x0 rank = 1 offset = 0 sizes = [4] strides = [1] data =
// out: [0,  0,  0,  0]
// out: Unranked Memref base@ = 0x0 rank = 1 offset = 0 sizes = [4] strides = [1] data =
// out: [0,  9,  0,  0]
// out: Unranked Memref base@ = 0x0 rank = 1 offset = 0 sizes = [4] strides = [1] data =
// out: [0,  1,  0,  0]
// out: Unranked Memref base@ = 0x0 rank = 1 offset = 0 sizes = [4] strides = [1] data =
// out: [0,  0,  2,  0]
// -----
// slices with strides, rank reduction, padding, reshapes
func.func private @printMemrefI32(tensor<*xi32>)
func.func @main() {
  %a = arith.constant dense<[[0, 1, 2, 3, 4, 5], [6, 7, 8, 9, 10, 11], [12, 13, 14, 15, 16, 17]]> : tensor<3x6xi32>
  %m1 = arith.constant -1 : i32
  %c1 = arith.constant 1 : index
  %s = tensor.extract_slice %a[%c1, 1] [2, 3] [1, 2] : tensor<3x6xi32> to tensor<2x3xi32>
  %r = tensor.extract_slice %a[2, 0] [1, 6] [1, 1] : tensor<3x6xi32> to tensor<6xi32>
  %p = tensor.pad %s low[0, 1] high[1, 0] {
  ^bb0(%i: index, %j: index):
    tensor.yield %m1 : i32
  } : tensor<2x3xi32> to tensor<3x4xi32>
  %e = tensor.expand_shape %r [[0, 1]] output_shape [3, 2] : tensor<6xi32> into tensor<3x2xi32>
  %w = tensor.insert_slice %e into %p[0, 0] [3, 2] [1, 3] : tensor<3x2xi32> into tensor<3x4xi32>
  %k = tensor.collapse_shape %w [[0, 1]] : tensor<3x4xi32> into tensor<12xi32>
  %u0 = tensor.cast %p : tensor<3x4xi32> to tensor<*xi32>
  func.call @printMemrefI32(%u0) : (tensor<*xi32>) -> ()
  %u1 = tensor.cast %k : tensor<12xi32> to tensor<*xi32>
  func.call @printMemrefI32(%u1) : (tensor<*xi32>) -> ()
  return
}
// out: Unranked Memref base@ = 0x0 rank = 2 offset = 0 sizes = [3, 4] strides = [4, 1] data =
// out: [[-1,   7,   9,   11],
// out:  [-1,   13,   15,   17],
// out:  [-1,   -1,   -1,   -1]]
// out: Unranked Memref base@ = 0x0 rank = 1 offset = 0 sizes = [12] strides = [1] data =
// out: [12,  7,  9,  13,  14,  13,  15,  15,  16,  -1,  -1,  17]
// -----
// scf.forall over rows; scf.if; dynamic sizes
func.func private @printMemrefF32(tensor<*xf32>)
func.func @double(%x: tensor<?x2xf32>) -> tensor<?x2xf32> {
  %c0 = arith.constant 0 : index
  %n = tensor.dim %x, %c0 : tensor<?x2xf32>
  %r = scf.forall (%i) in (%n) shared_outs(%o = %x) -> (tensor<?x2xf32>) {
    %s = tensor.extract_slice %o[%i, 0] [1, 2] [1, 1] : tensor<?x2xf32> to tensor<1x2xf32>
    %e = tensor.empty() : tensor<1x2xf32>
    %d = linalg.generic {indexing_maps = [affine_map<(d0, d1) -> (d0, d1)>, affine_map<(d0, d1) -> (d0, -d1 + 1)>], iterator_types = ["parallel", "parallel"]} ins(%s : tensor<1x2xf32>) outs(%e : tensor<1x2xf32>) {
    ^bb0(%a: f32, %b: f32):
      %k = linalg.index 1 : index
      %even = arith.cmpi eq, %k, %c0 : index
      %v = scf.if %even -> (f32) {
        %t = arith.addf %a, %a : f32
        scf.yield %t : f32
      } else {
        scf.yield %a : f32
      }
      linalg.yield %v : f32
    } -> tensor<1x2xf32>
    scf.forall.in_parallel {
      tensor.parallel_insert_slice %d into %o[%i, 0] [1, 2] [1, 1] : tensor<1x2xf32> into tensor<?x2xf32>
    }
  }
  return %r : tensor<?x2xf32>
}
func.func @main() {
  %a = arith.constant dense<[[1.0, 2.0], [3.0, 4.0], [5.0, 6.0]]> : tensor<3x2xf32>
  %d = tensor.cast %a : tensor<3x2xf32> to tensor<?x2xf32>
  %r = func.call @double(%d) : (tensor<?x2xf32>) -> tensor<?x2xf32>
  %s = tensor.cast %r : tensor<?x2xf32> to tensor<3x2xf32>
  %u = tensor.cast %s : tensor<3x2xf32> to tensor<*xf32>
  func.call @printMemrefF32(%u) : (tensor<*xf32>) -> ()
  %v = tensor.cast %a : tensor<3x2xf32> to tensor<*xf32>
  func.call @printMemrefF32(%v) : (tensor<*xf32>) -> ()
  return
}
// out: Unranked Memref base@ = 0x0 rank = 2 offset = 0 sizes = [3, 2] strides = [2, 1] data =
// out: [[2,   2],
// out:  [4,   6],
// out:  [6,   10]]
// out: Unranked Memref base@ = 0x0 rank = 2 offset = 0 sizes = [3, 2] strides = [2, 1] data =
// out: [[1,   2],
// out:  [3,   4],
// out:  [5,   6]]

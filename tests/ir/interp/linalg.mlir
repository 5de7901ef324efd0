// named operations: transpose, broadcast, reduce, copy with a cast
func.func private @printMemrefF32(tensor<*xf32>)
func.func @main() {
  %a = arith.constant dense<[[1, 2, 3], [4, 5, 6]]> : tensor<2x3xi8>
  %b = arith.constant dense<[10.0, 20.0]> : tensor<2xf32>
  %zero = arith.constant 0.0 : f32
  %e0 = tensor.empty() : tensor<2x3xf32>
  %c = linalg.copy ins(%a : tensor<2x3xi8>) outs(%e0 : tensor<2x3xf32>) -> tensor<2x3xf32>
  %e1 = tensor.empty() : tensor<3x2xf32>
  %t = linalg.transpose ins(%c : tensor<2x3xf32>) outs(%e1 : tensor<3x2xf32>) permutation = [1, 0]
  %u0 = tensor.cast %t : tensor<3x2xf32> to tensor<*xf32>
  func.call @printMemrefF32(%u0) : (tensor<*xf32>) -> ()
  %e2 = tensor.empty() : tensor<2x3xf32>
  %r = linalg.broadcast ins(%b : tensor<2xf32>) outs(%e2 : tensor<2x3xf32>) dimensions = [1]
  %u1 = tensor.cast %r : tensor<2x3xf32> to tensor<*xf32>
  func.call @printMemrefF32(%u1) : (tensor<*xf32>) -> ()
  %e3 = tensor.empty() : tensor<3xf32>
  %z = linalg.fill ins(%zero : f32) outs(%e3 : tensor<3xf32>) -> tensor<3xf32>
  %s = linalg.reduce { arith.addf } ins(%c : tensor<2x3xf32>) outs(%z : tensor<3xf32>) dimensions = [0]
  %u2 = tensor.cast %s : tensor<3xf32> to tensor<*xf32>
  func.call @printMemrefF32(%u2) : (tensor<*xf32>) -> ()
  return
}
// out: Unranked Memref base@ = 0x0 rank = 2 offset = 0 sizes = [3, 2] strides = [2, 1] data =
// out: [[1,   4],
// out:  [2,   5],
// out:  [3,   6]]
// out: Unranked Memref base@ = 0x0 rank = 2 offset = 0 sizes = [2, 3] strides = [3, 1] data =
// out: [[10,   10,   10],
// out:  [20,   20,   20]]
// out: Unranked Memref base@ = 0x0 rank = 1 offset = 0 sizes = [3] strides = [1] data =
// out: [5,  7,  9]
// -----
// integer contractions: signed and unsigned codes, a batch, a floordiv map
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
// out: Unranked Memref base@ = 0x0 rank = 2 offset = 0 sizes = [2, 2] strides = [2, 1] data =
// out: [[3,   254],
// out:  [-253,   -16256]]
// out: Unranked Memref base@ = 0x0 rank = 2 offset = 0 sizes = [2, 2] strides = [2, 1] data =
// out: [[259,   254],
// out:  [259,   16256]]
// out: Unranked Memref base@ = 0x0 rank = 1 offset = 0 sizes = [4] strides = [1] data =
// out: [3,  7,  -1,  -1]
// -----
// convolutions in three layouts give the same numbers; pooling; depthwise
func.func private @printMemrefF32(tensor<*xf32>)
func.func @main() {
  %x = arith.constant dense<[[[[1.0], [2.0], [3.0]], [[4.0], [5.0], [6.0]], [[7.0], [8.0], [9.0]]]]> : tensor<1x3x3x1xf32>
  %w = arith.constant dense<[[[[1.0]], [[2.0]]], [[[-1.0]], [[0.5]]]]> : tensor<2x2x1x1xf32>
  %zero = arith.constant 0.0 : f32
  %e = tensor.empty() : tensor<1x2x2x1xf32>
  %z = linalg.fill ins(%zero : f32) outs(%e : tensor<1x2x2x1xf32>) -> tensor<1x2x2x1xf32>
  %a = linalg.conv_2d_nhwc_hwcf ins(%x, %w : tensor<1x3x3x1xf32>, tensor<2x2x1x1xf32>) outs(%z : tensor<1x2x2x1xf32>) -> tensor<1x2x2x1xf32>
  %xf = tensor.collapse_shape %x [[0, 1, 2, 3]] : tensor<1x3x3x1xf32> into tensor<9xf32>
  %wf = tensor.collapse_shape %w [[0, 1, 2, 3]] : tensor<2x2x1x1xf32> into tensor<4xf32>
  %zf = tensor.collapse_shape %z [[0, 1, 2, 3]] : tensor<1x2x2x1xf32> into tensor<4xf32>
  %xc = tensor.expand_shape %xf [[0, 1, 2, 3]] output_shape [1, 1, 3, 3] : tensor<9xf32> into tensor<1x1x3x3xf32>
  %wc = tensor.expand_shape %wf [[0, 1, 2, 3]] output_shape [1, 1, 2, 2] : tensor<4xf32> into tensor<1x1x2x2xf32>
  %zc = tensor.expand_shape %zf [[0, 1, 2, 3]] output_shape [1, 1, 2, 2] : tensor<4xf32> into tensor<1x1x2x2xf32>
  %b = linalg.conv_2d_nchw_fchw ins(%xc, %wc : tensor<1x1x3x3xf32>, tensor<1x1x2x2xf32>) outs(%zc : tensor<1x1x2x2xf32>) -> tensor<1x1x2x2xf32>
  %wd = tensor.collapse_shape %w [[0], [1], [2, 3]] : tensor<2x2x1x1xf32> into tensor<2x2x1xf32>
  %c = linalg.depthwise_conv_2d_nhwc_hwc ins(%x, %wd : tensor<1x3x3x1xf32>, tensor<2x2x1xf32>) outs(%z : tensor<1x2x2x1xf32>) -> tensor<1x2x2x1xf32>
  %win = tensor.empty() : tensor<2x2xf32>
  %m = linalg.pooling_nhwc_max ins(%x, %win : tensor<1x3x3x1xf32>, tensor<2x2xf32>) outs(%z : tensor<1x2x2x1xf32>) -> tensor<1x2x2x1xf32>
  %s = linalg.pooling_nhwc_sum ins(%x, %win : tensor<1x3x3x1xf32>, tensor<2x2xf32>) outs(%z : tensor<1x2x2x1xf32>) -> tensor<1x2x2x1xf32>
  %most = arith.constant 4.5 : f32
  %zm = linalg.fill ins(%most : f32) outs(%e : tensor<1x2x2x1xf32>) -> tensor<1x2x2x1xf32>
  %n = linalg.pooling_nhwc_min ins(%x, %win : tensor<1x3x3x1xf32>, tensor<2x2xf32>) outs(%zm : tensor<1x2x2x1xf32>) -> tensor<1x2x2x1xf32>
  %a1 = tensor.collapse_shape %a [[0, 1, 2, 3]] : tensor<1x2x2x1xf32> into tensor<4xf32>
  %b1 = tensor.collapse_shape %b [[0, 1, 2, 3]] : tensor<1x1x2x2xf32> into tensor<4xf32>
  %c1 = tensor.collapse_shape %c [[0, 1, 2, 3]] : tensor<1x2x2x1xf32> into tensor<4xf32>
  %m1 = tensor.collapse_shape %m [[0, 1, 2, 3]] : tensor<1x2x2x1xf32> into tensor<4xf32>
  %s1 = tensor.collapse_shape %s [[0, 1, 2, 3]] : tensor<1x2x2x1xf32> into tensor<4xf32>
  %u0 = tensor.cast %a1 : tensor<4xf32> to tensor<*xf32>
  func.call @printMemrefF32(%u0) : (tensor<*xf32>) -> ()
  %u1 = tensor.cast %b1 : tensor<4xf32> to tensor<*xf32>
  func.call @printMemrefF32(%u1) : (tensor<*xf32>) -> ()
  %u2 = tensor.cast %c1 : tensor<4xf32> to tensor<*xf32>
  func.call @printMemrefF32(%u2) : (tensor<*xf32>) -> ()
  %u3 = tensor.cast %m1 : tensor<4xf32> to tensor<*xf32>
  func.call @printMemrefF32(%u3) : (tensor<*xf32>) -> ()
  %u4 = tensor.cast %s1 : tensor<4xf32> to tensor<*xf32>
  func.call @printMemrefF32(%u4) : (tensor<*xf32>) -> ()
  %n1 = tensor.collapse_shape %n [[0, 1, 2, 3]] : tensor<1x2x2x1xf32> into tensor<4xf32>
  %u5 = tensor.cast %n1 : tensor<4xf32> to tensor<*xf32>
  func.call @printMemrefF32(%u5) : (tensor<*xf32>) -> ()
  return
}
// out: Unranked Memref base@ = 0x0 rank = 1 offset = 0 sizes = [4] strides = [1] data =
// out: [3.5,  6,  11,  13.5]
// out: Unranked Memref base@ = 0x0 rank = 1 offset = 0 sizes = [4] strides = [1] data =
// out: [3.5,  6,  11,  13.5]
// out: Unranked Memref base@ = 0x0 rank = 1 offset = 0 sizes = [4] strides = [1] data =
// out: [3.5,  6,  11,  13.5]
// out: Unranked Memref base@ = 0x0 rank = 1 offset = 0 sizes = [4] strides = [1] data =
// out: [5,  6,  8,  9]
// out: Unranked Memref base@ = 0x0 rank = 1 offset = 0 sizes = [4] strides = [1] data =
// out: [12,  16,  24,  28]
// out: Unranked Memref base@ = 0x0 rank = 1 offset = 0 sizes = [4] strides = [1] data =
// out: [1,  2,  4,  4.5]
// -----
// pack with padding and a permutation of the outer dimensions, and back
// no-oracle: stock MLIR cannot bufferize linalg.pack
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
// out: Unranked Memref base@ = 0x0 rank = 1 offset = 0 sizes = [12] strides = [1] data =
// out: [0,  1,  3,  4,  6,  7,  2,  -1,  5,  -1,  8,  -1]
// out: Unranked Memref base@ = 0x0 rank = 2 offset = 0 sizes = [3, 3] strides = [3, 1] data =
// out: [[0,   1,   2],
// out:  [3,   4,   5],
// out:  [6,   7,   8]]

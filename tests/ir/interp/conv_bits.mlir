// convolutions: the bits of every sum, so the order of every loop
// any-output
#id = affine_map<(d0) -> (d0)>
func.func private @printMemrefI32(tensor<*xi32>)
func.func private @x0() -> tensor<1x7x9x5xf16> {
  %e = tensor.empty() : tensor<315xf16>
  %r = linalg.generic {indexing_maps = [#id], iterator_types = ["parallel"]} outs(%e : tensor<315xf16>) {
  ^bb0(%o: f16):
    %i = linalg.index 0 : index
    %a = arith.constant 211 : index
    %b = arith.constant 3 : index
    %m = arith.constant 509 : index
    %0 = arith.muli %i, %a : index
    %1 = arith.addi %0, %b : index
    %2 = arith.remui %1, %m : index
    %3 = arith.index_cast %2 : index to i32
    %f = arith.sitofp %3 : i32 to f32
    %s = arith.constant 1.370000e-03 : f32
    %x = arith.mulf %f, %s : f32
    %k = arith.constant 0.35 : f32
    %y = arith.subf %x, %k : f32
    %h = arith.truncf %y : f32 to f16
    linalg.yield %h : f16
  } -> tensor<315xf16>
  %t = tensor.expand_shape %r [[0, 1, 2, 3]] output_shape [1, 7, 9, 5] : tensor<315xf16> into tensor<1x7x9x5xf16>
  return %t : tensor<1x7x9x5xf16>
}
func.func private @w0() -> tensor<3x3x5x4xf16> {
  %e = tensor.empty() : tensor<180xf16>
  %r = linalg.generic {indexing_maps = [#id], iterator_types = ["parallel"]} outs(%e : tensor<180xf16>) {
  ^bb0(%o: f16):
    %i = linalg.index 0 : index
    %a = arith.constant 97 : index
    %b = arith.constant 11 : index
    %m = arith.constant 509 : index
    %0 = arith.muli %i, %a : index
    %1 = arith.addi %0, %b : index
    %2 = arith.remui %1, %m : index
    %3 = arith.index_cast %2 : index to i32
    %f = arith.sitofp %3 : i32 to f32
    %s = arith.constant 1.370000e-03 : f32
    %x = arith.mulf %f, %s : f32
    %k = arith.constant 0.35 : f32
    %y = arith.subf %x, %k : f32
    %h = arith.truncf %y : f32 to f16
    linalg.yield %h : f16
  } -> tensor<180xf16>
  %t = tensor.expand_shape %r [[0, 1, 2, 3]] output_shape [3, 3, 5, 4] : tensor<180xf16> into tensor<3x3x5x4xf16>
  return %t : tensor<3x3x5x4xf16>
}
func.func private @x1() -> tensor<2x5x6x7xf32> {
  %e = tensor.empty() : tensor<420xf32>
  %r = linalg.generic {indexing_maps = [#id], iterator_types = ["parallel"]} outs(%e : tensor<420xf32>) {
  ^bb0(%o: f32):
    %i = linalg.index 0 : index
    %a = arith.constant 212 : index
    %b = arith.constant 3 : index
    %m = arith.constant 509 : index
    %0 = arith.muli %i, %a : index
    %1 = arith.addi %0, %b : index
    %2 = arith.remui %1, %m : index
    %3 = arith.index_cast %2 : index to i32
    %f = arith.sitofp %3 : i32 to f32
    %s = arith.constant 1.370000e-03 : f32
    %x = arith.mulf %f, %s : f32
    %k = arith.constant 0.35 : f32
    %y = arith.subf %x, %k : f32
    linalg.yield %y : f32
  } -> tensor<420xf32>
  %t = tensor.expand_shape %r [[0, 1, 2, 3]] output_shape [2, 5, 6, 7] : tensor<420xf32> into tensor<2x5x6x7xf32>
  return %t : tensor<2x5x6x7xf32>
}
func.func private @w1() -> tensor<4x5x3x3xf32> {
  %e = tensor.empty() : tensor<180xf32>
  %r = linalg.generic {indexing_maps = [#id], iterator_types = ["parallel"]} outs(%e : tensor<180xf32>) {
  ^bb0(%o: f32):
    %i = linalg.index 0 : index
    %a = arith.constant 98 : index
    %b = arith.constant 11 : index
    %m = arith.constant 509 : index
    %0 = arith.muli %i, %a : index
    %1 = arith.addi %0, %b : index
    %2 = arith.remui %1, %m : index
    %3 = arith.index_cast %2 : index to i32
    %f = arith.sitofp %3 : i32 to f32
    %s = arith.constant 1.370000e-03 : f32
    %x = arith.mulf %f, %s : f32
    %k = arith.constant 0.35 : f32
    %y = arith.subf %x, %k : f32
    linalg.yield %y : f32
  } -> tensor<180xf32>
  %t = tensor.expand_shape %r [[0, 1, 2, 3]] output_shape [4, 5, 3, 3] : tensor<180xf32> into tensor<4x5x3x3xf32>
  return %t : tensor<4x5x3x3xf32>
}
func.func private @x2() -> tensor<1x2x3x6x6xf32> {
  %e = tensor.empty() : tensor<216xf32>
  %r = linalg.generic {indexing_maps = [#id], iterator_types = ["parallel"]} outs(%e : tensor<216xf32>) {
  ^bb0(%o: f32):
    %i = linalg.index 0 : index
    %a = arith.constant 213 : index
    %b = arith.constant 3 : index
    %m = arith.constant 509 : index
    %0 = arith.muli %i, %a : index
    %1 = arith.addi %0, %b : index
    %2 = arith.remui %1, %m : index
    %3 = arith.index_cast %2 : index to i32
    %f = arith.sitofp %3 : i32 to f32
    %s = arith.constant 1.370000e-03 : f32
    %x = arith.mulf %f, %s : f32
    %k = arith.constant 0.35 : f32
    %y = arith.subf %x, %k : f32
    linalg.yield %y : f32
  } -> tensor<216xf32>
  %t = tensor.expand_shape %r [[0, 1, 2, 3, 4]] output_shape [1, 2, 3, 6, 6] : tensor<216xf32> into tensor<1x2x3x6x6xf32>
  return %t : tensor<1x2x3x6x6xf32>
}
func.func private @w2() -> tensor<4x2x3x3x3xf32> {
  %e = tensor.empty() : tensor<216xf32>
  %r = linalg.generic {indexing_maps = [#id], iterator_types = ["parallel"]} outs(%e : tensor<216xf32>) {
  ^bb0(%o: f32):
    %i = linalg.index 0 : index
    %a = arith.constant 99 : index
    %b = arith.constant 11 : index
    %m = arith.constant 509 : index
    %0 = arith.muli %i, %a : index
    %1 = arith.addi %0, %b : index
    %2 = arith.remui %1, %m : index
    %3 = arith.index_cast %2 : index to i32
    %f = arith.sitofp %3 : i32 to f32
    %s = arith.constant 1.370000e-03 : f32
    %x = arith.mulf %f, %s : f32
    %k = arith.constant 0.35 : f32
    %y = arith.subf %x, %k : f32
    linalg.yield %y : f32
  } -> tensor<216xf32>
  %t = tensor.expand_shape %r [[0, 1, 2, 3, 4]] output_shape [4, 2, 3, 3, 3] : tensor<216xf32> into tensor<4x2x3x3x3xf32>
  return %t : tensor<4x2x3x3x3xf32>
}
func.func private @x3() -> tensor<1x6x6x3xbf16> {
  %e = tensor.empty() : tensor<108xbf16>
  %r = linalg.generic {indexing_maps = [#id], iterator_types = ["parallel"]} outs(%e : tensor<108xbf16>) {
  ^bb0(%o: bf16):
    %i = linalg.index 0 : index
    %a = arith.constant 214 : index
    %b = arith.constant 3 : index
    %m = arith.constant 509 : index
    %0 = arith.muli %i, %a : index
    %1 = arith.addi %0, %b : index
    %2 = arith.remui %1, %m : index
    %3 = arith.index_cast %2 : index to i32
    %f = arith.sitofp %3 : i32 to f32
    %s = arith.constant 1.370000e-03 : f32
    %x = arith.mulf %f, %s : f32
    %k = arith.constant 0.35 : f32
    %y = arith.subf %x, %k : f32
    %h = arith.truncf %y : f32 to bf16
    linalg.yield %h : bf16
  } -> tensor<108xbf16>
  %t = tensor.expand_shape %r [[0, 1, 2, 3]] output_shape [1, 6, 6, 3] : tensor<108xbf16> into tensor<1x6x6x3xbf16>
  return %t : tensor<1x6x6x3xbf16>
}
func.func private @w3() -> tensor<3x3x3xbf16> {
  %e = tensor.empty() : tensor<27xbf16>
  %r = linalg.generic {indexing_maps = [#id], iterator_types = ["parallel"]} outs(%e : tensor<27xbf16>) {
  ^bb0(%o: bf16):
    %i = linalg.index 0 : index
    %a = arith.constant 100 : index
    %b = arith.constant 11 : index
    %m = arith.constant 509 : index
    %0 = arith.muli %i, %a : index
    %1 = arith.addi %0, %b : index
    %2 = arith.remui %1, %m : index
    %3 = arith.index_cast %2 : index to i32
    %f = arith.sitofp %3 : i32 to f32
    %s = arith.constant 1.370000e-03 : f32
    %x = arith.mulf %f, %s : f32
    %k = arith.constant 0.35 : f32
    %y = arith.subf %x, %k : f32
    %h = arith.truncf %y : f32 to bf16
    linalg.yield %h : bf16
  } -> tensor<27xbf16>
  %t = tensor.expand_shape %r [[0, 1, 2]] output_shape [3, 3, 3] : tensor<27xbf16> into tensor<3x3x3xbf16>
  return %t : tensor<3x3x3xbf16>
}
func.func private @x4() -> tensor<1x8x8x3xf32> {
  %e = tensor.empty() : tensor<192xf32>
  %r = linalg.generic {indexing_maps = [#id], iterator_types = ["parallel"]} outs(%e : tensor<192xf32>) {
  ^bb0(%o: f32):
    %i = linalg.index 0 : index
    %a = arith.constant 215 : index
    %b = arith.constant 3 : index
    %m = arith.constant 509 : index
    %0 = arith.muli %i, %a : index
    %1 = arith.addi %0, %b : index
    %2 = arith.remui %1, %m : index
    %3 = arith.index_cast %2 : index to i32
    %f = arith.sitofp %3 : i32 to f32
    %s = arith.constant 1.370000e-03 : f32
    %x = arith.mulf %f, %s : f32
    %k = arith.constant 0.35 : f32
    %y = arith.subf %x, %k : f32
    linalg.yield %y : f32
  } -> tensor<192xf32>
  %t = tensor.expand_shape %r [[0, 1, 2, 3]] output_shape [1, 8, 8, 3] : tensor<192xf32> into tensor<1x8x8x3xf32>
  return %t : tensor<1x8x8x3xf32>
}
func.func private @w4() -> tensor<2x2xf32> {
  %e = tensor.empty() : tensor<4xf32>
  %r = linalg.generic {indexing_maps = [#id], iterator_types = ["parallel"]} outs(%e : tensor<4xf32>) {
  ^bb0(%o: f32):
    %i = linalg.index 0 : index
    %a = arith.constant 101 : index
    %b = arith.constant 11 : index
    %m = arith.constant 509 : index
    %0 = arith.muli %i, %a : index
    %1 = arith.addi %0, %b : index
    %2 = arith.remui %1, %m : index
    %3 = arith.index_cast %2 : index to i32
    %f = arith.sitofp %3 : i32 to f32
    %s = arith.constant 1.370000e-03 : f32
    %x = arith.mulf %f, %s : f32
    %k = arith.constant 0.35 : f32
    %y = arith.subf %x, %k : f32
    linalg.yield %y : f32
  } -> tensor<4xf32>
  %t = tensor.expand_shape %r [[0, 1]] output_shape [2, 2] : tensor<4xf32> into tensor<2x2xf32>
  return %t : tensor<2x2xf32>
}
func.func @main() {
  %zero = arith.constant 0.000000e+00 : f32
  %x0 = func.call @x0() : () -> tensor<1x7x9x5xf16>
  %w0 = func.call @w0() : () -> tensor<3x3x5x4xf16>
  %e0 = tensor.empty() : tensor<1x3x4x4xf32>
  %z0 = linalg.fill ins(%zero : f32) outs(%e0 : tensor<1x3x4x4xf32>) -> tensor<1x3x4x4xf32>
  %c0 = linalg.conv_2d_nhwc_hwcf {strides = dense<2> : tensor<2xi64>} ins(%x0, %w0 : tensor<1x7x9x5xf16>, tensor<3x3x5x4xf16>) outs(%z0 : tensor<1x3x4x4xf32>) -> tensor<1x3x4x4xf32>
  %f0 = tensor.collapse_shape %c0 [[0, 1, 2, 3]] : tensor<1x3x4x4xf32> into tensor<48xf32>
  %g0 = tensor.empty() : tensor<48xi32>
  %b0 = linalg.generic {indexing_maps = [#id, #id], iterator_types = ["parallel"]} ins(%f0 : tensor<48xf32>) outs(%g0 : tensor<48xi32>) {
  ^bb0(%in: f32, %o: i32):
    %0 = arith.bitcast %in : f32 to i32
    linalg.yield %0 : i32
  } -> tensor<48xi32>
  %u0 = tensor.cast %b0 : tensor<48xi32> to tensor<*xi32>
  func.call @printMemrefI32(%u0) : (tensor<*xi32>) -> ()
  %x1 = func.call @x1() : () -> tensor<2x5x6x7xf32>
  %w1 = func.call @w1() : () -> tensor<4x5x3x3xf32>
  %e1 = tensor.empty() : tensor<2x4x2x3xf32>
  %z1 = linalg.fill ins(%zero : f32) outs(%e1 : tensor<2x4x2x3xf32>) -> tensor<2x4x2x3xf32>
  %c1 = linalg.conv_2d_nchw_fchw {dilations = dense<2> : tensor<2xi64>} ins(%x1, %w1 : tensor<2x5x6x7xf32>, tensor<4x5x3x3xf32>) outs(%z1 : tensor<2x4x2x3xf32>) -> tensor<2x4x2x3xf32>
  %f1 = tensor.collapse_shape %c1 [[0, 1, 2, 3]] : tensor<2x4x2x3xf32> into tensor<48xf32>
  %g1 = tensor.empty() : tensor<48xi32>
  %b1 = linalg.generic {indexing_maps = [#id, #id], iterator_types = ["parallel"]} ins(%f1 : tensor<48xf32>) outs(%g1 : tensor<48xi32>) {
  ^bb0(%in: f32, %o: i32):
    %0 = arith.bitcast %in : f32 to i32
    linalg.yield %0 : i32
  } -> tensor<48xi32>
  %u1 = tensor.cast %b1 : tensor<48xi32> to tensor<*xi32>
  func.call @printMemrefI32(%u1) : (tensor<*xi32>) -> ()
  %x2 = func.call @x2() : () -> tensor<1x2x3x6x6xf32>
  %w2 = func.call @w2() : () -> tensor<4x2x3x3x3xf32>
  %e2 = tensor.empty() : tensor<1x2x4x4x4xf32>
  %z2 = linalg.fill ins(%zero : f32) outs(%e2 : tensor<1x2x4x4x4xf32>) -> tensor<1x2x4x4x4xf32>
  %c2 = linalg.conv_2d_ngchw_fgchw ins(%x2, %w2 : tensor<1x2x3x6x6xf32>, tensor<4x2x3x3x3xf32>) outs(%z2 : tensor<1x2x4x4x4xf32>) -> tensor<1x2x4x4x4xf32>
  %f2 = tensor.collapse_shape %c2 [[0, 1, 2, 3, 4]] : tensor<1x2x4x4x4xf32> into tensor<128xf32>
  %g2 = tensor.empty() : tensor<128xi32>
  %b2 = linalg.generic {indexing_maps = [#id, #id], iterator_types = ["parallel"]} ins(%f2 : tensor<128xf32>) outs(%g2 : tensor<128xi32>) {
  ^bb0(%in: f32, %o: i32):
    %0 = arith.bitcast %in : f32 to i32
    linalg.yield %0 : i32
  } -> tensor<128xi32>
  %u2 = tensor.cast %b2 : tensor<128xi32> to tensor<*xi32>
  func.call @printMemrefI32(%u2) : (tensor<*xi32>) -> ()
  %x3 = func.call @x3() : () -> tensor<1x6x6x3xbf16>
  %w3 = func.call @w3() : () -> tensor<3x3x3xbf16>
  %e3 = tensor.empty() : tensor<1x4x4x3xf32>
  %z3 = linalg.fill ins(%zero : f32) outs(%e3 : tensor<1x4x4x3xf32>) -> tensor<1x4x4x3xf32>
  %c3 = linalg.depthwise_conv_2d_nhwc_hwc ins(%x3, %w3 : tensor<1x6x6x3xbf16>, tensor<3x3x3xbf16>) outs(%z3 : tensor<1x4x4x3xf32>) -> tensor<1x4x4x3xf32>
  %f3 = tensor.collapse_shape %c3 [[0, 1, 2, 3]] : tensor<1x4x4x3xf32> into tensor<48xf32>
  %g3 = tensor.empty() : tensor<48xi32>
  %b3 = linalg.generic {indexing_maps = [#id, #id], iterator_types = ["parallel"]} ins(%f3 : tensor<48xf32>) outs(%g3 : tensor<48xi32>) {
  ^bb0(%in: f32, %o: i32):
    %0 = arith.bitcast %in : f32 to i32
    linalg.yield %0 : i32
  } -> tensor<48xi32>
  %u3 = tensor.cast %b3 : tensor<48xi32> to tensor<*xi32>
  func.call @printMemrefI32(%u3) : (tensor<*xi32>) -> ()
  %x4 = func.call @x4() : () -> tensor<1x8x8x3xf32>
  %w4 = func.call @w4() : () -> tensor<2x2xf32>
  %e4 = tensor.empty() : tensor<1x4x4x3xf32>
  %z4 = linalg.fill ins(%zero : f32) outs(%e4 : tensor<1x4x4x3xf32>) -> tensor<1x4x4x3xf32>
  %c4 = linalg.pooling_nhwc_sum {strides = dense<2> : tensor<2xi64>} ins(%x4, %w4 : tensor<1x8x8x3xf32>, tensor<2x2xf32>) outs(%z4 : tensor<1x4x4x3xf32>) -> tensor<1x4x4x3xf32>
  %f4 = tensor.collapse_shape %c4 [[0, 1, 2, 3]] : tensor<1x4x4x3xf32> into tensor<48xf32>
  %g4 = tensor.empty() : tensor<48xi32>
  %b4 = linalg.generic {indexing_maps = [#id, #id], iterator_types = ["parallel"]} ins(%f4 : tensor<48xf32>) outs(%g4 : tensor<48xi32>) {
  ^bb0(%in: f32, %o: i32):
    %0 = arith.bitcast %in : f32 to i32
    linalg.yield %0 : i32
  } -> tensor<48xi32>
  %u4 = tensor.cast %b4 : tensor<48xi32> to tensor<*xi32>
  func.call @printMemrefI32(%u4) : (tensor<*xi32>) -> ()
  return
}

// Convolutions, depthwise convolutions and pools, with what pads their input and what follows them: strides,
// dilation, windows that reach outside on every side, channels that fill no vector, batches, row tiles with a
// narrow rest, residuals.
#m0 = affine_map<() -> (8)>
#m1 = affine_map<(d0, d1, d2, d3, d4, d5, d6, d7, d8) -> (d0, d1 * 2 + d6, d2 * 2 + d7, d5, d8)>
#m2 = affine_map<(d0, d1, d2, d3, d4, d5, d6, d7, d8) -> (d3, d5, d6, d7, d8, d4)>
#m3 = affine_map<(d0, d1, d2, d3, d4, d5, d6, d7, d8) -> (d0, d1, d2, d3, d4)>
#m4 = affine_map<(d0, d1, d2, d3) -> (d0, d1, d2, d3)>
#m5 = affine_map<(d0, d1, d2, d3) -> (d3)>
#m6 = affine_map<() -> (9)>
#m7 = affine_map<(d0, d1, d2, d3, d4, d5, d6, d7, d8) -> (d0, d1 + d6 * 2, d2 + d7 * 2, d5, d8)>
#m8 = affine_map<() -> (6)>
#m9 = affine_map<(d0, d1, d2, d3, d4, d5, d6, d7, d8) -> (d0, d1 + d6, d2 + d7, d5, d8)>
#m10 = affine_map<() -> (18)>
#m11 = affine_map<() -> (3)>
#m12 = affine_map<() -> (16)>
#m13 = affine_map<() -> (4)>
#m14 = affine_map<(d0, d1, d2, d3, d4, d5, d6, d7, d8) -> (d0, d1 * 2 + d6 * 2, d2 * 2 + d7 * 2, d5, d8)>
#m15 = affine_map<() -> (36)>
#m16 = affine_map<(d0, d1, d2, d3, d4, d5) -> (d0, d1 + d4, d2 + d5, d3)>
#m17 = affine_map<(d0, d1, d2, d3, d4, d5) -> (d4, d5, d3)>
#m18 = affine_map<(d0, d1, d2, d3, d4, d5) -> (d0, d1, d2, d3)>
#m19 = affine_map<() -> (5)>
#m20 = affine_map<(d0, d1, d2, d3, d4, d5) -> (d0, d1 * 2 + d4, d2 * 2 + d5, d3)>
#m21 = affine_map<(d0, d1, d2, d3, d4, d5) -> (d4, d5)>
module {
  func.func @conv_strided(%arg0: tensor<2x7x17x12xf32>, %arg1: tensor<1x1x3x3x12x32xf32>, %arg2: tensor<32xf32>, %arg3: tensor<2x4x9x32xf32>) -> tensor<2x4x9x32xf32> attributes {ingot.kernel = "conv", ingot.tiles = #m0} {
    %0 = arith.constant 0.000000e+00 : f32
    %1 = tensor.empty() : tensor<2x9x19x12xf32>
    %2 = linalg.fill ins(%0 : f32) outs(%1 : tensor<2x9x19x12xf32>) -> tensor<2x9x19x12xf32>
    %3 = tensor.insert_slice %arg0 into %2[0, 1, 1, 0] [2, 7, 17, 12] [1, 1, 1, 1] : tensor<2x7x17x12xf32> into tensor<2x9x19x12xf32>
    %4 = tensor.expand_shape %3 [[0], [1], [2], [3, 4]] output_shape [2, 9, 19, 1, 12] : tensor<2x9x19x12xf32> into tensor<2x9x19x1x12xf32>
    %5 = arith.constant 0.000000e+00 : f32
    %6 = tensor.empty() : tensor<2x4x9x1x32xf32>
    %7 = linalg.fill ins(%5 : f32) outs(%6 : tensor<2x4x9x1x32xf32>) -> tensor<2x4x9x1x32xf32>
    %8 = linalg.generic {indexing_maps = [#m1, #m2, #m3], iterator_types = ["parallel", "parallel", "parallel", "parallel", "parallel", "reduction", "reduction", "reduction", "reduction"]} ins(%4, %arg1 : tensor<2x9x19x1x12xf32>, tensor<1x1x3x3x12x32xf32>) outs(%7 : tensor<2x4x9x1x32xf32>) attrs = {ingot.contract = "conv"} {
    ^bb0(%arg4: f32, %arg5: f32, %arg6: f32):
      %9 = math.fma %arg4, %arg5, %arg6 : f32
      linalg.yield %9 : f32
    } -> tensor<2x4x9x1x32xf32>
    %10 = tensor.collapse_shape %8 [[0], [1], [2], [3, 4]] : tensor<2x4x9x1x32xf32> into tensor<2x4x9x32xf32>
    %11 = tensor.empty() : tensor<2x4x9x32xf32>
    %12 = linalg.generic {indexing_maps = [#m4, #m5, #m4], iterator_types = ["parallel", "parallel", "parallel", "parallel"]} ins(%10, %arg2 : tensor<2x4x9x32xf32>, tensor<32xf32>) outs(%11 : tensor<2x4x9x32xf32>) {
    ^bb0(%arg7: f32, %arg8: f32, %arg9: f32):
      %13 = arith.addf %arg7, %arg8 : f32
      linalg.yield %13 : f32
    } -> tensor<2x4x9x32xf32>
    %14 = tensor.empty() : tensor<2x4x9x32xf32>
    %15 = linalg.generic {indexing_maps = [#m4, #m4, #m4], iterator_types = ["parallel", "parallel", "parallel", "parallel"]} ins(%12, %arg3 : tensor<2x4x9x32xf32>, tensor<2x4x9x32xf32>) outs(%14 : tensor<2x4x9x32xf32>) {
    ^bb0(%arg10: f32, %arg11: f32, %arg12: f32):
      %16 = arith.addf %arg10, %arg11 : f32
      linalg.yield %16 : f32
    } -> tensor<2x4x9x32xf32>
    %17 = linalg.generic {indexing_maps = [#m4], iterator_types = ["parallel", "parallel", "parallel", "parallel"]} outs(%15 : tensor<2x4x9x32xf32>) {
    ^bb0(%arg13: f32):
      %18 = arith.maximumf %arg13, %0 : f32
      linalg.yield %18 : f32
    } -> tensor<2x4x9x32xf32>
    return %17 : tensor<2x4x9x32xf32>
  }
  func.func @conv_dilated(%arg0: tensor<1x9x31x16xf32>, %arg1: tensor<1x1x3x3x16x16xf32>, %arg2: tensor<16xf32>) -> tensor<1x9x31x16xf32> attributes {ingot.kernel = "conv", ingot.tiles = #m6} {
    %0 = arith.constant 0.000000e+00 : f32
    %1 = tensor.empty() : tensor<1x13x35x16xf32>
    %2 = linalg.fill ins(%0 : f32) outs(%1 : tensor<1x13x35x16xf32>) -> tensor<1x13x35x16xf32>
    %3 = tensor.insert_slice %arg0 into %2[0, 2, 2, 0] [1, 9, 31, 16] [1, 1, 1, 1] : tensor<1x9x31x16xf32> into tensor<1x13x35x16xf32>
    %4 = tensor.expand_shape %3 [[0], [1], [2], [3, 4]] output_shape [1, 13, 35, 1, 16] : tensor<1x13x35x16xf32> into tensor<1x13x35x1x16xf32>
    %5 = arith.constant 0.000000e+00 : f32
    %6 = tensor.empty() : tensor<1x9x31x1x16xf32>
    %7 = linalg.fill ins(%5 : f32) outs(%6 : tensor<1x9x31x1x16xf32>) -> tensor<1x9x31x1x16xf32>
    %8 = linalg.generic {indexing_maps = [#m7, #m2, #m3], iterator_types = ["parallel", "parallel", "parallel", "parallel", "parallel", "reduction", "reduction", "reduction", "reduction"]} ins(%4, %arg1 : tensor<1x13x35x1x16xf32>, tensor<1x1x3x3x16x16xf32>) outs(%7 : tensor<1x9x31x1x16xf32>) attrs = {ingot.contract = "conv"} {
    ^bb0(%arg3: f32, %arg4: f32, %arg5: f32):
      %9 = math.fma %arg3, %arg4, %arg5 : f32
      linalg.yield %9 : f32
    } -> tensor<1x9x31x1x16xf32>
    %10 = tensor.collapse_shape %8 [[0], [1], [2], [3, 4]] : tensor<1x9x31x1x16xf32> into tensor<1x9x31x16xf32>
    %11 = tensor.empty() : tensor<1x9x31x16xf32>
    %12 = linalg.generic {indexing_maps = [#m4, #m5, #m4], iterator_types = ["parallel", "parallel", "parallel", "parallel"]} ins(%10, %arg2 : tensor<1x9x31x16xf32>, tensor<16xf32>) outs(%11 : tensor<1x9x31x16xf32>) {
    ^bb0(%arg6: f32, %arg7: f32, %arg8: f32):
      %13 = arith.addf %arg6, %arg7 : f32
      linalg.yield %13 : f32
    } -> tensor<1x9x31x16xf32>
    %14 = linalg.generic {indexing_maps = [#m4], iterator_types = ["parallel", "parallel", "parallel", "parallel"]} outs(%12 : tensor<1x9x31x16xf32>) {
    ^bb0(%arg9: f32):
      %15 = arith.maximumf %arg9, %0 : f32
      linalg.yield %15 : f32
    } -> tensor<1x9x31x16xf32>
    return %14 : tensor<1x9x31x16xf32>
  }
  func.func @conv_pointwise(%arg0: tensor<1x3x20x48xf32>, %arg1: tensor<2x3x1x1x16x32xf32>, %arg2: tensor<64xf32>, %arg3: tensor<1x3x20x64xf32>) -> tensor<1x3x20x64xf32> attributes {ingot.kernel = "conv", ingot.tiles = #m8} {
    %0 = tensor.expand_shape %arg0 [[0], [1], [2], [3, 4]] output_shape [1, 3, 20, 3, 16] : tensor<1x3x20x48xf32> into tensor<1x3x20x3x16xf32>
    %1 = arith.constant 0.000000e+00 : f32
    %2 = tensor.empty() : tensor<1x3x20x2x32xf32>
    %3 = linalg.fill ins(%1 : f32) outs(%2 : tensor<1x3x20x2x32xf32>) -> tensor<1x3x20x2x32xf32>
    %4 = linalg.generic {indexing_maps = [#m9, #m2, #m3], iterator_types = ["parallel", "parallel", "parallel", "parallel", "parallel", "reduction", "reduction", "reduction", "reduction"]} ins(%0, %arg1 : tensor<1x3x20x3x16xf32>, tensor<2x3x1x1x16x32xf32>) outs(%3 : tensor<1x3x20x2x32xf32>) attrs = {ingot.contract = "conv"} {
    ^bb0(%arg4: f32, %arg5: f32, %arg6: f32):
      %5 = math.fma %arg4, %arg5, %arg6 : f32
      linalg.yield %5 : f32
    } -> tensor<1x3x20x2x32xf32>
    %6 = tensor.collapse_shape %4 [[0], [1], [2], [3, 4]] : tensor<1x3x20x2x32xf32> into tensor<1x3x20x64xf32>
    %7 = tensor.empty() : tensor<1x3x20x64xf32>
    %8 = linalg.generic {indexing_maps = [#m4, #m5, #m4], iterator_types = ["parallel", "parallel", "parallel", "parallel"]} ins(%6, %arg2 : tensor<1x3x20x64xf32>, tensor<64xf32>) outs(%7 : tensor<1x3x20x64xf32>) {
    ^bb0(%arg7: f32, %arg8: f32, %arg9: f32):
      %9 = arith.addf %arg7, %arg8 : f32
      linalg.yield %9 : f32
    } -> tensor<1x3x20x64xf32>
    %10 = tensor.empty() : tensor<1x3x20x64xf32>
    %11 = linalg.generic {indexing_maps = [#m4, #m4, #m4], iterator_types = ["parallel", "parallel", "parallel", "parallel"]} ins(%8, %arg3 : tensor<1x3x20x64xf32>, tensor<1x3x20x64xf32>) outs(%10 : tensor<1x3x20x64xf32>) {
    ^bb0(%arg10: f32, %arg11: f32, %arg12: f32):
      %12 = arith.addf %arg10, %arg11 : f32
      linalg.yield %12 : f32
    } -> tensor<1x3x20x64xf32>
    return %11 : tensor<1x3x20x64xf32>
  }
  func.func @conv_first(%arg0: tensor<1x12x30x3xf32>, %arg1: tensor<3x1x7x7x3x8xf32>, %arg2: tensor<24xf32>) -> tensor<1x6x15x24xf32> attributes {ingot.kernel = "conv", ingot.tiles = #m10} {
    %0 = arith.constant 0.000000e+00 : f32
    %1 = tensor.empty() : tensor<1x17x35x3xf32>
    %2 = linalg.fill ins(%0 : f32) outs(%1 : tensor<1x17x35x3xf32>) -> tensor<1x17x35x3xf32>
    %3 = tensor.insert_slice %arg0 into %2[0, 3, 3, 0] [1, 12, 30, 3] [1, 1, 1, 1] : tensor<1x12x30x3xf32> into tensor<1x17x35x3xf32>
    %4 = tensor.expand_shape %3 [[0], [1], [2], [3, 4]] output_shape [1, 17, 35, 1, 3] : tensor<1x17x35x3xf32> into tensor<1x17x35x1x3xf32>
    %5 = arith.constant 0.000000e+00 : f32
    %6 = tensor.empty() : tensor<1x6x15x3x8xf32>
    %7 = linalg.fill ins(%5 : f32) outs(%6 : tensor<1x6x15x3x8xf32>) -> tensor<1x6x15x3x8xf32>
    %8 = linalg.generic {indexing_maps = [#m1, #m2, #m3], iterator_types = ["parallel", "parallel", "parallel", "parallel", "parallel", "reduction", "reduction", "reduction", "reduction"]} ins(%4, %arg1 : tensor<1x17x35x1x3xf32>, tensor<3x1x7x7x3x8xf32>) outs(%7 : tensor<1x6x15x3x8xf32>) attrs = {ingot.contract = "conv"} {
    ^bb0(%arg3: f32, %arg4: f32, %arg5: f32):
      %9 = math.fma %arg3, %arg4, %arg5 : f32
      linalg.yield %9 : f32
    } -> tensor<1x6x15x3x8xf32>
    %10 = tensor.collapse_shape %8 [[0], [1], [2], [3, 4]] : tensor<1x6x15x3x8xf32> into tensor<1x6x15x24xf32>
    %11 = tensor.empty() : tensor<1x6x15x24xf32>
    %12 = linalg.generic {indexing_maps = [#m4, #m5, #m4], iterator_types = ["parallel", "parallel", "parallel", "parallel"]} ins(%10, %arg2 : tensor<1x6x15x24xf32>, tensor<24xf32>) outs(%11 : tensor<1x6x15x24xf32>) {
    ^bb0(%arg6: f32, %arg7: f32, %arg8: f32):
      %13 = arith.addf %arg6, %arg7 : f32
      linalg.yield %13 : f32
    } -> tensor<1x6x15x24xf32>
    %14 = linalg.generic {indexing_maps = [#m4], iterator_types = ["parallel", "parallel", "parallel", "parallel"]} outs(%12 : tensor<1x6x15x24xf32>) {
    ^bb0(%arg9: f32):
      %15 = arith.maximumf %arg9, %0 : f32
      linalg.yield %15 : f32
    } -> tensor<1x6x15x24xf32>
    return %14 : tensor<1x6x15x24xf32>
  }
  func.func @conv_odd(%arg0: tensor<1x5x6x17xf32>, %arg1: tensor<1x17x3x5x1x8xf32>) -> tensor<1x5x6x1x8xf32> attributes {ingot.kernel = "conv", ingot.tiles = #m11} {
    %0 = arith.constant 0.000000e+00 : f32
    %1 = tensor.empty() : tensor<1x7x10x17xf32>
    %2 = linalg.fill ins(%0 : f32) outs(%1 : tensor<1x7x10x17xf32>) -> tensor<1x7x10x17xf32>
    %3 = tensor.insert_slice %arg0 into %2[0, 1, 2, 0] [1, 5, 6, 17] [1, 1, 1, 1] : tensor<1x5x6x17xf32> into tensor<1x7x10x17xf32>
    %4 = tensor.expand_shape %3 [[0], [1], [2], [3, 4]] output_shape [1, 7, 10, 17, 1] : tensor<1x7x10x17xf32> into tensor<1x7x10x17x1xf32>
    %5 = arith.constant 0.000000e+00 : f32
    %6 = tensor.empty() : tensor<1x5x6x1x8xf32>
    %7 = linalg.fill ins(%5 : f32) outs(%6 : tensor<1x5x6x1x8xf32>) -> tensor<1x5x6x1x8xf32>
    %8 = linalg.generic {indexing_maps = [#m9, #m2, #m3], iterator_types = ["parallel", "parallel", "parallel", "parallel", "parallel", "reduction", "reduction", "reduction", "reduction"]} ins(%4, %arg1 : tensor<1x7x10x17x1xf32>, tensor<1x17x3x5x1x8xf32>) outs(%7 : tensor<1x5x6x1x8xf32>) attrs = {ingot.contract = "conv"} {
    ^bb0(%arg2: f32, %arg3: f32, %arg4: f32):
      %9 = math.fma %arg2, %arg3, %arg4 : f32
      linalg.yield %9 : f32
    } -> tensor<1x5x6x1x8xf32>
    return %8 : tensor<1x5x6x1x8xf32>
  }
  func.func @conv_two_rows(%arg0: tensor<2x7x7x32xf32>, %arg1: tensor<2x2x3x3x16x32xf32>, %arg2: tensor<64xf32>, %arg3: tensor<2x7x7x64xf32>) -> tensor<2x7x7x64xf32> attributes {ingot.kernel = "conv", ingot.tiles = #m12} {
    %0 = arith.constant 0.000000e+00 : f32
    %1 = tensor.empty() : tensor<2x9x9x32xf32>
    %2 = linalg.fill ins(%0 : f32) outs(%1 : tensor<2x9x9x32xf32>) -> tensor<2x9x9x32xf32>
    %3 = tensor.insert_slice %arg0 into %2[0, 1, 1, 0] [2, 7, 7, 32] [1, 1, 1, 1] : tensor<2x7x7x32xf32> into tensor<2x9x9x32xf32>
    %4 = tensor.expand_shape %3 [[0], [1], [2], [3, 4]] output_shape [2, 9, 9, 2, 16] : tensor<2x9x9x32xf32> into tensor<2x9x9x2x16xf32>
    %5 = arith.constant 0.000000e+00 : f32
    %6 = tensor.empty() : tensor<2x7x7x2x32xf32>
    %7 = linalg.fill ins(%5 : f32) outs(%6 : tensor<2x7x7x2x32xf32>) -> tensor<2x7x7x2x32xf32>
    %8 = linalg.generic {indexing_maps = [#m9, #m2, #m3], iterator_types = ["parallel", "parallel", "parallel", "parallel", "parallel", "reduction", "reduction", "reduction", "reduction"]} ins(%4, %arg1 : tensor<2x9x9x2x16xf32>, tensor<2x2x3x3x16x32xf32>) outs(%7 : tensor<2x7x7x2x32xf32>) attrs = {ingot.contract = "conv"} {
    ^bb0(%arg4: f32, %arg5: f32, %arg6: f32):
      %9 = math.fma %arg4, %arg5, %arg6 : f32
      linalg.yield %9 : f32
    } -> tensor<2x7x7x2x32xf32>
    %10 = tensor.collapse_shape %8 [[0], [1], [2], [3, 4]] : tensor<2x7x7x2x32xf32> into tensor<2x7x7x64xf32>
    %11 = tensor.empty() : tensor<2x7x7x64xf32>
    %12 = linalg.generic {indexing_maps = [#m4, #m5, #m4], iterator_types = ["parallel", "parallel", "parallel", "parallel"]} ins(%10, %arg2 : tensor<2x7x7x64xf32>, tensor<64xf32>) outs(%11 : tensor<2x7x7x64xf32>) {
    ^bb0(%arg7: f32, %arg8: f32, %arg9: f32):
      %13 = arith.addf %arg7, %arg8 : f32
      linalg.yield %13 : f32
    } -> tensor<2x7x7x64xf32>
    %14 = tensor.empty() : tensor<2x7x7x64xf32>
    %15 = linalg.generic {indexing_maps = [#m4, #m4, #m4], iterator_types = ["parallel", "parallel", "parallel", "parallel"]} ins(%12, %arg3 : tensor<2x7x7x64xf32>, tensor<2x7x7x64xf32>) outs(%14 : tensor<2x7x7x64xf32>) {
    ^bb0(%arg10: f32, %arg11: f32, %arg12: f32):
      %16 = arith.addf %arg10, %arg11 : f32
      linalg.yield %16 : f32
    } -> tensor<2x7x7x64xf32>
    %17 = linalg.generic {indexing_maps = [#m4], iterator_types = ["parallel", "parallel", "parallel", "parallel"]} outs(%15 : tensor<2x7x7x64xf32>) {
    ^bb0(%arg13: f32):
      %18 = arith.maximumf %arg13, %0 : f32
      linalg.yield %18 : f32
    } -> tensor<2x7x7x64xf32>
    return %17 : tensor<2x7x7x64xf32>
  }
  func.func @conv_two_rows_dilated(%arg0: tensor<1x13x13x16xf32>, %arg1: tensor<1x1x3x3x16x32xf32>, %arg2: tensor<32xf32>) -> tensor<1x7x7x32xf32> attributes {ingot.kernel = "conv", ingot.tiles = #m13} {
    %0 = arith.constant 0.000000e+00 : f32
    %1 = tensor.empty() : tensor<1x17x17x16xf32>
    %2 = linalg.fill ins(%0 : f32) outs(%1 : tensor<1x17x17x16xf32>) -> tensor<1x17x17x16xf32>
    %3 = tensor.insert_slice %arg0 into %2[0, 2, 2, 0] [1, 13, 13, 16] [1, 1, 1, 1] : tensor<1x13x13x16xf32> into tensor<1x17x17x16xf32>
    %4 = tensor.expand_shape %3 [[0], [1], [2], [3, 4]] output_shape [1, 17, 17, 1, 16] : tensor<1x17x17x16xf32> into tensor<1x17x17x1x16xf32>
    %5 = arith.constant 0.000000e+00 : f32
    %6 = tensor.empty() : tensor<1x7x7x1x32xf32>
    %7 = linalg.fill ins(%5 : f32) outs(%6 : tensor<1x7x7x1x32xf32>) -> tensor<1x7x7x1x32xf32>
    %8 = linalg.generic {indexing_maps = [#m14, #m2, #m3], iterator_types = ["parallel", "parallel", "parallel", "parallel", "parallel", "reduction", "reduction", "reduction", "reduction"]} ins(%4, %arg1 : tensor<1x17x17x1x16xf32>, tensor<1x1x3x3x16x32xf32>) outs(%7 : tensor<1x7x7x1x32xf32>) attrs = {ingot.contract = "conv"} {
    ^bb0(%arg3: f32, %arg4: f32, %arg5: f32):
      %9 = math.fma %arg3, %arg4, %arg5 : f32
      linalg.yield %9 : f32
    } -> tensor<1x7x7x1x32xf32>
    %10 = tensor.collapse_shape %8 [[0], [1], [2], [3, 4]] : tensor<1x7x7x1x32xf32> into tensor<1x7x7x32xf32>
    %11 = tensor.empty() : tensor<1x7x7x32xf32>
    %12 = linalg.generic {indexing_maps = [#m4, #m5, #m4], iterator_types = ["parallel", "parallel", "parallel", "parallel"]} ins(%10, %arg2 : tensor<1x7x7x32xf32>, tensor<32xf32>) outs(%11 : tensor<1x7x7x32xf32>) {
    ^bb0(%arg6: f32, %arg7: f32, %arg8: f32):
      %13 = arith.addf %arg6, %arg7 : f32
      linalg.yield %13 : f32
    } -> tensor<1x7x7x32xf32>
    %14 = linalg.generic {indexing_maps = [#m4], iterator_types = ["parallel", "parallel", "parallel", "parallel"]} outs(%12 : tensor<1x7x7x32xf32>) {
    ^bb0(%arg9: f32):
      %15 = arith.maximumf %arg9, %0 : f32
      linalg.yield %15 : f32
    } -> tensor<1x7x7x32xf32>
    return %14 : tensor<1x7x7x32xf32>
  }
  func.func @conv_depthwise(%arg0: tensor<2x6x21x24xf32>, %arg1: tensor<3x3x24xf32>, %arg2: tensor<24xf32>, %arg3: tensor<2x6x21x24xf32>) -> tensor<2x6x21x24xf32> attributes {ingot.kernel = "conv", ingot.tiles = #m15} {
    %0 = arith.constant 0.000000e+00 : f32
    %1 = tensor.empty() : tensor<2x8x23x24xf32>
    %2 = linalg.fill ins(%0 : f32) outs(%1 : tensor<2x8x23x24xf32>) -> tensor<2x8x23x24xf32>
    %3 = tensor.insert_slice %arg0 into %2[0, 1, 1, 0] [2, 6, 21, 24] [1, 1, 1, 1] : tensor<2x6x21x24xf32> into tensor<2x8x23x24xf32>
    %4 = tensor.empty() : tensor<2x6x21x24xf32>
    %5 = linalg.fill ins(%0 : f32) outs(%4 : tensor<2x6x21x24xf32>) -> tensor<2x6x21x24xf32>
    %6 = linalg.generic {indexing_maps = [#m16, #m17, #m18], iterator_types = ["parallel", "parallel", "parallel", "parallel", "reduction", "reduction"]} ins(%3, %arg1 : tensor<2x8x23x24xf32>, tensor<3x3x24xf32>) outs(%5 : tensor<2x6x21x24xf32>) attrs = {ingot.contract = "window"} {
    ^bb0(%arg4: f32, %arg5: f32, %arg6: f32):
      %7 = math.fma %arg4, %arg5, %arg6 : f32
      linalg.yield %7 : f32
    } -> tensor<2x6x21x24xf32>
    %8 = tensor.empty() : tensor<2x6x21x24xf32>
    %9 = linalg.generic {indexing_maps = [#m4, #m5, #m4], iterator_types = ["parallel", "parallel", "parallel", "parallel"]} ins(%6, %arg2 : tensor<2x6x21x24xf32>, tensor<24xf32>) outs(%8 : tensor<2x6x21x24xf32>) {
    ^bb0(%arg7: f32, %arg8: f32, %arg9: f32):
      %10 = arith.addf %arg7, %arg8 : f32
      linalg.yield %10 : f32
    } -> tensor<2x6x21x24xf32>
    %11 = tensor.empty() : tensor<2x6x21x24xf32>
    %12 = linalg.generic {indexing_maps = [#m4, #m4, #m4], iterator_types = ["parallel", "parallel", "parallel", "parallel"]} ins(%9, %arg3 : tensor<2x6x21x24xf32>, tensor<2x6x21x24xf32>) outs(%11 : tensor<2x6x21x24xf32>) {
    ^bb0(%arg10: f32, %arg11: f32, %arg12: f32):
      %13 = arith.addf %arg10, %arg11 : f32
      linalg.yield %13 : f32
    } -> tensor<2x6x21x24xf32>
    %14 = linalg.generic {indexing_maps = [#m4], iterator_types = ["parallel", "parallel", "parallel", "parallel"]} outs(%12 : tensor<2x6x21x24xf32>) {
    ^bb0(%arg13: f32):
      %15 = arith.maximumf %arg13, %0 : f32
      linalg.yield %15 : f32
    } -> tensor<2x6x21x24xf32>
    return %14 : tensor<2x6x21x24xf32>
  }
  func.func @conv_depthwise_strided(%arg0: tensor<1x9x11x32xf32>, %arg1: tensor<5x5x32xf32>, %arg2: tensor<32xf32>) -> tensor<1x5x6x32xf32> attributes {ingot.kernel = "conv", ingot.tiles = #m19} {
    %0 = arith.constant 0.000000e+00 : f32
    %1 = tensor.empty() : tensor<1x13x15x32xf32>
    %2 = linalg.fill ins(%0 : f32) outs(%1 : tensor<1x13x15x32xf32>) -> tensor<1x13x15x32xf32>
    %3 = tensor.insert_slice %arg0 into %2[0, 2, 2, 0] [1, 9, 11, 32] [1, 1, 1, 1] : tensor<1x9x11x32xf32> into tensor<1x13x15x32xf32>
    %4 = tensor.empty() : tensor<1x5x6x32xf32>
    %5 = linalg.fill ins(%0 : f32) outs(%4 : tensor<1x5x6x32xf32>) -> tensor<1x5x6x32xf32>
    %6 = linalg.generic {indexing_maps = [#m20, #m17, #m18], iterator_types = ["parallel", "parallel", "parallel", "parallel", "reduction", "reduction"]} ins(%3, %arg1 : tensor<1x13x15x32xf32>, tensor<5x5x32xf32>) outs(%5 : tensor<1x5x6x32xf32>) attrs = {ingot.contract = "window"} {
    ^bb0(%arg3: f32, %arg4: f32, %arg5: f32):
      %7 = math.fma %arg3, %arg4, %arg5 : f32
      linalg.yield %7 : f32
    } -> tensor<1x5x6x32xf32>
    %8 = tensor.empty() : tensor<1x5x6x32xf32>
    %9 = linalg.generic {indexing_maps = [#m4, #m5, #m4], iterator_types = ["parallel", "parallel", "parallel", "parallel"]} ins(%6, %arg2 : tensor<1x5x6x32xf32>, tensor<32xf32>) outs(%8 : tensor<1x5x6x32xf32>) {
    ^bb0(%arg6: f32, %arg7: f32, %arg8: f32):
      %10 = arith.addf %arg6, %arg7 : f32
      linalg.yield %10 : f32
    } -> tensor<1x5x6x32xf32>
    return %9 : tensor<1x5x6x32xf32>
  }
  func.func @conv_max_pool(%arg0: tensor<1x9x23x16xf32>) -> tensor<1x5x12x16xf32> attributes {ingot.kernel = "conv", ingot.tiles = #m19} {
    %0 = arith.constant 0xFF800000 : f32
    %1 = tensor.empty() : tensor<1x11x25x16xf32>
    %2 = linalg.fill ins(%0 : f32) outs(%1 : tensor<1x11x25x16xf32>) -> tensor<1x11x25x16xf32>
    %3 = tensor.insert_slice %arg0 into %2[0, 1, 1, 0] [1, 9, 23, 16] [1, 1, 1, 1] : tensor<1x9x23x16xf32> into tensor<1x11x25x16xf32>
    %4 = arith.constant 0.000000e+00 : f32
    %5 = tensor.empty() : tensor<3x3xf32>
    %6 = linalg.fill ins(%4 : f32) outs(%5 : tensor<3x3xf32>) -> tensor<3x3xf32>
    %7 = tensor.empty() : tensor<1x5x12x16xf32>
    %8 = linalg.fill ins(%0 : f32) outs(%7 : tensor<1x5x12x16xf32>) -> tensor<1x5x12x16xf32>
    %9 = linalg.generic {indexing_maps = [#m20, #m21, #m18], iterator_types = ["parallel", "parallel", "parallel", "parallel", "reduction", "reduction"]} ins(%3, %6 : tensor<1x11x25x16xf32>, tensor<3x3xf32>) outs(%8 : tensor<1x5x12x16xf32>) attrs = {ingot.contract = "window"} {
    ^bb0(%arg1: f32, %arg2: f32, %arg3: f32):
      %10 = arith.maximumf %arg3, %arg1 : f32
      linalg.yield %10 : f32
    } -> tensor<1x5x12x16xf32>
    return %9 : tensor<1x5x12x16xf32>
  }
  func.func @conv_sum_pool(%arg0: tensor<2x7x7x64xf32>) -> tensor<2x1x1x64xf32> attributes {ingot.kernel = "conv", ingot.tiles = #m13} {
    %0 = arith.constant 0.000000e+00 : f32
    %1 = tensor.empty() : tensor<7x7xf32>
    %2 = linalg.fill ins(%0 : f32) outs(%1 : tensor<7x7xf32>) -> tensor<7x7xf32>
    %3 = arith.constant 0.000000e+00 : f32
    %4 = tensor.empty() : tensor<2x1x1x64xf32>
    %5 = linalg.fill ins(%3 : f32) outs(%4 : tensor<2x1x1x64xf32>) -> tensor<2x1x1x64xf32>
    %6 = linalg.generic {indexing_maps = [#m16, #m21, #m18], iterator_types = ["parallel", "parallel", "parallel", "parallel", "reduction", "reduction"]} ins(%arg0, %2 : tensor<2x7x7x64xf32>, tensor<7x7xf32>) outs(%5 : tensor<2x1x1x64xf32>) attrs = {ingot.contract = "window"} {
    ^bb0(%arg1: f32, %arg2: f32, %arg3: f32):
      %7 = arith.addf %arg3, %arg1 : f32
      linalg.yield %7 : f32
    } -> tensor<2x1x1x64xf32>
    return %6 : tensor<2x1x1x64xf32>
  }
}

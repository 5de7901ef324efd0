#map = affine_map<(d0, d1, d2, d3, d4, d5) -> (d2, d3, d1 * 16 + d4, d0 * 32 + d5)>
#map1 = affine_map<(d0, d1, d2, d3, d4, d5) -> (d0, d1, d2, d3, d4, d5)>
#map2 = affine_map<(d0, d1, d2, d3, d4, d5, d6, d7, d8, d9) -> (d0, d1 + d6, d2 + d7, d5, d8)>
#map3 = affine_map<(d0, d1, d2, d3, d4, d5, d6, d7, d8, d9) -> (d3, d5, d6, d7, d8, d9, d4)>
#map4 = affine_map<(d0, d1, d2, d3, d4, d5, d6, d7, d8, d9) -> (d0, d3, d9, d1, d2, d4)>
#map5 = affine_map<(d0, d1, d2, d3, d4) -> (d0, d1, d2, d3, d4)>
#map6 = affine_map<(d0, d1, d2, d3, d4, d5, d6, d7, d8) -> (d0, d5, d1 + d6, d2 + d7, d8)>
#map7 = affine_map<(d0, d1, d2, d3, d4, d5, d6, d7, d8) -> (d3, d5, d6, d7, d8, d4)>
#map8 = affine_map<(d0, d1, d2, d3, d4, d5, d6, d7, d8) -> (d0, d1, d2, d3, d4)>
module attributes {ingot.config = {threads = 2 : i64}, ingot.layouts = [{alternatives = [{bytes = 4096 : i64, clocks = 8736 : i64, layout = "blocked", reason = "rows of a block lie together, read in 4 streams, which bring 0.3 KB more; 1 copy at its edges"}], chosen = {bytes = 0 : i64, clocks = 4096 : i64, layout = "channels-last", reason = "lines of one block read alone bring 2.0 KB more from l3"}, conv_clocks = 2048 : i64, func = "main", maps = 1 : i64, what = "into <stdin>:10"}, {alternatives = [{bytes = 0 : i64, clocks = 16384 : i64, layout = "channels-last", reason = "lines of one block read alone bring 6.1 KB more, 128 of 256 bytes of a pixel written at once bring 2.0 KB more from l3"}], chosen = {bytes = 0 : i64, clocks = 1536 : i64, layout = "blocked", reason = "rows of a block lie together, read in 4 streams, which bring 0.8 KB more; no copy at its edges"}, conv_clocks = 20480 : i64, func = "main", maps = 3 : i64, what = "from <stdin>:10"}, {alternatives = [{bytes = 4096 : i64, clocks = 8224 : i64, layout = "blocked", reason = "rows of a block lie together; 1 copy at its edges"}], chosen = {bytes = 0 : i64, clocks = 4096 : i64, layout = "channels-last", reason = "128 of 256 bytes of a pixel written at once bring 2.0 KB more from l3"}, conv_clocks = 18432 : i64, func = "main", maps = 1 : i64, what = "from <stdin>:26"}], ingot.level = 1 : i64, ingot.machine = {clock_mhz = 2.000000e+03 : f64, issue.load = 2.000000e+00 : f64, issue.store = 1.000000e+00 : f64, l1.bytes = 5.120000e+02 : f64, l2.bytes = 1.024000e+03 : f64, l3.bytes = 0x4130000000000000 : f64, l3.bytes_per_clock = 2.500000e-01 : f64, memory.gb_per_s = 1.000000e+00 : f64, ops.f32 = 3.200000e+01 : f64, vector_bytes = 6.400000e+01 : f64}, ingot.passes = ["bind-recipe", "refine-shapes", "pack-projections", "split-buckets", "lower-quant", "inline-functions", "expand-tensors", "bind-ports", "canonicalize", "merge-equal", "raise-patterns", "raise-convolutions", "fold-batch-norm", "assign-precision", "bind-kv-cache", "layout-optimize", "propagate-layout"]} {
  func.func @main(%arg0: tensor<1x2x4x64xf32> {ingot.name = "x"}, %arg1: tensor<1x1x64x64xf32> {ingot.name = "v1_w", ingot.param = "v1_w"}, %arg2: tensor<3x3x64x64xf32> {ingot.name = "v8_w", ingot.param = "v8_w"}) -> (tensor<1x2x4x64xf32> {ingot.name = "result0"}) {
    %0 = arith.constant 0.000000e+00 : f32
    %1 = tensor.empty() : tensor<2x4x1x1x16x32xf32>
    %2 = linalg.generic {indexing_maps = [#map, #map1], iterator_types = ["parallel", "parallel", "parallel", "parallel", "parallel", "parallel"]} ins(%arg1 : tensor<1x1x64x64xf32>) outs(%1 : tensor<2x4x1x1x16x32xf32>) {
    ^bb0(%arg3: f32, %arg4: f32):
      linalg.yield %arg3 : f32
    } -> tensor<2x4x1x1x16x32xf32>
    %3 = tensor.expand_shape %arg0 [[0], [1], [2], [3, 4]] output_shape [1, 2, 4, 4, 16] : tensor<1x2x4x64xf32> into tensor<1x2x4x4x16xf32>
    %4 = tensor.expand_shape %2 [[0], [1], [2], [3], [4], [5, 6]] output_shape [2, 4, 1, 1, 16, 2, 16] : tensor<2x4x1x1x16x32xf32> into tensor<2x4x1x1x16x2x16xf32>
    %5 = arith.constant 0.000000e+00 : f32
    %6 = tensor.empty() : tensor<1x2x2x2x4x16xf32>
    %7 = linalg.fill ins(%5 : f32) outs(%6 : tensor<1x2x2x2x4x16xf32>) -> tensor<1x2x2x2x4x16xf32>
    %8 = linalg.generic {indexing_maps = [#map2, #map3, #map4], iterator_types = ["parallel", "parallel", "parallel", "parallel", "parallel", "reduction", "reduction", "reduction", "reduction", "parallel"]} ins(%3, %4 : tensor<1x2x4x4x16xf32>, tensor<2x4x1x1x16x2x16xf32>) outs(%7 : tensor<1x2x2x2x4x16xf32>) attrs = {ingot.contract = "conv"} {
    ^bb0(%arg5: f32, %arg6: f32, %arg7: f32):
      %9 = math.fma %arg5, %arg6, %arg7 : f32
      linalg.yield %9 : f32
    } -> tensor<1x2x2x2x4x16xf32>
    %10 = tensor.collapse_shape %8 [[0], [1, 2], [3], [4], [5]] : tensor<1x2x2x2x4x16xf32> into tensor<1x4x2x4x16xf32>
    %11 = tensor.empty() : tensor<1x4x2x4x16xf32>
    %12 = linalg.generic {indexing_maps = [#map5, #map5], iterator_types = ["parallel", "parallel", "parallel", "parallel", "parallel"]} ins(%10 : tensor<1x4x2x4x16xf32>) outs(%11 : tensor<1x4x2x4x16xf32>) attrs = {ingot.epilogue} {
    ^bb0(%arg8: f32, %arg9: f32):
      %13 = arith.maximumf %arg8, %0 : f32
      linalg.yield %13 : f32
    } -> tensor<1x4x2x4x16xf32>
    %14 = tensor.empty() : tensor<1x4x4x6x16xf32>
    %15 = linalg.fill ins(%0 : f32) outs(%14 : tensor<1x4x4x6x16xf32>) -> tensor<1x4x4x6x16xf32>
    %16 = tensor.insert_slice %12 into %15[0, 0, 1, 1, 0] [1, 4, 2, 4, 16] [1, 1, 1, 1, 1] : tensor<1x4x2x4x16xf32> into tensor<1x4x4x6x16xf32>
    %17 = tensor.empty() : tensor<2x4x3x3x16x32xf32>
    %18 = linalg.generic {indexing_maps = [#map, #map1], iterator_types = ["parallel", "parallel", "parallel", "parallel", "parallel", "parallel"]} ins(%arg2 : tensor<3x3x64x64xf32>) outs(%17 : tensor<2x4x3x3x16x32xf32>) {
    ^bb0(%arg10: f32, %arg11: f32):
      linalg.yield %arg10 : f32
    } -> tensor<2x4x3x3x16x32xf32>
    %19 = arith.constant 0.000000e+00 : f32
    %20 = tensor.empty() : tensor<1x2x4x2x32xf32>
    %21 = linalg.fill ins(%19 : f32) outs(%20 : tensor<1x2x4x2x32xf32>) -> tensor<1x2x4x2x32xf32>
    %22 = linalg.generic {indexing_maps = [#map6, #map7, #map8], iterator_types = ["parallel", "parallel", "parallel", "parallel", "parallel", "reduction", "reduction", "reduction", "reduction"]} ins(%16, %18 : tensor<1x4x4x6x16xf32>, tensor<2x4x3x3x16x32xf32>) outs(%21 : tensor<1x2x4x2x32xf32>) attrs = {ingot.contract = "conv"} {
    ^bb0(%arg12: f32, %arg13: f32, %arg14: f32):
      %23 = math.fma %arg12, %arg13, %arg14 : f32
      linalg.yield %23 : f32
    } -> tensor<1x2x4x2x32xf32>
    %24 = tensor.collapse_shape %22 [[0], [1], [2], [3, 4]] : tensor<1x2x4x2x32xf32> into tensor<1x2x4x64xf32>
    return %24 : tensor<1x2x4x64xf32>
  }
}

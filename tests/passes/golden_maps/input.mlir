#map = affine_map<(d0, d1, d2, d3, d4, d5, d6) -> (d0, d1 + d4, d2 + d5, d6)>
#map1 = affine_map<(d0, d1, d2, d3, d4, d5, d6) -> (d4, d5, d6, d3)>
#map2 = affine_map<(d0, d1, d2, d3, d4, d5, d6) -> (d0, d1, d2, d3)>
#map3 = affine_map<(d0, d1, d2, d3) -> (d0, d1, d2, d3)>
module attributes {ingot.config = {threads = 2 : i64}, ingot.level = 1 : i64, ingot.machine = {clock_mhz = 2.000000e+03 : f64, issue.load = 2.000000e+00 : f64, issue.store = 1.000000e+00 : f64, l1.bytes = 5.120000e+02 : f64, l2.bytes = 1.024000e+03 : f64, l3.bytes = 1.048576e+06 : f64, l3.bytes_per_clock = 2.500000e-01 : f64, memory.gb_per_s = 1.000000e+00 : f64, ops.f32 = 3.200000e+01 : f64, vector_bytes = 6.400000e+01 : f64}, ingot.passes = ["bind-recipe", "refine-shapes", "pack-projections", "split-buckets", "lower-quant", "inline-functions", "expand-tensors", "bind-ports", "canonicalize", "merge-equal", "raise-patterns", "raise-convolutions", "fold-batch-norm", "assign-precision", "bind-kv-cache"]} {
  func.func @main(%arg0: tensor<1x2x4x64xf32> {ingot.name = "x"}, %arg1: tensor<1x1x64x64xf32> {ingot.name = "v1_w", ingot.param = "v1_w"}, %arg2: tensor<3x3x64x64xf32> {ingot.name = "v8_w", ingot.param = "v8_w"}) -> (tensor<1x2x4x64xf32> {ingot.name = "result0"}) {
    %0 = arith.constant 0.000000e+00 : f32
    %1 = tensor.empty() : tensor<1x2x4x64xf32>
    %2 = linalg.fill ins(%0 : f32) outs(%1 : tensor<1x2x4x64xf32>) -> tensor<1x2x4x64xf32>
    %3 = linalg.generic {indexing_maps = [#map, #map1, #map2], iterator_types = ["parallel", "parallel", "parallel", "parallel", "reduction", "reduction", "reduction"]} ins(%arg0, %arg1 : tensor<1x2x4x64xf32>, tensor<1x1x64x64xf32>) outs(%2 : tensor<1x2x4x64xf32>) attrs = {ingot.contract = "conv"} {
    ^bb0(%arg3: f32, %arg4: f32, %arg5: f32):
      %4 = math.fma %arg3, %arg4, %arg5 : f32
      linalg.yield %4 : f32
    } -> tensor<1x2x4x64xf32>
    %5 = tensor.empty() : tensor<1x2x4x64xf32>
    %6 = linalg.generic {indexing_maps = [#map3, #map3], iterator_types = ["parallel", "parallel", "parallel", "parallel"]} ins(%3 : tensor<1x2x4x64xf32>) outs(%5 : tensor<1x2x4x64xf32>) {
    ^bb0(%arg6: f32, %arg7: f32):
      %7 = arith.maximumf %arg6, %0 : f32
      linalg.yield %7 : f32
    } -> tensor<1x2x4x64xf32>
    %8 = tensor.empty() : tensor<1x4x6x64xf32>
    %9 = linalg.fill ins(%0 : f32) outs(%8 : tensor<1x4x6x64xf32>) -> tensor<1x4x6x64xf32>
    %10 = tensor.insert_slice %6 into %9[0, 1, 1, 0] [1, 2, 4, 64] [1, 1, 1, 1] : tensor<1x2x4x64xf32> into tensor<1x4x6x64xf32>
    %11 = tensor.empty() : tensor<1x2x4x64xf32>
    %12 = linalg.fill ins(%0 : f32) outs(%11 : tensor<1x2x4x64xf32>) -> tensor<1x2x4x64xf32>
    %13 = linalg.generic {indexing_maps = [#map, #map1, #map2], iterator_types = ["parallel", "parallel", "parallel", "parallel", "reduction", "reduction", "reduction"]} ins(%10, %arg2 : tensor<1x4x6x64xf32>, tensor<3x3x64x64xf32>) outs(%12 : tensor<1x2x4x64xf32>) attrs = {ingot.contract = "conv"} {
    ^bb0(%arg8: f32, %arg9: f32, %arg10: f32):
      %14 = math.fma %arg8, %arg9, %arg10 : f32
      linalg.yield %14 : f32
    } -> tensor<1x2x4x64xf32>
    return %13 : tensor<1x2x4x64xf32>
  }
} loc(unknown)

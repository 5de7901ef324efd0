#map = affine_map<(d0, d1) -> (d0, d1)>
#map1 = affine_map<(d0, d1) -> (d0)>
#map2 = affine_map<(d0, d1) -> (d1)>
#map3 = affine_map<(d0, d1, d2, d3) -> (d0, d1, d3)>
#map4 = affine_map<(d0, d1, d2, d3) -> (d0, d1)>
#map5 = affine_map<(d0, d1, d2, d3) -> (d0, d1, d2, d3)>
#map6 = affine_map<(d0, d1, d2) -> (d0, d2)>
#map7 = affine_map<(d0, d1, d2) -> (d1, d2)>
#map8 = affine_map<(d0, d1, d2) -> (d0, d1)>
module attributes {ingot.config = {activations = "int8", buckets = [1], kv = "f32", max_pages = 1 : i64, pack_gate_up = true, pack_qkv = true, page_len = 16 : i64, threads = 1 : i64}, ingot.fusion = [{applied = false, detail = "one of the products is added to something that is not zero", pattern = "qkv_proj", reason = "map", what = "<stdin>:39 + <stdin>:42 + <stdin>:50", where = "layer"}, {applied = true, detail = "", pattern = "qkv_proj", reason = "", what = "<stdin>:39 + <stdin>:42", where = "layer"}], ingot.level = 1 : i64, ingot.passes = ["bind-recipe", "refine-shapes", "pack-projections", "split-buckets", "lower-quant"], ingot.target = "x86-64-v3", ingot.version = 1 : i64} {
  func.func private @norm_s1(%arg0: tensor<1x32xf32>, %arg1: tensor<32xf32>, %arg2: index) -> tensor<1x32xf32> {
    %0 = arith.constant 0.000000e+00 : f32
    %1 = arith.constant 9.99999974E-6 : f32
    %2 = tensor.empty() : tensor<1xf32>
    %3 = linalg.fill ins(%0 : f32) outs(%2 : tensor<1xf32>) -> tensor<1xf32>
    %4 = linalg.generic {indexing_maps = [#map, #map1], iterator_types = ["parallel", "reduction"]} ins(%arg0 : tensor<1x32xf32>) outs(%3 : tensor<1xf32>) {
    ^bb0(%arg3: f32, %arg4: f32):
      %5 = arith.mulf %arg3, %arg3 : f32
      %6 = arith.addf %arg4, %5 : f32
      linalg.yield %6 : f32
    } -> tensor<1xf32>
    %7 = tensor.empty() : tensor<1x32xf32>
    %8 = linalg.generic {indexing_maps = [#map, #map1, #map2, #map], iterator_types = ["parallel", "parallel"]} ins(%arg0, %4, %arg1 : tensor<1x32xf32>, tensor<1xf32>, tensor<32xf32>) outs(%7 : tensor<1x32xf32>) {
    ^bb0(%arg5: f32, %arg6: f32, %arg7: f32, %arg8: f32):
      %9 = arith.addf %arg6, %1 : f32
      %10 = math.rsqrt %9 : f32
      %11 = arith.mulf %arg5, %10 : f32
      %12 = arith.mulf %11, %arg7 : f32
      linalg.yield %12 : f32
    } -> tensor<1x32xf32>
    return %8 : tensor<1x32xf32>
  }
  func.func private @layer_s1(%arg0: tensor<1x32xf32>, %arg1: index, %arg2: tensor<1x16x1x16xf32>, %arg3: tensor<32xf32>, %arg4: tensor<32x1x16xi8> {ingot.plane = "q"}, %arg5: tensor<32x1xf16> {ingot.plane = "d"}, %arg6: tensor<32x1x16xi8> {ingot.plane = "q"}, %arg7: tensor<32x1xf16> {ingot.plane = "d"}, %arg8: index) -> (tensor<1x32xf32>, tensor<1x16x1x16xf32>, tensor<1x16xf32>) {
    %0 = arith.constant 4 : i8
    %1 = arith.constant 8 : i8
    %2 = arith.constant 15 : i8
    %3 = arith.constant 0 : index
    %4 = tensor.empty() : tensor<32x1x2x16xf32>
    %5 = linalg.generic {indexing_maps = [#map3, #map4, #map5], iterator_types = ["parallel", "parallel", "parallel", "parallel"]} ins(%arg4, %arg5 : tensor<32x1x16xi8>, tensor<32x1xf16>) outs(%4 : tensor<32x1x2x16xf32>) attrs = {ingot.dequant = "q4_0"} {
    ^bb0(%arg9: i8, %arg10: f16, %arg11: f32):
      %6 = linalg.index 2 : index
      %7 = arith.andi %arg9, %2 : i8
      %8 = arith.shrui %arg9, %0 : i8
      %9 = arith.cmpi eq, %6, %3 : index
      %10 = arith.select %9, %7, %8 : i8
      %11 = arith.subi %10, %1 : i8
      %12 = arith.sitofp %11 : i8 to f32
      %13 = arith.extf %arg10 : f16 to f32
      %14 = arith.mulf %12, %13 : f32
      linalg.yield %14 : f32
    } -> tensor<32x1x2x16xf32>
    %15 = tensor.collapse_shape %5 [[0], [1, 2, 3]] : tensor<32x1x2x16xf32> into tensor<32x32xf32>
    %16 = arith.constant 4 : i8
    %17 = arith.constant 8 : i8
    %18 = arith.constant 15 : i8
    %19 = arith.constant 0 : index
    %20 = tensor.empty() : tensor<32x1x2x16xf32>
    %21 = linalg.generic {indexing_maps = [#map3, #map4, #map5], iterator_types = ["parallel", "parallel", "parallel", "parallel"]} ins(%arg6, %arg7 : tensor<32x1x16xi8>, tensor<32x1xf16>) outs(%20 : tensor<32x1x2x16xf32>) attrs = {ingot.dequant = "q4_0"} {
    ^bb0(%arg12: i8, %arg13: f16, %arg14: f32):
      %22 = linalg.index 2 : index
      %23 = arith.andi %arg12, %18 : i8
      %24 = arith.shrui %arg12, %16 : i8
      %25 = arith.cmpi eq, %22, %19 : index
      %26 = arith.select %25, %23, %24 : i8
      %27 = arith.subi %26, %17 : i8
      %28 = arith.sitofp %27 : i8 to f32
      %29 = arith.extf %arg13 : f16 to f32
      %30 = arith.mulf %28, %29 : f32
      linalg.yield %30 : f32
    } -> tensor<32x1x2x16xf32>
    %31 = tensor.collapse_shape %21 [[0], [1, 2, 3]] : tensor<32x1x2x16xf32> into tensor<32x32xf32>
    %32 = arith.constant 0 : index
    %33 = func.call @norm_s1(%arg0, %arg3, %arg8) : (tensor<1x32xf32>, tensor<32xf32>, index) -> tensor<1x32xf32>
    %34 = tensor.empty() : tensor<1x32xf32>
    %35 = arith.constant 0.000000e+00 : f32
    %36 = linalg.fill ins(%35 : f32) outs(%34 : tensor<1x32xf32>) -> tensor<1x32xf32>
    %37 = linalg.matmul indexing_maps = [#map6, #map7, #map8] ins(%33, %31 : tensor<1x32xf32>, tensor<32x32xf32>) outs(%36 : tensor<1x32xf32>) -> tensor<1x32xf32>
    %38 = tensor.extract_slice %37[0, 0] [1, 16] [1, 1] : tensor<1x32xf32> to tensor<1x16xf32>
    %39 = tensor.extract_slice %37[0, 16] [1, 16] [1, 1] : tensor<1x32xf32> to tensor<1x16xf32>
    %40 = arith.constant 1 : index
    %41 = scf.for %arg15 = %32 to %arg8 step %40 iter_args(%arg16 = %arg2) -> (tensor<1x16x1x16xf32>) {
      %42 = arith.addi %arg1, %arg15 : index
      %43 = tensor.extract_slice %39[%arg15, 0] [1, 16] [1, 1] : tensor<1x16xf32> to tensor<1x16xf32>
      %44 = tensor.insert_slice %43 into %arg16[0, %42, 0, 0] [1, 1, 1, 16] [1, 1, 1, 1] : tensor<1x16xf32> into tensor<1x16x1x16xf32>
      scf.yield %44 : tensor<1x16x1x16xf32>
    }
    %45 = linalg.matmul indexing_maps = [#map6, #map7, #map8] ins(%33, %15 : tensor<1x32xf32>, tensor<32x32xf32>) outs(%arg0 : tensor<1x32xf32>) -> tensor<1x32xf32>
    return %45, %41, %38 : tensor<1x32xf32>, tensor<1x16x1x16xf32>, tensor<1x16xf32>
  }
  func.func @forward_s1(%arg0: tensor<1x32xf32>, %arg1: index, %arg2: tensor<1x16x1x16xf32> {ingot.kv = "k", ingot.layer = 0 : i64}, %arg3: tensor<32xf32> {ingot.param = "norm"}, %arg4: tensor<32x1x16xi8> {ingot.param = ["q", "k"], ingot.plane = "q"}, %arg5: tensor<32x1xf16> {ingot.param = ["q", "k"], ingot.plane = "d"}, %arg6: tensor<32x1x16xi8> {ingot.param = "down", ingot.plane = "q"}, %arg7: tensor<32x1xf16> {ingot.param = "down", ingot.plane = "d"}, %arg8: index) -> (tensor<1x32xf32>, tensor<1x16x1x16xf32>, tensor<1x16xf32>) attributes {ingot.bucket = 1 : i64} {
    %0:3 = func.call @layer_s1(%arg0, %arg1, %arg2, %arg3, %arg6, %arg7, %arg4, %arg5, %arg8) : (tensor<1x32xf32>, index, tensor<1x16x1x16xf32>, tensor<32xf32>, tensor<32x1x16xi8>, tensor<32x1xf16>, tensor<32x1x16xi8>, tensor<32x1xf16>, index) -> (tensor<1x32xf32>, tensor<1x16x1x16xf32>, tensor<1x16xf32>)
    return %0#0, %0#1, %0#2 : tensor<1x32xf32>, tensor<1x16x1x16xf32>, tensor<1x16xf32>
  }
}

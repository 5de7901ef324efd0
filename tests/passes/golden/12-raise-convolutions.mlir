#map = affine_map<(d0, d1, d2, d3) -> (d0, d1, d3)>
#map1 = affine_map<(d0, d1, d2, d3) -> (d0, d1, d2, d3)>
#map2 = affine_map<(d0, d1) -> (d0, d1)>
#map3 = affine_map<(d0, d1) -> (d0)>
#map4 = affine_map<(d0, d1) -> (d1)>
#map5 = affine_map<(d0, d1, d2, d3) -> (d0, d2, d3)>
#map6 = affine_map<(d0, d1, d2, d3) -> (d1, d2, d3)>
#map7 = affine_map<(d0, d1, d2, d3) -> (d1, d2)>
#map8 = affine_map<(d0, d1, d2, d3) -> (d0, d1)>
module attributes {ingot.config = {activations = "int8", buckets = [1], kv = "f32", max_pages = 1 : i64, pack_gate_up = true, pack_qkv = true, page_len = 16 : i64, threads = 1 : i64}, ingot.fusion = [{applied = false, detail = "one of the products is added to something that is not zero", pattern = "qkv_proj", reason = "map", what = "<stdin>:39 + <stdin>:42 + <stdin>:50", where = "layer"}, {applied = true, detail = "", pattern = "qkv_proj", reason = "", what = "<stdin>:39 + <stdin>:42", where = "layer"}], ingot.level = 1 : i64, ingot.passes = ["bind-recipe", "refine-shapes", "pack-projections", "split-buckets", "lower-quant", "inline-functions", "expand-tensors", "bind-ports", "canonicalize", "merge-equal", "raise-patterns", "raise-convolutions"], ingot.target = "x86-64-v3", ingot.version = 1 : i64} {
  func.func @forward_s1(%arg0: tensor<1x32xf32>, %arg1: index, %arg2: tensor<1x16x1x16xf32> {ingot.kv = "k", ingot.layer = 0 : i64}, %arg3: tensor<32xf32> {ingot.param = "norm"}, %arg4: tensor<32x1x16xi8> {ingot.param = ["q", "k"], ingot.plane = "q"}, %arg5: tensor<32x1xf16> {ingot.param = ["q", "k"], ingot.plane = "d"}, %arg6: tensor<32x1x16xi8> {ingot.param = "down", ingot.plane = "q"}, %arg7: tensor<32x1xf16> {ingot.param = "down", ingot.plane = "d"}, %arg8: index) -> (tensor<1x32xf32>, tensor<1x16x1x16xf32>, tensor<1x16xf32>) attributes {ingot.bucket = 1 : i64} {
    %0 = tensor.empty() : tensor<32x1x2x16xi8>
    %1 = linalg.generic {indexing_maps = [#map, #map1], iterator_types = ["parallel", "parallel", "parallel", "parallel"]} ins(%arg6 : tensor<32x1x16xi8>) outs(%0 : tensor<32x1x2x16xi8>) attrs = {ingot.code_max = 15 : i64} {
    ^bb0(%arg9: i8, %arg10: i8):
      %2 = linalg.index 2 : index
      %3 = arith.constant 0 : index
      %4 = arith.cmpi eq, %2, %3 : index
      %5 = arith.constant 15 : i8
      %6 = arith.andi %arg9, %5 : i8
      %7 = arith.constant 4 : i8
      %8 = arith.shrui %arg9, %7 : i8
      %9 = arith.select %4, %6, %8 : i8
      linalg.yield %9 : i8
    } -> tensor<32x1x2x16xi8>
    %10 = tensor.collapse_shape %1 [[0], [1], [2, 3]] : tensor<32x1x2x16xi8> into tensor<32x1x32xi8>
    %11 = tensor.empty() : tensor<32x1x2x16xi8>
    %12 = linalg.generic {indexing_maps = [#map, #map1], iterator_types = ["parallel", "parallel", "parallel", "parallel"]} ins(%arg4 : tensor<32x1x16xi8>) outs(%11 : tensor<32x1x2x16xi8>) attrs = {ingot.code_max = 15 : i64} {
    ^bb0(%arg11: i8, %arg12: i8):
      %13 = linalg.index 2 : index
      %14 = arith.constant 0 : index
      %15 = arith.cmpi eq, %13, %14 : index
      %16 = arith.constant 15 : i8
      %17 = arith.andi %arg11, %16 : i8
      %18 = arith.constant 4 : i8
      %19 = arith.shrui %arg11, %18 : i8
      %20 = arith.select %15, %17, %19 : i8
      linalg.yield %20 : i8
    } -> tensor<32x1x2x16xi8>
    %21 = tensor.collapse_shape %12 [[0], [1], [2, 3]] : tensor<32x1x2x16xi8> into tensor<32x1x32xi8>
    %22 = arith.constant 0 : index
    %23 = arith.constant 0.000000e+00 : f32
    %24 = arith.constant 9.99999974E-6 : f32
    %25 = tensor.empty() : tensor<1xf32>
    %26 = linalg.fill ins(%23 : f32) outs(%25 : tensor<1xf32>) -> tensor<1xf32>
    %27 = linalg.generic {indexing_maps = [#map2, #map3], iterator_types = ["parallel", "reduction"]} ins(%arg0 : tensor<1x32xf32>) outs(%26 : tensor<1xf32>) {
    ^bb0(%arg13: f32, %arg14: f32):
      %28 = arith.mulf %arg13, %arg13 : f32
      %29 = arith.addf %arg14, %28 : f32
      linalg.yield %29 : f32
    } -> tensor<1xf32>
    %30 = tensor.empty() : tensor<1x32xf32>
    %31 = linalg.generic {indexing_maps = [#map2, #map3, #map4, #map2], iterator_types = ["parallel", "parallel"]} ins(%arg0, %27, %arg3 : tensor<1x32xf32>, tensor<1xf32>, tensor<32xf32>) outs(%30 : tensor<1x32xf32>) {
    ^bb0(%arg15: f32, %arg16: f32, %arg17: f32, %arg18: f32):
      %32 = arith.addf %arg16, %24 : f32
      %33 = math.rsqrt %32 : f32
      %34 = arith.mulf %arg15, %33 : f32
      %35 = arith.mulf %34, %arg17 : f32
      linalg.yield %35 : f32
    } -> tensor<1x32xf32>
    %36 = tensor.expand_shape %31 [[0], [1, 2]] output_shape [1, 1, 32] : tensor<1x32xf32> into tensor<1x1x32xf32>
    %37 = arith.constant 0.000000e+00 : f32
    %38 = tensor.empty() : tensor<1x32xf32>
    %39 = linalg.fill ins(%37 : f32) outs(%38 : tensor<1x32xf32>) -> tensor<1x32xf32>
    %40 = linalg.generic {indexing_maps = [#map5, #map6, #map7, #map8], iterator_types = ["parallel", "parallel", "reduction", "reduction"]} ins(%36, %21, %arg5 : tensor<1x1x32xf32>, tensor<32x1x32xi8>, tensor<32x1xf16>) outs(%39 : tensor<1x32xf32>) attrs = {ingot.contract = "weights"} {
    ^bb0(%arg19: f32, %arg20: i8, %arg21: f16, %arg22: f32):
      %41 = arith.extui %arg20 : i8 to i32
      %42 = arith.constant -8 : i32
      %43 = arith.addi %41, %42 : i32
      %44 = arith.sitofp %43 : i32 to f32
      %45 = arith.extf %arg21 : f16 to f32
      %46 = arith.mulf %44, %45 : f32
      %47 = math.fma %arg19, %46, %arg22 : f32
      linalg.yield %47 : f32
    } -> tensor<1x32xf32>
    %48 = tensor.extract_slice %40[0, 0] [1, 16] [1, 1] : tensor<1x32xf32> to tensor<1x16xf32>
    %49 = tensor.extract_slice %40[0, 16] [1, 16] [1, 1] : tensor<1x32xf32> to tensor<1x16xf32>
    %50 = arith.constant 1 : index
    %51 = scf.for %arg23 = %22 to %arg8 step %50 iter_args(%arg24 = %arg2) -> (tensor<1x16x1x16xf32>) {
      %52 = arith.addi %arg1, %arg23 : index
      %53 = tensor.extract_slice %49[%arg23, 0] [1, 16] [1, 1] : tensor<1x16xf32> to tensor<1x16xf32>
      %54 = tensor.insert_slice %53 into %arg24[0, %52, 0, 0] [1, 1, 1, 16] [1, 1, 1, 1] : tensor<1x16xf32> into tensor<1x16x1x16xf32>
      scf.yield %54 : tensor<1x16x1x16xf32>
    }
    %55 = tensor.expand_shape %31 [[0], [1, 2]] output_shape [1, 1, 32] : tensor<1x32xf32> into tensor<1x1x32xf32>
    %56 = arith.constant 0.000000e+00 : f32
    %57 = tensor.empty() : tensor<1x32xf32>
    %58 = linalg.fill ins(%56 : f32) outs(%57 : tensor<1x32xf32>) -> tensor<1x32xf32>
    %59 = linalg.generic {indexing_maps = [#map5, #map6, #map7, #map8], iterator_types = ["parallel", "parallel", "reduction", "reduction"]} ins(%55, %10, %arg7 : tensor<1x1x32xf32>, tensor<32x1x32xi8>, tensor<32x1xf16>) outs(%58 : tensor<1x32xf32>) attrs = {ingot.contract = "weights"} {
    ^bb0(%arg25: f32, %arg26: i8, %arg27: f16, %arg28: f32):
      %60 = arith.extui %arg26 : i8 to i32
      %61 = arith.constant -8 : i32
      %62 = arith.addi %60, %61 : i32
      %63 = arith.sitofp %62 : i32 to f32
      %64 = arith.extf %arg27 : f16 to f32
      %65 = arith.mulf %63, %64 : f32
      %66 = math.fma %arg25, %65, %arg28 : f32
      linalg.yield %66 : f32
    } -> tensor<1x32xf32>
    %67 = tensor.empty() : tensor<1x32xf32>
    %68 = linalg.generic {indexing_maps = [#map2, #map2, #map2], iterator_types = ["parallel", "parallel"]} ins(%arg0, %59 : tensor<1x32xf32>, tensor<1x32xf32>) outs(%67 : tensor<1x32xf32>) {
    ^bb0(%arg29: f32, %arg30: f32, %arg31: f32):
      %69 = arith.addf %arg29, %arg30 : f32
      linalg.yield %69 : f32
    } -> tensor<1x32xf32>
    return %68, %51, %48 : tensor<1x32xf32>, tensor<1x16x1x16xf32>, tensor<1x16xf32>
  }
}

#map = affine_map<(d0, d1, d2, d3) -> (d0, d1, d3)>
#map1 = affine_map<(d0, d1, d2, d3) -> (d0, d1)>
#map2 = affine_map<(d0, d1, d2, d3) -> (d0, d1, d2, d3)>
#map3 = affine_map<(d0, d1) -> (d0, d1)>
#map4 = affine_map<(d0, d1) -> (d0)>
#map5 = affine_map<(d0, d1) -> (d1)>
#map6 = affine_map<(d0, d1, d2) -> (d0, d2)>
#map7 = affine_map<(d0, d1, d2) -> (d1, d2)>
#map8 = affine_map<(d0, d1, d2) -> (d0, d1)>
module attributes {ingot.config = {activations = "int8", buckets = [1], kv = "f32", max_pages = 1 : i64, pack_gate_up = true, pack_qkv = true, page_len = 16 : i64, threads = 1 : i64}, ingot.fusion = [{applied = false, detail = "one of the products is added to something that is not zero", pattern = "qkv_proj", reason = "map", what = "<stdin>:39 + <stdin>:42 + <stdin>:50", where = "layer"}, {applied = true, detail = "", pattern = "qkv_proj", reason = "", what = "<stdin>:39 + <stdin>:42", where = "layer"}], ingot.level = 1 : i64, ingot.passes = ["bind-recipe", "refine-shapes", "pack-projections", "split-buckets", "lower-quant", "inline-functions", "expand-tensors", "bind-ports", "canonicalize"], ingot.target = "x86-64-v3", ingot.version = 1 : i64} {
  func.func @forward_s1(%arg0: tensor<1x32xf32>, %arg1: index, %arg2: tensor<1x16x1x16xf32> {ingot.kv = "k", ingot.layer = 0 : i64}, %arg3: tensor<32xf32> {ingot.param = "norm"}, %arg4: tensor<32x1x16xi8> {ingot.param = ["q", "k"], ingot.plane = "q"}, %arg5: tensor<32x1xf16> {ingot.param = ["q", "k"], ingot.plane = "d"}, %arg6: tensor<32x1x16xi8> {ingot.param = "down", ingot.plane = "q"}, %arg7: tensor<32x1xf16> {ingot.param = "down", ingot.plane = "d"}, %arg8: index) -> (tensor<1x32xf32>, tensor<1x16x1x16xf32>, tensor<1x16xf32>) attributes {ingot.bucket = 1 : i64} {
    %0 = arith.constant 4 : i8
    %1 = arith.constant 8 : i8
    %2 = arith.constant 15 : i8
    %3 = arith.constant 0 : index
    %4 = tensor.empty() : tensor<32x1x2x16xf32>
    %5 = linalg.generic {indexing_maps = [#map, #map1, #map2], iterator_types = ["parallel", "parallel", "parallel", "parallel"]} ins(%arg6, %arg7 : tensor<32x1x16xi8>, tensor<32x1xf16>) outs(%4 : tensor<32x1x2x16xf32>) attrs = {ingot.dequant = "q4_0"} {
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
    %21 = linalg.generic {indexing_maps = [#map, #map1, #map2], iterator_types = ["parallel", "parallel", "parallel", "parallel"]} ins(%arg4, %arg5 : tensor<32x1x16xi8>, tensor<32x1xf16>) outs(%20 : tensor<32x1x2x16xf32>) attrs = {ingot.dequant = "q4_0"} {
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
    %33 = arith.constant 0.000000e+00 : f32
    %34 = arith.constant 9.99999974E-6 : f32
    %35 = tensor.empty() : tensor<1xf32>
    %36 = linalg.fill ins(%33 : f32) outs(%35 : tensor<1xf32>) -> tensor<1xf32>
    %37 = linalg.generic {indexing_maps = [#map3, #map4], iterator_types = ["parallel", "reduction"]} ins(%arg0 : tensor<1x32xf32>) outs(%36 : tensor<1xf32>) {
    ^bb0(%arg15: f32, %arg16: f32):
      %38 = arith.mulf %arg15, %arg15 : f32
      %39 = arith.addf %arg16, %38 : f32
      linalg.yield %39 : f32
    } -> tensor<1xf32>
    %40 = tensor.empty() : tensor<1x32xf32>
    %41 = linalg.generic {indexing_maps = [#map3, #map4, #map5, #map3], iterator_types = ["parallel", "parallel"]} ins(%arg0, %37, %arg3 : tensor<1x32xf32>, tensor<1xf32>, tensor<32xf32>) outs(%40 : tensor<1x32xf32>) {
    ^bb0(%arg17: f32, %arg18: f32, %arg19: f32, %arg20: f32):
      %42 = arith.addf %arg18, %34 : f32
      %43 = math.rsqrt %42 : f32
      %44 = arith.mulf %arg17, %43 : f32
      %45 = arith.mulf %44, %arg19 : f32
      linalg.yield %45 : f32
    } -> tensor<1x32xf32>
    %46 = tensor.empty() : tensor<1x32xf32>
    %47 = arith.constant 0.000000e+00 : f32
    %48 = linalg.fill ins(%47 : f32) outs(%46 : tensor<1x32xf32>) -> tensor<1x32xf32>
    %49 = linalg.matmul indexing_maps = [#map6, #map7, #map8] ins(%41, %31 : tensor<1x32xf32>, tensor<32x32xf32>) outs(%48 : tensor<1x32xf32>) -> tensor<1x32xf32>
    %50 = tensor.extract_slice %49[0, 0] [1, 16] [1, 1] : tensor<1x32xf32> to tensor<1x16xf32>
    %51 = tensor.extract_slice %49[0, 16] [1, 16] [1, 1] : tensor<1x32xf32> to tensor<1x16xf32>
    %52 = arith.constant 1 : index
    %53 = scf.for %arg21 = %32 to %arg8 step %52 iter_args(%arg22 = %arg2) -> (tensor<1x16x1x16xf32>) {
      %54 = arith.addi %arg1, %arg21 : index
      %55 = tensor.extract_slice %51[%arg21, 0] [1, 16] [1, 1] : tensor<1x16xf32> to tensor<1x16xf32>
      %56 = tensor.insert_slice %55 into %arg22[0, %54, 0, 0] [1, 1, 1, 16] [1, 1, 1, 1] : tensor<1x16xf32> into tensor<1x16x1x16xf32>
      scf.yield %56 : tensor<1x16x1x16xf32>
    }
    %57 = arith.constant 0.000000e+00 : f32
    %58 = tensor.empty() : tensor<1x32xf32>
    %59 = linalg.fill ins(%57 : f32) outs(%58 : tensor<1x32xf32>) -> tensor<1x32xf32>
    %60 = linalg.matmul indexing_maps = [#map6, #map7, #map8] ins(%41, %15 : tensor<1x32xf32>, tensor<32x32xf32>) outs(%59 : tensor<1x32xf32>) -> tensor<1x32xf32>
    %61 = tensor.empty() : tensor<1x32xf32>
    %62 = linalg.generic {indexing_maps = [#map3, #map3, #map3], iterator_types = ["parallel", "parallel"]} ins(%arg0, %60 : tensor<1x32xf32>, tensor<1x32xf32>) outs(%61 : tensor<1x32xf32>) {
    ^bb0(%arg23: f32, %arg24: f32, %arg25: f32):
      %63 = arith.addf %arg23, %arg24 : f32
      linalg.yield %63 : f32
    } -> tensor<1x32xf32>
    return %62, %53, %50 : tensor<1x32xf32>, tensor<1x16x1x16xf32>, tensor<1x16xf32>
  }
}

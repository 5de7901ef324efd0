#map = affine_map<(d0, d1, d2) -> (d0 * 16 + d2, d1)>
#map1 = affine_map<(d0, d1, d2) -> (d0, d1, d2)>
#map2 = affine_map<(d0, d1, d2, d3) -> (d0, d1, d3)>
#map3 = affine_map<(d0, d1, d2, d3) -> (d0, d1, d2, d3)>
#map4 = affine_map<(d0, d1, d2, d3, d4) -> (d0 * 16 + d3, d1, d2 * 4 + d4)>
#map5 = affine_map<(d0, d1, d2, d3, d4) -> (d0 * 16 + d3, d1, d2 * 4 + d4 + 16)>
#map6 = affine_map<(d0, d1, d2, d3, d4) -> (d0, d1, d2, d3, d4)>
#map7 = affine_map<() -> (1)>
#map8 = affine_map<(d0, d1) -> (d0, d1)>
#map9 = affine_map<(d0, d1) -> (d0)>
#map10 = affine_map<(d0, d1) -> (d1)>
#map11 = affine_map<(d0, d1, d2) -> (d0, d1)>
#map12 = affine_map<() -> (2)>
#map13 = affine_map<(d0, d1, d2, d3, d4, d5, d6) -> (d0, d3, d4, d5, d6)>
#map14 = affine_map<(d0, d1, d2, d3, d4, d5, d6) -> (d1, d3, d5, d2, d6)>
#map15 = affine_map<(d0, d1, d2, d3, d4, d5, d6) -> (d0, d1, d2, d3)>
#map16 = affine_map<(d0, d1, d2, d3) -> (d0, d3)>
#map17 = affine_map<(d0, d1, d2, d3) -> (d1, d3, d2)>
#map18 = affine_map<(d0, d1, d2, d3) -> (d0, d1, d2)>
module attributes {ingot.config = {activations = "int8", buckets = [1], kv = "f32", max_pages = 1 : i64, pack_gate_up = true, pack_qkv = true, page_len = 16 : i64, threads = 1 : i64}, ingot.fusion = [{applied = false, detail = "one of the products is added to something that is not zero", pattern = "qkv_proj", reason = "map", what = "<stdin>:39 + <stdin>:42 + <stdin>:50", where = "layer"}, {applied = true, detail = "", pattern = "qkv_proj", reason = "", what = "<stdin>:39 + <stdin>:42", where = "layer"}], ingot.level = 1 : i64, ingot.passes = ["bind-recipe", "refine-shapes", "pack-projections", "split-buckets", "lower-quant", "inline-functions", "expand-tensors", "bind-ports", "canonicalize", "merge-equal", "raise-patterns", "raise-convolutions", "fold-batch-norm", "assign-precision", "bind-kv-cache", "layout-optimize", "propagate-layout", "hoist-weights", "hoist-constants", "drop-unit-loops", "order-loops", "check-faults", "outline-kernels", "dedupe", "hold-fusion"], ingot.target = "x86-64-v3", ingot.version = 1 : i64} {
  func.func @forward_s1(%arg0: tensor<1x32xf32>, %arg1: index, %arg2: tensor<1x1x16x16xf32> {ingot.inout = 1 : i64, ingot.kv = "k", ingot.layer = 0 : i64}, %arg3: tensor<32xf32> {ingot.param = "norm"}, %arg4: index, %arg5: tensor<2x1x16xf16> {ingot.init = @init_0, ingot.init_args = [{param = "down", plane = "d"}]}, %arg6: tensor<2x1x16xf16> {ingot.init = @init_0, ingot.init_args = [{param = ["q", "k"], plane = "d"}]}, %arg7: tensor<2x1x4x16x4xi8> {ingot.init = @init_2, ingot.init_args = [{param = "down", plane = "q"}]}, %arg8: tensor<2x1x4x16x4xi8> {ingot.init = @init_2, ingot.init_args = [{param = ["q", "k"], plane = "q"}]}) -> (tensor<1x32xf32>, tensor<1x1x16x16xf32>, tensor<1x16xf32>) attributes {ingot.bucket = 1 : i64, ingot.kv_layout = "by head"} {
    %0:3 = func.call @rows(%arg0, %arg3) {ingot.boundary = ["multi-use", "multi-use", "multi-use"]} : (tensor<1x32xf32>, tensor<32xf32>) -> (tensor<1x1xf32>, tensor<1x1x32xi8>, tensor<1x1xi32>)
    %1 = func.call @matmul(%0#1, %arg8, %0#0, %arg6, %0#2) {ingot.boundary = ["reduction-producer"]} : (tensor<1x1x32xi8>, tensor<2x1x4x16x4xi8>, tensor<1x1xf32>, tensor<2x1x16xf16>, tensor<1x1xi32>) -> tensor<1x2x16xf32>
    %2 = tensor.collapse_shape %1 [[0], [1, 2]] : tensor<1x2x16xf32> into tensor<1x32xf32>
    %3 = tensor.extract_slice %2[0, 0] [1, 16] [1, 1] : tensor<1x32xf32> to tensor<1x16xf32>
    %4 = func.call @rows_0(%arg2, %1, %arg4, %arg1) {ingot.boundary = ["result"]} : (tensor<1x1x16x16xf32>, tensor<1x2x16xf32>, index, index) -> tensor<1x1x16x16xf32>
    %5 = func.call @matmul_0(%0#1, %arg7, %0#0, %arg5, %0#2, %arg0) {ingot.boundary = ["result"]} : (tensor<1x1x32xi8>, tensor<2x1x4x16x4xi8>, tensor<1x1xf32>, tensor<2x1x16xf16>, tensor<1x1xi32>, tensor<1x32xf32>) -> tensor<1x32xf32>
    return %5, %4, %3 : tensor<1x32xf32>, tensor<1x1x16x16xf32>, tensor<1x16xf32>
  }
  func.func private @init_0(%arg0: tensor<32x1xf16>) -> tensor<2x1x16xf16> attributes {ingot.kernel = "init"} {
    %0 = tensor.empty() : tensor<2x1x16xf16>
    %1 = linalg.generic {indexing_maps = [#map, #map1], iterator_types = ["parallel", "parallel", "parallel"]} ins(%arg0 : tensor<32x1xf16>) outs(%0 : tensor<2x1x16xf16>) {
    ^bb0(%arg1: f16, %arg2: f16):
      linalg.yield %arg1 : f16
    } -> tensor<2x1x16xf16>
    return %1 : tensor<2x1x16xf16>
  }
  func.func private @init_2(%arg0: tensor<32x1x16xi8>) -> tensor<2x1x4x16x4xi8> attributes {ingot.kernel = "init"} {
    %0 = tensor.empty() : tensor<32x1x2x16xi8>
    %1 = linalg.generic {indexing_maps = [#map2, #map3], iterator_types = ["parallel", "parallel", "parallel", "parallel"]} ins(%arg0 : tensor<32x1x16xi8>) outs(%0 : tensor<32x1x2x16xi8>) attrs = {ingot.code_max = 15 : i64} {
    ^bb0(%arg1: i8, %arg2: i8):
      %2 = linalg.index 2 : index
      %3 = arith.constant 0 : index
      %4 = arith.cmpi eq, %2, %3 : index
      %5 = arith.constant 15 : i8
      %6 = arith.andi %arg1, %5 : i8
      %7 = arith.constant 4 : i8
      %8 = arith.shrui %arg1, %7 : i8
      %9 = arith.select %4, %6, %8 : i8
      linalg.yield %9 : i8
    } -> tensor<32x1x2x16xi8>
    %10 = tensor.collapse_shape %1 [[0], [1], [2, 3]] : tensor<32x1x2x16xi8> into tensor<32x1x32xi8>
    %11 = tensor.empty() : tensor<2x1x4x16x4xi8>
    %12 = linalg.generic {indexing_maps = [#map4, #map5, #map6], iterator_types = ["parallel", "parallel", "parallel", "parallel", "parallel"]} ins(%10, %10 : tensor<32x1x32xi8>, tensor<32x1x32xi8>) outs(%11 : tensor<2x1x4x16x4xi8>) {
    ^bb0(%arg3: i8, %arg4: i8, %arg5: i8):
      %13 = arith.constant 4 : i8
      %14 = arith.shli %arg4, %13 : i8
      %15 = arith.ori %arg3, %14 : i8
      linalg.yield %15 : i8
    } -> tensor<2x1x4x16x4xi8>
    return %12 : tensor<2x1x4x16x4xi8>
  }
  func.func private @rows(%arg0: tensor<1x32xf32>, %arg1: tensor<32xf32>) -> (tensor<1x1xf32>, tensor<1x1x32xi8>, tensor<1x1xi32>) attributes {ingot.kernel = "rows", ingot.tiles = #map7} {
    %0 = arith.constant 0.000000e+00 : f32
    %1 = tensor.empty() : tensor<1xf32>
    %2 = linalg.fill ins(%0 : f32) outs(%1 : tensor<1xf32>) -> tensor<1xf32>
    %3 = linalg.generic {indexing_maps = [#map8, #map9], iterator_types = ["parallel", "reduction"]} ins(%arg0 : tensor<1x32xf32>) outs(%2 : tensor<1xf32>) {
    ^bb0(%arg2: f32, %arg3: f32):
      %4 = arith.mulf %arg2, %arg2 : f32
      %5 = arith.addf %arg3, %4 : f32
      linalg.yield %5 : f32
    } -> tensor<1xf32>
    %6 = tensor.empty() : tensor<1x32xf32>
    %7 = arith.constant 9.99999974E-6 : f32
    %8 = linalg.generic {indexing_maps = [#map8, #map9, #map10, #map8], iterator_types = ["parallel", "parallel"]} ins(%arg0, %3, %arg1 : tensor<1x32xf32>, tensor<1xf32>, tensor<32xf32>) outs(%6 : tensor<1x32xf32>) {
    ^bb0(%arg4: f32, %arg5: f32, %arg6: f32, %arg7: f32):
      %9 = arith.addf %arg5, %7 : f32
      %10 = math.rsqrt %9 : f32
      %11 = arith.mulf %arg4, %10 : f32
      %12 = arith.mulf %11, %arg6 : f32
      linalg.yield %12 : f32
    } -> tensor<1x32xf32>
    %13 = tensor.expand_shape %8 [[0], [1, 2]] output_shape [1, 1, 32] : tensor<1x32xf32> into tensor<1x1x32xf32>
    %14 = arith.constant 0.000000e+00 : f32
    %15 = tensor.empty() : tensor<1x1xf32>
    %16 = linalg.fill ins(%14 : f32) outs(%15 : tensor<1x1xf32>) -> tensor<1x1xf32>
    %17 = linalg.generic {indexing_maps = [#map1, #map11], iterator_types = ["parallel", "parallel", "reduction"]} ins(%13 : tensor<1x1x32xf32>) outs(%16 : tensor<1x1xf32>) {
    ^bb0(%arg8: f32, %arg9: f32):
      %18 = math.absf %arg8 : f32
      %19 = arith.maximumf %18, %arg9 : f32
      linalg.yield %19 : f32
    } -> tensor<1x1xf32>
    %20 = tensor.empty() : tensor<1x1xf32>
    %21 = linalg.generic {indexing_maps = [#map8, #map8], iterator_types = ["parallel", "parallel"]} ins(%17 : tensor<1x1xf32>) outs(%20 : tensor<1x1xf32>) {
    ^bb0(%arg10: f32, %arg11: f32):
      %22 = arith.constant 1.270000e+02 : f32
      %23 = arith.divf %arg10, %22 : f32
      linalg.yield %23 : f32
    } -> tensor<1x1xf32>
    %24 = tensor.empty() : tensor<1x1xf32>
    %25 = linalg.generic {indexing_maps = [#map8, #map8], iterator_types = ["parallel", "parallel"]} ins(%17 : tensor<1x1xf32>) outs(%24 : tensor<1x1xf32>) {
    ^bb0(%arg12: f32, %arg13: f32):
      %26 = arith.constant 0.000000e+00 : f32
      %27 = arith.constant 7.52316385E-37 : f32
      %28 = arith.cmpf ogt, %arg12, %27 : f32
      %29 = arith.constant 1.270000e+02 : f32
      %30 = arith.divf %29, %arg12 : f32
      %31 = arith.select %28, %30, %26 : f32
      linalg.yield %31 : f32
    } -> tensor<1x1xf32>
    %32 = tensor.empty() : tensor<1x1x32xi8>
    %33 = linalg.generic {indexing_maps = [#map1, #map11, #map1], iterator_types = ["parallel", "parallel", "parallel"]} ins(%13, %25 : tensor<1x1x32xf32>, tensor<1x1xf32>) outs(%32 : tensor<1x1x32xi8>) {
    ^bb0(%arg14: f32, %arg15: f32, %arg16: i8):
      %34 = arith.mulf %arg14, %arg15 : f32
      %35 = math.roundeven %34 : f32
      %36 = arith.constant 0.000000e+00 : f32
      %37 = arith.cmpf ord, %35, %35 : f32
      %38 = arith.select %37, %35, %36 : f32
      %39 = arith.fptosi %38 : f32 to i8
      linalg.yield %39 : i8
    } -> tensor<1x1x32xi8>
    %40 = arith.constant 0 : i32
    %41 = tensor.empty() : tensor<1x1xi32>
    %42 = linalg.fill ins(%40 : i32) outs(%41 : tensor<1x1xi32>) -> tensor<1x1xi32>
    %43 = linalg.generic {indexing_maps = [#map1, #map11], iterator_types = ["parallel", "parallel", "reduction"]} ins(%33 : tensor<1x1x32xi8>) outs(%42 : tensor<1x1xi32>) {
    ^bb0(%arg17: i8, %arg18: i32):
      %44 = arith.extsi %arg17 : i8 to i32
      %45 = arith.addi %arg18, %44 : i32
      linalg.yield %45 : i32
    } -> tensor<1x1xi32>
    %46 = tensor.empty() : tensor<1x1xi32>
    %47 = linalg.generic {indexing_maps = [#map8, #map8], iterator_types = ["parallel", "parallel"]} ins(%43 : tensor<1x1xi32>) outs(%46 : tensor<1x1xi32>) {
    ^bb0(%arg19: i32, %arg20: i32):
      %48 = arith.constant -8 : i32
      %49 = arith.muli %arg19, %48 : i32
      linalg.yield %49 : i32
    } -> tensor<1x1xi32>
    return %21, %33, %47 : tensor<1x1xf32>, tensor<1x1x32xi8>, tensor<1x1xi32>
  }
  func.func private @matmul(%arg0: tensor<1x1x32xi8>, %arg1: tensor<2x1x4x16x4xi8>, %arg2: tensor<1x1xf32>, %arg3: tensor<2x1x16xf16>, %arg4: tensor<1x1xi32>) -> tensor<1x2x16xf32> attributes {ingot.kernel = "matmul", ingot.tiles = #map12} {
    %0 = tensor.expand_shape %arg0 [[0], [1], [2, 3, 4]] output_shape [1, 1, 2, 4, 4] : tensor<1x1x32xi8> into tensor<1x1x2x4x4xi8>
    %1 = arith.constant 0 : i32
    %2 = tensor.empty() : tensor<1x2x16x1xi32>
    %3 = linalg.fill ins(%1 : i32) outs(%2 : tensor<1x2x16x1xi32>) -> tensor<1x2x16x1xi32>
    %4 = linalg.generic {indexing_maps = [#map13, #map14, #map15], iterator_types = ["parallel", "parallel", "parallel", "parallel", "reduction", "reduction", "reduction"]} ins(%0, %arg1 : tensor<1x1x2x4x4xi8>, tensor<2x1x4x16x4xi8>) outs(%3 : tensor<1x2x16x1xi32>) attrs = {ingot.contract = "dot"} {
    ^bb0(%arg5: i8, %arg6: i8, %arg7: i32):
      %5 = linalg.index 4 : index
      %6 = arith.constant 15 : i8
      %7 = arith.andi %arg6, %6 : i8
      %8 = arith.constant 4 : i8
      %9 = arith.shrui %arg6, %8 : i8
      %10 = arith.constant 0 : index
      %11 = arith.cmpi eq, %5, %10 : index
      %12 = arith.select %11, %7, %9 : i8
      %13 = arith.extsi %arg5 : i8 to i32
      %14 = arith.extui %12 : i8 to i32
      %15 = arith.muli %13, %14 : i32
      %16 = arith.addi %arg7, %15 : i32
      linalg.yield %16 : i32
    } -> tensor<1x2x16x1xi32>
    %17 = arith.constant 0.000000e+00 : f32
    %18 = tensor.empty() : tensor<1x2x16xf32>
    %19 = linalg.fill ins(%17 : f32) outs(%18 : tensor<1x2x16xf32>) -> tensor<1x2x16xf32>
    %20 = linalg.generic {indexing_maps = [#map3, #map16, #map17, #map16, #map18], iterator_types = ["parallel", "parallel", "parallel", "reduction"]} ins(%4, %arg2, %arg3, %arg4 : tensor<1x2x16x1xi32>, tensor<1x1xf32>, tensor<2x1x16xf16>, tensor<1x1xi32>) outs(%19 : tensor<1x2x16xf32>) attrs = {ingot.contract = "scale"} {
    ^bb0(%arg8: i32, %arg9: f32, %arg10: f16, %arg11: i32, %arg12: f32):
      %21 = arith.addi %arg8, %arg11 : i32
      %22 = arith.sitofp %21 : i32 to f32
      %23 = arith.mulf %22, %arg9 : f32
      %24 = arith.extf %arg10 : f16 to f32
      %25 = math.fma %23, %24, %arg12 : f32
      linalg.yield %25 : f32
    } -> tensor<1x2x16xf32>
    return %20 : tensor<1x2x16xf32>
  }
  func.func private @rows_0(%arg0: tensor<1x1x16x16xf32> {ingot.inout = 0 : i64}, %arg1: tensor<1x2x16xf32>, %arg2: index, %arg3: index) -> tensor<1x1x16x16xf32> attributes {ingot.kernel = "rows", ingot.tiles = #map7} {
    %0 = arith.constant 0 : index
    %1 = arith.constant 1 : index
    %2 = tensor.collapse_shape %arg1 [[0], [1, 2]] : tensor<1x2x16xf32> into tensor<1x32xf32>
    %3 = tensor.extract_slice %2[0, 16] [1, 16] [1, 1] : tensor<1x32xf32> to tensor<1x16xf32>
    %4 = scf.for %arg4 = %0 to %arg2 step %1 iter_args(%arg5 = %arg0) -> (tensor<1x1x16x16xf32>) {
      %5 = arith.addi %arg3, %arg4 : index
      %6 = tensor.extract_slice %3[%arg4, 0] [1, 16] [1, 1] : tensor<1x16xf32> to tensor<1x16xf32>
      %7 = tensor.insert_slice %6 into %arg5[0, 0, 0, %5] [1, 1, 16, 1] [1, 1, 1, 1] : tensor<1x16xf32> into tensor<1x1x16x16xf32>
      scf.yield %7 : tensor<1x1x16x16xf32>
    }
    return %4 : tensor<1x1x16x16xf32>
  }
  func.func private @matmul_0(%arg0: tensor<1x1x32xi8>, %arg1: tensor<2x1x4x16x4xi8>, %arg2: tensor<1x1xf32>, %arg3: tensor<2x1x16xf16>, %arg4: tensor<1x1xi32>, %arg5: tensor<1x32xf32>) -> tensor<1x32xf32> attributes {ingot.kernel = "matmul", ingot.tiles = #map12} {
    %0 = tensor.expand_shape %arg0 [[0], [1], [2, 3, 4]] output_shape [1, 1, 2, 4, 4] : tensor<1x1x32xi8> into tensor<1x1x2x4x4xi8>
    %1 = arith.constant 0 : i32
    %2 = tensor.empty() : tensor<1x2x16x1xi32>
    %3 = linalg.fill ins(%1 : i32) outs(%2 : tensor<1x2x16x1xi32>) -> tensor<1x2x16x1xi32>
    %4 = linalg.generic {indexing_maps = [#map13, #map14, #map15], iterator_types = ["parallel", "parallel", "parallel", "parallel", "reduction", "reduction", "reduction"]} ins(%0, %arg1 : tensor<1x1x2x4x4xi8>, tensor<2x1x4x16x4xi8>) outs(%3 : tensor<1x2x16x1xi32>) attrs = {ingot.contract = "dot"} {
    ^bb0(%arg6: i8, %arg7: i8, %arg8: i32):
      %5 = linalg.index 4 : index
      %6 = arith.constant 15 : i8
      %7 = arith.andi %arg7, %6 : i8
      %8 = arith.constant 4 : i8
      %9 = arith.shrui %arg7, %8 : i8
      %10 = arith.constant 0 : index
      %11 = arith.cmpi eq, %5, %10 : index
      %12 = arith.select %11, %7, %9 : i8
      %13 = arith.extsi %arg6 : i8 to i32
      %14 = arith.extui %12 : i8 to i32
      %15 = arith.muli %13, %14 : i32
      %16 = arith.addi %arg8, %15 : i32
      linalg.yield %16 : i32
    } -> tensor<1x2x16x1xi32>
    %17 = arith.constant 0.000000e+00 : f32
    %18 = tensor.empty() : tensor<1x2x16xf32>
    %19 = linalg.fill ins(%17 : f32) outs(%18 : tensor<1x2x16xf32>) -> tensor<1x2x16xf32>
    %20 = linalg.generic {indexing_maps = [#map3, #map16, #map17, #map16, #map18], iterator_types = ["parallel", "parallel", "parallel", "reduction"]} ins(%4, %arg2, %arg3, %arg4 : tensor<1x2x16x1xi32>, tensor<1x1xf32>, tensor<2x1x16xf16>, tensor<1x1xi32>) outs(%19 : tensor<1x2x16xf32>) attrs = {ingot.contract = "scale"} {
    ^bb0(%arg9: i32, %arg10: f32, %arg11: f16, %arg12: i32, %arg13: f32):
      %21 = arith.addi %arg9, %arg12 : i32
      %22 = arith.sitofp %21 : i32 to f32
      %23 = arith.mulf %22, %arg10 : f32
      %24 = arith.extf %arg11 : f16 to f32
      %25 = math.fma %23, %24, %arg13 : f32
      linalg.yield %25 : f32
    } -> tensor<1x2x16xf32>
    %26 = tensor.collapse_shape %20 [[0], [1, 2]] : tensor<1x2x16xf32> into tensor<1x32xf32>
    %27 = tensor.empty() : tensor<1x32xf32>
    %28 = linalg.generic {indexing_maps = [#map8, #map8, #map8], iterator_types = ["parallel", "parallel"]} ins(%arg5, %26 : tensor<1x32xf32>, tensor<1x32xf32>) outs(%27 : tensor<1x32xf32>) {
    ^bb0(%arg14: f32, %arg15: f32, %arg16: f32):
      %29 = arith.addf %arg14, %arg15 : f32
      linalg.yield %29 : f32
    } -> tensor<1x32xf32>
    return %28 : tensor<1x32xf32>
  }
}

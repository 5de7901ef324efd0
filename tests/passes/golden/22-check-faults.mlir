#map = affine_map<(d0, d1) -> (d0, d1)>
#map1 = affine_map<(d0, d1) -> (d0)>
#map2 = affine_map<(d0, d1) -> (d1)>
#map3 = affine_map<(d0, d1, d2) -> (d0, d1, d2)>
#map4 = affine_map<(d0, d1, d2) -> (d0, d1)>
#map5 = affine_map<(d0, d1, d2, d3, d4, d5, d6) -> (d0, d3, d4, d5, d6)>
#map6 = affine_map<(d0, d1, d2, d3, d4, d5, d6) -> (d1, d3, d5, d2, d6)>
#map7 = affine_map<(d0, d1, d2, d3, d4, d5, d6) -> (d0, d1, d2, d3)>
#map8 = affine_map<(d0, d1, d2, d3) -> (d0, d1, d2, d3)>
#map9 = affine_map<(d0, d1, d2, d3) -> (d0, d3)>
#map10 = affine_map<(d0, d1, d2, d3) -> (d1, d3, d2)>
#map11 = affine_map<(d0, d1, d2, d3) -> (d0, d1, d2)>
#map12 = affine_map<(d0, d1, d2) -> (d0 * 16 + d2, d1)>
#map13 = affine_map<(d0, d1, d2, d3) -> (d0, d1, d3)>
#map14 = affine_map<(d0, d1, d2, d3, d4) -> (d0 * 16 + d3, d1, d2 * 4 + d4)>
#map15 = affine_map<(d0, d1, d2, d3, d4) -> (d0 * 16 + d3, d1, d2 * 4 + d4 + 16)>
#map16 = affine_map<(d0, d1, d2, d3, d4) -> (d0, d1, d2, d3, d4)>
module attributes {ingot.config = {activations = "int8", buckets = [1], kv = "f32", max_pages = 1 : i64, pack_gate_up = true, pack_qkv = true, page_len = 16 : i64, threads = 1 : i64}, ingot.fusion = [{applied = false, detail = "one of the products is added to something that is not zero", pattern = "qkv_proj", reason = "map", what = "<stdin>:39 + <stdin>:42 + <stdin>:50", where = "layer"}, {applied = true, detail = "", pattern = "qkv_proj", reason = "", what = "<stdin>:39 + <stdin>:42", where = "layer"}], ingot.level = 1 : i64, ingot.passes = ["bind-recipe", "refine-shapes", "pack-projections", "split-buckets", "lower-quant", "inline-functions", "expand-tensors", "bind-ports", "canonicalize", "merge-equal", "raise-patterns", "raise-convolutions", "fold-batch-norm", "assign-precision", "bind-kv-cache", "layout-optimize", "propagate-layout", "hoist-weights", "hoist-constants", "drop-unit-loops", "order-loops", "check-faults"], ingot.target = "x86-64-v3", ingot.version = 1 : i64} {
  func.func @forward_s1(%arg0: tensor<1x32xf32>, %arg1: index, %arg2: tensor<1x1x16x16xf32> {ingot.kv = "k", ingot.layer = 0 : i64}, %arg3: tensor<32xf32> {ingot.param = "norm"}, %arg4: index, %arg5: tensor<2x1x16xf16> {ingot.init = @init_0, ingot.init_args = [{param = "down", plane = "d"}]}, %arg6: tensor<2x1x16xf16> {ingot.init = @init_1, ingot.init_args = [{param = ["q", "k"], plane = "d"}]}, %arg7: tensor<2x1x4x16x4xi8> {ingot.init = @init_2, ingot.init_args = [{param = "down", plane = "q"}]}, %arg8: tensor<2x1x4x16x4xi8> {ingot.init = @init_3, ingot.init_args = [{param = ["q", "k"], plane = "q"}]}) -> (tensor<1x32xf32>, tensor<1x1x16x16xf32>, tensor<1x16xf32>) attributes {ingot.bucket = 1 : i64, ingot.kv_layout = "by head"} {
    %0 = arith.constant 0 : index
    %1 = arith.constant 0.000000e+00 : f32
    %2 = arith.constant 9.99999974E-6 : f32
    %3 = tensor.empty() : tensor<1xf32>
    %4 = linalg.fill ins(%1 : f32) outs(%3 : tensor<1xf32>) -> tensor<1xf32>
    %5 = linalg.generic {indexing_maps = [#map, #map1], iterator_types = ["parallel", "reduction"]} ins(%arg0 : tensor<1x32xf32>) outs(%4 : tensor<1xf32>) {
    ^bb0(%arg9: f32, %arg10: f32):
      %6 = arith.mulf %arg9, %arg9 : f32
      %7 = arith.addf %arg10, %6 : f32
      linalg.yield %7 : f32
    } -> tensor<1xf32>
    %8 = tensor.empty() : tensor<1x32xf32>
    %9 = linalg.generic {indexing_maps = [#map, #map1, #map2, #map], iterator_types = ["parallel", "parallel"]} ins(%arg0, %5, %arg3 : tensor<1x32xf32>, tensor<1xf32>, tensor<32xf32>) outs(%8 : tensor<1x32xf32>) {
    ^bb0(%arg11: f32, %arg12: f32, %arg13: f32, %arg14: f32):
      %10 = arith.addf %arg12, %2 : f32
      %11 = math.rsqrt %10 : f32
      %12 = arith.mulf %arg11, %11 : f32
      %13 = arith.mulf %12, %arg13 : f32
      linalg.yield %13 : f32
    } -> tensor<1x32xf32>
    %14 = tensor.expand_shape %9 [[0], [1, 2]] output_shape [1, 1, 32] : tensor<1x32xf32> into tensor<1x1x32xf32>
    %15 = arith.constant 0.000000e+00 : f32
    %16 = tensor.empty() : tensor<1x1xf32>
    %17 = linalg.fill ins(%15 : f32) outs(%16 : tensor<1x1xf32>) -> tensor<1x1xf32>
    %18 = linalg.generic {indexing_maps = [#map3, #map4], iterator_types = ["parallel", "parallel", "reduction"]} ins(%14 : tensor<1x1x32xf32>) outs(%17 : tensor<1x1xf32>) {
    ^bb0(%arg15: f32, %arg16: f32):
      %19 = math.absf %arg15 : f32
      %20 = arith.maximumf %19, %arg16 : f32
      linalg.yield %20 : f32
    } -> tensor<1x1xf32>
    %21 = tensor.empty() : tensor<1x1xf32>
    %22 = linalg.generic {indexing_maps = [#map, #map], iterator_types = ["parallel", "parallel"]} ins(%18 : tensor<1x1xf32>) outs(%21 : tensor<1x1xf32>) {
    ^bb0(%arg17: f32, %arg18: f32):
      %23 = arith.constant 1.270000e+02 : f32
      %24 = arith.divf %arg17, %23 : f32
      linalg.yield %24 : f32
    } -> tensor<1x1xf32>
    %25 = tensor.empty() : tensor<1x1xf32>
    %26 = linalg.generic {indexing_maps = [#map, #map], iterator_types = ["parallel", "parallel"]} ins(%18 : tensor<1x1xf32>) outs(%25 : tensor<1x1xf32>) {
    ^bb0(%arg19: f32, %arg20: f32):
      %27 = arith.constant 0.000000e+00 : f32
      %28 = arith.constant 7.52316385E-37 : f32
      %29 = arith.cmpf ogt, %arg19, %28 : f32
      %30 = arith.constant 1.270000e+02 : f32
      %31 = arith.divf %30, %arg19 : f32
      %32 = arith.select %29, %31, %27 : f32
      linalg.yield %32 : f32
    } -> tensor<1x1xf32>
    %33 = tensor.empty() : tensor<1x1x32xi8>
    %34 = linalg.generic {indexing_maps = [#map3, #map4, #map3], iterator_types = ["parallel", "parallel", "parallel"]} ins(%14, %26 : tensor<1x1x32xf32>, tensor<1x1xf32>) outs(%33 : tensor<1x1x32xi8>) {
    ^bb0(%arg21: f32, %arg22: f32, %arg23: i8):
      %35 = arith.mulf %arg21, %arg22 : f32
      %36 = math.roundeven %35 : f32
      %37 = arith.constant 0.000000e+00 : f32
      %38 = arith.cmpf ord, %36, %36 : f32
      %39 = arith.select %38, %36, %37 : f32
      %40 = arith.fptosi %39 : f32 to i8
      linalg.yield %40 : i8
    } -> tensor<1x1x32xi8>
    %41 = arith.constant 0 : i32
    %42 = tensor.empty() : tensor<1x1xi32>
    %43 = linalg.fill ins(%41 : i32) outs(%42 : tensor<1x1xi32>) -> tensor<1x1xi32>
    %44 = linalg.generic {indexing_maps = [#map3, #map4], iterator_types = ["parallel", "parallel", "reduction"]} ins(%34 : tensor<1x1x32xi8>) outs(%43 : tensor<1x1xi32>) {
    ^bb0(%arg24: i8, %arg25: i32):
      %45 = arith.extsi %arg24 : i8 to i32
      %46 = arith.addi %arg25, %45 : i32
      linalg.yield %46 : i32
    } -> tensor<1x1xi32>
    %47 = tensor.empty() : tensor<1x1xi32>
    %48 = linalg.generic {indexing_maps = [#map, #map], iterator_types = ["parallel", "parallel"]} ins(%44 : tensor<1x1xi32>) outs(%47 : tensor<1x1xi32>) {
    ^bb0(%arg26: i32, %arg27: i32):
      %49 = arith.constant -8 : i32
      %50 = arith.muli %arg26, %49 : i32
      linalg.yield %50 : i32
    } -> tensor<1x1xi32>
    %51 = tensor.expand_shape %34 [[0], [1], [2, 3, 4]] output_shape [1, 1, 2, 4, 4] : tensor<1x1x32xi8> into tensor<1x1x2x4x4xi8>
    %52 = arith.constant 0 : i32
    %53 = tensor.empty() : tensor<1x2x16x1xi32>
    %54 = linalg.fill ins(%52 : i32) outs(%53 : tensor<1x2x16x1xi32>) -> tensor<1x2x16x1xi32>
    %55 = linalg.generic {indexing_maps = [#map5, #map6, #map7], iterator_types = ["parallel", "parallel", "parallel", "parallel", "reduction", "reduction", "reduction"]} ins(%51, %arg8 : tensor<1x1x2x4x4xi8>, tensor<2x1x4x16x4xi8>) outs(%54 : tensor<1x2x16x1xi32>) attrs = {ingot.contract = "dot"} {
    ^bb0(%arg28: i8, %arg29: i8, %arg30: i32):
      %56 = linalg.index 4 : index
      %57 = arith.constant 15 : i8
      %58 = arith.andi %arg29, %57 : i8
      %59 = arith.constant 4 : i8
      %60 = arith.shrui %arg29, %59 : i8
      %61 = arith.constant 0 : index
      %62 = arith.cmpi eq, %56, %61 : index
      %63 = arith.select %62, %58, %60 : i8
      %64 = arith.extsi %arg28 : i8 to i32
      %65 = arith.extui %63 : i8 to i32
      %66 = arith.muli %64, %65 : i32
      %67 = arith.addi %arg30, %66 : i32
      linalg.yield %67 : i32
    } -> tensor<1x2x16x1xi32>
    %68 = arith.constant 0.000000e+00 : f32
    %69 = tensor.empty() : tensor<1x2x16xf32>
    %70 = linalg.fill ins(%68 : f32) outs(%69 : tensor<1x2x16xf32>) -> tensor<1x2x16xf32>
    %71 = linalg.generic {indexing_maps = [#map8, #map9, #map10, #map9, #map11], iterator_types = ["parallel", "parallel", "parallel", "reduction"]} ins(%55, %22, %arg6, %48 : tensor<1x2x16x1xi32>, tensor<1x1xf32>, tensor<2x1x16xf16>, tensor<1x1xi32>) outs(%70 : tensor<1x2x16xf32>) attrs = {ingot.contract = "scale"} {
    ^bb0(%arg31: i32, %arg32: f32, %arg33: f16, %arg34: i32, %arg35: f32):
      %72 = arith.addi %arg31, %arg34 : i32
      %73 = arith.sitofp %72 : i32 to f32
      %74 = arith.mulf %73, %arg32 : f32
      %75 = arith.extf %arg33 : f16 to f32
      %76 = math.fma %74, %75, %arg35 : f32
      linalg.yield %76 : f32
    } -> tensor<1x2x16xf32>
    %77 = tensor.collapse_shape %71 [[0], [1, 2]] : tensor<1x2x16xf32> into tensor<1x32xf32>
    %78 = tensor.extract_slice %77[0, 0] [1, 16] [1, 1] : tensor<1x32xf32> to tensor<1x16xf32>
    %79 = tensor.extract_slice %77[0, 16] [1, 16] [1, 1] : tensor<1x32xf32> to tensor<1x16xf32>
    %80 = arith.constant 1 : index
    %81 = scf.for %arg36 = %0 to %arg4 step %80 iter_args(%arg37 = %arg2) -> (tensor<1x1x16x16xf32>) {
      %82 = arith.addi %arg1, %arg36 : index
      %83 = tensor.extract_slice %79[%arg36, 0] [1, 16] [1, 1] : tensor<1x16xf32> to tensor<1x16xf32>
      %84 = tensor.insert_slice %83 into %arg37[0, 0, 0, %82] [1, 1, 16, 1] [1, 1, 1, 1] : tensor<1x16xf32> into tensor<1x1x16x16xf32>
      scf.yield %84 : tensor<1x1x16x16xf32>
    }
    %85 = tensor.expand_shape %34 [[0], [1], [2, 3, 4]] output_shape [1, 1, 2, 4, 4] : tensor<1x1x32xi8> into tensor<1x1x2x4x4xi8>
    %86 = arith.constant 0 : i32
    %87 = tensor.empty() : tensor<1x2x16x1xi32>
    %88 = linalg.fill ins(%86 : i32) outs(%87 : tensor<1x2x16x1xi32>) -> tensor<1x2x16x1xi32>
    %89 = linalg.generic {indexing_maps = [#map5, #map6, #map7], iterator_types = ["parallel", "parallel", "parallel", "parallel", "reduction", "reduction", "reduction"]} ins(%85, %arg7 : tensor<1x1x2x4x4xi8>, tensor<2x1x4x16x4xi8>) outs(%88 : tensor<1x2x16x1xi32>) attrs = {ingot.contract = "dot"} {
    ^bb0(%arg38: i8, %arg39: i8, %arg40: i32):
      %90 = linalg.index 4 : index
      %91 = arith.constant 15 : i8
      %92 = arith.andi %arg39, %91 : i8
      %93 = arith.constant 4 : i8
      %94 = arith.shrui %arg39, %93 : i8
      %95 = arith.constant 0 : index
      %96 = arith.cmpi eq, %90, %95 : index
      %97 = arith.select %96, %92, %94 : i8
      %98 = arith.extsi %arg38 : i8 to i32
      %99 = arith.extui %97 : i8 to i32
      %100 = arith.muli %98, %99 : i32
      %101 = arith.addi %arg40, %100 : i32
      linalg.yield %101 : i32
    } -> tensor<1x2x16x1xi32>
    %102 = arith.constant 0.000000e+00 : f32
    %103 = tensor.empty() : tensor<1x2x16xf32>
    %104 = linalg.fill ins(%102 : f32) outs(%103 : tensor<1x2x16xf32>) -> tensor<1x2x16xf32>
    %105 = linalg.generic {indexing_maps = [#map8, #map9, #map10, #map9, #map11], iterator_types = ["parallel", "parallel", "parallel", "reduction"]} ins(%89, %22, %arg5, %48 : tensor<1x2x16x1xi32>, tensor<1x1xf32>, tensor<2x1x16xf16>, tensor<1x1xi32>) outs(%104 : tensor<1x2x16xf32>) attrs = {ingot.contract = "scale"} {
    ^bb0(%arg41: i32, %arg42: f32, %arg43: f16, %arg44: i32, %arg45: f32):
      %106 = arith.addi %arg41, %arg44 : i32
      %107 = arith.sitofp %106 : i32 to f32
      %108 = arith.mulf %107, %arg42 : f32
      %109 = arith.extf %arg43 : f16 to f32
      %110 = math.fma %108, %109, %arg45 : f32
      linalg.yield %110 : f32
    } -> tensor<1x2x16xf32>
    %111 = tensor.collapse_shape %105 [[0], [1, 2]] : tensor<1x2x16xf32> into tensor<1x32xf32>
    %112 = tensor.empty() : tensor<1x32xf32>
    %113 = linalg.generic {indexing_maps = [#map, #map, #map], iterator_types = ["parallel", "parallel"]} ins(%arg0, %111 : tensor<1x32xf32>, tensor<1x32xf32>) outs(%112 : tensor<1x32xf32>) {
    ^bb0(%arg46: f32, %arg47: f32, %arg48: f32):
      %114 = arith.addf %arg46, %arg47 : f32
      linalg.yield %114 : f32
    } -> tensor<1x32xf32>
    return %113, %81, %78 : tensor<1x32xf32>, tensor<1x1x16x16xf32>, tensor<1x16xf32>
  }
  func.func private @init_0(%arg0: tensor<32x1xf16>) -> tensor<2x1x16xf16> attributes {ingot.kernel = "init"} {
    %0 = tensor.empty() : tensor<2x1x16xf16>
    %1 = linalg.generic {indexing_maps = [#map12, #map3], iterator_types = ["parallel", "parallel", "parallel"]} ins(%arg0 : tensor<32x1xf16>) outs(%0 : tensor<2x1x16xf16>) {
    ^bb0(%arg1: f16, %arg2: f16):
      linalg.yield %arg1 : f16
    } -> tensor<2x1x16xf16>
    return %1 : tensor<2x1x16xf16>
  }
  func.func private @init_1(%arg0: tensor<32x1xf16>) -> tensor<2x1x16xf16> attributes {ingot.kernel = "init"} {
    %0 = tensor.empty() : tensor<2x1x16xf16>
    %1 = linalg.generic {indexing_maps = [#map12, #map3], iterator_types = ["parallel", "parallel", "parallel"]} ins(%arg0 : tensor<32x1xf16>) outs(%0 : tensor<2x1x16xf16>) {
    ^bb0(%arg1: f16, %arg2: f16):
      linalg.yield %arg1 : f16
    } -> tensor<2x1x16xf16>
    return %1 : tensor<2x1x16xf16>
  }
  func.func private @init_2(%arg0: tensor<32x1x16xi8>) -> tensor<2x1x4x16x4xi8> attributes {ingot.kernel = "init"} {
    %0 = tensor.empty() : tensor<32x1x2x16xi8>
    %1 = linalg.generic {indexing_maps = [#map13, #map8], iterator_types = ["parallel", "parallel", "parallel", "parallel"]} ins(%arg0 : tensor<32x1x16xi8>) outs(%0 : tensor<32x1x2x16xi8>) attrs = {ingot.code_max = 15 : i64} {
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
    %12 = linalg.generic {indexing_maps = [#map14, #map15, #map16], iterator_types = ["parallel", "parallel", "parallel", "parallel", "parallel"]} ins(%10, %10 : tensor<32x1x32xi8>, tensor<32x1x32xi8>) outs(%11 : tensor<2x1x4x16x4xi8>) {
    ^bb0(%arg3: i8, %arg4: i8, %arg5: i8):
      %13 = arith.constant 4 : i8
      %14 = arith.shli %arg4, %13 : i8
      %15 = arith.ori %arg3, %14 : i8
      linalg.yield %15 : i8
    } -> tensor<2x1x4x16x4xi8>
    return %12 : tensor<2x1x4x16x4xi8>
  }
  func.func private @init_3(%arg0: tensor<32x1x16xi8>) -> tensor<2x1x4x16x4xi8> attributes {ingot.kernel = "init"} {
    %0 = tensor.empty() : tensor<32x1x2x16xi8>
    %1 = linalg.generic {indexing_maps = [#map13, #map8], iterator_types = ["parallel", "parallel", "parallel", "parallel"]} ins(%arg0 : tensor<32x1x16xi8>) outs(%0 : tensor<32x1x2x16xi8>) attrs = {ingot.code_max = 15 : i64} {
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
    %12 = linalg.generic {indexing_maps = [#map14, #map15, #map16], iterator_types = ["parallel", "parallel", "parallel", "parallel", "parallel"]} ins(%10, %10 : tensor<32x1x32xi8>, tensor<32x1x32xi8>) outs(%11 : tensor<2x1x4x16x4xi8>) {
    ^bb0(%arg3: i8, %arg4: i8, %arg5: i8):
      %13 = arith.constant 4 : i8
      %14 = arith.shli %arg4, %13 : i8
      %15 = arith.ori %arg3, %14 : i8
      linalg.yield %15 : i8
    } -> tensor<2x1x4x16x4xi8>
    return %12 : tensor<2x1x4x16x4xi8>
  }
}

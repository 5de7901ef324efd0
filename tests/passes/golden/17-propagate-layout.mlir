#map = affine_map<(d0, d1, d2) -> (d0 * 16 + d2, d1)>
#map1 = affine_map<(d0, d1, d2) -> (d0, d1, d2)>
#map2 = affine_map<(d0, d1, d2, d3) -> (d0, d1, d3)>
#map3 = affine_map<(d0, d1, d2, d3) -> (d0, d1, d2, d3)>
#map4 = affine_map<(d0, d1, d2, d3, d4) -> (d0 * 16 + d3, d1, d2 * 4 + d4)>
#map5 = affine_map<(d0, d1, d2, d3, d4) -> (d0 * 16 + d3, d1, d2 * 4 + d4 + 16)>
#map6 = affine_map<(d0, d1, d2, d3, d4) -> (d0, d1, d2, d3, d4)>
#map7 = affine_map<(d0, d1) -> (d0, d1)>
#map8 = affine_map<(d0, d1) -> (d0)>
#map9 = affine_map<(d0, d1) -> (d1)>
#map10 = affine_map<(d0, d1, d2) -> (d0, d1)>
#map11 = affine_map<(d0, d1, d2, d3, d4, d5, d6) -> (d0, d3, d4, d5, d6)>
#map12 = affine_map<(d0, d1, d2, d3, d4, d5, d6) -> (d1, d3, d5, d2, d6)>
#map13 = affine_map<(d0, d1, d2, d3, d4, d5, d6) -> (d0, d1, d2, d3)>
#map14 = affine_map<(d0, d1, d2, d3) -> (d0, d3)>
#map15 = affine_map<(d0, d1, d2, d3) -> (d1, d3, d2)>
#map16 = affine_map<(d0, d1, d2, d3) -> (d0, d1, d2)>
module attributes {ingot.config = {activations = "int8", buckets = [1], kv = "f32", max_pages = 1 : i64, pack_gate_up = true, pack_qkv = true, page_len = 16 : i64, threads = 1 : i64}, ingot.fusion = [{applied = false, detail = "one of the products is added to something that is not zero", pattern = "qkv_proj", reason = "map", what = "<stdin>:39 + <stdin>:42 + <stdin>:50", where = "layer"}, {applied = true, detail = "", pattern = "qkv_proj", reason = "", what = "<stdin>:39 + <stdin>:42", where = "layer"}], ingot.level = 1 : i64, ingot.passes = ["bind-recipe", "refine-shapes", "pack-projections", "split-buckets", "lower-quant", "inline-functions", "expand-tensors", "bind-ports", "canonicalize", "merge-equal", "raise-patterns", "raise-convolutions", "fold-batch-norm", "assign-precision", "bind-kv-cache", "layout-optimize", "propagate-layout"], ingot.target = "x86-64-v3", ingot.version = 1 : i64} {
  func.func @forward_s1(%arg0: tensor<1x32xf32>, %arg1: index, %arg2: tensor<1x1x16x16xf32> {ingot.kv = "k", ingot.layer = 0 : i64}, %arg3: tensor<32xf32> {ingot.param = "norm"}, %arg4: tensor<32x1x16xi8> {ingot.param = ["q", "k"], ingot.plane = "q"}, %arg5: tensor<32x1xf16> {ingot.param = ["q", "k"], ingot.plane = "d"}, %arg6: tensor<32x1x16xi8> {ingot.param = "down", ingot.plane = "q"}, %arg7: tensor<32x1xf16> {ingot.param = "down", ingot.plane = "d"}, %arg8: index) -> (tensor<1x32xf32>, tensor<1x1x16x16xf32>, tensor<1x16xf32>) attributes {ingot.bucket = 1 : i64, ingot.kv_layout = "by head"} {
    %0 = tensor.empty() : tensor<2x1x16xf16>
    %1 = linalg.generic {indexing_maps = [#map, #map1], iterator_types = ["parallel", "parallel", "parallel"]} ins(%arg7 : tensor<32x1xf16>) outs(%0 : tensor<2x1x16xf16>) {
    ^bb0(%arg9: f16, %arg10: f16):
      linalg.yield %arg9 : f16
    } -> tensor<2x1x16xf16>
    %2 = tensor.empty() : tensor<2x1x16xf16>
    %3 = linalg.generic {indexing_maps = [#map, #map1], iterator_types = ["parallel", "parallel", "parallel"]} ins(%arg5 : tensor<32x1xf16>) outs(%2 : tensor<2x1x16xf16>) {
    ^bb0(%arg11: f16, %arg12: f16):
      linalg.yield %arg11 : f16
    } -> tensor<2x1x16xf16>
    %4 = tensor.empty() : tensor<32x1x2x16xi8>
    %5 = linalg.generic {indexing_maps = [#map2, #map3], iterator_types = ["parallel", "parallel", "parallel", "parallel"]} ins(%arg6 : tensor<32x1x16xi8>) outs(%4 : tensor<32x1x2x16xi8>) attrs = {ingot.code_max = 15 : i64} {
    ^bb0(%arg13: i8, %arg14: i8):
      %6 = linalg.index 2 : index
      %7 = arith.constant 0 : index
      %8 = arith.cmpi eq, %6, %7 : index
      %9 = arith.constant 15 : i8
      %10 = arith.andi %arg13, %9 : i8
      %11 = arith.constant 4 : i8
      %12 = arith.shrui %arg13, %11 : i8
      %13 = arith.select %8, %10, %12 : i8
      linalg.yield %13 : i8
    } -> tensor<32x1x2x16xi8>
    %14 = tensor.collapse_shape %5 [[0], [1], [2, 3]] : tensor<32x1x2x16xi8> into tensor<32x1x32xi8>
    %15 = tensor.empty() : tensor<2x1x4x16x4xi8>
    %16 = linalg.generic {indexing_maps = [#map4, #map5, #map6], iterator_types = ["parallel", "parallel", "parallel", "parallel", "parallel"]} ins(%14, %14 : tensor<32x1x32xi8>, tensor<32x1x32xi8>) outs(%15 : tensor<2x1x4x16x4xi8>) {
    ^bb0(%arg15: i8, %arg16: i8, %arg17: i8):
      %17 = arith.constant 4 : i8
      %18 = arith.shli %arg16, %17 : i8
      %19 = arith.ori %arg15, %18 : i8
      linalg.yield %19 : i8
    } -> tensor<2x1x4x16x4xi8>
    %20 = tensor.empty() : tensor<32x1x2x16xi8>
    %21 = linalg.generic {indexing_maps = [#map2, #map3], iterator_types = ["parallel", "parallel", "parallel", "parallel"]} ins(%arg4 : tensor<32x1x16xi8>) outs(%20 : tensor<32x1x2x16xi8>) attrs = {ingot.code_max = 15 : i64} {
    ^bb0(%arg18: i8, %arg19: i8):
      %22 = linalg.index 2 : index
      %23 = arith.constant 0 : index
      %24 = arith.cmpi eq, %22, %23 : index
      %25 = arith.constant 15 : i8
      %26 = arith.andi %arg18, %25 : i8
      %27 = arith.constant 4 : i8
      %28 = arith.shrui %arg18, %27 : i8
      %29 = arith.select %24, %26, %28 : i8
      linalg.yield %29 : i8
    } -> tensor<32x1x2x16xi8>
    %30 = tensor.collapse_shape %21 [[0], [1], [2, 3]] : tensor<32x1x2x16xi8> into tensor<32x1x32xi8>
    %31 = tensor.empty() : tensor<2x1x4x16x4xi8>
    %32 = linalg.generic {indexing_maps = [#map4, #map5, #map6], iterator_types = ["parallel", "parallel", "parallel", "parallel", "parallel"]} ins(%30, %30 : tensor<32x1x32xi8>, tensor<32x1x32xi8>) outs(%31 : tensor<2x1x4x16x4xi8>) {
    ^bb0(%arg20: i8, %arg21: i8, %arg22: i8):
      %33 = arith.constant 4 : i8
      %34 = arith.shli %arg21, %33 : i8
      %35 = arith.ori %arg20, %34 : i8
      linalg.yield %35 : i8
    } -> tensor<2x1x4x16x4xi8>
    %36 = arith.constant 0 : index
    %37 = arith.constant 0.000000e+00 : f32
    %38 = arith.constant 9.99999974E-6 : f32
    %39 = tensor.empty() : tensor<1xf32>
    %40 = linalg.fill ins(%37 : f32) outs(%39 : tensor<1xf32>) -> tensor<1xf32>
    %41 = linalg.generic {indexing_maps = [#map7, #map8], iterator_types = ["parallel", "reduction"]} ins(%arg0 : tensor<1x32xf32>) outs(%40 : tensor<1xf32>) {
    ^bb0(%arg23: f32, %arg24: f32):
      %42 = arith.mulf %arg23, %arg23 : f32
      %43 = arith.addf %arg24, %42 : f32
      linalg.yield %43 : f32
    } -> tensor<1xf32>
    %44 = tensor.empty() : tensor<1x32xf32>
    %45 = linalg.generic {indexing_maps = [#map7, #map8, #map9, #map7], iterator_types = ["parallel", "parallel"]} ins(%arg0, %41, %arg3 : tensor<1x32xf32>, tensor<1xf32>, tensor<32xf32>) outs(%44 : tensor<1x32xf32>) {
    ^bb0(%arg25: f32, %arg26: f32, %arg27: f32, %arg28: f32):
      %46 = arith.addf %arg26, %38 : f32
      %47 = math.rsqrt %46 : f32
      %48 = arith.mulf %arg25, %47 : f32
      %49 = arith.mulf %48, %arg27 : f32
      linalg.yield %49 : f32
    } -> tensor<1x32xf32>
    %50 = tensor.expand_shape %45 [[0], [1, 2]] output_shape [1, 1, 32] : tensor<1x32xf32> into tensor<1x1x32xf32>
    %51 = arith.constant 0.000000e+00 : f32
    %52 = tensor.empty() : tensor<1x1xf32>
    %53 = linalg.fill ins(%51 : f32) outs(%52 : tensor<1x1xf32>) -> tensor<1x1xf32>
    %54 = linalg.generic {indexing_maps = [#map1, #map10], iterator_types = ["parallel", "parallel", "reduction"]} ins(%50 : tensor<1x1x32xf32>) outs(%53 : tensor<1x1xf32>) {
    ^bb0(%arg29: f32, %arg30: f32):
      %55 = math.absf %arg29 : f32
      %56 = arith.maximumf %55, %arg30 : f32
      linalg.yield %56 : f32
    } -> tensor<1x1xf32>
    %57 = tensor.empty() : tensor<1x1xf32>
    %58 = linalg.generic {indexing_maps = [#map7, #map7], iterator_types = ["parallel", "parallel"]} ins(%54 : tensor<1x1xf32>) outs(%57 : tensor<1x1xf32>) {
    ^bb0(%arg31: f32, %arg32: f32):
      %59 = arith.constant 1.270000e+02 : f32
      %60 = arith.divf %arg31, %59 : f32
      linalg.yield %60 : f32
    } -> tensor<1x1xf32>
    %61 = tensor.empty() : tensor<1x1xf32>
    %62 = linalg.generic {indexing_maps = [#map7, #map7], iterator_types = ["parallel", "parallel"]} ins(%54 : tensor<1x1xf32>) outs(%61 : tensor<1x1xf32>) {
    ^bb0(%arg33: f32, %arg34: f32):
      %63 = arith.constant 0.000000e+00 : f32
      %64 = arith.constant 7.52316385E-37 : f32
      %65 = arith.cmpf ogt, %arg33, %64 : f32
      %66 = arith.constant 1.270000e+02 : f32
      %67 = arith.divf %66, %arg33 : f32
      %68 = arith.select %65, %67, %63 : f32
      linalg.yield %68 : f32
    } -> tensor<1x1xf32>
    %69 = tensor.empty() : tensor<1x1x32xi8>
    %70 = linalg.generic {indexing_maps = [#map1, #map10, #map1], iterator_types = ["parallel", "parallel", "parallel"]} ins(%50, %62 : tensor<1x1x32xf32>, tensor<1x1xf32>) outs(%69 : tensor<1x1x32xi8>) {
    ^bb0(%arg35: f32, %arg36: f32, %arg37: i8):
      %71 = arith.mulf %arg35, %arg36 : f32
      %72 = math.roundeven %71 : f32
      %73 = arith.constant 0.000000e+00 : f32
      %74 = arith.cmpf ord, %72, %72 : f32
      %75 = arith.select %74, %72, %73 : f32
      %76 = arith.fptosi %75 : f32 to i8
      linalg.yield %76 : i8
    } -> tensor<1x1x32xi8>
    %77 = arith.constant 0 : i32
    %78 = tensor.empty() : tensor<1x1xi32>
    %79 = linalg.fill ins(%77 : i32) outs(%78 : tensor<1x1xi32>) -> tensor<1x1xi32>
    %80 = linalg.generic {indexing_maps = [#map1, #map10], iterator_types = ["parallel", "parallel", "reduction"]} ins(%70 : tensor<1x1x32xi8>) outs(%79 : tensor<1x1xi32>) {
    ^bb0(%arg38: i8, %arg39: i32):
      %81 = arith.extsi %arg38 : i8 to i32
      %82 = arith.addi %arg39, %81 : i32
      linalg.yield %82 : i32
    } -> tensor<1x1xi32>
    %83 = tensor.empty() : tensor<1x1xi32>
    %84 = linalg.generic {indexing_maps = [#map7, #map7], iterator_types = ["parallel", "parallel"]} ins(%80 : tensor<1x1xi32>) outs(%83 : tensor<1x1xi32>) {
    ^bb0(%arg40: i32, %arg41: i32):
      %85 = arith.constant -8 : i32
      %86 = arith.muli %arg40, %85 : i32
      linalg.yield %86 : i32
    } -> tensor<1x1xi32>
    %87 = tensor.expand_shape %70 [[0], [1], [2, 3, 4]] output_shape [1, 1, 2, 4, 4] : tensor<1x1x32xi8> into tensor<1x1x2x4x4xi8>
    %88 = arith.constant 0 : i32
    %89 = tensor.empty() : tensor<1x2x16x1xi32>
    %90 = linalg.fill ins(%88 : i32) outs(%89 : tensor<1x2x16x1xi32>) -> tensor<1x2x16x1xi32>
    %91 = linalg.generic {indexing_maps = [#map11, #map12, #map13], iterator_types = ["parallel", "parallel", "parallel", "parallel", "reduction", "reduction", "reduction"]} ins(%87, %32 : tensor<1x1x2x4x4xi8>, tensor<2x1x4x16x4xi8>) outs(%90 : tensor<1x2x16x1xi32>) attrs = {ingot.contract = "dot"} {
    ^bb0(%arg42: i8, %arg43: i8, %arg44: i32):
      %92 = linalg.index 4 : index
      %93 = arith.constant 15 : i8
      %94 = arith.andi %arg43, %93 : i8
      %95 = arith.constant 4 : i8
      %96 = arith.shrui %arg43, %95 : i8
      %97 = arith.constant 0 : index
      %98 = arith.cmpi eq, %92, %97 : index
      %99 = arith.select %98, %94, %96 : i8
      %100 = arith.extsi %arg42 : i8 to i32
      %101 = arith.extui %99 : i8 to i32
      %102 = arith.muli %100, %101 : i32
      %103 = arith.addi %arg44, %102 : i32
      linalg.yield %103 : i32
    } -> tensor<1x2x16x1xi32>
    %104 = arith.constant 0.000000e+00 : f32
    %105 = tensor.empty() : tensor<1x2x16xf32>
    %106 = linalg.fill ins(%104 : f32) outs(%105 : tensor<1x2x16xf32>) -> tensor<1x2x16xf32>
    %107 = linalg.generic {indexing_maps = [#map3, #map14, #map15, #map14, #map16], iterator_types = ["parallel", "parallel", "parallel", "reduction"]} ins(%91, %58, %3, %84 : tensor<1x2x16x1xi32>, tensor<1x1xf32>, tensor<2x1x16xf16>, tensor<1x1xi32>) outs(%106 : tensor<1x2x16xf32>) attrs = {ingot.contract = "scale"} {
    ^bb0(%arg45: i32, %arg46: f32, %arg47: f16, %arg48: i32, %arg49: f32):
      %108 = arith.addi %arg45, %arg48 : i32
      %109 = arith.sitofp %108 : i32 to f32
      %110 = arith.mulf %109, %arg46 : f32
      %111 = arith.extf %arg47 : f16 to f32
      %112 = math.fma %110, %111, %arg49 : f32
      linalg.yield %112 : f32
    } -> tensor<1x2x16xf32>
    %113 = tensor.collapse_shape %107 [[0], [1, 2]] : tensor<1x2x16xf32> into tensor<1x32xf32>
    %114 = tensor.extract_slice %113[0, 0] [1, 16] [1, 1] : tensor<1x32xf32> to tensor<1x16xf32>
    %115 = tensor.extract_slice %113[0, 16] [1, 16] [1, 1] : tensor<1x32xf32> to tensor<1x16xf32>
    %116 = arith.constant 1 : index
    %117 = scf.for %arg50 = %36 to %arg8 step %116 iter_args(%arg51 = %arg2) -> (tensor<1x1x16x16xf32>) {
      %118 = arith.addi %arg1, %arg50 : index
      %119 = tensor.extract_slice %115[%arg50, 0] [1, 16] [1, 1] : tensor<1x16xf32> to tensor<1x16xf32>
      %120 = tensor.insert_slice %119 into %arg51[0, 0, 0, %118] [1, 1, 16, 1] [1, 1, 1, 1] : tensor<1x16xf32> into tensor<1x1x16x16xf32>
      scf.yield %120 : tensor<1x1x16x16xf32>
    }
    %121 = tensor.expand_shape %70 [[0], [1], [2, 3, 4]] output_shape [1, 1, 2, 4, 4] : tensor<1x1x32xi8> into tensor<1x1x2x4x4xi8>
    %122 = arith.constant 0 : i32
    %123 = tensor.empty() : tensor<1x2x16x1xi32>
    %124 = linalg.fill ins(%122 : i32) outs(%123 : tensor<1x2x16x1xi32>) -> tensor<1x2x16x1xi32>
    %125 = linalg.generic {indexing_maps = [#map11, #map12, #map13], iterator_types = ["parallel", "parallel", "parallel", "parallel", "reduction", "reduction", "reduction"]} ins(%121, %16 : tensor<1x1x2x4x4xi8>, tensor<2x1x4x16x4xi8>) outs(%124 : tensor<1x2x16x1xi32>) attrs = {ingot.contract = "dot"} {
    ^bb0(%arg52: i8, %arg53: i8, %arg54: i32):
      %126 = linalg.index 4 : index
      %127 = arith.constant 15 : i8
      %128 = arith.andi %arg53, %127 : i8
      %129 = arith.constant 4 : i8
      %130 = arith.shrui %arg53, %129 : i8
      %131 = arith.constant 0 : index
      %132 = arith.cmpi eq, %126, %131 : index
      %133 = arith.select %132, %128, %130 : i8
      %134 = arith.extsi %arg52 : i8 to i32
      %135 = arith.extui %133 : i8 to i32
      %136 = arith.muli %134, %135 : i32
      %137 = arith.addi %arg54, %136 : i32
      linalg.yield %137 : i32
    } -> tensor<1x2x16x1xi32>
    %138 = arith.constant 0.000000e+00 : f32
    %139 = tensor.empty() : tensor<1x2x16xf32>
    %140 = linalg.fill ins(%138 : f32) outs(%139 : tensor<1x2x16xf32>) -> tensor<1x2x16xf32>
    %141 = linalg.generic {indexing_maps = [#map3, #map14, #map15, #map14, #map16], iterator_types = ["parallel", "parallel", "parallel", "reduction"]} ins(%125, %58, %1, %84 : tensor<1x2x16x1xi32>, tensor<1x1xf32>, tensor<2x1x16xf16>, tensor<1x1xi32>) outs(%140 : tensor<1x2x16xf32>) attrs = {ingot.contract = "scale"} {
    ^bb0(%arg55: i32, %arg56: f32, %arg57: f16, %arg58: i32, %arg59: f32):
      %142 = arith.addi %arg55, %arg58 : i32
      %143 = arith.sitofp %142 : i32 to f32
      %144 = arith.mulf %143, %arg56 : f32
      %145 = arith.extf %arg57 : f16 to f32
      %146 = math.fma %144, %145, %arg59 : f32
      linalg.yield %146 : f32
    } -> tensor<1x2x16xf32>
    %147 = tensor.collapse_shape %141 [[0], [1, 2]] : tensor<1x2x16xf32> into tensor<1x32xf32>
    %148 = tensor.empty() : tensor<1x32xf32>
    %149 = linalg.generic {indexing_maps = [#map7, #map7, #map7], iterator_types = ["parallel", "parallel"]} ins(%arg0, %147 : tensor<1x32xf32>, tensor<1x32xf32>) outs(%148 : tensor<1x32xf32>) {
    ^bb0(%arg60: f32, %arg61: f32, %arg62: f32):
      %150 = arith.addf %arg60, %arg61 : f32
      linalg.yield %150 : f32
    } -> tensor<1x32xf32>
    return %149, %117, %114 : tensor<1x32xf32>, tensor<1x1x16x16xf32>, tensor<1x16xf32>
  }
}

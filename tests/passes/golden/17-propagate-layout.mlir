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
      %73 = arith.fptosi %72 : f32 to i8
      linalg.yield %73 : i8
    } -> tensor<1x1x32xi8>
    %74 = arith.constant 0 : i32
    %75 = tensor.empty() : tensor<1x1xi32>
    %76 = linalg.fill ins(%74 : i32) outs(%75 : tensor<1x1xi32>) -> tensor<1x1xi32>
    %77 = linalg.generic {indexing_maps = [#map1, #map10], iterator_types = ["parallel", "parallel", "reduction"]} ins(%70 : tensor<1x1x32xi8>) outs(%76 : tensor<1x1xi32>) {
    ^bb0(%arg38: i8, %arg39: i32):
      %78 = arith.extsi %arg38 : i8 to i32
      %79 = arith.addi %arg39, %78 : i32
      linalg.yield %79 : i32
    } -> tensor<1x1xi32>
    %80 = tensor.empty() : tensor<1x1xi32>
    %81 = linalg.generic {indexing_maps = [#map7, #map7], iterator_types = ["parallel", "parallel"]} ins(%77 : tensor<1x1xi32>) outs(%80 : tensor<1x1xi32>) {
    ^bb0(%arg40: i32, %arg41: i32):
      %82 = arith.constant -8 : i32
      %83 = arith.muli %arg40, %82 : i32
      linalg.yield %83 : i32
    } -> tensor<1x1xi32>
    %84 = tensor.expand_shape %70 [[0], [1], [2, 3, 4]] output_shape [1, 1, 2, 4, 4] : tensor<1x1x32xi8> into tensor<1x1x2x4x4xi8>
    %85 = arith.constant 0 : i32
    %86 = tensor.empty() : tensor<1x2x16x1xi32>
    %87 = linalg.fill ins(%85 : i32) outs(%86 : tensor<1x2x16x1xi32>) -> tensor<1x2x16x1xi32>
    %88 = linalg.generic {indexing_maps = [#map11, #map12, #map13], iterator_types = ["parallel", "parallel", "parallel", "parallel", "reduction", "reduction", "reduction"]} ins(%84, %32 : tensor<1x1x2x4x4xi8>, tensor<2x1x4x16x4xi8>) outs(%87 : tensor<1x2x16x1xi32>) attrs = {ingot.contract = "dot"} {
    ^bb0(%arg42: i8, %arg43: i8, %arg44: i32):
      %89 = linalg.index 4 : index
      %90 = arith.constant 15 : i8
      %91 = arith.andi %arg43, %90 : i8
      %92 = arith.constant 4 : i8
      %93 = arith.shrui %arg43, %92 : i8
      %94 = arith.constant 0 : index
      %95 = arith.cmpi eq, %89, %94 : index
      %96 = arith.select %95, %91, %93 : i8
      %97 = arith.extsi %arg42 : i8 to i32
      %98 = arith.extui %96 : i8 to i32
      %99 = arith.muli %97, %98 : i32
      %100 = arith.addi %arg44, %99 : i32
      linalg.yield %100 : i32
    } -> tensor<1x2x16x1xi32>
    %101 = arith.constant 0.000000e+00 : f32
    %102 = tensor.empty() : tensor<1x2x16xf32>
    %103 = linalg.fill ins(%101 : f32) outs(%102 : tensor<1x2x16xf32>) -> tensor<1x2x16xf32>
    %104 = linalg.generic {indexing_maps = [#map3, #map14, #map15, #map14, #map16], iterator_types = ["parallel", "parallel", "parallel", "reduction"]} ins(%88, %58, %3, %81 : tensor<1x2x16x1xi32>, tensor<1x1xf32>, tensor<2x1x16xf16>, tensor<1x1xi32>) outs(%103 : tensor<1x2x16xf32>) attrs = {ingot.contract = "scale"} {
    ^bb0(%arg45: i32, %arg46: f32, %arg47: f16, %arg48: i32, %arg49: f32):
      %105 = arith.addi %arg45, %arg48 : i32
      %106 = arith.sitofp %105 : i32 to f32
      %107 = arith.mulf %106, %arg46 : f32
      %108 = arith.extf %arg47 : f16 to f32
      %109 = math.fma %107, %108, %arg49 : f32
      linalg.yield %109 : f32
    } -> tensor<1x2x16xf32>
    %110 = tensor.collapse_shape %104 [[0], [1, 2]] : tensor<1x2x16xf32> into tensor<1x32xf32>
    %111 = tensor.extract_slice %110[0, 0] [1, 16] [1, 1] : tensor<1x32xf32> to tensor<1x16xf32>
    %112 = tensor.extract_slice %110[0, 16] [1, 16] [1, 1] : tensor<1x32xf32> to tensor<1x16xf32>
    %113 = arith.constant 1 : index
    %114 = scf.for %arg50 = %36 to %arg8 step %113 iter_args(%arg51 = %arg2) -> (tensor<1x1x16x16xf32>) {
      %115 = arith.addi %arg1, %arg50 : index
      %116 = tensor.extract_slice %112[%arg50, 0] [1, 16] [1, 1] : tensor<1x16xf32> to tensor<1x16xf32>
      %117 = tensor.insert_slice %116 into %arg51[0, 0, 0, %115] [1, 1, 16, 1] [1, 1, 1, 1] : tensor<1x16xf32> into tensor<1x1x16x16xf32>
      scf.yield %117 : tensor<1x1x16x16xf32>
    }
    %118 = tensor.expand_shape %70 [[0], [1], [2, 3, 4]] output_shape [1, 1, 2, 4, 4] : tensor<1x1x32xi8> into tensor<1x1x2x4x4xi8>
    %119 = arith.constant 0 : i32
    %120 = tensor.empty() : tensor<1x2x16x1xi32>
    %121 = linalg.fill ins(%119 : i32) outs(%120 : tensor<1x2x16x1xi32>) -> tensor<1x2x16x1xi32>
    %122 = linalg.generic {indexing_maps = [#map11, #map12, #map13], iterator_types = ["parallel", "parallel", "parallel", "parallel", "reduction", "reduction", "reduction"]} ins(%118, %16 : tensor<1x1x2x4x4xi8>, tensor<2x1x4x16x4xi8>) outs(%121 : tensor<1x2x16x1xi32>) attrs = {ingot.contract = "dot"} {
    ^bb0(%arg52: i8, %arg53: i8, %arg54: i32):
      %123 = linalg.index 4 : index
      %124 = arith.constant 15 : i8
      %125 = arith.andi %arg53, %124 : i8
      %126 = arith.constant 4 : i8
      %127 = arith.shrui %arg53, %126 : i8
      %128 = arith.constant 0 : index
      %129 = arith.cmpi eq, %123, %128 : index
      %130 = arith.select %129, %125, %127 : i8
      %131 = arith.extsi %arg52 : i8 to i32
      %132 = arith.extui %130 : i8 to i32
      %133 = arith.muli %131, %132 : i32
      %134 = arith.addi %arg54, %133 : i32
      linalg.yield %134 : i32
    } -> tensor<1x2x16x1xi32>
    %135 = arith.constant 0.000000e+00 : f32
    %136 = tensor.empty() : tensor<1x2x16xf32>
    %137 = linalg.fill ins(%135 : f32) outs(%136 : tensor<1x2x16xf32>) -> tensor<1x2x16xf32>
    %138 = linalg.generic {indexing_maps = [#map3, #map14, #map15, #map14, #map16], iterator_types = ["parallel", "parallel", "parallel", "reduction"]} ins(%122, %58, %1, %81 : tensor<1x2x16x1xi32>, tensor<1x1xf32>, tensor<2x1x16xf16>, tensor<1x1xi32>) outs(%137 : tensor<1x2x16xf32>) attrs = {ingot.contract = "scale"} {
    ^bb0(%arg55: i32, %arg56: f32, %arg57: f16, %arg58: i32, %arg59: f32):
      %139 = arith.addi %arg55, %arg58 : i32
      %140 = arith.sitofp %139 : i32 to f32
      %141 = arith.mulf %140, %arg56 : f32
      %142 = arith.extf %arg57 : f16 to f32
      %143 = math.fma %141, %142, %arg59 : f32
      linalg.yield %143 : f32
    } -> tensor<1x2x16xf32>
    %144 = tensor.collapse_shape %138 [[0], [1, 2]] : tensor<1x2x16xf32> into tensor<1x32xf32>
    %145 = tensor.empty() : tensor<1x32xf32>
    %146 = linalg.generic {indexing_maps = [#map7, #map7, #map7], iterator_types = ["parallel", "parallel"]} ins(%arg0, %144 : tensor<1x32xf32>, tensor<1x32xf32>) outs(%145 : tensor<1x32xf32>) {
    ^bb0(%arg60: f32, %arg61: f32, %arg62: f32):
      %147 = arith.addf %arg60, %arg61 : f32
      linalg.yield %147 : f32
    } -> tensor<1x32xf32>
    return %146, %114, %111 : tensor<1x32xf32>, tensor<1x1x16x16xf32>, tensor<1x16xf32>
  }
}

#map = affine_map<(d0, d1, d2, d3) -> (d0, d1, d3)>
#map1 = affine_map<(d0, d1, d2, d3) -> (d0, d1, d2, d3)>
#map2 = affine_map<(d0, d1) -> (d0, d1)>
#map3 = affine_map<(d0, d1) -> (d0)>
#map4 = affine_map<(d0, d1) -> (d1)>
#map5 = affine_map<(d0, d1, d2) -> (d0, d1, d2)>
#map6 = affine_map<(d0, d1, d2) -> (d0, d1)>
#map7 = affine_map<(d0, d1, d2, d3) -> (d0, d2, d3)>
#map8 = affine_map<(d0, d1, d2, d3) -> (d1, d2, d3)>
#map9 = affine_map<(d0, d1, d2, d3) -> (d0, d1, d2)>
#map10 = affine_map<(d0, d1, d2) -> (d0, d2)>
#map11 = affine_map<(d0, d1, d2) -> (d1, d2)>
module attributes {ingot.config = {activations = "int8", buckets = [1], kv = "f32", max_pages = 1 : i64, pack_gate_up = true, pack_qkv = true, page_len = 16 : i64, threads = 1 : i64}, ingot.fusion = [{applied = false, detail = "one of the products is added to something that is not zero", pattern = "qkv_proj", reason = "map", what = "<stdin>:39 + <stdin>:42 + <stdin>:50", where = "layer"}, {applied = true, detail = "", pattern = "qkv_proj", reason = "", what = "<stdin>:39 + <stdin>:42", where = "layer"}], ingot.level = 1 : i64, ingot.passes = ["bind-recipe", "refine-shapes", "pack-projections", "split-buckets", "lower-quant", "inline-functions", "expand-tensors", "bind-ports", "canonicalize", "merge-equal", "raise-patterns", "raise-convolutions", "fold-batch-norm", "assign-precision", "bind-kv-cache"], ingot.target = "x86-64-v3", ingot.version = 1 : i64} {
  func.func @forward_s1(%arg0: tensor<1x32xf32>, %arg1: index, %arg2: tensor<1x1x16x16xf32> {ingot.kv = "k", ingot.layer = 0 : i64}, %arg3: tensor<32xf32> {ingot.param = "norm"}, %arg4: tensor<32x1x16xi8> {ingot.param = ["q", "k"], ingot.plane = "q"}, %arg5: tensor<32x1xf16> {ingot.param = ["q", "k"], ingot.plane = "d"}, %arg6: tensor<32x1x16xi8> {ingot.param = "down", ingot.plane = "q"}, %arg7: tensor<32x1xf16> {ingot.param = "down", ingot.plane = "d"}, %arg8: index) -> (tensor<1x32xf32>, tensor<1x1x16x16xf32>, tensor<1x16xf32>) attributes {ingot.bucket = 1 : i64, ingot.kv_layout = "by head"} {
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
    %40 = arith.constant 0.000000e+00 : f32
    %41 = tensor.empty() : tensor<1x1xf32>
    %42 = linalg.fill ins(%40 : f32) outs(%41 : tensor<1x1xf32>) -> tensor<1x1xf32>
    %43 = linalg.generic {indexing_maps = [#map5, #map6], iterator_types = ["parallel", "parallel", "reduction"]} ins(%36 : tensor<1x1x32xf32>) outs(%42 : tensor<1x1xf32>) {
    ^bb0(%arg19: f32, %arg20: f32):
      %44 = math.absf %arg19 : f32
      %45 = arith.maximumf %44, %arg20 : f32
      linalg.yield %45 : f32
    } -> tensor<1x1xf32>
    %46 = tensor.empty() : tensor<1x1xf32>
    %47 = linalg.generic {indexing_maps = [#map2, #map2], iterator_types = ["parallel", "parallel"]} ins(%43 : tensor<1x1xf32>) outs(%46 : tensor<1x1xf32>) {
    ^bb0(%arg21: f32, %arg22: f32):
      %48 = arith.constant 1.270000e+02 : f32
      %49 = arith.divf %arg21, %48 : f32
      linalg.yield %49 : f32
    } -> tensor<1x1xf32>
    %50 = tensor.empty() : tensor<1x1xf32>
    %51 = linalg.generic {indexing_maps = [#map2, #map2], iterator_types = ["parallel", "parallel"]} ins(%43 : tensor<1x1xf32>) outs(%50 : tensor<1x1xf32>) {
    ^bb0(%arg23: f32, %arg24: f32):
      %52 = arith.constant 0.000000e+00 : f32
      %53 = arith.constant 7.52316385E-37 : f32
      %54 = arith.cmpf ogt, %arg23, %53 : f32
      %55 = arith.constant 1.270000e+02 : f32
      %56 = arith.divf %55, %arg23 : f32
      %57 = arith.select %54, %56, %52 : f32
      linalg.yield %57 : f32
    } -> tensor<1x1xf32>
    %58 = tensor.empty() : tensor<1x1x32xi8>
    %59 = linalg.generic {indexing_maps = [#map5, #map6, #map5], iterator_types = ["parallel", "parallel", "parallel"]} ins(%36, %51 : tensor<1x1x32xf32>, tensor<1x1xf32>) outs(%58 : tensor<1x1x32xi8>) {
    ^bb0(%arg25: f32, %arg26: f32, %arg27: i8):
      %60 = arith.mulf %arg25, %arg26 : f32
      %61 = math.roundeven %60 : f32
      %62 = arith.constant 0.000000e+00 : f32
      %63 = arith.cmpf ord, %61, %61 : f32
      %64 = arith.select %63, %61, %62 : f32
      %65 = arith.fptosi %64 : f32 to i8
      linalg.yield %65 : i8
    } -> tensor<1x1x32xi8>
    %66 = arith.constant 0 : i32
    %67 = tensor.empty() : tensor<1x1xi32>
    %68 = linalg.fill ins(%66 : i32) outs(%67 : tensor<1x1xi32>) -> tensor<1x1xi32>
    %69 = linalg.generic {indexing_maps = [#map5, #map6], iterator_types = ["parallel", "parallel", "reduction"]} ins(%59 : tensor<1x1x32xi8>) outs(%68 : tensor<1x1xi32>) {
    ^bb0(%arg28: i8, %arg29: i32):
      %70 = arith.extsi %arg28 : i8 to i32
      %71 = arith.addi %arg29, %70 : i32
      linalg.yield %71 : i32
    } -> tensor<1x1xi32>
    %72 = tensor.empty() : tensor<1x1xi32>
    %73 = linalg.generic {indexing_maps = [#map2, #map2], iterator_types = ["parallel", "parallel"]} ins(%69 : tensor<1x1xi32>) outs(%72 : tensor<1x1xi32>) {
    ^bb0(%arg30: i32, %arg31: i32):
      %74 = arith.constant -8 : i32
      %75 = arith.muli %arg30, %74 : i32
      linalg.yield %75 : i32
    } -> tensor<1x1xi32>
    %76 = arith.constant 0 : i32
    %77 = tensor.empty() : tensor<1x32x1xi32>
    %78 = linalg.fill ins(%76 : i32) outs(%77 : tensor<1x32x1xi32>) -> tensor<1x32x1xi32>
    %79 = linalg.generic {indexing_maps = [#map7, #map8, #map9], iterator_types = ["parallel", "parallel", "parallel", "reduction"]} ins(%59, %21 : tensor<1x1x32xi8>, tensor<32x1x32xi8>) outs(%78 : tensor<1x32x1xi32>) attrs = {ingot.contract = "dot"} {
    ^bb0(%arg32: i8, %arg33: i8, %arg34: i32):
      %80 = arith.extsi %arg32 : i8 to i32
      %81 = arith.extui %arg33 : i8 to i32
      %82 = arith.muli %80, %81 : i32
      %83 = arith.addi %arg34, %82 : i32
      linalg.yield %83 : i32
    } -> tensor<1x32x1xi32>
    %84 = linalg.generic {indexing_maps = [#map5, #map10, #map11, #map10, #map6], iterator_types = ["parallel", "parallel", "reduction"]} ins(%79, %47, %arg5, %73 : tensor<1x32x1xi32>, tensor<1x1xf32>, tensor<32x1xf16>, tensor<1x1xi32>) outs(%39 : tensor<1x32xf32>) attrs = {ingot.contract = "scale"} {
    ^bb0(%arg35: i32, %arg36: f32, %arg37: f16, %arg38: i32, %arg39: f32):
      %85 = arith.addi %arg35, %arg38 : i32
      %86 = arith.sitofp %85 : i32 to f32
      %87 = arith.mulf %86, %arg36 : f32
      %88 = arith.extf %arg37 : f16 to f32
      %89 = math.fma %87, %88, %arg39 : f32
      linalg.yield %89 : f32
    } -> tensor<1x32xf32>
    %90 = tensor.extract_slice %84[0, 0] [1, 16] [1, 1] : tensor<1x32xf32> to tensor<1x16xf32>
    %91 = tensor.extract_slice %84[0, 16] [1, 16] [1, 1] : tensor<1x32xf32> to tensor<1x16xf32>
    %92 = arith.constant 1 : index
    %93 = scf.for %arg40 = %22 to %arg8 step %92 iter_args(%arg41 = %arg2) -> (tensor<1x1x16x16xf32>) {
      %94 = arith.addi %arg1, %arg40 : index
      %95 = tensor.extract_slice %91[%arg40, 0] [1, 16] [1, 1] : tensor<1x16xf32> to tensor<1x16xf32>
      %96 = tensor.insert_slice %95 into %arg41[0, 0, 0, %94] [1, 1, 16, 1] [1, 1, 1, 1] : tensor<1x16xf32> into tensor<1x1x16x16xf32>
      scf.yield %96 : tensor<1x1x16x16xf32>
    }
    %97 = arith.constant 0.000000e+00 : f32
    %98 = tensor.empty() : tensor<1x32xf32>
    %99 = linalg.fill ins(%97 : f32) outs(%98 : tensor<1x32xf32>) -> tensor<1x32xf32>
    %100 = arith.constant 0 : i32
    %101 = tensor.empty() : tensor<1x32x1xi32>
    %102 = linalg.fill ins(%100 : i32) outs(%101 : tensor<1x32x1xi32>) -> tensor<1x32x1xi32>
    %103 = linalg.generic {indexing_maps = [#map7, #map8, #map9], iterator_types = ["parallel", "parallel", "parallel", "reduction"]} ins(%59, %10 : tensor<1x1x32xi8>, tensor<32x1x32xi8>) outs(%102 : tensor<1x32x1xi32>) attrs = {ingot.contract = "dot"} {
    ^bb0(%arg42: i8, %arg43: i8, %arg44: i32):
      %104 = arith.extsi %arg42 : i8 to i32
      %105 = arith.extui %arg43 : i8 to i32
      %106 = arith.muli %104, %105 : i32
      %107 = arith.addi %arg44, %106 : i32
      linalg.yield %107 : i32
    } -> tensor<1x32x1xi32>
    %108 = linalg.generic {indexing_maps = [#map5, #map10, #map11, #map10, #map6], iterator_types = ["parallel", "parallel", "reduction"]} ins(%103, %47, %arg7, %73 : tensor<1x32x1xi32>, tensor<1x1xf32>, tensor<32x1xf16>, tensor<1x1xi32>) outs(%99 : tensor<1x32xf32>) attrs = {ingot.contract = "scale"} {
    ^bb0(%arg45: i32, %arg46: f32, %arg47: f16, %arg48: i32, %arg49: f32):
      %109 = arith.addi %arg45, %arg48 : i32
      %110 = arith.sitofp %109 : i32 to f32
      %111 = arith.mulf %110, %arg46 : f32
      %112 = arith.extf %arg47 : f16 to f32
      %113 = math.fma %111, %112, %arg49 : f32
      linalg.yield %113 : f32
    } -> tensor<1x32xf32>
    %114 = tensor.empty() : tensor<1x32xf32>
    %115 = linalg.generic {indexing_maps = [#map2, #map2, #map2], iterator_types = ["parallel", "parallel"]} ins(%arg0, %108 : tensor<1x32xf32>, tensor<1x32xf32>) outs(%114 : tensor<1x32xf32>) {
    ^bb0(%arg50: f32, %arg51: f32, %arg52: f32):
      %116 = arith.addf %arg50, %arg51 : f32
      linalg.yield %116 : f32
    } -> tensor<1x32xf32>
    return %115, %93, %90 : tensor<1x32xf32>, tensor<1x1x16x16xf32>, tensor<1x16xf32>
  }
}

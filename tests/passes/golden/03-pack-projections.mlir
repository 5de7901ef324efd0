#map = affine_map<(d0, d1) -> (d0, d1)>
#map1 = affine_map<(d0, d1) -> (d0)>
#map2 = affine_map<(d0, d1) -> (d1)>
#map3 = affine_map<(d0, d1, d2) -> (d0, d2)>
#map4 = affine_map<(d0, d1, d2) -> (d1, d2)>
#map5 = affine_map<(d0, d1, d2) -> (d0, d1)>
module attributes {ingot.config = {activations = "int8", buckets = [1], kv = "f32", max_pages = 1 : i64, pack_gate_up = true, pack_qkv = true, page_len = 16 : i64, threads = 1 : i64}, ingot.fusion = [{applied = false, detail = "one of the products is added to something that is not zero", pattern = "qkv_proj", reason = "map", what = "<stdin>:39 + <stdin>:42 + <stdin>:50", where = "layer"}, {applied = true, detail = "", pattern = "qkv_proj", reason = "", what = "<stdin>:39 + <stdin>:42", where = "layer"}], ingot.level = 1 : i64, ingot.passes = ["bind-recipe", "refine-shapes", "pack-projections"], ingot.target = "x86-64-v3", ingot.version = 1 : i64} {
  func.func private @norm(%arg0: tensor<?x32xf32>, %arg1: tensor<32xf32>) -> tensor<?x32xf32> {
    %0 = arith.constant 0.000000e+00 : f32
    %1 = arith.constant 9.99999974E-6 : f32
    %2 = arith.constant 0 : index
    %3 = tensor.dim %arg0, %2 : tensor<?x32xf32>
    %4 = tensor.empty(%3) : tensor<?xf32>
    %5 = linalg.fill ins(%0 : f32) outs(%4 : tensor<?xf32>) -> tensor<?xf32>
    %6 = linalg.generic {indexing_maps = [#map, #map1], iterator_types = ["parallel", "reduction"]} ins(%arg0 : tensor<?x32xf32>) outs(%5 : tensor<?xf32>) {
    ^bb0(%arg2: f32, %arg3: f32):
      %7 = arith.mulf %arg2, %arg2 : f32
      %8 = arith.addf %arg3, %7 : f32
      linalg.yield %8 : f32
    } -> tensor<?xf32>
    %9 = tensor.empty(%3) : tensor<?x32xf32>
    %10 = linalg.generic {indexing_maps = [#map, #map1, #map2, #map], iterator_types = ["parallel", "parallel"]} ins(%arg0, %6, %arg1 : tensor<?x32xf32>, tensor<?xf32>, tensor<32xf32>) outs(%9 : tensor<?x32xf32>) {
    ^bb0(%arg4: f32, %arg5: f32, %arg6: f32, %arg7: f32):
      %11 = arith.addf %arg5, %1 : f32
      %12 = math.rsqrt %11 : f32
      %13 = arith.mulf %arg4, %12 : f32
      %14 = arith.mulf %13, %arg6 : f32
      linalg.yield %14 : f32
    } -> tensor<?x32xf32>
    return %10 : tensor<?x32xf32>
  }
  func.func private @layer(%arg0: tensor<?x32xf32>, %arg1: index, %arg2: tensor<1x16x1x16xf32>, %arg3: tensor<32xf32>, %arg4: tensor<32x32xf32> {ingot.quant = "q4_0"}, %arg5: tensor<32x32xf32>) -> (tensor<?x32xf32>, tensor<1x16x1x16xf32>, tensor<?x16xf32>) {
    %0 = arith.constant 0 : index
    %1 = tensor.dim %arg0, %0 : tensor<?x32xf32>
    %2 = func.call @norm(%arg0, %arg3) : (tensor<?x32xf32>, tensor<32xf32>) -> tensor<?x32xf32>
    %3 = tensor.empty(%1) : tensor<?x32xf32>
    %4 = arith.constant 0.000000e+00 : f32
    %5 = linalg.fill ins(%4 : f32) outs(%3 : tensor<?x32xf32>) -> tensor<?x32xf32>
    %6 = linalg.matmul indexing_maps = [#map3, #map4, #map5] ins(%2, %arg5 : tensor<?x32xf32>, tensor<32x32xf32>) outs(%5 : tensor<?x32xf32>) -> tensor<?x32xf32>
    %7 = tensor.extract_slice %6[0, 0] [%1, 16] [1, 1] : tensor<?x32xf32> to tensor<?x16xf32>
    %8 = tensor.extract_slice %6[0, 16] [%1, 16] [1, 1] : tensor<?x32xf32> to tensor<?x16xf32>
    %9 = arith.constant 1 : index
    %10 = scf.for %arg6 = %0 to %1 step %9 iter_args(%arg7 = %arg2) -> (tensor<1x16x1x16xf32>) {
      %11 = arith.addi %arg1, %arg6 : index
      %12 = tensor.extract_slice %8[%arg6, 0] [1, 16] [1, 1] : tensor<?x16xf32> to tensor<1x16xf32>
      %13 = tensor.insert_slice %12 into %arg7[0, %11, 0, 0] [1, 1, 1, 16] [1, 1, 1, 1] : tensor<1x16xf32> into tensor<1x16x1x16xf32>
      scf.yield %13 : tensor<1x16x1x16xf32>
    }
    %14 = linalg.matmul indexing_maps = [#map3, #map4, #map5] ins(%2, %arg4 : tensor<?x32xf32>, tensor<32x32xf32>) outs(%arg0 : tensor<?x32xf32>) -> tensor<?x32xf32>
    return %14, %10, %7 : tensor<?x32xf32>, tensor<1x16x1x16xf32>, tensor<?x16xf32>
  }
  func.func @forward(%arg0: tensor<?x32xf32> {ingot.range = [1, 1]}, %arg1: index, %arg2: tensor<1x16x1x16xf32> {ingot.kv = "k", ingot.layer = 0 : i64}, %arg3: tensor<32xf32> {ingot.param = "norm"}, %arg4: tensor<32x32xf32> {ingot.param = ["q", "k"], ingot.quant = "q4_0"}, %arg5: tensor<32x32xf32> {ingot.param = "down", ingot.quant = "q4_0"}) -> (tensor<?x32xf32>, tensor<1x16x1x16xf32>, tensor<?x16xf32>) {
    %0:3 = func.call @layer(%arg0, %arg1, %arg2, %arg3, %arg5, %arg4) : (tensor<?x32xf32>, index, tensor<1x16x1x16xf32>, tensor<32xf32>, tensor<32x32xf32>, tensor<32x32xf32>) -> (tensor<?x32xf32>, tensor<1x16x1x16xf32>, tensor<?x16xf32>)
    return %0#0, %0#1, %0#2 : tensor<?x32xf32>, tensor<1x16x1x16xf32>, tensor<?x16xf32>
  }
}

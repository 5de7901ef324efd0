#map = affine_map<(d0, d1) -> (d0, d1)>
#map1 = affine_map<(d0, d1) -> (d0)>
#map2 = affine_map<(d0, d1) -> (d1)>
#map3 = affine_map<(d0, d1, d2) -> (d0, d2)>
#map4 = affine_map<(d0, d1, d2) -> (d1, d2)>
#map5 = affine_map<(d0, d1, d2) -> (d0, d1)>
module attributes {ingot.config = {activations = "int8", buckets = [1], kv = "f32", max_pages = 1 : i64, pack_gate_up = true, pack_qkv = true, page_len = 16 : i64, threads = 1 : i64}, ingot.fusion = [{applied = false, detail = "one of the products is added to something that is not zero", pattern = "qkv_proj", reason = "map", what = "<stdin>:39 + <stdin>:42 + <stdin>:50", where = "layer"}, {applied = true, detail = "", pattern = "qkv_proj", reason = "", what = "<stdin>:39 + <stdin>:42", where = "layer"}], ingot.level = 1 : i64, ingot.passes = ["bind-recipe", "refine-shapes", "pack-projections", "split-buckets"], ingot.target = "x86-64-v3", ingot.version = 1 : i64} {
  func.func private @norm_s1(%arg0: tensor<1x32xf32>, %arg1: tensor<32xf32>, %arg2: index) -> tensor<1x32xf32> {
    %0 = arith.constant 0.000000e+00 : f32
    %1 = arith.constant 9.99999974E-6 : f32
    %2 = arith.constant 0 : index
    %3 = tensor.empty() : tensor<1xf32>
    %4 = linalg.fill ins(%0 : f32) outs(%3 : tensor<1xf32>) -> tensor<1xf32>
    %5 = linalg.generic {indexing_maps = [#map, #map1], iterator_types = ["parallel", "reduction"]} ins(%arg0 : tensor<1x32xf32>) outs(%4 : tensor<1xf32>) {
    ^bb0(%arg3: f32, %arg4: f32):
      %6 = arith.mulf %arg3, %arg3 : f32
      %7 = arith.addf %arg4, %6 : f32
      linalg.yield %7 : f32
    } -> tensor<1xf32>
    %8 = tensor.empty() : tensor<1x32xf32>
    %9 = linalg.generic {indexing_maps = [#map, #map1, #map2, #map], iterator_types = ["parallel", "parallel"]} ins(%arg0, %5, %arg1 : tensor<1x32xf32>, tensor<1xf32>, tensor<32xf32>) outs(%8 : tensor<1x32xf32>) {
    ^bb0(%arg5: f32, %arg6: f32, %arg7: f32, %arg8: f32):
      %10 = arith.addf %arg6, %1 : f32
      %11 = math.rsqrt %10 : f32
      %12 = arith.mulf %arg5, %11 : f32
      %13 = arith.mulf %12, %arg7 : f32
      linalg.yield %13 : f32
    } -> tensor<1x32xf32>
    return %9 : tensor<1x32xf32>
  }
  func.func private @layer_s1(%arg0: tensor<1x32xf32>, %arg1: index, %arg2: tensor<1x16x1x16xf32>, %arg3: tensor<32xf32>, %arg4: tensor<32x32xf32> {ingot.quant = "q4_0"}, %arg5: tensor<32x32xf32>, %arg6: index) -> (tensor<1x32xf32>, tensor<1x16x1x16xf32>, tensor<1x16xf32>) {
    %0 = arith.constant 0 : index
    %1 = func.call @norm_s1(%arg0, %arg3, %arg6) : (tensor<1x32xf32>, tensor<32xf32>, index) -> tensor<1x32xf32>
    %2 = tensor.empty() : tensor<1x32xf32>
    %3 = arith.constant 0.000000e+00 : f32
    %4 = linalg.fill ins(%3 : f32) outs(%2 : tensor<1x32xf32>) -> tensor<1x32xf32>
    %5 = linalg.matmul indexing_maps = [#map3, #map4, #map5] ins(%1, %arg5 : tensor<1x32xf32>, tensor<32x32xf32>) outs(%4 : tensor<1x32xf32>) -> tensor<1x32xf32>
    %6 = tensor.extract_slice %5[0, 0] [1, 16] [1, 1] : tensor<1x32xf32> to tensor<1x16xf32>
    %7 = tensor.extract_slice %5[0, 16] [1, 16] [1, 1] : tensor<1x32xf32> to tensor<1x16xf32>
    %8 = arith.constant 1 : index
    %9 = scf.for %arg7 = %0 to %arg6 step %8 iter_args(%arg8 = %arg2) -> (tensor<1x16x1x16xf32>) {
      %10 = arith.addi %arg1, %arg7 : index
      %11 = tensor.extract_slice %7[%arg7, 0] [1, 16] [1, 1] : tensor<1x16xf32> to tensor<1x16xf32>
      %12 = tensor.insert_slice %11 into %arg8[0, %10, 0, 0] [1, 1, 1, 16] [1, 1, 1, 1] : tensor<1x16xf32> into tensor<1x16x1x16xf32>
      scf.yield %12 : tensor<1x16x1x16xf32>
    }
    %13 = linalg.matmul indexing_maps = [#map3, #map4, #map5] ins(%1, %arg4 : tensor<1x32xf32>, tensor<32x32xf32>) outs(%arg0 : tensor<1x32xf32>) -> tensor<1x32xf32>
    return %13, %9, %6 : tensor<1x32xf32>, tensor<1x16x1x16xf32>, tensor<1x16xf32>
  }
  func.func @forward_s1(%arg0: tensor<1x32xf32>, %arg1: index, %arg2: tensor<1x16x1x16xf32> {ingot.kv = "k", ingot.layer = 0 : i64}, %arg3: tensor<32xf32> {ingot.param = "norm"}, %arg4: tensor<32x32xf32> {ingot.param = ["q", "k"], ingot.quant = "q4_0"}, %arg5: tensor<32x32xf32> {ingot.param = "down", ingot.quant = "q4_0"}, %arg6: index) -> (tensor<1x32xf32>, tensor<1x16x1x16xf32>, tensor<1x16xf32>) attributes {ingot.bucket = 1 : i64} {
    %0:3 = func.call @layer_s1(%arg0, %arg1, %arg2, %arg3, %arg5, %arg4, %arg6) : (tensor<1x32xf32>, index, tensor<1x16x1x16xf32>, tensor<32xf32>, tensor<32x32xf32>, tensor<32x32xf32>, index) -> (tensor<1x32xf32>, tensor<1x16x1x16xf32>, tensor<1x16xf32>)
    return %0#0, %0#1, %0#2 : tensor<1x32xf32>, tensor<1x16x1x16xf32>, tensor<1x16xf32>
  }
}

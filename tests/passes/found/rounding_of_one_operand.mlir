#id1 = affine_map<(i) -> (i)>
#id2 = affine_map<(i, j) -> (i, j)>
#id3 = affine_map<(i, j, k) -> (i, j, k)>
#row2 = affine_map<(i, j) -> (i)>
#row3 = affine_map<(i, j, k) -> (i)>
#col2 = affine_map<(i, j) -> (j)>
#col3 = affine_map<(i, j, k) -> (k)>
#swap = affine_map<(i, j, k) -> (i, k, j)>
#mk = affine_map<(m, n, k) -> (m, k)>
#nk = affine_map<(m, n, k) -> (n, k)>
#mn = affine_map<(m, n, k) -> (m, n)>
module attributes {ingot.config = {activations = "bf16", buckets = [1, 6], kv = "f32", max_pages = 2 : i64, page_len = 16 : i64, threads = 2 : i64}} {
  func.func @forward(%v0: tensor<?x32xf32>, %ids: tensor<?xi32>, %w0: tensor<40x32xf32> {ingot.param = "w0", ingot.quant = "q8_0"}, %w1: tensor<64x40xf32> {ingot.param = "w1"}, %w2: tensor<40x40xf32> {ingot.param = "w2"}, %w3: tensor<40x32xf32> {ingot.param = "w3", ingot.quant = "q5_0"}, %w4: tensor<64x64xf32> {ingot.param = "w4", ingot.quant = "q8_0"}, %w5: tensor<32x40xf32> {ingot.param = "w5"}) -> (tensor<?x32xf32>, tensor<?x64xf32>) {
    %zero = arith.constant 0.000000e+00 : f32
    %one = arith.constant 1.000000e+00 : f32
    %half = arith.constant 5.000000e-01 : f32
    %tenth = arith.constant 1.250000e-01 : f32
    %low = arith.constant -1.000000e+00 : f32
    %least = arith.constant 0xFF800000 : f32
    %c0 = arith.constant 0 : index
    %c5 = arith.constant 5 : index
    %n = tensor.dim %v0, %c0 : tensor<?x32xf32>
    %v1 = tensor.empty(%n) : tensor<?x32xf32>
    %v2 = linalg.generic {indexing_maps = [#id2, #id2, #id2], iterator_types = ["parallel", "parallel"]}
        ins(%v0, %v0 : tensor<?x32xf32>, tensor<?x32xf32>) outs(%v1 : tensor<?x32xf32>) {
    ^bb0(%a: f32, %b: f32, %o: f32):
      %y = arith.addf %a, %b : f32
      linalg.yield %y : f32
    } -> tensor<?x32xf32>
    %v3 = tensor.empty(%n) : tensor<?xf32>
    %v4 = linalg.fill ins(%zero : f32) outs(%v3 : tensor<?xf32>) -> tensor<?xf32>
    %v5 = linalg.generic {indexing_maps = [#id2, #row2], iterator_types = ["parallel", "reduction"]} ins(%v2 : tensor<?x32xf32>) outs(%v4 : tensor<?xf32>) {
    ^bb0(%a: f32, %o: f32):
      %t = arith.mulf %a, %a : f32
      %y = arith.addf %o, %t : f32
      linalg.yield %y : f32
    } -> tensor<?xf32>
    %v6 = tensor.empty(%n) : tensor<?x32xf32>
    %v7 = linalg.generic {indexing_maps = [#id2, #row2, #id2], iterator_types = ["parallel", "parallel"]}
        ins(%v2, %v5 : tensor<?x32xf32>, tensor<?xf32>) outs(%v6 : tensor<?x32xf32>) {
    ^bb0(%a: f32, %b: f32, %o: f32):
      %t = arith.mulf %b, %tenth : f32
      %s = arith.addf %t, %tenth : f32
      %u = math.rsqrt %s : f32
      %y = arith.mulf %a, %u : f32
      linalg.yield %y : f32
    } -> tensor<?x32xf32>
    %v8 = tensor.empty(%n) : tensor<?x32xf32>
    %v9 = linalg.softmax dimension(1) ins(%v2 : tensor<?x32xf32>) outs(%v8 : tensor<?x32xf32>) -> tensor<?x32xf32>
    %v10 = tensor.empty(%n) : tensor<?x32xf32>
    %v11 = linalg.generic {indexing_maps = [#id2, #id2], iterator_types = ["parallel", "parallel"]}
        ins(%v9 : tensor<?x32xf32>) outs(%v10 : tensor<?x32xf32>) {
    ^bb0(%a: f32, %o: f32):
      %t = arith.minimumf %a, %one : f32
      %y = arith.maximumf %t, %low : f32
      linalg.yield %y : f32
    } -> tensor<?x32xf32>
    %v12 = tensor.empty(%n) : tensor<?x40xf32>
    %v13 = linalg.fill ins(%zero : f32) outs(%v12 : tensor<?x40xf32>) -> tensor<?x40xf32>
    %v14 = linalg.matmul indexing_maps = [#mk, #nk, #mn] ins(%v7, %w0 : tensor<?x32xf32>, tensor<40x32xf32>) outs(%v13 : tensor<?x40xf32>) -> tensor<?x40xf32>
    %v15 = tensor.empty(%n) : tensor<?x64xf32>
    %v16 = linalg.fill ins(%zero : f32) outs(%v15 : tensor<?x64xf32>) -> tensor<?x64xf32>
    %v17 = linalg.matmul indexing_maps = [#mk, #nk, #mn] ins(%v14, %w1 : tensor<?x40xf32>, tensor<64x40xf32>) outs(%v16 : tensor<?x64xf32>) -> tensor<?x64xf32>
    %v18 = tensor.empty(%n) : tensor<?xf32>
    %v19 = linalg.fill ins(%zero : f32) outs(%v18 : tensor<?xf32>) -> tensor<?xf32>
    %v20 = linalg.generic {indexing_maps = [#id2, #row2], iterator_types = ["parallel", "reduction"]} ins(%v17 : tensor<?x64xf32>) outs(%v19 : tensor<?xf32>) {
    ^bb0(%a: f32, %o: f32):
      %t = arith.mulf %a, %a : f32
      %y = arith.addf %o, %t : f32
      linalg.yield %y : f32
    } -> tensor<?xf32>
    %v21 = tensor.empty(%n) : tensor<?x64xf32>
    %v22 = linalg.generic {indexing_maps = [#id2, #row2, #id2], iterator_types = ["parallel", "parallel"]}
        ins(%v17, %v20 : tensor<?x64xf32>, tensor<?xf32>) outs(%v21 : tensor<?x64xf32>) {
    ^bb0(%a: f32, %b: f32, %o: f32):
      %t = arith.mulf %b, %tenth : f32
      %s = arith.addf %t, %tenth : f32
      %u = math.rsqrt %s : f32
      %y = arith.mulf %a, %u : f32
      linalg.yield %y : f32
    } -> tensor<?x64xf32>
    %v23 = tensor.empty(%n) : tensor<?x40xf32>
    %v24 = linalg.fill ins(%zero : f32) outs(%v23 : tensor<?x40xf32>) -> tensor<?x40xf32>
    %v25 = linalg.matmul indexing_maps = [#mk, #nk, #mn] ins(%v14, %w2 : tensor<?x40xf32>, tensor<40x40xf32>) outs(%v24 : tensor<?x40xf32>) -> tensor<?x40xf32>
    %v26 = tensor.empty(%n) : tensor<?x40xf32>
    %v27 = linalg.fill ins(%zero : f32) outs(%v26 : tensor<?x40xf32>) -> tensor<?x40xf32>
    %v28 = linalg.matmul indexing_maps = [#mk, #nk, #mn] ins(%v7, %w3 : tensor<?x32xf32>, tensor<40x32xf32>) outs(%v27 : tensor<?x40xf32>) -> tensor<?x40xf32>
    %v29 = linalg.matmul indexing_maps = [#mk, #nk, #mn] ins(%v17, %w4 : tensor<?x64xf32>, tensor<64x64xf32>) outs(%v22 : tensor<?x64xf32>) -> tensor<?x64xf32>
    %v30 = tensor.empty(%n) : tensor<?x32xf32>
    %v31 = linalg.fill ins(%zero : f32) outs(%v30 : tensor<?x32xf32>) -> tensor<?x32xf32>
    %v32 = linalg.matmul indexing_maps = [#mk, #nk, #mn] ins(%v28, %w5 : tensor<?x40xf32>, tensor<32x40xf32>) outs(%v31 : tensor<?x32xf32>) -> tensor<?x32xf32>
    return %v32, %v29 : tensor<?x32xf32>, tensor<?x64xf32>
  }
}

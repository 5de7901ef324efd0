#id1 = affine_map<(i) -> (i)>
#id2 = affine_map<(i, j) -> (i, j)>
#id3 = affine_map<(i, j, k) -> (i, j, k)>
#id4 = affine_map<(i, j, k, l) -> (i, j, k, l)>
#channel4 = affine_map<(i, j, k, l) -> (l)>
#channel1 = affine_map<(i, j, k, l) -> (j)>
#row2 = affine_map<(i, j) -> (i)>
#row3 = affine_map<(i, j, k) -> (i)>
#col2 = affine_map<(i, j) -> (j)>
#col3 = affine_map<(i, j, k) -> (k)>
#swap = affine_map<(i, j, k) -> (i, k, j)>
#mk = affine_map<(m, n, k) -> (m, k)>
#nk = affine_map<(m, n, k) -> (n, k)>
#mn = affine_map<(m, n, k) -> (m, n)>
module attributes {ingot.config = {activations = "int8", buckets = [1, 5], kv = "f32", max_pages = 2 : i64, page_len = 16 : i64, threads = 2 : i64}} {
  func.func @forward(%v0: tensor<?x32xf32>, %ids: tensor<?xi32>, %w0: tensor<64x32xf32> {ingot.param = "w0", ingot.quant = "q4_0"}, %w1: tensor<256x64xf32> {ingot.param = "w1", ingot.quant = "q5_0"}, %w2: tensor<2x2x32x4xf32> {ingot.param = "w2"}, %w3: tensor<256x64xf32> {ingot.param = "w3", ingot.quant = "q8_0"}) -> (tensor<?x256xf32>, tensor<?x32xf32>) {
    %zero = arith.constant 0.000000e+00 : f32
    %one = arith.constant 1.000000e+00 : f32
    %half = arith.constant 5.000000e-01 : f32
    %tenth = arith.constant 1.250000e-01 : f32
    %low = arith.constant -1.000000e+00 : f32
    %least = arith.constant 0xFF800000 : f32
    %most = arith.constant 0x7F800000 : f32
    %c0 = arith.constant 0 : index
    %c5 = arith.constant 5 : index
    %n = tensor.dim %v0, %c0 : tensor<?x32xf32>
    %v1 = tensor.expand_shape %v0 [[0], [1, 2]] output_shape [%n, 4, 8] : tensor<?x32xf32> into tensor<?x4x8xf32>
    %v2 = tensor.empty(%n) : tensor<?x32xf32>
    %v3 = linalg.softmax dimension(1) ins(%v0 : tensor<?x32xf32>) outs(%v2 : tensor<?x32xf32>) -> tensor<?x32xf32>
    %v4 = tensor.empty(%n) : tensor<?x64xf32>
    %v5 = linalg.fill ins(%zero : f32) outs(%v4 : tensor<?x64xf32>) -> tensor<?x64xf32>
    %v6 = linalg.matmul indexing_maps = [#mk, #nk, #mn] ins(%v3, %w0 : tensor<?x32xf32>, tensor<64x32xf32>) outs(%v5 : tensor<?x64xf32>) -> tensor<?x64xf32>
    %v7 = tensor.empty(%n) : tensor<?x256xf32>
    %v8 = linalg.fill ins(%zero : f32) outs(%v7 : tensor<?x256xf32>) -> tensor<?x256xf32>
    %v9 = linalg.matmul indexing_maps = [#mk, #nk, #mn] ins(%v6, %w1 : tensor<?x64xf32>, tensor<256x64xf32>) outs(%v8 : tensor<?x256xf32>) -> tensor<?x256xf32>
    %v10 = tensor.expand_shape %v9 [[0], [1, 2, 3]] output_shape [%n, 4, 2, 32] : tensor<?x256xf32> into tensor<?x4x2x32xf32>
    %v11 = tensor.empty(%n) : tensor<?x2x1x4xf32>
    %v12 = linalg.fill ins(%zero : f32) outs(%v11 : tensor<?x2x1x4xf32>) -> tensor<?x2x1x4xf32>
    %v13 = linalg.conv_2d_nhwc_hwcf {dilations = dense<1> : tensor<2xi64>, strides = dense<2> : tensor<2xi64>} ins(%v10, %w2 : tensor<?x4x2x32xf32>, tensor<2x2x32x4xf32>) outs(%v12 : tensor<?x2x1x4xf32>) -> tensor<?x2x1x4xf32>
    %v14 = tensor.collapse_shape %v13 [[0], [1, 2, 3]] : tensor<?x2x1x4xf32> into tensor<?x8xf32>
    %v15 = tensor.empty(%n) : tensor<?x8xf32>
    %v16 = linalg.generic {indexing_maps = [#id2, #id2], iterator_types = ["parallel", "parallel"]}
        ins(%v14 : tensor<?x8xf32>) outs(%v15 : tensor<?x8xf32>) {
    ^bb0(%a: f32, %o: f32):
      %y = math.tanh %a : f32
      linalg.yield %y : f32
    } -> tensor<?x8xf32>
    %v17 = tensor.empty(%n) : tensor<?x256xf32>
    %v18 = linalg.fill ins(%zero : f32) outs(%v17 : tensor<?x256xf32>) -> tensor<?x256xf32>
    %v19 = linalg.matmul indexing_maps = [#mk, #nk, #mn] ins(%v6, %w3 : tensor<?x64xf32>, tensor<256x64xf32>) outs(%v18 : tensor<?x256xf32>) -> tensor<?x256xf32>
    %v20 = tensor.empty(%n) : tensor<?x256xf32>
    %v21 = linalg.generic {indexing_maps = [#id2, #id2], iterator_types = ["parallel", "parallel"]} ins(%v9 : tensor<?x256xf32>) outs(%v20 : tensor<?x256xf32>) {
    ^bb0(%a: f32, %o: f32):
      %i = linalg.index 0 : index
      %j = linalg.index 1 : index
      %w = arith.constant 8 : index
      %t = arith.muli %j, %c5 : index
      %r = arith.remui %t, %w : index
      %b = tensor.extract %v16[%i, %r] : tensor<?x8xf32>
      %y = arith.addf %a, %b : f32
      linalg.yield %y : f32
    } -> tensor<?x256xf32>
    %v22 = tensor.empty(%n) : tensor<?x8xf32>
    %v23 = linalg.generic {indexing_maps = [#id2, #id2], iterator_types = ["parallel", "parallel"]}
        ins(%v16 : tensor<?x8xf32>) outs(%v22 : tensor<?x8xf32>) {
    ^bb0(%a: f32, %o: f32):
      %t = arith.mulf %a, %a : f32
      %s = arith.addf %t, %one : f32
      %u = math.rsqrt %s : f32
      %y = arith.mulf %a, %u : f32
      linalg.yield %y : f32
    } -> tensor<?x8xf32>
    %v24 = tensor.empty(%n) : tensor<?x256xf32>
    %v25 = linalg.generic {indexing_maps = [#id2, #id2], iterator_types = ["parallel", "parallel"]} ins(%v19 : tensor<?x256xf32>) outs(%v24 : tensor<?x256xf32>) {
    ^bb0(%a: f32, %o: f32):
      %i = linalg.index 0 : index
      %j = linalg.index 1 : index
      %w = arith.constant 256 : index
      %t = arith.muli %j, %c5 : index
      %r = arith.remui %t, %w : index
      %b = tensor.extract %v21[%i, %r] : tensor<?x256xf32>
      %y = arith.addf %a, %b : f32
      linalg.yield %y : f32
    } -> tensor<?x256xf32>
    return %v25, %v3 : tensor<?x256xf32>, tensor<?x32xf32>
  }
}

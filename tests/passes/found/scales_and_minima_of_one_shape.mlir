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
module attributes {ingot.config = {activations = "bf16", buckets = [1, 4], kv = "f32", max_pages = 2 : i64, page_len = 16 : i64, threads = 2 : i64}} {
  func.func @forward(%v0: tensor<?x32xf32>, %ids: tensor<?xi32>, %w0: tensor<256x32xf32> {ingot.param = "w0", ingot.quant = "q8_0"}, %w1: tensor<40x256xf32> {ingot.param = "w1", ingot.quant = "q5_k"}) -> (tensor<?x40xf32>, tensor<?x32xf32>) {
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
    %v1 = tensor.empty(%n) : tensor<?x256xf32>
    %v2 = linalg.fill ins(%zero : f32) outs(%v1 : tensor<?x256xf32>) -> tensor<?x256xf32>
    %v3 = linalg.matmul indexing_maps = [#mk, #nk, #mn] ins(%v0, %w0 : tensor<?x32xf32>, tensor<256x32xf32>) outs(%v2 : tensor<?x256xf32>) -> tensor<?x256xf32>
    %v4 = tensor.empty(%n) : tensor<?x40xf32>
    %v5 = linalg.fill ins(%zero : f32) outs(%v4 : tensor<?x40xf32>) -> tensor<?x40xf32>
    %v6 = linalg.matmul indexing_maps = [#mk, #nk, #mn] ins(%v3, %w1 : tensor<?x256xf32>, tensor<40x256xf32>) outs(%v5 : tensor<?x40xf32>) -> tensor<?x40xf32>
    return %v6, %v0 : tensor<?x40xf32>, tensor<?x32xf32>
  }
}

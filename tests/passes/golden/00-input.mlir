module attributes {ingot.config = {activations = "int8", buckets = [1], kv = "f32", max_pages = 1 : i64, pack_gate_up = true, pack_qkv = true, page_len = 16 : i64, threads = 1 : i64}, ingot.level = 1 : i64, ingot.target = "x86-64-v3", ingot.version = 1 : i64} {
  func.func private @norm(%x: tensor<?x32xf32>, %w: tensor<32xf32>) -> tensor<?x32xf32> {
    %zero = arith.constant 0.0 : f32
    %eps = arith.constant 1.0e-5 : f32
    %c0 = arith.constant 0 : index
    %n = tensor.dim %x, %c0 : tensor<?x32xf32>
    %e = tensor.empty(%n) : tensor<?xf32>
    %z = linalg.fill ins(%zero : f32) outs(%e : tensor<?xf32>) -> tensor<?xf32>
    %s = linalg.generic {indexing_maps = [affine_map<(i, j) -> (i, j)>, affine_map<(i, j) -> (i)>], iterator_types = ["parallel", "reduction"]} ins(%x : tensor<?x32xf32>) outs(%z : tensor<?xf32>) {
    ^bb0(%a: f32, %acc: f32):
      %0 = arith.mulf %a, %a : f32
      %1 = arith.addf %acc, %0 : f32
      linalg.yield %1 : f32
    } -> tensor<?xf32>
    %o = tensor.empty(%n) : tensor<?x32xf32>
    %r = linalg.generic {indexing_maps = [affine_map<(i, j) -> (i, j)>, affine_map<(i, j) -> (i)>, affine_map<(i, j) -> (j)>, affine_map<(i, j) -> (i, j)>], iterator_types = ["parallel", "parallel"]} ins(%x, %s, %w : tensor<?x32xf32>, tensor<?xf32>, tensor<32xf32>) outs(%o : tensor<?x32xf32>) {
    ^bb0(%a: f32, %b: f32, %c: f32, %d: f32):
      %0 = arith.addf %b, %eps : f32
      %1 = math.rsqrt %0 : f32
      %2 = arith.mulf %a, %1 : f32
      %3 = arith.mulf %2, %c : f32
      linalg.yield %3 : f32
    } -> tensor<?x32xf32>
    return %r : tensor<?x32xf32>
  }
  func.func private @layer(%x: tensor<?x32xf32>, %slot: index, %cache: tensor<1x16x1x16xf32>, %w: tensor<32xf32>, %q: tensor<16x32xf32> {ingot.quant = "q4_0"}, %k: tensor<16x32xf32> {ingot.quant = "q4_0"}, %down: tensor<32x32xf32> {ingot.quant = "q4_0"}) -> (tensor<?x32xf32>, tensor<1x16x1x16xf32>, tensor<?x16xf32>) {
    %zero = arith.constant 0.0 : f32
    %c0 = arith.constant 0 : index
    %n = tensor.dim %x, %c0 : tensor<?x32xf32>
    %h = func.call @norm(%x, %w) : (tensor<?x32xf32>, tensor<32xf32>) -> tensor<?x32xf32>
    %e0 = tensor.empty(%n) : tensor<?x16xf32>
    %z0 = linalg.fill ins(%zero : f32) outs(%e0 : tensor<?x16xf32>) -> tensor<?x16xf32>
    %a = linalg.matmul indexing_maps = [affine_map<(m, n, k) -> (m, k)>, affine_map<(m, n, k) -> (n, k)>, affine_map<(m, n, k) -> (m, n)>] ins(%h, %q : tensor<?x32xf32>, tensor<16x32xf32>) outs(%z0 : tensor<?x16xf32>) -> tensor<?x16xf32>
    %e1 = tensor.empty(%n) : tensor<?x16xf32>
    %z1 = linalg.fill ins(%zero : f32) outs(%e1 : tensor<?x16xf32>) -> tensor<?x16xf32>
    %b = linalg.matmul indexing_maps = [affine_map<(m, n, k) -> (m, k)>, affine_map<(m, n, k) -> (n, k)>, affine_map<(m, n, k) -> (m, n)>] ins(%h, %k : tensor<?x32xf32>, tensor<16x32xf32>) outs(%z1 : tensor<?x16xf32>) -> tensor<?x16xf32>
    %c1 = arith.constant 1 : index
    %c = scf.for %i = %c0 to %n step %c1 iter_args(%old = %cache) -> (tensor<1x16x1x16xf32>) {
      %at = arith.addi %slot, %i : index
      %row = tensor.extract_slice %b[%i, 0] [1, 16] [1, 1] : tensor<?x16xf32> to tensor<1x16xf32>
      %new = tensor.insert_slice %row into %old[0, %at, 0, 0] [1, 1, 1, 16] [1, 1, 1, 1] : tensor<1x16xf32> into tensor<1x16x1x16xf32>
      scf.yield %new : tensor<1x16x1x16xf32>
    }
    %y = linalg.matmul indexing_maps = [affine_map<(m, n, k) -> (m, k)>, affine_map<(m, n, k) -> (n, k)>, affine_map<(m, n, k) -> (m, n)>] ins(%h, %down : tensor<?x32xf32>, tensor<32x32xf32>) outs(%x : tensor<?x32xf32>) -> tensor<?x32xf32>
    return %y, %c, %a : tensor<?x32xf32>, tensor<1x16x1x16xf32>, tensor<?x16xf32>
  }
  func.func @forward(%x: tensor<?x32xf32>, %slot: index, %cache: tensor<1x16x1x16xf32> {ingot.kv = "k", ingot.layer = 0 : i64}, %w: tensor<32xf32> {ingot.param = "norm"}, %q: tensor<16x32xf32> {ingot.param = "q", ingot.quant = "q4_0"}, %k: tensor<16x32xf32> {ingot.param = "k", ingot.quant = "q4_0"}, %down: tensor<32x32xf32> {ingot.param = "down", ingot.quant = "q4_0"}) -> (tensor<?x32xf32>, tensor<1x16x1x16xf32>, tensor<?x16xf32>) {
    %0:3 = func.call @layer(%x, %slot, %cache, %w, %q, %k, %down) : (tensor<?x32xf32>, index, tensor<1x16x1x16xf32>, tensor<32xf32>, tensor<16x32xf32>, tensor<16x32xf32>, tensor<32x32xf32>) -> (tensor<?x32xf32>, tensor<1x16x1x16xf32>, tensor<?x16xf32>)
    return %0#0, %0#1, %0#2 : tensor<?x32xf32>, tensor<1x16x1x16xf32>, tensor<?x16xf32>
  }
}

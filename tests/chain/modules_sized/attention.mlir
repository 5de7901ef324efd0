// Attention of any number of queries over any number of keys, causal by place: three sizes in one
// softmax and two products, one of them summed over a size.
// bound: 200 terms, magnitude 8
#qk = affine_map<(q, s, h) -> (q, h)>
#kk = affine_map<(q, s, h) -> (s, h)>
#qs = affine_map<(q, s, h) -> (q, s)>
#id = affine_map<(q, s) -> (q, s)>
func.func @main(%q: tensor<?x16xf32> {ingot.dims = ["queries", ""]}, %k: tensor<?x16xf32> {ingot.dims = ["keys", ""]},
    %v: tensor<?x16xf32> {ingot.dims = ["keys", ""]}) -> tensor<?x16xf32>
    attributes {ingot.ranges = {keys = {min = 1, max = 24, step = 8}, queries = {max = 20, step = 16}}} {
  %c0 = arith.constant 0 : index
  %zero = arith.constant 0.0 : f32
  %minus = arith.constant 0xFF800000 : f32
  %scale = arith.constant 0.25 : f32
  %nq = tensor.dim %q, %c0 : tensor<?x16xf32>
  %nk = tensor.dim %k, %c0 : tensor<?x16xf32>
  %e = tensor.empty(%nq, %nk) : tensor<?x?xf32>
  %z = linalg.fill ins(%zero : f32) outs(%e : tensor<?x?xf32>) -> tensor<?x?xf32>
  %scores = linalg.contract indexing_maps = [#qk, #kk, #qs] ins(%q, %k : tensor<?x16xf32>, tensor<?x16xf32>) outs(%z : tensor<?x?xf32>) -> tensor<?x?xf32>
  %masked = linalg.generic {indexing_maps = [#id, #id], iterator_types = ["parallel", "parallel"]} ins(%scores : tensor<?x?xf32>) outs(%e : tensor<?x?xf32>) {
  ^bb0(%s: f32, %o: f32):
    %i = linalg.index 0 : index
    %j = linalg.index 1 : index
    %t = arith.mulf %s, %scale : f32
    %sees = arith.cmpi ule, %j, %i : index
    %u = arith.select %sees, %t, %minus : f32
    linalg.yield %u : f32
  } -> tensor<?x?xf32>
  %p = linalg.softmax dimension(1) ins(%masked : tensor<?x?xf32>) outs(%e : tensor<?x?xf32>) -> tensor<?x?xf32>
  %ey = tensor.empty(%nq) : tensor<?x16xf32>
  %zy = linalg.fill ins(%zero : f32) outs(%ey : tensor<?x16xf32>) -> tensor<?x16xf32>
  %y = linalg.matmul ins(%p, %v : tensor<?x?xf32>, tensor<?x16xf32>) outs(%zy : tensor<?x16xf32>) -> tensor<?x16xf32>
  return %y : tensor<?x16xf32>
}

// A layer with a softmax over its columns, for any number of rows; and the sum over the rows.
// bound: 70 terms, magnitude 128
#row = affine_map<(d0, d1) -> (d0, d1)>
#col = affine_map<(d0, d1) -> (d1)>
func.func @main(%x: tensor<?x8xf32> {ingot.dims = ["n", ""]}, %w: tensor<8x16xf32>, %b: tensor<16xf32>) -> (tensor<?x16xf32>, tensor<16xf32>)
    attributes {ingot.ranges = {n = {min = 1, max = 48, step = 16}}} {
  %c0 = arith.constant 0 : index
  %zero = arith.constant 0.0 : f32
  %n = tensor.dim %x, %c0 : tensor<?x8xf32>
  %e = tensor.empty(%n) : tensor<?x16xf32>
  %z = linalg.fill ins(%zero : f32) outs(%e : tensor<?x16xf32>) -> tensor<?x16xf32>
  %m = linalg.matmul ins(%x, %w : tensor<?x8xf32>, tensor<8x16xf32>) outs(%z : tensor<?x16xf32>) -> tensor<?x16xf32>
  %h = linalg.generic {indexing_maps = [#row, #col, #row], iterator_types = ["parallel", "parallel"]} ins(%m, %b : tensor<?x16xf32>, tensor<16xf32>) outs(%e : tensor<?x16xf32>) {
  ^bb0(%p: f32, %q: f32, %o: f32):
    %v = arith.addf %p, %q : f32
    linalg.yield %v : f32
  } -> tensor<?x16xf32>
  %y = linalg.softmax dimension(1) ins(%h : tensor<?x16xf32>) outs(%e : tensor<?x16xf32>) -> tensor<?x16xf32>
  %es = tensor.empty() : tensor<16xf32>
  %zs = linalg.fill ins(%zero : f32) outs(%es : tensor<16xf32>) -> tensor<16xf32>
  %s = linalg.reduce ins(%h : tensor<?x16xf32>) outs(%zs : tensor<16xf32>) dimensions = [0]
    (%in: f32, %acc: f32) {
      %a = arith.addf %in, %acc : f32
      linalg.yield %a : f32
    }
  return %y, %s : tensor<?x16xf32>, tensor<16xf32>
}

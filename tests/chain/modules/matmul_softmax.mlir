// A product of f16 with f32 sums, a bias, and the softmax of its rows.
// bound: 80 terms, magnitude 20
// Sums of 64 products and 1 bias, each at most 0.25, enter the exponent: an error of e there is one of
// e in the result, which is at most 1.
#nk = affine_map<(d0, d1, d2) -> (d1, d2)>
#mk = affine_map<(d0, d1, d2) -> (d0, d2)>
#mn = affine_map<(d0, d1, d2) -> (d0, d1)>
#row = affine_map<(d0, d1) -> (d0, d1)>
#col = affine_map<(d0, d1) -> (d1)>
func.func @main(%x: tensor<9x64xf16>, %w: tensor<37x64xf16>, %bias: tensor<37xf32>) -> tensor<9x37xf32> {
  %zero = arith.constant 0.0 : f32
  %e = tensor.empty() : tensor<9x37xf32>
  %z = linalg.fill ins(%zero : f32) outs(%e : tensor<9x37xf32>) -> tensor<9x37xf32>
  %m = linalg.matmul indexing_maps = [#mk, #nk, #mn] ins(%x, %w : tensor<9x64xf16>, tensor<37x64xf16>) outs(%z : tensor<9x37xf32>) -> tensor<9x37xf32>
  %b = linalg.generic {indexing_maps = [#row, #col, #row], iterator_types = ["parallel", "parallel"]} ins(%m, %bias : tensor<9x37xf32>, tensor<37xf32>) outs(%e : tensor<9x37xf32>) {
  ^bb0(%p: f32, %q: f32, %o: f32):
    %s = arith.addf %p, %q : f32
    linalg.yield %s : f32
  } -> tensor<9x37xf32>
  %r = linalg.softmax dimension(1) ins(%b : tensor<9x37xf32>) outs(%e : tensor<9x37xf32>) -> tensor<9x37xf32>
  return %r : tensor<9x37xf32>
}

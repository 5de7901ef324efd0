// A product with weights in blocks of 32 codes of 8 bits and a scale, decoded on the way.
// bound: 200 terms, magnitude 2048
// Sums of 96 products of at most 0.5 * 127 * 0.5.
#codes = affine_map<(d0, d1, d2) -> (d0, d1, d2)>
#scales = affine_map<(d0, d1, d2) -> (d0, d1)>
#mk = affine_map<(d0, d1, d2) -> (d0, d2)>
#nk = affine_map<(d0, d1, d2) -> (d1, d2)>
#mn = affine_map<(d0, d1, d2) -> (d0, d1)>
func.func @main(%x: tensor<6x96xf32>, %codes: tensor<20x3x32xi8>, %scales: tensor<20x3xf16>) -> tensor<6x20xf32> {
  %zero = arith.constant 0.0 : f32
  %e = tensor.empty() : tensor<20x3x32xf32>
  %w3 = linalg.generic {indexing_maps = [#codes, #scales, #codes], iterator_types = ["parallel", "parallel", "parallel"]} ins(%codes, %scales : tensor<20x3x32xi8>, tensor<20x3xf16>) outs(%e : tensor<20x3x32xf32>) {
  ^bb0(%q: i8, %d: f16, %o: f32):
    %f = arith.sitofp %q : i8 to f32
    %s = arith.extf %d : f16 to f32
    %v = arith.mulf %f, %s : f32
    linalg.yield %v : f32
  } -> tensor<20x3x32xf32>
  %w = tensor.collapse_shape %w3 [[0], [1, 2]] : tensor<20x3x32xf32> into tensor<20x96xf32>
  %out = tensor.empty() : tensor<6x20xf32>
  %z = linalg.fill ins(%zero : f32) outs(%out : tensor<6x20xf32>) -> tensor<6x20xf32>
  %y = linalg.matmul indexing_maps = [#mk, #nk, #mn] ins(%x, %w : tensor<6x96xf32>, tensor<20x96xf32>) outs(%z : tensor<6x20xf32>) -> tensor<6x20xf32>
  return %y : tensor<6x20xf32>
}

// Q8_0: blocks of 32 signed bytes with a scale; w[n, b, j] = q[n, b, j] * d[n, b].
func.func private @dequant_q8_0(%q: tensor<${N}x${KB}x32xi8>, %d: tensor<${N}x${KB}xf16>) -> tensor<${N}x${K}xf32> {
  %e = tensor.empty() : tensor<${N}x${KB}x32xf32>
  %w = linalg.generic {indexing_maps = [affine_map<(d0, d1, d2) -> (d0, d1, d2)>,
                                        affine_map<(d0, d1, d2) -> (d0, d1)>,
                                        affine_map<(d0, d1, d2) -> (d0, d1, d2)>],
                       iterator_types = ["parallel", "parallel", "parallel"]}
      ins(%q, %d : tensor<${N}x${KB}x32xi8>, tensor<${N}x${KB}xf16>)
      outs(%e : tensor<${N}x${KB}x32xf32>) attrs = {ingot.dequant = "q8_0"} {
  ^bb0(%c: i8, %s: f16, %o: f32):
    %f = arith.sitofp %c : i8 to f32
    %sf = arith.extf %s : f16 to f32
    %r = arith.mulf %f, %sf : f32
    linalg.yield %r : f32
  } -> tensor<${N}x${KB}x32xf32>
  %y = tensor.collapse_shape %w [[0], [1, 2]] : tensor<${N}x${KB}x32xf32> into tensor<${N}x${K}xf32>
  return %y : tensor<${N}x${K}xf32>
}

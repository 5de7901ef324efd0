// Q4_0: blocks of 32 nibbles with a scale. Element j of the low half and of the high half share byte j:
// w[n, b, h, j] = (nibble_h(q[n, b, j]) - 8) * d[n, b].
func.func private @dequant_q4_0(%q: tensor<${N}x${KB}x16xi8>, %d: tensor<${N}x${KB}xf16>) -> tensor<${N}x${K}xf32> {
  %c4 = arith.constant 4 : i8
  %c8 = arith.constant 8 : i8
  %c15 = arith.constant 15 : i8
  %c0 = arith.constant 0 : index
  %e = tensor.empty() : tensor<${N}x${KB}x2x16xf32>
  %w = linalg.generic {indexing_maps = [affine_map<(d0, d1, d2, d3) -> (d0, d1, d3)>,
                                        affine_map<(d0, d1, d2, d3) -> (d0, d1)>,
                                        affine_map<(d0, d1, d2, d3) -> (d0, d1, d2, d3)>],
                       iterator_types = ["parallel", "parallel", "parallel", "parallel"]}
      ins(%q, %d : tensor<${N}x${KB}x16xi8>, tensor<${N}x${KB}xf16>)
      outs(%e : tensor<${N}x${KB}x2x16xf32>) attrs = {ingot.dequant = "q4_0"} {
  ^bb0(%b: i8, %s: f16, %o: f32):
    %h = linalg.index 2 : index
    %lo = arith.andi %b, %c15 : i8
    %hi = arith.shrui %b, %c4 : i8
    %is_low = arith.cmpi eq, %h, %c0 : index
    %c = arith.select %is_low, %lo, %hi : i8
    %m = arith.subi %c, %c8 : i8
    %f = arith.sitofp %m : i8 to f32
    %sf = arith.extf %s : f16 to f32
    %r = arith.mulf %f, %sf : f32
    linalg.yield %r : f32
  } -> tensor<${N}x${KB}x2x16xf32>
  %y = tensor.collapse_shape %w [[0], [1, 2, 3]] : tensor<${N}x${KB}x2x16xf32> into tensor<${N}x${K}xf32>
  return %y : tensor<${N}x${K}xf32>
}

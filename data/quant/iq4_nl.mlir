// IQ4_NL: blocks of 32 nibbles with a scale. A nibble stands for one of sixteen levels, closer to each other
// around zero: -127 -104 -83 -65 -49 -35 -22 -10 and 1 13 25 38 53 69 89 113, here the bytes of two words.
// w[n, b, h, j] = level(nibble_h(q[n, b, j])) * d[n, b].
func.func private @dequant_iq4_nl(%q: tensor<${N}x${KB}x16xi8>, %d: tensor<${N}x${KB}xf16>) -> tensor<${N}x${K}xf32> {
  %c4 = arith.constant 4 : i8
  %c7 = arith.constant 7 : i8
  %c3 = arith.constant 3 : i64
  %c8 = arith.constant 8 : i8
  %c15 = arith.constant 15 : i8
  %c0 = arith.constant 0 : index
  %below = arith.constant -654466911485192063 : i64
  %above = arith.constant 8167635493787864321 : i64
  %e = tensor.empty() : tensor<${N}x${KB}x2x16xf32>
  %w = linalg.generic {indexing_maps = [affine_map<(d0, d1, d2, d3) -> (d0, d1, d3)>,
                                        affine_map<(d0, d1, d2, d3) -> (d0, d1)>,
                                        affine_map<(d0, d1, d2, d3) -> (d0, d1, d2, d3)>],
                       iterator_types = ["parallel", "parallel", "parallel", "parallel"]}
      ins(%q, %d : tensor<${N}x${KB}x16xi8>, tensor<${N}x${KB}xf16>)
      outs(%e : tensor<${N}x${KB}x2x16xf32>) attrs = {ingot.dequant = "iq4_nl"} {
  ^bb0(%b: i8, %s: f16, %o: f32):
    %h = linalg.index 2 : index
    %lo = arith.andi %b, %c15 : i8
    %hi = arith.shrui %b, %c4 : i8
    %is_low = arith.cmpi eq, %h, %c0 : index
    %c = arith.select %is_low, %lo, %hi : i8
    %is_below = arith.cmpi ult, %c, %c8 : i8
    %levels = arith.select %is_below, %below, %above : i64
    %number = arith.andi %c, %c7 : i8
    %wide = arith.extui %number : i8 to i64
    %at = arith.shli %wide, %c3 : i64
    %shifted = arith.shrui %levels, %at : i64
    %level = arith.trunci %shifted : i64 to i8
    %f = arith.sitofp %level : i8 to f32
    %sf = arith.extf %s : f16 to f32
    %r = arith.mulf %f, %sf : f32
    linalg.yield %r : f32
  } -> tensor<${N}x${KB}x2x16xf32>
  %y = tensor.collapse_shape %w [[0], [1, 2, 3]] : tensor<${N}x${KB}x2x16xf32> into tensor<${N}x${K}xf32>
  return %y : tensor<${N}x${K}xf32>
}

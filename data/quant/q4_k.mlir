// Q4_K: blocks of 256 nibbles in four groups g of two halves h of 32, each half with a six-bit scale and
// minimum (planes sc, mn, unpacked from 12 bytes):
// w[n, b, g, h, j] = (d[n, b] * sc[n, b, 2g+h]) * nibble_h(q[n, b, g, j]) - dmin[n, b] * mn[n, b, 2g+h].
func.func private @dequant_q4_k(%q: tensor<${N}x${KB}x4x32xi8>, %sc: tensor<${N}x${KB}x8xi8>, %mn: tensor<${N}x${KB}x8xi8>, %d: tensor<${N}x${KB}xf16>, %dmin: tensor<${N}x${KB}xf16>) -> tensor<${N}x${K}xf32> {
  %c4 = arith.constant 4 : i8
  %c15 = arith.constant 15 : i8
  %c0 = arith.constant 0 : index
  %e = tensor.empty() : tensor<${N}x${KB}x4x2x32xf32>
  %w = linalg.generic {indexing_maps = [affine_map<(d0, d1, d2, d3, d4) -> (d0, d1, d2, d4)>,
                                        affine_map<(d0, d1, d2, d3, d4) -> (d0, d1, d2 * 2 + d3)>,
                                        affine_map<(d0, d1, d2, d3, d4) -> (d0, d1, d2 * 2 + d3)>,
                                        affine_map<(d0, d1, d2, d3, d4) -> (d0, d1)>,
                                        affine_map<(d0, d1, d2, d3, d4) -> (d0, d1)>,
                                        affine_map<(d0, d1, d2, d3, d4) -> (d0, d1, d2, d3, d4)>],
                       iterator_types = ["parallel", "parallel", "parallel", "parallel", "parallel"]}
      ins(%q, %sc, %mn, %d, %dmin : tensor<${N}x${KB}x4x32xi8>, tensor<${N}x${KB}x8xi8>, tensor<${N}x${KB}x8xi8>, tensor<${N}x${KB}xf16>, tensor<${N}x${KB}xf16>)
      outs(%e : tensor<${N}x${KB}x4x2x32xf32>) attrs = {ingot.dequant = "q4_k"} {
  ^bb0(%b: i8, %s: i8, %t: i8, %ds: f16, %dt: f16, %o: f32):
    %h = linalg.index 3 : index
    %lo = arith.andi %b, %c15 : i8
    %hi = arith.shrui %b, %c4 : i8
    %is_low = arith.cmpi eq, %h, %c0 : index
    %c = arith.select %is_low, %lo, %hi : i8
    %f = arith.uitofp %c : i8 to f32
    %si = arith.uitofp %s : i8 to f32
    %ti = arith.uitofp %t : i8 to f32
    %dsf = arith.extf %ds : f16 to f32
    %dtf = arith.extf %dt : f16 to f32
    %scale = arith.mulf %dsf, %si : f32
    %min = arith.mulf %dtf, %ti : f32
    %p = arith.mulf %scale, %f : f32
    %r = arith.subf %p, %min : f32
    linalg.yield %r : f32
  } -> tensor<${N}x${KB}x4x2x32xf32>
  %y = tensor.collapse_shape %w [[0], [1, 2, 3, 4]] : tensor<${N}x${KB}x4x2x32xf32> into tensor<${N}x${K}xf32>
  return %y : tensor<${N}x${K}xf32>
}

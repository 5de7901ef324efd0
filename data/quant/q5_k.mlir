// Q5_K: as Q4_K, with a fifth bit: bit 2g+h of qh[n, b, j] belongs to element (g, h, j).
func.func private @dequant_q5_k(%q: tensor<${N}x${KB}x4x32xi8>, %qh: tensor<${N}x${KB}x32xi8>, %sc: tensor<${N}x${KB}x8xi8>, %mn: tensor<${N}x${KB}x8xi8>, %d: tensor<${N}x${KB}xf16>, %dmin: tensor<${N}x${KB}xf16>) -> tensor<${N}x${K}xf32> {
  %c1 = arith.constant 1 : i8
  %c4 = arith.constant 4 : i8
  %c15 = arith.constant 15 : i8
  %c0 = arith.constant 0 : index
  %two = arith.constant 2 : index
  %e = tensor.empty() : tensor<${N}x${KB}x4x2x32xf32>
  %w = linalg.generic {indexing_maps = [affine_map<(d0, d1, d2, d3, d4) -> (d0, d1, d2, d4)>,
                                        affine_map<(d0, d1, d2, d3, d4) -> (d0, d1, d4)>,
                                        affine_map<(d0, d1, d2, d3, d4) -> (d0, d1, d2 * 2 + d3)>,
                                        affine_map<(d0, d1, d2, d3, d4) -> (d0, d1, d2 * 2 + d3)>,
                                        affine_map<(d0, d1, d2, d3, d4) -> (d0, d1)>,
                                        affine_map<(d0, d1, d2, d3, d4) -> (d0, d1)>,
                                        affine_map<(d0, d1, d2, d3, d4) -> (d0, d1, d2, d3, d4)>],
                       iterator_types = ["parallel", "parallel", "parallel", "parallel", "parallel"]}
      ins(%q, %qh, %sc, %mn, %d, %dmin : tensor<${N}x${KB}x4x32xi8>, tensor<${N}x${KB}x32xi8>, tensor<${N}x${KB}x8xi8>, tensor<${N}x${KB}x8xi8>, tensor<${N}x${KB}xf16>, tensor<${N}x${KB}xf16>)
      outs(%e : tensor<${N}x${KB}x4x2x32xf32>) attrs = {ingot.dequant = "q5_k"} {
  ^bb0(%b: i8, %u: i8, %s: i8, %t: i8, %ds: f16, %dt: f16, %o: f32):
    %g = linalg.index 2 : index
    %h = linalg.index 3 : index
    %lo = arith.andi %b, %c15 : i8
    %hi = arith.shrui %b, %c4 : i8
    %is_low = arith.cmpi eq, %h, %c0 : index
    %n = arith.select %is_low, %lo, %hi : i8
    %g2 = arith.muli %g, %two : index
    %pos = arith.addi %g2, %h : index
    %sh = arith.index_cast %pos : index to i8
    %u0 = arith.shrui %u, %sh : i8
    %u1 = arith.andi %u0, %c1 : i8
    %u2 = arith.shli %u1, %c4 : i8
    %c = arith.ori %n, %u2 : i8
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

// Q6_K: blocks of 256 six-bit codes: two 128-element halves a, in each two nibbles h of two quarters r of
// two 16-element groups s. The low four bits of element (a, h, r, s, j) are nibble h of q[a, r, s, j], the
// high two are bits 2 * (2h+r) of qh[a, s, j]; every 16 elements have a signed scale:
// w = (d[n, b] * sc[n, b, a, h, r, s]) * (code - 32).
func.func private @dequant_q6_k(%q: tensor<${N}x${KB}x2x2x2x16xi8>, %qh: tensor<${N}x${KB}x2x2x16xi8>, %sc: tensor<${N}x${KB}x2x2x2x2xi8>, %d: tensor<${N}x${KB}xf16>) -> tensor<${N}x${K}xf32> {
  %c3 = arith.constant 3 : i8
  %c4 = arith.constant 4 : i8
  %c15 = arith.constant 15 : i8
  %c32 = arith.constant 32 : i8
  %c0 = arith.constant 0 : index
  %two = arith.constant 2 : index
  %four = arith.constant 4 : index
  %e = tensor.empty() : tensor<${N}x${KB}x2x2x2x2x16xf32>
  %w = linalg.generic {indexing_maps = [affine_map<(d0, d1, d2, d3, d4, d5, d6) -> (d0, d1, d2, d4, d5, d6)>,
                                        affine_map<(d0, d1, d2, d3, d4, d5, d6) -> (d0, d1, d2, d5, d6)>,
                                        affine_map<(d0, d1, d2, d3, d4, d5, d6) -> (d0, d1, d2, d3, d4, d5)>,
                                        affine_map<(d0, d1, d2, d3, d4, d5, d6) -> (d0, d1)>,
                                        affine_map<(d0, d1, d2, d3, d4, d5, d6) -> (d0, d1, d2, d3, d4, d5, d6)>],
                       iterator_types = ["parallel", "parallel", "parallel", "parallel", "parallel", "parallel", "parallel"]}
      ins(%q, %qh, %sc, %d : tensor<${N}x${KB}x2x2x2x16xi8>, tensor<${N}x${KB}x2x2x16xi8>, tensor<${N}x${KB}x2x2x2x2xi8>, tensor<${N}x${KB}xf16>)
      outs(%e : tensor<${N}x${KB}x2x2x2x2x16xf32>) attrs = {ingot.dequant = "q6_k"} {
  ^bb0(%b: i8, %u: i8, %s: i8, %ds: f16, %o: f32):
    %h = linalg.index 3 : index
    %r4 = linalg.index 4 : index
    %lo = arith.andi %b, %c15 : i8
    %hi = arith.shrui %b, %c4 : i8
    %is_low = arith.cmpi eq, %h, %c0 : index
    %n = arith.select %is_low, %lo, %hi : i8
    %h4 = arith.muli %h, %four : index
    %r2 = arith.muli %r4, %two : index
    %pos = arith.addi %h4, %r2 : index
    %sh = arith.index_cast %pos : index to i8
    %u0 = arith.shrui %u, %sh : i8
    %u1 = arith.andi %u0, %c3 : i8
    %u2 = arith.shli %u1, %c4 : i8
    %c = arith.ori %n, %u2 : i8
    %m = arith.subi %c, %c32 : i8
    %f = arith.sitofp %m : i8 to f32
    %si = arith.sitofp %s : i8 to f32
    %dsf = arith.extf %ds : f16 to f32
    %scale = arith.mulf %dsf, %si : f32
    %p = arith.mulf %scale, %f : f32
    linalg.yield %p : f32
  } -> tensor<${N}x${KB}x2x2x2x2x16xf32>
  %y = tensor.collapse_shape %w [[0], [1, 2, 3, 4, 5, 6]] : tensor<${N}x${KB}x2x2x2x2x16xf32> into tensor<${N}x${K}xf32>
  return %y : tensor<${N}x${K}xf32>
}

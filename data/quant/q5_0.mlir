// Q5_0: blocks of 32 five-bit codes with a scale. Low four bits as in Q4_0; the fifth bit of element
// h * 16 + j is bit h * 16 + j of qh: w[n, b, h, j] = ((nibble_h | bit << 4) - 16) * d[n, b].
func.func private @dequant_q5_0(%q: tensor<${N}x${KB}x16xi8>, %qh: tensor<${N}x${KB}xi32>, %d: tensor<${N}x${KB}xf16>) -> tensor<${N}x${K}xf32> {
  %c4 = arith.constant 4 : i8
  %c15 = arith.constant 15 : i8
  %c16 = arith.constant 16 : i8
  %one = arith.constant 1 : i32
  %four = arith.constant 4 : i32
  %c0 = arith.constant 0 : index
  %half = arith.constant 16 : index
  %e = tensor.empty() : tensor<${N}x${KB}x2x16xf32>
  %w = linalg.generic {indexing_maps = [affine_map<(d0, d1, d2, d3) -> (d0, d1, d3)>,
                                        affine_map<(d0, d1, d2, d3) -> (d0, d1)>,
                                        affine_map<(d0, d1, d2, d3) -> (d0, d1)>,
                                        affine_map<(d0, d1, d2, d3) -> (d0, d1, d2, d3)>],
                       iterator_types = ["parallel", "parallel", "parallel", "parallel"]}
      ins(%q, %qh, %d : tensor<${N}x${KB}x16xi8>, tensor<${N}x${KB}xi32>, tensor<${N}x${KB}xf16>)
      outs(%e : tensor<${N}x${KB}x2x16xf32>) attrs = {ingot.dequant = "q5_0"} {
  ^bb0(%b: i8, %g: i32, %s: f16, %o: f32):
    %h = linalg.index 2 : index
    %j = linalg.index 3 : index
    %lo = arith.andi %b, %c15 : i8
    %hi = arith.shrui %b, %c4 : i8
    %is_low = arith.cmpi eq, %h, %c0 : index
    %n = arith.select %is_low, %lo, %hi : i8
    %h16 = arith.muli %h, %half : index
    %pos = arith.addi %h16, %j : index
    %sh = arith.index_cast %pos : index to i32
    %g0 = arith.shrui %g, %sh : i32
    %g1 = arith.andi %g0, %one : i32
    %g2 = arith.shli %g1, %four : i32
    %g8 = arith.trunci %g2 : i32 to i8
    %c = arith.ori %n, %g8 : i8
    %m = arith.subi %c, %c16 : i8
    %f = arith.sitofp %m : i8 to f32
    %sf = arith.extf %s : f16 to f32
    %r = arith.mulf %f, %sf : f32
    linalg.yield %r : f32
  } -> tensor<${N}x${KB}x2x16xf32>
  %y = tensor.collapse_shape %w [[0], [1, 2, 3]] : tensor<${N}x${KB}x2x16xf32> into tensor<${N}x${K}xf32>
  return %y : tensor<${N}x${K}xf32>
}

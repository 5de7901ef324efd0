// canonical_expressions
func.func private @f() attributes {ingot.tol = [
  affine_map<(d0, d1)[s0] -> (2 + d0, d0 + d0, d0 * 2 * 3, (d0 * 4) floordiv 4, d0 floordiv 1)>,
  affine_map<(d0, d1)[s0] -> (d0 - d1, d0 - d1 * 2, -d0, -(d0 + d1), 3 - d0, d0 + 1 + d1 + 2)>,
  affine_map<(d0, d1)[s0] -> (s0 + d0, s0 * d0, d0 * s0 * 2, (d0 * 6) mod 3, (d0 * 6 + d1) mod 3)>,
  affine_map<(d0, d1)[s0] -> ((d0 * 8 + d1) floordiv 8, d0 - (d0 floordiv 4) * 4, (d0 mod 8) mod 4)>,
  affine_map<(d0, d1)[s0] -> (d0 ceildiv 1, (d0 * 8) ceildiv 4, 7 floordiv 2, -7 mod 4, 7 ceildiv 2)>,
  affine_map<(d0, d1)[s0] -> ((d0 + d1) * 2, (d0 + 1) * s0, d0 * 0 + d1, d0 * -3 + 4 * d1)>,
  affine_map<(d0, d1)[s0] -> (d0 floordiv s0, d0 mod s0, (d0 + d1 * 4) floordiv 4 * 4)>]}

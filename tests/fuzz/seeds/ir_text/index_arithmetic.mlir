// index_arithmetic
func.func @f(%a: index, %n: index) -> index {
  %0 = affine.apply affine_map<(d0) -> (d0 floordiv 4 + d0 mod 3 - 7)>(%a)
  %1 = affine.min affine_map<(d0)[s0] -> (d0, s0 - d0, s0 * 2)>(%a)[%n]
  %2 = affine.max affine_map<(d0, d1) -> (d0 ceildiv 8, -(d1 + 1))>(%0, %1)
  return %2 : index
}

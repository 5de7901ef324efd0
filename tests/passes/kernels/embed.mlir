// Rows of a block-quantised embedding table: 4-bit codes in 16-byte halves, one f16 scale per 32.
#o4 = affine_map<(d0, d1, d2, d3) -> (d0, d1, d2, d3)>
module {
  func.func private @rows_embed(%ids: tensor<7xi32> {ingot.test_range = 11 : i64}, %q: tensor<11x18x16xi8>, %d: tensor<11x18xf16>)
      -> tensor<7x576xf32> attributes {ingot.kernel = "rows", ingot.tiles = affine_map<() -> (7)>} {
    %c0 = arith.constant 0 : index
    %c4 = arith.constant 4 : i8
    %c15 = arith.constant 15 : i8
    %c8 = arith.constant 8 : i8
    %e = tensor.empty() : tensor<7x18x2x16xf32>
    %r = linalg.generic {indexing_maps = [#o4], iterator_types = ["parallel", "parallel", "parallel", "parallel"]}
        outs(%e : tensor<7x18x2x16xf32>) {
    ^bb0(%o: f32):
      %s = linalg.index 0 : index
      %kb = linalg.index 1 : index
      %h = linalg.index 2 : index
      %j = linalg.index 3 : index
      %id32 = tensor.extract %ids[%s] : tensor<7xi32>
      %id = arith.index_cast %id32 : i32 to index
      %b = tensor.extract %q[%id, %kb, %j] : tensor<11x18x16xi8>
      %sc = tensor.extract %d[%id, %kb] : tensor<11x18xf16>
      %lo = arith.andi %b, %c15 : i8
      %hi = arith.shrui %b, %c4 : i8
      %isl = arith.cmpi eq, %h, %c0 : index
      %n = arith.select %isl, %lo, %hi : i8
      %m = arith.subi %n, %c8 : i8
      %f = arith.sitofp %m : i8 to f32
      %sf = arith.extf %sc : f16 to f32
      %x = arith.mulf %f, %sf : f32
      linalg.yield %x : f32
    } -> tensor<7x18x2x16xf32>
    %c = tensor.collapse_shape %r [[0], [1, 2, 3]] : tensor<7x18x2x16xf32> into tensor<7x576xf32>
    return %c : tensor<7x576xf32>
  }
}

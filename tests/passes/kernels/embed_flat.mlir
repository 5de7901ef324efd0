// Rows of a table of 8-bit codes in blocks of 32, whose scales are tiled by 16 rows; the columns are one
// loop, block and place in it come by division.
#s = affine_map<(d0, d1) -> (d0)>
#sd = affine_map<(d0, d1) -> (d0, d1)>
module {
  func.func private @rows_embed(%ids: tensor<5xi32> {ingot.test_range = 48 : i64}, %q: tensor<48x18x32xi8>, %d: tensor<3x18x16xf16>)
      -> tensor<5x576xf32> attributes {ingot.kernel = "rows", ingot.tiles = affine_map<() -> (5)>} {
    %e = tensor.empty() : tensor<5x576xf32>
    %r = linalg.generic {indexing_maps = [#s, #sd], iterator_types = ["parallel", "parallel"]}
        ins(%ids : tensor<5xi32>) outs(%e : tensor<5x576xf32>) {
    ^bb0(%id32: i32, %o: f32):
      %id = arith.index_cast %id32 : i32 to index
      %j = linalg.index 1 : index
      %c32 = arith.constant 32 : index
      %c16 = arith.constant 16 : index
      %kb = arith.divui %j, %c32 : index
      %i = arith.remui %j, %c32 : index
      %b = tensor.extract %q[%id, %kb, %i] : tensor<48x18x32xi8>
      %t = arith.divui %id, %c16 : index
      %l = arith.remui %id, %c16 : index
      %sc = tensor.extract %d[%t, %kb, %l] : tensor<3x18x16xf16>
      %m = arith.extui %b : i8 to i32
      %c128 = arith.constant -128 : i32
      %n = arith.addi %m, %c128 : i32
      %f = arith.sitofp %n : i32 to f32
      %sf = arith.extf %sc : f16 to f32
      %x = arith.mulf %f, %sf : f32
      linalg.yield %x : f32
    } -> tensor<5x576xf32>
    return %r : tensor<5x576xf32>
  }
}

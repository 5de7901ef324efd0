// Weight preparation in two steps: nibbles to codes, codes to tiles; the codes are never stored.
#q4 = affine_map<(d0, d1, d2, d3) -> (d0, d1, d3)>
#o4 = affine_map<(d0, d1, d2, d3) -> (d0, d1, d2, d3)>
#lo = affine_map<(d0, d1, d2, d3, d4) -> (d0 * 16 + d3, d1, d2 * 4 + d4)>
#hi = affine_map<(d0, d1, d2, d3, d4) -> (d0 * 16 + d3, d1, d2 * 4 + d4 + 16)>
#dst = affine_map<(d0, d1, d2, d3, d4) -> (d0, d1, d2, d3, d4)>
module {
  func.func private @init_tiles(%q: tensor<48x6x16xi8>) -> tensor<3x6x4x16x4xi8>
      attributes {ingot.kernel = "init", ingot.tiles = affine_map<() -> (3)>} {
    %c4 = arith.constant 4 : i8
    %c15 = arith.constant 15 : i8
    %c0 = arith.constant 0 : index
    %e = tensor.empty() : tensor<48x6x2x16xi8>
    %c = linalg.generic {indexing_maps = [#q4, #o4], iterator_types = ["parallel", "parallel", "parallel", "parallel"]}
        ins(%q : tensor<48x6x16xi8>) outs(%e : tensor<48x6x2x16xi8>) {
    ^bb0(%b: i8, %o: i8):
      %h = linalg.index 2 : index
      %low = arith.andi %b, %c15 : i8
      %high = arith.shrui %b, %c4 : i8
      %is_low = arith.cmpi eq, %h, %c0 : index
      %n = arith.select %is_low, %low, %high : i8
      linalg.yield %n : i8
    } -> tensor<48x6x2x16xi8>
    %d = tensor.collapse_shape %c [[0], [1], [2, 3]] : tensor<48x6x2x16xi8> into tensor<48x6x32xi8>
    %e2 = tensor.empty() : tensor<3x6x4x16x4xi8>
    %t = linalg.generic {indexing_maps = [#lo, #hi, #dst], iterator_types = ["parallel", "parallel", "parallel", "parallel", "parallel"]}
        ins(%d, %d : tensor<48x6x32xi8>, tensor<48x6x32xi8>) outs(%e2 : tensor<3x6x4x16x4xi8>) {
    ^bb0(%x: i8, %y: i8, %o: i8):
      %s = arith.shli %y, %c4 : i8
      %r = arith.ori %x, %s : i8
      linalg.yield %r : i8
    } -> tensor<3x6x4x16x4xi8>
    return %t : tensor<3x6x4x16x4xi8>
  }
}

// Weights tiled by 16 output rows: codes transposed in groups of 4 bytes, scales beside them.
#src = affine_map<(d0, d1, d2, d3, d4) -> (d0 * 16 + d3, d1, d2 * 4 + d4)>
#dst = affine_map<(d0, d1, d2, d3, d4) -> (d0, d1, d2, d3, d4)>
#ssrc = affine_map<(d0, d1, d2) -> (d0 * 16 + d2, d1)>
#sdst = affine_map<(d0, d1, d2) -> (d0, d1, d2)>
module {
  func.func private @init_codes(%q: tensor<48x6x16xi8>) -> tensor<3x6x4x16x4xi8>
      attributes {ingot.kernel = "init", ingot.tiles = affine_map<() -> (3)>} {
    %e = tensor.empty() : tensor<3x6x4x16x4xi8>
    %r = linalg.generic {indexing_maps = [#src, #dst], iterator_types = ["parallel", "parallel", "parallel", "parallel", "parallel"]}
        ins(%q : tensor<48x6x16xi8>) outs(%e : tensor<3x6x4x16x4xi8>) {
    ^bb0(%x: i8, %o: i8):
      linalg.yield %x : i8
    } -> tensor<3x6x4x16x4xi8>
    return %r : tensor<3x6x4x16x4xi8>
  }
  func.func private @init_scales(%d: tensor<48x6xf16>) -> tensor<3x6x16xf32>
      attributes {ingot.kernel = "init", ingot.tiles = affine_map<() -> (1)>} {
    %e = tensor.empty() : tensor<3x6x16xf16>
    %r = linalg.generic {indexing_maps = [#ssrc, #sdst], iterator_types = ["parallel", "parallel", "parallel"]}
        ins(%d : tensor<48x6xf16>) outs(%e : tensor<3x6x16xf16>) {
    ^bb0(%x: f16, %o: f16):
      linalg.yield %x : f16
    } -> tensor<3x6x16xf16>
    %e2 = tensor.empty() : tensor<3x6x16xf32>
    %w = linalg.generic {indexing_maps = [#sdst, #sdst], iterator_types = ["parallel", "parallel", "parallel"]}
        ins(%r : tensor<3x6x16xf16>) outs(%e2 : tensor<3x6x16xf32>) {
    ^bb0(%x: f16, %o: f32):
      %0 = arith.extf %x : f16 to f32
      linalg.yield %0 : f32
    } -> tensor<3x6x16xf32>
    return %w : tensor<3x6x16xf32>
  }
}

// Gated unit on the two halves of a packed projection, cut down to f16 beside it; 6 of 9 rows valid.
#id2 = affine_map<(d0, d1) -> (d0, d1)>
module {
  func.func private @rows_silu(%gu: tensor<9x206xf32>, %n: index {ingot.test = 6 : i64}) -> (tensor<9x103xf32>, tensor<9x103xf16>)
      attributes {ingot.kernel = "rows", ingot.tiles = affine_map<(d0) -> (d0)>, ingot.tiles_arg = 0 : i64} {
    %one = arith.constant 1.000000e+00 : f32
    %g = tensor.extract_slice %gu[0, 0] [9, 103] [1, 1] : tensor<9x206xf32> to tensor<9x103xf32>
    %u = tensor.extract_slice %gu[0, 103] [9, 103] [1, 1] : tensor<9x206xf32> to tensor<9x103xf32>
    %e = tensor.empty() : tensor<9x103xf32>
    %a = linalg.generic {indexing_maps = [#id2, #id2, #id2], iterator_types = ["parallel", "parallel"]}
        ins(%g, %u : tensor<9x103xf32>, tensor<9x103xf32>) outs(%e : tensor<9x103xf32>) {
    ^bb0(%gi: f32, %ui: f32, %o: f32):
      %0 = arith.negf %gi : f32
      %1 = math.exp %0 : f32
      %2 = arith.addf %1, %one : f32
      %3 = arith.divf %gi, %2 : f32
      %4 = arith.mulf %3, %ui : f32
      linalg.yield %4 : f32
    } -> tensor<9x103xf32>
    %e2 = tensor.empty() : tensor<9x103xf16>
    %b = linalg.generic {indexing_maps = [#id2, #id2], iterator_types = ["parallel", "parallel"]}
        ins(%a : tensor<9x103xf32>) outs(%e2 : tensor<9x103xf16>) {
    ^bb0(%x: f32, %o: f16):
      %0 = arith.truncf %x : f32 to f16
      linalg.yield %0 : f16
    } -> tensor<9x103xf16>
    return %a, %b : tensor<9x103xf32>, tensor<9x103xf16>
  }
}

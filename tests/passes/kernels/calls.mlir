// Functions that only call: results straight into place, reshapes and slices between calls, an argument
// updated in place through two levels.
#id2 = affine_map<(d0, d1) -> (d0, d1)>
module {
  func.func private @twice(%x: tensor<4x24xf32>, %n: index) -> tensor<4x24xf32>
      attributes {ingot.kernel = "rows", ingot.tiles = affine_map<(d0) -> (d0)>, ingot.tiles_arg = 0 : i64} {
    %e = tensor.empty() : tensor<4x24xf32>
    %0 = linalg.generic {indexing_maps = [#id2, #id2], iterator_types = ["parallel", "parallel"]}
        ins(%x : tensor<4x24xf32>) outs(%e : tensor<4x24xf32>) {
    ^bb0(%i: f32, %o: f32):
      %1 = arith.addf %i, %i : f32
      linalg.yield %1 : f32
    } -> tensor<4x24xf32>
    return %0 : tensor<4x24xf32>
  }
  func.func private @negate(%x: tensor<2x24xf32>) -> tensor<2x24xf32>
      attributes {ingot.kernel = "rows", ingot.tiles = affine_map<() -> (2)>} {
    %e = tensor.empty() : tensor<2x24xf32>
    %0 = linalg.generic {indexing_maps = [#id2, #id2], iterator_types = ["parallel", "parallel"]}
        ins(%x : tensor<2x24xf32>) outs(%e : tensor<2x24xf32>) {
    ^bb0(%i: f32, %o: f32):
      %1 = arith.negf %i : f32
      linalg.yield %1 : f32
    } -> tensor<2x24xf32>
    return %0 : tensor<2x24xf32>
  }
  func.func private @append(%x: tensor<4x24xf32>, %cache: tensor<8x24xf32> {ingot.inout = 0 : i64}, %at: index, %n: index) -> tensor<8x24xf32>
      attributes {ingot.kernel = "rows", ingot.tiles = affine_map<(d0) -> (d0)>, ingot.tiles_arg = 1 : i64} {
    %c0 = arith.constant 0 : index
    %c1 = arith.constant 1 : index
    %0 = scf.for %m = %c0 to %n step %c1 iter_args(%c = %cache) -> (tensor<8x24xf32>) {
      %row = tensor.extract_slice %x[%m, 0] [1, 24] [1, 1] : tensor<4x24xf32> to tensor<1x24xf32>
      %to = arith.addi %at, %m : index
      %1 = tensor.insert_slice %row into %c[%to, 0] [1, 24] [1, 1] : tensor<1x24xf32> into tensor<8x24xf32>
      scf.yield %1 : tensor<8x24xf32>
    }
    return %0 : tensor<8x24xf32>
  }
  func.func private @layer(%n: index, %x: tensor<4x24xf32>, %cache: tensor<8x24xf32> {ingot.inout = 1 : i64}) -> (tensor<4x24xf32>, tensor<8x24xf32>) {
    %c1 = arith.constant 1 : index
    %a = func.call @twice(%x, %n) : (tensor<4x24xf32>, index) -> tensor<4x24xf32>
    %k = func.call @append(%a, %cache, %c1, %n) : (tensor<4x24xf32>, tensor<8x24xf32>, index, index) -> tensor<8x24xf32>
    %b = func.call @twice(%a, %n) : (tensor<4x24xf32>, index) -> tensor<4x24xf32>
    return %b, %k : tensor<4x24xf32>, tensor<8x24xf32>
  }
  func.func @forward(%x: tensor<96xf32>, %cache: tensor<8x24xf32> {ingot.inout = 0 : i64}, %n: index {ingot.test = 4 : i64})
      -> (tensor<8x24xf32>, tensor<48xf32>, tensor<2x24xf32>) {
    %x2 = tensor.expand_shape %x [[0, 1]] output_shape [4, 24] : tensor<96xf32> into tensor<4x24xf32>
    %y:2 = func.call @layer(%n, %x2, %cache) : (index, tensor<4x24xf32>, tensor<8x24xf32>) -> (tensor<4x24xf32>, tensor<8x24xf32>)
    %z:2 = func.call @layer(%n, %y#0, %y#1) : (index, tensor<4x24xf32>, tensor<8x24xf32>) -> (tensor<4x24xf32>, tensor<8x24xf32>)
    %last = tensor.extract_slice %z#0[2, 0] [2, 24] [1, 1] : tensor<4x24xf32> to tensor<2x24xf32>
    %first = tensor.extract_slice %z#0[0, 0] [2, 24] [1, 1] : tensor<4x24xf32> to tensor<2x24xf32>
    %u = func.call @negate(%last) : (tensor<2x24xf32>) -> tensor<2x24xf32>
    %v = func.call @negate(%first) : (tensor<2x24xf32>) -> tensor<2x24xf32>
    %w = tensor.collapse_shape %u [[0, 1]] : tensor<2x24xf32> into tensor<48xf32>
    return %z#1, %w, %v : tensor<8x24xf32>, tensor<48xf32>, tensor<2x24xf32>
  }
}

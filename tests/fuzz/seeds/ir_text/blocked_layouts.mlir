// blocked_layouts
func.func @f(%a: tensor<8x63xf32>, %z: tensor<8x2x8x4xf32>, %b: tensor<2x8x4x8xf32>, %c: tensor<8x64xf32>, %d: tensor<4x8x8x8xf32>, %e: tensor<2x4x4x8xf32>) {
  %x = arith.constant 0.0 : f32
  %0 = linalg.pack %a padding_value(%x : f32) outer_dims_perm = [1, 0] inner_dims_pos = [1, 0] inner_tiles = [8, 4] into %z : tensor<8x63xf32> -> tensor<8x2x8x4xf32>
  %1 = linalg.unpack %b inner_dims_pos = [0, 1] inner_tiles = [4, 8] into %c : tensor<2x8x4x8xf32> -> tensor<8x64xf32>
  %2 = linalg.mmt4d ins(%b, %d : tensor<2x8x4x8xf32>, tensor<4x8x8x8xf32>) outs(%e : tensor<2x4x4x8xf32>) -> tensor<2x4x4x8xf32>
  return
}

// contractions
func.func @f(%a: tensor<8x64xf16>, %b: tensor<64x32xf16>, %bt: tensor<32x64xf16>, %z: tensor<8x32xf32>,
             %ba: tensor<4x8x64xf16>, %bb: tensor<4x64x32xf16>, %bz: tensor<4x8x32xf32>,
             %i: tensor<8x64xi8>, %j: tensor<64x32xi8>, %k: tensor<8x32xi32>) {
  %0 = linalg.matmul ins(%a, %b : tensor<8x64xf16>, tensor<64x32xf16>) outs(%z : tensor<8x32xf32>) -> tensor<8x32xf32>
  %1 = linalg.matmul indexing_maps = [affine_map<(m, n, k) -> (m, k)>, affine_map<(m, n, k) -> (n, k)>, affine_map<(m, n, k) -> (m, n)>]
    {ingot.tol = 1 : i32} ins(%a, %bt : tensor<8x64xf16>, tensor<32x64xf16>) outs(%z : tensor<8x32xf32>) -> tensor<8x32xf32>
  %2 = linalg.matmul {cast = #linalg.type_fn<cast_unsigned>} ins(%i, %j : tensor<8x64xi8>, tensor<64x32xi8>) outs(%k : tensor<8x32xi32>) -> tensor<8x32xi32>
  %3 = linalg.batch_matmul ins(%ba, %bb : tensor<4x8x64xf16>, tensor<4x64x32xf16>) outs(%bz : tensor<4x8x32xf32>) -> tensor<4x8x32xf32>
  %4 = linalg.contract indexing_maps = [affine_map<(m, n, k) -> (m, k)>, affine_map<(m, n, k) -> (n, k)>, affine_map<(m, n, k) -> (m, n)>]
    ins(%a, %bt : tensor<8x64xf16>, tensor<32x64xf16>) outs(%z : tensor<8x32xf32>) -> tensor<8x32xf32>
  %5 = linalg.matmul indexing_maps = [affine_map<(m, n, k) -> (m, k)>, affine_map<(m, n, k) -> (k, n)>, affine_map<(m, n, k) -> (m, n)>]
    ins(%a, %b : tensor<8x64xf16>, tensor<64x32xf16>) outs(%z : tensor<8x32xf32>) -> tensor<8x32xf32>
  return
}

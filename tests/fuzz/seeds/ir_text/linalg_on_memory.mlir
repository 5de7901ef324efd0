// linalg_on_memory
func.func @f(%a: memref<8x64xf32>, %b: memref<8xf32>) {
  linalg.generic {indexing_maps = [affine_map<(i, j) -> (i, j)>, affine_map<(i, j) -> (i)>], iterator_types = ["parallel", "reduction"]}
    ins(%a : memref<8x64xf32>) outs(%b : memref<8xf32>) {
  ^bb0(%x: f32, %o: f32):
    %0 = arith.addf %o, %x : f32
    linalg.yield %0 : f32
  }
  linalg.copy ins(%a : memref<8x64xf32>) outs(%a : memref<8x64xf32>)
  return
}

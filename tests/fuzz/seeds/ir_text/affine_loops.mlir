// affine_loops
func.func @f(%m: memref<8x64xf32>, %o: memref<8x8xf32>, %n: index, %x: f32) -> f32 {
  affine.for %i = 0 to 8 {
    affine.for %j = 0 to 64 step 8 {
      %v = affine.vector_load %m[%i, %j] : memref<8x64xf32>, vector<8xf32>
      affine.vector_store %v, %m[%i, %j + symbol(%n) * 2 - 3] : memref<8x64xf32>, vector<8xf32>
    }
    %w = affine.load %m[%i mod 4, %i floordiv 2 + 7] : memref<8x64xf32>
    affine.store %w, %m[%i, -%i + 7] : memref<8x64xf32>
  }
  affine.for %i = max affine_map<(d0) -> (d0, 3)>(%n) to min affine_map<(d0)[s0] -> (d0 + s0, 8)>(%n)[%n] {
  }
  affine.for %i = affine_map<(d0) -> (d0 + 1)>(%n) to %n step 4 {
  } {ingot.fallback = "shape"}
  affine.for %i = -4 to 4 {
  }
  affine.parallel (%a, %b) = (0, 0) to (8, 8) step (2, 4) {
    affine.store %x, %o[%a, %b] : memref<8x8xf32>
  }
  %1 = affine.parallel (%a) = (max(0, symbol(%n))) to (min(8, symbol(%n))) reduce ("addf") -> (f32) {
    affine.yield %x : f32
  }
  %0 = affine.for %k = 0 to 32 iter_args(%acc = %x) -> (f32) {
    affine.yield %acc : f32
  }
  return %0 : f32
}

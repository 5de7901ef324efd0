func.func @main() {
  %c1 = arith.constant 1 : index
  %z = arith.constant 0.0 : f32
  %m = memref.alloc() : memref<4xf32>
  memref.store %z, %m[%c1] : memref<4xf32>
  %v = memref.load %m[%c1] : memref<4xf32>
  %w = vector.load %m[%c1] : memref<4xf32>, vector<2xf32>
  return
}

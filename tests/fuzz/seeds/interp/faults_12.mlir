func.func @main() {
  %m = memref.alloc() : memref<4xf32>
  %z = arith.constant 0.0 : f32
  linalg.fill ins(%z : f32) outs(%m : memref<4xf32>)
  %c2 = arith.constant 2 : index
  %p = ub.poison : f32
  %v = vector.transfer_read %m[%c2], %p : memref<4xf32>, vector<4xf32>
  return
}

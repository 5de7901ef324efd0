func.func @step(%arena: memref<256xi8> {ingot.arena}) {
  %c0 = arith.constant 0 : index
  %c1 = arith.constant 1 : index
  %c8 = arith.constant 8 : index
  %c16 = arith.constant 16 : index
  %c32 = arith.constant 32 : index
  %z = arith.constant 1.0 : f32
  %a = memref.view %arena[%c0][] : memref<256xi8> to memref<16xf32>
  %b = memref.view %arena[%c32][] : memref<256xi8> to memref<16xf32>
  scf.for %k = %c0 to %c1 step %c1 {
    scf.for %i = %c0 to %c16 step %c1 {
      memref.store %z, %a[%i] : memref<16xf32>
    }
    scf.for %i = %c0 to %c8 step %c1 {
      memref.store %z, %b[%i] : memref<16xf32>
    }
    scf.for %i = %c0 to %c16 step %c1 {
      %v = memref.load %a[%i] : memref<16xf32>
    }
  }
  return
}
func.func @main() {
  %m = memref.alloc() : memref<256xi8>
  func.call @step(%m) : (memref<256xi8>) -> ()
  return
}

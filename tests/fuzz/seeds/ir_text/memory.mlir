// memory
memref.global "private" constant @w : memref<4x8xf32> = dense<1.0> {alignment = 64 : i64}
memref.global "private" @u : memref<4x8xf32> = uninitialized
memref.global @external : memref<2xi32>
memref.global "private" constant @t : memref<3xi8> = dense<[1, 2, 3]>
func.func @f(%x: f32, %i: index, %n: index) {
  %0 = memref.alloc() {alignment = 64 : i64, ingot.boundary = "multi-use"} : memref<1024xi8>
  %1 = memref.alloca(%n) : memref<?xf32, 3>
  %2 = memref.get_global @w : memref<4x8xf32>
  %3 = memref.load %2[%i, %i] : memref<4x8xf32>
  memref.store %3, %2[%i, %i] {nontemporal = true} : memref<4x8xf32>
  memref.copy %2, %2 : memref<4x8xf32> to memref<4x8xf32>
  memref.prefetch %2[%i, %i], read, locality<3>, data : memref<4x8xf32>
  memref.prefetch %2[%i, %i], write, locality<0>, instr : memref<4x8xf32>
  memref.dealloc %0 : memref<1024xi8>
  return
}

// Views that drop some of several dimensions of size 1, next to one that is kept.
// scalars: 3 5
module {
  func.func @k(%x: memref<4x16xf32>, %keys: memref<4x1x16x8xf32>, %values: memref<4x1x8x16xf32>, %page: index, %slot: index, %b: index, %e: index) attributes {ingot.kernel = "rows"} {
    %0 = arith.constant 0 : index
    %1 = arith.constant 1 : index
    %16 = arith.constant 16 : index
    %key = memref.subview %keys[%page, 0, 0, %slot] [1, 1, 16, 1] [1, 1, 1, 1] : memref<4x1x16x8xf32> to memref<1x16xf32, strided<[128, 8], offset: ?>>
    %value = memref.subview %values[%page, 0, %slot, 0] [1, 1, 1, 16] [1, 1, 1, 1] : memref<4x1x8x16xf32> to memref<1x16xf32, strided<[128, 1], offset: ?>>
    %alone = memref.subview %keys[0, 0, %slot, %slot] [1, 1, 1, 1] [1, 1, 1, 1] : memref<4x1x16x8xf32> to memref<1xf32, strided<[128], offset: ?>>
    scf.for %d = %0 to %16 step %1 {
      %a = memref.load %x[%page, %d] : memref<4x16xf32>
      memref.store %a, %key[%0, %d] : memref<1x16xf32, strided<[128, 8], offset: ?>>
      memref.store %a, %value[%0, %d] : memref<1x16xf32, strided<[128, 1], offset: ?>>
    }
    %first = memref.load %x[%0, %0] : memref<4x16xf32>
    memref.store %first, %alone[%0] : memref<1xf32, strided<[128], offset: ?>>
    return
  }
}

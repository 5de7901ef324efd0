func.func private @printMemrefI32(memref<*xi32>)
func.func @main() {
  %c0 = arith.constant 0 : index
  %c1 = arith.constant 1 : index
  %c16 = arith.constant 16 : index
  %m = memref.alloc() : memref<96xi8>
  %v = memref.view %m[%c16][] : memref<96xi8> to memref<4x4xi32>
  scf.for %i = %c0 to %c16 step %c1 {
    %f = memref.collapse_shape %v [[0, 1]] : memref<4x4xi32> into memref<16xi32>
    %x = arith.index_cast %i : index to i32
    memref.store %x, %f[%i] : memref<16xi32>
  }
  %s = memref.subview %v[1, 0] [2, 2] [2, 3] : memref<4x4xi32> to memref<2x2xi32, strided<[8, 3], offset: 4>>
  %u0 = memref.cast %s : memref<2x2xi32, strided<[8, 3], offset: 4>> to memref<*xi32>
  func.call @printMemrefI32(%u0) : (memref<*xi32>) -> ()
  %r = memref.reinterpret_cast %v to offset: [2], sizes: [3, 2], strides: [4, 1] : memref<4x4xi32> to memref<3x2xi32, strided<[4, 1], offset: 2>>
  %u1 = memref.cast %r : memref<3x2xi32, strided<[4, 1], offset: 2>> to memref<*xi32>
  func.call @printMemrefI32(%u1) : (memref<*xi32>) -> ()
  %e = memref.expand_shape %r [[0], [1, 2]] output_shape [3, 1, 2] : memref<3x2xi32, strided<[4, 1], offset: 2>> into memref<3x1x2xi32, strided<[4, 2, 1], offset: 2>>
  %u2 = memref.cast %e : memref<3x1x2xi32, strided<[4, 2, 1], offset: 2>> to memref<*xi32>
  func.call @printMemrefI32(%u2) : (memref<*xi32>) -> ()
  %n = memref.alloc() : memref<2x2xi32>
  memref.copy %s, %n : memref<2x2xi32, strided<[8, 3], offset: 4>> to memref<2x2xi32>
  %u3 = memref.cast %n : memref<2x2xi32> to memref<*xi32>
  func.call @printMemrefI32(%u3) : (memref<*xi32>) -> ()
  return
}

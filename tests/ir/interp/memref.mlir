// views of one buffer
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
// out: Unranked Memref base@ = 0x0 rank = 2 offset = 4 sizes = [2, 2] strides = [8, 3] data =
// out: [[4,   7],
// out:  [12,   15]]
// out: Unranked Memref base@ = 0x0 rank = 2 offset = 2 sizes = [3, 2] strides = [4, 1] data =
// out: [[2,   3],
// out:  [6,   7],
// out:  [10,   11]]
// out: Unranked Memref base@ = 0x0 rank = 3 offset = 2 sizes = [3, 1, 2] strides = [4, 2, 1] data =
// out: [[[2,    3]],
// out:  [[6,    7]],
// out:  [[10,    11]]]
// out: Unranked Memref base@ = 0x0 rank = 2 offset = 0 sizes = [2, 2] strides = [2, 1] data =
// out: [[4,   7],
// out:  [12,   15]]
// -----
// loops: affine bounds with several results, parallel with a reduction, globals
#lo = affine_map<(d0) -> (d0, 2)>
#hi = affine_map<(d0) -> (d0 + 3, 6)>
memref.global "private" constant @w : memref<4xi32> = dense<[1, 10, 100, 1000]>
func.func private @printMemrefI32(memref<*xi32>)
func.func @main() {
  %c0 = arith.constant 0 : index
  %c1 = arith.constant 1 : index
  %c4 = arith.constant 4 : index
  %zero = arith.constant 0 : i32
  %g = memref.get_global @w : memref<4xi32>
  %m = memref.alloc() : memref<8xi32>
  linalg.fill ins(%zero : i32) outs(%m : memref<8xi32>)
  affine.for %i = 0 to 4 {
    affine.for %j = max #lo(%i) to min #hi(%i) {
      %0 = affine.load %m[%j] : memref<8xi32>
      %1 = affine.load %g[%i] : memref<4xi32>
      %2 = arith.addi %0, %1 : i32
      affine.store %2, %m[%j] : memref<8xi32>
    }
  }
  %s = scf.parallel (%i) = (%c0) to (%c4) step (%c1) init (%zero) -> i32 {
    %0 = memref.load %g[%i] : memref<4xi32>
    scf.reduce(%0 : i32) {
    ^bb0(%a: i32, %b: i32):
      %1 = arith.addi %a, %b : i32
      scf.reduce.return %1 : i32
    }
  }
  affine.store %s, %m[7] : memref<8xi32>
  affine.parallel (%i) = (0) to (2) {
    %0 = affine.load %g[%i] : memref<4xi32>
    affine.store %0, %m[%i] : memref<8xi32>
  }
  %u = memref.cast %m : memref<8xi32> to memref<*xi32>
  func.call @printMemrefI32(%u) : (memref<*xi32>) -> ()
  return
}
// out: Unranked Memref base@ = 0x0 rank = 1 offset = 0 sizes = [8] strides = [1] data =
// out: [1,  10,  111,  1110,  1100,  1000,  0,  1111]

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

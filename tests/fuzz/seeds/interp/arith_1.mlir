func.func private @printMemrefI32(memref<*xi32>)
func.func @main() {
  %a = arith.constant dense<[0x80000000, 0x7FC00000, 1.0, 2.0]> : vector<4xf32>
  %b = arith.constant dense<[0x00000000, 0x3F800000, -1.0, 5.0]> : vector<4xf32>
  %m = memref.alloc() : memref<4x4xi32>
  %0 = arith.maximumf %a, %b : vector<4xf32>
  %1 = arith.minimumf %a, %b : vector<4xf32>
  %2 = arith.maxnumf %a, %b : vector<4xf32>
  %3 = arith.cmpf ult, %a, %b : vector<4xf32>
  %i0 = arith.bitcast %0 : vector<4xf32> to vector<4xi32>
  %i1 = arith.bitcast %1 : vector<4xf32> to vector<4xi32>
  %i2 = arith.bitcast %2 : vector<4xf32> to vector<4xi32>
  %i3 = arith.extui %3 : vector<4xi1> to vector<4xi32>
  affine.vector_store %i0, %m[0, 0] : memref<4x4xi32>, vector<4xi32>
  affine.vector_store %i1, %m[1, 0] : memref<4x4xi32>, vector<4xi32>
  affine.vector_store %i2, %m[2, 0] : memref<4x4xi32>, vector<4xi32>
  affine.vector_store %i3, %m[3, 0] : memref<4x4xi32>, vector<4xi32>
  %u = memref.cast %m : memref<4x4xi32> to memref<*xi32>
  func.call @printMemrefI32(%u) : (memref<*xi32>) -> ()
  return
}

func.func private @printMemrefI32(memref<*xi32>)
func.func @main() {
  %a = arith.constant dense<[0, 1, 2, 3]> : vector<4xi32>
  %b = arith.constant dense<[10, 11, 12, 13]> : vector<4xi32>
  %m = memref.alloc() : memref<8x4xi32>
  %c2 = arith.constant 2 : index
  %0 = vector.shuffle %a, %b [7, 0, 3, 4] : vector<4xi32>, vector<4xi32>
  %i = vector.interleave %a, %b : vector<4xi32> -> vector<8xi32>
  %d0, %d1 = vector.deinterleave %i : vector<8xi32> -> vector<4xi32>
  %s = vector.shape_cast %i : vector<8xi32> to vector<2x4xi32>
  %r = vector.extract %s[1] : vector<4xi32> from vector<2x4xi32>
  %x = vector.extract %a[%c2] : i32 from vector<4xi32>
  %y = vector.insert %x, %b[0] : i32 into vector<4xi32>
  %z = vector.insert %x, %y[%c2] : i32 into vector<4xi32>
  %e:4 = vector.to_elements %b : vector<4xi32>
  %f = vector.from_elements %e#3, %e#2, %x, %x : vector<4xi32>
  %k = vector.broadcast %x : i32 to vector<4xi32>
  %t = vector.step : vector<4xindex>
  %ti = arith.index_cast %t : vector<4xindex> to vector<4xi32>
  affine.vector_store %0, %m[0, 0] : memref<8x4xi32>, vector<4xi32>
  affine.vector_store %d1, %m[1, 0] : memref<8x4xi32>, vector<4xi32>
  affine.vector_store %r, %m[2, 0] : memref<8x4xi32>, vector<4xi32>
  affine.vector_store %z, %m[3, 0] : memref<8x4xi32>, vector<4xi32>
  affine.vector_store %f, %m[4, 0] : memref<8x4xi32>, vector<4xi32>
  affine.vector_store %k, %m[5, 0] : memref<8x4xi32>, vector<4xi32>
  affine.vector_store %ti, %m[6, 0] : memref<8x4xi32>, vector<4xi32>
  affine.vector_store %d0, %m[7, 0] : memref<8x4xi32>, vector<4xi32>
  %u = memref.cast %m : memref<8x4xi32> to memref<*xi32>
  func.call @printMemrefI32(%u) : (memref<*xi32>) -> ()
  return
}

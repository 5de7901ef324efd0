// moving lanes
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
// out: Unranked Memref base@ = 0x0 rank = 2 offset = 0 sizes = [8, 4] strides = [4, 1] data =
// out: [[13,   0,   3,   10],
// out:  [10,   11,   12,   13],
// out:  [2,   12,   3,   13],
// out:  [2,   11,   2,   13],
// out:  [13,   12,   2,   2],
// out:  [2,   2,   2,   2],
// out:  [0,   1,   2,   3],
// out:  [0,   1,   2,   3]]
// -----
// masks, transfers, bitcasts, reductions, contract
func.func private @printMemrefI32(memref<*xi32>)
func.func @main() {
  %c0 = arith.constant 0 : index
  %c1 = arith.constant 1 : index
  %c2 = arith.constant 2 : index
  %c3 = arith.constant 3 : index
  %pad = arith.constant 77 : i32
  %a = arith.constant dense<[1, 2, 3, 4]> : vector<4xi32>
  %z = arith.constant dense<0> : vector<4xi32>
  %s = memref.alloc() : memref<2x4xi32>
  affine.vector_store %a, %s[0, 0] : memref<2x4xi32>, vector<4xi32>
  affine.vector_store %z, %s[1, 0] : memref<2x4xi32>, vector<4xi32>
  %m = memref.alloc() : memref<7x4xi32>
  %fill = arith.constant -1 : i32
  linalg.fill ins(%fill : i32) outs(%m : memref<7x4xi32>)
  %mask = vector.create_mask %c3 : vector<4xi1>
  %0 = vector.maskedload %s[%c0, %c0], %mask, %z : memref<2x4xi32>, vector<4xi1>, vector<4xi32> into vector<4xi32>
  affine.vector_store %0, %m[0, 0] : memref<7x4xi32>, vector<4xi32>
  vector.maskedstore %m[%c1, %c0], %mask, %a : memref<7x4xi32>, vector<4xi1>, vector<4xi32>
  %1 = vector.transfer_read %s[%c0, %c2], %pad : memref<2x4xi32>, vector<4xi32>
  vector.transfer_write %1, %m[%c2, %c0] {in_bounds = [true]} : vector<4xi32>, memref<7x4xi32>
  %2 = vector.transfer_read %s[%c0, %c0], %pad {in_bounds = [true, false], permutation_map = affine_map<(d0, d1) -> (d1, d0)>} : memref<2x4xi32>, vector<4x2xi32>
  %3 = vector.shape_cast %2 : vector<4x2xi32> to vector<2x4xi32>
  vector.transfer_write %3, %m[%c3, %c0] {in_bounds = [true, true]} : vector<2x4xi32>, memref<7x4xi32>
  %b = vector.bitcast %a : vector<4xi32> to vector<16xi8>
  %c = arith.extsi %b : vector<16xi8> to vector<16xi32>
  %d = vector.shape_cast %c : vector<16xi32> to vector<4x4xi32>
  %e = vector.contract {indexing_maps = [affine_map<(d0, d1) -> (d0, d1)>, affine_map<(d0, d1) -> (d1)>, affine_map<(d0, d1) -> (d0)>], iterator_types = ["parallel", "reduction"], kind = #vector.kind<add>} %d, %a, %a : vector<4x4xi32>, vector<4xi32> into vector<4xi32>
  affine.vector_store %e, %m[5, 0] : memref<7x4xi32>, vector<4xi32>
  %r0 = vector.reduction <add>, %e : vector<4xi32> into i32
  %r1 = vector.reduction <maxsi>, %a, %pad : vector<4xi32> into i32
  %r2 = vector.reduction <minui>, %e : vector<4xi32> into i32
  %f = vector.from_elements %r0, %r1, %r2, %pad : vector<4xi32>
  affine.vector_store %f, %m[6, 0] : memref<7x4xi32>, vector<4xi32>
  %u = memref.cast %m : memref<7x4xi32> to memref<*xi32>
  func.call @printMemrefI32(%u) : (memref<*xi32>) -> ()
  return
}
// out: Unranked Memref base@ = 0x0 rank = 2 offset = 0 sizes = [7, 4] strides = [4, 1] data =
// out: [[1,   2,   3,   0],
// out:  [1,   2,   3,   -1],
// out:  [3,   4,   77,   77],
// out:  [1,   0,   2,   0],
// out:  [3,   0,   4,   0],
// out:  [2,   4,   6,   8],
// out:  [20,   77,   2,   77]]

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

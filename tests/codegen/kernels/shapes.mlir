// Shuffles, broadcasts, n-dimensional vectors, element moves.
// scalars: 2
func.func @shapes(%x: memref<8x8xf32>, %o: memref<16x16xf32>, %b: memref<64xi8>, %ob: memref<2x64xi8>, %p: index, %begin: index, %end: index) attributes {ingot.kernel} {
  %c0 = arith.constant 0 : index
  %c1 = arith.constant 1 : index
  %c2 = arith.constant 2 : index
  %c3 = arith.constant 3 : index
  %c4 = arith.constant 4 : index
  %c5 = arith.constant 5 : index
  %c6 = arith.constant 6 : index
  %c7 = arith.constant 7 : index
  %c8 = arith.constant 8 : index
  %c9 = arith.constant 9 : index
  %c10 = arith.constant 10 : index
  %c11 = arith.constant 11 : index
  %a = vector.load %x[%c0, %c0] : memref<8x8xf32>, vector<8xf32>
  %d = vector.load %x[%c1, %c0] : memref<8x8xf32>, vector<8xf32>
  %s0 = vector.shuffle %a, %d [0, 8, 1, 9, 2, 10, 3, 11, 4, 12, 5, 13, 6, 14, 7, 15] : vector<8xf32>, vector<8xf32>
  vector.store %s0, %o[%c0, %c0] : memref<16x16xf32>, vector<16xf32>
  %il = vector.interleave %a, %d : vector<8xf32> -> vector<16xf32>
  vector.store %il, %o[%c1, %c0] : memref<16x16xf32>, vector<16xf32>
  %e0, %e1 = vector.deinterleave %il : vector<16xf32> -> vector<8xf32>
  vector.store %e1, %o[%c2, %c0] : memref<16x16xf32>, vector<8xf32>
  vector.store %e0, %o[%c2, %c8] : memref<16x16xf32>, vector<8xf32>
  %bb = vector.broadcast %a : vector<8xf32> to vector<2x8xf32>
  %in = vector.insert %d, %bb [1] : vector<8xf32> into vector<2x8xf32>
  %sc = vector.shape_cast %in : vector<2x8xf32> to vector<16xf32>
  vector.store %sc, %o[%c3, %c0] : memref<16x16xf32>, vector<16xf32>
  %el = vector.extract %in[1, 3] : f32 from vector<2x8xf32>
  %dyn = vector.extract %a[%p] : f32 from vector<8xf32>
  %put = vector.insert %el, %d [%p] : f32 into vector<8xf32>
  vector.store %put, %o[%c4, %c0] : memref<16x16xf32>, vector<8xf32>
  %fe = vector.from_elements %el, %dyn, %el, %el : vector<4xf32>
  %te:4 = vector.to_elements %fe : vector<4xf32>
  memref.store %te#1, %o[%c5, %c0] : memref<16x16xf32>
  %col = vector.shape_cast %fe : vector<4xf32> to vector<4x1xf32>
  %bc = vector.broadcast %col : vector<4x1xf32> to vector<4x4xf32>
  vector.store %bc, %o[%c6, %c4] : memref<16x16xf32>, vector<4x4xf32>
  %rows = vector.load %x[%c2, %c0] : memref<8x8xf32>, vector<3x8xf32>
  %sh2 = vector.shuffle %rows, %in [4, 0, 2] : vector<3x8xf32>, vector<2x8xf32>
  vector.store %sh2, %o[%c10, %c8] : memref<16x16xf32>, vector<3x8xf32>
  %sum = vector.reduction <add>, %a : vector<8xf32> into f32
  %sum2 = vector.reduction <add>, %a, %sum : vector<8xf32> into f32
  %max = vector.reduction <maximumf>, %a : vector<8xf32> into f32
  %mul = vector.reduction <mul>, %d : vector<8xf32> into f32
  memref.store %sum, %o[%c5, %c1] : memref<16x16xf32>
  memref.store %sum2, %o[%c5, %c2] : memref<16x16xf32>
  memref.store %max, %o[%c5, %c3] : memref<16x16xf32>
  memref.store %mul, %o[%c5, %c4] : memref<16x16xf32>
  %bytes = vector.load %b[%c0] : memref<64xi8>, vector<64xi8>
  %words = vector.bitcast %bytes : vector<64xi8> to vector<16xi32>
  %w3 = vector.extract %words[3] : i32 from vector<16xi32>
  %wb = vector.broadcast %w3 : i32 to vector<16xi32>
  %back = vector.bitcast %wb : vector<16xi32> to vector<64xi8>
  vector.store %back, %ob[%c0, %c0] : memref<2x64xi8>, vector<64xi8>
  %st = vector.step : vector<16xindex>
  %sti = arith.index_cast %st : vector<16xindex> to vector<16xi32>
  %stf = arith.sitofp %sti : vector<16xi32> to vector<16xf32>
  vector.store %stf, %o[%c11, %c0] : memref<16x16xf32>, vector<16xf32>
  return
}

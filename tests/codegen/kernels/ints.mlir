// Integer ops on scalars, vectors and indices.
// scalars: -7 3
// tiles: 1 3
func.func @ints(%x: memref<64xi32>, %y: memref<64xi32>, %z: memref<64xi8>, %o: memref<14x16xi32>, %idx: memref<16xi64>, %h: memref<64xi16>, %n: index, %k: index, %begin: index, %end: index) attributes {ingot.kernel} {
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
  %c12 = arith.constant 12 : index
  %c13 = arith.constant 13 : index
  %c16 = arith.constant 16 : index
  %five = arith.constant dense<5> : vector<16xi32>
  %mask = arith.constant dense<15> : vector<16xi8>
  %four = arith.constant dense<4> : vector<16xi8>
  %one = arith.constant dense<1> : vector<16xi32>
  scf.for %t = %begin to %end step %c1 {
    %j = arith.muli %t, %c16 : index
    %a = vector.load %x[%j] : memref<64xi32>, vector<16xi32>
    %b0 = vector.load %y[%j] : memref<64xi32>, vector<16xi32>
    %b = arith.ori %b0, %one : vector<16xi32>
    %r0 = arith.addi %a, %b : vector<16xi32>
    %r1 = arith.subi %a, %b : vector<16xi32>
    %r2 = arith.muli %a, %b : vector<16xi32>
    %r3 = arith.shrsi %a, %five : vector<16xi32>
    %r4 = arith.shrui %a, %five : vector<16xi32>
    %r5 = arith.shli %a, %five : vector<16xi32>
    %r6 = arith.maxsi %a, %b : vector<16xi32>
    %r7 = arith.minui %a, %b : vector<16xi32>
    %q = vector.load %z[%j] : memref<64xi8>, vector<16xi8>
    %lo = arith.andi %q, %mask : vector<16xi8>
    %hi = arith.shrui %q, %four : vector<16xi8>
    %r8 = arith.extui %lo : vector<16xi8> to vector<16xi32>
    %r9 = arith.extsi %hi : vector<16xi8> to vector<16xi32>
    %cmp = arith.cmpi slt, %a, %b : vector<16xi32>
    %r10 = arith.select %cmp, %r0, %r1 : vector<16xi1>, vector<16xi32>
    %r11 = arith.divui %a, %b : vector<16xi32>
    %r12 = arith.remsi %a, %b : vector<16xi32>
    %r13 = arith.xori %a, %b : vector<16xi32>
    vector.store %r0, %o[%c0, %c0] : memref<14x16xi32>, vector<16xi32>
    vector.store %r1, %o[%c1, %c0] : memref<14x16xi32>, vector<16xi32>
    vector.store %r2, %o[%c2, %c0] : memref<14x16xi32>, vector<16xi32>
    vector.store %r3, %o[%c3, %c0] : memref<14x16xi32>, vector<16xi32>
    vector.store %r4, %o[%c4, %c0] : memref<14x16xi32>, vector<16xi32>
    vector.store %r5, %o[%c5, %c0] : memref<14x16xi32>, vector<16xi32>
    vector.store %r6, %o[%c6, %c0] : memref<14x16xi32>, vector<16xi32>
    vector.store %r7, %o[%c7, %c0] : memref<14x16xi32>, vector<16xi32>
    vector.store %r8, %o[%c8, %c0] : memref<14x16xi32>, vector<16xi32>
    vector.store %r9, %o[%c9, %c0] : memref<14x16xi32>, vector<16xi32>
    vector.store %r10, %o[%c10, %c0] : memref<14x16xi32>, vector<16xi32>
    vector.store %r11, %o[%c11, %c0] : memref<14x16xi32>, vector<16xi32>
    vector.store %r12, %o[%c12, %c0] : memref<14x16xi32>, vector<16xi32>
    vector.store %r13, %o[%c13, %c0] : memref<14x16xi32>, vector<16xi32>
    %tr = arith.trunci %r2 : vector<16xi32> to vector<16xi16>
    vector.store %tr, %h[%j] : memref<64xi16>, vector<16xi16>
    %sum = vector.reduction <add>, %r2 : vector<16xi32> into i32
    %top = vector.reduction <maxsi>, %a, %sum : vector<16xi32> into i32
    memref.store %top, %y[%t] : memref<64xi32>
  }
  %f = affine.apply affine_map<(d0)[s0] -> (d0 floordiv 3 + s0 * 5 + 2)>(%n)[%k]
  %g = affine.apply affine_map<(d0) -> (d0 mod 4 + d0 ceildiv 5)>(%n)
  %h4 = affine.apply affine_map<(d0) -> ((d0 * 8 + 12) floordiv 4 + (d0 * 6 + 3) mod 6)>(%n)
  %h5 = affine.apply affine_map<(d0) -> (d0 mod 5 + d0 floordiv 4)>(%n)
  %lo2 = affine.min affine_map<(d0, d1) -> (d0, d1 + 4, 5)>(%n, %k)
  %hi2 = affine.max affine_map<(d0, d1) -> (d0, d1 + 4)>(%n, %k)
  %i0 = arith.index_cast %f : index to i64
  %i1 = arith.index_cast %g : index to i64
  %i2 = arith.index_cast %h4 : index to i64
  %i3 = arith.index_cast %lo2 : index to i64
  %i4 = arith.index_cast %hi2 : index to i64
  %i5 = arith.index_cast %h5 : index to i64
  memref.store %i0, %idx[%c0] : memref<16xi64>
  memref.store %i1, %idx[%c1] : memref<16xi64>
  memref.store %i2, %idx[%c2] : memref<16xi64>
  memref.store %i3, %idx[%c3] : memref<16xi64>
  memref.store %i4, %idx[%c4] : memref<16xi64>
  memref.store %i5, %idx[%c5] : memref<16xi64>
  return
}

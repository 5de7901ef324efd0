// Minimum and maximum of signed zeros, NaN, infinities and ordinary numbers, as vectors and scalars.
// tiles: 0 12
func.func @min_max(%n: memref<12xf32>, %o: memref<8x12x12xf32>, %r: memref<4x12xf32>, %begin: index, %end: index) attributes {ingot.kernel} {
  %c0 = arith.constant 0 : index
  %c1 = arith.constant 1 : index
  %c2 = arith.constant 2 : index
  %c3 = arith.constant 3 : index
  %c4 = arith.constant 4 : index
  %c5 = arith.constant 5 : index
  %c6 = arith.constant 6 : index
  %c7 = arith.constant 7 : index
  %c12 = arith.constant 12 : index
  %v = arith.constant dense<[0.0, -0.0, 0x7FC00000, 0xFFC00000, 0x7F800000, 0xFF800000, 1.0, -1.0, 2.5, -2.5, 1.0e-40, -1.0e-40]> : vector<12xf32>
  %random = vector.load %n[%c0] : memref<12xf32>, vector<12xf32>
  scf.for %i = %begin to %end step %c1 {
    %s = vector.extract %v[%i] : f32 from vector<12xf32>
    %b = vector.broadcast %s : f32 to vector<12xf32>
    %0 = arith.maximumf %v, %b : vector<12xf32>
    %1 = arith.minimumf %v, %b : vector<12xf32>
    %2 = arith.maxnumf %v, %b : vector<12xf32>
    %3 = arith.minnumf %v, %b : vector<12xf32>
    vector.store %0, %o[%c0, %i, %c0] : memref<8x12x12xf32>, vector<12xf32>
    vector.store %1, %o[%c1, %i, %c0] : memref<8x12x12xf32>, vector<12xf32>
    vector.store %2, %o[%c2, %i, %c0] : memref<8x12x12xf32>, vector<12xf32>
    vector.store %3, %o[%c3, %i, %c0] : memref<8x12x12xf32>, vector<12xf32>
    scf.for %j = %c0 to %c12 step %c1 {
      %t = vector.extract %v[%j] : f32 from vector<12xf32>
      %4 = arith.maximumf %t, %s : f32
      %5 = arith.minimumf %t, %s : f32
      %6 = arith.maxnumf %t, %s : f32
      %7 = arith.minnumf %t, %s : f32
      memref.store %4, %o[%c4, %i, %j] : memref<8x12x12xf32>
      memref.store %5, %o[%c5, %i, %j] : memref<8x12x12xf32>
      memref.store %6, %o[%c6, %i, %j] : memref<8x12x12xf32>
      memref.store %7, %o[%c7, %i, %j] : memref<8x12x12xf32>
    }
    %m = vector.insert %s, %random [3] : f32 into vector<12xf32>
    %first = vector.shuffle %m, %m [0, 1, 2, 3, 4, 5, 6, 7] : vector<12xf32>, vector<12xf32>
    %8 = vector.reduction <maximumf>, %first : vector<8xf32> into f32
    %9 = vector.reduction <minimumf>, %first, %s : vector<8xf32> into f32
    %10 = vector.reduction <maxnumf>, %first : vector<8xf32> into f32
    %11 = vector.reduction <minnumf>, %m : vector<12xf32> into f32
    memref.store %8, %r[%c0, %i] : memref<4x12xf32>
    memref.store %9, %r[%c1, %i] : memref<4x12xf32>
    memref.store %10, %r[%c2, %i] : memref<4x12xf32>
    memref.store %11, %r[%c3, %i] : memref<4x12xf32>
  }
  return
}

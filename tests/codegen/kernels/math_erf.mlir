// math.erf on vectors of 16, 8 and 4 lanes and on scalars, against the C library.
// ulp: 4
// tiles: 0 16
func.func @math_erf(%x: memref<16x16xf32>, %o: memref<4x16x16xf32>, %begin: index, %end: index) attributes {ingot.kernel} {
  %c0 = arith.constant 0 : index
  %c1 = arith.constant 1 : index
  %c2 = arith.constant 2 : index
  %c3 = arith.constant 3 : index
  scf.for %t = %begin to %end step %c1 {
    %a = vector.load %x[%t, %c0] : memref<16x16xf32>, vector<16xf32>
    %r = math.erf %a : vector<16xf32>
    vector.store %r, %o[%c0, %t, %c0] : memref<4x16x16xf32>, vector<16xf32>
    %b = vector.load %x[%t, %c0] : memref<16x16xf32>, vector<8xf32>
    %s = math.erf %b : vector<8xf32>
    vector.store %s, %o[%c1, %t, %c0] : memref<4x16x16xf32>, vector<8xf32>
    %c = vector.load %x[%t, %c0] : memref<16x16xf32>, vector<4xf32>
    %u = math.erf %c : vector<4xf32>
    vector.store %u, %o[%c2, %t, %c0] : memref<4x16x16xf32>, vector<4xf32>
    %d = memref.load %x[%t, %c0] : memref<16x16xf32>
    %v = math.erf %d : f32
    memref.store %v, %o[%c3, %t, %c0] : memref<4x16x16xf32>
  }
  return
}

// Scalar and vector float arithmetic, compares, selects, fma, exact math.
// scalars: 5
// tiles: 0 4
func.func @arith_f32(%x: memref<64xf32>, %y: memref<64xf32>, %o: memref<13x64xf32>, %s: memref<8xf32>, %n: index, %begin: index, %end: index) attributes {ingot.kernel} {
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
  %c16 = arith.constant 16 : index
  %zero = arith.constant dense<0.000000e+00> : vector<16xf32>
  %fz = arith.constant 0.000000e+00 : f32
  scf.for %t = %begin to %end step %c1 {
    %j = arith.muli %t, %c16 : index
    %a = vector.load %x[%j] : memref<64xf32>, vector<16xf32>
    %b = vector.load %y[%j] : memref<64xf32>, vector<16xf32>
    %r0 = arith.addf %a, %b : vector<16xf32>
    %r1 = arith.subf %a, %b : vector<16xf32>
    %r2 = arith.mulf %a, %b : vector<16xf32>
    %r3 = arith.divf %a, %b : vector<16xf32>
    %r4 = arith.maximumf %a, %b : vector<16xf32>
    %r5 = arith.minimumf %a, %b : vector<16xf32>
    %r6 = vector.fma %a, %b, %r0 : vector<16xf32>
    %m = arith.cmpf ogt, %a, %zero : vector<16xf32>
    %r7 = arith.select %m, %a, %b : vector<16xi1>, vector<16xf32>
    %abs = math.absf %a : vector<16xf32>
    %r8 = math.rsqrt %abs : vector<16xf32>
    %r9 = math.roundeven %r6 : vector<16xf32>
    %r10 = math.floor %r6 : vector<16xf32>
    %r11 = math.ceil %r6 : vector<16xf32>
    %neg = arith.negf %a : vector<16xf32>
    %r12 = arith.maxnumf %neg, %b : vector<16xf32>
    vector.store %r0, %o[%c0, %j] : memref<13x64xf32>, vector<16xf32>
    vector.store %r1, %o[%c1, %j] : memref<13x64xf32>, vector<16xf32>
    vector.store %r2, %o[%c2, %j] : memref<13x64xf32>, vector<16xf32>
    vector.store %r3, %o[%c3, %j] : memref<13x64xf32>, vector<16xf32>
    vector.store %r4, %o[%c4, %j] : memref<13x64xf32>, vector<16xf32>
    vector.store %r5, %o[%c5, %j] : memref<13x64xf32>, vector<16xf32>
    vector.store %r6, %o[%c6, %j] : memref<13x64xf32>, vector<16xf32>
    vector.store %r7, %o[%c7, %j] : memref<13x64xf32>, vector<16xf32>
    vector.store %r8, %o[%c8, %j] : memref<13x64xf32>, vector<16xf32>
    vector.store %r9, %o[%c9, %j] : memref<13x64xf32>, vector<16xf32>
    vector.store %r10, %o[%c10, %j] : memref<13x64xf32>, vector<16xf32>
    vector.store %r11, %o[%c11, %j] : memref<13x64xf32>, vector<16xf32>
    vector.store %r12, %o[%c12, %j] : memref<13x64xf32>, vector<16xf32>
    %u = memref.load %x[%t] : memref<64xf32>
    %v = memref.load %y[%t] : memref<64xf32>
    %p = arith.mulf %u, %v : f32
    %q = math.fma %u, %v, %p : f32
    %lt = arith.cmpf olt, %q, %fz : f32
    %w = scf.if %lt -> (f32) {
      %e = math.sqrt %abs : vector<16xf32>
      %f = vector.extract %e[3] : f32 from vector<16xf32>
      scf.yield %f : f32
    } else {
      scf.yield %q : f32
    }
    memref.store %w, %s[%t] : memref<8xf32>
  }
  %nf0 = arith.index_cast %n : index to i32
  %nf = arith.sitofp %nf0 : i32 to f32
  memref.store %nf, %s[%c4] : memref<8xf32>
  return
}

// Nested loops with carried vectors and scalars, loops that run no round, branches with results.
// scalars: 0 37
// tiles: 0 3
func.func @loops(%x: memref<40x32xf32>, %o: memref<3x32xf32>, %s: memref<16xf32>, %zero: index, %rows: index, %begin: index, %end: index) attributes {ingot.kernel} {
  %c0 = arith.constant 0 : index
  %c1 = arith.constant 1 : index
  %c2 = arith.constant 2 : index
  %c8 = arith.constant 8 : index
  %c32 = arith.constant 32 : index
  %vz = arith.constant dense<0.000000e+00> : vector<8xf32>
  %fz = arith.constant 0.000000e+00 : f32
  scf.for %t = %begin to %end step %c1 {
    scf.for %j = %c0 to %c32 step %c8 {
      %a:2 = scf.for %i = %t to %rows step %c2 iter_args(%acc = %vz, %count = %c0) -> (vector<8xf32>, index) {
        %v = vector.load %x[%i, %j] : memref<40x32xf32>, vector<8xf32>
        %n = vector.fma %v, %v, %acc : vector<8xf32>
        %m = arith.addi %count, %c1 : index
        scf.yield %n, %m : vector<8xf32>, index
      }
      vector.store %a#0, %o[%t, %j] : memref<3x32xf32>, vector<8xf32>
      %ci = arith.index_cast %a#1 : index to i32
      %cf = arith.sitofp %ci : i32 to f32
      memref.store %cf, %s[%t] : memref<16xf32>
    }
    %none = scf.for %i = %c0 to %zero step %c1 iter_args(%q = %fz) -> (f32) {
      %bad = memref.load %x[%i, %c0] : memref<40x32xf32>
      scf.yield %bad : f32
    }
    %is2 = arith.cmpi eq, %t, %c2 : index
    %w = scf.if %is2 -> (f32) {
      %y = affine.for %k = 0 to 5 iter_args(%z = %none) -> (f32) {
        %e = affine.load %x[%k * 3 + 1, %k + 7] : memref<40x32xf32>
        %g = arith.addf %e, %z : f32
        affine.yield %g : f32
      }
      scf.yield %y : f32
    } else {
      %e = memref.load %x[%t, %c8] : memref<40x32xf32>
      scf.yield %e : f32
    }
    scf.if %is2 {
      memref.store %w, %s[%c8] : memref<16xf32>
    }
    %at = arith.addi %t, %c8 : index
    %at2 = arith.addi %at, %c2 : index
    memref.store %w, %s[%at2] : memref<16xf32>
    affine.for %k = max affine_map<()[s0] -> (s0 - 36, 0)>()[%rows] to min affine_map<()[s0] -> (s0, 4)>()[%rows] {
      %e = affine.vector_load %x[%k, 16] : memref<40x32xf32>, vector<8xf32>
      affine.vector_store %e, %o[0, 8] : memref<3x32xf32>, vector<8xf32>
    }
  }
  return
}

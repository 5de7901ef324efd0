// Masked accesses, transfers that reach over the edge, tails of a run-time length.
// scalars: 13 5
// tiles: 0 2
func.func @masks(%x: memref<29xf32>, %y: memref<3x21xf32>, %o: memref<6x16xf32>, %b: memref<29xi8>, %q: memref<5x7xi32>, %n: index, %k: index, %begin: index, %end: index) attributes {ingot.kernel} {
  %c0 = arith.constant 0 : index
  %c1 = arith.constant 1 : index
  %c2 = arith.constant 2 : index
  %c3 = arith.constant 3 : index
  %c4 = arith.constant 4 : index
  %c16 = arith.constant 16 : index
  %fz = arith.constant 0.000000e+00 : f32
  %one = arith.constant 1.000000e+00 : f32
  %iz = arith.constant 7 : i32
  %bz = arith.constant 3 : i8
  %vo = arith.constant dense<1.000000e+00> : vector<16xf32>
  scf.for %t = %begin to %end step %c1 {
    %m = vector.create_mask %n : vector<16xi1>
    %a = vector.maskedload %x[%c2], %m, %vo : memref<29xf32>, vector<16xi1>, vector<16xf32> into vector<16xf32>
    vector.store %a, %o[%c0, %c0] : memref<6x16xf32>, vector<16xf32>
    %mk = vector.create_mask %k : vector<16xi1>
    vector.maskedstore %o[%c1, %c0], %mk, %a : memref<6x16xf32>, vector<16xi1>, vector<16xf32>
    %j = arith.muli %t, %c16 : index
    %e = vector.transfer_read %x[%j], %one : memref<29xf32>, vector<16xf32>
    vector.transfer_write %e, %o[%c2, %c0] {in_bounds = [true]} : vector<16xf32>, memref<6x16xf32>
    %r = vector.transfer_read %y[%t, %k], %fz : memref<3x21xf32>, vector<3x16xf32>
    %r0 = vector.extract %r[0] : vector<16xf32> from vector<3x16xf32>
    %r2 = vector.extract %r[2] : vector<16xf32> from vector<3x16xf32>
    vector.store %r0, %o[%c3, %c0] : memref<6x16xf32>, vector<16xf32>
    vector.store %r2, %o[%c4, %c0] : memref<6x16xf32>, vector<16xf32>
    %i8s = vector.transfer_read %b[%j], %bz : memref<29xi8>, vector<16xi8>
    %inc = arith.addi %i8s, %i8s : vector<16xi8>
    vector.transfer_write %inc, %b[%j] : vector<16xi8>, memref<29xi8>
    %w = vector.transfer_read %q[%t, %c3], %iz {in_bounds = [true, false]} : memref<5x7xi32>, vector<2x8xi32>
    vector.transfer_write %w, %q[%k, %c1] : vector<2x8xi32>, memref<5x7xi32>
    vector.transfer_write %w, %q[%c2, %c2] {in_bounds = [true, false]} : vector<2x8xi32>, memref<5x7xi32>
    %m2 = vector.create_mask %c1, %k : vector<2x7xi1>
    %g = vector.transfer_read %q[%c0, %c0], %iz, %m2 {in_bounds = [true, true]} : memref<5x7xi32>, vector<2x7xi32>
    vector.transfer_write %g, %q[%c3, %c0] {in_bounds = [true, true]} : vector<2x7xi32>, memref<5x7xi32>
  }
  return
}

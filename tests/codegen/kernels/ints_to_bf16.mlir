// Integers of more than 24 bits become bf16 through f32: two roundings, wherever they are done.
// tiles: 0 4
func.func @ints_to_bf16(%x: memref<64xi32>, %y: memref<64xi64>, %a: memref<64xbf16>, %b: memref<64xbf16>, %s: memref<4xbf16>, %begin: index, %end: index) attributes {ingot.kernel} {
  %c1 = arith.constant 1 : index
  %c16 = arith.constant 16 : index
  scf.for %t = %begin to %end step %c1 {
    %j = arith.muli %t, %c16 : index
    %v = vector.load %x[%j] : memref<64xi32>, vector<16xi32>
    %vf = arith.sitofp %v : vector<16xi32> to vector<16xbf16>
    vector.store %vf, %a[%j] : memref<64xbf16>, vector<16xbf16>
    %w = vector.load %y[%j] : memref<64xi64>, vector<16xi64>
    %wf = arith.uitofp %w : vector<16xi64> to vector<16xbf16>
    vector.store %wf, %b[%j] : memref<64xbf16>, vector<16xbf16>
    %l = memref.load %y[%j] : memref<64xi64>
    %lf = arith.sitofp %l : i64 to bf16
    memref.store %lf, %s[%t] : memref<4xbf16>
  }
  return
}

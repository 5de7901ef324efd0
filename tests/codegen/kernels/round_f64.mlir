// f64 rounded to 16 bits in vectors and scalars: products of two numbers, which have more digits than f32.
// tiles: 0 4
func.func @round_f64(%x: memref<64xf64>, %h: memref<64xf16>, %b: memref<64xbf16>, %hs: memref<4xf16>, %bs: memref<4xbf16>, %begin: index, %end: index) attributes {ingot.kernel} {
  %c1 = arith.constant 1 : index
  %c16 = arith.constant 16 : index
  scf.for %t = %begin to %end step %c1 {
    %j = arith.muli %t, %c16 : index
    %v = vector.load %x[%j] : memref<64xf64>, vector<16xf64>
    %p = arith.mulf %v, %v : vector<16xf64>
    %ph = arith.truncf %p : vector<16xf64> to vector<16xf16>
    %pb = arith.truncf %p : vector<16xf64> to vector<16xbf16>
    vector.store %ph, %h[%j] : memref<64xf16>, vector<16xf16>
    vector.store %pb, %b[%j] : memref<64xbf16>, vector<16xbf16>
    %s = memref.load %x[%j] : memref<64xf64>
    %q = arith.mulf %s, %s : f64
    %n = arith.negf %q : f64
    %nh = arith.truncf %n : f64 to f16
    %nb = arith.truncf %n : f64 to bf16
    memref.store %nh, %hs[%t] : memref<4xf16>
    memref.store %nb, %bs[%t] : memref<4xbf16>
  }
  return
}

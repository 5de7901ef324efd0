// f16 and bf16: loads, widening, rounding, arithmetic that rounds after every op.
// tiles: 0 4
func.func @small_floats(%h: memref<64xf16>, %b: memref<64xbf16>, %f: memref<64xf32>, %o: memref<4x64xf32>, %oh: memref<3x64xf16>, %ob: memref<3x64xbf16>, %begin: index, %end: index) attributes {ingot.kernel} {
  %c0 = arith.constant 0 : index
  %c1 = arith.constant 1 : index
  %c2 = arith.constant 2 : index
  %c16 = arith.constant 16 : index
  %half = arith.constant 5.000000e-01 : bf16
  %vb = arith.constant dense<1.500000e+00> : vector<16xbf16>
  scf.for %t = %begin to %end step %c1 {
    %j = arith.muli %t, %c16 : index
    %vh = vector.load %h[%j] : memref<64xf16>, vector<16xf16>
    %vx = vector.load %b[%j] : memref<64xbf16>, vector<16xbf16>
    %vf = vector.load %f[%j] : memref<64xf32>, vector<16xf32>
    %wh = arith.extf %vh : vector<16xf16> to vector<16xf32>
    %wb = arith.extf %vx : vector<16xbf16> to vector<16xf32>
    vector.store %wh, %o[%c0, %j] : memref<4x64xf32>, vector<16xf32>
    vector.store %wb, %o[%c1, %j] : memref<4x64xf32>, vector<16xf32>
    %p = arith.mulf %vf, %vf : vector<16xf32>
    %th = arith.truncf %p : vector<16xf32> to vector<16xf16>
    %tb = arith.truncf %p : vector<16xf32> to vector<16xbf16>
    vector.store %th, %oh[%c0, %j] : memref<3x64xf16>, vector<16xf16>
    vector.store %tb, %ob[%c0, %j] : memref<3x64xbf16>, vector<16xbf16>
    %ah = arith.addf %vh, %th : vector<16xf16>
    %mh = arith.mulf %ah, %vh : vector<16xf16>
    %dh = arith.divf %mh, %th : vector<16xf16>
    vector.store %ah, %oh[%c1, %j] : memref<3x64xf16>, vector<16xf16>
    vector.store %dh, %oh[%c2, %j] : memref<3x64xf16>, vector<16xf16>
    %ab = arith.addf %vx, %vb : vector<16xbf16>
    %mb = arith.mulf %ab, %vx : vector<16xbf16>
    vector.store %ab, %ob[%c1, %j] : memref<3x64xbf16>, vector<16xbf16>
    vector.store %mb, %ob[%c2, %j] : memref<3x64xbf16>, vector<16xbf16>
    %s = memref.load %b[%t] : memref<64xbf16>
    %sm = arith.mulf %s, %half : bf16
    %sf = arith.extf %sm : bf16 to f32
    memref.store %sf, %o[%c2, %t] : memref<4x64xf32>
    %sh = memref.load %h[%t] : memref<64xf16>
    %shf = arith.extf %sh : f16 to f32
    memref.store %shf, %f[%t] : memref<64xf32>
  }
  return
}

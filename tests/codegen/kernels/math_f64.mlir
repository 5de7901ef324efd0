// math ops of f64 on vectors of 16, 4 and 2 lanes and on scalars, against the C library.
// ulp: 4
// tiles: 0 16
func.func @math_f64(%x: memref<16x16xf64>, %o: memref<24x16x16xf64>, %begin: index, %end: index) attributes {ingot.kernel} {
  %c0 = arith.constant 0 : index
  %c1 = arith.constant 1 : index
  %i2 = arith.constant 2 : index
  %i3 = arith.constant 3 : index
  %i4 = arith.constant 4 : index
  %i5 = arith.constant 5 : index
  %i6 = arith.constant 6 : index
  %i7 = arith.constant 7 : index
  %i8 = arith.constant 8 : index
  %i9 = arith.constant 9 : index
  %i10 = arith.constant 10 : index
  %i11 = arith.constant 11 : index
  %i12 = arith.constant 12 : index
  %i13 = arith.constant 13 : index
  %i14 = arith.constant 14 : index
  %i15 = arith.constant 15 : index
  %i16 = arith.constant 16 : index
  %i17 = arith.constant 17 : index
  %i18 = arith.constant 18 : index
  %i19 = arith.constant 19 : index
  %i20 = arith.constant 20 : index
  %i21 = arith.constant 21 : index
  %i22 = arith.constant 22 : index
  %i23 = arith.constant 23 : index
  scf.for %t = %begin to %end step %c1 {
    %a = vector.load %x[%t, %c0] : memref<16x16xf64>, vector<16xf64>
    %b = vector.load %x[%t, %c0] : memref<16x16xf64>, vector<4xf64>
    %c = vector.load %x[%t, %c0] : memref<16x16xf64>, vector<2xf64>
    %d = memref.load %x[%t, %c0] : memref<16x16xf64>
    %expa = math.exp %a : vector<16xf64>
    vector.store %expa, %o[%c0, %t, %c0] : memref<24x16x16xf64>, vector<16xf64>
    %expb = math.exp %b : vector<4xf64>
    vector.store %expb, %o[%c1, %t, %c0] : memref<24x16x16xf64>, vector<4xf64>
    %expc = math.exp %c : vector<2xf64>
    vector.store %expc, %o[%i2, %t, %c0] : memref<24x16x16xf64>, vector<2xf64>
    %expd = math.exp %d : f64
    memref.store %expd, %o[%i3, %t, %c0] : memref<24x16x16xf64>
    %loga = math.log %a : vector<16xf64>
    vector.store %loga, %o[%i4, %t, %c0] : memref<24x16x16xf64>, vector<16xf64>
    %logb = math.log %b : vector<4xf64>
    vector.store %logb, %o[%i5, %t, %c0] : memref<24x16x16xf64>, vector<4xf64>
    %logc = math.log %c : vector<2xf64>
    vector.store %logc, %o[%i6, %t, %c0] : memref<24x16x16xf64>, vector<2xf64>
    %logd = math.log %d : f64
    memref.store %logd, %o[%i7, %t, %c0] : memref<24x16x16xf64>
    %tanha = math.tanh %a : vector<16xf64>
    vector.store %tanha, %o[%i8, %t, %c0] : memref<24x16x16xf64>, vector<16xf64>
    %tanhb = math.tanh %b : vector<4xf64>
    vector.store %tanhb, %o[%i9, %t, %c0] : memref<24x16x16xf64>, vector<4xf64>
    %tanhc = math.tanh %c : vector<2xf64>
    vector.store %tanhc, %o[%i10, %t, %c0] : memref<24x16x16xf64>, vector<2xf64>
    %tanhd = math.tanh %d : f64
    memref.store %tanhd, %o[%i11, %t, %c0] : memref<24x16x16xf64>
    %erfa = math.erf %a : vector<16xf64>
    vector.store %erfa, %o[%i12, %t, %c0] : memref<24x16x16xf64>, vector<16xf64>
    %erfb = math.erf %b : vector<4xf64>
    vector.store %erfb, %o[%i13, %t, %c0] : memref<24x16x16xf64>, vector<4xf64>
    %erfc = math.erf %c : vector<2xf64>
    vector.store %erfc, %o[%i14, %t, %c0] : memref<24x16x16xf64>, vector<2xf64>
    %erfd = math.erf %d : f64
    memref.store %erfd, %o[%i15, %t, %c0] : memref<24x16x16xf64>
    %sina = math.sin %a : vector<16xf64>
    vector.store %sina, %o[%i16, %t, %c0] : memref<24x16x16xf64>, vector<16xf64>
    %sinb = math.sin %b : vector<4xf64>
    vector.store %sinb, %o[%i17, %t, %c0] : memref<24x16x16xf64>, vector<4xf64>
    %sinc = math.sin %c : vector<2xf64>
    vector.store %sinc, %o[%i18, %t, %c0] : memref<24x16x16xf64>, vector<2xf64>
    %sind = math.sin %d : f64
    memref.store %sind, %o[%i19, %t, %c0] : memref<24x16x16xf64>
    %cosa = math.cos %a : vector<16xf64>
    vector.store %cosa, %o[%i20, %t, %c0] : memref<24x16x16xf64>, vector<16xf64>
    %cosb = math.cos %b : vector<4xf64>
    vector.store %cosb, %o[%i21, %t, %c0] : memref<24x16x16xf64>, vector<4xf64>
    %cosc = math.cos %c : vector<2xf64>
    vector.store %cosc, %o[%i22, %t, %c0] : memref<24x16x16xf64>, vector<2xf64>
    %cosd = math.cos %d : f64
    memref.store %cosd, %o[%i23, %t, %c0] : memref<24x16x16xf64>
  }
  return
}

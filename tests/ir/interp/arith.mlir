// integers wrap; unsigned and signed operations differ
func.func private @printMemrefI32(memref<*xi32>)
func.func @main() {
  %a = arith.constant dense<[2147483647, -8, 7, -1]> : vector<4xi32>
  %b = arith.constant dense<[1, 3, -2, 2]> : vector<4xi32>
  %m = memref.alloc() : memref<12x4xi32>
  %add = arith.addi %a, %b : vector<4xi32>
  %sub = arith.subi %a, %b : vector<4xi32>
  %mul = arith.muli %a, %b : vector<4xi32>
  %divs = arith.divsi %a, %b : vector<4xi32>
  %divu = arith.divui %a, %b : vector<4xi32>
  %rems = arith.remsi %a, %b : vector<4xi32>
  %remu = arith.remui %a, %b : vector<4xi32>
  %mins = arith.minsi %a, %b : vector<4xi32>
  %maxu = arith.maxui %a, %b : vector<4xi32>
  %c = arith.constant dense<[1, 2, 31, 4]> : vector<4xi32>
  %shl = arith.shli %a, %c : vector<4xi32>
  %shrs = arith.shrsi %a, %c : vector<4xi32>
  %shru = arith.shrui %a, %c : vector<4xi32>
  affine.vector_store %add, %m[0, 0] : memref<12x4xi32>, vector<4xi32>
  affine.vector_store %sub, %m[1, 0] : memref<12x4xi32>, vector<4xi32>
  affine.vector_store %mul, %m[2, 0] : memref<12x4xi32>, vector<4xi32>
  affine.vector_store %divs, %m[3, 0] : memref<12x4xi32>, vector<4xi32>
  affine.vector_store %divu, %m[4, 0] : memref<12x4xi32>, vector<4xi32>
  affine.vector_store %rems, %m[5, 0] : memref<12x4xi32>, vector<4xi32>
  affine.vector_store %remu, %m[6, 0] : memref<12x4xi32>, vector<4xi32>
  affine.vector_store %mins, %m[7, 0] : memref<12x4xi32>, vector<4xi32>
  affine.vector_store %maxu, %m[8, 0] : memref<12x4xi32>, vector<4xi32>
  affine.vector_store %shl, %m[9, 0] : memref<12x4xi32>, vector<4xi32>
  affine.vector_store %shrs, %m[10, 0] : memref<12x4xi32>, vector<4xi32>
  affine.vector_store %shru, %m[11, 0] : memref<12x4xi32>, vector<4xi32>
  %u = memref.cast %m : memref<12x4xi32> to memref<*xi32>
  func.call @printMemrefI32(%u) : (memref<*xi32>) -> ()
  return
}
// out: Unranked Memref base@ = 0x0 rank = 2 offset = 0 sizes = [12, 4] strides = [4, 1] data =
// out: [[-2147483648,   -5,   5,   1],
// out:  [2147483646,   -11,   9,   -3],
// out:  [2147483647,   -24,   -14,   -2],
// out:  [2147483647,   -2,   -3,   0],
// out:  [2147483647,   1431655762,   0,   2147483647],
// out:  [0,   -2,   1,   -1],
// out:  [0,   2,   7,   1],
// out:  [1,   -8,   -2,   -1],
// out:  [2147483647,   -8,   -2,   -1],
// out:  [-2,   -32,   -2147483648,   -16],
// out:  [1073741823,   -2,   0,   -1],
// out:  [1073741823,   1073741822,   0,   268435455]]
// -----
// minimum and maximum: NaN, signed zeros; bit patterns printed
func.func private @printMemrefI32(memref<*xi32>)
func.func @main() {
  %a = arith.constant dense<[0x80000000, 0x7FC00000, 1.0, 2.0]> : vector<4xf32>
  %b = arith.constant dense<[0x00000000, 0x3F800000, -1.0, 5.0]> : vector<4xf32>
  %m = memref.alloc() : memref<4x4xi32>
  %0 = arith.maximumf %a, %b : vector<4xf32>
  %1 = arith.minimumf %a, %b : vector<4xf32>
  %2 = arith.maxnumf %a, %b : vector<4xf32>
  %3 = arith.cmpf ult, %a, %b : vector<4xf32>
  %i0 = arith.bitcast %0 : vector<4xf32> to vector<4xi32>
  %i1 = arith.bitcast %1 : vector<4xf32> to vector<4xi32>
  %i2 = arith.bitcast %2 : vector<4xf32> to vector<4xi32>
  %i3 = arith.extui %3 : vector<4xi1> to vector<4xi32>
  affine.vector_store %i0, %m[0, 0] : memref<4x4xi32>, vector<4xi32>
  affine.vector_store %i1, %m[1, 0] : memref<4x4xi32>, vector<4xi32>
  affine.vector_store %i2, %m[2, 0] : memref<4x4xi32>, vector<4xi32>
  affine.vector_store %i3, %m[3, 0] : memref<4x4xi32>, vector<4xi32>
  %u = memref.cast %m : memref<4x4xi32> to memref<*xi32>
  func.call @printMemrefI32(%u) : (memref<*xi32>) -> ()
  return
}
// out: Unranked Memref base@ = 0x0 rank = 2 offset = 0 sizes = [4, 4] strides = [4, 1] data =
// out: [[0,   2143289344,   1065353216,   1084227584],
// out:  [-2147483648,   2143289344,   -1082130432,   1073741824],
// out:  [0,   1065353216,   1065353216,   1084227584],
// out:  [0,   1,   0,   1]]
// -----
// rounding of f32 to f16 and bf16, and of integers
func.func private @printMemrefI32(memref<*xi32>)
func.func @main() {
  %a = arith.constant dense<[65519.0, 65520.0, 2.98023224E-8, 1.00048828125]> : vector<4xf32>
  %m = memref.alloc() : memref<4x4xi32>
  %0 = arith.truncf %a : vector<4xf32> to vector<4xf16>
  %1 = arith.bitcast %0 : vector<4xf16> to vector<4xi16>
  %2 = arith.extui %1 : vector<4xi16> to vector<4xi32>
  affine.vector_store %2, %m[0, 0] : memref<4x4xi32>, vector<4xi32>
  %b = arith.constant dense<[0x3F808000, 0x3F818000, 0x7F7FFFFF, 0x3F808001]> : vector<4xf32>
  %3 = arith.truncf %b : vector<4xf32> to vector<4xbf16>
  %4 = arith.bitcast %3 : vector<4xbf16> to vector<4xi16>
  %5 = arith.extui %4 : vector<4xi16> to vector<4xi32>
  affine.vector_store %5, %m[1, 0] : memref<4x4xi32>, vector<4xi32>
  %c = arith.constant dense<[16777217, -16777219, -1, 7]> : vector<4xi32>
  %6 = arith.sitofp %c : vector<4xi32> to vector<4xf32>
  %7 = arith.fptosi %6 : vector<4xf32> to vector<4xi32>
  affine.vector_store %7, %m[2, 0] : memref<4x4xi32>, vector<4xi32>
  %8 = arith.uitofp %c : vector<4xi32> to vector<4xf32>
  %9 = arith.bitcast %8 : vector<4xf32> to vector<4xi32>
  affine.vector_store %9, %m[3, 0] : memref<4x4xi32>, vector<4xi32>
  %u = memref.cast %m : memref<4x4xi32> to memref<*xi32>
  func.call @printMemrefI32(%u) : (memref<*xi32>) -> ()
  return
}
// out: Unranked Memref base@ = 0x0 rank = 2 offset = 0 sizes = [4, 4] strides = [4, 1] data =
// out: [[31743,   31744,   0,   15360],
// out:  [16256,   16258,   32640,   16257],
// out:  [16777216,   -16777220,   -1,   7],
// out:  [1266679808,   1333723136,   1333788672,   1088421888]]

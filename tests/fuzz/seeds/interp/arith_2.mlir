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

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

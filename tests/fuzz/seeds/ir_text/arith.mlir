// arith
func.func @f(%x: f32, %i: i32, %n: index, %v: vector<8xf32>, %b: vector<8xi1>, %t: i1) {
  %0 = arith.addf %x, %x fastmath<contract,reassoc> : f32
  %1 = arith.negf %0 : f32
  %2 = arith.cmpf oge, %0, %1 fastmath<fast> : f32
  %3 = arith.cmpi ult, %i, %i : i32
  %4 = arith.select %t, %0, %1 : f32
  %5 = arith.select %b, %v, %v : vector<8xi1>, vector<8xf32>
  %6 = arith.addi %i, %i overflow<nuw, nsw> : i32
  %7 = arith.divsi %i, %i : i32
  %8 = arith.shrsi %i, %i exact : i32
  %9 = arith.trunci %i overflow<nsw> : i32 to i8
  %10 = arith.truncf %x to_nearest_even : f32 to f16
  %11 = arith.extf %10 : f16 to f32
  %12 = arith.index_castui %i : i32 to index
  %13 = arith.fptosi %x : f32 to i8
  %14 = math.fma %x, %x, %x : f32
  %15 = math.rsqrt %x fastmath<nnan> {ingot.tol = "ulp"} : f32
  %16 = arith.maxnumf %v, %v : vector<8xf32>
  %17 = arith.cmpf uno, %v, %v : vector<8xf32>
  return
}

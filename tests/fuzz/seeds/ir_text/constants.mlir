// constants
func.func @f() {
  %0 = arith.constant true
  %1 = arith.constant -1 : i8
  %2 = arith.constant 200 : i8
  %3 = arith.constant 0x7FC00000 : f32
  %4 = arith.constant 9.99999974E-6 : f32
  %5 = arith.constant 0xFC00 : f16
  %6 = arith.constant -2.5 : bf16
  %7 = arith.constant dense<[[1, -2], [3, 4]]> : tensor<2x2xi16>
  %8 = arith.constant dense<0.1> : vector<4xf64>
  %9 = arith.constant dense<"0x0000803F000000400000404000008040"> : tensor<4xf32>
  %10 = arith.constant dense<[true, false, true]> : tensor<3xi1>
  %11 = arith.constant dense<[1, -8, 7, 15]> : tensor<4xi4>
  %12 = arith.constant dense<> : tensor<0xf32>
  %13 = arith.constant dense<[5, 5, 5]> : tensor<3xindex>
  %14 = arith.constant dense<7> : tensor<i32>
  %15 = arith.constant {ingot.tol = "x"} 3 : index
  %16 = arith.constant dense<0xFC00> : tensor<4xf16>
  %17 = arith.constant 1.0 : f64
  %18 = arith.constant 123456792.0 : f32
  %19 = arith.constant 0xFFFFFFFFFFFFFFFF : f64
  return
}

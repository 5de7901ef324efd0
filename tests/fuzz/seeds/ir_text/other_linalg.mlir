// other_linalg
func.func @f(%a: tensor<8x64xf32>, %z: tensor<8xf32>, %i: tensor<8x64xi32>, %zi: tensor<8xi32>, %t: tensor<64x8xf32>, %x: f32) {
  %0 = linalg.fill ins(%x : f32) outs(%z : tensor<8xf32>) -> tensor<8xf32>
  %1 = linalg.softmax {ingot.tol = "x"} dimension(1) ins(%a : tensor<8x64xf32>) outs(%a : tensor<8x64xf32>) -> tensor<8x64xf32>
  %2 = linalg.reduce { arith.addf } ins(%a : tensor<8x64xf32>) outs(%z : tensor<8xf32>) dimensions = [1]
  %3 = linalg.reduce { arith.maxnumf {fastmath = #arith.fastmath<nnan>} } ins(%a : tensor<8x64xf32>) outs(%z : tensor<8xf32>) dimensions = [1] {ingot.tol = "x"}
  %4:2 = linalg.reduce ins(%a, %i : tensor<8x64xf32>, tensor<8x64xi32>) outs(%z, %zi : tensor<8xf32>, tensor<8xi32>) dimensions = [1]
    (%in: f32, %ii: i32, %acc: f32, %ai: i32) {
      %c = arith.cmpf ogt, %in, %acc : f32
      %5 = arith.select %c, %in, %acc : f32
      %6 = arith.select %c, %ii, %ai : i32
      linalg.yield %5, %6 : f32, i32
    }
  %7 = linalg.transpose ins(%a : tensor<8x64xf32>) outs(%t : tensor<64x8xf32>) permutation = [1, 0]
  %8 = linalg.broadcast ins(%z : tensor<8xf32>) outs(%a : tensor<8x64xf32>) dimensions = [1]
  %9 = linalg.copy ins(%a : tensor<8x64xf32>) outs(%a : tensor<8x64xf32>) -> tensor<8x64xf32>
  return
}

func.func private @printMemrefF32(tensor<*xf32>)
func.func @main() {
  %a = arith.constant dense<[[1, 2, 3], [4, 5, 6]]> : tensor<2x3xi8>
  %b = arith.constant dense<[10.0, 20.0]> : tensor<2xf32>
  %zero = arith.constant 0.0 : f32
  %e0 = tensor.empty() : tensor<2x3xf32>
  %c = linalg.copy ins(%a : tensor<2x3xi8>) outs(%e0 : tensor<2x3xf32>) -> tensor<2x3xf32>
  %e1 = tensor.empty() : tensor<3x2xf32>
  %t = linalg.transpose ins(%c : tensor<2x3xf32>) outs(%e1 : tensor<3x2xf32>) permutation = [1, 0]
  %u0 = tensor.cast %t : tensor<3x2xf32> to tensor<*xf32>
  func.call @printMemrefF32(%u0) : (tensor<*xf32>) -> ()
  %e2 = tensor.empty() : tensor<2x3xf32>
  %r = linalg.broadcast ins(%b : tensor<2xf32>) outs(%e2 : tensor<2x3xf32>) dimensions = [1]
  %u1 = tensor.cast %r : tensor<2x3xf32> to tensor<*xf32>
  func.call @printMemrefF32(%u1) : (tensor<*xf32>) -> ()
  %e3 = tensor.empty() : tensor<3xf32>
  %z = linalg.fill ins(%zero : f32) outs(%e3 : tensor<3xf32>) -> tensor<3xf32>
  %s = linalg.reduce { arith.addf } ins(%c : tensor<2x3xf32>) outs(%z : tensor<3xf32>) dimensions = [0]
  %u2 = tensor.cast %s : tensor<3xf32> to tensor<*xf32>
  func.call @printMemrefF32(%u2) : (tensor<*xf32>) -> ()
  return
}

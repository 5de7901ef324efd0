func.func private @printMemrefF32(tensor<*xf32>)
func.func @main() {
  %c1 = arith.constant 1 : index
  %z = arith.constant 3.0 : f32
  %e = tensor.empty() : tensor<2x4xf32>
  %t = tensor.insert %z into %e[%c1, %c1] : tensor<2x4xf32>
  %s = tensor.extract_slice %t[1, 0] [1, 4] [1, 1] : tensor<2x4xf32> to tensor<4xf32>
  %x = tensor.extract_slice %s[1] [1] [1] : tensor<4xf32> to tensor<1xf32>
  %u = tensor.cast %x : tensor<1xf32> to tensor<*xf32>
  func.call @printMemrefF32(%u) : (tensor<*xf32>) -> ()
  %y = tensor.cast %s : tensor<4xf32> to tensor<*xf32>
  func.call @printMemrefF32(%y) : (tensor<*xf32>) -> ()
  return
}

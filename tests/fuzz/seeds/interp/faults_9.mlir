func.func @main() {
  %e = tensor.empty() : tensor<8xf32>
  %c4 = arith.constant 4 : index
  %s = tensor.extract_slice %e[%c4] [5] [1] : tensor<8xf32> to tensor<5xf32>
  return
}

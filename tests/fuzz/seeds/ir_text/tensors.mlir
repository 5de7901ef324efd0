// tensors
func.func @f(%a: tensor<8x64xf32>, %d: tensor<?x32xf32>, %i: index, %x: f32) {
  %c0 = arith.constant 0 : index
  %0 = tensor.dim %d, %c0 : tensor<?x32xf32>
  %1 = tensor.empty(%0) : tensor<?x32xf32>
  %2 = tensor.extract %a[%i, %c0] : tensor<8x64xf32>
  %3 = tensor.insert %x into %a[%i, %c0] : tensor<8x64xf32>
  %4 = tensor.extract_slice %a[%i, 0] [1, 64] [1, 1] : tensor<8x64xf32> to tensor<64xf32>
  %5 = tensor.insert_slice %4 into %a[%i, 0] [1, 64] [1, 1] : tensor<64xf32> into tensor<8x64xf32>
  %6 = tensor.expand_shape %d [[0], [1, 2]] output_shape [%0, 4, 8] : tensor<?x32xf32> into tensor<?x4x8xf32>
  %7 = tensor.collapse_shape %6 [[0], [1, 2]] : tensor<?x4x8xf32> into tensor<?x32xf32>
  %8 = tensor.cast %7 : tensor<?x32xf32> to tensor<8x32xf32>
  %9 = tensor.pad %a nofold low[0, %i] high[%i, 0] {
  ^bb0(%g: index, %h: index):
    tensor.yield %x : f32
  } {ingot.tol = "x"} : tensor<8x64xf32> to tensor<?x?xf32>
  return
}

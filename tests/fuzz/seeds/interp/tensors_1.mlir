func.func private @printMemrefI32(tensor<*xi32>)
func.func @main() {
  %a = arith.constant dense<[[0, 1, 2, 3, 4, 5], [6, 7, 8, 9, 10, 11], [12, 13, 14, 15, 16, 17]]> : tensor<3x6xi32>
  %m1 = arith.constant -1 : i32
  %c1 = arith.constant 1 : index
  %s = tensor.extract_slice %a[%c1, 1] [2, 3] [1, 2] : tensor<3x6xi32> to tensor<2x3xi32>
  %r = tensor.extract_slice %a[2, 0] [1, 6] [1, 1] : tensor<3x6xi32> to tensor<6xi32>
  %p = tensor.pad %s low[0, 1] high[1, 0] {
  ^bb0(%i: index, %j: index):
    tensor.yield %m1 : i32
  } : tensor<2x3xi32> to tensor<3x4xi32>
  %e = tensor.expand_shape %r [[0, 1]] output_shape [3, 2] : tensor<6xi32> into tensor<3x2xi32>
  %w = tensor.insert_slice %e into %p[0, 0] [3, 2] [1, 3] : tensor<3x2xi32> into tensor<3x4xi32>
  %k = tensor.collapse_shape %w [[0, 1]] : tensor<3x4xi32> into tensor<12xi32>
  %u0 = tensor.cast %p : tensor<3x4xi32> to tensor<*xi32>
  func.call @printMemrefI32(%u0) : (tensor<*xi32>) -> ()
  %u1 = tensor.cast %k : tensor<12xi32> to tensor<*xi32>
  func.call @printMemrefI32(%u1) : (tensor<*xi32>) -> ()
  return
}

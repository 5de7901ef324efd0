func.func private @printMemrefF32(tensor<*xf32>)
func.func @main() {
  %x = arith.constant dense<[[[[1.0], [2.0], [3.0]], [[4.0], [5.0], [6.0]], [[7.0], [8.0], [9.0]]]]> : tensor<1x3x3x1xf32>
  %w = arith.constant dense<[[[[1.0]], [[2.0]]], [[[-1.0]], [[0.5]]]]> : tensor<2x2x1x1xf32>
  %zero = arith.constant 0.0 : f32
  %e = tensor.empty() : tensor<1x2x2x1xf32>
  %z = linalg.fill ins(%zero : f32) outs(%e : tensor<1x2x2x1xf32>) -> tensor<1x2x2x1xf32>
  %a = linalg.conv_2d_nhwc_hwcf ins(%x, %w : tensor<1x3x3x1xf32>, tensor<2x2x1x1xf32>) outs(%z : tensor<1x2x2x1xf32>) -> tensor<1x2x2x1xf32>
  %xf = tensor.collapse_shape %x [[0, 1, 2, 3]] : tensor<1x3x3x1xf32> into tensor<9xf32>
  %wf = tensor.collapse_shape %w [[0, 1, 2, 3]] : tensor<2x2x1x1xf32> into tensor<4xf32>
  %zf = tensor.collapse_shape %z [[0, 1, 2, 3]] : tensor<1x2x2x1xf32> into tensor<4xf32>
  %xc = tensor.expand_shape %xf [[0, 1, 2, 3]] output_shape [1, 1, 3, 3] : tensor<9xf32> into tensor<1x1x3x3xf32>
  %wc = tensor.expand_shape %wf [[0, 1, 2, 3]] output_shape [1, 1, 2, 2] : tensor<4xf32> into tensor<1x1x2x2xf32>
  %zc = tensor.expand_shape %zf [[0, 1, 2, 3]] output_shape [1, 1, 2, 2] : tensor<4xf32> into tensor<1x1x2x2xf32>
  %b = linalg.conv_2d_nchw_fchw ins(%xc, %wc : tensor<1x1x3x3xf32>, tensor<1x1x2x2xf32>) outs(%zc : tensor<1x1x2x2xf32>) -> tensor<1x1x2x2xf32>
  %wd = tensor.collapse_shape %w [[0], [1], [2, 3]] : tensor<2x2x1x1xf32> into tensor<2x2x1xf32>
  %c = linalg.depthwise_conv_2d_nhwc_hwc ins(%x, %wd : tensor<1x3x3x1xf32>, tensor<2x2x1xf32>) outs(%z : tensor<1x2x2x1xf32>) -> tensor<1x2x2x1xf32>
  %win = tensor.empty() : tensor<2x2xf32>
  %m = linalg.pooling_nhwc_max ins(%x, %win : tensor<1x3x3x1xf32>, tensor<2x2xf32>) outs(%z : tensor<1x2x2x1xf32>) -> tensor<1x2x2x1xf32>
  %s = linalg.pooling_nhwc_sum ins(%x, %win : tensor<1x3x3x1xf32>, tensor<2x2xf32>) outs(%z : tensor<1x2x2x1xf32>) -> tensor<1x2x2x1xf32>
  %a1 = tensor.collapse_shape %a [[0, 1, 2, 3]] : tensor<1x2x2x1xf32> into tensor<4xf32>
  %b1 = tensor.collapse_shape %b [[0, 1, 2, 3]] : tensor<1x1x2x2xf32> into tensor<4xf32>
  %c1 = tensor.collapse_shape %c [[0, 1, 2, 3]] : tensor<1x2x2x1xf32> into tensor<4xf32>
  %m1 = tensor.collapse_shape %m [[0, 1, 2, 3]] : tensor<1x2x2x1xf32> into tensor<4xf32>
  %s1 = tensor.collapse_shape %s [[0, 1, 2, 3]] : tensor<1x2x2x1xf32> into tensor<4xf32>
  %u0 = tensor.cast %a1 : tensor<4xf32> to tensor<*xf32>
  func.call @printMemrefF32(%u0) : (tensor<*xf32>) -> ()
  %u1 = tensor.cast %b1 : tensor<4xf32> to tensor<*xf32>
  func.call @printMemrefF32(%u1) : (tensor<*xf32>) -> ()
  %u2 = tensor.cast %c1 : tensor<4xf32> to tensor<*xf32>
  func.call @printMemrefF32(%u2) : (tensor<*xf32>) -> ()
  %u3 = tensor.cast %m1 : tensor<4xf32> to tensor<*xf32>
  func.call @printMemrefF32(%u3) : (tensor<*xf32>) -> ()
  %u4 = tensor.cast %s1 : tensor<4xf32> to tensor<*xf32>
  func.call @printMemrefF32(%u4) : (tensor<*xf32>) -> ()
  return
}

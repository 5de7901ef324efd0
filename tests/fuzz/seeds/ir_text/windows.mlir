// windows
func.func @f(%a: tensor<1x17x17x3xf16>, %w: tensor<3x3x3x8xf16>, %z: tensor<1x8x8x8xf32>, %p: tensor<1x8x8x3xf32>,
             %dw: tensor<3x3x3xf16>, %dz: tensor<1x15x15x3xf32>, %q: tensor<1x4x4x3xf32>) {
  %0 = linalg.conv_2d_nhwc_hwcf {dilations = dense<1> : vector<2xi64>, strides = dense<[2, 2]> : vector<2xi64>}
     ins(%a, %w : tensor<1x17x17x3xf16>, tensor<3x3x3x8xf16>) outs(%z : tensor<1x8x8x8xf32>) -> tensor<1x8x8x8xf32>
  %1 = linalg.depthwise_conv_2d_nhwc_hwc ins(%a, %dw : tensor<1x17x17x3xf16>, tensor<3x3x3xf16>) outs(%dz : tensor<1x15x15x3xf32>) -> tensor<1x15x15x3xf32>
  %e = tensor.empty() : tensor<2x2xf32>
  %2 = linalg.pooling_nhwc_max {dilations = dense<1> : tensor<2xi64>, strides = dense<2> : tensor<2xi64>}
     ins(%p, %e : tensor<1x8x8x3xf32>, tensor<2x2xf32>) outs(%q : tensor<1x4x4x3xf32>) -> tensor<1x4x4x3xf32>
  return
}

// Erosion: the least element of each 3x3 window, with stride and padding, and of a window that no vector
// fills. Elements are chosen, not computed.
// exact
module {
  func.func @main(%x: tensor<1x9x9x16xf32>, %y: tensor<1x6x6x3xf32>) -> (tensor<1x5x5x16xf32>, tensor<1x5x5x3xf32>) {
    %most = arith.constant 0x7F800000 : f32
    %p0 = tensor.empty() : tensor<1x11x11x16xf32>
    %p1 = linalg.fill ins(%most : f32) outs(%p0 : tensor<1x11x11x16xf32>) -> tensor<1x11x11x16xf32>
    %p = tensor.insert_slice %x into %p1[0, 1, 1, 0] [1, 9, 9, 16] [1, 1, 1, 1] : tensor<1x9x9x16xf32> into tensor<1x11x11x16xf32>
    %w = tensor.empty() : tensor<3x3xf32>
    %e = tensor.empty() : tensor<1x5x5x16xf32>
    %z = linalg.fill ins(%most : f32) outs(%e : tensor<1x5x5x16xf32>) -> tensor<1x5x5x16xf32>
    %r = linalg.pooling_nhwc_min {dilations = dense<1> : tensor<2xi64>, strides = dense<2> : tensor<2xi64>} ins(%p, %w : tensor<1x11x11x16xf32>, tensor<3x3xf32>) outs(%z : tensor<1x5x5x16xf32>) -> tensor<1x5x5x16xf32>
    %v = tensor.empty() : tensor<2x2xf32>
    %f = tensor.empty() : tensor<1x5x5x3xf32>
    %g = linalg.fill ins(%most : f32) outs(%f : tensor<1x5x5x3xf32>) -> tensor<1x5x5x3xf32>
    %s = linalg.pooling_nhwc_min {dilations = dense<1> : tensor<2xi64>, strides = dense<1> : tensor<2xi64>} ins(%y, %v : tensor<1x6x6x3xf32>, tensor<2x2xf32>) outs(%g : tensor<1x5x5x3xf32>) -> tensor<1x5x5x3xf32>
    return %r, %s : tensor<1x5x5x16xf32>, tensor<1x5x5x3xf32>
  }
}

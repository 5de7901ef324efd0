// A 3x3 convolution of padded NHWC maps with stride 2, batch normalisation, relu.
// bound: 80 terms, magnitude 40
// Sums of 3 * 3 * 7 = 63 products of at most 0.25, scaled by at most 1 / sqrt(0.25 + 0.001) = 2.
#nhwc = affine_map<(d0, d1, d2, d3) -> (d0, d1, d2, d3)>
#c = affine_map<(d0, d1, d2, d3) -> (d3)>
func.func @main(%x: tensor<1x10x12x7xf32>, %w: tensor<3x3x7x16xf32>, %mean: tensor<16xf32>, %variance: tensor<16xf32>, %gain: tensor<16xf32>, %shift: tensor<16xf32>) -> tensor<1x5x6x16xf32> {
  %zero = arith.constant 0.0 : f32
  %eps = arith.constant 1.0e-3 : f32
  %base = arith.constant 0.75 : f32
  %p = tensor.pad %x low[0, 0, 0, 0] high[0, 1, 1, 0] {
  ^bb0(%a: index, %b: index, %d: index, %f: index):
    tensor.yield %zero : f32
  } : tensor<1x10x12x7xf32> to tensor<1x11x13x7xf32>
  %e = tensor.empty() : tensor<1x5x6x16xf32>
  %z = linalg.fill ins(%zero : f32) outs(%e : tensor<1x5x6x16xf32>) -> tensor<1x5x6x16xf32>
  %conv = linalg.conv_2d_nhwc_hwcf {dilations = dense<1> : tensor<2xi64>, strides = dense<2> : tensor<2xi64>} ins(%p, %w : tensor<1x11x13x7xf32>, tensor<3x3x7x16xf32>) outs(%z : tensor<1x5x6x16xf32>) -> tensor<1x5x6x16xf32>
  %y = linalg.generic {indexing_maps = [#nhwc, #c, #c, #c, #c, #nhwc], iterator_types = ["parallel", "parallel", "parallel", "parallel"]} ins(%conv, %mean, %variance, %gain, %shift : tensor<1x5x6x16xf32>, tensor<16xf32>, tensor<16xf32>, tensor<16xf32>, tensor<16xf32>) outs(%e : tensor<1x5x6x16xf32>) {
  ^bb0(%v: f32, %m: f32, %s: f32, %g: f32, %b: f32, %o: f32):
    %s1 = arith.addf %s, %base : f32
    %s2 = arith.addf %s1, %eps : f32
    %r = math.rsqrt %s2 : f32
    %d = arith.subf %v, %m : f32
    %h = arith.mulf %d, %r : f32
    %k = arith.mulf %h, %g : f32
    %t = arith.addf %k, %b : f32
    %u = arith.maximumf %t, %zero : f32
    linalg.yield %u : f32
  } -> tensor<1x5x6x16xf32>
  return %y : tensor<1x5x6x16xf32>
}

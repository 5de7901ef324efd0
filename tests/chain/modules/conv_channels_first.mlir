// Convolutions on channels-first maps: padding, a crop, a residual, a concatenation, strides.
// bound: 1500 terms, magnitude 2000
// Sums of 288 products at most behind three layers of 72, 72 and 8; what is rounded stays below 2000.
#i = affine_map<(d0, d1, d2, d3) -> (d0, d1, d2, d3)>
#c = affine_map<(d0, d1, d2, d3) -> (d1)>
func.func @main(%p0: tensor<1x3x9x10xf32>, %p1: tensor<8x3x3x3xf32>, %p2: tensor<8xf32>, %p3: tensor<8x8x3x3xf32>, %p4: tensor<8xf32>, %p5: tensor<16x8x1x1xf32>, %p6: tensor<8x32x3x3xf32>, %p7: tensor<8xf32>) -> tensor<1x8x3x3xf32> {
  %zero = arith.constant 0.000000e+00 : f32
  %v1 = tensor.empty() : tensor<1x3x11x12xf32>
  %v2 = linalg.fill ins(%zero : f32) outs(%v1 : tensor<1x3x11x12xf32>) -> tensor<1x3x11x12xf32>
  %v3 = tensor.insert_slice %p0 into %v2[0, 0, 1, 1] [1, 3, 9, 10] [1, 1, 1, 1] : tensor<1x3x9x10xf32> into tensor<1x3x11x12xf32>
  %v4 = tensor.empty() : tensor<1x8x9x10xf32>
  %v5 = linalg.fill ins(%zero : f32) outs(%v4 : tensor<1x8x9x10xf32>) -> tensor<1x8x9x10xf32>
  %v6 = linalg.conv_2d_nchw_fchw {dilations = dense<1> : tensor<2xi64>, strides = dense<1> : tensor<2xi64>} ins(%v3, %p1 : tensor<1x3x11x12xf32>, tensor<8x3x3x3xf32>) outs(%v5 : tensor<1x8x9x10xf32>) -> tensor<1x8x9x10xf32>
  %v7 = tensor.empty() : tensor<1x8x9x10xf32>
  %v8 = linalg.generic {indexing_maps = [#i, #c, #i], iterator_types = ["parallel", "parallel", "parallel", "parallel"]} ins(%v6, %p2 : tensor<1x8x9x10xf32>, tensor<8xf32>) outs(%v7 : tensor<1x8x9x10xf32>) {
  ^bb0(%a: f32, %b: f32, %o: f32):
    %q = arith.addf %a, %b : f32
    %y = arith.maximumf %q, %zero : f32
    linalg.yield %y : f32
  } -> tensor<1x8x9x10xf32>
  %v9 = tensor.empty() : tensor<1x8x11x12xf32>
  %v10 = linalg.fill ins(%zero : f32) outs(%v9 : tensor<1x8x11x12xf32>) -> tensor<1x8x11x12xf32>
  %v11 = tensor.insert_slice %v8 into %v10[0, 0, 1, 1] [1, 8, 9, 10] [1, 1, 1, 1] : tensor<1x8x9x10xf32> into tensor<1x8x11x12xf32>
  %v12 = tensor.empty() : tensor<1x8x9x10xf32>
  %v13 = linalg.fill ins(%zero : f32) outs(%v12 : tensor<1x8x9x10xf32>) -> tensor<1x8x9x10xf32>
  %v14 = linalg.conv_2d_nchw_fchw {dilations = dense<1> : tensor<2xi64>, strides = dense<1> : tensor<2xi64>} ins(%v11, %p3 : tensor<1x8x11x12xf32>, tensor<8x8x3x3xf32>) outs(%v13 : tensor<1x8x9x10xf32>) -> tensor<1x8x9x10xf32>
  %v15 = tensor.empty() : tensor<1x8x9x10xf32>
  %v16 = linalg.generic {indexing_maps = [#i, #c, #i, #i], iterator_types = ["parallel", "parallel", "parallel", "parallel"]} ins(%v14, %p4, %v8 : tensor<1x8x9x10xf32>, tensor<8xf32>, tensor<1x8x9x10xf32>) outs(%v15 : tensor<1x8x9x10xf32>) {
  ^bb0(%a: f32, %b: f32, %r: f32, %o: f32):
    %q = arith.addf %a, %b : f32
    %q2 = arith.addf %q, %r : f32
    %y = arith.maximumf %q2, %zero : f32
    linalg.yield %y : f32
  } -> tensor<1x8x9x10xf32>
  %v17 = tensor.extract_slice %v16[0, 0, 0, 0] [1, 8, 9, 9] [1, 1, 1, 1] : tensor<1x8x9x10xf32> to tensor<1x8x9x9xf32>
  %v18 = tensor.empty() : tensor<1x16x5x5xf32>
  %v19 = linalg.fill ins(%zero : f32) outs(%v18 : tensor<1x16x5x5xf32>) -> tensor<1x16x5x5xf32>
  %v20 = linalg.conv_2d_nchw_fchw {dilations = dense<1> : tensor<2xi64>, strides = dense<2> : tensor<2xi64>} ins(%v17, %p5 : tensor<1x8x9x9xf32>, tensor<16x8x1x1xf32>) outs(%v19 : tensor<1x16x5x5xf32>) -> tensor<1x16x5x5xf32>
  %v21 = tensor.empty() : tensor<1x32x5x5xf32>
  %v22 = tensor.insert_slice %v20 into %v21[0, 0, 0, 0] [1, 16, 5, 5] [1, 1, 1, 1] : tensor<1x16x5x5xf32> into tensor<1x32x5x5xf32>
  %v23 = tensor.insert_slice %v20 into %v22[0, 16, 0, 0] [1, 16, 5, 5] [1, 1, 1, 1] : tensor<1x16x5x5xf32> into tensor<1x32x5x5xf32>
  %v24 = tensor.empty() : tensor<1x32x7x7xf32>
  %v25 = linalg.fill ins(%zero : f32) outs(%v24 : tensor<1x32x7x7xf32>) -> tensor<1x32x7x7xf32>
  %v26 = tensor.insert_slice %v23 into %v25[0, 0, 1, 1] [1, 32, 5, 5] [1, 1, 1, 1] : tensor<1x32x5x5xf32> into tensor<1x32x7x7xf32>
  %v27 = tensor.empty() : tensor<1x8x3x3xf32>
  %v28 = linalg.fill ins(%zero : f32) outs(%v27 : tensor<1x8x3x3xf32>) -> tensor<1x8x3x3xf32>
  %v29 = linalg.conv_2d_nchw_fchw {dilations = dense<1> : tensor<2xi64>, strides = dense<2> : tensor<2xi64>} ins(%v26, %p6 : tensor<1x32x7x7xf32>, tensor<8x32x3x3xf32>) outs(%v28 : tensor<1x8x3x3xf32>) -> tensor<1x8x3x3xf32>
  %v30 = tensor.empty() : tensor<1x8x3x3xf32>
  %v31 = linalg.generic {indexing_maps = [#i, #c, #i], iterator_types = ["parallel", "parallel", "parallel", "parallel"]} ins(%v29, %p7 : tensor<1x8x3x3xf32>, tensor<8xf32>) outs(%v30 : tensor<1x8x3x3xf32>) {
  ^bb0(%a: f32, %b: f32, %o: f32):
    %q = arith.addf %a, %b : f32
    %y = arith.maximumf %q, %zero : f32
    linalg.yield %y : f32
  } -> tensor<1x8x3x3xf32>
  return %v31 : tensor<1x8x3x3xf32>
}

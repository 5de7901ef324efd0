// Two layers with constant weights and a gelu between them (tanh form).
// bound: 60 terms, magnitude 16
// Sums of 6 and 4 products of at most 1; tanh and its argument do not magnify.
#row = affine_map<(d0, d1) -> (d0, d1)>
#col = affine_map<(d0, d1) -> (d1)>
func.func @main(%x: tensor<5x6xf32>) -> tensor<5x3xf32> {
  %w1 = arith.constant dense<[[0.5, -0.25, 1.0, 0.125], [-1.0, 0.75, 0.5, 0.25], [0.25, 0.5, -0.5, 1.0], [0.0, -0.75, 0.25, 0.5], [1.0, 0.125, -0.25, -0.5], [-0.5, 0.25, 0.75, -1.0]]> : tensor<6x4xf32>
  %b1 = arith.constant dense<[0.1, -0.2, 0.3, -0.4]> : tensor<4xf32>
  %w2 = arith.constant dense<[[0.5, -1.0, 0.25], [0.75, 0.5, -0.5], [-0.25, 1.0, 0.125], [1.0, -0.125, 0.5]]> : tensor<4x3xf32>
  %h = func.call @layer1(%x, %w1, %b1) : (tensor<5x6xf32>, tensor<6x4xf32>, tensor<4xf32>) -> tensor<5x4xf32>
  %zero = arith.constant 0.0 : f32
  %e = tensor.empty() : tensor<5x3xf32>
  %z = linalg.fill ins(%zero : f32) outs(%e : tensor<5x3xf32>) -> tensor<5x3xf32>
  %y = linalg.matmul ins(%h, %w2 : tensor<5x4xf32>, tensor<4x3xf32>) outs(%z : tensor<5x3xf32>) -> tensor<5x3xf32>
  return %y : tensor<5x3xf32>
}
func.func private @layer1(%x: tensor<5x6xf32>, %w: tensor<6x4xf32>, %b: tensor<4xf32>) -> tensor<5x4xf32> {
  %zero = arith.constant 0.0 : f32
  %half = arith.constant 0.5 : f32
  %one = arith.constant 1.0 : f32
  %c = arith.constant 0.044715 : f32
  %k = arith.constant 0.797884583 : f32
  %e = tensor.empty() : tensor<5x4xf32>
  %z = linalg.fill ins(%zero : f32) outs(%e : tensor<5x4xf32>) -> tensor<5x4xf32>
  %m = linalg.matmul ins(%x, %w : tensor<5x6xf32>, tensor<6x4xf32>) outs(%z : tensor<5x4xf32>) -> tensor<5x4xf32>
  %h = linalg.generic {indexing_maps = [#row, #col, #row], iterator_types = ["parallel", "parallel"]} ins(%m, %b : tensor<5x4xf32>, tensor<4xf32>) outs(%e : tensor<5x4xf32>) {
  ^bb0(%p: f32, %q: f32, %o: f32):
    %v = arith.addf %p, %q : f32
    %v2 = arith.mulf %v, %v : f32
    %v3 = arith.mulf %v2, %v : f32
    %t0 = arith.mulf %v3, %c : f32
    %t1 = arith.addf %v, %t0 : f32
    %t2 = arith.mulf %t1, %k : f32
    %t3 = math.tanh %t2 : f32
    %t4 = arith.addf %t3, %one : f32
    %t5 = arith.mulf %v, %half : f32
    %g = arith.mulf %t5, %t4 : f32
    linalg.yield %g : f32
  } -> tensor<5x4xf32>
  return %h : tensor<5x4xf32>
}

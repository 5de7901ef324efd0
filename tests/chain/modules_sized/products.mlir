// A product with a size in every dimension, one of integers summed over a size, and one in a batch
// of any size; the names hold across arguments.
// bound: 200 terms, magnitude 8
func.func @main(%a: tensor<?x?xf32> {ingot.dims = ["m", "k"]}, %b: tensor<?x?xf32> {ingot.dims = ["k", "n"]},
    %c: tensor<4x?xi8> {ingot.dims = ["", "k"]}, %d: tensor<?x8xi8> {ingot.dims = ["k", ""]},
    %e: tensor<?x4x8xf32> {ingot.dims = ["m", "", ""]}, %f: tensor<?x8x4xf32> {ingot.dims = ["m", "", ""]})
    -> (tensor<?x?xf32>, tensor<4x8xi32>, tensor<?x4x4xf32>)
    attributes {ingot.ranges = {k = {min = 3, max = 33, step = 16}, m = {max = 10, step = 8}, n = {max = 18}}} {
  %c0 = arith.constant 0 : index
  %c1 = arith.constant 1 : index
  %zero = arith.constant 0.0 : f32
  %zero32 = arith.constant 0 : i32
  %m = tensor.dim %a, %c0 : tensor<?x?xf32>
  %n = tensor.dim %b, %c1 : tensor<?x?xf32>
  %e0 = tensor.empty(%m, %n) : tensor<?x?xf32>
  %z0 = linalg.fill ins(%zero : f32) outs(%e0 : tensor<?x?xf32>) -> tensor<?x?xf32>
  %p = linalg.matmul ins(%a, %b : tensor<?x?xf32>, tensor<?x?xf32>) outs(%z0 : tensor<?x?xf32>) -> tensor<?x?xf32>
  %e1 = tensor.empty() : tensor<4x8xi32>
  %z1 = linalg.fill ins(%zero32 : i32) outs(%e1 : tensor<4x8xi32>) -> tensor<4x8xi32>
  %q = linalg.matmul ins(%c, %d : tensor<4x?xi8>, tensor<?x8xi8>) outs(%z1 : tensor<4x8xi32>) -> tensor<4x8xi32>
  %e2 = tensor.empty(%m) : tensor<?x4x4xf32>
  %z2 = linalg.fill ins(%zero : f32) outs(%e2 : tensor<?x4x4xf32>) -> tensor<?x4x4xf32>
  %r = linalg.batch_matmul ins(%e, %f : tensor<?x4x8xf32>, tensor<?x8x4xf32>) outs(%z2 : tensor<?x4x4xf32>) -> tensor<?x4x4xf32>
  return %p, %q, %r : tensor<?x?xf32>, tensor<4x8xi32>, tensor<?x4x4xf32>
}

// What a size does to reductions over it: sum, product, least, greatest, the place of the greatest,
// the mean by the size itself, over a whole tensor and over rows.
// bound: 2600 terms, magnitude 1
#id = affine_map<(i, j) -> (i, j)>
#row = affine_map<(i, j) -> (i)>
#all = affine_map<(i, j) -> ()>
func.func @main(%x: tensor<4x?xf32> {ingot.dims = ["", "n"]}, %k: tensor<?xi32> {ingot.dims = ["n"]})
    -> (tensor<f32>, tensor<4xf32>, tensor<4xi32>, tensor<4xf32>, tensor<4xf32>, tensor<i32>, tensor<i32>)
    attributes {ingot.ranges = {n = {min = 2, max = 40, step = 8}}} {
  %c1 = arith.constant 1 : index
  %zero = arith.constant 0.0 : f32
  %one = arith.constant 1.0 : f32
  %low = arith.constant -3.0e38 : f32
  %none = arith.constant -1 : i32
  %top = arith.constant 2147483647 : i32
  %n = tensor.dim %x, %c1 : tensor<4x?xf32>
  %n32 = arith.index_cast %n : index to i32
  %nf = arith.sitofp %n32 : i32 to f32
  %es = tensor.empty() : tensor<f32>
  %s0 = linalg.fill ins(%zero : f32) outs(%es : tensor<f32>) -> tensor<f32>
  %sum = linalg.generic {indexing_maps = [#id, #all], iterator_types = ["reduction", "reduction"]} ins(%x : tensor<4x?xf32>) outs(%s0 : tensor<f32>) {
  ^bb0(%a: f32, %acc: f32):
    %v = arith.addf %acc, %a : f32
    linalg.yield %v : f32
  } -> tensor<f32>
  %er = tensor.empty() : tensor<4xf32>
  %ei = tensor.empty() : tensor<4xi32>
  %m0 = linalg.fill ins(%low : f32) outs(%er : tensor<4xf32>) -> tensor<4xf32>
  %i0 = linalg.fill ins(%none : i32) outs(%ei : tensor<4xi32>) -> tensor<4xi32>
  %best:2 = linalg.generic {indexing_maps = [#id, #row, #row], iterator_types = ["parallel", "reduction"]} ins(%x : tensor<4x?xf32>) outs(%m0, %i0 : tensor<4xf32>, tensor<4xi32>) {
  ^bb0(%a: f32, %max: f32, %at: i32):
    %j = linalg.index 1 : index
    %j32 = arith.index_cast %j : index to i32
    %is = arith.cmpf ogt, %a, %max : f32
    %v = arith.select %is, %a, %max : f32
    %w = arith.select %is, %j32, %at : i32
    linalg.yield %v, %w : f32, i32
  } -> (tensor<4xf32>, tensor<4xi32>)
  %p0 = linalg.fill ins(%one : f32) outs(%er : tensor<4xf32>) -> tensor<4xf32>
  %product = linalg.generic {indexing_maps = [#id, #row], iterator_types = ["parallel", "reduction"]} ins(%x : tensor<4x?xf32>) outs(%p0 : tensor<4xf32>) {
  ^bb0(%a: f32, %acc: f32):
    %b = arith.addf %a, %one : f32
    %v = arith.mulf %b, %acc : f32
    linalg.yield %v : f32
  } -> tensor<4xf32>
  %z0 = linalg.fill ins(%zero : f32) outs(%er : tensor<4xf32>) -> tensor<4xf32>
  %rows = linalg.reduce { arith.addf } ins(%x : tensor<4x?xf32>) outs(%z0 : tensor<4xf32>) dimensions = [1]
  %mean = linalg.generic {indexing_maps = [affine_map<(i) -> (i)>, affine_map<(i) -> (i)>], iterator_types = ["parallel"]} ins(%rows : tensor<4xf32>) outs(%er : tensor<4xf32>) {
  ^bb0(%a: f32, %o: f32):
    %v = arith.divf %a, %nf : f32
    linalg.yield %v : f32
  } -> tensor<4xf32>
  %ek = tensor.empty() : tensor<i32>
  %k0 = linalg.fill ins(%top : i32) outs(%ek : tensor<i32>) -> tensor<i32>
  %least = linalg.reduce { arith.minsi } ins(%k : tensor<?xi32>) outs(%k0 : tensor<i32>) dimensions = [0]
  %a0 = linalg.fill ins(%none : i32) outs(%ek : tensor<i32>) -> tensor<i32>
  %and = linalg.reduce { arith.andi } ins(%k : tensor<?xi32>) outs(%a0 : tensor<i32>) dimensions = [0]
  return %sum, %best#0, %best#1, %product, %mean, %least, %and : tensor<f32>, tensor<4xf32>, tensor<4xi32>, tensor<4xf32>, tensor<4xf32>, tensor<i32>, tensor<i32>
}

// Values of 280 KB a row that pass from op to op in registers: more than a kernel may keep.
// bound: 4 terms, magnitude 2
#id = affine_map<(d0, d1) -> (d0, d1)>
#column = affine_map<(d0, d1) -> (d1)>
func.func @main(%x: tensor<2x70000xf32>, %mean: tensor<70000xf32>) -> tensor<2x70000xf32> {
  %half = arith.constant 5.000000e-01 : f32
  %e = tensor.empty() : tensor<2x70000xf32>
  %halves = linalg.fill ins(%half : f32) outs(%e : tensor<2x70000xf32>) -> tensor<2x70000xf32>
  %a = linalg.generic {indexing_maps = [#id, #column, #id], iterator_types = ["parallel", "parallel"]} ins(%x, %mean : tensor<2x70000xf32>, tensor<70000xf32>) outs(%e : tensor<2x70000xf32>) {
  ^bb0(%p: f32, %m: f32, %o: f32):
    %s = arith.subf %p, %m : f32
    linalg.yield %s : f32
  } -> tensor<2x70000xf32>
  %b = linalg.generic {indexing_maps = [#id, #id, #id], iterator_types = ["parallel", "parallel"]} ins(%a, %halves : tensor<2x70000xf32>, tensor<2x70000xf32>) outs(%e : tensor<2x70000xf32>) {
  ^bb0(%p: f32, %h: f32, %o: f32):
    %s = arith.addf %p, %h : f32
    linalg.yield %s : f32
  } -> tensor<2x70000xf32>
  %c = linalg.generic {indexing_maps = [#id, #id], iterator_types = ["parallel", "parallel"]} ins(%b : tensor<2x70000xf32>) outs(%e : tensor<2x70000xf32>) {
  ^bb0(%p: f32, %o: f32):
    %s = arith.mulf %p, %p : f32
    linalg.yield %s : f32
  } -> tensor<2x70000xf32>
  return %c : tensor<2x70000xf32>
}

// Layer normalisation over the last of three dimensions; mean and reciprocal deviation are results too.
// bound: 160 terms, magnitude 8
// Sums of 50 numbers of at most 0.5; the reciprocal of a deviation of at least 0.2 magnifies by 5.
#all = affine_map<(d0, d1, d2) -> (d0, d1, d2)>
#row = affine_map<(d0, d1, d2) -> (d0, d1)>
#col = affine_map<(d0, d1, d2) -> (d2)>
#two = affine_map<(d0, d1) -> (d0, d1)>
func.func @main(%x: tensor<3x5x50xf32>, %gain: tensor<50xf32>, %shift: tensor<50xf32>) -> (tensor<3x5x50xf32> {ingot.name = "y"}, tensor<3x5xf32> {ingot.name = "mean"}, tensor<3x5xf32> {ingot.name = "rstd"}) {
  %zero = arith.constant 0.0 : f32
  %n = arith.constant 50.0 : f32
  %eps = arith.constant 1.0e-5 : f32
  %e2 = tensor.empty() : tensor<3x5xf32>
  %e3 = tensor.empty() : tensor<3x5x50xf32>
  %z = linalg.fill ins(%zero : f32) outs(%e2 : tensor<3x5xf32>) -> tensor<3x5xf32>
  %sum = linalg.reduce { arith.addf } ins(%x : tensor<3x5x50xf32>) outs(%z : tensor<3x5xf32>) dimensions = [2]
  %mean = linalg.generic {indexing_maps = [#two, #two], iterator_types = ["parallel", "parallel"]} ins(%sum : tensor<3x5xf32>) outs(%e2 : tensor<3x5xf32>) {
  ^bb0(%s: f32, %o: f32):
    %m = arith.divf %s, %n : f32
    linalg.yield %m : f32
  } -> tensor<3x5xf32>
  %squares = linalg.generic {indexing_maps = [#all, #row, #row], iterator_types = ["parallel", "parallel", "reduction"]} ins(%x, %mean : tensor<3x5x50xf32>, tensor<3x5xf32>) outs(%z : tensor<3x5xf32>) {
  ^bb0(%v: f32, %m: f32, %acc: f32):
    %d = arith.subf %v, %m : f32
    %q = arith.mulf %d, %d : f32
    %s = arith.addf %acc, %q : f32
    linalg.yield %s : f32
  } -> tensor<3x5xf32>
  %rstd = linalg.generic {indexing_maps = [#two, #two], iterator_types = ["parallel", "parallel"]} ins(%squares : tensor<3x5xf32>) outs(%e2 : tensor<3x5xf32>) {
  ^bb0(%s: f32, %o: f32):
    %v = arith.divf %s, %n : f32
    %a = arith.addf %v, %eps : f32
    %r = math.rsqrt %a : f32
    linalg.yield %r : f32
  } -> tensor<3x5xf32>
  %y = linalg.generic {indexing_maps = [#all, #row, #row, #col, #col, #all], iterator_types = ["parallel", "parallel", "parallel"]} ins(%x, %mean, %rstd, %gain, %shift : tensor<3x5x50xf32>, tensor<3x5xf32>, tensor<3x5xf32>, tensor<50xf32>, tensor<50xf32>) outs(%e3 : tensor<3x5x50xf32>) {
  ^bb0(%v: f32, %m: f32, %r: f32, %g: f32, %b: f32, %o: f32):
    %d = arith.subf %v, %m : f32
    %h = arith.mulf %d, %r : f32
    %k = arith.mulf %h, %g : f32
    %s = arith.addf %k, %b : f32
    linalg.yield %s : f32
  } -> tensor<3x5x50xf32>
  return %y, %mean, %rstd : tensor<3x5x50xf32>, tensor<3x5xf32>, tensor<3x5xf32>
}

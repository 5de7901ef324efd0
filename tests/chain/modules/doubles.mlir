// f64 throughout: every function that is computed by a polynomial, the softmax of rows, their layer
// normalisation, a matrix product, and results rounded to 16 bits.
// bound: 200 terms, magnitude 8
// Sums of 37 numbers of at most 1; the reciprocal of a deviation of at least 0.1 magnifies by 10 and the
// matrix product adds 37 of that, each below 6. A function is off by less than 4 roundings.
#all = affine_map<(i, j) -> (i, j)>
#row = affine_map<(i, j) -> (i)>
#col = affine_map<(i, j) -> (j)>
func.func @main(%x: tensor<9x37xf64>, %gain: tensor<37xf64>, %w: tensor<37x11xf64>) -> (tensor<9x37xf64> {ingot.name = "functions"}, tensor<9x37xf64> {ingot.name = "softmax"}, tensor<9x37xf64> {ingot.name = "norm"}, tensor<9x11xf64> {ingot.name = "product"}, tensor<9x37xf64> {ingot.name = "half"}, tensor<9x37xf64> {ingot.name = "brain"}) {
  %zero = arith.constant 0.0 : f64
  %one = arith.constant 1.0 : f64
  %n = arith.constant 37.0 : f64
  %eps = arith.constant 1.0e-5 : f64
  %e = tensor.empty() : tensor<9x37xf64>
  %er = tensor.empty() : tensor<9xf64>
  %z = linalg.fill ins(%zero : f64) outs(%er : tensor<9xf64>) -> tensor<9xf64>
  %f = linalg.generic {indexing_maps = [#all, #all], iterator_types = ["parallel", "parallel"]} ins(%x : tensor<9x37xf64>) outs(%e : tensor<9x37xf64>) {
  ^bb0(%a: f64, %o: f64):
    %exp = math.exp %a : f64
    %more = arith.addf %exp, %one : f64
    %log = math.log %more : f64
    %tanh = math.tanh %log : f64
    %erf = math.erf %a : f64
    %sin = math.sin %exp : f64
    %cos = math.cos %log : f64
    %s = arith.addf %tanh, %erf : f64
    %t = arith.addf %sin, %cos : f64
    %r = arith.addf %s, %t : f64
    linalg.yield %r : f64
  } -> tensor<9x37xf64>
  %p = linalg.softmax dimension(1) ins(%x : tensor<9x37xf64>) outs(%e : tensor<9x37xf64>) -> tensor<9x37xf64>
  %sum = linalg.reduce { arith.addf } ins(%x : tensor<9x37xf64>) outs(%z : tensor<9xf64>) dimensions = [1]
  %squares = linalg.generic {indexing_maps = [#all, #row, #row], iterator_types = ["parallel", "reduction"]} ins(%x, %sum : tensor<9x37xf64>, tensor<9xf64>) outs(%z : tensor<9xf64>) {
  ^bb0(%v: f64, %s: f64, %acc: f64):
    %m = arith.divf %s, %n : f64
    %d = arith.subf %v, %m : f64
    %q = arith.mulf %d, %d : f64
    %r = arith.addf %acc, %q : f64
    linalg.yield %r : f64
  } -> tensor<9xf64>
  %norm = linalg.generic {indexing_maps = [#all, #row, #row, #col, #all], iterator_types = ["parallel", "parallel"]} ins(%x, %sum, %squares, %gain : tensor<9x37xf64>, tensor<9xf64>, tensor<9xf64>, tensor<37xf64>) outs(%e : tensor<9x37xf64>) {
  ^bb0(%v: f64, %s: f64, %q: f64, %g: f64, %o: f64):
    %m = arith.divf %s, %n : f64
    %d = arith.subf %v, %m : f64
    %k = arith.divf %q, %n : f64
    %a = arith.addf %k, %eps : f64
    %r = math.rsqrt %a : f64
    %h = arith.mulf %d, %r : f64
    %y = arith.mulf %h, %g : f64
    linalg.yield %y : f64
  } -> tensor<9x37xf64>
  %ew = tensor.empty() : tensor<9x11xf64>
  %zw = linalg.fill ins(%zero : f64) outs(%ew : tensor<9x11xf64>) -> tensor<9x11xf64>
  %product = linalg.matmul ins(%norm, %w : tensor<9x37xf64>, tensor<37x11xf64>) outs(%zw : tensor<9x11xf64>) -> tensor<9x11xf64>
  %half, %brain = linalg.generic {indexing_maps = [#all, #all, #all], iterator_types = ["parallel", "parallel"]} ins(%x : tensor<9x37xf64>) outs(%e, %e : tensor<9x37xf64>, tensor<9x37xf64>) {
  ^bb0(%a: f64, %oh: f64, %ob: f64):
    %h = arith.truncf %a : f64 to f16
    %b = arith.truncf %a : f64 to bf16
    %hw = arith.extf %h : f16 to f64
    %bw = arith.extf %b : bf16 to f64
    linalg.yield %hw, %bw : f64, f64
  } -> (tensor<9x37xf64>, tensor<9x37xf64>)
  return %f, %p, %norm, %product, %half, %brain : tensor<9x37xf64>, tensor<9x37xf64>, tensor<9x37xf64>, tensor<9x11xf64>, tensor<9x37xf64>, tensor<9x37xf64>
}

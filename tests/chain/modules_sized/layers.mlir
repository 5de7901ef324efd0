// A private function for any size, called twice: layer norm and transpose, in f16 and f32; and a
// convolution of any number of maps.
// bound: 120 terms, magnitude 16
#id = affine_map<(i, j) -> (i, j)>
#row = affine_map<(i, j) -> (i)>
func.func @main(%x: tensor<?x32xf32> {ingot.dims = ["n", ""]}, %h: tensor<16x?xf16> {ingot.dims = ["", "n"]},
    %maps: tensor<?x6x6x3xf32> {ingot.dims = ["n", "", "", ""]}, %w: tensor<3x3x3x4xf32>) -> (tensor<32x?xf32>, tensor<?x16xf16>, tensor<?x4x4x4xf32>)
    attributes {ingot.ranges = {n = {min = 4, max = 12, step = 5}}} {
  %c0 = arith.constant 0 : index
  %c1 = arith.constant 1 : index
  %zero = arith.constant 0.0 : f32
  %n = tensor.dim %h, %c1 : tensor<16x?xf16>
  %a = func.call @norm(%x) : (tensor<?x32xf32>) -> tensor<?x32xf32>
  %b = func.call @norm(%a) : (tensor<?x32xf32>) -> tensor<?x32xf32>
  %et = tensor.empty(%n) : tensor<32x?xf32>
  %t = linalg.transpose ins(%b : tensor<?x32xf32>) outs(%et : tensor<32x?xf32>) permutation = [1, 0]
  %eh = tensor.empty(%n) : tensor<?x16xf16>
  %u = linalg.transpose ins(%h : tensor<16x?xf16>) outs(%eh : tensor<?x16xf16>) permutation = [1, 0]
  %ec = tensor.empty(%n) : tensor<?x4x4x4xf32>
  %zc = linalg.fill ins(%zero : f32) outs(%ec : tensor<?x4x4x4xf32>) -> tensor<?x4x4x4xf32>
  %c = linalg.conv_2d_nhwc_hwcf ins(%maps, %w : tensor<?x6x6x3xf32>, tensor<3x3x3x4xf32>) outs(%zc : tensor<?x4x4x4xf32>) -> tensor<?x4x4x4xf32>
  return %t, %u, %c : tensor<32x?xf32>, tensor<?x16xf16>, tensor<?x4x4x4xf32>
}
func.func private @norm(%x: tensor<?x32xf32>) -> tensor<?x32xf32> {
  %c0 = arith.constant 0 : index
  %zero = arith.constant 0.0 : f32
  %len = arith.constant 32.0 : f32
  %eps = arith.constant 0.01 : f32
  %n = tensor.dim %x, %c0 : tensor<?x32xf32>
  %er = tensor.empty(%n) : tensor<?xf32>
  %e = tensor.empty(%n) : tensor<?x32xf32>
  %z = linalg.fill ins(%zero : f32) outs(%er : tensor<?xf32>) -> tensor<?xf32>
  %sum = linalg.reduce { arith.addf } ins(%x : tensor<?x32xf32>) outs(%z : tensor<?xf32>) dimensions = [1]
  %d = linalg.generic {indexing_maps = [#id, #row, #id], iterator_types = ["parallel", "parallel"]} ins(%x, %sum : tensor<?x32xf32>, tensor<?xf32>) outs(%e : tensor<?x32xf32>) {
  ^bb0(%v: f32, %s: f32, %o: f32):
    %mean = arith.divf %s, %len : f32
    %w = arith.subf %v, %mean : f32
    linalg.yield %w : f32
  } -> tensor<?x32xf32>
  %squares = linalg.generic {indexing_maps = [#id, #row], iterator_types = ["parallel", "reduction"]} ins(%d : tensor<?x32xf32>) outs(%z : tensor<?xf32>) {
  ^bb0(%v: f32, %acc: f32):
    %s = arith.mulf %v, %v : f32
    %t = arith.addf %acc, %s : f32
    linalg.yield %t : f32
  } -> tensor<?xf32>
  %y = linalg.generic {indexing_maps = [#id, #row, #id], iterator_types = ["parallel", "parallel"]} ins(%d, %squares : tensor<?x32xf32>, tensor<?xf32>) outs(%e : tensor<?x32xf32>) {
  ^bb0(%v: f32, %s: f32, %o: f32):
    %var = arith.divf %s, %len : f32
    %t = arith.addf %var, %eps : f32
    %u = math.sqrt %t : f32
    %w = arith.divf %v, %u : f32
    linalg.yield %w : f32
  } -> tensor<?x32xf32>
  return %y : tensor<?x32xf32>
}

// Adaptive average pooling of 7 rows to 3: windows of unequal length by a mask; and a 3x3 max pooling.
// bound: 60 terms, magnitude 8
// Sums of at most 9 numbers of at most 0.5.
#in = affine_map<(d0, d1, d2, d3, d4) -> (d3, d4, d2)>
#out = affine_map<(d0, d1, d2, d3, d4) -> (d0, d1, d2)>
func.func @main(%x: tensor<7x7x5xf32>) -> (tensor<3x3x5xf32>, tensor<1x5x5x5xf32>) {
  %zero = arith.constant 0.0 : f32
  %low = arith.constant 0xFF800000 : f32
  %three = arith.constant 3 : index
  %two = arith.constant 2 : index
  %seven = arith.constant 7 : index
  %e = tensor.empty() : tensor<3x3x5xf32>
  %z = linalg.fill ins(%zero : f32) outs(%e : tensor<3x3x5xf32>) -> tensor<3x3x5xf32>
  %y = linalg.generic {indexing_maps = [#in, #out], iterator_types = ["parallel", "parallel", "parallel", "reduction", "reduction"]} ins(%x : tensor<7x7x5xf32>) outs(%z : tensor<3x3x5xf32>) {
  ^bb0(%v: f32, %acc: f32):
    %oh = linalg.index 0 : index
    %ow = linalg.index 1 : index
    %ih = linalg.index 3 : index
    %iw = linalg.index 4 : index
    // rows floor(o * 7 / 3) to ceil((o + 1) * 7 / 3)
    %h0 = affine.apply affine_map<(d0) -> ((d0 * 7) floordiv 3)>(%oh)
    %h1 = affine.apply affine_map<(d0) -> ((d0 * 7 + 7) ceildiv 3)>(%oh)
    %w0 = affine.apply affine_map<(d0) -> ((d0 * 7) floordiv 3)>(%ow)
    %w1 = affine.apply affine_map<(d0) -> ((d0 * 7 + 7) ceildiv 3)>(%ow)
    %a = arith.cmpi sge, %ih, %h0 : index
    %b = arith.cmpi slt, %ih, %h1 : index
    %c = arith.cmpi sge, %iw, %w0 : index
    %d = arith.cmpi slt, %iw, %w1 : index
    %ab = arith.andi %a, %b : i1
    %cd = arith.andi %c, %d : i1
    %in = arith.andi %ab, %cd : i1
    %nh = arith.subi %h1, %h0 : index
    %nw = arith.subi %w1, %w0 : index
    %n = arith.muli %nh, %nw : index
    %ni = arith.index_cast %n : index to i32
    %nf = arith.sitofp %ni : i32 to f32
    %q = arith.divf %v, %nf : f32
    %s = arith.addf %acc, %q : f32
    %r = arith.select %in, %s, %acc : f32
    linalg.yield %r : f32
  } -> tensor<3x3x5xf32>
  %x4 = tensor.expand_shape %x [[0, 1], [2], [3]] output_shape [1, 7, 7, 5] : tensor<7x7x5xf32> into tensor<1x7x7x5xf32>
  %window = tensor.empty() : tensor<3x3xf32>
  %e4 = tensor.empty() : tensor<1x5x5x5xf32>
  %start = linalg.fill ins(%low : f32) outs(%e4 : tensor<1x5x5x5xf32>) -> tensor<1x5x5x5xf32>
  %m = linalg.pooling_nhwc_max {dilations = dense<1> : tensor<2xi64>, strides = dense<1> : tensor<2xi64>} ins(%x4, %window : tensor<1x7x7x5xf32>, tensor<3x3xf32>) outs(%start : tensor<1x5x5x5xf32>) -> tensor<1x5x5x5xf32>
  return %y, %m : tensor<3x3x5xf32>, tensor<1x5x5x5xf32>
}

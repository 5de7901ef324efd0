// RMSNorm of 576 columns, then int8 blocks of 32: amax, scale, codes, sums of codes.
#sd = affine_map<(d0, d1) -> (d0, d1)>
#s = affine_map<(d0, d1) -> (d0)>
#d = affine_map<(d0, d1) -> (d1)>
#id3 = affine_map<(d0, d1, d2) -> (d0, d1, d2)>
#b3 = affine_map<(d0, d1, d2) -> (d0, d1)>
#id2 = affine_map<(d0, d1) -> (d0, d1)>
module {
  func.func private @rows_norm(%x: tensor<5x576xf32>, %w: tensor<576xf32>, %n: index {ingot.test = 5 : i64})
      -> (tensor<5x18x32xi8>, tensor<5x18xf32>, tensor<5x18xi32>, tensor<5x576xf32>)
      attributes {ingot.kernel = "rows", ingot.tiles = affine_map<(d0) -> (d0)>, ingot.tiles_arg = 0 : i64} {
    %zero = arith.constant 0.000000e+00 : f32
    %eps = arith.constant 9.99999974E-6 : f32
    %inv_n = arith.constant 0.00173611113 : f32
    %inv127 = arith.constant 0.00787401571 : f32
    %one = arith.constant 1.000000e+00 : f32
    %zi = arith.constant 0 : i32
    %e0 = tensor.empty() : tensor<5xf32>
    %z0 = linalg.fill ins(%zero : f32) outs(%e0 : tensor<5xf32>) -> tensor<5xf32>
    %ss = linalg.generic {indexing_maps = [#sd, #s], iterator_types = ["parallel", "reduction"]}
        ins(%x : tensor<5x576xf32>) outs(%z0 : tensor<5xf32>) {
    ^bb0(%in: f32, %acc: f32):
      %0 = arith.mulf %in, %in : f32
      %1 = arith.addf %acc, %0 : f32
      linalg.yield %1 : f32
    } -> tensor<5xf32>
    %e1 = tensor.empty() : tensor<5x576xf32>
    %y = linalg.generic {indexing_maps = [#sd, #s, #d, #sd], iterator_types = ["parallel", "parallel"]}
        ins(%x, %ss, %w : tensor<5x576xf32>, tensor<5xf32>, tensor<576xf32>) outs(%e1 : tensor<5x576xf32>) {
    ^bb0(%in: f32, %s: f32, %g: f32, %o: f32):
      %0 = arith.mulf %s, %inv_n : f32
      %1 = arith.addf %0, %eps : f32
      %2 = math.rsqrt %1 : f32
      %3 = arith.mulf %in, %2 : f32
      %4 = arith.mulf %3, %g : f32
      linalg.yield %4 : f32
    } -> tensor<5x576xf32>
    %b = tensor.expand_shape %y [[0], [1, 2]] output_shape [5, 18, 32] : tensor<5x576xf32> into tensor<5x18x32xf32>
    %e2 = tensor.empty() : tensor<5x18xf32>
    %z2 = linalg.fill ins(%zero : f32) outs(%e2 : tensor<5x18xf32>) -> tensor<5x18xf32>
    %amax = linalg.generic {indexing_maps = [#id3, #b3], iterator_types = ["parallel", "parallel", "reduction"]}
        ins(%b : tensor<5x18x32xf32>) outs(%z2 : tensor<5x18xf32>) {
    ^bb0(%in: f32, %acc: f32):
      %0 = math.absf %in : f32
      %1 = arith.maximumf %acc, %0 : f32
      linalg.yield %1 : f32
    } -> tensor<5x18xf32>
    %e3 = tensor.empty() : tensor<5x18xf32>
    %scale = linalg.generic {indexing_maps = [#id2, #id2], iterator_types = ["parallel", "parallel"]}
        ins(%amax : tensor<5x18xf32>) outs(%e3 : tensor<5x18xf32>) {
    ^bb0(%in: f32, %o: f32):
      %0 = arith.mulf %in, %inv127 : f32
      linalg.yield %0 : f32
    } -> tensor<5x18xf32>
    %e4 = tensor.empty() : tensor<5x18x32xi8>
    %q = linalg.generic {indexing_maps = [#id3, #b3, #id3], iterator_types = ["parallel", "parallel", "parallel"]}
        ins(%b, %scale : tensor<5x18x32xf32>, tensor<5x18xf32>) outs(%e4 : tensor<5x18x32xi8>) {
    ^bb0(%in: f32, %s: f32, %o: i8):
      %isz = arith.cmpf oeq, %s, %zero : f32
      %inv = arith.divf %one, %s : f32
      %safe = arith.select %isz, %zero, %inv : f32
      %0 = arith.mulf %in, %safe : f32
      %1 = math.roundeven %0 : f32
      %2 = arith.fptosi %1 : f32 to i8
      linalg.yield %2 : i8
    } -> tensor<5x18x32xi8>
    %e5 = tensor.empty() : tensor<5x18xi32>
    %z5 = linalg.fill ins(%zi : i32) outs(%e5 : tensor<5x18xi32>) -> tensor<5x18xi32>
    %sum = linalg.generic {indexing_maps = [#id3, #b3], iterator_types = ["parallel", "parallel", "reduction"]}
        ins(%q : tensor<5x18x32xi8>) outs(%z5 : tensor<5x18xi32>) {
    ^bb0(%in: i8, %acc: i32):
      %0 = arith.extsi %in : i8 to i32
      %1 = arith.addi %acc, %0 : i32
      linalg.yield %1 : i32
    } -> tensor<5x18xi32>
    return %q, %scale, %sum, %y : tensor<5x18x32xi8>, tensor<5x18xf32>, tensor<5x18xi32>, tensor<5x576xf32>
  }
}

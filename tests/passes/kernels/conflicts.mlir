// Values that are read after something else could have overwritten them, and places results go to.
#id1 = affine_map<(d0) -> (d0)>
#id2 = affine_map<(d0, d1) -> (d0, d1)>
#r0 = affine_map<(d0, d1) -> (d0)>
#r1 = affine_map<(d0, d1) -> (d1)>
#rev = affine_map<(d0, d1) -> (-d0 + 5, d1)>
module {
  // One start value for two sums.
  func.func private @shared_start(%x: tensor<6x20xf32>) -> (tensor<6xf32>, tensor<6xf32>)
      attributes {ingot.kernel = "whole", ingot.tiles = affine_map<() -> (6)>} {
    %c = arith.constant 0.000000e+00 : f32
    %e = tensor.empty() : tensor<6xf32>
    %z = linalg.fill ins(%c : f32) outs(%e : tensor<6xf32>) -> tensor<6xf32>
    %a = linalg.generic {indexing_maps = [#id2, #r0], iterator_types = ["parallel", "reduction"]}
        ins(%x : tensor<6x20xf32>) outs(%z : tensor<6xf32>) {
    ^bb0(%i: f32, %o: f32):
      %0 = arith.maximumf %o, %i : f32
      linalg.yield %0 : f32
    } -> tensor<6xf32>
    %b = linalg.generic {indexing_maps = [#id2, #r0], iterator_types = ["parallel", "reduction"]}
        ins(%x : tensor<6x20xf32>) outs(%z : tensor<6xf32>) {
    ^bb0(%i: f32, %o: f32):
      %0 = arith.minimumf %o, %i : f32
      linalg.yield %0 : f32
    } -> tensor<6xf32>
    return %a, %b : tensor<6xf32>, tensor<6xf32>
  }
  // A column sum: the reduction is the outer loop.
  func.func private @column_sum(%x: tensor<6x20xf32>) -> tensor<20xf32>
      attributes {ingot.kernel = "whole", ingot.tiles = affine_map<() -> (1)>} {
    %c = arith.constant 0.000000e+00 : f32
    %e = tensor.empty() : tensor<20xf32>
    %z = linalg.fill ins(%c : f32) outs(%e : tensor<20xf32>) -> tensor<20xf32>
    %a = linalg.generic {indexing_maps = [#id2, #r1], iterator_types = ["reduction", "parallel"]}
        ins(%x : tensor<6x20xf32>) outs(%z : tensor<20xf32>) {
    ^bb0(%i: f32, %o: f32):
      %0 = arith.addf %o, %i : f32
      linalg.yield %0 : f32
    } -> tensor<20xf32>
    return %a : tensor<20xf32>
  }
  // The argument itself, a changed copy, and the argument upside down.
  func.func private @pass_through(%x: tensor<6x20xf32>, %y: tensor<2x20xf32>)
      -> (tensor<6x20xf32>, tensor<6x20xf32>, tensor<6x20xf32>)
      attributes {ingot.kernel = "whole", ingot.tiles = affine_map<() -> (1)>} {
    %0 = tensor.insert_slice %y into %x[3, 0] [2, 20] [1, 1] : tensor<2x20xf32> into tensor<6x20xf32>
    %e = tensor.empty() : tensor<6x20xf32>
    %1 = linalg.generic {indexing_maps = [#rev, #id2], iterator_types = ["parallel", "parallel"]}
        ins(%0 : tensor<6x20xf32>) outs(%e : tensor<6x20xf32>) {
    ^bb0(%i: f32, %o: f32):
      linalg.yield %i : f32
    } -> tensor<6x20xf32>
    return %x, %0, %1 : tensor<6x20xf32>, tensor<6x20xf32>, tensor<6x20xf32>
  }
  // An argument updated in place by an op that reads it the other way round.
  func.func private @in_place(%x: tensor<6x20xf32> {ingot.inout = 0 : i64}) -> (tensor<6x20xf32>, tensor<6x20xf32>)
      attributes {ingot.kernel = "whole", ingot.tiles = affine_map<() -> (1)>} {
    %e = tensor.empty() : tensor<6x20xf32>
    %1 = linalg.generic {indexing_maps = [#rev, #id2], iterator_types = ["parallel", "parallel"]}
        ins(%x : tensor<6x20xf32>) outs(%e : tensor<6x20xf32>) {
    ^bb0(%i: f32, %o: f32):
      %0 = arith.negf %i : f32
      linalg.yield %0 : f32
    } -> tensor<6x20xf32>
    %2 = linalg.generic {indexing_maps = [#id2, #id2, #id2], iterator_types = ["parallel", "parallel"]}
        ins(%x, %1 : tensor<6x20xf32>, tensor<6x20xf32>) outs(%e : tensor<6x20xf32>) {
    ^bb0(%i: f32, %j: f32, %o: f32):
      %0 = arith.addf %i, %j : f32
      linalg.yield %0 : f32
    } -> tensor<6x20xf32>
    return %2, %1 : tensor<6x20xf32>, tensor<6x20xf32>
  }
  // Two computed halves side by side.
  func.func private @concat(%x: tensor<6x20xf32>, %y: tensor<6x12xf32>) -> tensor<6x32xf32>
      attributes {ingot.kernel = "rows", ingot.tiles = affine_map<() -> (6)>} {
    %e0 = tensor.empty() : tensor<6x20xf32>
    %a = linalg.generic {indexing_maps = [#id2, #id2], iterator_types = ["parallel", "parallel"]}
        ins(%x : tensor<6x20xf32>) outs(%e0 : tensor<6x20xf32>) {
    ^bb0(%i: f32, %o: f32):
      %0 = arith.mulf %i, %i : f32
      linalg.yield %0 : f32
    } -> tensor<6x20xf32>
    %e1 = tensor.empty() : tensor<6x12xf32>
    %b = linalg.generic {indexing_maps = [#id2, #id2], iterator_types = ["parallel", "parallel"]}
        ins(%y : tensor<6x12xf32>) outs(%e1 : tensor<6x12xf32>) {
    ^bb0(%i: f32, %o: f32):
      %0 = arith.negf %i : f32
      linalg.yield %0 : f32
    } -> tensor<6x12xf32>
    %e = tensor.empty() : tensor<6x32xf32>
    %0 = tensor.insert_slice %a into %e[0, 0] [6, 20] [1, 1] : tensor<6x20xf32> into tensor<6x32xf32>
    %1 = tensor.insert_slice %b into %0[0, 20] [6, 12] [1, 1] : tensor<6x12xf32> into tensor<6x32xf32>
    return %1 : tensor<6x32xf32>
  }
  // A loop that carries a tensor whose start is still needed afterwards, and a scalar.
  func.func private @carried(%x: tensor<6x20xf32>) -> (tensor<6x20xf32>, tensor<1xf32>)
      attributes {ingot.kernel = "whole", ingot.tiles = affine_map<() -> (1)>} {
    %c0 = arith.constant 0 : index
    %c1 = arith.constant 1 : index
    %c5 = arith.constant 5 : index
    %zero = arith.constant 0.000000e+00 : f32
    %e = tensor.empty() : tensor<6x20xf32>
    %s = linalg.generic {indexing_maps = [#id2, #id2], iterator_types = ["parallel", "parallel"]}
        ins(%x : tensor<6x20xf32>) outs(%e : tensor<6x20xf32>) {
    ^bb0(%i: f32, %o: f32):
      %0 = math.absf %i : f32
      linalg.yield %0 : f32
    } -> tensor<6x20xf32>
    %r:2 = scf.for %i = %c0 to %c5 step %c1 iter_args(%t = %s, %sum = %zero) -> (tensor<6x20xf32>, f32) {
      %row = tensor.extract_slice %t[%i, 0] [1, 20] [1, 1] : tensor<6x20xf32> to tensor<20xf32>
      %next = arith.addi %i, %c1 : index
      %n = tensor.extract_slice %t[%next, 0] [1, 20] [1, 1] : tensor<6x20xf32> to tensor<20xf32>
      %er = tensor.empty() : tensor<20xf32>
      %new = linalg.generic {indexing_maps = [#id1, #id1, #id1], iterator_types = ["parallel"]}
          ins(%row, %n : tensor<20xf32>, tensor<20xf32>) outs(%er : tensor<20xf32>) {
      ^bb0(%a: f32, %b: f32, %o: f32):
        %0 = arith.subf %b, %a : f32
        linalg.yield %0 : f32
      } -> tensor<20xf32>
      %u = tensor.insert_slice %new into %t[%next, 0] [1, 20] [1, 1] : tensor<20xf32> into tensor<6x20xf32>
      %v = tensor.extract %u[%next, %c5] : tensor<6x20xf32>
      %ns = arith.addf %sum, %v : f32
      scf.yield %u, %ns : tensor<6x20xf32>, f32
    }
    %e2 = tensor.empty() : tensor<6x20xf32>
    %d = linalg.generic {indexing_maps = [#id2, #id2, #id2], iterator_types = ["parallel", "parallel"]}
        ins(%r#0, %s : tensor<6x20xf32>, tensor<6x20xf32>) outs(%e2 : tensor<6x20xf32>) {
    ^bb0(%a: f32, %b: f32, %o: f32):
      %0 = arith.addf %b, %a : f32
      linalg.yield %0 : f32
    } -> tensor<6x20xf32>
    %e1 = tensor.empty() : tensor<1xf32>
    %o = tensor.insert %r#1 into %e1[%c0] : tensor<1xf32>
    return %d, %o : tensor<6x20xf32>, tensor<1xf32>
  }
  // Branches, a small table, element stores.
  func.func private @branch(%x: tensor<6x20xf32>, %i: index {ingot.test = 2 : i64}) -> tensor<6x20xf32>
      attributes {ingot.kernel = "whole", ingot.tiles = affine_map<() -> (1)>} {
    %c2 = arith.constant 2 : index
    %c3 = arith.constant 3 : index
    %table = arith.constant dense<[1.500000e+00, 2.500000e+00, -3.500000e+00, 4.500000e+00, 5.500000e+00, 6.500000e+00]> : tensor<6xf32>
    %ones = arith.constant dense<1.000000e+00> : tensor<6x20xf32>
    %big = arith.cmpi sge, %i, %c2 : index
    %t = scf.if %big -> (tensor<6x20xf32>) {
      %e = tensor.empty() : tensor<6x20xf32>
      %0 = linalg.generic {indexing_maps = [#id2, #r0, #id2, #id2], iterator_types = ["parallel", "parallel"]}
          ins(%x, %table, %ones : tensor<6x20xf32>, tensor<6xf32>, tensor<6x20xf32>) outs(%e : tensor<6x20xf32>) {
      ^bb0(%a: f32, %b: f32, %c: f32, %o: f32):
        %1 = arith.mulf %a, %b : f32
        %2 = arith.addf %1, %c : f32
        linalg.yield %2 : f32
      } -> tensor<6x20xf32>
      scf.yield %0 : tensor<6x20xf32>
    } else {
      scf.yield %x : tensor<6x20xf32>
    }
    %v = tensor.extract %t[%i, %c3] : tensor<6x20xf32>
    %r = tensor.insert %v into %t[%c3, %i] : tensor<6x20xf32>
    return %r : tensor<6x20xf32>
  }
  // A small matrix product, with its transposed right side.
  func.func private @product(%x: tensor<6x20xf32>, %w: tensor<12x20xf32>) -> tensor<6x12xf32>
      attributes {ingot.kernel = "whole", ingot.tiles = affine_map<() -> (6)>} {
    %c = arith.constant 0.000000e+00 : f32
    %e = tensor.empty() : tensor<6x12xf32>
    %z = linalg.fill ins(%c : f32) outs(%e : tensor<6x12xf32>) -> tensor<6x12xf32>
    %a = linalg.matmul indexing_maps = [affine_map<(d0, d1, d2) -> (d0, d2)>, affine_map<(d0, d1, d2) -> (d1, d2)>, affine_map<(d0, d1, d2) -> (d0, d1)>]
        ins(%x, %w : tensor<6x20xf32>, tensor<12x20xf32>) outs(%z : tensor<6x12xf32>) -> tensor<6x12xf32>
    return %a : tensor<6x12xf32>
  }
  // Bodies that do not vectorise: a loop inside, the largest of a row with its place.
  func.func private @scalar_bodies(%x: tensor<6x20xf32>, %p: tensor<6x20xi32> {ingot.test_range = 20 : i64})
      -> (tensor<6xf32>, tensor<6xi32>, tensor<6x20xf32>, tensor<6x20xf32>)
      attributes {ingot.kernel = "rows", ingot.tiles = affine_map<() -> (6)>} {
    %c0 = arith.constant 0 : index
    %c1 = arith.constant 1 : index
    %low = arith.constant 0xFF800000 : f32
    %zi = arith.constant 0 : i32
    %e0 = tensor.empty() : tensor<6xf32>
    %z0 = linalg.fill ins(%low : f32) outs(%e0 : tensor<6xf32>) -> tensor<6xf32>
    %e1 = tensor.empty() : tensor<6xi32>
    %z1 = linalg.fill ins(%zi : i32) outs(%e1 : tensor<6xi32>) -> tensor<6xi32>
    %m:2 = linalg.generic {indexing_maps = [#id2, #r0, #r0], iterator_types = ["parallel", "reduction"]}
        ins(%x : tensor<6x20xf32>) outs(%z0, %z1 : tensor<6xf32>, tensor<6xi32>) {
    ^bb0(%i: f32, %best: f32, %at: i32):
      %j = linalg.index 1 : index
      %j32 = arith.index_cast %j : index to i32
      %gt = arith.cmpf ogt, %i, %best : f32
      %0 = arith.select %gt, %i, %best : f32
      %1 = arith.select %gt, %j32, %at : i32
      linalg.yield %0, %1 : f32, i32
    } -> (tensor<6xf32>, tensor<6xi32>)
    %e2 = tensor.empty() : tensor<6x20xf32>
    %g = linalg.generic {indexing_maps = [#id2, #id2], iterator_types = ["parallel", "parallel"]}
        ins(%p : tensor<6x20xi32>) outs(%e2 : tensor<6x20xf32>) {
    ^bb0(%i: i32, %o: f32):
      %r = linalg.index 0 : index
      %at = arith.index_cast %i : i32 to index
      %0 = tensor.extract %x[%r, %at] : tensor<6x20xf32>
      linalg.yield %0 : f32
    } -> tensor<6x20xf32>
    %h = linalg.generic {indexing_maps = [#id2, #id2], iterator_types = ["parallel", "parallel"]}
        ins(%g : tensor<6x20xf32>) outs(%e2 : tensor<6x20xf32>) {
    ^bb0(%i: f32, %o: f32):
      %r = linalg.index 0 : index
      %j = linalg.index 1 : index
      %0 = scf.for %k = %c0 to %j step %c1 iter_args(%s = %i) -> (f32) {
        %v = tensor.extract %x[%r, %k] : tensor<6x20xf32>
        %t = arith.addf %s, %v : f32
        scf.yield %t : f32
      }
      linalg.yield %0 : f32
    } -> tensor<6x20xf32>
    return %m#0, %m#1, %g, %h : tensor<6xf32>, tensor<6xi32>, tensor<6x20xf32>, tensor<6x20xf32>
  }
}

// Cases of test_level1_ops.py that it does not write itself: a function for each op, called after it.
func.func @builtin.module(%x: tensor<4xf32>) -> tensor<4xf32> {
  return %x : tensor<4xf32>
}
func.func @func.func(%x: tensor<2x3xf32>, %n: i32) -> (tensor<3x2xf32>, i32, tensor<2x3xf32>) {
  %c = tensor.collapse_shape %x [[0, 1]] : tensor<2x3xf32> into tensor<6xf32>
  %y = tensor.expand_shape %c [[0, 1]] output_shape [3, 2] : tensor<6xf32> into tensor<3x2xf32>
  return %y, %n, %x : tensor<3x2xf32>, i32, tensor<2x3xf32>
}
func.func @func.return(%x: tensor<4xf32>) {
  return
}
func.func private @twice(%x: tensor<4xf32>, %f: f32) -> (tensor<4xf32>, f32) {
  %e = tensor.empty() : tensor<4xf32>
  %r = linalg.generic {indexing_maps = [affine_map<(d0) -> (d0)>, affine_map<(d0) -> (d0)>], iterator_types = ["parallel"]} ins(%x : tensor<4xf32>) outs(%e : tensor<4xf32>) {
  ^bb0(%a: f32, %b: f32):
    %s = arith.mulf %a, %f : f32
    linalg.yield %s : f32
  } -> tensor<4xf32>
  return %r, %f : tensor<4xf32>, f32
}
func.func @func.call(%x: tensor<4xf32>, %f: f32) -> (tensor<4xf32>, f32) {
  %y, %g = call @twice(%x, %f) : (tensor<4xf32>, f32) -> (tensor<4xf32>, f32)
  %z, %h = call @twice(%y, %g) : (tensor<4xf32>, f32) -> (tensor<4xf32>, f32)
  return %z, %h : tensor<4xf32>, f32
}
func.func @arith.constant() -> (tensor<3xi32>, f64, tensor<2x2xf16>, i1, tensor<2xindex>) {
  %a = arith.constant dense<[1, -2, 3]> : tensor<3xi32>
  %b = arith.constant 0.1 : f64
  %c = arith.constant dense<1.5> : tensor<2x2xf16>
  %d = arith.constant true
  %e = arith.constant dense<[7, 8]> : tensor<2xindex>
  return %a, %b, %c, %d, %e : tensor<3xi32>, f64, tensor<2x2xf16>, i1, tensor<2xindex>
}
func.func @tensor.empty(%x: f32) -> tensor<2x3xf32> {
  %e = tensor.empty() : tensor<2x3xf32>
  %r = linalg.fill ins(%x : f32) outs(%e : tensor<2x3xf32>) -> tensor<2x3xf32>
  return %r : tensor<2x3xf32>
}
func.func @tensor.dim(%x: tensor<2x3xf32>) -> (index, index) {
  %c0 = arith.constant 0 : index
  %c1 = arith.constant 1 : index
  %m = tensor.dim %x, %c0 : tensor<2x3xf32>
  %n = tensor.dim %x, %c1 : tensor<2x3xf32>
  return %m, %n : index, index
}
func.func @tensor.cast(%x: tensor<2x3xf32>) -> tensor<2x3xf32> {
  %u = tensor.cast %x : tensor<2x3xf32> to tensor<?x3xf32>
  %r = tensor.cast %u : tensor<?x3xf32> to tensor<2x3xf32>
  return %r : tensor<2x3xf32>
}
func.func @tensor.extract(%x: tensor<6x6xf32>, %i: index, %j: index) -> f32 {
  %r = tensor.extract %x[%i, %j] : tensor<6x6xf32>
  return %r : f32
}
func.func @tensor.insert(%x: tensor<6x6xf32>, %v: f32, %i: index, %j: index) -> tensor<6x6xf32> {
  %r = tensor.insert %v into %x[%i, %j] : tensor<6x6xf32>
  return %r : tensor<6x6xf32>
}
func.func @tensor.extract_slice(%x: tensor<8x9xf32>, %i: index) -> (tensor<2x3xf32>, tensor<3xf32>) {
  %a = tensor.extract_slice %x[%i, 1] [2, 3] [1, 2] : tensor<8x9xf32> to tensor<2x3xf32>
  %b = tensor.extract_slice %x[2, %i] [1, 3] [1, 1] : tensor<8x9xf32> to tensor<3xf32>
  return %a, %b : tensor<2x3xf32>, tensor<3xf32>
}
func.func @tensor.insert_slice(%x: tensor<8x9xf32>, %y: tensor<2x3xf32>, %i: index) -> tensor<8x9xf32> {
  %a = tensor.insert_slice %y into %x[%i, 1] [2, 3] [1, 2] : tensor<2x3xf32> into tensor<8x9xf32>
  return %a : tensor<8x9xf32>
}
func.func @tensor.expand_shape(%x: tensor<6x4xf32>) -> tensor<2x3x4xf32> {
  %r = tensor.expand_shape %x [[0, 1], [2]] output_shape [2, 3, 4] : tensor<6x4xf32> into tensor<2x3x4xf32>
  return %r : tensor<2x3x4xf32>
}
func.func @tensor.collapse_shape(%x: tensor<2x3x4xf32>) -> tensor<6x4xf32> {
  %r = tensor.collapse_shape %x [[0, 1], [2]] : tensor<2x3x4xf32> into tensor<6x4xf32>
  return %r : tensor<6x4xf32>
}
func.func @tensor.pad(%x: tensor<2x3xf32>, %f: f32) -> (tensor<4x4xf32>, tensor<3x3xi32>) {
  %a = tensor.pad %x low[1, 0] high[1, 1] {
  ^bb0(%i: index, %j: index):
    tensor.yield %f : f32
  } : tensor<2x3xf32> to tensor<4x4xf32>
  %c = arith.constant dense<5> : tensor<2x2xi32>
  %b = tensor.pad %c low[1, 1] high[0, 0] {
  ^bb0(%i: index, %j: index):
    %s = arith.addi %i, %j : index
    %v = arith.index_cast %s : index to i32
    tensor.yield %v : i32
  } : tensor<2x2xi32> to tensor<3x3xi32>
  return %a, %b : tensor<4x4xf32>, tensor<3x3xi32>
}
func.func @tensor.yield(%x: tensor<3xf32>) -> tensor<5xf32> {
  %a = tensor.pad %x low[2] high[0] {
  ^bb0(%i: index):
    %c = arith.constant 1.0 : f32
    tensor.yield %c : f32
  } : tensor<3xf32> to tensor<5xf32>
  return %a : tensor<5xf32>
}
// Each window is read and written by one iteration.
func.func @tensor.parallel_insert_slice(%x: tensor<8x6xf32>, %o: tensor<8x6xf32>) -> tensor<8x6xf32> {
  %r = scf.forall (%i, %j) = (0, 0) to (8, 6) step (2, 3) shared_outs(%s = %o) -> (tensor<8x6xf32>) {
    %a = tensor.extract_slice %x[%i, %j] [2, 3] [1, 1] : tensor<8x6xf32> to tensor<2x3xf32>
    %b = tensor.extract_slice %s[%i, %j] [2, 3] [1, 1] : tensor<8x6xf32> to tensor<2x3xf32>
    %c = linalg.generic {indexing_maps = [affine_map<(d0, d1) -> (d0, d1)>, affine_map<(d0, d1) -> (d0, d1)>], iterator_types = ["parallel", "parallel"]} ins(%a : tensor<2x3xf32>) outs(%b : tensor<2x3xf32>) {
    ^bb0(%p: f32, %q: f32):
      %t = arith.addf %p, %q : f32
      linalg.yield %t : f32
    } -> tensor<2x3xf32>
    scf.forall.in_parallel {
      tensor.parallel_insert_slice %c into %s[%i, %j] [2, 3] [1, 1] : tensor<2x3xf32> into tensor<8x6xf32>
    }
  }
  return %r : tensor<8x6xf32>
}
func.func @linalg.generic(%x: tensor<4x6xf32>, %y: tensor<6xf32>) -> (tensor<4xf32>, tensor<6x4xf32>) {
  %c = arith.constant 0.0 : f32
  %e = tensor.empty() : tensor<4xf32>
  %z = linalg.fill ins(%c : f32) outs(%e : tensor<4xf32>) -> tensor<4xf32>
  %f = tensor.empty() : tensor<6x4xf32>
  %r:2 = linalg.generic {indexing_maps = [affine_map<(d0, d1) -> (d0, d1)>, affine_map<(d0, d1) -> (d1)>, affine_map<(d0, d1) -> (d0)>, affine_map<(d0, d1) -> (d1, d0)>], iterator_types = ["parallel", "reduction"]} ins(%x, %y : tensor<4x6xf32>, tensor<6xf32>) outs(%z, %f : tensor<4xf32>, tensor<6x4xf32>) {
  ^bb0(%a: f32, %b: f32, %s: f32, %o: f32):
    %p = arith.mulf %a, %b : f32
    %t = arith.addf %s, %p : f32
    linalg.yield %t, %p : f32, f32
  } -> (tensor<4xf32>, tensor<6x4xf32>)
  return %r#0, %r#1 : tensor<4xf32>, tensor<6x4xf32>
}
func.func @linalg.index() -> tensor<3x4xindex> {
  %e = tensor.empty() : tensor<3x4xindex>
  %r = linalg.generic {indexing_maps = [affine_map<(d0, d1) -> (d0, d1)>], iterator_types = ["parallel", "parallel"]} outs(%e : tensor<3x4xindex>) {
  ^bb0(%o: index):
    %i = linalg.index 0 : index
    %j = linalg.index 1 : index
    %m = arith.muli %i, %j : index
    linalg.yield %m : index
  } -> tensor<3x4xindex>
  return %r : tensor<3x4xindex>
}
func.func @linalg.yield(%x: tensor<3xf32>) -> (tensor<3xf32>, tensor<3xf32>) {
  %e = tensor.empty() : tensor<3xf32>
  %r:2 = linalg.generic {indexing_maps = [affine_map<(d0) -> (-d0 + 2)>, affine_map<(d0) -> (d0)>, affine_map<(d0) -> (d0)>], iterator_types = ["parallel"]} ins(%x : tensor<3xf32>) outs(%e, %e : tensor<3xf32>, tensor<3xf32>) {
  ^bb0(%a: f32, %o: f32, %p: f32):
    %n = arith.negf %a : f32
    linalg.yield %a, %n : f32, f32
  } -> (tensor<3xf32>, tensor<3xf32>)
  return %r#0, %r#1 : tensor<3xf32>, tensor<3xf32>
}
func.func @linalg.softmax(%x: tensor<4x6xf32>) -> tensor<4x6xf32> {
  %e = tensor.empty() : tensor<4x6xf32>
  %r = linalg.softmax dimension(1) ins(%x : tensor<4x6xf32>) outs(%e : tensor<4x6xf32>) -> tensor<4x6xf32>
  return %r : tensor<4x6xf32>
}
func.func @linalg.reduce(%x: tensor<4x6xf32>, %z: tensor<4xf32>) -> tensor<4xf32> {
  %r = linalg.reduce ins(%x : tensor<4x6xf32>) outs(%z : tensor<4xf32>) dimensions = [1]
  (%a: f32, %s: f32) {
    %m = arith.maximumf %a, %s : f32
    linalg.yield %m : f32
  }
  return %r : tensor<4xf32>
}
func.func @linalg.transpose(%x: tensor<2x3x4xf32>) -> tensor<4x2x3xf32> {
  %e = tensor.empty() : tensor<4x2x3xf32>
  %r = linalg.transpose ins(%x : tensor<2x3x4xf32>) outs(%e : tensor<4x2x3xf32>) permutation = [2, 0, 1]
  return %r : tensor<4x2x3xf32>
}
func.func @linalg.broadcast(%x: tensor<4xf32>) -> tensor<3x4xf32> {
  %e = tensor.empty() : tensor<3x4xf32>
  %r = linalg.broadcast ins(%x : tensor<4xf32>) outs(%e : tensor<3x4xf32>) dimensions = [0]
  return %r : tensor<3x4xf32>
}
func.func @linalg.pack(%x: tensor<10x6xf32>, %f: f32) -> tensor<3x2x4x4xf32> {
  %e = tensor.empty() : tensor<3x2x4x4xf32>
  %r = linalg.pack %x padding_value(%f : f32) inner_dims_pos = [0, 1] inner_tiles = [4, 4] into %e : tensor<10x6xf32> -> tensor<3x2x4x4xf32>
  return %r : tensor<3x2x4x4xf32>
}
func.func @linalg.unpack(%x: tensor<3x2x4x4xf32>) -> tensor<10x6xf32> {
  %e = tensor.empty() : tensor<10x6xf32>
  %r = linalg.unpack %x inner_dims_pos = [0, 1] inner_tiles = [4, 4] into %e : tensor<3x2x4x4xf32> -> tensor<10x6xf32>
  return %r : tensor<10x6xf32>
}
func.func @scf.for(%x: tensor<6xf32>, %n: index, %s: f32) -> (f32, tensor<6xf32>) {
  %c0 = arith.constant 0 : index
  %c1 = arith.constant 1 : index
  %r:2 = scf.for %i = %c0 to %n step %c1 iter_args(%a = %s, %t = %x) -> (f32, tensor<6xf32>) {
    %v = tensor.extract %t[%i] : tensor<6xf32>
    %b = arith.addf %a, %v : f32
    %u = tensor.insert %b into %t[%i] : tensor<6xf32>
    scf.yield %b, %u : f32, tensor<6xf32>
  }
  return %r#0, %r#1 : f32, tensor<6xf32>
}
func.func @scf.if(%c: i1, %x: tensor<4xf32>, %y: tensor<4xf32>) -> (tensor<4xf32>, tensor<4xf32>) {
  %r = scf.if %c -> (tensor<4xf32>) {
    %e = tensor.empty() : tensor<4xf32>
    %n = linalg.generic {indexing_maps = [affine_map<(d0) -> (d0)>, affine_map<(d0) -> (d0)>], iterator_types = ["parallel"]} ins(%x : tensor<4xf32>) outs(%e : tensor<4xf32>) {
    ^bb0(%a: f32, %o: f32):
      %m = arith.negf %a : f32
      linalg.yield %m : f32
    } -> tensor<4xf32>
    scf.yield %n : tensor<4xf32>
  } else {
    scf.yield %y : tensor<4xf32>
  }
  %whole = arith.select %c, %y, %r : tensor<4xf32>
  return %r, %whole : tensor<4xf32>, tensor<4xf32>
}
func.func @scf.yield(%c: i1, %a: i32, %b: i32) -> i32 {
  %r = scf.if %c -> (i32) {
    scf.yield %a : i32
  } else {
    scf.yield %b : i32
  }
  return %r : i32
}
// An iteration reads what another one overwrites: as it was before the loop.
func.func @scf.forall(%x: tensor<6x4xf32>, %n: index) -> tensor<6x4xf32> {
  %c5 = arith.constant 5 : index
  %r = scf.forall (%i) in (%n) shared_outs(%s = %x) -> (tensor<6x4xf32>) {
    %k = arith.subi %c5, %i : index
    %a = tensor.extract_slice %s[%k, 0] [1, 4] [1, 1] : tensor<6x4xf32> to tensor<4xf32>
    %b = tensor.extract_slice %s[%i, 0] [1, 4] [1, 1] : tensor<6x4xf32> to tensor<4xf32>
    %c = linalg.generic {indexing_maps = [affine_map<(d0) -> (d0)>, affine_map<(d0) -> (d0)>], iterator_types = ["parallel"]} ins(%a : tensor<4xf32>) outs(%b : tensor<4xf32>) {
    ^bb0(%p: f32, %q: f32):
      %t = arith.subf %p, %q : f32
      linalg.yield %t : f32
    } -> tensor<4xf32>
    scf.forall.in_parallel {
      tensor.parallel_insert_slice %c into %s[%i, 0] [1, 4] [1, 1] : tensor<4xf32> into tensor<6x4xf32>
    }
  }
  return %r : tensor<6x4xf32>
}
// Several results and insertions, in a loop whose bounds are computed.
func.func @scf.forall.in_parallel(%x: tensor<12xf32>, %o: tensor<12xf32>, %n: index) -> (tensor<12xf32>, tensor<2x12xf32>) {
  %e = tensor.empty() : tensor<2x12xf32>
  %f = arith.constant 0.0 : f32
  %z = linalg.fill ins(%f : f32) outs(%e : tensor<2x12xf32>) -> tensor<2x12xf32>
  %r:2 = scf.forall (%i) = (1) to (%n) step (1) shared_outs(%s = %o, %t = %z) -> (tensor<12xf32>, tensor<2x12xf32>) {
    %at = affine.apply affine_map<(d0) -> (d0 * 3)>(%i)
    %a = tensor.extract_slice %x[%at] [3] [1] : tensor<12xf32> to tensor<3xf32>
    %b = tensor.extract_slice %s[%at] [3] [1] : tensor<12xf32> to tensor<3xf32>
    scf.forall.in_parallel {
      tensor.parallel_insert_slice %a into %s[%at] [3] [1] : tensor<3xf32> into tensor<12xf32>
      tensor.parallel_insert_slice %a into %t[0, %at] [1, 3] [1, 1] : tensor<3xf32> into tensor<2x12xf32>
      tensor.parallel_insert_slice %b into %t[1, %at] [1, 3] [1, 1] : tensor<3xf32> into tensor<2x12xf32>
    }
  }
  return %r#0, %r#1 : tensor<12xf32>, tensor<2x12xf32>
}
func.func @cf.assert(%n: index, %x: f32) -> f32 {
  %c = arith.constant 5 : index
  %ok = arith.cmpi ult, %n, %c : index
  cf.assert %ok, "n is below 5"
  return %x : f32
}
func.func @bufferization.to_tensor(%x: tensor<4xf32>) -> tensor<4xf32> {
  %m = bufferization.to_buffer %x : tensor<4xf32> to memref<4xf32>
  %r = bufferization.to_tensor %m restrict : memref<4xf32> to tensor<4xf32>
  return %r : tensor<4xf32>
}
func.func @bufferization.to_buffer(%x: tensor<4xf32>) -> f32 {
  %c = arith.constant 2 : index
  %m = bufferization.to_buffer %x read_only : tensor<4xf32> to memref<4xf32>
  %t = bufferization.to_tensor %m restrict : memref<4xf32> to tensor<4xf32>
  %r = tensor.extract %t[%c] : tensor<4xf32>
  return %r : f32
}

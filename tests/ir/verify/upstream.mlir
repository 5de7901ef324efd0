// every fault of a module is reported, not only the first
func.func @f(%a: tensor<8xf32>, %b: tensor<6xf32>, %m: memref<8xf32>) {
// expected-error@+1 {{slice along dimension 0 runs out-of-bounds: 9 >= 8}}
  %0 = tensor.extract_slice %a[4] [6] [1] : tensor<8xf32> to tensor<6xf32>
// expected-error@+1 {{slice along dimension 0 runs out-of-bounds: 9 >= 8}}
  %1 = tensor.insert_slice %b into %a[4] [6] [1] : tensor<6xf32> into tensor<8xf32>
// expected-error@+1 {{slice along dimension 0 runs out-of-bounds: 9 >= 8}}
  %2 = memref.subview %m[4] [6] [1] : memref<8xf32> to memref<6xf32, strided<[1], offset: 4>>
// expected-error@+1 {{offset 0 is out-of-bounds: 8 >= 8}}
  %3 = tensor.extract_slice %a[8] [1] [1] : tensor<8xf32> to tensor<1xf32>
// expected-error@+1 {{expected type to be 'tensor<4xf32>' or a rank-reduced version}}
  %4 = tensor.extract_slice %a[0] [4] [1] : tensor<8xf32> to tensor<5xf32>
  return
}
// -----
// slices and reshapes that fit
func.func @f(%a: tensor<4x8xf32>, %m: memref<4x8xf32>, %i: index) -> tensor<8xf32> {
  %0 = tensor.extract_slice %a[%i, 0] [1, 8] [1, 1] : tensor<4x8xf32> to tensor<8xf32>
  %1 = tensor.insert_slice %0 into %a[%i, 0] [1, 8] [1, 1] : tensor<8xf32> into tensor<4x8xf32>
  %2 = memref.subview %m[%i, 0] [1, 8] [1, 1] : memref<4x8xf32> to memref<8xf32, strided<[1], offset: ?>>
  %3 = memref.subview %m[0, 2] [4, 2] [1, 3] : memref<4x8xf32> to memref<4x2xf32, strided<[8, 3], offset: 2>>
  %4 = memref.collapse_shape %m [[0, 1]] : memref<4x8xf32> into memref<32xf32>
  %5 = tensor.collapse_shape %a [[0, 1]] : tensor<4x8xf32> into tensor<32xf32>
  return %0 : tensor<8xf32>
}
// -----
// reshapes that do not
func.func @f(%a: tensor<4x8xf32>, %m: memref<4x8xf32, strided<[16, 1]>>) {
// expected-error@+1 {{expected dimension 1 of collapsed type to be static value of 4}}
  %0 = tensor.expand_shape %a [[0], [1, 2]] output_shape [4, 2, 2] : tensor<4x8xf32> into tensor<4x2x2xf32>
// expected-error@+1 {{valid and contiguous}}
  %1 = tensor.collapse_shape %a [[1, 0]] : tensor<4x8xf32> into tensor<32xf32>
// expected-error@+1 {{layout}}
  %2 = memref.collapse_shape %m [[0, 1]] : memref<4x8xf32, strided<[16, 1]>> into memref<32xf32>
  return
}
// -----
// the stride of a dimension of one element says nothing: that of the next outer one counts
func.func @f(%a: memref<3x1xf32, strided<[5, 1], offset: ?>>, %b: memref<1x1xf32, strided<[5, 2]>>, %c: memref<2x3x1x1xf32, strided<[15, 5, 7, 9]>>, %d: memref<1x?x1xf32, strided<[5, 2, 1]>>) {
  %0 = memref.collapse_shape %a [[0, 1]] : memref<3x1xf32, strided<[5, 1], offset: ?>> into memref<3xf32, strided<[5], offset: ?>>
  %1 = memref.collapse_shape %b [[0, 1]] : memref<1x1xf32, strided<[5, 2]>> into memref<1xf32, strided<[5]>>
  %2 = memref.collapse_shape %c [[0, 1, 2, 3]] : memref<2x3x1x1xf32, strided<[15, 5, 7, 9]>> into memref<6xf32, strided<[5]>>
  %3 = memref.collapse_shape %d [[0, 1, 2]] : memref<1x?x1xf32, strided<[5, 2, 1]>> into memref<?xf32, strided<[?]>>
  return
}
// -----
// strides that do not follow from those of the source
func.func @f(%a: memref<3x1xf32, strided<[5, 1]>>, %b: memref<1x1xf32, strided<[5, 2]>>, %c: memref<2x3x1xf32, strided<[14, 5, 1]>>, %d: memref<3xf32, strided<[5]>>) {
// expected-error@+1 {{layout}}
  %0 = memref.collapse_shape %a [[0, 1]] : memref<3x1xf32, strided<[5, 1]>> into memref<3xf32, strided<[1]>>
// expected-error@+1 {{layout}}
  %1 = memref.collapse_shape %b [[0, 1]] : memref<1x1xf32, strided<[5, 2]>> into memref<1xf32, strided<[2]>>
// expected-error@+1 {{layout}}
  %2 = memref.collapse_shape %c [[0, 1, 2]] : memref<2x3x1xf32, strided<[14, 5, 1]>> into memref<6xf32, strided<[5]>>
// expected-error@+1 {{layout}}
  %3 = memref.expand_shape %d [[0, 1]] output_shape [1, 3] : memref<3xf32, strided<[5]>> into memref<1x3xf32, strided<[3, 5]>>
  return
}
// -----
// calls and returns
func.func private @g(%x: f32) -> f32 { return %x : f32 }
func.func @f(%x: f32, %h: f16) -> f32 {
// expected-error@+1 {{'nope' does not reference a valid function}}
  func.call @nope() : () -> ()
// expected-error@+1 {{operand type mismatch: expected operand type 'f32', but provided 'f16' for operand number 0}}
  %0 = func.call @g(%h) : (f16) -> f32
// expected-error@+1 {{incorrect number of operands for callee}}
  %1 = func.call @g() : () -> f32
// expected-error@+1 {{type of return operand 0 ('f16') doesn't match function result type ('f32') in function @f}}
  return %h : f16
}
// -----
// a symbol defined twice
func.func private @a() { return }
// expected-error@+1 {{redefinition of symbol named 'a'}}
func.func private @a() { return }
// -----
// generic: maps and ranges
func.func @f(%a: tensor<8xf32>, %b: tensor<22xf32>, %z: tensor<4xf32>, %y: tensor<8xf32>) {
// expected-error@+1 {{invalid indexing maps are non-invertible: ((d0, d1) -> (d0 + d1, d0))}}
  %0 = linalg.generic {indexing_maps = [affine_map<(i, j) -> (i + j)>, affine_map<(i, j) -> (i)>], iterator_types = ["parallel", "reduction"]} ins(%a : tensor<8xf32>) outs(%z : tensor<4xf32>) {
  ^bb0(%x: f32, %o: f32):
    linalg.yield %x : f32
  } -> tensor<4xf32>
// expected-error@+1 {{to be 8, but found 4}}
  %1 = linalg.generic {indexing_maps = [affine_map<(i) -> (i)>, affine_map<(i) -> (i)>], iterator_types = ["parallel"]} ins(%a : tensor<8xf32>) outs(%z : tensor<4xf32>) {
  ^bb0(%x: f32, %o: f32):
    linalg.yield %x : f32
  } -> tensor<4xf32>
  %2 = linalg.generic {indexing_maps = [affine_map<(i) -> (i * 3)>, affine_map<(i) -> (i)>], iterator_types = ["parallel"]} ins(%b : tensor<22xf32>) outs(%y : tensor<8xf32>) {
  ^bb0(%x: f32, %o: f32):
    linalg.yield %x : f32
  } -> tensor<8xf32>
// expected-error@+1 {{to be greater than or equal to 29, but found 22}}
  %3 = linalg.generic {indexing_maps = [affine_map<(i) -> (i * 4)>, affine_map<(i) -> (i)>], iterator_types = ["parallel"]} ins(%b : tensor<22xf32>) outs(%y : tensor<8xf32>) {
  ^bb0(%x: f32, %o: f32):
    linalg.yield %x : f32
  } -> tensor<8xf32>
// expected-error@+1 {{unexpected result less than 0}}
  %4 = linalg.generic {indexing_maps = [affine_map<(i) -> (i - 1)>, affine_map<(i) -> (i)>], iterator_types = ["parallel"]} ins(%b : tensor<22xf32>) outs(%y : tensor<8xf32>) {
  ^bb0(%x: f32, %o: f32):
    linalg.yield %x : f32
  } -> tensor<8xf32>
  return
}
// -----
// generic: yields, block arguments, loop numbers
func.func @f(%a: tensor<4xf32>, %z: tensor<4xf16>) {
  %0 = linalg.generic {indexing_maps = [affine_map<(i) -> (i)>, affine_map<(i) -> (i)>], iterator_types = ["parallel"]} ins(%a : tensor<4xf32>) outs(%z : tensor<4xf16>) {
  ^bb0(%x: f32, %o: f16):
// expected-error@+1 {{type of yield operand 1 ('f32') doesn't match the element type of the enclosing linalg.generic op ('f16')}}
    linalg.yield %x : f32
  } -> tensor<4xf16>
// expected-error@+1 {{expected type of bb argument #0 ('f16')}}
  %1 = linalg.generic {indexing_maps = [affine_map<(i) -> (i)>, affine_map<(i) -> (i)>], iterator_types = ["parallel"]} ins(%a : tensor<4xf32>) outs(%z : tensor<4xf16>) {
  ^bb0(%x: f16, %o: f16):
    linalg.yield %x : f16
  } -> tensor<4xf16>
  %2 = linalg.generic {indexing_maps = [affine_map<(i) -> (i)>], iterator_types = ["parallel"]} outs(%a : tensor<4xf32>) {
  ^bb0(%o: f32):
// expected-error@+1 {{to be lower than the number of loops (1)}}
    %k = linalg.index 1 : index
    linalg.yield %o : f32
  } -> tensor<4xf32>
  return
}
// -----
// named structured operations
func.func @f(%a: tensor<4x8x64xf32>, %b: tensor<2x32x64xf32>, %z: tensor<4x8x32xf32>, %h: tensor<4x8x64xf16>, %v: tensor<8xf32>) {
// expected-error@+1 {{Unexpected result dim expression (outside the set of default result dims).}}
  %0 = linalg.batch_matmul indexing_maps = [affine_map<(b, m, n, k) -> (b, m, k)>, affine_map<(b, m, n, k) -> (b floordiv 2, n, k)>, affine_map<(b, m, n, k) -> (b, m, n)>] ins(%a, %b : tensor<4x8x64xf32>, tensor<2x32x64xf32>) outs(%z : tensor<4x8x32xf32>) -> tensor<4x8x32xf32>
// expected-error@+1 {{input and output have same element type}}
  %1 = linalg.softmax dimension(2) ins(%a : tensor<4x8x64xf32>) outs(%h : tensor<4x8x64xf16>) -> tensor<4x8x64xf16>
// expected-error@+1 {{incorrect dimension specified}}
  %2 = linalg.softmax dimension(3) ins(%a : tensor<4x8x64xf32>) outs(%a : tensor<4x8x64xf32>) -> tensor<4x8x64xf32>
  %c = arith.constant 0.0 : f32
// expected-error@+1 {{expected fill value type ('f32') to match output element type ('f16')}}
  %3 = linalg.fill ins(%c : f32) outs(%h : tensor<4x8x64xf16>) -> tensor<4x8x64xf16>
// expected-error@+1 {{init dimensions [8] doesn't match input dimensions after reduction [4]}}
  %4 = linalg.reduce { arith.addf } ins(%a : tensor<4x8x64xf32>) outs(%v : tensor<8xf32>) dimensions = [1, 2]
// expected-error@+1 {{dim(result, 0) = 4 doesn't match dim(input, permutation[0]) = 8}}
  %5 = linalg.transpose ins(%a : tensor<4x8x64xf32>) outs(%a : tensor<4x8x64xf32>) permutation = [1, 0, 2]
// expected-error@+1 {{input dim 0 should match init dim 0}}
  %6 = linalg.broadcast ins(%v : tensor<8xf32>) outs(%a : tensor<4x8x64xf32>) dimensions = [1, 2]
  return
}
// -----
// casts
func.func @f(%a: f32, %i: i32, %x: index, %v: vector<4xf32>, %t: tensor<4xf32>) {
// expected-error@+1 {{operand type 'f32' and result type 'f16' are cast incompatible}}
  %0 = arith.extf %a : f32 to f16
// expected-error@+1 {{cast incompatible}}
  %1 = arith.trunci %i : i32 to i64
// expected-error@+1 {{cast incompatible}}
  %2 = arith.index_cast %i : i32 to i64
// expected-error@+1 {{cast incompatible}}
  %3 = arith.bitcast %a : f32 to i64
// expected-error@+1 {{operand #0 must be signless-fixed-width-integer-like, but got 'index'}}
  %4 = arith.sitofp %x : index to f32
// expected-error@+1 {{cast incompatible}}
  %5 = arith.truncf %v : vector<4xf32> to vector<8xf16>
// expected-error@+1 {{operand #0 must be floating-point-like, but got 'tensor<4xf32>'}}
  %6 = arith.negf %t : tensor<4xf32>
// expected-error@+1 {{cast incompatible}}
  %7 = tensor.cast %t : tensor<4xf32> to tensor<5xf32>
  return
}
// -----
// loops and branches
func.func @f(%n: index, %p: i1, %x: f32, %h: f16) {
  %c0 = arith.constant 0 : index
  %c1 = arith.constant 1 : index
// expected-error@+1 {{constant step operand must be positive}}
  scf.for %i = %c0 to %n step %c0 {
  }
  %r = scf.if %p -> (f32) {
// expected-error@+1 {{operand #0 has type 'f16'}}
    scf.yield %h : f16
  } else {
    scf.yield %x : f32
  }
  return
}
// -----
// a value used before it is defined, and outside of its region
func.func @f(%n: index) -> f32 {
  %c0 = arith.constant 0 : index
  %c1 = arith.constant 1 : index
  %r = scf.for %i = %c0 to %n step %c1 iter_args(%a = %x) -> (f32) {
// expected-error@-1 {{operand #3 does not dominate this use}}
    scf.yield %a : f32
  }
  %x = arith.constant 1.0 : f32
  return %r : f32
}
// -----
// memory
func.func @f(%a: memref<1024xf32>, %s: memref<1024xi8, strided<[2]>>, %n: index, %v: f16) {
  %c = arith.constant 128 : index
// expected-error@+1 {{operand #0 must be 1D memref of 8-bit signless integer values, but got 'memref<1024xf32>'}}
  %0 = memref.view %a[%c][] : memref<1024xf32> to memref<8x4xf32>
// expected-error@+1 {{unsupported map for base memref type}}
  %1 = memref.view %s[%c][] : memref<1024xi8, strided<[2]>> to memref<8x4xf32>
// expected-error@+1 {{dimension operand count does not equal memref dynamic dimension count}}
  %2 = memref.alloc(%n) : memref<4xf32>
// expected-error@+1 {{incorrect number of indices for load, expected 1 but got 2}}
  %3 = memref.load %a[%n, %n] : memref<1024xf32>
// expected-error@+1 {{alignment must be power of 2}}
  %4 = memref.assume_alignment %a, 48 : memref<1024xf32>
// expected-error@+1 {{does not reference a valid global memref}}
  %5 = memref.get_global @nope : memref<4xf32>
  return
}
// -----
// vectors
func.func @f(%a: vector<4xf32>, %b: vector<8xf32>, %m: memref<4x8xf32>, %i: index, %z: f32, %w: vector<4xi8>) {
// expected-error@+1 {{cannot be broadcast}}
  %0 = vector.broadcast %a : vector<4xf32> to vector<8xf32>
// expected-error@+1 {{number of elements must match}}
  %1 = vector.shape_cast %a : vector<4xf32> to vector<2x4xf32>
// expected-error@+1 {{mask index #2 out of range}}
  %2 = vector.shuffle %a, %a [0, 8] : vector<4xf32>, vector<4xf32>
// expected-error@+1 {{unsupported reduction type}}
  %3 = vector.reduction <and>, %a : vector<4xf32> into f32
// expected-error@+1 {{bitwidth of the minor 1-D vectors must be equal}}
  %4 = vector.bitcast %w : vector<4xi8> to vector<2xi32>
// expected-error@+1 {{must specify an operand for each result vector dimension}}
  %5 = vector.create_mask %i : vector<4x4xi1>
  %6 = vector.transfer_read %m[%i, %i], %z {in_bounds = [true]} : memref<4x8xf32>, vector<8xf32>
  return
}
// -----
// affine
func.func @f(%a: memref<4x8xf32>, %i: index) {
  %0 = affine.apply affine_map<(d0) -> (d0 floordiv 4)>(%i)
  affine.for %j = 0 to 8 step 2 {
    %1 = affine.load %a[%i, %j + 1] : memref<4x8xf32>
    affine.store %1, %a[%i, %j] : memref<4x8xf32>
  }
  return
}
// -----
// as many strides as the window has directions
func.func @f(%a: tensor<1x17x3xf32>, %w: tensor<3x3x8xf32>, %z: tensor<1x8x8xf32>) -> tensor<1x8x8xf32> {
// expected-error@+1 {{attribute 'strides' must be 64-bit integers from 1 to 2^31 - 1, 1 of them}}
  %r = linalg.conv_1d_nwc_wcf {strides = dense<2> : tensor<2xi64>} ins(%a, %w : tensor<1x17x3xf32>, tensor<3x3x8xf32>) outs(%z : tensor<1x8x8xf32>) -> tensor<1x8x8xf32>
  return %r : tensor<1x8x8xf32>
}
// -----
func.func @f(%a: tensor<1x3x17x17xf32>, %w: tensor<3x3x3x3xf32>, %z: tensor<1x3x15x15xf32>) -> tensor<1x3x15x15xf32> {
// expected-error@+1 {{expected operand rank (4) to match the result rank of indexing_map #1 (3)}}
  %r = linalg.depthwise_conv_2d_nchw_chw ins(%a, %w : tensor<1x3x17x17xf32>, tensor<3x3x3x3xf32>) outs(%z : tensor<1x3x15x15xf32>) -> tensor<1x3x15x15xf32>
  return %r : tensor<1x3x15x15xf32>
}

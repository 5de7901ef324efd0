// V2: a constant index out of range
func.func @f(%a: memref<8xf32>) -> f32 {
  %c = arith.constant 8 : index
// expected-error@+1 {{index 8 is out of range for dimension 0 of size 8}}
  %v = memref.load %a[%c] : memref<8xf32>
  return %v : f32
}
// -----
// V2: the last index is in range
func.func @f(%a: memref<8xf32>) -> f32 {
  %c = arith.constant 7 : index
  %v = memref.load %a[%c] : memref<8xf32>
  memref.store %v, %a[%c] : memref<8xf32>
  return %v : f32
}
// -----
// V2: store, affine, tensor
func.func @f(%a: memref<4x8xf32>, %t: tensor<4xf32>, %v: f32) -> f32 {
  %c0 = arith.constant 0 : index
  %c4 = arith.constant 4 : index
  %m = arith.constant -1 : index
// expected-error@+1 {{index 4 is out of range for dimension 0 of size 4}}
  memref.store %v, %a[%c4, %c0] : memref<4x8xf32>
// expected-error@+1 {{index 9 is out of range for dimension 1 of size 8}}
  %x = affine.load %a[0, 9] : memref<4x8xf32>
// expected-error@+1 {{index -1 is out of range}}
  %y = tensor.extract %t[%m] : tensor<4xf32>
  return %y : f32
}
// -----
// V2: a vector wider than what is left of its row
func.func @f(%a: memref<4x8xf32>, %i: index) -> vector<8xf32> {
  %c1 = arith.constant 1 : index
// expected-error@+1 {{accesses 8 elements from index 1 of dimension 1, whose size is 8}}
  %v = vector.load %a[%i, %c1] : memref<4x8xf32>, vector<8xf32>
// expected-error@+1 {{accesses 16 elements from index 0 of dimension 1, whose size is 8}}
  %w = vector.load %a[%i, %i] : memref<4x8xf32>, vector<16xf32>
// expected-error@+1 {{accesses 8 elements from index 4 of dimension 1, whose size is 8}}
  %x = affine.vector_load %a[%i, 4] : memref<4x8xf32>, vector<8xf32>
  return %v : vector<8xf32>
}
// -----
// V2: vectors that fit
func.func @f(%a: memref<4x8xf32>, %i: index) -> vector<8xf32> {
  %c0 = arith.constant 0 : index
  %v = vector.load %a[%i, %c0] : memref<4x8xf32>, vector<8xf32>
  %w = affine.vector_load %a[%i, 4] : memref<4x8xf32>, vector<4xf32>
  return %v : vector<8xf32>
}
// -----
// V2: a position of a vector
func.func @f(%a: vector<4xf32>) -> f32 {
// expected-error@+1 {{expected position attribute #1}}
  %v = vector.extract %a[4] : f32 from vector<4xf32>
  return %v : f32
}
// -----
// V3: a view outside of its arena, and one off its alignment
func.func @f(%a: memref<256xi8>) {
  %c128 = arith.constant 128 : index
  %c132 = arith.constant 132 : index
  %c6 = arith.constant 6 : index
  %ok = memref.view %a[%c128][] : memref<256xi8> to memref<32xf32>
// expected-error@+1 {{views bytes 132 to 259 of 256}}
  %v = memref.view %a[%c132][] : memref<256xi8> to memref<32xf32>
// expected-error@+1 {{byte offset 6, which is no multiple}}
  %w = memref.view %a[%c6][] : memref<256xi8> to memref<2xf32>
  return
}
// -----
// V3: inside and aligned
func.func @f(%a: memref<256xi8>) {
  %c128 = arith.constant 128 : index
  %v = memref.view %a[%c128][] : memref<256xi8> to memref<32xf32>
  return
}
// -----
// V4: a reinterpret_cast that reaches beyond its buffer
func.func @f(%a: memref<16xf32>) {
// expected-error@+1 {{reaches from element 8 to 23 of a buffer of 16}}
  %r = memref.reinterpret_cast %a to offset: [8], sizes: [4, 4], strides: [4, 1] : memref<16xf32> to memref<4x4xf32, strided<[4, 1], offset: 8>>
  return
}
// -----
// V4: one that does not
func.func @f(%a: memref<24xf32>) {
  %r = memref.reinterpret_cast %a to offset: [8], sizes: [4, 4], strides: [4, 1] : memref<24xf32> to memref<4x4xf32, strided<[4, 1], offset: 8>>
  return
}
// -----
// V5: accumulating into undefined data
func.func @f(%a: tensor<8x8xf32>) -> tensor<8x8xf32> {
  %e = tensor.empty() : tensor<8x8xf32>
// expected-error@+1 {{accumulates into output 0, which comes straight from tensor.empty}}
  %v = linalg.matmul ins(%a, %a : tensor<8x8xf32>, tensor<8x8xf32>) outs(%e : tensor<8x8xf32>) -> tensor<8x8xf32>
  return %v : tensor<8x8xf32>
}
// -----
// V5: the output is filled first; a pure write may go to an empty tensor
func.func @f(%a: tensor<8x8xf32>) -> tensor<8x8xf32> {
  %zero = arith.constant 0.0 : f32
  %e = tensor.empty() : tensor<8x8xf32>
  %z = linalg.fill ins(%zero : f32) outs(%e : tensor<8x8xf32>) -> tensor<8x8xf32>
  %v = linalg.matmul ins(%a, %a : tensor<8x8xf32>, tensor<8x8xf32>) outs(%z : tensor<8x8xf32>) -> tensor<8x8xf32>
  %r = linalg.generic {indexing_maps = [affine_map<(i, j) -> (i, j)>, affine_map<(i, j) -> (i, j)>], iterator_types = ["parallel", "parallel"]} ins(%v : tensor<8x8xf32>) outs(%e : tensor<8x8xf32>) {
  ^bb0(%x: f32, %o: f32):
    linalg.yield %x : f32
  } -> tensor<8x8xf32>
  return %r : tensor<8x8xf32>
}
// -----
// V5: a generic that uses what the empty tensor held
func.func @f() -> tensor<8xf32> {
  %e = tensor.empty() : tensor<8xf32>
// expected-error@+1 {{accumulates into output 0}}
  %r = linalg.generic {indexing_maps = [affine_map<(i) -> (i)>], iterator_types = ["parallel"]} outs(%e : tensor<8xf32>) {
  ^bb0(%o: f32):
    %0 = arith.addf %o, %o : f32
    linalg.yield %0 : f32
  } -> tensor<8xf32>
  return %r : tensor<8xf32>
}
// -----
// V6: a matmul onto its own input
func.func @f(%a: memref<8x8xf32>, %b: memref<8x8xf32>) {
// expected-error@+1 {{share memory}}
  linalg.matmul ins(%a, %b : memref<8x8xf32>, memref<8x8xf32>) outs(%a : memref<8x8xf32>)
  return
}
// -----
// V6: a matmul of a buffer with itself onto another
func.func @f(%a: memref<8x8xf32>, %b: memref<8x8xf32>) {
  linalg.matmul ins(%b, %b : memref<8x8xf32>, memref<8x8xf32>) outs(%a : memref<8x8xf32>)
  return
}
// -----
// V6: elementwise in place; a transposed read of the same buffer
func.func @f(%a: memref<8x8xf32>) {
  linalg.generic {indexing_maps = [affine_map<(i, j) -> (i, j)>, affine_map<(i, j) -> (i, j)>], iterator_types = ["parallel", "parallel"]} ins(%a : memref<8x8xf32>) outs(%a : memref<8x8xf32>) {
  ^bb0(%x: f32, %o: f32):
    %0 = arith.addf %x, %x : f32
    linalg.yield %0 : f32
  }
// expected-error@+1 {{share memory}}
  linalg.generic {indexing_maps = [affine_map<(i, j) -> (j, i)>, affine_map<(i, j) -> (i, j)>], iterator_types = ["parallel", "parallel"]} ins(%a : memref<8x8xf32>) outs(%a : memref<8x8xf32>) {
  ^bb0(%x: f32, %o: f32):
    linalg.yield %x : f32
  }
  return
}
// -----
// V6: two views of one arena, overlapping and apart
func.func @f(%arena: memref<256xi8>, %zero: f32) {
  %c0 = arith.constant 0 : index
  %c64 = arith.constant 64 : index
  %c128 = arith.constant 128 : index
  %a = memref.view %arena[%c0][] : memref<256xi8> to memref<8x4xf32>
  %b = memref.view %arena[%c64][] : memref<256xi8> to memref<8x4xf32>
  %c = memref.view %arena[%c128][] : memref<256xi8> to memref<8x4xf32>
  linalg.copy ins(%a : memref<8x4xf32>) outs(%c : memref<8x4xf32>)
// expected-error@+1 {{share memory}}
  linalg.copy ins(%a : memref<8x4xf32>) outs(%b : memref<8x4xf32>)
  return
}
// -----
// V7: iterations that write the same element
func.func @f(%a: tensor<4x4xf32>, %z: tensor<4xf32>) -> tensor<4xf32> {
// expected-error@+1 {{parallel loop 0 does not occur in the map of output}}
  %r = linalg.generic {indexing_maps = [affine_map<(i, j) -> (i, j)>, affine_map<(i, j) -> (j)>], iterator_types = ["parallel", "parallel"]} ins(%a : tensor<4x4xf32>) outs(%z : tensor<4xf32>) {
  ^bb0(%x: f32, %o: f32):
    linalg.yield %x : f32
  } -> tensor<4xf32>
  return %r : tensor<4xf32>
}
// -----
// V7: as a reduction
func.func @f(%a: tensor<4x4xf32>, %z: tensor<4xf32>) -> tensor<4xf32> {
  %r = linalg.generic {indexing_maps = [affine_map<(i, j) -> (i, j)>, affine_map<(i, j) -> (j)>], iterator_types = ["reduction", "parallel"]} ins(%a : tensor<4x4xf32>) outs(%z : tensor<4xf32>) {
  ^bb0(%x: f32, %o: f32):
    %0 = arith.addf %x, %o : f32
    linalg.yield %0 : f32
  } -> tensor<4xf32>
  return %r : tensor<4xf32>
}
// -----
// V8: two buffers of the arena that are live together share bytes
func.func @f(%arena: memref<256xi8> {ingot.arena}, %x: memref<16xf32>, %y: memref<16xf32>) {
  %c0 = arith.constant 0 : index
  %c32 = arith.constant 32 : index
  %a = memref.view %arena[%c0][] : memref<256xi8> to memref<16xf32>
// expected-error@+1 {{overlap bytes 0 to 63}}
  %b = memref.view %arena[%c32][] : memref<256xi8> to memref<16xf32>
  memref.copy %x, %a : memref<16xf32> to memref<16xf32>
  memref.copy %x, %b : memref<16xf32> to memref<16xf32>
  memref.copy %a, %y : memref<16xf32> to memref<16xf32>
  memref.copy %b, %y : memref<16xf32> to memref<16xf32>
  return
}
// -----
// V8: one after the other may share them, side by side they lie apart
func.func @f(%arena: memref<256xi8> {ingot.arena}, %x: memref<16xf32>, %y: memref<16xf32>) {
  %c0 = arith.constant 0 : index
  %c32 = arith.constant 32 : index
  %c128 = arith.constant 128 : index
  %a = memref.view %arena[%c0][] : memref<256xi8> to memref<16xf32>
  %b = memref.view %arena[%c32][] : memref<256xi8> to memref<16xf32>
  %c = memref.view %arena[%c128][] : memref<256xi8> to memref<16xf32>
  memref.copy %x, %a : memref<16xf32> to memref<16xf32>
  memref.copy %a, %c : memref<16xf32> to memref<16xf32>
  memref.copy %c, %b : memref<16xf32> to memref<16xf32>
  memref.copy %b, %y : memref<16xf32> to memref<16xf32>
  return
}
// -----
// V10: shifts
func.func @f(%a: i8, %v: vector<2xi16>) -> i8 {
  %c9 = arith.constant 9 : i8
  %c7 = arith.constant 7 : i8
  %w = arith.constant dense<[3, 16]> : vector<2xi16>
  %ok = arith.shrui %a, %c7 : i8
// expected-error@+1 {{shifts a value of 8 bits by 9}}
  %0 = arith.shrui %a, %c9 : i8
// expected-error@+1 {{shifts a value of 16 bits by 16}}
  %1 = arith.shli %v, %w : vector<2xi16>
  return %0 : i8
}
// -----
// V10: constants out of range
func.func @f() -> i8 {
// expected-error@+1 {{256 does not fit}}
  %c = arith.constant 256 : i8
  return %c : i8
}
// -----
// V10: a decimal that would be infinite
func.func @f() -> f16 {
// expected-error@+1 {{is infinite}}
  %c = arith.constant 70000.0 : f16
  return %c : f16
}
// -----
// V10: what is just in range
func.func @f() -> (i8, i8, f16, f16) {
  %a = arith.constant 255 : i8
  %b = arith.constant -128 : i8
  %c = arith.constant 65504.0 : f16
  %d = arith.constant 0x7C00 : f16
  return %a, %b, %c, %d : i8, i8, f16, f16
}
// -----
// V11: two dynamic sizes in one group
func.func @f(%a: tensor<?xf32>, %n: index) {
// expected-error@+1 {{has 2 dynamic sizes in reassociation group 0}}
  %0 = tensor.expand_shape %a [[0, 1]] output_shape [%n, %n] : tensor<?xf32> into tensor<?x?xf32>
  return
}
// -----
// V11: one in each
func.func @f(%a: tensor<?x?xf32>, %n: index, %m: index) {
  %0 = tensor.expand_shape %a [[0, 1], [2, 3]] output_shape [%n, 4, 8, %m] : tensor<?x?xf32> into tensor<?x4x8x?xf32>
  return
}
// -----
// V12: an accumulator of f16, one of i8
func.func @f(%a: tensor<8x8xf16>, %z: tensor<8x8xf16>, %i: tensor<8x8xi8>, %y: tensor<8x8xi8>) {
// expected-error@+1 {{accumulates in 'f16'}}
  %0 = linalg.matmul ins(%a, %a : tensor<8x8xf16>, tensor<8x8xf16>) outs(%z : tensor<8x8xf16>) -> tensor<8x8xf16>
// expected-error@+1 {{accumulates in 'i8'}}
  %1 = linalg.matmul ins(%i, %i : tensor<8x8xi8>, tensor<8x8xi8>) outs(%y : tensor<8x8xi8>) -> tensor<8x8xi8>
  return
}
// -----
// V12: wide ones, and one that says it is not
func.func @f(%a: tensor<8x8xf16>, %h: tensor<8x8xf16>, %z: tensor<8x8xf32>, %i: tensor<8x8xi8>, %y: tensor<8x8xi32>) {
  %0 = linalg.matmul ins(%a, %a : tensor<8x8xf16>, tensor<8x8xf16>) outs(%z : tensor<8x8xf32>) -> tensor<8x8xf32>
  %1 = linalg.matmul ins(%i, %i : tensor<8x8xi8>, tensor<8x8xi8>) outs(%y : tensor<8x8xi32>) -> tensor<8x8xi32>
  %2 = linalg.matmul {ingot.tol = "f16acc"} ins(%a, %a : tensor<8x8xf16>, tensor<8x8xf16>) outs(%h : tensor<8x8xf16>) -> tensor<8x8xf16>
  return
}
// -----
// V13: a convolution input larger than needed
func.func @f(%a: tensor<1x18x18x3xf16>, %w: tensor<3x3x3x8xf16>, %z: tensor<1x8x8x8xf32>) -> tensor<1x8x8x8xf32> {
// expected-error@+1 {{has an input of size 18 in dimension 1 where exactly 17 is needed}}
  %r = linalg.conv_2d_nhwc_hwcf {dilations = dense<1> : tensor<2xi64>, strides = dense<2> : tensor<2xi64>}
     ins(%a, %w : tensor<1x18x18x3xf16>, tensor<3x3x3x8xf16>) outs(%z : tensor<1x8x8x8xf32>) -> tensor<1x8x8x8xf32>
  return %r : tensor<1x8x8x8xf32>
}
// -----
// V13: exactly the size
func.func @f(%a: tensor<1x17x17x3xf16>, %w: tensor<3x3x3x8xf16>, %z: tensor<1x8x8x8xf32>) -> tensor<1x8x8x8xf32> {
  %r = linalg.conv_2d_nhwc_hwcf {dilations = dense<1> : tensor<2xi64>, strides = dense<2> : tensor<2xi64>}
     ins(%a, %w : tensor<1x17x17x3xf16>, tensor<3x3x3x8xf16>) outs(%z : tensor<1x8x8x8xf32>) -> tensor<1x8x8x8xf32>
  return %r : tensor<1x8x8x8xf32>
}
// -----
// V13: a pooling window
func.func @f(%a: tensor<1x9x8x3xf32>, %z: tensor<1x4x4x3xf32>) -> tensor<1x4x4x3xf32> {
  %w = tensor.empty() : tensor<2x2xf32>
// expected-error@+1 {{has an input of size 9 in dimension 1 where exactly 8 is needed}}
  %r = linalg.pooling_nhwc_max {strides = dense<2> : tensor<2xi64>} ins(%a, %w : tensor<1x9x8x3xf32>, tensor<2x2xf32>) outs(%z : tensor<1x4x4x3xf32>) -> tensor<1x4x4x3xf32>
  return %r : tensor<1x4x4x3xf32>
}
// -----
// intrinsics must stand in the table, with its types
func.func @f(%a: vector<16xi32>, %b: vector<64xi8>, %c: i8) {
  %0 = llvm.call_intrinsic "llvm.x86.avx512.vpdpbusd.512"(%a, %b, %b) : (vector<16xi32>, vector<64xi8>, vector<64xi8>) -> vector<16xi32>
// expected-error@+1 {{did you mean 'llvm.x86.avx512.vpdpbusd.512'}}
  %1 = llvm.call_intrinsic "llvm.x86.avx512.vpdpbuds.512"(%a, %b, %b) : (vector<16xi32>, vector<64xi8>, vector<64xi8>) -> vector<16xi32>
// expected-error@+1 {{has other types than the intrinsic}}
  %2 = llvm.call_intrinsic "llvm.x86.avx512.vpdpbusd.512"(%a, %a, %b) : (vector<16xi32>, vector<16xi32>, vector<64xi8>) -> vector<16xi32>
// expected-error@+1 {{operand #2 must be a constant}}
  %3 = llvm.call_intrinsic "llvm.x86.vgf2p8affineqb.512"(%b, %b, %c) : (vector<64xi8>, vector<64xi8>, i8) -> vector<64xi8>
  return
}
// -----
// V14: an annotation's value is builtin
// expected-error@+1 {{has the annotation 'ingot.kernel' whose value is not builtin}}
func.func @f() attributes {ingot.kernel = #linalg.type_fn<cast_unsigned>} {
  return
}
// -----
// linalg.pack and unpack
func.func @f(%a: tensor<8x63xf32>, %z: tensor<8x2x8x4xf32>, %c: f32, %y: tensor<8x3x8x4xf32>) {
  %0 = linalg.pack %a padding_value(%c : f32) outer_dims_perm = [1, 0] inner_dims_pos = [1, 0] inner_tiles = [8, 4] into %z : tensor<8x63xf32> -> tensor<8x2x8x4xf32>
// expected-error@+1 {{Only full tiles are supported}}
  %1 = linalg.pack %a outer_dims_perm = [1, 0] inner_dims_pos = [1, 0] inner_tiles = [8, 4] into %z : tensor<8x63xf32> -> tensor<8x2x8x4xf32>
// expected-error@+1 {{does not hold the packed data in dimension 1}}
  %2 = linalg.pack %a padding_value(%c : f32) outer_dims_perm = [1, 0] inner_dims_pos = [1, 0] inner_tiles = [8, 4] into %y : tensor<8x63xf32> -> tensor<8x3x8x4xf32>
  %3 = linalg.unpack %0 outer_dims_perm = [1, 0] inner_dims_pos = [1, 0] inner_tiles = [8, 4] into %a : tensor<8x2x8x4xf32> -> tensor<8x63xf32>
  return
}
// -----
// V3: the alignment the plan promises
func.func @f(%arena0: memref<256xi8> {ingot.arena}) {
  %c32 = arith.constant 32 : index
  %c64 = arith.constant 64 : index
  %arena = memref.assume_alignment %arena0, 64 : memref<256xi8>
  %a = memref.view %arena[%c64][] : memref<256xi8> to memref<4xf32>
// expected-error@+1 {{no multiple of the arena's alignment of 64}}
  %b = memref.view %arena[%c32][] : memref<256xi8> to memref<4xf32>
  return
}
// -----
// V13: rows of channels-first maps
func.func @f(%a: tensor<1x3x9x8xf32>, %z: tensor<1x3x4x4xf32>) -> tensor<1x3x4x4xf32> {
  %w = tensor.empty() : tensor<2x2xf32>
// expected-error@+1 {{has an input of size 9 in dimension 2 where exactly 8 is needed}}
  %r = linalg.pooling_nchw_sum {strides = dense<2> : tensor<2xi64>} ins(%a, %w : tensor<1x3x9x8xf32>, tensor<2x2xf32>) outs(%z : tensor<1x3x4x4xf32>) -> tensor<1x3x4x4xf32>
  return %r : tensor<1x3x4x4xf32>
}
// -----
// what a size would have to be does not wrap around
#far = affine_map<(d0) -> (d0 * 9223372036854775807 + 9223372036854775807)>
#id = affine_map<(d0) -> (d0)>
func.func @f(%x: tensor<5xf32>, %e: tensor<3xf32>) -> tensor<3xf32> {
// expected-error@+1 {{has shape's dimension #0 to be greater than or equal to 9223372036854775807, but found 5}}
  %p = linalg.generic {indexing_maps = [#far, #id], iterator_types = ["parallel"]} ins(%x : tensor<5xf32>) outs(%e : tensor<3xf32>) {
  ^bb0(%a: f32, %b: f32):
    linalg.yield %a : f32
  } -> tensor<3xf32>
  return %p : tensor<3xf32>
}
// -----
func.func @f(%x: tensor<5x7xf32>) -> tensor<2x7xf32> {
// expected-error@+1 {{slice along dimension 0 runs out-of-bounds: 9223372036854775807 >= 5}}
  %p = tensor.extract_slice %x[1, 0] [2, 7] [9223372036854775807, 1] : tensor<5x7xf32> to tensor<2x7xf32>
  return %p : tensor<2x7xf32>
}
// -----
func.func @f(%x: tensor<5x7xf32>, %z: f32) -> tensor<3x7xf32> {
// expected-error@+1 {{does not match the inferred size 9223372036854775807 of dimension 0}}
  %p = tensor.pad %x low[9223372036854775807, 0] high[9223372036854775807, 0] {
  ^bb0(%i: index, %j: index):
    tensor.yield %z : f32
  } : tensor<5x7xf32> to tensor<3x7xf32>
  return %p : tensor<3x7xf32>
}

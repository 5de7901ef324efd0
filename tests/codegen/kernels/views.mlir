// Views of buffers: arena windows, slices with run-time offsets, reshapes, copies, globals, stack.
// scalars: 2 64
// tiles: 0 2
memref.global "private" constant @table : memref<2x4xf32> = dense<[[1.0, 2.0, 3.0, 4.0], [5.0, 6.0, 7.0, 8.5]]>
func.func @views(%arena: memref<4096xi8>, %x: memref<8x64xf32>, %o: memref<8x64xf32>, %blocks: memref<340xi8>, %q: memref<10x32xf32>, %off: index, %shift: index, %begin: index, %end: index) attributes {ingot.kernel} {
  %c0 = arith.constant 0 : index
  %c1 = arith.constant 1 : index
  %c2 = arith.constant 2 : index
  %c3 = arith.constant 3 : index
  %c4 = arith.constant 4 : index
  %c8 = arith.constant 8 : index
  %c10 = arith.constant 10 : index
  %c16 = arith.constant 16 : index
  %c32 = arith.constant 32 : index
  %c2048 = arith.constant 2048 : index
  %al = memref.assume_alignment %arena, 64 : memref<4096xi8>
  %v = memref.view %al[%c2048][] : memref<4096xi8> to memref<8x16xf32>
  %w = memref.view %al[%shift][] : memref<4096xi8> to memref<64xf16>
  %table = memref.get_global @table : memref<2x4xf32>
  %stack = memref.alloca() : memref<4x16xf32>
  scf.for %t = %begin to %end step %c1 {
    %s = memref.subview %x[%off, 8] [4, 16] [1, 1] : memref<8x64xf32> to memref<4x16xf32, strided<[64, 1], offset: ?>>
    %row = memref.subview %x[%t, %c16] [1, 16] [1, 1] : memref<8x64xf32> to memref<16xf32, strided<[1], offset: ?>>
    %r = vector.load %row[%c0] : memref<16xf32, strided<[1], offset: ?>>, vector<16xf32>
    vector.store %r, %v[%t, %c0] : memref<8x16xf32>, vector<16xf32>
    memref.copy %s, %stack : memref<4x16xf32, strided<[64, 1], offset: ?>> to memref<4x16xf32>
    %a = vector.load %stack[%c3, %c0] : memref<4x16xf32>, vector<16xf32>
    %b = vector.load %v[%t, %c0] : memref<8x16xf32>, vector<16xf32>
    %c = arith.addf %a, %b : vector<16xf32>
    %flat = memref.collapse_shape %o [[0, 1]] : memref<8x64xf32> into memref<512xf32>
    %big = memref.expand_shape %flat [[0, 1, 2]] output_shape [8, 4, 16] : memref<512xf32> into memref<8x4x16xf32>
    vector.store %c, %big[%t, %c3, %c0] : memref<8x4x16xf32>, vector<16xf32>
    %g = memref.load %table[%t, %c2] : memref<2x4xf32>
    memref.store %g, %big[%t, %c0, %off] : memref<8x4x16xf32>
    %h = arith.truncf %c : vector<16xf32> to vector<16xf16>
    vector.store %h, %w[%c16] : memref<64xf16>, vector<16xf16>
    %every = memref.subview %x[0, 1] [8, 8] [1, 4] : memref<8x64xf32> to memref<8x8xf32, strided<[64, 4], offset: 1>>
    %e = memref.load %every[%c4, %t] : memref<8x8xf32, strided<[64, 4], offset: 1>>
    memref.store %e, %big[%t, %c1, %c1] : memref<8x4x16xf32>
    %dim = memref.dim %big, %c1 : memref<8x4x16xf32>
    %di = arith.index_cast %dim : index to i32
    %df = arith.sitofp %di : i32 to f32
    memref.store %df, %big[%t, %c1, %c2] : memref<8x4x16xf32>
    memref.prefetch %x[%t, %c0], read, locality<3>, data : memref<8x64xf32>
  }
  // Blocks of 34 bytes: an f16 scale and 32 codes.
  %codes = memref.reinterpret_cast %blocks to offset: [2], sizes: [10, 32], strides: [34, 1] : memref<340xi8> to memref<10x32xi8, strided<[34, 1], offset: 2>>
  %fv = memref.view %blocks[%c0][] : memref<340xi8> to memref<170xf16>
  %scales = memref.reinterpret_cast %fv to offset: [0], sizes: [10], strides: [17] : memref<170xf16> to memref<10xf16, strided<[17]>>
  scf.for %i = %c0 to %c10 step %c1 {
    %d = memref.load %scales[%i] : memref<10xf16, strided<[17]>>
    %bits = arith.bitcast %d : f16 to i16
    %big16 = arith.extsi %bits : i16 to i32
    %df = arith.sitofp %big16 : i32 to f32
    %dv = vector.broadcast %df : f32 to vector<32xf32>
    %q8 = vector.load %codes[%i, %c0] : memref<10x32xi8, strided<[34, 1], offset: 2>>, vector<32xi8>
    %qi = arith.extsi %q8 : vector<32xi8> to vector<32xi32>
    %qf = arith.sitofp %qi : vector<32xi32> to vector<32xf32>
    %y = arith.mulf %qf, %dv : vector<32xf32>
    vector.store %y, %q[%i, %c0] : memref<10x32xf32>, vector<32xf32>
  }
  return
}

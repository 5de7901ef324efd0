// views
func.func @f(%a: memref<1024xi8>, %b: memref<8x64xf32>, %d: memref<?x64xf32>, %i: index, %n: index) {
  %0 = memref.assume_alignment %a, 64 : memref<1024xi8>
  %1 = memref.view %0[%i][] : memref<1024xi8> to memref<8x4xf32>
  %2 = memref.view %0[%i][%n] : memref<1024xi8> to memref<?x4xf32>
  %3 = memref.subview %b[%i, 0] [1, 64] [1, 1] : memref<8x64xf32> to memref<64xf32, strided<[1], offset: ?>>
  %4 = memref.reinterpret_cast %b to offset: [0], sizes: [%n, 8], strides: [8, 1] : memref<8x64xf32> to memref<?x8xf32, strided<[8, 1]>>
  %5 = memref.cast %b : memref<8x64xf32> to memref<?x64xf32>
  %6 = memref.expand_shape %b [[0], [1, 2]] output_shape [8, 4, 16] : memref<8x64xf32> into memref<8x4x16xf32>
  %7 = memref.collapse_shape %b [[0, 1]] : memref<8x64xf32> into memref<512xf32>
  %8 = memref.dim %d, %i : memref<?x64xf32>
  return
}

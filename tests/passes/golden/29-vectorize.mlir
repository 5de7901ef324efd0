#map = affine_map<(d0) -> (d0 + 16)>
#map1 = affine_map<() -> (1)>
#map2 = affine_map<() -> (2)>
#map3 = affine_map<(d0) -> (d0 + 1)>
#map4 = affine_map<(d0) -> (d0 + 2)>
#map5 = affine_map<(d0) -> (d0 + 3)>
module {
  func.func private @rows_0(%arg0: memref<1x1x16x16xf32> {ingot.inout = 0 : i64}, %arg1: memref<1x2x16xf32>, %arg2: index, %arg3: index, %arg4: index, %arg5: index) attributes {ingot.fallback = "layout", ingot.kernel = "rows", ingot.primitive = "scalar", ingot.tiles = #map1} {
    %0 = arith.constant 0 : index
    %1 = arith.constant 1 : index
    %2 = arith.constant 16 : index
    %3 = arith.constant 4 : index
    %4 = memref.collapse_shape %arg1 [[0], [1, 2]] : memref<1x2x16xf32> into memref<1x32xf32>
    %5 = memref.subview %4[0, 16] [1, 16] [1, 1] : memref<1x32xf32> to memref<1x16xf32, strided<[32, 1], offset: 16>>
    scf.for %arg6 = %arg4 to %arg5 step %1 {
      %6 = arith.cmpi slt, %arg6, %arg2 : index
      scf.if %6 {
        %7 = arith.addi %arg3, %arg6 : index
        %8 = memref.subview %5[%arg6, 0] [1, 16] [1, 1] : memref<1x16xf32, strided<[32, 1], offset: 16>> to memref<1x16xf32, strided<[32, 1], offset: ?>>
        %9 = memref.subview %arg0[0, 0, 0, %7] [1, 1, 16, 1] [1, 1, 1, 1] : memref<1x1x16x16xf32> to memref<1x16xf32, strided<[256, 16], offset: ?>>
        scf.for %arg7 = %0 to %2 step %3 {
          %10 = memref.load %8[%0, %arg7] : memref<1x16xf32, strided<[32, 1], offset: ?>>
          memref.store %10, %9[%0, %arg7] : memref<1x16xf32, strided<[256, 16], offset: ?>>
          %11 = affine.apply #map3(%arg7)
          %12 = memref.load %8[%0, %11] : memref<1x16xf32, strided<[32, 1], offset: ?>>
          memref.store %12, %9[%0, %11] : memref<1x16xf32, strided<[256, 16], offset: ?>>
          %13 = affine.apply #map4(%arg7)
          %14 = memref.load %8[%0, %13] : memref<1x16xf32, strided<[32, 1], offset: ?>>
          memref.store %14, %9[%0, %13] : memref<1x16xf32, strided<[256, 16], offset: ?>>
          %15 = affine.apply #map5(%arg7)
          %16 = memref.load %8[%0, %15] : memref<1x16xf32, strided<[32, 1], offset: ?>>
          memref.store %16, %9[%0, %15] : memref<1x16xf32, strided<[256, 16], offset: ?>>
        } {ingot.fallback = "layout"}
      }
    }
    return
  }
}

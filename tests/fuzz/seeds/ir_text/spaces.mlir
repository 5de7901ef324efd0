// spaces
func.func @f(%a: memref<4xf32, "UB">, %b: memref<4xf32, #gpu.address_space<workgroup>>, %c: memref<8x4xf32, strided<[?, 1], offset: ?>, 1>, %d: memref<*xf32>, %e: memref<f32>, %g: memref<4xf32, 0>) {
  return
}

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
// -----
// memory
memref.global "private" constant @w : memref<4x8xf32> = dense<1.0> {alignment = 64 : i64}
memref.global "private" @u : memref<4x8xf32> = uninitialized
memref.global @external : memref<2xi32>
memref.global "private" constant @t : memref<3xi8> = dense<[1, 2, 3]>
func.func @f(%x: f32, %i: index, %n: index) {
  %0 = memref.alloc() {alignment = 64 : i64, ingot.boundary = "multi-use"} : memref<1024xi8>
  %1 = memref.alloca(%n) : memref<?xf32, 3>
  %2 = memref.get_global @w : memref<4x8xf32>
  %3 = memref.load %2[%i, %i] : memref<4x8xf32>
  memref.store %3, %2[%i, %i] {nontemporal = true} : memref<4x8xf32>
  memref.copy %2, %2 : memref<4x8xf32> to memref<4x8xf32>
  memref.prefetch %2[%i, %i], read, locality<3>, data : memref<4x8xf32>
  memref.prefetch %2[%i, %i], write, locality<0>, instr : memref<4x8xf32>
  memref.dealloc %0 : memref<1024xi8>
  return
}
// -----
// spaces
func.func @f(%a: memref<4xf32, "UB">, %b: memref<4xf32, #gpu.address_space<workgroup>>, %c: memref<8x4xf32, strided<[?, 1], offset: ?>, 1>, %d: memref<*xf32>, %e: memref<f32>, %g: memref<4xf32, 0>) {
  return
}
// -----
// scf_loops
func.func @f(%n: index, %x: f32) -> f32 {
  scf.parallel (%i, %j) = (%n, %n) to (%n, %n) step (%n, %n) {
    scf.reduce
  }
  %0 = scf.parallel (%i) = (%n) to (%n) step (%n) init (%x) -> f32 {
    scf.reduce(%x : f32) {
    ^bb0(%a: f32, %b: f32):
      %s = arith.addf %a, %b : f32
      scf.reduce.return %s : f32
    }
  }
  return %0 : f32
}
// -----
// affine_loops
func.func @f(%m: memref<8x64xf32>, %o: memref<8x8xf32>, %n: index, %x: f32) -> f32 {
  affine.for %i = 0 to 8 {
    affine.for %j = 0 to 64 step 8 {
      %v = affine.vector_load %m[%i, %j] : memref<8x64xf32>, vector<8xf32>
      affine.vector_store %v, %m[%i, %j + symbol(%n) * 2 - 3] : memref<8x64xf32>, vector<8xf32>
    }
    %w = affine.load %m[%i mod 4, %i floordiv 2 + 7] : memref<8x64xf32>
    affine.store %w, %m[%i, -%i + 7] : memref<8x64xf32>
  }
  affine.for %i = max affine_map<(d0) -> (d0, 3)>(%n) to min affine_map<(d0)[s0] -> (d0 + s0, 8)>(%n)[%n] {
  }
  affine.for %i = affine_map<(d0) -> (d0 + 1)>(%n) to %n step 4 {
  } {ingot.fallback = "shape"}
  affine.for %i = -4 to 4 {
  }
  affine.parallel (%a, %b) = (0, 0) to (8, 8) step (2, 4) {
    affine.store %x, %o[%a, %b] : memref<8x8xf32>
  }
  %1 = affine.parallel (%a) = (max(0, symbol(%n))) to (min(8, symbol(%n))) reduce ("addf") -> (f32) {
    affine.yield %x : f32
  }
  %0 = affine.for %k = 0 to 32 iter_args(%acc = %x) -> (f32) {
    affine.yield %acc : f32
  }
  return %0 : f32
}
// -----
// vectors
func.func @f(%m: memref<8x8xf32>, %r: memref<64xf32>, %i: index, %v: vector<8xf32>, %k: vector<8xi1>, %x: f32, %q: vector<4x8xf32>, %t: vector<8x4xf32>, %u: vector<4x4xf32>) {
  %0 = vector.load %m[%i, %i] {alignment = 16 : i64} : memref<8x8xf32>, vector<8xf32>
  vector.store %0, %m[%i, %i] {nontemporal = true} : memref<8x8xf32>, vector<8xf32>
  %1 = vector.transfer_read %m[%i, %i], %x {in_bounds = [true], permutation_map = affine_map<(d0, d1) -> (d0)>} : memref<8x8xf32>, vector<8xf32>
  %2 = vector.transfer_read %m[%i, %i], %x : memref<8x8xf32>, vector<8x8xf32>
  %3 = vector.transfer_read %r[%i], %x, %k : memref<64xf32>, vector<8xf32>
  vector.transfer_write %u, %m[%i, %i] {in_bounds = [true, true]} : vector<4x4xf32>, memref<8x8xf32>
  %4 = vector.maskedload %r[%i], %k, %v : memref<64xf32>, vector<8xi1>, vector<8xf32> into vector<8xf32>
  vector.maskedstore %r[%i], %k, %v : memref<64xf32>, vector<8xi1>, vector<8xf32>
  %5 = vector.create_mask %i : vector<8xi1>
  %6 = vector.broadcast %x : f32 to vector<8xf32>
  %7 = vector.fma %v, %v, %v {ingot.primitive = "fma"} : vector<8xf32>
  %8 = vector.reduction <add>, %v : vector<8xf32> into f32
  %9 = vector.reduction <maxnumf>, %v, %x fastmath<reassoc> : vector<8xf32> into f32
  %10 = vector.contract {indexing_maps = [affine_map<(m, n, k) -> (m, k)>, affine_map<(m, n, k) -> (k, n)>, affine_map<(m, n, k) -> (m, n)>], iterator_types = ["parallel", "parallel", "reduction"], kind = #vector.kind<add>} %q, %t, %u : vector<4x8xf32>, vector<8x4xf32> into vector<4x4xf32>
  %11 = vector.extract %v[%i] : f32 from vector<8xf32>
  %12 = vector.extract %q[3] : vector<8xf32> from vector<4x8xf32>
  %13 = vector.insert %x, %v[3] : f32 into vector<8xf32>
  %14 = vector.insert %v, %q[%i] : vector<8xf32> into vector<4x8xf32>
  %15 = vector.shape_cast %u : vector<4x4xf32> to vector<16xf32>
  %16 = vector.from_elements %x, %x : vector<2xf32>
  %17:2 = vector.to_elements %16 : vector<2xf32>
  %18 = vector.bitcast %v : vector<8xf32> to vector<16xi16>
  %19 = vector.shuffle %v, %v [0, 8, 1, 9] : vector<8xf32>, vector<8xf32>
  %20 = vector.interleave %v, %v : vector<8xf32> -> vector<16xf32>
  %21, %22 = vector.deinterleave %20 : vector<16xf32> -> vector<8xf32>
  %23 = vector.step : vector<8xindex>
  %24 = ub.poison : f32
  return
}
// -----
// machine_instruction
func.func @f(%acc: vector<16xi32>, %a: vector<64xi8>, %b: vector<64xi8>) -> vector<16xi32> {
  %0 = llvm.call_intrinsic "llvm.x86.avx512.vpdpbusd.512"(%acc, %a, %b) : (vector<16xi32>, vector<64xi8>, vector<64xi8>) -> vector<16xi32>
  return %0 : vector<16xi32>
}
// -----
// bridge
func.func @f(%t: tensor<4xf32>, %m: memref<4xf32>) -> tensor<4xf32> {
  %0 = bufferization.to_buffer %t : tensor<4xf32> to memref<4xf32>
  %1 = bufferization.to_tensor %m restrict writable : memref<4xf32> to tensor<4xf32>
  return %1 : tensor<4xf32>
}
// -----
// linalg_on_memory
func.func @f(%a: memref<8x64xf32>, %b: memref<8xf32>) {
  linalg.generic {indexing_maps = [affine_map<(i, j) -> (i, j)>, affine_map<(i, j) -> (i)>], iterator_types = ["parallel", "reduction"]}
    ins(%a : memref<8x64xf32>) outs(%b : memref<8xf32>) {
  ^bb0(%x: f32, %o: f32):
    %0 = arith.addf %o, %x : f32
    linalg.yield %0 : f32
  }
  linalg.copy ins(%a : memref<8x64xf32>) outs(%a : memref<8x64xf32>)
  return
}
// -----
// transfer_mask_in_the_order_of_memory
func.func @f(%m: memref<8x8x8xf32>, %i: index, %c: f32, %mask: vector<3x4xi1>, %v: vector<4x3xf32>) -> vector<4x3xf32> {
  %r = vector.transfer_read %m[%i, %i, %i], %c, %mask {permutation_map = affine_map<(a, b, c) -> (c, b)>} : memref<8x8x8xf32>, vector<4x3xf32>
  vector.transfer_write %v, %m[%i, %i, %i], %mask {permutation_map = affine_map<(a, b, c) -> (c, b)>} : vector<4x3xf32>, memref<8x8x8xf32>
  return %r : vector<4x3xf32>
}

// floats in vectors: order of reductions and contractions, masks, multi-dimensional access
// any-output
func.func private @printMemrefI32(memref<*xi32>)
func.func @main() {
  %c0 = arith.constant 0 : index
  %c1 = arith.constant 1 : index
  %c2 = arith.constant 2 : index
  %c3 = arith.constant 3 : index
  %pad = arith.constant 7.7 : f32
  %acc = arith.constant 0.1 : f32
  %a = arith.constant dense<[1.0E10, 0.3, -1.0E10, 0.7, 1.1, 2.3, -0.0, 5.5]> : vector<8xf32>
  %b = arith.constant dense<[0.25, 3.0, 1.5, -2.0, 0.1, 9.0, 0.333, -7.0]> : vector<8xf32>
  %m = memref.alloc() : memref<16x8xf32>
  %zero = arith.constant 0.0 : f32
  linalg.fill ins(%zero : f32) outs(%m : memref<16x8xf32>)
  %r0 = vector.reduction <add>, %a : vector<8xf32> into f32
  %r1 = vector.reduction <add>, %a, %acc : vector<8xf32> into f32
  %r2 = vector.reduction <mul>, %b : vector<8xf32> into f32
  %r3 = vector.reduction <minimumf>, %b : vector<8xf32> into f32
  %r4 = vector.reduction <maximumf>, %a, %pad : vector<8xf32> into f32
  %r5 = vector.reduction <maxnumf>, %b : vector<8xf32> into f32
  %r6 = vector.reduction <minnumf>, %a : vector<8xf32> into f32
  %rr = vector.from_elements %r0, %r1, %r2, %r3, %r4, %r5, %r6, %acc : vector<8xf32>
  vector.store %rr, %m[%c0, %c0] : memref<16x8xf32>, vector<8xf32>
  %f = vector.fma %a, %b, %b : vector<8xf32>
  vector.store %f, %m[%c1, %c0] : memref<16x8xf32>, vector<8xf32>
  %s = vector.shape_cast %f : vector<8xf32> to vector<2x4xf32>
  %t = vector.shape_cast %b : vector<8xf32> to vector<4x2xf32>
  %z = arith.constant dense<0.5> : vector<2x2xf32>
  %k = vector.contract {indexing_maps = [affine_map<(i, j, k) -> (i, k)>, affine_map<(i, j, k) -> (k, j)>, affine_map<(i, j, k) -> (i, j)>], iterator_types = ["parallel", "parallel", "reduction"], kind = #vector.kind<add>} %s, %t, %z : vector<2x4xf32>, vector<4x2xf32> into vector<2x2xf32>
  vector.transfer_write %k, %m[%c2, %c1] {in_bounds = [true, true]} : vector<2x2xf32>, memref<16x8xf32>
  %mask = vector.create_mask %c2, %c3 : vector<2x4xi1>
  %l = vector.transfer_read %m[%c0, %c1], %pad, %mask {in_bounds = [true, true]} : memref<16x8xf32>, vector<2x4xf32>
  %c4 = arith.constant 4 : index
  vector.transfer_write %l, %m[%c4, %c0] {in_bounds = [true, true]} : vector<2x4xf32>, memref<16x8xf32>
  %c6 = arith.constant 6 : index
  vector.transfer_write %s, %m[%c6, %c0], %mask {in_bounds = [true, true]} : vector<2x4xf32>, memref<16x8xf32>
  %g = vector.transfer_read %m[%c1, %c6], %pad {in_bounds = [true, false]} : memref<16x8xf32>, vector<2x4xf32>
  %c8 = arith.constant 8 : index
  vector.transfer_write %g, %m[%c8, %c4] {in_bounds = [true, true]} : vector<2x4xf32>, memref<16x8xf32>
  %q = vector.transfer_read %m[%c0, %c2], %pad {in_bounds = [true, true], permutation_map = affine_map<(d0, d1) -> (0, d1)>} : memref<16x8xf32>, vector<3x4xf32>
  %c10 = arith.constant 10 : index
  vector.transfer_write %q, %m[%c10, %c0] {in_bounds = [true, true]} : vector<3x4xf32>, memref<16x8xf32>
  %e = vector.extract %s[1] : vector<4xf32> from vector<2x4xf32>
  %i = vector.insert %e, %s[0] : vector<4xf32> into vector<2x4xf32>
  %n = vector.insert %acc, %i[%c1, 2] : f32 into vector<2x4xf32>
  %c13 = arith.constant 13 : index
  vector.transfer_write %n, %m[%c13, %c0] {in_bounds = [true, true]} : vector<2x4xf32>, memref<16x8xf32>
  %h = arith.truncf %b : vector<8xf32> to vector<8xbf16>
  %hb = vector.bitcast %h : vector<8xbf16> to vector<4xf32>
  %c15 = arith.constant 15 : index
  vector.store %hb, %m[%c15, %c0] : memref<16x8xf32>, vector<4xf32>
  %none = vector.broadcast %pad : f32 to vector<f32>
  %again = vector.broadcast %none : vector<f32> to vector<4xf32>
  vector.store %again, %m[%c15, %c4] : memref<16x8xf32>, vector<4xf32>
  %o = memref.alloc() : memref<16x8xi32>
  affine.for %x = 0 to 16 {
    affine.for %y = 0 to 8 {
      %v = affine.load %m[%x, %y] : memref<16x8xf32>
      %w = arith.bitcast %v : f32 to i32
      affine.store %w, %o[%x, %y] : memref<16x8xi32>
    }
  }
  %u = memref.cast %o : memref<16x8xi32> to memref<*xi32>
  func.call @printMemrefI32(%u) : (memref<*xi32>) -> ()
  return
}

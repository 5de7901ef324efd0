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

// vector.contract: the portable form of a dot-product instruction, and a small matrix product.
func.func @contract(%acc: memref<16xi32>, %a: memref<64xi8>, %b: memref<64xi8>, %x: memref<4x8xf32>, %y: memref<8x4xf32>, %z: memref<4x4xf32>, %s: memref<1xf32>, %begin: index, %end: index) attributes {ingot.kernel} {
  %c0 = arith.constant 0 : index
  %zero = arith.constant 0.000000e+00 : f32
  %v = vector.load %acc[%c0] : memref<16xi32>, vector<16xi32>
  %p = vector.load %a[%c0] : memref<64xi8>, vector<64xi8>
  %q = vector.load %b[%c0] : memref<64xi8>, vector<64xi8>
  %p4 = vector.shape_cast %p : vector<64xi8> to vector<16x4xi8>
  %q4 = vector.shape_cast %q : vector<64xi8> to vector<16x4xi8>
  %pw = arith.extui %p4 : vector<16x4xi8> to vector<16x4xi32>
  %qw = arith.extsi %q4 : vector<16x4xi8> to vector<16x4xi32>
  %r = vector.contract {indexing_maps = [affine_map<(d0, d1) -> (d0, d1)>, affine_map<(d0, d1) -> (d0, d1)>, affine_map<(d0, d1) -> (d0)>], iterator_types = ["parallel", "reduction"], kind = #vector.kind<add>} %pw, %qw, %v : vector<16x4xi32>, vector<16x4xi32> into vector<16xi32>
  vector.store %r, %acc[%c0] : memref<16xi32>, vector<16xi32>
  %m = vector.load %x[%c0, %c0] : memref<4x8xf32>, vector<4x8xf32>
  %n = vector.load %y[%c0, %c0] : memref<8x4xf32>, vector<8x4xf32>
  %o = vector.load %z[%c0, %c0] : memref<4x4xf32>, vector<4x4xf32>
  %t = vector.contract {indexing_maps = [affine_map<(d0, d1, d2) -> (d0, d2)>, affine_map<(d0, d1, d2) -> (d2, d1)>, affine_map<(d0, d1, d2) -> (d0, d1)>], iterator_types = ["parallel", "parallel", "reduction"], kind = #vector.kind<add>} %m, %n, %o : vector<4x8xf32>, vector<8x4xf32> into vector<4x4xf32>
  vector.store %t, %z[%c0, %c0] : memref<4x4xf32>, vector<4x4xf32>
  %row = vector.extract %m[2] : vector<8xf32> from vector<4x8xf32>
  %dot = vector.contract {indexing_maps = [affine_map<(d0) -> (d0)>, affine_map<(d0) -> (d0)>, affine_map<(d0) -> ()>], iterator_types = ["reduction"], kind = #vector.kind<add>} %row, %row, %zero : vector<8xf32>, vector<8xf32> into f32
  memref.store %dot, %s[%c0] : memref<1xf32>
  return
}

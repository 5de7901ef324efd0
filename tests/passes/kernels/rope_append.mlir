// Rotary positions on packed Q and K, then K and V appended to paged caches in place.
#x4 = affine_map<(d0, d1, d2, d3) -> (d0, d1, d2, d3)>
#y4 = affine_map<(d0, d1, d2, d3) -> (d0, d1, d2, -d3 + 1)>
#t4 = affine_map<(d0, d1, d2, d3) -> (d0, d2)>
#id2 = affine_map<(d0, d1) -> (d0, d1)>
module {
  func.func private @rows_rope(%qkv: tensor<6x320xf32>, %cos: tensor<32x32xf32>, %sin: tensor<32x32xf32>,
      %pages: tensor<4xi32> {ingot.test_range = 4 : i64},
      %kc: tensor<4x8x1x64xf16> {ingot.inout = 1 : i64}, %vc: tensor<4x8x1x64xf16> {ingot.inout = 2 : i64},
      %pos0: index {ingot.test = 9 : i64}, %n: index {ingot.test = 6 : i64})
      -> (tensor<6x192xf32>, tensor<4x8x1x64xf16>, tensor<4x8x1x64xf16>)
      attributes {ingot.kernel = "rows", ingot.tiles = affine_map<(d0) -> (d0)>, ingot.tiles_arg = 1 : i64} {
    %c0 = arith.constant 0 : index
    %c1 = arith.constant 1 : index
    %c8 = arith.constant 8 : index
    %qk = tensor.extract_slice %qkv[0, 0] [6, 256] [1, 1] : tensor<6x320xf32> to tensor<6x256xf32>
    %v = tensor.extract_slice %qkv[0, 256] [6, 64] [1, 1] : tensor<6x320xf32> to tensor<6x64xf32>
    %c = tensor.extract_slice %cos[%pos0, 0] [6, 32] [1, 1] : tensor<32x32xf32> to tensor<6x32xf32>
    %s = tensor.extract_slice %sin[%pos0, 0] [6, 32] [1, 1] : tensor<32x32xf32> to tensor<6x32xf32>
    %x4 = tensor.expand_shape %qk [[0], [1, 2, 3]] output_shape [6, 4, 32, 2] : tensor<6x256xf32> into tensor<6x4x32x2xf32>
    %e = tensor.empty() : tensor<6x4x32x2xf32>
    %r = linalg.generic {indexing_maps = [#x4, #y4, #t4, #t4, #x4], iterator_types = ["parallel", "parallel", "parallel", "parallel"]}
        ins(%x4, %x4, %c, %s : tensor<6x4x32x2xf32>, tensor<6x4x32x2xf32>, tensor<6x32xf32>, tensor<6x32xf32>)
        outs(%e : tensor<6x4x32x2xf32>) {
    ^bb0(%a: f32, %b: f32, %cc: f32, %sc: f32, %o: f32):
      %p = linalg.index 3 : index
      %even = arith.cmpi eq, %p, %c0 : index
      %nb = arith.negf %b : f32
      %bb = arith.select %even, %nb, %b : f32
      %0 = arith.mulf %a, %cc : f32
      %1 = arith.mulf %bb, %sc : f32
      %2 = arith.addf %0, %1 : f32
      linalg.yield %2 : f32
    } -> tensor<6x4x32x2xf32>
    %r2 = tensor.collapse_shape %r [[0], [1, 2, 3]] : tensor<6x4x32x2xf32> into tensor<6x256xf32>
    %q = tensor.extract_slice %r2[0, 0] [6, 192] [1, 1] : tensor<6x256xf32> to tensor<6x192xf32>
    %k = tensor.extract_slice %r2[0, 192] [6, 64] [1, 1] : tensor<6x256xf32> to tensor<6x64xf32>
    %e1 = tensor.empty() : tensor<6x64xf16>
    %kv:2 = linalg.generic {indexing_maps = [#id2, #id2, #id2, #id2], iterator_types = ["parallel", "parallel"]}
        ins(%k, %v : tensor<6x64xf32>, tensor<6x64xf32>) outs(%e1, %e1 : tensor<6x64xf16>, tensor<6x64xf16>) {
    ^bb0(%a: f32, %b: f32, %o0: f16, %o1: f16):
      %0 = arith.truncf %a : f32 to f16
      %1 = arith.truncf %b : f32 to f16
      linalg.yield %0, %1 : f16, f16
    } -> (tensor<6x64xf16>, tensor<6x64xf16>)
    %k3 = tensor.expand_shape %kv#0 [[0], [1, 2]] output_shape [6, 1, 64] : tensor<6x64xf16> into tensor<6x1x64xf16>
    %v3 = tensor.expand_shape %kv#1 [[0], [1, 2]] output_shape [6, 1, 64] : tensor<6x64xf16> into tensor<6x1x64xf16>
    %w:2 = scf.for %m = %c0 to %n step %c1 iter_args(%ki = %kc, %vi = %vc)
        -> (tensor<4x8x1x64xf16>, tensor<4x8x1x64xf16>) {
      %t = arith.addi %pos0, %m : index
      %lp = arith.divui %t, %c8 : index
      %slot = arith.remui %t, %c8 : index
      %pg32 = tensor.extract %pages[%lp] : tensor<4xi32>
      %pg = arith.index_cast %pg32 : i32 to index
      %k1 = tensor.extract_slice %k3[%m, 0, 0] [1, 1, 64] [1, 1, 1] : tensor<6x1x64xf16> to tensor<1x64xf16>
      %v1 = tensor.extract_slice %v3[%m, 0, 0] [1, 1, 64] [1, 1, 1] : tensor<6x1x64xf16> to tensor<1x64xf16>
      %kn = tensor.insert_slice %k1 into %ki[%pg, %slot, 0, 0] [1, 1, 1, 64] [1, 1, 1, 1] : tensor<1x64xf16> into tensor<4x8x1x64xf16>
      %vn = tensor.insert_slice %v1 into %vi[%pg, %slot, 0, 0] [1, 1, 1, 64] [1, 1, 1, 1] : tensor<1x64xf16> into tensor<4x8x1x64xf16>
      scf.yield %kn, %vn : tensor<4x8x1x64xf16>, tensor<4x8x1x64xf16>
    }
    return %q, %w#0, %w#1 : tensor<6x192xf32>, tensor<4x8x1x64xf16>, tensor<4x8x1x64xf16>
  }
}

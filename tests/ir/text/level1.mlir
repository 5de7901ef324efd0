// functions
func.func private @declared(f32 {ingot.param = "x"}) -> (f32 {ingot.tol = 1 : i32}) attributes {no_inline}
func.func @two(%x: f32, %y: i64) -> (f32, i64) attributes {ingot.kernel, ingot.level = 1 : i64} {
  return %x, %y : f32, i64
}
func.func @calls(%x: f32) -> f32 {
  %0 = call @declared(%x) : (f32) -> f32
  %c = arith.constant 1 : i64
  %r:2 = func.call @two(%0, %c) : (f32, i64) -> (f32, i64)
  return {ingot.tol = "none"} %r#0 : f32
}
// -----
// blanks_between_sizes
func.func @f(%a: memref<256 x 8 x f32>, %b: tensor< ? x4xi32>, %c: vector<4 x
  f32>) {
  return
}
// -----
// names_of_values
func.func @f(%x: f32, %0: f32) -> f32 {
  %1 = arith.addf %x, %0 : f32
  %a.b$c-d_e, %second:2 = func.call @three(%1) : (f32) -> (f32, f32, f32)
  %2 = arith.mulf %a.b$c-d_e, %second#1 : f32
  return %2 : f32
}
func.func private @three(f32) -> (f32, f32, f32)
// -----
// arith
func.func @f(%x: f32, %i: i32, %n: index, %v: vector<8xf32>, %b: vector<8xi1>, %t: i1) {
  %0 = arith.addf %x, %x fastmath<contract,reassoc> : f32
  %1 = arith.negf %0 : f32
  %2 = arith.cmpf oge, %0, %1 fastmath<fast> : f32
  %3 = arith.cmpi ult, %i, %i : i32
  %4 = arith.select %t, %0, %1 : f32
  %5 = arith.select %b, %v, %v : vector<8xi1>, vector<8xf32>
  %6 = arith.addi %i, %i overflow<nuw, nsw> : i32
  %7 = arith.divsi %i, %i : i32
  %8 = arith.shrsi %i, %i exact : i32
  %9 = arith.trunci %i overflow<nsw> : i32 to i8
  %10 = arith.truncf %x to_nearest_even : f32 to f16
  %11 = arith.extf %10 : f16 to f32
  %12 = arith.index_castui %i : i32 to index
  %13 = arith.fptosi %x : f32 to i8
  %14 = math.fma %x, %x, %x : f32
  %15 = math.rsqrt %x fastmath<nnan> {ingot.tol = "ulp"} : f32
  %16 = arith.maxnumf %v, %v : vector<8xf32>
  %17 = arith.cmpf uno, %v, %v : vector<8xf32>
  return
}
// -----
// constants
func.func @f() {
  %0 = arith.constant true
  %1 = arith.constant -1 : i8
  %2 = arith.constant 200 : i8
  %3 = arith.constant 0x7FC00000 : f32
  %4 = arith.constant 9.99999974E-6 : f32
  %5 = arith.constant 0xFC00 : f16
  %6 = arith.constant -2.5 : bf16
  %7 = arith.constant dense<[[1, -2], [3, 4]]> : tensor<2x2xi16>
  %8 = arith.constant dense<0.1> : vector<4xf64>
  %9 = arith.constant dense<"0x0000803F000000400000404000008040"> : tensor<4xf32>
  %10 = arith.constant dense<[true, false, true]> : tensor<3xi1>
  %11 = arith.constant dense<[1, -8, 7, 15]> : tensor<4xi4>
  %12 = arith.constant dense<> : tensor<0xf32>
  %13 = arith.constant dense<[5, 5, 5]> : tensor<3xindex>
  %14 = arith.constant dense<7> : tensor<i32>
  %15 = arith.constant {ingot.tol = "x"} 3 : index
  %16 = arith.constant dense<0xFC00> : tensor<4xf16>
  %17 = arith.constant 1.0 : f64
  %18 = arith.constant 123456792.0 : f32
  %19 = arith.constant 0xFFFFFFFFFFFFFFFF : f64
  return
}
// -----
// a_long_constant
func.func @f() -> tensor<101xi1> {
  %0 = arith.constant dense<"0x0123456789ABCDEF0123456701"> : tensor<101xi1>
  return %0 : tensor<101xi1>
}
// -----
// tensors
func.func @f(%a: tensor<8x64xf32>, %d: tensor<?x32xf32>, %i: index, %x: f32) {
  %c0 = arith.constant 0 : index
  %0 = tensor.dim %d, %c0 : tensor<?x32xf32>
  %1 = tensor.empty(%0) : tensor<?x32xf32>
  %2 = tensor.extract %a[%i, %c0] : tensor<8x64xf32>
  %3 = tensor.insert %x into %a[%i, %c0] : tensor<8x64xf32>
  %4 = tensor.extract_slice %a[%i, 0] [1, 64] [1, 1] : tensor<8x64xf32> to tensor<64xf32>
  %5 = tensor.insert_slice %4 into %a[%i, 0] [1, 64] [1, 1] : tensor<64xf32> into tensor<8x64xf32>
  %6 = tensor.expand_shape %d [[0], [1, 2]] output_shape [%0, 4, 8] : tensor<?x32xf32> into tensor<?x4x8xf32>
  %7 = tensor.collapse_shape %6 [[0], [1, 2]] : tensor<?x4x8xf32> into tensor<?x32xf32>
  %8 = tensor.cast %7 : tensor<?x32xf32> to tensor<8x32xf32>
  %9 = tensor.pad %a nofold low[0, %i] high[%i, 0] {
  ^bb0(%g: index, %h: index):
    tensor.yield %x : f32
  } {ingot.tol = "x"} : tensor<8x64xf32> to tensor<?x?xf32>
  return
}
// -----
// contractions
func.func @f(%a: tensor<8x64xf16>, %b: tensor<64x32xf16>, %bt: tensor<32x64xf16>, %z: tensor<8x32xf32>,
             %ba: tensor<4x8x64xf16>, %bb: tensor<4x64x32xf16>, %bz: tensor<4x8x32xf32>,
             %i: tensor<8x64xi8>, %j: tensor<64x32xi8>, %k: tensor<8x32xi32>) {
  %0 = linalg.matmul ins(%a, %b : tensor<8x64xf16>, tensor<64x32xf16>) outs(%z : tensor<8x32xf32>) -> tensor<8x32xf32>
  %1 = linalg.matmul indexing_maps = [affine_map<(m, n, k) -> (m, k)>, affine_map<(m, n, k) -> (n, k)>, affine_map<(m, n, k) -> (m, n)>]
    {ingot.tol = 1 : i32} ins(%a, %bt : tensor<8x64xf16>, tensor<32x64xf16>) outs(%z : tensor<8x32xf32>) -> tensor<8x32xf32>
  %2 = linalg.matmul {cast = #linalg.type_fn<cast_unsigned>} ins(%i, %j : tensor<8x64xi8>, tensor<64x32xi8>) outs(%k : tensor<8x32xi32>) -> tensor<8x32xi32>
  %3 = linalg.batch_matmul ins(%ba, %bb : tensor<4x8x64xf16>, tensor<4x64x32xf16>) outs(%bz : tensor<4x8x32xf32>) -> tensor<4x8x32xf32>
  %4 = linalg.contract indexing_maps = [affine_map<(m, n, k) -> (m, k)>, affine_map<(m, n, k) -> (n, k)>, affine_map<(m, n, k) -> (m, n)>]
    ins(%a, %bt : tensor<8x64xf16>, tensor<32x64xf16>) outs(%z : tensor<8x32xf32>) -> tensor<8x32xf32>
  %5 = linalg.matmul indexing_maps = [affine_map<(m, n, k) -> (m, k)>, affine_map<(m, n, k) -> (k, n)>, affine_map<(m, n, k) -> (m, n)>]
    ins(%a, %b : tensor<8x64xf16>, tensor<64x32xf16>) outs(%z : tensor<8x32xf32>) -> tensor<8x32xf32>
  return
}
// -----
// generic_with_everything
#rope = affine_map<(s, i, p) -> (s, i, -p + 1)>
#id = affine_map<(s, i, p) -> (s, i, p)>
func.func @f(%x: tensor<8x4x2xf32>, %e: tensor<8x4x2xf32>, %k: f32) -> (tensor<8x4x2xf32>, tensor<8x4x2xf32>) {
  %r:2 = linalg.generic {doc = "rotates", indexing_maps = [#id, #rope, affine_map<(s, i, p) -> ()>, #id, #id], iterator_types = ["parallel", "parallel", "parallel"], library_call = "rope"}
    ins(%x, %x, %k : tensor<8x4x2xf32>, tensor<8x4x2xf32>, f32) outs(%e, %e : tensor<8x4x2xf32>, tensor<8x4x2xf32>) attrs = {ingot.dequant = "none"} {
  ^bb0(%a: f32, %b: f32, %c: f32, %o: f32, %q: f32):
    %p = linalg.index 2 : index
    %0 = arith.mulf %a, %c : f32
    %1 = arith.addf %0, %b : f32
    linalg.yield %1, %0 : f32, f32
  } -> (tensor<8x4x2xf32>, tensor<8x4x2xf32>)
  return %r#0, %r#1 : tensor<8x4x2xf32>, tensor<8x4x2xf32>
}
// -----
// other_linalg
func.func @f(%a: tensor<8x64xf32>, %z: tensor<8xf32>, %i: tensor<8x64xi32>, %zi: tensor<8xi32>, %t: tensor<64x8xf32>, %x: f32) {
  %0 = linalg.fill ins(%x : f32) outs(%z : tensor<8xf32>) -> tensor<8xf32>
  %1 = linalg.softmax {ingot.tol = "x"} dimension(1) ins(%a : tensor<8x64xf32>) outs(%a : tensor<8x64xf32>) -> tensor<8x64xf32>
  %2 = linalg.reduce { arith.addf } ins(%a : tensor<8x64xf32>) outs(%z : tensor<8xf32>) dimensions = [1]
  %3 = linalg.reduce { arith.maxnumf {fastmath = #arith.fastmath<nnan>} } ins(%a : tensor<8x64xf32>) outs(%z : tensor<8xf32>) dimensions = [1] {ingot.tol = "x"}
  %4:2 = linalg.reduce ins(%a, %i : tensor<8x64xf32>, tensor<8x64xi32>) outs(%z, %zi : tensor<8xf32>, tensor<8xi32>) dimensions = [1]
    (%in: f32, %ii: i32, %acc: f32, %ai: i32) {
      %c = arith.cmpf ogt, %in, %acc : f32
      %5 = arith.select %c, %in, %acc : f32
      %6 = arith.select %c, %ii, %ai : i32
      linalg.yield %5, %6 : f32, i32
    }
  %7 = linalg.transpose ins(%a : tensor<8x64xf32>) outs(%t : tensor<64x8xf32>) permutation = [1, 0]
  %8 = linalg.broadcast ins(%z : tensor<8xf32>) outs(%a : tensor<8x64xf32>) dimensions = [1]
  %9 = linalg.copy ins(%a : tensor<8x64xf32>) outs(%a : tensor<8x64xf32>) -> tensor<8x64xf32>
  return
}
// -----
// windows
func.func @f(%a: tensor<1x17x17x3xf16>, %w: tensor<3x3x3x8xf16>, %z: tensor<1x8x8x8xf32>, %p: tensor<1x8x8x3xf32>,
             %dw: tensor<3x3x3xf16>, %dz: tensor<1x15x15x3xf32>, %q: tensor<1x4x4x3xf32>) {
  %0 = linalg.conv_2d_nhwc_hwcf {dilations = dense<1> : vector<2xi64>, strides = dense<[2, 2]> : vector<2xi64>}
     ins(%a, %w : tensor<1x17x17x3xf16>, tensor<3x3x3x8xf16>) outs(%z : tensor<1x8x8x8xf32>) -> tensor<1x8x8x8xf32>
  %1 = linalg.depthwise_conv_2d_nhwc_hwc ins(%a, %dw : tensor<1x17x17x3xf16>, tensor<3x3x3xf16>) outs(%dz : tensor<1x15x15x3xf32>) -> tensor<1x15x15x3xf32>
  %e = tensor.empty() : tensor<2x2xf32>
  %2 = linalg.pooling_nhwc_max {dilations = dense<1> : tensor<2xi64>, strides = dense<2> : tensor<2xi64>}
     ins(%p, %e : tensor<1x8x8x3xf32>, tensor<2x2xf32>) outs(%q : tensor<1x4x4x3xf32>) -> tensor<1x4x4x3xf32>
  return
}
// -----
// blocked_layouts
func.func @f(%a: tensor<8x63xf32>, %z: tensor<8x2x8x4xf32>, %b: tensor<2x8x4x8xf32>, %c: tensor<8x64xf32>, %d: tensor<4x8x8x8xf32>, %e: tensor<2x4x4x8xf32>) {
  %x = arith.constant 0.0 : f32
  %0 = linalg.pack %a padding_value(%x : f32) outer_dims_perm = [1, 0] inner_dims_pos = [1, 0] inner_tiles = [8, 4] into %z : tensor<8x63xf32> -> tensor<8x2x8x4xf32>
  %1 = linalg.unpack %b inner_dims_pos = [0, 1] inner_tiles = [4, 8] into %c : tensor<2x8x4x8xf32> -> tensor<8x64xf32>
  %2 = linalg.mmt4d ins(%b, %d : tensor<2x8x4x8xf32>, tensor<4x8x8x8xf32>) outs(%e : tensor<2x4x4x8xf32>) -> tensor<2x4x4x8xf32>
  return
}
// -----
// control_on_tensors
func.func @f(%a: tensor<8x64xf32>, %p: i1, %n: index, %x: f32, %l: i32) -> tensor<8x64xf32> {
  %e = tensor.empty() : tensor<8x64xf32>
  %0 = scf.forall (%i) in (8) shared_outs(%o = %e) -> (tensor<8x64xf32>) {
    %s = tensor.extract_slice %a[%i, 0] [1, 64] [1, 1] : tensor<8x64xf32> to tensor<1x64xf32>
    scf.forall.in_parallel {
      tensor.parallel_insert_slice %s into %o[%i, 0] [1, 64] [1, 1] : tensor<1x64xf32> into tensor<8x64xf32>
    }
  } {ingot.tol = "x", mapping = [#gpu.block<x>]}
  scf.forall (%i, %j) = (0, %n) to (8, 16) step (1, %n) {
  }
  %1:2 = scf.for %i = %n to %n step %n iter_args(%q = %x, %t = %0) -> (f32, tensor<8x64xf32>) {
    scf.yield %q, %t : f32, tensor<8x64xf32>
  } {ingot.fallback = "size"}
  scf.for %i = %l to %l step %l : i32 {
  }
  %2 = scf.if %p -> (f32) {
    scf.yield %x : f32
  } else {
    scf.yield %1#0 : f32
  }
  scf.if %p {
    cf.assert %p, "page \22out\22 of range"
  }
  return %1#1 : tensor<8x64xf32>
}
// -----
// index_arithmetic
func.func @f(%a: index, %n: index) -> index {
  %0 = affine.apply affine_map<(d0) -> (d0 floordiv 4 + d0 mod 3 - 7)>(%a)
  %1 = affine.min affine_map<(d0)[s0] -> (d0, s0 - d0, s0 * 2)>(%a)[%n]
  %2 = affine.max affine_map<(d0, d1) -> (d0 ceildiv 8, -(d1 + 1))>(%0, %1)
  return %2 : index
}
// -----
// canonical_expressions
func.func private @f() attributes {ingot.tol = [
  affine_map<(d0, d1)[s0] -> (2 + d0, d0 + d0, d0 * 2 * 3, (d0 * 4) floordiv 4, d0 floordiv 1)>,
  affine_map<(d0, d1)[s0] -> (d0 - d1, d0 - d1 * 2, -d0, -(d0 + d1), 3 - d0, d0 + 1 + d1 + 2)>,
  affine_map<(d0, d1)[s0] -> (s0 + d0, s0 * d0, d0 * s0 * 2, (d0 * 6) mod 3, (d0 * 6 + d1) mod 3)>,
  affine_map<(d0, d1)[s0] -> ((d0 * 8 + d1) floordiv 8, d0 - (d0 floordiv 4) * 4, (d0 mod 8) mod 4)>,
  affine_map<(d0, d1)[s0] -> (d0 ceildiv 1, (d0 * 8) ceildiv 4, 7 floordiv 2, -7 mod 4, 7 ceildiv 2)>,
  affine_map<(d0, d1)[s0] -> ((d0 + d1) * 2, (d0 + 1) * s0, d0 * 0 + d1, d0 * -3 + 4 * d1)>,
  affine_map<(d0, d1)[s0] -> (d0 floordiv s0, d0 mod s0, (d0 + d1 * 4) floordiv 4 * 4)>]}
// -----
// what stock MLIR reads in several ways and writes in one
#sum = affine_map<(i, j)[s, t] -> (j + i, t + s, s + i, j + i + s)>
func.func @f(%i: i32, %n: index) {
  %0 = arith.cmpi "slt", %i, %i : i32
  %1 = affine.apply affine_map<(i, j) -> (j + i)>(%n, %n)
  return {ingot.map = #sum}
}

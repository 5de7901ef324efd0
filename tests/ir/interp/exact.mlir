// sums of 64 products in f32, f16 and bf16: every bit, as the generalised loops compute it
#id = affine_map<(d0, d1) -> (d0, d1)>
func.func private @printMemrefI32(tensor<*xi32>)
func.func private @a0() -> tensor<4x64xf32> {
  %e = tensor.empty() : tensor<4x64xf32>
  %zz = arith.constant -0.0 : f32
  %r = linalg.generic {indexing_maps = [#id], iterator_types = ["parallel", "parallel"]} outs(%e : tensor<4x64xf32>) {
  ^bb0(%o: f32):
    %i = linalg.index 0 : index
    %j = linalg.index 1 : index
    %c = arith.constant 64 : index
    %p0 = arith.muli %i, %c : index
    %p = arith.addi %p0, %j : index
    %ca = arith.constant 733 : index
    %cb = arith.constant 17 : index
    %cm = arith.constant 2001 : index
    %ch = arith.constant 1000 : index
    %q0 = arith.muli %p, %ca : index
    %q1 = arith.addi %q0, %cb : index
    %q2 = arith.remui %q1, %cm : index
    %q3 = arith.subi %q2, %ch : index
    %x = arith.index_cast %q3 : index to i32
    %f = arith.sitofp %x : i32 to f32
    %s = arith.constant 0.00137 : f32
    %y = arith.mulf %f, %s : f32
    %v = arith.addf %y, %zz : f32
    linalg.yield %v : f32
  } -> tensor<4x64xf32>
  return %r : tensor<4x64xf32>
}
func.func private @b0() -> tensor<64x4xf32> {
  %e = tensor.empty() : tensor<64x4xf32>
  %zz = arith.constant -0.0 : f32
  %r = linalg.generic {indexing_maps = [#id], iterator_types = ["parallel", "parallel"]} outs(%e : tensor<64x4xf32>) {
  ^bb0(%o: f32):
    %i = linalg.index 0 : index
    %j = linalg.index 1 : index
    %c = arith.constant 4 : index
    %p0 = arith.muli %i, %c : index
    %p = arith.addi %p0, %j : index
    %ca = arith.constant 419 : index
    %cb = arith.constant 5 : index
    %cm = arith.constant 2001 : index
    %ch = arith.constant 1000 : index
    %q0 = arith.muli %p, %ca : index
    %q1 = arith.addi %q0, %cb : index
    %q2 = arith.remui %q1, %cm : index
    %q3 = arith.subi %q2, %ch : index
    %x = arith.index_cast %q3 : index to i32
    %f = arith.sitofp %x : i32 to f32
    %s = arith.constant 0.00137 : f32
    %y = arith.mulf %f, %s : f32
    %v = arith.addf %y, %zz : f32
    linalg.yield %v : f32
  } -> tensor<64x4xf32>
  return %r : tensor<64x4xf32>
}
func.func private @a1() -> tensor<4x64xf16> {
  %e = tensor.empty() : tensor<4x64xf16>
  %zz = arith.constant -0.0 : f32
  %r = linalg.generic {indexing_maps = [#id], iterator_types = ["parallel", "parallel"]} outs(%e : tensor<4x64xf16>) {
  ^bb0(%o: f16):
    %i = linalg.index 0 : index
    %j = linalg.index 1 : index
    %c = arith.constant 64 : index
    %p0 = arith.muli %i, %c : index
    %p = arith.addi %p0, %j : index
    %ca = arith.constant 733 : index
    %cb = arith.constant 17 : index
    %cm = arith.constant 2001 : index
    %ch = arith.constant 1000 : index
    %q0 = arith.muli %p, %ca : index
    %q1 = arith.addi %q0, %cb : index
    %q2 = arith.remui %q1, %cm : index
    %q3 = arith.subi %q2, %ch : index
    %x = arith.index_cast %q3 : index to i32
    %f = arith.sitofp %x : i32 to f32
    %s = arith.constant 0.00137 : f32
    %y = arith.mulf %f, %s : f32
    %v = arith.truncf %y : f32 to f16
    linalg.yield %v : f16
  } -> tensor<4x64xf16>
  return %r : tensor<4x64xf16>
}
func.func private @b1() -> tensor<64x4xf16> {
  %e = tensor.empty() : tensor<64x4xf16>
  %zz = arith.constant -0.0 : f32
  %r = linalg.generic {indexing_maps = [#id], iterator_types = ["parallel", "parallel"]} outs(%e : tensor<64x4xf16>) {
  ^bb0(%o: f16):
    %i = linalg.index 0 : index
    %j = linalg.index 1 : index
    %c = arith.constant 4 : index
    %p0 = arith.muli %i, %c : index
    %p = arith.addi %p0, %j : index
    %ca = arith.constant 419 : index
    %cb = arith.constant 5 : index
    %cm = arith.constant 2001 : index
    %ch = arith.constant 1000 : index
    %q0 = arith.muli %p, %ca : index
    %q1 = arith.addi %q0, %cb : index
    %q2 = arith.remui %q1, %cm : index
    %q3 = arith.subi %q2, %ch : index
    %x = arith.index_cast %q3 : index to i32
    %f = arith.sitofp %x : i32 to f32
    %s = arith.constant 0.00137 : f32
    %y = arith.mulf %f, %s : f32
    %v = arith.truncf %y : f32 to f16
    linalg.yield %v : f16
  } -> tensor<64x4xf16>
  return %r : tensor<64x4xf16>
}
func.func private @a2() -> tensor<4x64xbf16> {
  %e = tensor.empty() : tensor<4x64xbf16>
  %zz = arith.constant -0.0 : f32
  %r = linalg.generic {indexing_maps = [#id], iterator_types = ["parallel", "parallel"]} outs(%e : tensor<4x64xbf16>) {
  ^bb0(%o: bf16):
    %i = linalg.index 0 : index
    %j = linalg.index 1 : index
    %c = arith.constant 64 : index
    %p0 = arith.muli %i, %c : index
    %p = arith.addi %p0, %j : index
    %ca = arith.constant 733 : index
    %cb = arith.constant 17 : index
    %cm = arith.constant 2001 : index
    %ch = arith.constant 1000 : index
    %q0 = arith.muli %p, %ca : index
    %q1 = arith.addi %q0, %cb : index
    %q2 = arith.remui %q1, %cm : index
    %q3 = arith.subi %q2, %ch : index
    %x = arith.index_cast %q3 : index to i32
    %f = arith.sitofp %x : i32 to f32
    %s = arith.constant 0.00137 : f32
    %y = arith.mulf %f, %s : f32
    %v = arith.truncf %y : f32 to bf16
    linalg.yield %v : bf16
  } -> tensor<4x64xbf16>
  return %r : tensor<4x64xbf16>
}
func.func private @b2() -> tensor<64x4xbf16> {
  %e = tensor.empty() : tensor<64x4xbf16>
  %zz = arith.constant -0.0 : f32
  %r = linalg.generic {indexing_maps = [#id], iterator_types = ["parallel", "parallel"]} outs(%e : tensor<64x4xbf16>) {
  ^bb0(%o: bf16):
    %i = linalg.index 0 : index
    %j = linalg.index 1 : index
    %c = arith.constant 4 : index
    %p0 = arith.muli %i, %c : index
    %p = arith.addi %p0, %j : index
    %ca = arith.constant 419 : index
    %cb = arith.constant 5 : index
    %cm = arith.constant 2001 : index
    %ch = arith.constant 1000 : index
    %q0 = arith.muli %p, %ca : index
    %q1 = arith.addi %q0, %cb : index
    %q2 = arith.remui %q1, %cm : index
    %q3 = arith.subi %q2, %ch : index
    %x = arith.index_cast %q3 : index to i32
    %f = arith.sitofp %x : i32 to f32
    %s = arith.constant 0.00137 : f32
    %y = arith.mulf %f, %s : f32
    %v = arith.truncf %y : f32 to bf16
    linalg.yield %v : bf16
  } -> tensor<64x4xbf16>
  return %r : tensor<64x4xbf16>
}
func.func private @a3() -> tensor<4x64xf16> {
  %e = tensor.empty() : tensor<4x64xf16>
  %zz = arith.constant -0.0 : f32
  %r = linalg.generic {indexing_maps = [#id], iterator_types = ["parallel", "parallel"]} outs(%e : tensor<4x64xf16>) {
  ^bb0(%o: f16):
    %i = linalg.index 0 : index
    %j = linalg.index 1 : index
    %c = arith.constant 64 : index
    %p0 = arith.muli %i, %c : index
    %p = arith.addi %p0, %j : index
    %ca = arith.constant 733 : index
    %cb = arith.constant 17 : index
    %cm = arith.constant 2001 : index
    %ch = arith.constant 1000 : index
    %q0 = arith.muli %p, %ca : index
    %q1 = arith.addi %q0, %cb : index
    %q2 = arith.remui %q1, %cm : index
    %q3 = arith.subi %q2, %ch : index
    %x = arith.index_cast %q3 : index to i32
    %f = arith.sitofp %x : i32 to f32
    %s = arith.constant 0.00137 : f32
    %y = arith.mulf %f, %s : f32
    %v = arith.truncf %y : f32 to f16
    linalg.yield %v : f16
  } -> tensor<4x64xf16>
  return %r : tensor<4x64xf16>
}
func.func private @b3() -> tensor<64x4xf16> {
  %e = tensor.empty() : tensor<64x4xf16>
  %zz = arith.constant -0.0 : f32
  %r = linalg.generic {indexing_maps = [#id], iterator_types = ["parallel", "parallel"]} outs(%e : tensor<64x4xf16>) {
  ^bb0(%o: f16):
    %i = linalg.index 0 : index
    %j = linalg.index 1 : index
    %c = arith.constant 4 : index
    %p0 = arith.muli %i, %c : index
    %p = arith.addi %p0, %j : index
    %ca = arith.constant 419 : index
    %cb = arith.constant 5 : index
    %cm = arith.constant 2001 : index
    %ch = arith.constant 1000 : index
    %q0 = arith.muli %p, %ca : index
    %q1 = arith.addi %q0, %cb : index
    %q2 = arith.remui %q1, %cm : index
    %q3 = arith.subi %q2, %ch : index
    %x = arith.index_cast %q3 : index to i32
    %f = arith.sitofp %x : i32 to f32
    %s = arith.constant 0.00137 : f32
    %y = arith.mulf %f, %s : f32
    %v = arith.truncf %y : f32 to f16
    linalg.yield %v : f16
  } -> tensor<64x4xf16>
  return %r : tensor<64x4xf16>
}
func.func private @a4() -> tensor<4x64xbf16> {
  %e = tensor.empty() : tensor<4x64xbf16>
  %zz = arith.constant -0.0 : f32
  %r = linalg.generic {indexing_maps = [#id], iterator_types = ["parallel", "parallel"]} outs(%e : tensor<4x64xbf16>) {
  ^bb0(%o: bf16):
    %i = linalg.index 0 : index
    %j = linalg.index 1 : index
    %c = arith.constant 64 : index
    %p0 = arith.muli %i, %c : index
    %p = arith.addi %p0, %j : index
    %ca = arith.constant 733 : index
    %cb = arith.constant 17 : index
    %cm = arith.constant 2001 : index
    %ch = arith.constant 1000 : index
    %q0 = arith.muli %p, %ca : index
    %q1 = arith.addi %q0, %cb : index
    %q2 = arith.remui %q1, %cm : index
    %q3 = arith.subi %q2, %ch : index
    %x = arith.index_cast %q3 : index to i32
    %f = arith.sitofp %x : i32 to f32
    %s = arith.constant 0.00137 : f32
    %y = arith.mulf %f, %s : f32
    %v = arith.truncf %y : f32 to bf16
    linalg.yield %v : bf16
  } -> tensor<4x64xbf16>
  return %r : tensor<4x64xbf16>
}
func.func private @b4() -> tensor<64x4xbf16> {
  %e = tensor.empty() : tensor<64x4xbf16>
  %zz = arith.constant -0.0 : f32
  %r = linalg.generic {indexing_maps = [#id], iterator_types = ["parallel", "parallel"]} outs(%e : tensor<64x4xbf16>) {
  ^bb0(%o: bf16):
    %i = linalg.index 0 : index
    %j = linalg.index 1 : index
    %c = arith.constant 4 : index
    %p0 = arith.muli %i, %c : index
    %p = arith.addi %p0, %j : index
    %ca = arith.constant 419 : index
    %cb = arith.constant 5 : index
    %cm = arith.constant 2001 : index
    %ch = arith.constant 1000 : index
    %q0 = arith.muli %p, %ca : index
    %q1 = arith.addi %q0, %cb : index
    %q2 = arith.remui %q1, %cm : index
    %q3 = arith.subi %q2, %ch : index
    %x = arith.index_cast %q3 : index to i32
    %f = arith.sitofp %x : i32 to f32
    %s = arith.constant 0.00137 : f32
    %y = arith.mulf %f, %s : f32
    %v = arith.truncf %y : f32 to bf16
    linalg.yield %v : bf16
  } -> tensor<64x4xbf16>
  return %r : tensor<64x4xbf16>
}
func.func @main() {
  %A0 = func.call @a0() : () -> tensor<4x64xf32>
  %B0 = func.call @b0() : () -> tensor<64x4xf32>
  %z0 = arith.constant 0.0 : f32
  %e0 = tensor.empty() : tensor<4x4xf32>
  %f0 = linalg.fill ins(%z0 : f32) outs(%e0 : tensor<4x4xf32>) -> tensor<4x4xf32>
  %r0 = linalg.matmul ins(%A0, %B0 : tensor<4x64xf32>, tensor<64x4xf32>) outs(%f0 : tensor<4x4xf32>) -> tensor<4x4xf32>
  %g0 = tensor.empty() : tensor<4x4xi32>
  %h0 = linalg.generic {indexing_maps = [#id, #id], iterator_types = ["parallel", "parallel"]} ins(%r0 : tensor<4x4xf32>) outs(%g0 : tensor<4x4xi32>) {
  ^bb0(%in: f32, %o: i32):
    %b = arith.bitcast %in : f32 to i32
    linalg.yield %b : i32
  } -> tensor<4x4xi32>
  %u0 = tensor.cast %h0 : tensor<4x4xi32> to tensor<*xi32>
  func.call @printMemrefI32(%u0) : (tensor<*xi32>) -> ()
  %A1 = func.call @a1() : () -> tensor<4x64xf16>
  %B1 = func.call @b1() : () -> tensor<64x4xf16>
  %z1 = arith.constant 0.0 : f32
  %e1 = tensor.empty() : tensor<4x4xf32>
  %f1 = linalg.fill ins(%z1 : f32) outs(%e1 : tensor<4x4xf32>) -> tensor<4x4xf32>
  %r1 = linalg.matmul ins(%A1, %B1 : tensor<4x64xf16>, tensor<64x4xf16>) outs(%f1 : tensor<4x4xf32>) -> tensor<4x4xf32>
  %g1 = tensor.empty() : tensor<4x4xi32>
  %h1 = linalg.generic {indexing_maps = [#id, #id], iterator_types = ["parallel", "parallel"]} ins(%r1 : tensor<4x4xf32>) outs(%g1 : tensor<4x4xi32>) {
  ^bb0(%in: f32, %o: i32):
    %b = arith.bitcast %in : f32 to i32
    linalg.yield %b : i32
  } -> tensor<4x4xi32>
  %u1 = tensor.cast %h1 : tensor<4x4xi32> to tensor<*xi32>
  func.call @printMemrefI32(%u1) : (tensor<*xi32>) -> ()
  %A2 = func.call @a2() : () -> tensor<4x64xbf16>
  %B2 = func.call @b2() : () -> tensor<64x4xbf16>
  %z2 = arith.constant 0.0 : f32
  %e2 = tensor.empty() : tensor<4x4xf32>
  %f2 = linalg.fill ins(%z2 : f32) outs(%e2 : tensor<4x4xf32>) -> tensor<4x4xf32>
  %r2 = linalg.matmul ins(%A2, %B2 : tensor<4x64xbf16>, tensor<64x4xbf16>) outs(%f2 : tensor<4x4xf32>) -> tensor<4x4xf32>
  %g2 = tensor.empty() : tensor<4x4xi32>
  %h2 = linalg.generic {indexing_maps = [#id, #id], iterator_types = ["parallel", "parallel"]} ins(%r2 : tensor<4x4xf32>) outs(%g2 : tensor<4x4xi32>) {
  ^bb0(%in: f32, %o: i32):
    %b = arith.bitcast %in : f32 to i32
    linalg.yield %b : i32
  } -> tensor<4x4xi32>
  %u2 = tensor.cast %h2 : tensor<4x4xi32> to tensor<*xi32>
  func.call @printMemrefI32(%u2) : (tensor<*xi32>) -> ()
  %A3 = func.call @a3() : () -> tensor<4x64xf16>
  %B3 = func.call @b3() : () -> tensor<64x4xf16>
  %z3 = arith.constant 0.0 : f16
  %e3 = tensor.empty() : tensor<4x4xf16>
  %f3 = linalg.fill ins(%z3 : f16) outs(%e3 : tensor<4x4xf16>) -> tensor<4x4xf16>
  %r3 = linalg.matmul {ingot.tol = "f16acc"} ins(%A3, %B3 : tensor<4x64xf16>, tensor<64x4xf16>) outs(%f3 : tensor<4x4xf16>) -> tensor<4x4xf16>
  %g3 = tensor.empty() : tensor<4x4xi32>
  %h3 = linalg.generic {indexing_maps = [#id, #id], iterator_types = ["parallel", "parallel"]} ins(%r3 : tensor<4x4xf16>) outs(%g3 : tensor<4x4xi32>) {
  ^bb0(%in: f16, %o: i32):
    %b = arith.bitcast %in : f16 to i16
    %w = arith.extui %b : i16 to i32
    linalg.yield %w : i32
  } -> tensor<4x4xi32>
  %u3 = tensor.cast %h3 : tensor<4x4xi32> to tensor<*xi32>
  func.call @printMemrefI32(%u3) : (tensor<*xi32>) -> ()
  %A4 = func.call @a4() : () -> tensor<4x64xbf16>
  %B4 = func.call @b4() : () -> tensor<64x4xbf16>
  %z4 = arith.constant 0.0 : bf16
  %e4 = tensor.empty() : tensor<4x4xbf16>
  %f4 = linalg.fill ins(%z4 : bf16) outs(%e4 : tensor<4x4xbf16>) -> tensor<4x4xbf16>
  %r4 = linalg.matmul {ingot.tol = "f16acc"} ins(%A4, %B4 : tensor<4x64xbf16>, tensor<64x4xbf16>) outs(%f4 : tensor<4x4xbf16>) -> tensor<4x4xbf16>
  %g4 = tensor.empty() : tensor<4x4xi32>
  %h4 = linalg.generic {indexing_maps = [#id, #id], iterator_types = ["parallel", "parallel"]} ins(%r4 : tensor<4x4xbf16>) outs(%g4 : tensor<4x4xi32>) {
  ^bb0(%in: bf16, %o: i32):
    %b = arith.bitcast %in : bf16 to i16
    %w = arith.extui %b : i16 to i32
    linalg.yield %w : i32
  } -> tensor<4x4xi32>
  %u4 = tensor.cast %h4 : tensor<4x4xi32> to tensor<*xi32>
  func.call @printMemrefI32(%u4) : (tensor<*xi32>) -> ()
  return
}
// out: Unranked Memref base@ = 0x0 rank = 2 offset = 0 sizes = [4, 4] strides = [4, 1] data =
// out: [[1068076166,   -1068024384,   -1065438216,   1061629453],
// out:  [1066706691,   1083774586,   1070586790,   -1095949725],
// out:  [-1072139530,   1084611721,   1076370860,   -1069934230],
// out:  [1052069378,   -1094741700,   1090482471,   1070970274]]
// out: Unranked Memref base@ = 0x0 rank = 2 offset = 0 sizes = [4, 4] strides = [4, 1] data =
// out: [[1068071044,   -1068023742,   -1065438862,   1061648966],
// out:  [1066700388,   1083774175,   1070583395,   -1095924626],
// out:  [-1072132701,   1084616204,   1076376760,   -1069924528],
// out:  [1052174460,   -1094719184,   1090475630,   1070980107]]
// out: Unranked Memref base@ = 0x0 rank = 2 offset = 0 sizes = [4, 4] strides = [4, 1] data =
// out: [[1067844144,   -1067962779,   -1065473586,   1061422254],
// out:  [1066842164,   1083761182,   1070608326,   -1096087460],
// out:  [-1072249666,   1084558785,   1076256776,   -1069976050],
// out:  [1052107992,   -1095122912,   1090447133,   1071055924]]
// out: Unranked Memref base@ = 0x0 rank = 2 offset = 0 sizes = [4, 4] strides = [4, 1] data =
// out: [[15690,   49848,   50168,   14914],
// out:  [15524,   17609,   15997,   46451],
// out:  [49350,   17712,   16706,   49618],
// out:  [13746,   46572,   18427,   16049]]
// out: Unranked Memref base@ = 0x0 rank = 2 offset = 0 sizes = [4, 4] strides = [4, 1] data =
// out: [[16288,   49242,   49276,   16190],
// out:  [16278,   16542,   16338,   48818],
// out:  [49173,   16550,   16423,   49210],
// out:  [16068,   48820,   16637,   16340]]

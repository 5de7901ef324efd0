// math.* in f32: the bits of the C library (not the same on every machine)
// any-output
#id = affine_map<(d0) -> (d0)>
func.func private @printMemrefI32(tensor<*xi32>)
func.func @main() {
  %x32 = arith.constant dense<[0.0, -0.0, 1.0, -1.0, 0.1, 2.5, 3.5, -2.5, 0.333333343, 10.75, 88.0, -80.5, 1.0E-5, 123.456001, 3.14159274, 0.7]> : tensor<16xf32>
  %e0 = tensor.empty() : tensor<16xi32>
  %r0 = linalg.generic {indexing_maps = [#id, #id], iterator_types = ["parallel"]} ins(%x32 : tensor<16xf32>) outs(%e0 : tensor<16xi32>) {
  ^bb0(%a: f32, %o: i32):
    %1 = math.exp %a : f32
    %2 = arith.bitcast %1 : f32 to i32
    linalg.yield %2 : i32
  } -> tensor<16xi32>
  %u0 = tensor.cast %r0 : tensor<16xi32> to tensor<*xi32>
  func.call @printMemrefI32(%u0) : (tensor<*xi32>) -> ()
  %e1 = tensor.empty() : tensor<16xi32>
  %r1 = linalg.generic {indexing_maps = [#id, #id], iterator_types = ["parallel"]} ins(%x32 : tensor<16xf32>) outs(%e1 : tensor<16xi32>) {
  ^bb0(%a: f32, %o: i32):
    %p = math.absf %a : f32
    %1 = math.log %p : f32
    %2 = arith.bitcast %1 : f32 to i32
    linalg.yield %2 : i32
  } -> tensor<16xi32>
  %u1 = tensor.cast %r1 : tensor<16xi32> to tensor<*xi32>
  func.call @printMemrefI32(%u1) : (tensor<*xi32>) -> ()
  %e2 = tensor.empty() : tensor<16xi32>
  %r2 = linalg.generic {indexing_maps = [#id, #id], iterator_types = ["parallel"]} ins(%x32 : tensor<16xf32>) outs(%e2 : tensor<16xi32>) {
  ^bb0(%a: f32, %o: i32):
    %p = math.absf %a : f32
    %1 = math.sqrt %p : f32
    %2 = arith.bitcast %1 : f32 to i32
    linalg.yield %2 : i32
  } -> tensor<16xi32>
  %u2 = tensor.cast %r2 : tensor<16xi32> to tensor<*xi32>
  func.call @printMemrefI32(%u2) : (tensor<*xi32>) -> ()
  %e3 = tensor.empty() : tensor<16xi32>
  %r3 = linalg.generic {indexing_maps = [#id, #id], iterator_types = ["parallel"]} ins(%x32 : tensor<16xf32>) outs(%e3 : tensor<16xi32>) {
  ^bb0(%a: f32, %o: i32):
    %p = math.absf %a : f32
    %1 = math.rsqrt %p : f32
    %2 = arith.bitcast %1 : f32 to i32
    linalg.yield %2 : i32
  } -> tensor<16xi32>
  %u3 = tensor.cast %r3 : tensor<16xi32> to tensor<*xi32>
  func.call @printMemrefI32(%u3) : (tensor<*xi32>) -> ()
  %e4 = tensor.empty() : tensor<16xi32>
  %r4 = linalg.generic {indexing_maps = [#id, #id], iterator_types = ["parallel"]} ins(%x32 : tensor<16xf32>) outs(%e4 : tensor<16xi32>) {
  ^bb0(%a: f32, %o: i32):
    %1 = math.tanh %a : f32
    %2 = arith.bitcast %1 : f32 to i32
    linalg.yield %2 : i32
  } -> tensor<16xi32>
  %u4 = tensor.cast %r4 : tensor<16xi32> to tensor<*xi32>
  func.call @printMemrefI32(%u4) : (tensor<*xi32>) -> ()
  %e5 = tensor.empty() : tensor<16xi32>
  %r5 = linalg.generic {indexing_maps = [#id, #id], iterator_types = ["parallel"]} ins(%x32 : tensor<16xf32>) outs(%e5 : tensor<16xi32>) {
  ^bb0(%a: f32, %o: i32):
    %1 = math.erf %a : f32
    %2 = arith.bitcast %1 : f32 to i32
    linalg.yield %2 : i32
  } -> tensor<16xi32>
  %u5 = tensor.cast %r5 : tensor<16xi32> to tensor<*xi32>
  func.call @printMemrefI32(%u5) : (tensor<*xi32>) -> ()
  %e6 = tensor.empty() : tensor<16xi32>
  %r6 = linalg.generic {indexing_maps = [#id, #id], iterator_types = ["parallel"]} ins(%x32 : tensor<16xf32>) outs(%e6 : tensor<16xi32>) {
  ^bb0(%a: f32, %o: i32):
    %1 = math.sin %a : f32
    %2 = arith.bitcast %1 : f32 to i32
    linalg.yield %2 : i32
  } -> tensor<16xi32>
  %u6 = tensor.cast %r6 : tensor<16xi32> to tensor<*xi32>
  func.call @printMemrefI32(%u6) : (tensor<*xi32>) -> ()
  %e7 = tensor.empty() : tensor<16xi32>
  %r7 = linalg.generic {indexing_maps = [#id, #id], iterator_types = ["parallel"]} ins(%x32 : tensor<16xf32>) outs(%e7 : tensor<16xi32>) {
  ^bb0(%a: f32, %o: i32):
    %1 = math.cos %a : f32
    %2 = arith.bitcast %1 : f32 to i32
    linalg.yield %2 : i32
  } -> tensor<16xi32>
  %u7 = tensor.cast %r7 : tensor<16xi32> to tensor<*xi32>
  func.call @printMemrefI32(%u7) : (tensor<*xi32>) -> ()
  %e8 = tensor.empty() : tensor<16xi32>
  %r8 = linalg.generic {indexing_maps = [#id, #id], iterator_types = ["parallel"]} ins(%x32 : tensor<16xf32>) outs(%e8 : tensor<16xi32>) {
  ^bb0(%a: f32, %o: i32):
    %1 = math.absf %a : f32
    %2 = arith.bitcast %1 : f32 to i32
    linalg.yield %2 : i32
  } -> tensor<16xi32>
  %u8 = tensor.cast %r8 : tensor<16xi32> to tensor<*xi32>
  func.call @printMemrefI32(%u8) : (tensor<*xi32>) -> ()
  %e9 = tensor.empty() : tensor<16xi32>
  %r9 = linalg.generic {indexing_maps = [#id, #id], iterator_types = ["parallel"]} ins(%x32 : tensor<16xf32>) outs(%e9 : tensor<16xi32>) {
  ^bb0(%a: f32, %o: i32):
    %1 = math.floor %a : f32
    %2 = arith.bitcast %1 : f32 to i32
    linalg.yield %2 : i32
  } -> tensor<16xi32>
  %u9 = tensor.cast %r9 : tensor<16xi32> to tensor<*xi32>
  func.call @printMemrefI32(%u9) : (tensor<*xi32>) -> ()
  %e10 = tensor.empty() : tensor<16xi32>
  %r10 = linalg.generic {indexing_maps = [#id, #id], iterator_types = ["parallel"]} ins(%x32 : tensor<16xf32>) outs(%e10 : tensor<16xi32>) {
  ^bb0(%a: f32, %o: i32):
    %1 = math.ceil %a : f32
    %2 = arith.bitcast %1 : f32 to i32
    linalg.yield %2 : i32
  } -> tensor<16xi32>
  %u10 = tensor.cast %r10 : tensor<16xi32> to tensor<*xi32>
  func.call @printMemrefI32(%u10) : (tensor<*xi32>) -> ()
  %e11 = tensor.empty() : tensor<16xi32>
  %r11 = linalg.generic {indexing_maps = [#id, #id], iterator_types = ["parallel"]} ins(%x32 : tensor<16xf32>) outs(%e11 : tensor<16xi32>) {
  ^bb0(%a: f32, %o: i32):
    %1 = math.roundeven %a : f32
    %2 = arith.bitcast %1 : f32 to i32
    linalg.yield %2 : i32
  } -> tensor<16xi32>
  %u11 = tensor.cast %r11 : tensor<16xi32> to tensor<*xi32>
  func.call @printMemrefI32(%u11) : (tensor<*xi32>) -> ()
  return
}
// -----
// math.* in f16: through f32, rounded once
// any-output
#id = affine_map<(d0) -> (d0)>
func.func private @printMemrefI32(tensor<*xi32>)
func.func @main() {
  %x32 = arith.constant dense<[0.0, -0.0, 1.0, -1.0, 0.1, 2.5, 3.5, -2.5, 0.333333343, 10.75, 88.0, -80.5, 1.0E-5, 123.456001, 3.14159274, 0.7]> : tensor<16xf32>
  %ex = tensor.empty() : tensor<16xf16>
  %x = linalg.generic {indexing_maps = [#id, #id], iterator_types = ["parallel"]} ins(%x32 : tensor<16xf32>) outs(%ex : tensor<16xf16>) {
  ^bb0(%a: f32, %o: f16):
    %0 = arith.truncf %a : f32 to f16
    linalg.yield %0 : f16
  } -> tensor<16xf16>
  %e0 = tensor.empty() : tensor<16xi32>
  %r0 = linalg.generic {indexing_maps = [#id, #id], iterator_types = ["parallel"]} ins(%x : tensor<16xf16>) outs(%e0 : tensor<16xi32>) {
  ^bb0(%a: f16, %o: i32):
    %1 = math.exp %a : f16
    %2 = arith.bitcast %1 : f16 to i16
    %3 = arith.extui %2 : i16 to i32
    linalg.yield %3 : i32
  } -> tensor<16xi32>
  %u0 = tensor.cast %r0 : tensor<16xi32> to tensor<*xi32>
  func.call @printMemrefI32(%u0) : (tensor<*xi32>) -> ()
  %e1 = tensor.empty() : tensor<16xi32>
  %r1 = linalg.generic {indexing_maps = [#id, #id], iterator_types = ["parallel"]} ins(%x : tensor<16xf16>) outs(%e1 : tensor<16xi32>) {
  ^bb0(%a: f16, %o: i32):
    %p = math.absf %a : f16
    %1 = math.log %p : f16
    %2 = arith.bitcast %1 : f16 to i16
    %3 = arith.extui %2 : i16 to i32
    linalg.yield %3 : i32
  } -> tensor<16xi32>
  %u1 = tensor.cast %r1 : tensor<16xi32> to tensor<*xi32>
  func.call @printMemrefI32(%u1) : (tensor<*xi32>) -> ()
  %e2 = tensor.empty() : tensor<16xi32>
  %r2 = linalg.generic {indexing_maps = [#id, #id], iterator_types = ["parallel"]} ins(%x : tensor<16xf16>) outs(%e2 : tensor<16xi32>) {
  ^bb0(%a: f16, %o: i32):
    %p = math.absf %a : f16
    %1 = math.sqrt %p : f16
    %2 = arith.bitcast %1 : f16 to i16
    %3 = arith.extui %2 : i16 to i32
    linalg.yield %3 : i32
  } -> tensor<16xi32>
  %u2 = tensor.cast %r2 : tensor<16xi32> to tensor<*xi32>
  func.call @printMemrefI32(%u2) : (tensor<*xi32>) -> ()
  %e3 = tensor.empty() : tensor<16xi32>
  %r3 = linalg.generic {indexing_maps = [#id, #id], iterator_types = ["parallel"]} ins(%x : tensor<16xf16>) outs(%e3 : tensor<16xi32>) {
  ^bb0(%a: f16, %o: i32):
    %p = math.absf %a : f16
    %1 = math.rsqrt %p : f16
    %2 = arith.bitcast %1 : f16 to i16
    %3 = arith.extui %2 : i16 to i32
    linalg.yield %3 : i32
  } -> tensor<16xi32>
  %u3 = tensor.cast %r3 : tensor<16xi32> to tensor<*xi32>
  func.call @printMemrefI32(%u3) : (tensor<*xi32>) -> ()
  %e4 = tensor.empty() : tensor<16xi32>
  %r4 = linalg.generic {indexing_maps = [#id, #id], iterator_types = ["parallel"]} ins(%x : tensor<16xf16>) outs(%e4 : tensor<16xi32>) {
  ^bb0(%a: f16, %o: i32):
    %1 = math.tanh %a : f16
    %2 = arith.bitcast %1 : f16 to i16
    %3 = arith.extui %2 : i16 to i32
    linalg.yield %3 : i32
  } -> tensor<16xi32>
  %u4 = tensor.cast %r4 : tensor<16xi32> to tensor<*xi32>
  func.call @printMemrefI32(%u4) : (tensor<*xi32>) -> ()
  %e5 = tensor.empty() : tensor<16xi32>
  %r5 = linalg.generic {indexing_maps = [#id, #id], iterator_types = ["parallel"]} ins(%x : tensor<16xf16>) outs(%e5 : tensor<16xi32>) {
  ^bb0(%a: f16, %o: i32):
    %1 = math.erf %a : f16
    %2 = arith.bitcast %1 : f16 to i16
    %3 = arith.extui %2 : i16 to i32
    linalg.yield %3 : i32
  } -> tensor<16xi32>
  %u5 = tensor.cast %r5 : tensor<16xi32> to tensor<*xi32>
  func.call @printMemrefI32(%u5) : (tensor<*xi32>) -> ()
  %e6 = tensor.empty() : tensor<16xi32>
  %r6 = linalg.generic {indexing_maps = [#id, #id], iterator_types = ["parallel"]} ins(%x : tensor<16xf16>) outs(%e6 : tensor<16xi32>) {
  ^bb0(%a: f16, %o: i32):
    %1 = math.sin %a : f16
    %2 = arith.bitcast %1 : f16 to i16
    %3 = arith.extui %2 : i16 to i32
    linalg.yield %3 : i32
  } -> tensor<16xi32>
  %u6 = tensor.cast %r6 : tensor<16xi32> to tensor<*xi32>
  func.call @printMemrefI32(%u6) : (tensor<*xi32>) -> ()
  %e7 = tensor.empty() : tensor<16xi32>
  %r7 = linalg.generic {indexing_maps = [#id, #id], iterator_types = ["parallel"]} ins(%x : tensor<16xf16>) outs(%e7 : tensor<16xi32>) {
  ^bb0(%a: f16, %o: i32):
    %1 = math.cos %a : f16
    %2 = arith.bitcast %1 : f16 to i16
    %3 = arith.extui %2 : i16 to i32
    linalg.yield %3 : i32
  } -> tensor<16xi32>
  %u7 = tensor.cast %r7 : tensor<16xi32> to tensor<*xi32>
  func.call @printMemrefI32(%u7) : (tensor<*xi32>) -> ()
  %e8 = tensor.empty() : tensor<16xi32>
  %r8 = linalg.generic {indexing_maps = [#id, #id], iterator_types = ["parallel"]} ins(%x : tensor<16xf16>) outs(%e8 : tensor<16xi32>) {
  ^bb0(%a: f16, %o: i32):
    %1 = math.absf %a : f16
    %2 = arith.bitcast %1 : f16 to i16
    %3 = arith.extui %2 : i16 to i32
    linalg.yield %3 : i32
  } -> tensor<16xi32>
  %u8 = tensor.cast %r8 : tensor<16xi32> to tensor<*xi32>
  func.call @printMemrefI32(%u8) : (tensor<*xi32>) -> ()
  %e9 = tensor.empty() : tensor<16xi32>
  %r9 = linalg.generic {indexing_maps = [#id, #id], iterator_types = ["parallel"]} ins(%x : tensor<16xf16>) outs(%e9 : tensor<16xi32>) {
  ^bb0(%a: f16, %o: i32):
    %1 = math.floor %a : f16
    %2 = arith.bitcast %1 : f16 to i16
    %3 = arith.extui %2 : i16 to i32
    linalg.yield %3 : i32
  } -> tensor<16xi32>
  %u9 = tensor.cast %r9 : tensor<16xi32> to tensor<*xi32>
  func.call @printMemrefI32(%u9) : (tensor<*xi32>) -> ()
  %e10 = tensor.empty() : tensor<16xi32>
  %r10 = linalg.generic {indexing_maps = [#id, #id], iterator_types = ["parallel"]} ins(%x : tensor<16xf16>) outs(%e10 : tensor<16xi32>) {
  ^bb0(%a: f16, %o: i32):
    %1 = math.ceil %a : f16
    %2 = arith.bitcast %1 : f16 to i16
    %3 = arith.extui %2 : i16 to i32
    linalg.yield %3 : i32
  } -> tensor<16xi32>
  %u10 = tensor.cast %r10 : tensor<16xi32> to tensor<*xi32>
  func.call @printMemrefI32(%u10) : (tensor<*xi32>) -> ()
  %e11 = tensor.empty() : tensor<16xi32>
  %r11 = linalg.generic {indexing_maps = [#id, #id], iterator_types = ["parallel"]} ins(%x : tensor<16xf16>) outs(%e11 : tensor<16xi32>) {
  ^bb0(%a: f16, %o: i32):
    %1 = math.roundeven %a : f16
    %2 = arith.bitcast %1 : f16 to i16
    %3 = arith.extui %2 : i16 to i32
    linalg.yield %3 : i32
  } -> tensor<16xi32>
  %u11 = tensor.cast %r11 : tensor<16xi32> to tensor<*xi32>
  func.call @printMemrefI32(%u11) : (tensor<*xi32>) -> ()
  return
}
// -----
// math.* in bf16: through f32, rounded once. No result is subnormal: where the CPU has vcvtneps2bf16, the
// runner uses it, and it makes those zero.
// any-output
#id = affine_map<(d0) -> (d0)>
func.func private @printMemrefI32(tensor<*xi32>)
func.func @main() {
  %x32 = arith.constant dense<[0.0, -0.0, 1.0, -1.0, 0.1, 2.5, 3.5, -2.5, 0.333333343, 10.75, 88.0, -80.5, 1.0E-5, 123.456001, 3.14159274, 0.7]> : tensor<16xf32>
  %ex = tensor.empty() : tensor<16xbf16>
  %x = linalg.generic {indexing_maps = [#id, #id], iterator_types = ["parallel"]} ins(%x32 : tensor<16xf32>) outs(%ex : tensor<16xbf16>) {
  ^bb0(%a: f32, %o: bf16):
    %0 = arith.truncf %a : f32 to bf16
    linalg.yield %0 : bf16
  } -> tensor<16xbf16>
  %e0 = tensor.empty() : tensor<16xi32>
  %r0 = linalg.generic {indexing_maps = [#id, #id], iterator_types = ["parallel"]} ins(%x : tensor<16xbf16>) outs(%e0 : tensor<16xi32>) {
  ^bb0(%a: bf16, %o: i32):
    %1 = math.exp %a : bf16
    %2 = arith.bitcast %1 : bf16 to i16
    %3 = arith.extui %2 : i16 to i32
    linalg.yield %3 : i32
  } -> tensor<16xi32>
  %u0 = tensor.cast %r0 : tensor<16xi32> to tensor<*xi32>
  func.call @printMemrefI32(%u0) : (tensor<*xi32>) -> ()
  %e1 = tensor.empty() : tensor<16xi32>
  %r1 = linalg.generic {indexing_maps = [#id, #id], iterator_types = ["parallel"]} ins(%x : tensor<16xbf16>) outs(%e1 : tensor<16xi32>) {
  ^bb0(%a: bf16, %o: i32):
    %p = math.absf %a : bf16
    %1 = math.log %p : bf16
    %2 = arith.bitcast %1 : bf16 to i16
    %3 = arith.extui %2 : i16 to i32
    linalg.yield %3 : i32
  } -> tensor<16xi32>
  %u1 = tensor.cast %r1 : tensor<16xi32> to tensor<*xi32>
  func.call @printMemrefI32(%u1) : (tensor<*xi32>) -> ()
  %e2 = tensor.empty() : tensor<16xi32>
  %r2 = linalg.generic {indexing_maps = [#id, #id], iterator_types = ["parallel"]} ins(%x : tensor<16xbf16>) outs(%e2 : tensor<16xi32>) {
  ^bb0(%a: bf16, %o: i32):
    %p = math.absf %a : bf16
    %1 = math.sqrt %p : bf16
    %2 = arith.bitcast %1 : bf16 to i16
    %3 = arith.extui %2 : i16 to i32
    linalg.yield %3 : i32
  } -> tensor<16xi32>
  %u2 = tensor.cast %r2 : tensor<16xi32> to tensor<*xi32>
  func.call @printMemrefI32(%u2) : (tensor<*xi32>) -> ()
  %e3 = tensor.empty() : tensor<16xi32>
  %r3 = linalg.generic {indexing_maps = [#id, #id], iterator_types = ["parallel"]} ins(%x : tensor<16xbf16>) outs(%e3 : tensor<16xi32>) {
  ^bb0(%a: bf16, %o: i32):
    %p = math.absf %a : bf16
    %1 = math.rsqrt %p : bf16
    %2 = arith.bitcast %1 : bf16 to i16
    %3 = arith.extui %2 : i16 to i32
    linalg.yield %3 : i32
  } -> tensor<16xi32>
  %u3 = tensor.cast %r3 : tensor<16xi32> to tensor<*xi32>
  func.call @printMemrefI32(%u3) : (tensor<*xi32>) -> ()
  %e4 = tensor.empty() : tensor<16xi32>
  %r4 = linalg.generic {indexing_maps = [#id, #id], iterator_types = ["parallel"]} ins(%x : tensor<16xbf16>) outs(%e4 : tensor<16xi32>) {
  ^bb0(%a: bf16, %o: i32):
    %1 = math.tanh %a : bf16
    %2 = arith.bitcast %1 : bf16 to i16
    %3 = arith.extui %2 : i16 to i32
    linalg.yield %3 : i32
  } -> tensor<16xi32>
  %u4 = tensor.cast %r4 : tensor<16xi32> to tensor<*xi32>
  func.call @printMemrefI32(%u4) : (tensor<*xi32>) -> ()
  %e5 = tensor.empty() : tensor<16xi32>
  %r5 = linalg.generic {indexing_maps = [#id, #id], iterator_types = ["parallel"]} ins(%x : tensor<16xbf16>) outs(%e5 : tensor<16xi32>) {
  ^bb0(%a: bf16, %o: i32):
    %1 = math.erf %a : bf16
    %2 = arith.bitcast %1 : bf16 to i16
    %3 = arith.extui %2 : i16 to i32
    linalg.yield %3 : i32
  } -> tensor<16xi32>
  %u5 = tensor.cast %r5 : tensor<16xi32> to tensor<*xi32>
  func.call @printMemrefI32(%u5) : (tensor<*xi32>) -> ()
  %e6 = tensor.empty() : tensor<16xi32>
  %r6 = linalg.generic {indexing_maps = [#id, #id], iterator_types = ["parallel"]} ins(%x : tensor<16xbf16>) outs(%e6 : tensor<16xi32>) {
  ^bb0(%a: bf16, %o: i32):
    %1 = math.sin %a : bf16
    %2 = arith.bitcast %1 : bf16 to i16
    %3 = arith.extui %2 : i16 to i32
    linalg.yield %3 : i32
  } -> tensor<16xi32>
  %u6 = tensor.cast %r6 : tensor<16xi32> to tensor<*xi32>
  func.call @printMemrefI32(%u6) : (tensor<*xi32>) -> ()
  %e7 = tensor.empty() : tensor<16xi32>
  %r7 = linalg.generic {indexing_maps = [#id, #id], iterator_types = ["parallel"]} ins(%x : tensor<16xbf16>) outs(%e7 : tensor<16xi32>) {
  ^bb0(%a: bf16, %o: i32):
    %1 = math.cos %a : bf16
    %2 = arith.bitcast %1 : bf16 to i16
    %3 = arith.extui %2 : i16 to i32
    linalg.yield %3 : i32
  } -> tensor<16xi32>
  %u7 = tensor.cast %r7 : tensor<16xi32> to tensor<*xi32>
  func.call @printMemrefI32(%u7) : (tensor<*xi32>) -> ()
  %e8 = tensor.empty() : tensor<16xi32>
  %r8 = linalg.generic {indexing_maps = [#id, #id], iterator_types = ["parallel"]} ins(%x : tensor<16xbf16>) outs(%e8 : tensor<16xi32>) {
  ^bb0(%a: bf16, %o: i32):
    %1 = math.absf %a : bf16
    %2 = arith.bitcast %1 : bf16 to i16
    %3 = arith.extui %2 : i16 to i32
    linalg.yield %3 : i32
  } -> tensor<16xi32>
  %u8 = tensor.cast %r8 : tensor<16xi32> to tensor<*xi32>
  func.call @printMemrefI32(%u8) : (tensor<*xi32>) -> ()
  %e9 = tensor.empty() : tensor<16xi32>
  %r9 = linalg.generic {indexing_maps = [#id, #id], iterator_types = ["parallel"]} ins(%x : tensor<16xbf16>) outs(%e9 : tensor<16xi32>) {
  ^bb0(%a: bf16, %o: i32):
    %1 = math.floor %a : bf16
    %2 = arith.bitcast %1 : bf16 to i16
    %3 = arith.extui %2 : i16 to i32
    linalg.yield %3 : i32
  } -> tensor<16xi32>
  %u9 = tensor.cast %r9 : tensor<16xi32> to tensor<*xi32>
  func.call @printMemrefI32(%u9) : (tensor<*xi32>) -> ()
  %e10 = tensor.empty() : tensor<16xi32>
  %r10 = linalg.generic {indexing_maps = [#id, #id], iterator_types = ["parallel"]} ins(%x : tensor<16xbf16>) outs(%e10 : tensor<16xi32>) {
  ^bb0(%a: bf16, %o: i32):
    %1 = math.ceil %a : bf16
    %2 = arith.bitcast %1 : bf16 to i16
    %3 = arith.extui %2 : i16 to i32
    linalg.yield %3 : i32
  } -> tensor<16xi32>
  %u10 = tensor.cast %r10 : tensor<16xi32> to tensor<*xi32>
  func.call @printMemrefI32(%u10) : (tensor<*xi32>) -> ()
  %e11 = tensor.empty() : tensor<16xi32>
  %r11 = linalg.generic {indexing_maps = [#id, #id], iterator_types = ["parallel"]} ins(%x : tensor<16xbf16>) outs(%e11 : tensor<16xi32>) {
  ^bb0(%a: bf16, %o: i32):
    %1 = math.roundeven %a : bf16
    %2 = arith.bitcast %1 : bf16 to i16
    %3 = arith.extui %2 : i16 to i32
    linalg.yield %3 : i32
  } -> tensor<16xi32>
  %u11 = tensor.cast %r11 : tensor<16xi32> to tensor<*xi32>
  func.call @printMemrefI32(%u11) : (tensor<*xi32>) -> ()
  return
}
// -----
// arithmetic in f16: each operation rounds
// any-output
#id = affine_map<(d0) -> (d0)>
func.func private @printMemrefI32(tensor<*xi32>)
func.func @main() {
  %e = tensor.empty() : tensor<64xi32>
  %r = linalg.generic {indexing_maps = [#id], iterator_types = ["parallel"]} outs(%e : tensor<64xi32>) {
  ^bb0(%o: i32):
    %i = linalg.index 0 : index
    %n = arith.index_cast %i : index to i32
    %c7 = arith.constant 7 : i32
    %m = arith.muli %n, %n : i32
    %k = arith.addi %m, %c7 : i32
    %a = arith.sitofp %n : i32 to f16
    %b = arith.uitofp %k : i32 to f16
    %t = arith.constant 0.333 : f16
    %0 = arith.mulf %a, %t : f16
    %1 = arith.addf %0, %b : f16
    %2 = arith.divf %a, %b : f16
    %3 = arith.subf %1, %2 : f16
    %4 = arith.negf %3 : f16
    %5 = arith.maximumf %4, %0 : f16
    %6 = arith.minimumf %5, %3 : f16
    %7 = arith.mulf %6, %3 : f16
    %8 = arith.bitcast %7 : f16 to i16
    %9 = arith.extui %8 : i16 to i32
    linalg.yield %9 : i32
  } -> tensor<64xi32>
  %u = tensor.cast %r : tensor<64xi32> to tensor<*xi32>
  func.call @printMemrefI32(%u) : (tensor<*xi32>) -> ()
  return
}
// -----
// arithmetic in bf16: each operation rounds
// any-output
#id = affine_map<(d0) -> (d0)>
func.func private @printMemrefI32(tensor<*xi32>)
func.func @main() {
  %e = tensor.empty() : tensor<64xi32>
  %r = linalg.generic {indexing_maps = [#id], iterator_types = ["parallel"]} outs(%e : tensor<64xi32>) {
  ^bb0(%o: i32):
    %i = linalg.index 0 : index
    %n = arith.index_cast %i : index to i32
    %c7 = arith.constant 7 : i32
    %m = arith.muli %n, %n : i32
    %k = arith.addi %m, %c7 : i32
    %a = arith.sitofp %n : i32 to bf16
    %b = arith.uitofp %k : i32 to bf16
    %t = arith.constant 0.334 : bf16
    %0 = arith.mulf %a, %t : bf16
    %1 = arith.addf %0, %b : bf16
    %2 = arith.divf %a, %b : bf16
    %3 = arith.subf %1, %2 : bf16
    %4 = arith.negf %3 : bf16
    %5 = arith.maximumf %4, %0 : bf16
    %6 = arith.minimumf %5, %3 : bf16
    %7 = arith.mulf %6, %3 : bf16
    %8 = arith.bitcast %7 : bf16 to i16
    %9 = arith.extui %8 : i16 to i32
    linalg.yield %9 : i32
  } -> tensor<64xi32>
  %u = tensor.cast %r : tensor<64xi32> to tensor<*xi32>
  func.call @printMemrefI32(%u) : (tensor<*xi32>) -> ()
  return
}

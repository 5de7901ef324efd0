#map = affine_map<(d0, d1, d2) -> (d0 * 16 + d2, d1)>
#map1 = affine_map<(d0, d1, d2) -> (d0, d1, d2)>
#map2 = affine_map<(d0, d1, d2, d3, d4) -> (d0 * 16 + d3, d1, d2 * 4 + d4)>
#map3 = affine_map<(d0, d1, d2, d3, d4) -> (d0, d1, d2, d3, d4)>
#map4 = affine_map<() -> (1)>
#map5 = affine_map<(d0, d1) -> (d0, d1)>
#map6 = affine_map<(d0, d1) -> (d0)>
#map7 = affine_map<(d0, d1) -> (d1)>
#map8 = affine_map<(d0, d1, d2) -> (d0, d1)>
#map9 = affine_map<() -> (2)>
#map10 = affine_map<(d0, d1, d2, d3, d4, d5, d6) -> (d0, d3, d4, d5, d6)>
#map11 = affine_map<(d0, d1, d2, d3, d4, d5, d6) -> (d1, d3, d5, d2, d6)>
#map12 = affine_map<(d0, d1, d2, d3, d4, d5, d6) -> (d0, d1, d2, d3)>
#map13 = affine_map<(d0, d1, d2, d3) -> (d0, d1, d2, d3)>
#map14 = affine_map<(d0, d1, d2, d3) -> (d0, d3)>
#map15 = affine_map<(d0, d1, d2, d3) -> (d1, d3, d2)>
#map16 = affine_map<(d0, d1, d2, d3) -> (d0, d1, d2)>
module attributes {ingot.config = {activations = "int8", buckets = [1], kv = "f32", max_pages = 1 : i64, pack_gate_up = true, pack_qkv = true, page_len = 16 : i64, threads = 1 : i64}, ingot.fusion = [{applied = false, detail = "one of the products is added to something that is not zero", pattern = "qkv_proj", reason = "map", what = "<stdin>:39 + <stdin>:42 + <stdin>:50", where = "layer"}, {applied = true, detail = "", pattern = "qkv_proj", reason = "", what = "<stdin>:39 + <stdin>:42", where = "layer"}], ingot.level = 2 : i64, ingot.passes = ["bind-recipe", "refine-shapes", "pack-projections", "split-buckets", "lower-quant", "inline-functions", "expand-tensors", "bind-ports", "canonicalize", "merge-equal", "raise-patterns", "raise-convolutions", "fold-batch-norm", "assign-precision", "bind-kv-cache", "layout-optimize", "propagate-layout", "hoist-weights", "hoist-constants", "drop-unit-loops", "order-loops", "check-faults", "outline-kernels", "dedupe", "hold-fusion", "bufferize", "loop-schedule", "memory-planner"], ingot.target = "x86-64-v3", ingot.version = 1 : i64} {
  func.func @forward_s1(%arg0: memref<1x32xf32>, %arg1: memref<1x1x16x16xf32> {ingot.inout = 1 : i64, ingot.kv = "k", ingot.layer = 0 : i64}, %arg2: memref<32xf32> {ingot.param = "norm"}, %arg3: memref<2x1x16xf16> {ingot.init = @init_0, ingot.init_args = [{param = "down", plane = "d"}]}, %arg4: memref<2x1x16xf16> {ingot.init = @init_0, ingot.init_args = [{param = ["q", "k"], plane = "d"}]}, %arg5: memref<2x1x4x16x4xi8> {ingot.init = @init_2, ingot.init_args = [{param = "down", plane = "q"}]}, %arg6: memref<2x1x4x16x4xi8> {ingot.init = @init_2, ingot.init_args = [{param = ["q", "k"], plane = "q"}]}, %arg7: memref<1x32xf32> {ingot.result = 0 : i64}, %arg8: memref<1x16xf32> {ingot.result = 2 : i64}, %arg9: index, %arg10: index, %arg11: memref<320xi8> {ingot.arena}) attributes {ingot.bucket = 1 : i64, ingot.kv_layout = "by head"} {
    %0 = arith.constant 128 : index
    %1 = memref.view %arg11[%0][] {ingot.boundary = "multi-use"} : memref<320xi8> to memref<1x1xf32>
    %2 = arith.constant 192 : index
    %3 = memref.view %arg11[%2][] {ingot.boundary = "multi-use"} : memref<320xi8> to memref<1x1x32xi8>
    %4 = arith.constant 256 : index
    %5 = memref.view %arg11[%4][] {ingot.boundary = "multi-use"} : memref<320xi8> to memref<1x1xi32>
    %6 = arith.constant 0 : index
    %7 = arith.constant 1 : index
    func.call @rows(%arg0, %arg2, %1, %3, %5, %6, %7) {ingot.boundary = ["multi-use", "multi-use", "multi-use"]} : (memref<1x32xf32>, memref<32xf32>, memref<1x1xf32>, memref<1x1x32xi8>, memref<1x1xi32>, index, index) -> ()
    %8 = arith.constant 0 : index
    %9 = memref.view %arg11[%8][] {ingot.boundary = "reduction-producer"} : memref<320xi8> to memref<1x2x16xf32>
    %10 = arith.constant 0 : index
    %11 = arith.constant 2 : index
    func.call @matmul(%3, %arg6, %1, %arg4, %5, %9, %10, %11) {ingot.boundary = ["reduction-producer"]} : (memref<1x1x32xi8>, memref<2x1x4x16x4xi8>, memref<1x1xf32>, memref<2x1x16xf16>, memref<1x1xi32>, memref<1x2x16xf32>, index, index) -> ()
    %12 = memref.collapse_shape %9 [[0], [1, 2]] : memref<1x2x16xf32> into memref<1x32xf32>
    %13 = memref.subview %12[0, 0] [1, 16] [1, 1] : memref<1x32xf32> to memref<1x16xf32, strided<[32, 1]>>
    %14 = arith.constant 0 : index
    %15 = arith.constant 1 : index
    func.call @rows_0(%arg1, %9, %arg10, %arg9, %14, %15) {ingot.boundary = ["result"]} : (memref<1x1x16x16xf32>, memref<1x2x16xf32>, index, index, index, index) -> ()
    %16 = arith.constant 0 : index
    %17 = arith.constant 2 : index
    func.call @matmul_0(%3, %arg5, %1, %arg3, %5, %arg0, %arg7, %16, %17) {ingot.boundary = ["result"]} : (memref<1x1x32xi8>, memref<2x1x4x16x4xi8>, memref<1x1xf32>, memref<2x1x16xf16>, memref<1x1xi32>, memref<1x32xf32>, memref<1x32xf32>, index, index) -> ()
    memref.copy %13, %arg8 {ingot.copy = "yield"} : memref<1x16xf32, strided<[32, 1]>> to memref<1x16xf32>
    return
  }
  func.func private @init_0(%arg0: memref<32x1xf16>, %arg1: memref<2x1x16xf16> {ingot.result = 0 : i64}, %arg2: index, %arg3: index) attributes {ingot.kernel = "init"} {
    linalg.generic {indexing_maps = [#map, #map1], iterator_types = ["parallel", "parallel", "parallel"]} ins(%arg0 : memref<32x1xf16>) outs(%arg1 : memref<2x1x16xf16>) {
    ^bb0(%arg4: f16, %arg5: f16):
      linalg.yield %arg4 : f16
    }
    return
  }
  func.func private @init_2(%arg0: memref<32x1x16xi8>, %arg1: memref<2x1x4x16x4xi8> {ingot.result = 0 : i64}, %arg2: index, %arg3: index) attributes {ingot.kernel = "init"} {
    linalg.generic {indexing_maps = [#map2, #map2, #map3], iterator_types = ["parallel", "parallel", "parallel", "parallel", "parallel"]} ins(%arg0, %arg0 : memref<32x1x16xi8>, memref<32x1x16xi8>) outs(%arg1 : memref<2x1x4x16x4xi8>) {
    ^bb0(%arg4: i8, %arg5: i8, %arg6: i8):
      %0 = arith.constant 1 : index
      %1 = arith.constant 0 : index
      %2 = arith.cmpi eq, %0, %1 : index
      %3 = arith.constant 15 : i8
      %4 = arith.andi %arg5, %3 : i8
      %5 = arith.constant 4 : i8
      %6 = arith.shrui %arg5, %5 : i8
      %7 = arith.select %2, %4, %6 : i8
      %8 = arith.constant 0 : index
      %9 = arith.constant 0 : index
      %10 = arith.cmpi eq, %8, %9 : index
      %11 = arith.constant 15 : i8
      %12 = arith.andi %arg4, %11 : i8
      %13 = arith.constant 4 : i8
      %14 = arith.shrui %arg4, %13 : i8
      %15 = arith.select %10, %12, %14 : i8
      %16 = arith.constant 4 : i8
      %17 = arith.shli %7, %16 : i8
      %18 = arith.ori %15, %17 : i8
      linalg.yield %18 : i8
    }
    return
  }
  func.func private @rows(%arg0: memref<1x32xf32>, %arg1: memref<32xf32>, %arg2: memref<1x1xf32> {ingot.result = 0 : i64}, %arg3: memref<1x1x32xi8> {ingot.result = 1 : i64}, %arg4: memref<1x1xi32> {ingot.result = 2 : i64}, %arg5: index, %arg6: index) attributes {ingot.kernel = "rows", ingot.tiles = #map4} {
    %0 = arith.constant 0.000000e+00 : f32
    %1 = memref.alloc() {alignment = 64 : i64, ingot.boundary = "map"} : memref<1xf32>
    linalg.fill ins(%0 : f32) outs(%1 : memref<1xf32>)
    linalg.generic {indexing_maps = [#map5, #map6], iterator_types = ["parallel", "reduction"]} ins(%arg0 : memref<1x32xf32>) outs(%1 : memref<1xf32>) {
    ^bb0(%arg7: f32, %arg8: f32):
      %2 = arith.mulf %arg7, %arg7 : f32
      %3 = arith.addf %arg8, %2 : f32
      linalg.yield %3 : f32
    }
    %4 = arith.constant 9.99999974E-6 : f32
    %5 = memref.alloc() {alignment = 64 : i64, ingot.boundary = "reshape"} : memref<1x32xf32>
    linalg.generic {indexing_maps = [#map5, #map6, #map7, #map5], iterator_types = ["parallel", "parallel"]} ins(%arg0, %1, %arg1 : memref<1x32xf32>, memref<1xf32>, memref<32xf32>) outs(%5 : memref<1x32xf32>) {
    ^bb0(%arg9: f32, %arg10: f32, %arg11: f32, %arg12: f32):
      %6 = arith.addf %arg10, %4 : f32
      %7 = math.rsqrt %6 : f32
      %8 = arith.mulf %arg9, %7 : f32
      %9 = arith.mulf %8, %arg11 : f32
      linalg.yield %9 : f32
    }
    %10 = memref.expand_shape %5 [[0], [1, 2]] output_shape [1, 1, 32] : memref<1x32xf32> into memref<1x1x32xf32>
    %11 = arith.constant 0.000000e+00 : f32
    %12 = memref.alloc() {alignment = 64 : i64, ingot.boundary = "map"} : memref<1x1xf32>
    linalg.fill ins(%11 : f32) outs(%12 : memref<1x1xf32>)
    linalg.generic {indexing_maps = [#map1, #map8], iterator_types = ["parallel", "parallel", "reduction"]} ins(%10 : memref<1x1x32xf32>) outs(%12 : memref<1x1xf32>) {
    ^bb0(%arg13: f32, %arg14: f32):
      %13 = math.absf %arg13 : f32
      %14 = arith.maximumf %13, %arg14 : f32
      linalg.yield %14 : f32
    }
    linalg.generic {indexing_maps = [#map5, #map5], iterator_types = ["parallel", "parallel"]} ins(%12 : memref<1x1xf32>) outs(%arg2 : memref<1x1xf32>) {
    ^bb0(%arg15: f32, %arg16: f32):
      %15 = arith.constant 1.270000e+02 : f32
      %16 = arith.divf %arg15, %15 : f32
      linalg.yield %16 : f32
    }
    %17 = memref.alloc() {alignment = 64 : i64, ingot.boundary = "map"} : memref<1x1xf32>
    linalg.generic {indexing_maps = [#map5, #map5], iterator_types = ["parallel", "parallel"]} ins(%12 : memref<1x1xf32>) outs(%17 : memref<1x1xf32>) {
    ^bb0(%arg17: f32, %arg18: f32):
      %18 = arith.constant 0.000000e+00 : f32
      %19 = arith.constant 7.52316385E-37 : f32
      %20 = arith.cmpf ogt, %arg17, %19 : f32
      %21 = arith.constant 1.270000e+02 : f32
      %22 = arith.divf %21, %arg17 : f32
      %23 = arith.select %20, %22, %18 : f32
      linalg.yield %23 : f32
    }
    linalg.generic {indexing_maps = [#map1, #map8, #map1], iterator_types = ["parallel", "parallel", "parallel"]} ins(%10, %17 : memref<1x1x32xf32>, memref<1x1xf32>) outs(%arg3 : memref<1x1x32xi8>) {
    ^bb0(%arg19: f32, %arg20: f32, %arg21: i8):
      %24 = arith.mulf %arg19, %arg20 : f32
      %25 = math.roundeven %24 : f32
      %26 = arith.constant 0.000000e+00 : f32
      %27 = arith.cmpf ord, %25, %25 : f32
      %28 = arith.select %27, %25, %26 : f32
      %29 = arith.fptosi %28 : f32 to i8
      linalg.yield %29 : i8
    }
    %30 = arith.constant 0 : i32
    %31 = memref.alloc() {alignment = 64 : i64, ingot.boundary = "map"} : memref<1x1xi32>
    linalg.fill ins(%30 : i32) outs(%31 : memref<1x1xi32>)
    linalg.generic {indexing_maps = [#map1, #map8], iterator_types = ["parallel", "parallel", "reduction"]} ins(%arg3 : memref<1x1x32xi8>) outs(%31 : memref<1x1xi32>) {
    ^bb0(%arg22: i8, %arg23: i32):
      %32 = arith.extsi %arg22 : i8 to i32
      %33 = arith.addi %arg23, %32 : i32
      linalg.yield %33 : i32
    }
    linalg.generic {indexing_maps = [#map5, #map5], iterator_types = ["parallel", "parallel"]} ins(%31 : memref<1x1xi32>) outs(%arg4 : memref<1x1xi32>) {
    ^bb0(%arg24: i32, %arg25: i32):
      %34 = arith.constant -8 : i32
      %35 = arith.muli %arg24, %34 : i32
      linalg.yield %35 : i32
    }
    return
  }
  func.func private @matmul(%arg0: memref<1x1x32xi8>, %arg1: memref<2x1x4x16x4xi8>, %arg2: memref<1x1xf32>, %arg3: memref<2x1x16xf16>, %arg4: memref<1x1xi32>, %arg5: memref<1x2x16xf32> {ingot.result = 0 : i64}, %arg6: index, %arg7: index) attributes {ingot.candidates = [{bound = "compute", bytes = 0 : i64, clocks = 80 : i64, col_tile = 1 : i64, fits = "l1", lanes = 8 : i64, registers = 9 : i64, row_tile = 1 : i64, unroll = 1 : i64}, {bound = "compute", bytes = 0 : i64, clocks = 80 : i64, col_tile = 2 : i64, fits = "l1", lanes = 8 : i64, registers = 10 : i64, row_tile = 1 : i64, unroll = 1 : i64}, {bound = "compute", bytes = 0 : i64, clocks = 80 : i64, col_tile = 4 : i64, fits = "l1", lanes = 8 : i64, registers = 9 : i64, row_tile = 1 : i64, unroll = 1 : i64}, {bound = "compute", bytes = 0 : i64, clocks = 80 : i64, col_tile = 8 : i64, fits = "l1", lanes = 8 : i64, registers = 9 : i64, row_tile = 1 : i64, unroll = 1 : i64}], ingot.kernel = "matmul", ingot.key = "28209dd173978e40", ingot.schedule = {lanes = 8 : i64, row_tile = 1 : i64}, ingot.tiles = #map9} {
    %0 = memref.expand_shape %arg0 [[0], [1], [2, 3, 4]] output_shape [1, 1, 2, 4, 4] : memref<1x1x32xi8> into memref<1x1x2x4x4xi8>
    %1 = arith.constant 0 : i32
    %2 = memref.alloc() {alignment = 64 : i64, ingot.boundary = "map"} : memref<1x2x16x1xi32>
    linalg.fill ins(%1 : i32) outs(%2 : memref<1x2x16x1xi32>)
    linalg.generic {indexing_maps = [#map10, #map11, #map12], iterator_types = ["parallel", "parallel", "parallel", "parallel", "reduction", "reduction", "reduction"]} ins(%0, %arg1 : memref<1x1x2x4x4xi8>, memref<2x1x4x16x4xi8>) outs(%2 : memref<1x2x16x1xi32>) attrs = {ingot.contract = "dot"} {
    ^bb0(%arg8: i8, %arg9: i8, %arg10: i32):
      %3 = linalg.index 4 : index
      %4 = arith.constant 15 : i8
      %5 = arith.andi %arg9, %4 : i8
      %6 = arith.constant 4 : i8
      %7 = arith.shrui %arg9, %6 : i8
      %8 = arith.constant 0 : index
      %9 = arith.cmpi eq, %3, %8 : index
      %10 = arith.select %9, %5, %7 : i8
      %11 = arith.extsi %arg8 : i8 to i32
      %12 = arith.extui %10 : i8 to i32
      %13 = arith.muli %11, %12 : i32
      %14 = arith.addi %arg10, %13 : i32
      linalg.yield %14 : i32
    }
    %15 = arith.constant 0.000000e+00 : f32
    linalg.fill ins(%15 : f32) outs(%arg5 : memref<1x2x16xf32>)
    linalg.generic {indexing_maps = [#map13, #map14, #map15, #map14, #map16], iterator_types = ["parallel", "parallel", "parallel", "reduction"]} ins(%2, %arg2, %arg3, %arg4 : memref<1x2x16x1xi32>, memref<1x1xf32>, memref<2x1x16xf16>, memref<1x1xi32>) outs(%arg5 : memref<1x2x16xf32>) attrs = {ingot.contract = "scale"} {
    ^bb0(%arg11: i32, %arg12: f32, %arg13: f16, %arg14: i32, %arg15: f32):
      %16 = arith.addi %arg11, %arg14 : i32
      %17 = arith.sitofp %16 : i32 to f32
      %18 = arith.mulf %17, %arg12 : f32
      %19 = arith.extf %arg13 : f16 to f32
      %20 = math.fma %18, %19, %arg15 : f32
      linalg.yield %20 : f32
    }
    return
  }
  func.func private @rows_0(%arg0: memref<1x1x16x16xf32> {ingot.inout = 0 : i64}, %arg1: memref<1x2x16xf32>, %arg2: index, %arg3: index, %arg4: index, %arg5: index) attributes {ingot.kernel = "rows", ingot.tiles = #map4} {
    %0 = arith.constant 0 : index
    %1 = arith.constant 1 : index
    %2 = memref.collapse_shape %arg1 [[0], [1, 2]] : memref<1x2x16xf32> into memref<1x32xf32>
    %3 = memref.subview %2[0, 16] [1, 16] [1, 1] : memref<1x32xf32> to memref<1x16xf32, strided<[32, 1], offset: 16>>
    scf.for %arg6 = %0 to %arg2 step %1 {
      %4 = arith.addi %arg3, %arg6 : index
      %5 = memref.subview %3[%arg6, 0] [1, 16] [1, 1] : memref<1x16xf32, strided<[32, 1], offset: 16>> to memref<1x16xf32, strided<[32, 1], offset: ?>>
      %6 = memref.subview %arg0[0, 0, 0, %4] [1, 1, 16, 1] [1, 1, 1, 1] : memref<1x1x16x16xf32> to memref<1x16xf32, strided<[256, 16], offset: ?>>
      memref.copy %5, %6 {ingot.copy = "insert"} : memref<1x16xf32, strided<[32, 1], offset: ?>> to memref<1x16xf32, strided<[256, 16], offset: ?>>
    }
    return
  }
  func.func private @matmul_0(%arg0: memref<1x1x32xi8>, %arg1: memref<2x1x4x16x4xi8>, %arg2: memref<1x1xf32>, %arg3: memref<2x1x16xf16>, %arg4: memref<1x1xi32>, %arg5: memref<1x32xf32>, %arg6: memref<1x32xf32> {ingot.result = 0 : i64}, %arg7: index, %arg8: index) attributes {ingot.candidates = [{bound = "compute", bytes = 0 : i64, clocks = 80 : i64, col_tile = 1 : i64, fits = "l1", lanes = 8 : i64, registers = 9 : i64, row_tile = 1 : i64, unroll = 1 : i64}, {bound = "compute", bytes = 0 : i64, clocks = 80 : i64, col_tile = 2 : i64, fits = "l1", lanes = 8 : i64, registers = 10 : i64, row_tile = 1 : i64, unroll = 1 : i64}, {bound = "compute", bytes = 0 : i64, clocks = 80 : i64, col_tile = 4 : i64, fits = "l1", lanes = 8 : i64, registers = 9 : i64, row_tile = 1 : i64, unroll = 1 : i64}, {bound = "compute", bytes = 0 : i64, clocks = 80 : i64, col_tile = 8 : i64, fits = "l1", lanes = 8 : i64, registers = 9 : i64, row_tile = 1 : i64, unroll = 1 : i64}], ingot.kernel = "matmul", ingot.key = "00cacfccf67c0109", ingot.schedule = {lanes = 8 : i64, row_tile = 1 : i64}, ingot.tiles = #map9} {
    %0 = memref.expand_shape %arg0 [[0], [1], [2, 3, 4]] output_shape [1, 1, 2, 4, 4] : memref<1x1x32xi8> into memref<1x1x2x4x4xi8>
    %1 = arith.constant 0 : i32
    %2 = memref.alloc() {alignment = 64 : i64, ingot.boundary = "map"} : memref<1x2x16x1xi32>
    linalg.fill ins(%1 : i32) outs(%2 : memref<1x2x16x1xi32>)
    linalg.generic {indexing_maps = [#map10, #map11, #map12], iterator_types = ["parallel", "parallel", "parallel", "parallel", "reduction", "reduction", "reduction"]} ins(%0, %arg1 : memref<1x1x2x4x4xi8>, memref<2x1x4x16x4xi8>) outs(%2 : memref<1x2x16x1xi32>) attrs = {ingot.contract = "dot"} {
    ^bb0(%arg9: i8, %arg10: i8, %arg11: i32):
      %3 = linalg.index 4 : index
      %4 = arith.constant 15 : i8
      %5 = arith.andi %arg10, %4 : i8
      %6 = arith.constant 4 : i8
      %7 = arith.shrui %arg10, %6 : i8
      %8 = arith.constant 0 : index
      %9 = arith.cmpi eq, %3, %8 : index
      %10 = arith.select %9, %5, %7 : i8
      %11 = arith.extsi %arg9 : i8 to i32
      %12 = arith.extui %10 : i8 to i32
      %13 = arith.muli %11, %12 : i32
      %14 = arith.addi %arg11, %13 : i32
      linalg.yield %14 : i32
    }
    %15 = arith.constant 0.000000e+00 : f32
    %16 = memref.alloc() {alignment = 64 : i64, ingot.boundary = "map"} : memref<1x2x16xf32>
    linalg.fill ins(%15 : f32) outs(%16 : memref<1x2x16xf32>)
    linalg.generic {indexing_maps = [#map13, #map14, #map15, #map14, #map16], iterator_types = ["parallel", "parallel", "parallel", "reduction"]} ins(%2, %arg2, %arg3, %arg4 : memref<1x2x16x1xi32>, memref<1x1xf32>, memref<2x1x16xf16>, memref<1x1xi32>) outs(%16 : memref<1x2x16xf32>) attrs = {ingot.contract = "scale"} {
    ^bb0(%arg12: i32, %arg13: f32, %arg14: f16, %arg15: i32, %arg16: f32):
      %17 = arith.addi %arg12, %arg15 : i32
      %18 = arith.sitofp %17 : i32 to f32
      %19 = arith.mulf %18, %arg13 : f32
      %20 = arith.extf %arg14 : f16 to f32
      %21 = math.fma %19, %20, %arg16 : f32
      linalg.yield %21 : f32
    }
    %22 = memref.collapse_shape %16 [[0], [1, 2]] : memref<1x2x16xf32> into memref<1x32xf32>
    linalg.generic {indexing_maps = [#map5, #map5, #map5], iterator_types = ["parallel", "parallel"]} ins(%arg5, %22 : memref<1x32xf32>, memref<1x32xf32>) outs(%arg6 : memref<1x32xf32>) {
    ^bb0(%arg17: f32, %arg18: f32, %arg19: f32):
      %23 = arith.addf %arg17, %arg18 : f32
      linalg.yield %23 : f32
    }
    return
  }
}

#id1 = affine_map<(i) -> (i)>
#id2 = affine_map<(i, j) -> (i, j)>
#id3 = affine_map<(i, j, k) -> (i, j, k)>
#id4 = affine_map<(i, j, k, l) -> (i, j, k, l)>
#channel4 = affine_map<(i, j, k, l) -> (l)>
#channel1 = affine_map<(i, j, k, l) -> (j)>
#row2 = affine_map<(i, j) -> (i)>
#row3 = affine_map<(i, j, k) -> (i)>
#col2 = affine_map<(i, j) -> (j)>
#col3 = affine_map<(i, j, k) -> (k)>
#swap = affine_map<(i, j, k) -> (i, k, j)>
#mk = affine_map<(m, n, k) -> (m, k)>
#nk = affine_map<(m, n, k) -> (n, k)>
#mn = affine_map<(m, n, k) -> (m, n)>
module attributes {ingot.config = {activations = "int8", buckets = [1, 7], kv = "f16", max_pages = 2 : i64, page_len = 16 : i64, threads = 2 : i64}} {
  func.func private @kv_append(%k: tensor<?x2x16xf16>, %v: tensor<?x2x16xf16>, %start: index, %pages: tensor<2xi32>, %kc: tensor<2x16x2x16xf16>, %vc: tensor<2x16x2x16xf16>) -> (tensor<2x16x2x16xf16>, tensor<2x16x2x16xf16>) {
    %c0 = arith.constant 0 : index
    %c1 = arith.constant 1 : index
    %len = arith.constant 16 : index
    %n = tensor.dim %k, %c0 : tensor<?x2x16xf16>
    %r:2 = scf.for %m = %c0 to %n step %c1 iter_args(%ki = %kc, %vi = %vc) -> (tensor<2x16x2x16xf16>, tensor<2x16x2x16xf16>) {
      %t = arith.addi %start, %m : index
      %lp = arith.divui %t, %len : index
      %slot = arith.remui %t, %len : index
      %p32 = tensor.extract %pages[%lp] : tensor<2xi32>
      %pg = arith.index_cast %p32 : i32 to index
      %k1 = tensor.extract_slice %k[%m, 0, 0] [1, 2, 16] [1, 1, 1] : tensor<?x2x16xf16> to tensor<2x16xf16>
      %v1 = tensor.extract_slice %v[%m, 0, 0] [1, 2, 16] [1, 1, 1] : tensor<?x2x16xf16> to tensor<2x16xf16>
      %kn = tensor.insert_slice %k1 into %ki[%pg, %slot, 0, 0] [1, 1, 2, 16] [1, 1, 1, 1] : tensor<2x16xf16> into tensor<2x16x2x16xf16>
      %vn = tensor.insert_slice %v1 into %vi[%pg, %slot, 0, 0] [1, 1, 2, 16] [1, 1, 1, 1] : tensor<2x16xf16> into tensor<2x16x2x16xf16>
      scf.yield %kn, %vn : tensor<2x16x2x16xf16>, tensor<2x16x2x16xf16>
    }
    return %r#0, %r#1 : tensor<2x16x2x16xf16>, tensor<2x16x2x16xf16>
  }
  func.func private @attention(%q: tensor<?x2x1x16xf32>, %start: index, %pages: tensor<2xi32>, %kc: tensor<2x16x2x16xf16>, %vc: tensor<2x16x2x16xf16>) -> tensor<?x2x1x16xf32> attributes {ingot.composite = "attention", ingot.mask = "causal"} {
    %zero = arith.constant 0.000000e+00 : f32
    %ninf = arith.constant 0xFF800000 : f32
    %scale = arith.constant 2.500000e-01 : f32
    %len = arith.constant 16 : index
    %window = arith.constant 0 : index
    %c0 = arith.constant 0 : index
    %s0 = tensor.dim %q, %c0 : tensor<?x2x1x16xf32>
    %ek = tensor.empty() : tensor<32x2x16xf16>
    %kv:2 = linalg.generic {indexing_maps = [#id3, #id3], iterator_types = ["parallel", "parallel", "parallel"]} outs(%ek, %ek : tensor<32x2x16xf16>, tensor<32x2x16xf16>) {
    ^bb0(%o0: f16, %o1: f16):
      %n = linalg.index 0 : index
      %h = linalg.index 1 : index
      %d = linalg.index 2 : index
      %lp = arith.divui %n, %len : index
      %slot = arith.remui %n, %len : index
      %p32 = tensor.extract %pages[%lp] : tensor<2xi32>
      %pg = arith.index_cast %p32 : i32 to index
      %kx = tensor.extract %kc[%pg, %slot, %h, %d] : tensor<2x16x2x16xf16>
      %vx = tensor.extract %vc[%pg, %slot, %h, %d] : tensor<2x16x2x16xf16>
      linalg.yield %kx, %vx : f16, f16
    } -> (tensor<32x2x16xf16>, tensor<32x2x16xf16>)
    %es = tensor.empty(%s0) : tensor<2x1x?x32xf32>
    %zs = linalg.fill ins(%zero : f32) outs(%es : tensor<2x1x?x32xf32>) -> tensor<2x1x?x32xf32>
    %s = linalg.contract indexing_maps = [affine_map<(d0, d1, d2, d3, d4) -> (d2, d0, d1, d4)>, affine_map<(d0, d1, d2, d3, d4) -> (d3, d0, d4)>, affine_map<(d0, d1, d2, d3, d4) -> (d0, d1, d2, d3)>] ins(%q, %kv#0 : tensor<?x2x1x16xf32>, tensor<32x2x16xf16>) outs(%zs : tensor<2x1x?x32xf32>) -> tensor<2x1x?x32xf32>
    %em = tensor.empty(%s0) : tensor<2x1x?x32xf32>
    %sm = linalg.generic {indexing_maps = [#id4, #id4], iterator_types = ["parallel", "parallel", "parallel", "parallel"]} ins(%s : tensor<2x1x?x32xf32>) outs(%em : tensor<2x1x?x32xf32>) {
    ^bb0(%in: f32, %o: f32):
      %m = linalg.index 2 : index
      %n = linalg.index 3 : index
      %qp = arith.addi %start, %m : index
      %vis = arith.cmpi ule, %n, %qp : index
      %0 = arith.mulf %in, %scale : f32
      %1 = arith.select %vis, %0, %ninf : f32
      linalg.yield %1 : f32
    } -> tensor<2x1x?x32xf32>
    %ep = tensor.empty(%s0) : tensor<2x1x?x32xf32>
    %p = linalg.softmax dimension(3) ins(%sm : tensor<2x1x?x32xf32>) outs(%ep : tensor<2x1x?x32xf32>) -> tensor<2x1x?x32xf32>
    %eo = tensor.empty(%s0) : tensor<?x2x1x16xf32>
    %zo = linalg.fill ins(%zero : f32) outs(%eo : tensor<?x2x1x16xf32>) -> tensor<?x2x1x16xf32>
    %o = linalg.contract indexing_maps = [affine_map<(d0, d1, d2, d3, d4) -> (d1, d2, d0, d4)>, affine_map<(d0, d1, d2, d3, d4) -> (d4, d1, d3)>, affine_map<(d0, d1, d2, d3, d4) -> (d0, d1, d2, d3)>] ins(%p, %kv#1 : tensor<2x1x?x32xf32>, tensor<32x2x16xf16>) outs(%zo : tensor<?x2x1x16xf32>) -> tensor<?x2x1x16xf32>
    return %o : tensor<?x2x1x16xf32>
  }
  func.func private @layer(%v0: tensor<?x32xf32>, %ids: tensor<?xi32>, %start: index, %pages: tensor<2xi32>, %kc: tensor<2x16x2x16xf16>, %vc: tensor<2x16x2x16xf16>, %w0: tensor<24x256xf32> {ingot.quant = "iq4_nl"}, %w1: tensor<32x256xf32> {ingot.quant = "q6_k"}, %w2: tensor<96x256xf32> {ingot.quant = "q5_1"}, %w3: tensor<2x2x32x8xf32> {}, %w4: tensor<8xf32> {}, %w5: tensor<8xf32> {}) -> (tensor<?x32xf32>, tensor<2x16x2x16xf16>, tensor<2x16x2x16xf16>) {
    %zero = arith.constant 0.000000e+00 : f32
    %one = arith.constant 1.000000e+00 : f32
    %half = arith.constant 5.000000e-01 : f32
    %tenth = arith.constant 1.250000e-01 : f32
    %low = arith.constant -1.000000e+00 : f32
    %least = arith.constant 0xFF800000 : f32
    %most = arith.constant 0x7F800000 : f32
    %c0 = arith.constant 0 : index
    %c5 = arith.constant 5 : index
    %n = tensor.dim %v0, %c0 : tensor<?x32xf32>
    %v1 = tensor.empty(%n) : tensor<?x32xf32>
    %v2 = linalg.generic {indexing_maps = [#id2, #id2], iterator_types = ["parallel", "parallel"]} ins(%v0 : tensor<?x32xf32>) outs(%v1 : tensor<?x32xf32>) {
    ^bb0(%a: f32, %o: f32):
      %i = linalg.index 0 : index
      %j = linalg.index 1 : index
      %w = arith.constant 32 : index
      %t = arith.muli %j, %c5 : index
      %r = arith.remui %t, %w : index
      %b = tensor.extract %v0[%i, %r] : tensor<?x32xf32>
      %y = arith.addf %a, %b : f32
      linalg.yield %y : f32
    } -> tensor<?x32xf32>
    %v3 = tensor.empty(%n) : tensor<?x32xf32>
    %v4 = linalg.generic {indexing_maps = [#id2, #id2], iterator_types = ["parallel", "parallel"]}
        ins(%v0 : tensor<?x32xf32>) outs(%v3 : tensor<?x32xf32>) {
    ^bb0(%a: f32, %o: f32):
      %t = math.absf %a : f32
      %s = arith.negf %t : f32
      %y = math.exp %s : f32
      linalg.yield %y : f32
    } -> tensor<?x32xf32>
    %v5 = tensor.empty(%n) : tensor<?x256xf32>
    %v6 = linalg.generic {indexing_maps = [#row2, #id2], iterator_types = ["parallel", "parallel"]} ins(%ids : tensor<?xi32>) outs(%v5 : tensor<?x256xf32>) {
    ^bb0(%i: i32, %o: f32):
      %r = arith.index_cast %i : i32 to index
      %c = linalg.index 1 : index
      %y = tensor.extract %w0[%r, %c] : tensor<24x256xf32>
      linalg.yield %y : f32
    } -> tensor<?x256xf32>
    %v7 = tensor.empty(%n) : tensor<?x256xf32>
    %v8 = linalg.generic {indexing_maps = [#id2, #id2], iterator_types = ["parallel", "parallel"]} ins(%v6 : tensor<?x256xf32>) outs(%v7 : tensor<?x256xf32>) {
    ^bb0(%a: f32, %o: f32):
      %i = linalg.index 0 : index
      %j = linalg.index 1 : index
      %w = arith.constant 32 : index
      %t = arith.muli %j, %c5 : index
      %r = arith.remui %t, %w : index
      %b = tensor.extract %v2[%i, %r] : tensor<?x32xf32>
      %y = arith.addf %a, %b : f32
      linalg.yield %y : f32
    } -> tensor<?x256xf32>
    %v9 = linalg.matmul indexing_maps = [#mk, #nk, #mn] ins(%v8, %w1 : tensor<?x256xf32>, tensor<32x256xf32>) outs(%v4 : tensor<?x32xf32>) -> tensor<?x32xf32>
    %v10 = tensor.empty(%n) : tensor<?xf32>
    %v11 = linalg.fill ins(%zero : f32) outs(%v10 : tensor<?xf32>) -> tensor<?xf32>
    %v12 = linalg.generic {indexing_maps = [#id2, #row2], iterator_types = ["parallel", "reduction"]} ins(%v8 : tensor<?x256xf32>) outs(%v11 : tensor<?xf32>) {
    ^bb0(%a: f32, %o: f32):
      %t = arith.mulf %a, %a : f32
      %y = arith.addf %o, %t : f32
      linalg.yield %y : f32
    } -> tensor<?xf32>
    %v13 = tensor.empty(%n) : tensor<?x96xf32>
    %v14 = linalg.fill ins(%zero : f32) outs(%v13 : tensor<?x96xf32>) -> tensor<?x96xf32>
    %v15 = linalg.matmul indexing_maps = [#mk, #nk, #mn] ins(%v6, %w2 : tensor<?x256xf32>, tensor<96x256xf32>) outs(%v14 : tensor<?x96xf32>) -> tensor<?x96xf32>
    %v16 = tensor.empty(%n) : tensor<?xf32>
    %v17 = linalg.fill ins(%zero : f32) outs(%v16 : tensor<?xf32>) -> tensor<?xf32>
    %v18 = linalg.generic {indexing_maps = [#id2, #row2], iterator_types = ["parallel", "reduction"]} ins(%v15 : tensor<?x96xf32>) outs(%v17 : tensor<?xf32>) {
    ^bb0(%a: f32, %o: f32):
      %t = arith.mulf %a, %a : f32
      %y = arith.addf %o, %t : f32
      linalg.yield %y : f32
    } -> tensor<?xf32>
    %v19 = tensor.expand_shape %v9 [[0], [1, 2]] output_shape [%n, 2, 16] : tensor<?x32xf32> into tensor<?x2x16xf32>
    %v20 = tensor.empty(%n) : tensor<?x2x16xf16>
    %v21 = linalg.generic {indexing_maps = [#id3, #id3], iterator_types = ["parallel", "parallel", "parallel"]} ins(%v19 : tensor<?x2x16xf32>) outs(%v20 : tensor<?x2x16xf16>) {
    ^bb0(%a: f32, %o: f16):
      %y = arith.truncf %a : f32 to f16
      linalg.yield %y : f16
    } -> tensor<?x2x16xf16>
    %v22 = tensor.expand_shape %v9 [[0], [1, 2]] output_shape [%n, 2, 16] : tensor<?x32xf32> into tensor<?x2x16xf32>
    %v23 = tensor.empty(%n) : tensor<?x2x16xf16>
    %v24 = linalg.generic {indexing_maps = [#id3, #id3], iterator_types = ["parallel", "parallel", "parallel"]} ins(%v22 : tensor<?x2x16xf32>) outs(%v23 : tensor<?x2x16xf16>) {
    ^bb0(%a: f32, %o: f16):
      %y = arith.truncf %a : f32 to f16
      linalg.yield %y : f16
    } -> tensor<?x2x16xf16>
    %v25 = tensor.expand_shape %v4 [[0], [1, 2, 3]] output_shape [%n, 2, 1, 16] : tensor<?x32xf32> into tensor<?x2x1x16xf32>
    %v26:2 = func.call @kv_append(%v21, %v24, %start, %pages, %kc, %vc) : (tensor<?x2x16xf16>, tensor<?x2x16xf16>, index, tensor<2xi32>, tensor<2x16x2x16xf16>, tensor<2x16x2x16xf16>) -> (tensor<2x16x2x16xf16>, tensor<2x16x2x16xf16>)
    %v27 = func.call @attention(%v25, %start, %pages, %v26#0, %v26#1) : (tensor<?x2x1x16xf32>, index, tensor<2xi32>, tensor<2x16x2x16xf16>, tensor<2x16x2x16xf16>) -> tensor<?x2x1x16xf32>
    %v28 = tensor.collapse_shape %v27 [[0], [1, 2, 3]] : tensor<?x2x1x16xf32> into tensor<?x32xf32>
    %v29 = tensor.expand_shape %v8 [[0], [1, 2, 3]] output_shape [%n, 4, 2, 32] : tensor<?x256xf32> into tensor<?x4x2x32xf32>
    %v30 = tensor.pad %v29 low[0, 1, 1, 0] high[0, 1, 1, 0] {
    ^bb0(%i: index, %j: index, %k: index, %l: index):
      tensor.yield %zero : f32
    } : tensor<?x4x2x32xf32> to tensor<?x6x4x32xf32>
    %v31 = tensor.empty(%n) : tensor<?x3x2x8xf32>
    %v32 = linalg.fill ins(%zero : f32) outs(%v31 : tensor<?x3x2x8xf32>) -> tensor<?x3x2x8xf32>
    %v33 = linalg.conv_2d_nhwc_hwcf {dilations = dense<1> : tensor<2xi64>, strides = dense<2> : tensor<2xi64>} ins(%v30, %w3 : tensor<?x6x4x32xf32>, tensor<2x2x32x8xf32>) outs(%v32 : tensor<?x3x2x8xf32>) -> tensor<?x3x2x8xf32>
    %v34 = tensor.empty(%n) : tensor<?x3x2x8xf32>
    %v35 = linalg.generic {indexing_maps = [#id4, #channel4, #channel4, #id4], iterator_types = ["parallel", "parallel", "parallel", "parallel"]} ins(%v33, %w4, %w5 : tensor<?x3x2x8xf32>, tensor<8xf32>, tensor<8xf32>) outs(%v34 : tensor<?x3x2x8xf32>) {
    ^bb0(%a: f32, %b: f32, %c: f32, %o: f32):
      %t = arith.mulf %a, %b : f32
      %s = arith.addf %t, %c : f32
      %y = arith.maximumf %s, %zero : f32
      linalg.yield %y : f32
    } -> tensor<?x3x2x8xf32>
    %v36 = tensor.collapse_shape %v35 [[0], [1, 2, 3]] : tensor<?x3x2x8xf32> into tensor<?x48xf32>
    %v37 = tensor.empty(%n) : tensor<?x256xf32>
    %v38 = linalg.softmax dimension(1) ins(%v6 : tensor<?x256xf32>) outs(%v37 : tensor<?x256xf32>) -> tensor<?x256xf32>
    return %v28, %v26#0, %v26#1 : tensor<?x32xf32>, tensor<2x16x2x16xf16>, tensor<2x16x2x16xf16>
  }
  func.func @forward(%v0: tensor<?x32xf32>, %ids: tensor<?xi32>, %start: index, %pages: tensor<2xi32>, %kc: tensor<2x16x2x16xf16> {ingot.kv = "k", ingot.layer = 0 : i64}, %vc: tensor<2x16x2x16xf16> {ingot.kv = "v", ingot.layer = 0 : i64}, %kcb: tensor<2x16x2x16xf16> {ingot.kv = "k", ingot.layer = 1 : i64}, %vcb: tensor<2x16x2x16xf16> {ingot.kv = "v", ingot.layer = 1 : i64}, %w0: tensor<24x256xf32> {ingot.param = "w0", ingot.quant = "iq4_nl"}, %w1: tensor<32x256xf32> {ingot.param = "w1", ingot.quant = "q6_k"}, %w2: tensor<96x256xf32> {ingot.param = "w2", ingot.quant = "q5_1"}, %w3: tensor<2x2x32x8xf32> {ingot.param = "w3"}, %w4: tensor<8xf32> {ingot.param = "w4"}, %w5: tensor<8xf32> {ingot.param = "w5"}, %w0b: tensor<24x256xf32> {ingot.param = "w0b", ingot.quant = "iq4_nl"}, %w1b: tensor<32x256xf32> {ingot.param = "w1b", ingot.quant = "q6_k"}, %w2b: tensor<96x256xf32> {ingot.param = "w2b", ingot.quant = "q5_1"}, %w3b: tensor<2x2x32x8xf32> {ingot.param = "w3b"}, %w4b: tensor<8xf32> {ingot.param = "w4b"}, %w5b: tensor<8xf32> {ingot.param = "w5b"}) -> (tensor<?x32xf32>, tensor<2x16x2x16xf16>, tensor<2x16x2x16xf16>, tensor<2x16x2x16xf16>, tensor<2x16x2x16xf16>) {
    %y0:3 = func.call @layer(%v0, %ids, %start, %pages, %kc, %vc, %w0, %w1, %w2, %w3, %w4, %w5) : (tensor<?x32xf32>, tensor<?xi32>, index, tensor<2xi32>, tensor<2x16x2x16xf16>, tensor<2x16x2x16xf16>, tensor<24x256xf32>, tensor<32x256xf32>, tensor<96x256xf32>, tensor<2x2x32x8xf32>, tensor<8xf32>, tensor<8xf32>) -> (tensor<?x32xf32>, tensor<2x16x2x16xf16>, tensor<2x16x2x16xf16>)
    %y1:3 = func.call @layer(%y0#0, %ids, %start, %pages, %kcb, %vcb, %w0b, %w1b, %w2b, %w3b, %w4b, %w5b) : (tensor<?x32xf32>, tensor<?xi32>, index, tensor<2xi32>, tensor<2x16x2x16xf16>, tensor<2x16x2x16xf16>, tensor<24x256xf32>, tensor<32x256xf32>, tensor<96x256xf32>, tensor<2x2x32x8xf32>, tensor<8xf32>, tensor<8xf32>) -> (tensor<?x32xf32>, tensor<2x16x2x16xf16>, tensor<2x16x2x16xf16>)
    return %y1#0, %y0#1, %y0#2, %y1#1, %y1#2 : tensor<?x32xf32>, tensor<2x16x2x16xf16>, tensor<2x16x2x16xf16>, tensor<2x16x2x16xf16>, tensor<2x16x2x16xf16>
  }
}

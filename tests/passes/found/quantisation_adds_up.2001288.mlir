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
module attributes {ingot.config = {activations = "int8", buckets = [1, 5], kv = "f32", max_pages = 2 : i64, page_len = 16 : i64, threads = 2 : i64}} {
  func.func private @kv_append(%k: tensor<?x2x16xf32>, %v: tensor<?x2x16xf32>, %start: index, %pages: tensor<2xi32>, %kc: tensor<2x16x2x16xf32>, %vc: tensor<2x16x2x16xf32>) -> (tensor<2x16x2x16xf32>, tensor<2x16x2x16xf32>) {
    %c0 = arith.constant 0 : index
    %c1 = arith.constant 1 : index
    %len = arith.constant 16 : index
    %n = tensor.dim %k, %c0 : tensor<?x2x16xf32>
    %r:2 = scf.for %m = %c0 to %n step %c1 iter_args(%ki = %kc, %vi = %vc) -> (tensor<2x16x2x16xf32>, tensor<2x16x2x16xf32>) {
      %t = arith.addi %start, %m : index
      %lp = arith.divui %t, %len : index
      %slot = arith.remui %t, %len : index
      %p32 = tensor.extract %pages[%lp] : tensor<2xi32>
      %pg = arith.index_cast %p32 : i32 to index
      %k1 = tensor.extract_slice %k[%m, 0, 0] [1, 2, 16] [1, 1, 1] : tensor<?x2x16xf32> to tensor<2x16xf32>
      %v1 = tensor.extract_slice %v[%m, 0, 0] [1, 2, 16] [1, 1, 1] : tensor<?x2x16xf32> to tensor<2x16xf32>
      %kn = tensor.insert_slice %k1 into %ki[%pg, %slot, 0, 0] [1, 1, 2, 16] [1, 1, 1, 1] : tensor<2x16xf32> into tensor<2x16x2x16xf32>
      %vn = tensor.insert_slice %v1 into %vi[%pg, %slot, 0, 0] [1, 1, 2, 16] [1, 1, 1, 1] : tensor<2x16xf32> into tensor<2x16x2x16xf32>
      scf.yield %kn, %vn : tensor<2x16x2x16xf32>, tensor<2x16x2x16xf32>
    }
    return %r#0, %r#1 : tensor<2x16x2x16xf32>, tensor<2x16x2x16xf32>
  }
  func.func private @attention(%q: tensor<?x2x1x16xf32>, %start: index, %pages: tensor<2xi32>, %kc: tensor<2x16x2x16xf32>, %vc: tensor<2x16x2x16xf32>) -> tensor<?x2x1x16xf32> attributes {ingot.composite = "attention", ingot.mask = "causal"} {
    %zero = arith.constant 0.000000e+00 : f32
    %ninf = arith.constant 0xFF800000 : f32
    %scale = arith.constant 1.250000e-01 : f32
    %len = arith.constant 16 : index
    %window = arith.constant 0 : index
    %c0 = arith.constant 0 : index
    %s0 = tensor.dim %q, %c0 : tensor<?x2x1x16xf32>
    %ek = tensor.empty() : tensor<32x2x16xf32>
    %kv:2 = linalg.generic {indexing_maps = [#id3, #id3], iterator_types = ["parallel", "parallel", "parallel"]} outs(%ek, %ek : tensor<32x2x16xf32>, tensor<32x2x16xf32>) {
    ^bb0(%o0: f32, %o1: f32):
      %n = linalg.index 0 : index
      %h = linalg.index 1 : index
      %d = linalg.index 2 : index
      %lp = arith.divui %n, %len : index
      %slot = arith.remui %n, %len : index
      %p32 = tensor.extract %pages[%lp] : tensor<2xi32>
      %pg = arith.index_cast %p32 : i32 to index
      %kx = tensor.extract %kc[%pg, %slot, %h, %d] : tensor<2x16x2x16xf32>
      %vx = tensor.extract %vc[%pg, %slot, %h, %d] : tensor<2x16x2x16xf32>
      linalg.yield %kx, %vx : f32, f32
    } -> (tensor<32x2x16xf32>, tensor<32x2x16xf32>)
    %es = tensor.empty(%s0) : tensor<2x1x?x32xf32>
    %zs = linalg.fill ins(%zero : f32) outs(%es : tensor<2x1x?x32xf32>) -> tensor<2x1x?x32xf32>
    %s = linalg.contract indexing_maps = [affine_map<(d0, d1, d2, d3, d4) -> (d2, d0, d1, d4)>, affine_map<(d0, d1, d2, d3, d4) -> (d3, d0, d4)>, affine_map<(d0, d1, d2, d3, d4) -> (d0, d1, d2, d3)>] ins(%q, %kv#0 : tensor<?x2x1x16xf32>, tensor<32x2x16xf32>) outs(%zs : tensor<2x1x?x32xf32>) -> tensor<2x1x?x32xf32>
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
    %o = linalg.contract indexing_maps = [affine_map<(d0, d1, d2, d3, d4) -> (d1, d2, d0, d4)>, affine_map<(d0, d1, d2, d3, d4) -> (d4, d1, d3)>, affine_map<(d0, d1, d2, d3, d4) -> (d0, d1, d2, d3)>] ins(%p, %kv#1 : tensor<2x1x?x32xf32>, tensor<32x2x16xf32>) outs(%zo : tensor<?x2x1x16xf32>) -> tensor<?x2x1x16xf32>
    return %o : tensor<?x2x1x16xf32>
  }
  func.func private @layer(%v0: tensor<?x32xf32>, %ids: tensor<?xi32>, %start: index, %pages: tensor<2xi32>, %kc: tensor<2x16x2x16xf32>, %vc: tensor<2x16x2x16xf32>, %w0: tensor<2x2x4x4xf32> {}, %w1: tensor<32xf32> {}, %w2: tensor<256x60xf32> {}, %w3: tensor<32x256xf32> {ingot.quant = "q5_k"}, %w4: tensor<40x32xf32> {}) -> (tensor<?x32xf32>, tensor<2x16x2x16xf32>, tensor<2x16x2x16xf32>) {
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
    %v1 = tensor.expand_shape %v0 [[0], [1, 2]] output_shape [%n, 2, 16] : tensor<?x32xf32> into tensor<?x2x16xf32>
    %v2 = tensor.expand_shape %v0 [[0], [1, 2]] output_shape [%n, 2, 16] : tensor<?x32xf32> into tensor<?x2x16xf32>
    %v3 = tensor.expand_shape %v0 [[0], [1, 2, 3]] output_shape [%n, 2, 1, 16] : tensor<?x32xf32> into tensor<?x2x1x16xf32>
    %v4:2 = func.call @kv_append(%v1, %v2, %start, %pages, %kc, %vc) : (tensor<?x2x16xf32>, tensor<?x2x16xf32>, index, tensor<2xi32>, tensor<2x16x2x16xf32>, tensor<2x16x2x16xf32>) -> (tensor<2x16x2x16xf32>, tensor<2x16x2x16xf32>)
    %v5 = func.call @attention(%v3, %start, %pages, %v4#0, %v4#1) : (tensor<?x2x1x16xf32>, index, tensor<2xi32>, tensor<2x16x2x16xf32>, tensor<2x16x2x16xf32>) -> tensor<?x2x1x16xf32>
    %v6 = tensor.collapse_shape %v5 [[0], [1, 2, 3]] : tensor<?x2x1x16xf32> into tensor<?x32xf32>
    %v7 = tensor.expand_shape %v6 [[0], [1, 2, 3]] output_shape [%n, 4, 2, 4] : tensor<?x32xf32> into tensor<?x4x2x4xf32>
    %v8 = tensor.pad %v7 low[0, 1, 1, 0] high[0, 1, 1, 0] {
    ^bb0(%i: index, %j: index, %k: index, %l: index):
      tensor.yield %zero : f32
    } : tensor<?x4x2x4xf32> to tensor<?x6x4x4xf32>
    %v9 = tensor.empty(%n) : tensor<?x5x3x4xf32>
    %v10 = linalg.fill ins(%zero : f32) outs(%v9 : tensor<?x5x3x4xf32>) -> tensor<?x5x3x4xf32>
    %v11 = linalg.conv_2d_nhwc_hwcf {dilations = dense<1> : tensor<2xi64>, strides = dense<1> : tensor<2xi64>} ins(%v8, %w0 : tensor<?x6x4x4xf32>, tensor<2x2x4x4xf32>) outs(%v10 : tensor<?x5x3x4xf32>) -> tensor<?x5x3x4xf32>
    %v12 = tensor.collapse_shape %v11 [[0], [1, 2, 3]] : tensor<?x5x3x4xf32> into tensor<?x60xf32>
    %v13 = tensor.expand_shape %v6 [[0], [1, 2, 3]] output_shape [%n, 4, 2, 4] : tensor<?x32xf32> into tensor<?x4x2x4xf32>
    %v14 = tensor.pad %v13 low[0, 1, 1, 0] high[0, 1, 1, 0] {
    ^bb0(%i: index, %j: index, %k: index, %l: index):
      tensor.yield %most : f32
    } : tensor<?x4x2x4xf32> to tensor<?x6x4x4xf32>
    %v15 = tensor.empty() : tensor<1x1xf32>
    %v16 = tensor.empty(%n) : tensor<?x6x4x4xf32>
    %v17 = linalg.fill ins(%most : f32) outs(%v16 : tensor<?x6x4x4xf32>) -> tensor<?x6x4x4xf32>
    %v18 = linalg.pooling_nhwc_min {dilations = dense<2> : tensor<2xi64>, strides = dense<1> : tensor<2xi64>} ins(%v14, %v15 : tensor<?x6x4x4xf32>, tensor<1x1xf32>) outs(%v17 : tensor<?x6x4x4xf32>) -> tensor<?x6x4x4xf32>
    %v19 = tensor.collapse_shape %v18 [[0], [1, 2, 3]] : tensor<?x6x4x4xf32> into tensor<?x96xf32>
    %v20 = tensor.empty(%n) : tensor<?x32xf32>
    %v21 = linalg.generic {indexing_maps = [#id2, #col2, #id2], iterator_types = ["parallel", "parallel"]}
        ins(%v0, %w1 : tensor<?x32xf32>, tensor<32xf32>) outs(%v20 : tensor<?x32xf32>) {
    ^bb0(%a: f32, %b: f32, %o: f32):
      %y = arith.addf %a, %b : f32
      linalg.yield %y : f32
    } -> tensor<?x32xf32>
    %v22 = tensor.empty(%n) : tensor<?x256xf32>
    %v23 = linalg.fill ins(%zero : f32) outs(%v22 : tensor<?x256xf32>) -> tensor<?x256xf32>
    %v24 = linalg.matmul indexing_maps = [#mk, #nk, #mn] ins(%v12, %w2 : tensor<?x60xf32>, tensor<256x60xf32>) outs(%v23 : tensor<?x256xf32>) -> tensor<?x256xf32>
    %v25 = tensor.empty(%n) : tensor<?xf32>
    %v26 = linalg.fill ins(%zero : f32) outs(%v25 : tensor<?xf32>) -> tensor<?xf32>
    %v27 = linalg.generic {indexing_maps = [#id2, #row2], iterator_types = ["parallel", "reduction"]} ins(%v24 : tensor<?x256xf32>) outs(%v26 : tensor<?xf32>) {
    ^bb0(%a: f32, %o: f32):
      %t = arith.mulf %a, %a : f32
      %y = arith.addf %o, %t : f32
      linalg.yield %y : f32
    } -> tensor<?xf32>
    %v28 = tensor.empty(%n) : tensor<?x256xf32>
    %v29 = linalg.generic {indexing_maps = [#id2, #row2, #id2], iterator_types = ["parallel", "parallel"]}
        ins(%v24, %v27 : tensor<?x256xf32>, tensor<?xf32>) outs(%v28 : tensor<?x256xf32>) {
    ^bb0(%a: f32, %b: f32, %o: f32):
      %t = arith.mulf %b, %tenth : f32
      %s = arith.addf %t, %tenth : f32
      %u = math.rsqrt %s : f32
      %y = arith.mulf %a, %u : f32
      linalg.yield %y : f32
    } -> tensor<?x256xf32>
    %v30 = tensor.empty(%n) : tensor<?x32xf32>
    %v31 = linalg.fill ins(%zero : f32) outs(%v30 : tensor<?x32xf32>) -> tensor<?x32xf32>
    %v32 = linalg.matmul indexing_maps = [#mk, #nk, #mn] ins(%v29, %w3 : tensor<?x256xf32>, tensor<32x256xf32>) outs(%v31 : tensor<?x32xf32>) -> tensor<?x32xf32>
    %v33 = tensor.empty(%n) : tensor<?x40xf32>
    %v34 = linalg.fill ins(%zero : f32) outs(%v33 : tensor<?x40xf32>) -> tensor<?x40xf32>
    %v35 = linalg.matmul indexing_maps = [#mk, #nk, #mn] ins(%v32, %w4 : tensor<?x32xf32>, tensor<40x32xf32>) outs(%v34 : tensor<?x40xf32>) -> tensor<?x40xf32>
    %v36 = tensor.empty(%n) : tensor<?x32xf32>
    %v37 = linalg.generic {indexing_maps = [#id2, #id2], iterator_types = ["parallel", "parallel"]}
        ins(%v21 : tensor<?x32xf32>) outs(%v36 : tensor<?x32xf32>) {
    ^bb0(%a: f32, %o: f32):
      %t = arith.negf %a : f32
      %s = math.exp %t : f32
      %u = arith.addf %s, %one : f32
      %y = arith.divf %a, %u : f32
      linalg.yield %y : f32
    } -> tensor<?x32xf32>
    %v38 = tensor.empty(%n) : tensor<?x32xf32>
    %v39 = linalg.generic {indexing_maps = [#id2, #id2], iterator_types = ["parallel", "parallel"]}
        ins(%v32 : tensor<?x32xf32>) outs(%v38 : tensor<?x32xf32>) {
    ^bb0(%a: f32, %o: f32):
      %t = arith.minimumf %a, %one : f32
      %y = arith.maximumf %t, %low : f32
      linalg.yield %y : f32
    } -> tensor<?x32xf32>
    return %v39, %v4#0, %v4#1 : tensor<?x32xf32>, tensor<2x16x2x16xf32>, tensor<2x16x2x16xf32>
  }
  func.func @forward(%v0: tensor<?x32xf32>, %ids: tensor<?xi32>, %start: index, %pages: tensor<2xi32>, %kc: tensor<2x16x2x16xf32> {ingot.kv = "k", ingot.layer = 0 : i64}, %vc: tensor<2x16x2x16xf32> {ingot.kv = "v", ingot.layer = 0 : i64}, %kcb: tensor<2x16x2x16xf32> {ingot.kv = "k", ingot.layer = 1 : i64}, %vcb: tensor<2x16x2x16xf32> {ingot.kv = "v", ingot.layer = 1 : i64}, %w0: tensor<2x2x4x4xf32> {ingot.param = "w0"}, %w1: tensor<32xf32> {ingot.param = "w1"}, %w2: tensor<256x60xf32> {ingot.param = "w2"}, %w3: tensor<32x256xf32> {ingot.param = "w3", ingot.quant = "q5_k"}, %w4: tensor<40x32xf32> {ingot.param = "w4"}, %w0b: tensor<2x2x4x4xf32> {ingot.param = "w0b"}, %w1b: tensor<32xf32> {ingot.param = "w1b"}, %w2b: tensor<256x60xf32> {ingot.param = "w2b"}, %w3b: tensor<32x256xf32> {ingot.param = "w3b", ingot.quant = "q5_k"}, %w4b: tensor<40x32xf32> {ingot.param = "w4b"}) -> (tensor<?x32xf32>, tensor<2x16x2x16xf32>, tensor<2x16x2x16xf32>, tensor<2x16x2x16xf32>, tensor<2x16x2x16xf32>) {
    %y0:3 = func.call @layer(%v0, %ids, %start, %pages, %kc, %vc, %w0, %w1, %w2, %w3, %w4) : (tensor<?x32xf32>, tensor<?xi32>, index, tensor<2xi32>, tensor<2x16x2x16xf32>, tensor<2x16x2x16xf32>, tensor<2x2x4x4xf32>, tensor<32xf32>, tensor<256x60xf32>, tensor<32x256xf32>, tensor<40x32xf32>) -> (tensor<?x32xf32>, tensor<2x16x2x16xf32>, tensor<2x16x2x16xf32>)
    %y1:3 = func.call @layer(%y0#0, %ids, %start, %pages, %kcb, %vcb, %w0b, %w1b, %w2b, %w3b, %w4b) : (tensor<?x32xf32>, tensor<?xi32>, index, tensor<2xi32>, tensor<2x16x2x16xf32>, tensor<2x16x2x16xf32>, tensor<2x2x4x4xf32>, tensor<32xf32>, tensor<256x60xf32>, tensor<32x256xf32>, tensor<40x32xf32>) -> (tensor<?x32xf32>, tensor<2x16x2x16xf32>, tensor<2x16x2x16xf32>)
    return %y1#0, %y0#1, %y0#2, %y1#1, %y1#2 : tensor<?x32xf32>, tensor<2x16x2x16xf32>, tensor<2x16x2x16xf32>, tensor<2x16x2x16xf32>, tensor<2x16x2x16xf32>
  }
}

// Every element type that lies in memory, conversions between them, indices as numbers, sums of several
// types in one op, a sum in f16 whose steps round.
#id2 = affine_map<(d0, d1) -> (d0, d1)>
#r0 = affine_map<(d0, d1) -> (d0)>
module {
  func.func private @rows_casts(%x: tensor<3x45xf32>, %h: tensor<3x45xf16>, %b: tensor<3x45xbf16>, %q: tensor<3x45xi8>, %w: tensor<3x45xi32>)
      -> (tensor<3x45xbf16>, tensor<3x45xf16>, tensor<3x45xf32>, tensor<3x45xi8>, tensor<3x45xi16>, tensor<3x45xi64>, tensor<3xi32>, tensor<3xi64>, tensor<3xf32>)
      attributes {ingot.kernel = "rows", ingot.tiles = affine_map<() -> (3)>} {
    %c7 = arith.constant 7 : index
    %c3 = arith.constant 3 : i32
    %ten = arith.constant 1.000000e+01 : f32
    %zi = arith.constant 0 : i32
    %zl = arith.constant 5 : i64
    %low = arith.constant 0xFF800000 : f32
    %e0 = tensor.empty() : tensor<3x45xbf16>
    %e1 = tensor.empty() : tensor<3x45xf16>
    %e2 = tensor.empty() : tensor<3x45xf32>
    %e3 = tensor.empty() : tensor<3x45xi8>
    %e4 = tensor.empty() : tensor<3x45xi16>
    %e5 = tensor.empty() : tensor<3x45xi64>
    %r:6 = linalg.generic {indexing_maps = [#id2, #id2, #id2, #id2, #id2, #id2, #id2, #id2, #id2, #id2, #id2], iterator_types = ["parallel", "parallel"]}
        ins(%x, %h, %b, %q, %w : tensor<3x45xf32>, tensor<3x45xf16>, tensor<3x45xbf16>, tensor<3x45xi8>, tensor<3x45xi32>)
        outs(%e0, %e1, %e2, %e3, %e4, %e5 : tensor<3x45xbf16>, tensor<3x45xf16>, tensor<3x45xf32>, tensor<3x45xi8>, tensor<3x45xi16>, tensor<3x45xi64>) {
    ^bb0(%xe: f32, %he: f16, %be: bf16, %qe: i8, %we: i32, %o0: bf16, %o1: f16, %o2: f32, %o3: i8, %o4: i16, %o5: i64):
      %i = linalg.index 0 : index
      %j = linalg.index 1 : index
      %k = arith.muli %j, %c7 : index
      %l = arith.addi %k, %i : index
      %l32 = arith.index_cast %l : index to i32
      %lf = arith.sitofp %l32 : i32 to f32
      %hf = arith.extf %he : f16 to f32
      %bf = arith.extf %be : bf16 to f32
      %s0 = arith.addf %xe, %lf : f32
      %y0 = arith.truncf %s0 : f32 to bf16
      %h2 = arith.mulf %he, %he : f16
      %y1 = arith.addf %h2, %he : f16
      %m = arith.maximumf %hf, %bf : f32
      %n = math.floor %m : f32
      %ge = arith.cmpf oge, %n, %xe : f32
      %y2 = arith.select %ge, %n, %xe : f32
      %t = arith.mulf %xe, %ten : f32
      %u = math.roundeven %t : f32
      %y3 = arith.fptosi %u : f32 to i8
      %q16 = arith.extui %qe : i8 to i16
      %w16 = arith.trunci %we : i32 to i16
      %y4 = arith.xori %q16, %w16 : i16
      %w64 = arith.extsi %we : i32 to i64
      %j64 = arith.index_cast %j : index to i64
      %y5 = arith.addi %w64, %j64 : i64
      linalg.yield %y0, %y1, %y2, %y3, %y4, %y5 : bf16, f16, f32, i8, i16, i64
    } -> (tensor<3x45xbf16>, tensor<3x45xf16>, tensor<3x45xf32>, tensor<3x45xi8>, tensor<3x45xi16>, tensor<3x45xi64>)
    %a0 = tensor.empty() : tensor<3xi32>
    %z0 = linalg.fill ins(%zi : i32) outs(%a0 : tensor<3xi32>) -> tensor<3xi32>
    %a1 = tensor.empty() : tensor<3xi64>
    %z1 = linalg.fill ins(%zl : i64) outs(%a1 : tensor<3xi64>) -> tensor<3xi64>
    %a2 = tensor.empty() : tensor<3xf32>
    %z2 = linalg.fill ins(%low : f32) outs(%a2 : tensor<3xf32>) -> tensor<3xf32>
    %f:3 = linalg.generic {indexing_maps = [#id2, #id2, #id2, #r0, #r0, #r0], iterator_types = ["parallel", "reduction"]}
        ins(%r#3, %w, %r#0 : tensor<3x45xi8>, tensor<3x45xi32>, tensor<3x45xbf16>)
        outs(%z0, %z1, %z2 : tensor<3xi32>, tensor<3xi64>, tensor<3xf32>) {
    ^bb0(%qe: i8, %we: i32, %be: bf16, %o0: i32, %o1: i64, %o2: f32):
      %q32 = arith.extsi %qe : i8 to i32
      %p = arith.muli %q32, %c3 : i32
      %y0 = arith.addi %o0, %p : i32
      %w64 = arith.extsi %we : i32 to i64
      %y1 = arith.maxsi %w64, %o1 : i64
      %bf = arith.extf %be : bf16 to f32
      %y2 = arith.maxnumf %o2, %bf : f32
      linalg.yield %y0, %y1, %y2 : i32, i64, f32
    } -> (tensor<3xi32>, tensor<3xi64>, tensor<3xf32>)
    return %r#0, %r#1, %r#2, %r#3, %r#4, %r#5, %f#0, %f#1, %f#2 : tensor<3x45xbf16>, tensor<3x45xf16>, tensor<3x45xf32>, tensor<3x45xi8>, tensor<3x45xi16>, tensor<3x45xi64>, tensor<3xi32>, tensor<3xi64>, tensor<3xf32>
  }
}

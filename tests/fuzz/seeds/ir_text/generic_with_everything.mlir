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

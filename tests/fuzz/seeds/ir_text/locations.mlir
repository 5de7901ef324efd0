// locations
#loc0 = loc("model.gguf":0:0)
func.func @f(%x: f32 loc("x")) -> f32 {
  %0 = arith.addf %x, %x : f32 loc("blk.0.attn_q.weight"(#loc0))
  %1 = arith.addf %0, %x : f32 loc(fused<"fuse-ops">["a", "b.yaml":3:4])
  %2 = arith.addf %1, %x : f32 loc(callsite("a" at "b"))
  %3 = arith.addf %2, %x : f32 loc(unknown)
  %4 = arith.addf %3, %x : f32 loc(#loc9)
  return %4 : f32 loc("end")
} loc("f")
#loc9 = loc("late")

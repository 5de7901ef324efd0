// module_attributes
module @m attributes {ingot.level = 1 : i64, ingot.version = 1 : i64} {
  func.func @f() {
    return
  }
}
// -----
// values_of_attributes
func.func private @f() attributes {ingot.a = [1, 2 : i32, 3.0, 4.0 : f32, true, "x", unit, [], {}], ingot.b = {x = 1 : i8, "y z" = @f, z}, ingot.c = f32, ingot.d = tensor<4xf32>, ingot.e = (f32) -> i32, ingot.f = array<i32: 1, -2>, ingot.g = array<i64>, ingot.h = "tab\09 quote\22 back\\ \C3\A9", ingot.i = dense<[1, 2]> : tensor<2xi64>, ingot.j = #gpu.block<x>, ingot.k = -1 : index, ingot.l = false, ingot.m = 0x7FF8000000000000 : f64}
// -----
// aliases
#numbers = [1, 2, 3]
#more = [#numbers, #numbers]
!row = tensor<4x8xf32>
func.func @f(%a: !row) -> !row attributes {ingot.a = #more} {
  return %a : !row
}
// -----
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
// -----
// symbols
func.func private @blk.0.attn_q.weight_1$x()
func.func private @"a b/c-d"()
func.func @g() {
  call @"a b/c-d"() : () -> ()
  return
}
// -----
// arguments
func.func @f(%a: tensor<8xf32> {bufferization.writable = true, ingot.param = "w"}, %b: tensor<8xf32> {bufferization.buffer_layout = affine_map<(d0) -> (d0)>}) -> tensor<8xf32> attributes {llvm.emit_c_interface} {
  return %a : tensor<8xf32>
}

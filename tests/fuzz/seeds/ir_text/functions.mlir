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

// names_of_values
func.func @f(%x: f32, %0: f32) -> f32 {
  %1 = arith.addf %x, %0 : f32
  %a.b$c-d_e, %second:2 = func.call @three(%1) : (f32) -> (f32, f32, f32)
  %2 = arith.mulf %a.b$c-d_e, %second#1 : f32
  return %2 : f32
}
func.func private @three(f32) -> (f32, f32, f32)

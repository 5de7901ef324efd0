func.func @main() {
  %a = arith.constant 128.0 : f32
  %v = arith.fptosi %a : f32 to i8
  return
}

// a_long_constant
func.func @f() -> tensor<101xi1> {
  %0 = arith.constant dense<"0x0123456789ABCDEF0123456701"> : tensor<101xi1>
  return %0 : tensor<101xi1>
}

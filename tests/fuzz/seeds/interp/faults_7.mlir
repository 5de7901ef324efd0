func.func @main() {
  %a = arith.constant 4 : i8
  %b = arith.addi %a, %a : i8
  %v = arith.shli %a, %b : i8
  return
}

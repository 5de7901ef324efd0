func.func @main() {
  %p = arith.constant false
  cf.assert %p, "page out of range"
  return
}

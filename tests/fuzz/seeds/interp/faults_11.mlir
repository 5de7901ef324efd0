func.func @main() {
  func.call @main() : () -> ()
  return
}

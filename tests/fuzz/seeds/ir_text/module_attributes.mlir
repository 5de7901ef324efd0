// module_attributes
module @m attributes {ingot.level = 1 : i64, ingot.version = 1 : i64} {
  func.func @f() {
    return
  }
}

// symbols
func.func private @blk.0.attn_q.weight_1$x()
func.func private @"a b/c-d"()
func.func @g() {
  call @"a b/c-d"() : () -> ()
  return
}

// scf_loops
func.func @f(%n: index, %x: f32) -> f32 {
  scf.parallel (%i, %j) = (%n, %n) to (%n, %n) step (%n, %n) {
    scf.reduce
  }
  %0 = scf.parallel (%i) = (%n) to (%n) step (%n) init (%x) -> f32 {
    scf.reduce(%x : f32) {
    ^bb0(%a: f32, %b: f32):
      %s = arith.addf %a, %b : f32
      scf.reduce.return %s : f32
    }
  }
  return %0 : f32
}

// control_on_tensors
func.func @f(%a: tensor<8x64xf32>, %p: i1, %n: index, %x: f32, %l: i32) -> tensor<8x64xf32> {
  %e = tensor.empty() : tensor<8x64xf32>
  %0 = scf.forall (%i) in (8) shared_outs(%o = %e) -> (tensor<8x64xf32>) {
    %s = tensor.extract_slice %a[%i, 0] [1, 64] [1, 1] : tensor<8x64xf32> to tensor<1x64xf32>
    scf.forall.in_parallel {
      tensor.parallel_insert_slice %s into %o[%i, 0] [1, 64] [1, 1] : tensor<1x64xf32> into tensor<8x64xf32>
    }
  } {ingot.tol = "x", mapping = [#gpu.block<x>]}
  scf.forall (%i, %j) = (0, %n) to (8, 16) step (1, %n) {
  }
  %1:2 = scf.for %i = %n to %n step %n iter_args(%q = %x, %t = %0) -> (f32, tensor<8x64xf32>) {
    scf.yield %q, %t : f32, tensor<8x64xf32>
  } {ingot.fallback = "size"}
  scf.for %i = %l to %l step %l : i32 {
  }
  %2 = scf.if %p -> (f32) {
    scf.yield %x : f32
  } else {
    scf.yield %1#0 : f32
  }
  scf.if %p {
    cf.assert %p, "page \22out\22 of range"
  }
  return %1#1 : tensor<8x64xf32>
}

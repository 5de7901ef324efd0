func.func private @printMemrefF32(tensor<*xf32>)
func.func @double(%x: tensor<?x2xf32>) -> tensor<?x2xf32> {
  %c0 = arith.constant 0 : index
  %n = tensor.dim %x, %c0 : tensor<?x2xf32>
  %r = scf.forall (%i) in (%n) shared_outs(%o = %x) -> (tensor<?x2xf32>) {
    %s = tensor.extract_slice %o[%i, 0] [1, 2] [1, 1] : tensor<?x2xf32> to tensor<1x2xf32>
    %e = tensor.empty() : tensor<1x2xf32>
    %d = linalg.generic {indexing_maps = [affine_map<(d0, d1) -> (d0, d1)>, affine_map<(d0, d1) -> (d0, -d1 + 1)>], iterator_types = ["parallel", "parallel"]} ins(%s : tensor<1x2xf32>) outs(%e : tensor<1x2xf32>) {
    ^bb0(%a: f32, %b: f32):
      %k = linalg.index 1 : index
      %even = arith.cmpi eq, %k, %c0 : index
      %v = scf.if %even -> (f32) {
        %t = arith.addf %a, %a : f32
        scf.yield %t : f32
      } else {
        scf.yield %a : f32
      }
      linalg.yield %v : f32
    } -> tensor<1x2xf32>
    scf.forall.in_parallel {
      tensor.parallel_insert_slice %d into %o[%i, 0] [1, 2] [1, 1] : tensor<1x2xf32> into tensor<?x2xf32>
    }
  }
  return %r : tensor<?x2xf32>
}
func.func @main() {
  %a = arith.constant dense<[[1.0, 2.0], [3.0, 4.0], [5.0, 6.0]]> : tensor<3x2xf32>
  %d = tensor.cast %a : tensor<3x2xf32> to tensor<?x2xf32>
  %r = func.call @double(%d) : (tensor<?x2xf32>) -> tensor<?x2xf32>
  %s = tensor.cast %r : tensor<?x2xf32> to tensor<3x2xf32>
  %u = tensor.cast %s : tensor<3x2xf32> to tensor<*xf32>
  func.call @printMemrefF32(%u) : (tensor<*xf32>) -> ()
  %v = tensor.cast %a : tensor<3x2xf32> to tensor<*xf32>
  func.call @printMemrefF32(%v) : (tensor<*xf32>) -> ()
  return
}

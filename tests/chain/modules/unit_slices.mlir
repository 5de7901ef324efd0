// Columns of a matrix, as slices with a dimension of one element: their stride is the rows', not their own.
// exact
#id = affine_map<(d0, d1) -> (d0, d1)>
func.func @main(%x: tensor<6x5xi32>, %o: tensor<6x5xi32>) -> (tensor<6x5xi32>, tensor<6x5xi32>) {
  %c0 = arith.constant 0 : index
  %c1 = arith.constant 1 : index
  %c5 = arith.constant 5 : index
  %r = scf.for %j = %c0 to %c5 step %c1 iter_args(%s = %x) -> (tensor<6x5xi32>) {
    %a = tensor.extract_slice %x[3, %j] [3, 1] [1, 1] : tensor<6x5xi32> to tensor<3x1xi32>
    %e = tensor.empty() : tensor<3x1xi32>
    %c = linalg.transpose ins(%a : tensor<3x1xi32>) outs(%e : tensor<3x1xi32>) permutation = [0, 1]
    %n = tensor.insert_slice %c into %s[0, %j] [3, 1] [1, 1] : tensor<3x1xi32> into tensor<6x5xi32>
    scf.yield %n : tensor<6x5xi32>
  }
  %t = scf.forall (%i, %j) = (0, 0) to (2, 5) step (3, 1) shared_outs(%s = %o) -> (tensor<6x5xi32>) {
    %a = tensor.extract_slice %x[%i, %j] [3, 1] [1, 1] : tensor<6x5xi32> to tensor<3x1xi32>
    %e = tensor.empty() : tensor<3x1xi32>
    %c = linalg.generic {indexing_maps = [#id, #id], iterator_types = ["parallel", "parallel"]} ins(%a : tensor<3x1xi32>) outs(%e : tensor<3x1xi32>) {
    ^bb0(%p: i32, %z: i32):
      %u = arith.addi %p, %p : i32
      linalg.yield %u : i32
    } -> tensor<3x1xi32>
    scf.forall.in_parallel {
      tensor.parallel_insert_slice %c into %s[%i, %j] [3, 1] [1, 1] : tensor<3x1xi32> into tensor<6x5xi32>
    }
  }
  return %r, %t : tensor<6x5xi32>, tensor<6x5xi32>
}

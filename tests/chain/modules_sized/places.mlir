// What is found by place: rows of a table by number, the order turned round, whole numbers divided
// by others, the last row, the beginning of a table, a running sum in a loop over the size.
// In the padding indices would lie outside and divisors be 0.
// bound: 80 terms, magnitude 24
#id = affine_map<(i) -> (i)>
#row = affine_map<(i, j) -> (i, j)>
#at = affine_map<(i, j) -> (i)>
func.func @main(%ids: tensor<?xi32> {ingot.dims = ["n"]}, %table: tensor<101x8xf32>, %x: tensor<?x8xf32> {ingot.dims = ["n", ""]},
    %places: tensor<24x8xf32>) -> (tensor<?x8xf32>, tensor<?x8xf32>, tensor<?xi32>, tensor<1x8xf32>, tensor<?x8xf32>, tensor<?xi32>, tensor<?x1x8xf32>)
    attributes {ingot.ranges = {n = {max = 24, step = 10}}} {
  %c0 = arith.constant 0 : index
  %c1 = arith.constant 1 : index
  %seven = arith.constant 7 : i32
  %hundred = arith.constant 100 : i32
  %zero32 = arith.constant 0 : i32
  %n = tensor.dim %ids, %c0 : tensor<?xi32>
  %e = tensor.empty(%n) : tensor<?x8xf32>
  %rows = linalg.generic {indexing_maps = [#at, #row], iterator_types = ["parallel", "parallel"]} ins(%ids : tensor<?xi32>) outs(%e : tensor<?x8xf32>) {
  ^bb0(%id: i32, %o: f32):
    %j = linalg.index 1 : index
    %zero = arith.maxsi %id, %zero32 : i32
    %row = arith.index_cast %zero : i32 to index
    %v = tensor.extract %table[%row, %j] : tensor<101x8xf32>
    linalg.yield %v : f32
  } -> tensor<?x8xf32>
  %turned = linalg.generic {indexing_maps = [#row], iterator_types = ["parallel", "parallel"]} outs(%e : tensor<?x8xf32>) {
  ^bb0(%o: f32):
    %i = linalg.index 0 : index
    %j = linalg.index 1 : index
    %last = arith.subi %n, %c1 : index
    %from = arith.subi %last, %i : index
    %v = tensor.extract %x[%from, %j] : tensor<?x8xf32>
    linalg.yield %v : f32
  } -> tensor<?x8xf32>
  %ei = tensor.empty(%n) : tensor<?xi32>
  %quotients = linalg.generic {indexing_maps = [#id, #id], iterator_types = ["parallel"]} ins(%ids : tensor<?xi32>) outs(%ei : tensor<?xi32>) {
  ^bb0(%id: i32, %o: i32):
    %i = linalg.index 0 : index
    %left = arith.subi %n, %i : index
    %left32 = arith.index_cast %left : index to i32
    %q = arith.divsi %hundred, %left32 : i32
    %r = arith.remsi %id, %left32 : i32
    %s = arith.addi %q, %r : i32
    linalg.yield %s : i32
  } -> tensor<?xi32>
  %end = arith.subi %n, %c1 : index
  %tail = tensor.extract_slice %x[%end, 0] [1, 8] [1, 1] : tensor<?x8xf32> to tensor<1x8xf32>
  %first = tensor.extract_slice %places[0, 0] [%n, 8] [1, 1] : tensor<24x8xf32> to tensor<?x8xf32>
  %placed = linalg.generic {indexing_maps = [#row, #row, #row], iterator_types = ["parallel", "parallel"]} ins(%x, %first : tensor<?x8xf32>, tensor<?x8xf32>) outs(%e : tensor<?x8xf32>) {
  ^bb0(%a: f32, %b: f32, %o: f32):
    %v = arith.addf %a, %b : f32
    linalg.yield %v : f32
  } -> tensor<?x8xf32>
  %f = linalg.fill ins(%seven : i32) outs(%ei : tensor<?xi32>) -> tensor<?xi32>
  %es = tensor.empty() : tensor<1xi32>
  %s0 = linalg.fill ins(%zero32 : i32) outs(%es : tensor<1xi32>) -> tensor<1xi32>
  %sums:2 = scf.for %i = %c0 to %n step %c1 iter_args(%t = %f, %sum = %s0) -> (tensor<?xi32>, tensor<1xi32>) {
    %id = tensor.extract %ids[%i] : tensor<?xi32>
    %before = tensor.extract %sum[%c0] : tensor<1xi32>
    %next = arith.addi %before, %id : i32
    %u = tensor.insert %next into %t[%i] : tensor<?xi32>
    %v = tensor.insert %next into %sum[%c0] : tensor<1xi32>
    scf.yield %u, %v : tensor<?xi32>, tensor<1xi32>
  }
  %wide = tensor.expand_shape %placed [[0, 1], [2]] output_shape [%n, 1, 8] : tensor<?x8xf32> into tensor<?x1x8xf32>
  return %rows, %turned, %quotients, %tail, %placed, %sums#0, %wide : tensor<?x8xf32>, tensor<?x8xf32>, tensor<?xi32>, tensor<1x8xf32>, tensor<?x8xf32>, tensor<?xi32>, tensor<?x1x8xf32>
}

// What loops carry: arguments, which stay as they are; values of other ops, returned from the loop; two that change
// places; one that an inner loop goes on with.
// exact
#i = affine_map<(d0) -> (d0)>
func.func @main(%a: tensor<6xi32>, %b: tensor<4xf32>, %c: tensor<4xf32>, %n: tensor<1xi64>)
    -> (tensor<6xi32>, tensor<6xi32>, tensor<4xf32>, tensor<4xf32>, tensor<6xi32>) {
  %c0 = arith.constant 0 : index
  %c1 = arith.constant 1 : index
  %c6 = arith.constant 6 : index
  %squares = scf.for %k = %c0 to %c6 step %c1 iter_args(%t = %a) -> tensor<6xi32> {
    %u = scf.for %j = %k to %c6 step %c1 iter_args(%t2 = %t) -> tensor<6xi32> {
      %v = tensor.extract %t2[%j] : tensor<6xi32>
      %w = arith.muli %v, %v : i32
      %x = tensor.insert %w into %t2[%k] : tensor<6xi32>
      scf.yield %x : tensor<6xi32>
    }
    scf.yield %u : tensor<6xi32>
  }
  %e = tensor.empty() : tensor<6xi32>
  %twice = linalg.generic {indexing_maps = [#i, #i], iterator_types = ["parallel"]} ins(%a : tensor<6xi32>) outs(%e : tensor<6xi32>) {
  ^bb0(%v: i32, %o: i32):
    %w = arith.addi %v, %v : i32
    linalg.yield %w : i32
  } -> tensor<6xi32>
  %sums = scf.for %k = %c1 to %c6 step %c1 iter_args(%t = %twice) -> tensor<6xi32> {
    %before = arith.subi %k, %c1 : index
    %v = tensor.extract %t[%before] : tensor<6xi32>
    %w = tensor.extract %t[%k] : tensor<6xi32>
    %s = arith.addi %v, %w : i32
    %x = tensor.insert %s into %t[%k] : tensor<6xi32>
    scf.yield %x : tensor<6xi32>
  }
  %trips = tensor.extract %n[%c0] : tensor<1xi64>
  %last = arith.index_cast %trips : i64 to index
  %swapped:2 = scf.for %k = %c0 to %last step %c1 iter_args(%x = %b, %y = %c) -> (tensor<4xf32>, tensor<4xf32>) {
    scf.yield %y, %x : tensor<4xf32>, tensor<4xf32>
  }
  return %squares, %sums, %swapped#0, %swapped#1, %a : tensor<6xi32>, tensor<6xi32>, tensor<4xf32>, tensor<4xf32>, tensor<6xi32>
}

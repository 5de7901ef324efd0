func.func @step(%arena: memref<64xi8> {ingot.arena}) {
  %c0 = arith.constant 0 : index
  %a = memref.view %arena[%c0][] : memref<64xi8> to memref<16xf32>
  %v = memref.load %a[%c0] : memref<16xf32>
  return
}
func.func @main() {
  %z = arith.constant 0 : i8
  %m = memref.alloc() : memref<64xi8>
  linalg.fill ins(%z : i8) outs(%m : memref<64xi8>)
  func.call @step(%m) : (memref<64xi8>) -> ()
  return
}

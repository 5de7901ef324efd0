// an index out of range
func.func @main() {
  %m = memref.alloc() : memref<4xf32>
  %z = arith.constant 0.0 : f32
  linalg.fill ins(%z : f32) outs(%m : memref<4xf32>)
  %c0 = arith.constant 0 : index
  %c1 = arith.constant 1 : index
  %c5 = arith.constant 5 : index
  scf.for %i = %c0 to %c5 step %c1 {
// expected-error@+1 {{index 4 is out of range for dimension 0 of size 4}}
    %v = memref.load %m[%i] : memref<4xf32>
  }
  return
}
// -----
// undefined memory
func.func @main() {
  %c1 = arith.constant 1 : index
  %z = arith.constant 0.0 : f32
  %m = memref.alloc() : memref<4xf32>
  memref.store %z, %m[%c1] : memref<4xf32>
  %v = memref.load %m[%c1] : memref<4xf32>
// expected-error@+1 {{reads undefined data (byte 8 of its buffer was never written)}}
  %w = vector.load %m[%c1] : memref<4xf32>, vector<2xf32>
  return
}
// -----
// undefined bytes may be moved, not used
func.func private @printMemrefF32(tensor<*xf32>)
func.func @main() {
  %c1 = arith.constant 1 : index
  %z = arith.constant 3.0 : f32
  %e = tensor.empty() : tensor<2x4xf32>
  %t = tensor.insert %z into %e[%c1, %c1] : tensor<2x4xf32>
  %s = tensor.extract_slice %t[1, 0] [1, 4] [1, 1] : tensor<2x4xf32> to tensor<4xf32>
  %x = tensor.extract_slice %s[1] [1] [1] : tensor<4xf32> to tensor<1xf32>
  %u = tensor.cast %x : tensor<1xf32> to tensor<*xf32>
  func.call @printMemrefF32(%u) : (tensor<*xf32>) -> ()
  %y = tensor.cast %s : tensor<4xf32> to tensor<*xf32>
// expected-error@+1 {{reads undefined data}}
  func.call @printMemrefF32(%y) : (tensor<*xf32>) -> ()
  return
}
// -----
// an arena read through another view than the one that wrote it
func.func @step(%arena: memref<256xi8> {ingot.arena}) {
  %c0 = arith.constant 0 : index
  %c1 = arith.constant 1 : index
  %c8 = arith.constant 8 : index
  %c16 = arith.constant 16 : index
  %c32 = arith.constant 32 : index
  %z = arith.constant 1.0 : f32
  %a = memref.view %arena[%c0][] : memref<256xi8> to memref<16xf32>
  %b = memref.view %arena[%c32][] : memref<256xi8> to memref<16xf32>
  scf.for %k = %c0 to %c1 step %c1 {
    scf.for %i = %c0 to %c16 step %c1 {
      memref.store %z, %a[%i] : memref<16xf32>
    }
    scf.for %i = %c0 to %c8 step %c1 {
      memref.store %z, %b[%i] : memref<16xf32>
    }
    scf.for %i = %c0 to %c16 step %c1 {
// expected-error@+1 {{reads arena byte 32 through another view}}
      %v = memref.load %a[%i] : memref<16xf32>
    }
  }
  return
}
func.func @main() {
  %m = memref.alloc() : memref<256xi8>
  func.call @step(%m) : (memref<256xi8>) -> ()
  return
}
// -----
// an arena is undefined at entry
func.func @step(%arena: memref<64xi8> {ingot.arena}) {
  %c0 = arith.constant 0 : index
  %a = memref.view %arena[%c0][] : memref<64xi8> to memref<16xf32>
// expected-error@+1 {{arena byte 0 was never written}}
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
// -----
// memory after its end
func.func @main() {
  %c0 = arith.constant 0 : index
  %z = arith.constant 0.0 : f32
  %m = memref.alloc() : memref<4xf32>
  memref.dealloc %m : memref<4xf32>
// expected-error@+1 {{accesses memory that was deallocated}}
  memref.store %z, %m[%c0] : memref<4xf32>
  return
}
// -----
// division by zero
func.func @main() {
  %c0 = arith.constant 0 : index
  %c1 = arith.constant 1 : index
// expected-error@+1 {{divides by zero}}
  %v = arith.divui %c1, %c0 : index
  return
}
// -----
// a shift by a computed amount
func.func @main() {
  %a = arith.constant 4 : i8
  %b = arith.addi %a, %a : i8
// expected-error@+1 {{shifts a value of 8 bits by 8}}
  %v = arith.shli %a, %b : i8
  return
}
// -----
// a conversion out of range
func.func @main() {
  %a = arith.constant 128.0 : f32
// expected-error@+1 {{converts 128, which is outside of i8}}
  %v = arith.fptosi %a : f32 to i8
  return
}
// -----
// a slice out of range
func.func @main() {
  %e = tensor.empty() : tensor<8xf32>
  %c4 = arith.constant 4 : index
// expected-error@+1 {{slice along dimension 0 runs out-of-bounds}}
  %s = tensor.extract_slice %e[%c4] [5] [1] : tensor<8xf32> to tensor<5xf32>
  return
}
// -----
// an assertion
func.func @main() {
  %p = arith.constant false
// expected-error@+1 {{failed: page out of range}}
  cf.assert %p, "page out of range"
  return
}
// -----
// endless recursion
func.func @main() {
// expected-error@+1 {{calls deep}}
  func.call @main() : () -> ()
  return
}
// -----
// a transfer whose lanes are out of range and padding is poison
func.func @main() {
  %m = memref.alloc() : memref<4xf32>
  %z = arith.constant 0.0 : f32
  linalg.fill ins(%z : f32) outs(%m : memref<4xf32>)
  %c2 = arith.constant 2 : index
  %p = ub.poison : f32
// expected-error@+1 {{lane 2 is out of range and the padding is poison}}
  %v = vector.transfer_read %m[%c2], %p : memref<4xf32>, vector<4xf32>
  return
}

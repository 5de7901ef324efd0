// machine_instruction
func.func @f(%acc: vector<16xi32>, %a: vector<64xi8>, %b: vector<64xi8>) -> vector<16xi32> {
  %0 = llvm.call_intrinsic "llvm.x86.avx512.vpdpbusd.512"(%acc, %a, %b) : (vector<16xi32>, vector<64xi8>, vector<64xi8>) -> vector<16xi32>
  return %0 : vector<16xi32>
}

// a_function_with_blocks
llvm.mlir.global private constant @tab(dense<[1, 2, 3, 4]> : tensor<4xi32>) {alignment = 64 : i64, addr_space = 0 : i32} : !llvm.array<4 x i32>
llvm.mlir.global internal @zz() : f32 {
  %0 = llvm.mlir.constant(1.0 : f32) : f32
  llvm.return %0 : f32
}
llvm.func @g(i64) -> i64
llvm.func internal @k(%p: !llvm.ptr {llvm.noalias, llvm.align = 64 : i64}, %n: i64, %v: vector<8xf32>, %s: !llvm.struct<(f32, i64)>) -> f32 attributes {ingot.x = 1 : i64, passthrough = ["nounwind", ["target-cpu", "x86-64-v4"]], target_features = #llvm.target_features<["+avx512f"]>} {
  %c0 = llvm.mlir.constant(0 : i64) : i64
  %c1 = llvm.mlir.constant(1.5 : f32) : f32
  %cv = llvm.mlir.constant(dense<1.0> : vector<8xf32>) : vector<8xf32>
  llvm.br ^bb1(%c0 : i64) {loop_annotation = #llvm.loop_annotation<mustProgress = true>}
^bb1(%i: i64):
  %cmp = llvm.icmp "slt" %i, %n : i64
  llvm.cond_br %cmp, ^bb2(%i : i64), ^bb3 {ingot.y}
^bb2(%j: i64):
  %q = llvm.getelementptr inbounds %p[%j, 3] : (!llvm.ptr, i64) -> !llvm.ptr, !llvm.array<4 x f32>
  %l = llvm.load %q {alignment = 4 : i64} : !llvm.ptr -> f32
  %f = llvm.fadd %l, %c1 {fastmathFlags = #llvm.fastmath<contract, nnan>} : f32
  llvm.store %f, %q {alignment = 4 : i64, nontemporal} : f32, !llvm.ptr
  %o = llvm.or disjoint %i, %j : i64
  %e = llvm.udiv exact %i, %j : i64
  %ad = llvm.add %i, %j overflow<nsw> : i64
  %t = llvm.trunc %i overflow<nuw> : i64 to i32
  %z = llvm.zext nneg %t : i32 to i64
  %m = llvm.intr.fma(%f, %f, %f) : (f32, f32, f32) -> f32
  %m2 = "llvm.intr.vector.reduce.fadd"(%f, %v) {fastmathFlags = #llvm.fastmath<reassoc>} : (f32, vector<8xf32>) -> f32
  %m3 = "llvm.intr.vector.reduce.fmaximum"(%v) : (vector<8xf32>) -> f32
  %msk = llvm.fcmp "olt" %v, %cv : vector<8xf32>
  %ml = llvm.intr.masked.load %p, %msk, %v {alignment = 4 : i32} : (!llvm.ptr, vector<8xi1>, vector<8xf32>) -> vector<8xf32>
  llvm.intr.masked.store %ml, %p, %msk {alignment = 4 : i32} : vector<8xf32>, vector<8xi1> into !llvm.ptr
  "llvm.intr.prefetch"(%p) <{cache = 1 : i32, hint = 3 : i32, rw = 0 : i32}> : (!llvm.ptr) -> ()
  llvm.intr.assume %cmp : i1
  %ee = llvm.extractelement %v[%t : i32] : vector<8xf32>
  %ie = llvm.insertelement %ee, %v[%t : i32] : vector<8xf32>
  %sh = llvm.shufflevector %v, %v [0, 1, -1, 9] : vector<8xf32>
  %ev = llvm.extractvalue %s[0] : !llvm.struct<(f32, i64)>
  %iv = llvm.insertvalue %ev, %s[0] : !llvm.struct<(f32, i64)>
  %al = llvm.alloca %n x f32 {alignment = 64 : i64} : (i64) -> !llvm.ptr
  %sel = llvm.select %cmp, %l, %f : i1, f32
  %cl = llvm.call @g(%i) : (i64) -> i64
  %ci = llvm.call_intrinsic "llvm.x86.avx.rsqrt.ps.256"(%v) : (vector<8xf32>) -> vector<8xf32>
  %ad2 = llvm.mlir.addressof @tab : !llvm.ptr
  %ps = llvm.mlir.poison : f32
  %zr = llvm.mlir.zero : !llvm.ptr
  %pi = llvm.ptrtoint %p : !llvm.ptr to i64
  %fpt = llvm.fptrunc %f : f32 to f16
  %li = llvm.load %q invariant {alignment = 4 : i64} : !llvm.ptr -> f32
  %g2 = llvm.getelementptr %p[4] : (!llvm.ptr) -> !llvm.ptr, f32
  %nx = llvm.add %j, %c0 : i64
  llvm.br ^bb1(%nx : i64)
^bb3:
  llvm.return %c1 : f32
}
llvm.func @v() { llvm.return }
// -----
// intrinsics
llvm.func @v(%a: f32, %i: i32, %v: vector<4xi32>, %w: vector<4xf32>) {
%0 = "llvm.intr.fmuladd"(%a, %a, %a)  : (f32, f32, f32) -> f32
%1 = "llvm.intr.sqrt"(%a)  : (f32) -> f32
%2 = "llvm.intr.fabs"(%a)  : (f32) -> f32
%3 = "llvm.intr.floor"(%a)  : (f32) -> f32
%4 = "llvm.intr.ceil"(%a)  : (f32) -> f32
%5 = "llvm.intr.roundeven"(%a)  : (f32) -> f32
%6 = "llvm.intr.trunc"(%a)  : (f32) -> f32
%7 = "llvm.intr.maximum"(%a, %a)  : (f32, f32) -> f32
%8 = "llvm.intr.maxnum"(%a, %a)  : (f32, f32) -> f32
%9 = "llvm.intr.smax"(%i, %i)  : (i32, i32) -> i32
%10 = "llvm.intr.vector.reduce.add"(%v)  : (vector<4xi32>) -> i32
%11 = "llvm.intr.vector.reduce.smax"(%v)  : (vector<4xi32>) -> i32
%12 = "llvm.intr.vector.reduce.fmax"(%w)  : (vector<4xf32>) -> f32
%13 = "llvm.intr.vector.reduce.fmul"(%a, %w)  : (f32, vector<4xf32>) -> f32
%14 = llvm.fneg %a {fastmathFlags = #llvm.fastmath<fast>} : f32
%15 = llvm.fptosi %a : f32 to i32
%16 = llvm.fpext %a {fastmathFlags = #llvm.fastmath<contract>} : f32 to f64
%18 = "llvm.intr.vector.reduce.fmin"(%w)  : (vector<4xf32>) -> f32
llvm.return }

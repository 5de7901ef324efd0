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

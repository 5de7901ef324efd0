module {
  llvm.func @rows_0(%arg0: !llvm.ptr, %arg1: !llvm.ptr, %arg2: i64, %arg3: i64) {
    %0 = llvm.mlir.constant(1 : i64) : i64
    %1 = llvm.mlir.constant(8 : i64) : i64
    %2 = llvm.mlir.constant(32 : i64) : i64
    %3 = llvm.mlir.constant(0 : i64) : i64
    %4 = llvm.mlir.constant(16 : i64) : i64
    %5 = llvm.mlir.constant(4 : i64) : i64
    %6 = llvm.mlir.constant(64 : i64) : i64
    %7 = llvm.mlir.constant(68 : i64) : i64
    %8 = llvm.mlir.constant(72 : i64) : i64
    %9 = llvm.mlir.constant(128 : i64) : i64
    %10 = llvm.mlir.constant(76 : i64) : i64
    %11 = llvm.mlir.constant(192 : i64) : i64
    %12 = llvm.load %arg0 {alignment = 8 : i64} : !llvm.ptr -> !llvm.ptr
    %13 = llvm.getelementptr %arg0[%1] : (!llvm.ptr, i64) -> !llvm.ptr, i8
    %14 = llvm.load %13 {alignment = 8 : i64} : !llvm.ptr -> !llvm.ptr
    %15 = llvm.load %arg1 {alignment = 8 : i64} : !llvm.ptr -> i64
    %16 = llvm.getelementptr %arg1[%1] : (!llvm.ptr, i64) -> !llvm.ptr, i8
    %17 = llvm.load %16 {alignment = 8 : i64} : !llvm.ptr -> i64
    %18 = llvm.icmp "slt" %arg2, %arg3 : i64
    llvm.cond_br %18, ^bb1(%arg2 : i64), ^bb6
  ^bb1(%arg4: i64):
    %19 = llvm.icmp "slt" %arg4, %15 : i64
    llvm.cond_br %19, ^bb2, ^bb5
  ^bb2:
    %20 = llvm.add %17, %arg4 : i64
    %21 = llvm.mul %arg4, %2 : i64
    llvm.br ^bb3(%3 : i64)
  ^bb3(%arg5: i64):
    %22 = llvm.add %21, %arg5 : i64
    %23 = llvm.getelementptr %14[%22] : (!llvm.ptr, i64) -> !llvm.ptr, i32
    %24 = llvm.getelementptr %23[%6] : (!llvm.ptr, i64) -> !llvm.ptr, i8
    %25 = llvm.load %24 {alignment = 16 : i64} : !llvm.ptr -> f32
    %26 = llvm.mul %arg5, %4 : i64
    %27 = llvm.add %20, %26 : i64
    %28 = llvm.getelementptr %12[%27] : (!llvm.ptr, i64) -> !llvm.ptr, i32
    llvm.store %25, %28 {alignment = 4 : i64} : f32, !llvm.ptr
    %29 = llvm.add %21, %arg5 : i64
    %30 = llvm.getelementptr %14[%29] : (!llvm.ptr, i64) -> !llvm.ptr, i32
    %31 = llvm.getelementptr %30[%7] : (!llvm.ptr, i64) -> !llvm.ptr, i8
    %32 = llvm.load %31 {alignment = 4 : i64} : !llvm.ptr -> f32
    %33 = llvm.mul %arg5, %4 : i64
    %34 = llvm.add %20, %33 : i64
    %35 = llvm.getelementptr %12[%34] : (!llvm.ptr, i64) -> !llvm.ptr, i32
    %36 = llvm.getelementptr %35[%6] : (!llvm.ptr, i64) -> !llvm.ptr, i8
    llvm.store %32, %36 {alignment = 4 : i64} : f32, !llvm.ptr
    %37 = llvm.add %21, %arg5 : i64
    %38 = llvm.getelementptr %14[%37] : (!llvm.ptr, i64) -> !llvm.ptr, i32
    %39 = llvm.getelementptr %38[%8] : (!llvm.ptr, i64) -> !llvm.ptr, i8
    %40 = llvm.load %39 {alignment = 8 : i64} : !llvm.ptr -> f32
    %41 = llvm.mul %arg5, %4 : i64
    %42 = llvm.add %20, %41 : i64
    %43 = llvm.getelementptr %12[%42] : (!llvm.ptr, i64) -> !llvm.ptr, i32
    %44 = llvm.getelementptr %43[%9] : (!llvm.ptr, i64) -> !llvm.ptr, i8
    llvm.store %40, %44 {alignment = 4 : i64} : f32, !llvm.ptr
    %45 = llvm.add %21, %arg5 : i64
    %46 = llvm.getelementptr %14[%45] : (!llvm.ptr, i64) -> !llvm.ptr, i32
    %47 = llvm.getelementptr %46[%10] : (!llvm.ptr, i64) -> !llvm.ptr, i8
    %48 = llvm.load %47 {alignment = 4 : i64} : !llvm.ptr -> f32
    %49 = llvm.mul %arg5, %4 : i64
    %50 = llvm.add %20, %49 : i64
    %51 = llvm.getelementptr %12[%50] : (!llvm.ptr, i64) -> !llvm.ptr, i32
    %52 = llvm.getelementptr %51[%11] : (!llvm.ptr, i64) -> !llvm.ptr, i8
    llvm.store %48, %52 {alignment = 4 : i64} : f32, !llvm.ptr
    %53 = llvm.add %arg5, %5 : i64
    %54 = llvm.icmp "slt" %53, %4 : i64
    llvm.cond_br %54, ^bb3(%53 : i64), ^bb4
  ^bb4:
    llvm.br ^bb5
  ^bb5:
    %55 = llvm.add %arg4, %0 : i64
    %56 = llvm.icmp "slt" %55, %arg3 : i64
    llvm.cond_br %56, ^bb1(%55 : i64), ^bb6
  ^bb6:
    llvm.return
  }
}

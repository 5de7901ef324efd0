#loc2 = loc("tests/fuzz/seeds/ir_text/control_on_tensors.mlir":2:14)
#loc3 = loc("tests/fuzz/seeds/ir_text/control_on_tensors.mlir":2:36)
#loc4 = loc("tests/fuzz/seeds/ir_text/control_on_tensors.mlir":2:44)
#loc5 = loc("tests/fuzz/seeds/ir_text/control_on_tensors.mlir":2:55)
#loc6 = loc("tests/fuzz/seeds/ir_text/control_on_tensors.mlir":2:64)
#loc9 = loc("tests/fuzz/seeds/ir_text/control_on_tensors.mlir":4:20)
#loc10 = loc("tests/fuzz/seeds/ir_text/control_on_tensors.mlir":4:43)
#loc15 = loc("tests/fuzz/seeds/ir_text/control_on_tensors.mlir":10:15)
#loc16 = loc("tests/fuzz/seeds/ir_text/control_on_tensors.mlir":10:19)
#loc18 = loc("tests/fuzz/seeds/ir_text/control_on_tensors.mlir":12:18)
#loc19 = loc("tests/fuzz/seeds/ir_text/control_on_tensors.mlir":12:50)
#loc20 = loc("tests/fuzz/seeds/ir_text/control_on_tensors.mlir":12:59)
#loc23 = loc("tests/fuzz/seeds/ir_text/control_on_tensors.mlir":15:11)
"builtin.module"() ({
  "func.func"() <{function_type = (tensor<8x64xf32>, i1, index, f32, i32) -> tensor<8x64xf32>, sym_name = "f"}> ({
  ^bb0(%arg0: tensor<8x64xf32> loc("tests/fuzz/seeds/ir_text/control_on_tensors.mlir":2:14), %arg1: i1 loc("tests/fuzz/seeds/ir_text/control_on_tensors.mlir":2:36), %arg2: index loc("tests/fuzz/seeds/ir_text/control_on_tensors.mlir":2:44), %arg3: f32 loc("tests/fuzz/seeds/ir_text/control_on_tensors.mlir":2:55), %arg4: i32 loc("tests/fuzz/seeds/ir_text/control_on_tensors.mlir":2:64)):
    %0 = "tensor.empty"() : () -> tensor<8x64xf32> loc(#loc7)
    %1 = "scf.forall"(%0) <{mapping = [#gpu.block<x>], operandSegmentSizes = array<i32: 0, 0, 0, 1>, staticLowerBound = array<i64: 0>, staticStep = array<i64: 1>, staticUpperBound = array<i64: 8>}> ({
    ^bb0(%arg11: index loc("tests/fuzz/seeds/ir_text/control_on_tensors.mlir":4:20), %arg12: tensor<8x64xf32> loc("tests/fuzz/seeds/ir_text/control_on_tensors.mlir":4:43)):
      %4 = "tensor.extract_slice"(%arg0, %arg11) <{operandSegmentSizes = array<i32: 1, 1, 0, 0>, static_offsets = array<i64: -9223372036854775808, 0>, static_sizes = array<i64: 1, 64>, static_strides = array<i64: 1, 1>}> : (tensor<8x64xf32>, index) -> tensor<1x64xf32> loc(#loc11)
      "scf.forall.in_parallel"() ({
        "tensor.parallel_insert_slice"(%4, %arg12, %arg11) <{operandSegmentSizes = array<i32: 1, 1, 1, 0, 0>, static_offsets = array<i64: -9223372036854775808, 0>, static_sizes = array<i64: 1, 64>, static_strides = array<i64: 1, 1>}> : (tensor<1x64xf32>, tensor<8x64xf32>, index) -> () loc(#loc13)
      }) : () -> () loc(#loc12)
    }) {ingot.tol = "x"} : (tensor<8x64xf32>) -> tensor<8x64xf32> loc(#loc8)
    "scf.forall"(%arg2, %arg2) <{operandSegmentSizes = array<i32: 1, 0, 1, 0>, staticLowerBound = array<i64: 0, -9223372036854775808>, staticStep = array<i64: 1, -9223372036854775808>, staticUpperBound = array<i64: 8, 16>}> ({
    ^bb0(%arg9: index loc("tests/fuzz/seeds/ir_text/control_on_tensors.mlir":10:15), %arg10: index loc("tests/fuzz/seeds/ir_text/control_on_tensors.mlir":10:19)):
      "scf.forall.in_parallel"() ({
      ^bb0:
      }) : () -> () loc(#loc14)
    }) : (index, index) -> () loc(#loc14)
    %2:2 = "scf.for"(%arg2, %arg2, %arg2, %arg3, %1) ({
    ^bb0(%arg6: index loc("tests/fuzz/seeds/ir_text/control_on_tensors.mlir":12:18), %arg7: f32 loc("tests/fuzz/seeds/ir_text/control_on_tensors.mlir":12:50), %arg8: tensor<8x64xf32> loc("tests/fuzz/seeds/ir_text/control_on_tensors.mlir":12:59)):
      "scf.yield"(%arg7, %arg8) : (f32, tensor<8x64xf32>) -> () loc(#loc21)
    }) {ingot.fallback = "size"} : (index, index, index, f32, tensor<8x64xf32>) -> (f32, tensor<8x64xf32>) loc(#loc17)
    "scf.for"(%arg4, %arg4, %arg4) ({
    ^bb0(%arg5: i32 loc("tests/fuzz/seeds/ir_text/control_on_tensors.mlir":15:11)):
      "scf.yield"() : () -> () loc(#loc22)
    }) : (i32, i32, i32) -> () loc(#loc22)
    %3 = "scf.if"(%arg1) ({
      "scf.yield"(%arg3) : (f32) -> () loc(#loc25)
    }, {
      "scf.yield"(%2#0) : (f32) -> () loc(#loc26)
    }) : (i1) -> f32 loc(#loc24)
    "scf.if"(%arg1) ({
      "cf.assert"(%arg1) <{msg = "page \22out\22 of range"}> : (i1) -> () loc(#loc28)
      "scf.yield"() : () -> () loc(#loc27)
    }, {
    }) : (i1) -> () loc(#loc27)
    "func.return"(%2#1) : (tensor<8x64xf32>) -> () loc(#loc29)
  }) : () -> () loc(#loc1)
}) : () -> () loc(#loc)
#loc = loc("tests/fuzz/seeds/ir_text/control_on_tensors.mlir":0:0)
#loc1 = loc("tests/fuzz/seeds/ir_text/control_on_tensors.mlir":2:1)
#loc7 = loc("tests/fuzz/seeds/ir_text/control_on_tensors.mlir":3:8)
#loc8 = loc("tests/fuzz/seeds/ir_text/control_on_tensors.mlir":4:8)
#loc11 = loc("tests/fuzz/seeds/ir_text/control_on_tensors.mlir":5:10)
#loc12 = loc("tests/fuzz/seeds/ir_text/control_on_tensors.mlir":6:5)
#loc13 = loc("tests/fuzz/seeds/ir_text/control_on_tensors.mlir":7:7)
#loc14 = loc("tests/fuzz/seeds/ir_text/control_on_tensors.mlir":10:3)
#loc17 = loc("tests/fuzz/seeds/ir_text/control_on_tensors.mlir":12:10)
#loc21 = loc("tests/fuzz/seeds/ir_text/control_on_tensors.mlir":13:5)
#loc22 = loc("tests/fuzz/seeds/ir_text/control_on_tensors.mlir":15:3)
#loc24 = loc("tests/fuzz/seeds/ir_text/control_on_tensors.mlir":17:8)
#loc25 = loc("tests/fuzz/seeds/ir_text/control_on_tensors.mlir":18:5)
#loc26 = loc("tests/fuzz/seeds/ir_text/control_on_tensors.mlir":20:5)
#loc27 = loc("tests/fuzz/seeds/ir_text/control_on_tensors.mlir":22:3)
#loc28 = loc("tests/fuzz/seeds/ir_text/control_on_tensors.mlir":23:5)
#loc29 = loc("tests/fuzz/seeds/ir_text/control_on_tensors.mlir":25:3)


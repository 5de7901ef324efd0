#loc2 = loc("tests/fuzz/seeds/ir_text/generic_with_everything.mlir":4:14)
#loc3 = loc("tests/fuzz/seeds/ir_text/generic_with_everything.mlir":4:37)
#loc4 = loc("tests/fuzz/seeds/ir_text/generic_with_everything.mlir":4:60)
#loc6 = loc("tests/fuzz/seeds/ir_text/generic_with_everything.mlir":7:8)
#loc7 = loc("tests/fuzz/seeds/ir_text/generic_with_everything.mlir":7:17)
#loc8 = loc("tests/fuzz/seeds/ir_text/generic_with_everything.mlir":7:26)
#loc9 = loc("tests/fuzz/seeds/ir_text/generic_with_everything.mlir":7:35)
#loc10 = loc("tests/fuzz/seeds/ir_text/generic_with_everything.mlir":7:44)
#map = affine_map<(d0, d1, d2) -> (d0, d1, d2)>
#map1 = affine_map<(d0, d1, d2) -> (d0, d1, -d2 + 1)>
#map2 = affine_map<(d0, d1, d2) -> ()>
"builtin.module"() ({
  "func.func"() <{function_type = (tensor<8x4x2xf32>, tensor<8x4x2xf32>, f32) -> (tensor<8x4x2xf32>, tensor<8x4x2xf32>), sym_name = "f"}> ({
  ^bb0(%arg0: tensor<8x4x2xf32> loc("tests/fuzz/seeds/ir_text/generic_with_everything.mlir":4:14), %arg1: tensor<8x4x2xf32> loc("tests/fuzz/seeds/ir_text/generic_with_everything.mlir":4:37), %arg2: f32 loc("tests/fuzz/seeds/ir_text/generic_with_everything.mlir":4:60)):
    %0:2 = "linalg.generic"(%arg0, %arg0, %arg2, %arg1, %arg1) <{doc = "rotates", indexing_maps = [#map, #map1, #map2, #map, #map], iterator_types = [#linalg.iterator_type<parallel>, #linalg.iterator_type<parallel>, #linalg.iterator_type<parallel>], library_call = "rope", operandSegmentSizes = array<i32: 3, 2>}> ({
    ^bb0(%arg3: f32 loc("tests/fuzz/seeds/ir_text/generic_with_everything.mlir":7:8), %arg4: f32 loc("tests/fuzz/seeds/ir_text/generic_with_everything.mlir":7:17), %arg5: f32 loc("tests/fuzz/seeds/ir_text/generic_with_everything.mlir":7:26), %arg6: f32 loc("tests/fuzz/seeds/ir_text/generic_with_everything.mlir":7:35), %arg7: f32 loc("tests/fuzz/seeds/ir_text/generic_with_everything.mlir":7:44)):
      %1 = "linalg.index"() <{dim = 2 : i64}> : () -> index loc(#loc11)
      %2 = "arith.mulf"(%arg3, %arg5) <{fastmath = #arith.fastmath<none>}> : (f32, f32) -> f32 loc(#loc12)
      %3 = "arith.addf"(%2, %arg4) <{fastmath = #arith.fastmath<none>}> : (f32, f32) -> f32 loc(#loc13)
      "linalg.yield"(%3, %2) : (f32, f32) -> () loc(#loc14)
    }) {ingot.dequant = "none"} : (tensor<8x4x2xf32>, tensor<8x4x2xf32>, f32, tensor<8x4x2xf32>, tensor<8x4x2xf32>) -> (tensor<8x4x2xf32>, tensor<8x4x2xf32>) loc(#loc5)
    "func.return"(%0#0, %0#1) : (tensor<8x4x2xf32>, tensor<8x4x2xf32>) -> () loc(#loc15)
  }) : () -> () loc(#loc1)
}) : () -> () loc(#loc)
#loc = loc("tests/fuzz/seeds/ir_text/generic_with_everything.mlir":0:0)
#loc1 = loc("tests/fuzz/seeds/ir_text/generic_with_everything.mlir":4:1)
#loc5 = loc("tests/fuzz/seeds/ir_text/generic_with_everything.mlir":5:10)
#loc11 = loc("tests/fuzz/seeds/ir_text/generic_with_everything.mlir":8:10)
#loc12 = loc("tests/fuzz/seeds/ir_text/generic_with_everything.mlir":9:10)
#loc13 = loc("tests/fuzz/seeds/ir_text/generic_with_everything.mlir":10:10)
#loc14 = loc("tests/fuzz/seeds/ir_text/generic_with_everything.mlir":11:5)
#loc15 = loc("tests/fuzz/seeds/ir_text/generic_with_everything.mlir":13:3)


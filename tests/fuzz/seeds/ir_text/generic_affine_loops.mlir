#loc2 = loc("tests/fuzz/seeds/ir_text/affine_loops.mlir":2:14)
#loc3 = loc("tests/fuzz/seeds/ir_text/affine_loops.mlir":2:36)
#loc4 = loc("tests/fuzz/seeds/ir_text/affine_loops.mlir":2:57)
#loc5 = loc("tests/fuzz/seeds/ir_text/affine_loops.mlir":2:68)
#loc7 = loc("tests/fuzz/seeds/ir_text/affine_loops.mlir":3:14)
#loc9 = loc("tests/fuzz/seeds/ir_text/affine_loops.mlir":4:16)
#loc15 = loc("tests/fuzz/seeds/ir_text/affine_loops.mlir":11:14)
#loc17 = loc("tests/fuzz/seeds/ir_text/affine_loops.mlir":13:14)
#loc19 = loc("tests/fuzz/seeds/ir_text/affine_loops.mlir":15:14)
#loc21 = loc("tests/fuzz/seeds/ir_text/affine_loops.mlir":17:20)
#loc22 = loc("tests/fuzz/seeds/ir_text/affine_loops.mlir":17:24)
#loc25 = loc("tests/fuzz/seeds/ir_text/affine_loops.mlir":20:25)
#loc28 = loc("tests/fuzz/seeds/ir_text/affine_loops.mlir":23:19)
#loc29 = loc("tests/fuzz/seeds/ir_text/affine_loops.mlir":23:42)
#map = affine_map<(d0, d1) -> (d0, d1)>
#map1 = affine_map<(d0, d1)[s0] -> (d0, d1 + s0 * 2 - 3)>
#map2 = affine_map<() -> (0)>
#map3 = affine_map<() -> (64)>
#map4 = affine_map<(d0) -> (d0 mod 4, d0 floordiv 2 + 7)>
#map5 = affine_map<(d0) -> (d0, -d0 + 7)>
#map6 = affine_map<() -> (8)>
#map7 = affine_map<(d0) -> (d0, 3)>
#map8 = affine_map<(d0)[s0] -> (d0 + s0, 8)>
#map9 = affine_map<(d0) -> (d0 + 1)>
#map10 = affine_map<()[s0] -> (s0)>
#map11 = affine_map<() -> (-4)>
#map12 = affine_map<() -> (4)>
#map13 = affine_map<() -> (0, 0)>
#map14 = affine_map<() -> (8, 8)>
#map15 = affine_map<()[s0] -> (0, s0)>
#map16 = affine_map<()[s0] -> (8, s0)>
#map17 = affine_map<() -> (32)>
"builtin.module"() ({
  "func.func"() <{function_type = (memref<8x64xf32>, memref<8x8xf32>, index, f32) -> f32, sym_name = "f"}> ({
  ^bb0(%arg0: memref<8x64xf32> loc("tests/fuzz/seeds/ir_text/affine_loops.mlir":2:14), %arg1: memref<8x8xf32> loc("tests/fuzz/seeds/ir_text/affine_loops.mlir":2:36), %arg2: index loc("tests/fuzz/seeds/ir_text/affine_loops.mlir":2:57), %arg3: f32 loc("tests/fuzz/seeds/ir_text/affine_loops.mlir":2:68)):
    "affine.for"() <{lowerBoundMap = #map2, operandSegmentSizes = array<i32: 0, 0, 0>, step = 1 : index, upperBoundMap = #map6}> ({
    ^bb0(%arg12: index loc("tests/fuzz/seeds/ir_text/affine_loops.mlir":3:14)):
      "affine.for"() <{lowerBoundMap = #map2, operandSegmentSizes = array<i32: 0, 0, 0>, step = 8 : index, upperBoundMap = #map3}> ({
      ^bb0(%arg13: index loc("tests/fuzz/seeds/ir_text/affine_loops.mlir":4:16)):
        %3 = "affine.vector_load"(%arg0, %arg12, %arg13) <{map = #map}> : (memref<8x64xf32>, index, index) -> vector<8xf32> loc(#loc10)
        "affine.vector_store"(%3, %arg0, %arg12, %arg13, %arg2) <{map = #map1}> : (vector<8xf32>, memref<8x64xf32>, index, index, index) -> () loc(#loc11)
        "affine.yield"() : () -> () loc(#loc8)
      }) : () -> () loc(#loc8)
      %2 = "affine.load"(%arg0, %arg12) <{map = #map4}> : (memref<8x64xf32>, index) -> f32 loc(#loc12)
      "affine.store"(%2, %arg0, %arg12) <{map = #map5}> : (f32, memref<8x64xf32>, index) -> () loc(#loc13)
      "affine.yield"() : () -> () loc(#loc6)
    }) : () -> () loc(#loc6)
    "affine.for"(%arg2, %arg2, %arg2) <{lowerBoundMap = #map7, operandSegmentSizes = array<i32: 1, 2, 0>, step = 1 : index, upperBoundMap = #map8}> ({
    ^bb0(%arg11: index loc("tests/fuzz/seeds/ir_text/affine_loops.mlir":11:14)):
      "affine.yield"() : () -> () loc(#loc14)
    }) : (index, index, index) -> () loc(#loc14)
    "affine.for"(%arg2, %arg2) <{lowerBoundMap = #map9, operandSegmentSizes = array<i32: 1, 1, 0>, step = 4 : index, upperBoundMap = #map10}> ({
    ^bb0(%arg10: index loc("tests/fuzz/seeds/ir_text/affine_loops.mlir":13:14)):
      "affine.yield"() : () -> () loc(#loc16)
    }) {ingot.fallback = "shape"} : (index, index) -> () loc(#loc16)
    "affine.for"() <{lowerBoundMap = #map11, operandSegmentSizes = array<i32: 0, 0, 0>, step = 1 : index, upperBoundMap = #map12}> ({
    ^bb0(%arg9: index loc("tests/fuzz/seeds/ir_text/affine_loops.mlir":15:14)):
      "affine.yield"() : () -> () loc(#loc18)
    }) : () -> () loc(#loc18)
    "affine.parallel"() <{lowerBoundsGroups = dense<1> : tensor<2xi32>, lowerBoundsMap = #map13, reductions = [], steps = [2, 4], upperBoundsGroups = dense<1> : tensor<2xi32>, upperBoundsMap = #map14}> ({
    ^bb0(%arg7: index loc("tests/fuzz/seeds/ir_text/affine_loops.mlir":17:20), %arg8: index loc("tests/fuzz/seeds/ir_text/affine_loops.mlir":17:24)):
      "affine.store"(%arg3, %arg1, %arg7, %arg8) <{map = #map}> : (f32, memref<8x8xf32>, index, index) -> () loc(#loc23)
      "affine.yield"() : () -> () loc(#loc20)
    }) : () -> () loc(#loc20)
    %0 = "affine.parallel"(%arg2, %arg2) <{lowerBoundsGroups = dense<2> : tensor<1xi32>, lowerBoundsMap = #map15, reductions = [0], steps = [1], upperBoundsGroups = dense<2> : tensor<1xi32>, upperBoundsMap = #map16}> ({
    ^bb0(%arg6: index loc("tests/fuzz/seeds/ir_text/affine_loops.mlir":20:25)):
      "affine.yield"(%arg3) : (f32) -> () loc(#loc26)
    }) : (index, index) -> f32 loc(#loc24)
    %1 = "affine.for"(%arg3) <{lowerBoundMap = #map2, operandSegmentSizes = array<i32: 0, 0, 1>, step = 1 : index, upperBoundMap = #map17}> ({
    ^bb0(%arg4: index loc("tests/fuzz/seeds/ir_text/affine_loops.mlir":23:19), %arg5: f32 loc("tests/fuzz/seeds/ir_text/affine_loops.mlir":23:42)):
      "affine.yield"(%arg5) : (f32) -> () loc(#loc30)
    }) : (f32) -> f32 loc(#loc27)
    "func.return"(%1) : (f32) -> () loc(#loc31)
  }) : () -> () loc(#loc1)
}) : () -> () loc(#loc)
#loc = loc("tests/fuzz/seeds/ir_text/affine_loops.mlir":0:0)
#loc1 = loc("tests/fuzz/seeds/ir_text/affine_loops.mlir":2:1)
#loc6 = loc("tests/fuzz/seeds/ir_text/affine_loops.mlir":3:3)
#loc8 = loc("tests/fuzz/seeds/ir_text/affine_loops.mlir":4:5)
#loc10 = loc("tests/fuzz/seeds/ir_text/affine_loops.mlir":5:12)
#loc11 = loc("tests/fuzz/seeds/ir_text/affine_loops.mlir":6:7)
#loc12 = loc("tests/fuzz/seeds/ir_text/affine_loops.mlir":8:10)
#loc13 = loc("tests/fuzz/seeds/ir_text/affine_loops.mlir":9:5)
#loc14 = loc("tests/fuzz/seeds/ir_text/affine_loops.mlir":11:3)
#loc16 = loc("tests/fuzz/seeds/ir_text/affine_loops.mlir":13:3)
#loc18 = loc("tests/fuzz/seeds/ir_text/affine_loops.mlir":15:3)
#loc20 = loc("tests/fuzz/seeds/ir_text/affine_loops.mlir":17:3)
#loc23 = loc("tests/fuzz/seeds/ir_text/affine_loops.mlir":18:5)
#loc24 = loc("tests/fuzz/seeds/ir_text/affine_loops.mlir":20:8)
#loc26 = loc("tests/fuzz/seeds/ir_text/affine_loops.mlir":21:5)
#loc27 = loc("tests/fuzz/seeds/ir_text/affine_loops.mlir":23:8)
#loc30 = loc("tests/fuzz/seeds/ir_text/affine_loops.mlir":24:5)
#loc31 = loc("tests/fuzz/seeds/ir_text/affine_loops.mlir":26:3)


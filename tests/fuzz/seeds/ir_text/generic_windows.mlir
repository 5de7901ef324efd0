#loc2 = loc("tests/fuzz/seeds/ir_text/windows.mlir":2:14)
#loc3 = loc("tests/fuzz/seeds/ir_text/windows.mlir":2:41)
#loc4 = loc("tests/fuzz/seeds/ir_text/windows.mlir":2:66)
#loc5 = loc("tests/fuzz/seeds/ir_text/windows.mlir":2:91)
#loc6 = loc("tests/fuzz/seeds/ir_text/windows.mlir":3:14)
#loc7 = loc("tests/fuzz/seeds/ir_text/windows.mlir":3:38)
#loc8 = loc("tests/fuzz/seeds/ir_text/windows.mlir":3:66)
#loc10 = loc(unknown)
#map = affine_map<(d0, d1, d2, d3, d4, d5, d6) -> (d0, d1 * 2 + d4, d2 * 2 + d5, d6)>
#map1 = affine_map<(d0, d1, d2, d3, d4, d5, d6) -> (d4, d5, d6, d3)>
#map2 = affine_map<(d0, d1, d2, d3, d4, d5, d6) -> (d0, d1, d2, d3)>
#map3 = affine_map<(d0, d1, d2, d3, d4, d5) -> (d0, d1 + d4, d2 + d5, d3)>
#map4 = affine_map<(d0, d1, d2, d3, d4, d5) -> (d4, d5, d3)>
#map5 = affine_map<(d0, d1, d2, d3, d4, d5) -> (d0, d1, d2, d3)>
#map6 = affine_map<(d0, d1, d2, d3, d4, d5) -> (d0, d1 * 2 + d4, d2 * 2 + d5, d3)>
#map7 = affine_map<(d0, d1, d2, d3, d4, d5) -> (d4, d5)>
"builtin.module"() ({
  "func.func"() <{function_type = (tensor<1x17x17x3xf16>, tensor<3x3x3x8xf16>, tensor<1x8x8x8xf32>, tensor<1x8x8x3xf32>, tensor<3x3x3xf16>, tensor<1x15x15x3xf32>, tensor<1x4x4x3xf32>) -> (), sym_name = "f"}> ({
  ^bb0(%arg0: tensor<1x17x17x3xf16> loc("tests/fuzz/seeds/ir_text/windows.mlir":2:14), %arg1: tensor<3x3x3x8xf16> loc("tests/fuzz/seeds/ir_text/windows.mlir":2:41), %arg2: tensor<1x8x8x8xf32> loc("tests/fuzz/seeds/ir_text/windows.mlir":2:66), %arg3: tensor<1x8x8x3xf32> loc("tests/fuzz/seeds/ir_text/windows.mlir":2:91), %arg4: tensor<3x3x3xf16> loc("tests/fuzz/seeds/ir_text/windows.mlir":3:14), %arg5: tensor<1x15x15x3xf32> loc("tests/fuzz/seeds/ir_text/windows.mlir":3:38), %arg6: tensor<1x4x4x3xf32> loc("tests/fuzz/seeds/ir_text/windows.mlir":3:66)):
    %0 = "linalg.conv_2d_nhwc_hwcf"(%arg0, %arg1, %arg2) <{dilations = dense<1> : vector<2xi64>, operandSegmentSizes = array<i32: 2, 1>, strides = dense<2> : vector<2xi64>}> ({
    ^bb0(%arg13: f16 loc(unknown), %arg14: f16 loc(unknown), %arg15: f32 loc(unknown)):
      %9 = "arith.extf"(%arg13) : (f16) -> f32 loc(#loc10)
      %10 = "arith.extf"(%arg14) : (f16) -> f32 loc(#loc10)
      %11 = "arith.mulf"(%9, %10) <{fastmath = #arith.fastmath<none>}> : (f32, f32) -> f32 loc(#loc10)
      %12 = "arith.addf"(%arg15, %11) <{fastmath = #arith.fastmath<none>}> : (f32, f32) -> f32 loc(#loc10)
      "linalg.yield"(%12) : (f32) -> () loc(#loc10)
    }) {linalg.memoized_indexing_maps = [#map, #map1, #map2]} : (tensor<1x17x17x3xf16>, tensor<3x3x3x8xf16>, tensor<1x8x8x8xf32>) -> tensor<1x8x8x8xf32> loc(#loc9)
    %1 = "linalg.depthwise_conv_2d_nhwc_hwc"(%arg0, %arg4, %arg5) <{operandSegmentSizes = array<i32: 2, 1>}> ({
    ^bb0(%arg10: f16 loc(unknown), %arg11: f16 loc(unknown), %arg12: f32 loc(unknown)):
      %5 = "arith.extf"(%arg10) : (f16) -> f32 loc(#loc10)
      %6 = "arith.extf"(%arg11) : (f16) -> f32 loc(#loc10)
      %7 = "arith.mulf"(%5, %6) <{fastmath = #arith.fastmath<none>}> : (f32, f32) -> f32 loc(#loc10)
      %8 = "arith.addf"(%arg12, %7) <{fastmath = #arith.fastmath<none>}> : (f32, f32) -> f32 loc(#loc10)
      "linalg.yield"(%8) : (f32) -> () loc(#loc10)
    }) {linalg.memoized_indexing_maps = [#map3, #map4, #map5]} : (tensor<1x17x17x3xf16>, tensor<3x3x3xf16>, tensor<1x15x15x3xf32>) -> tensor<1x15x15x3xf32> loc(#loc11)
    %2 = "tensor.empty"() : () -> tensor<2x2xf32> loc(#loc12)
    %3 = "linalg.pooling_nhwc_max"(%arg3, %2, %arg6) <{dilations = dense<1> : tensor<2xi64>, operandSegmentSizes = array<i32: 2, 1>, strides = dense<2> : tensor<2xi64>}> ({
    ^bb0(%arg7: f32 loc(unknown), %arg8: f32 loc(unknown), %arg9: f32 loc(unknown)):
      %4 = "arith.maximumf"(%arg9, %arg7) <{fastmath = #arith.fastmath<none>}> : (f32, f32) -> f32 loc(#loc10)
      "linalg.yield"(%4) : (f32) -> () loc(#loc10)
    }) {linalg.memoized_indexing_maps = [#map6, #map7, #map5]} : (tensor<1x8x8x3xf32>, tensor<2x2xf32>, tensor<1x4x4x3xf32>) -> tensor<1x4x4x3xf32> loc(#loc13)
    "func.return"() : () -> () loc(#loc14)
  }) : () -> () loc(#loc1)
}) : () -> () loc(#loc)
#loc = loc("tests/fuzz/seeds/ir_text/windows.mlir":0:0)
#loc1 = loc("tests/fuzz/seeds/ir_text/windows.mlir":2:1)
#loc9 = loc("tests/fuzz/seeds/ir_text/windows.mlir":4:8)
#loc11 = loc("tests/fuzz/seeds/ir_text/windows.mlir":6:8)
#loc12 = loc("tests/fuzz/seeds/ir_text/windows.mlir":7:8)
#loc13 = loc("tests/fuzz/seeds/ir_text/windows.mlir":8:8)
#loc14 = loc("tests/fuzz/seeds/ir_text/windows.mlir":10:3)


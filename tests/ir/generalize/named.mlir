// every named op, its result used by a call so that mlir-opt keeps it
func.func private @u0(tensor<1x8x8x8xf32>)
func.func private @u1(tensor<1x8x8x3xf32>)
func.func private @u2(tensor<1x8x8x8xf32>)
func.func private @u3(tensor<1x2x4x8x8xf32>)
func.func private @u4(tensor<1x4x4x3xf32>)
func.func private @u5(tensor<1x4x4x3xf32>)
func.func private @u6(tensor<8x32xi32>)
func.func private @u7(tensor<8x32xi32>)
func.func private @u8(tensor<4x64x8xf16>)
func.func private @u9(tensor<8x64x2xf16>)
func.func private @u10(tensor<8x64xf32>)
func.func private @u11(tensor<1x4x4x3xi32>)
func.func private @u12(tensor<2x4x4x8xf32>)
func.func private @u13(tensor<8x64xf32>)
func.func private @v(tensor<8xf16>, tensor<8xi32>)
func.func private @u15(tensor<8x64xf16>)
func.func private @u16(tensor<1x4x4x3xf32>, tensor<1x4x4x3xi32>)
func.func @f(%a: tensor<1x10x10x3xf16>, %w: tensor<3x3x3x8xf16>, %z: tensor<1x8x8x8xf32>, %dw: tensor<3x3x3xf16>, %dz: tensor<1x8x8x3xf32>,
 %na: tensor<1x3x10x10xf16>, %nw: tensor<8x3x3x3xf16>, %nz: tensor<1x8x8x8xf32>, %ga: tensor<1x2x3x10x10xf32>, %gw: tensor<4x2x3x3x3xf32>, %gz: tensor<1x2x4x8x8xf32>,
 %pa: tensor<1x8x8x3xf16>, %pz: tensor<1x4x4x3xf32>, %pw: tensor<2x2xf32>,
 %ia: tensor<8x64xi8>, %ib: tensor<64x32xi8>, %iz: tensor<8x32xi32>, %t: tensor<8x4x64xf16>, %tz: tensor<4x64x8xf16>, %b: tensor<64xf16>, %bz: tensor<8x64x2xf16>, %ca: tensor<8x64xf16>, %cz: tensor<8x64xf32>, %pi: tensor<1x8x8x3xi8>, %piz: tensor<1x4x4x3xi32>,
  %m1: tensor<2x8x4x8xf16>, %m2: tensor<4x8x8x8xf32>, %mz: tensor<2x4x4x8xf32>, %f: f32, %rz: tensor<8xf16>, %ri: tensor<8x64xi32>, %rzi: tensor<8xi32>, %cf: tensor<8x64xf32>, %ch: tensor<8x64xf16>) {
  %0 = linalg.conv_2d_nhwc_hwcf {dilations = dense<1> : tensor<2xi64>, strides = dense<1> : tensor<2xi64>} ins(%a, %w : tensor<1x10x10x3xf16>, tensor<3x3x3x8xf16>) outs(%z : tensor<1x8x8x8xf32>) -> tensor<1x8x8x8xf32>
  call @u0(%0) : (tensor<1x8x8x8xf32>) -> ()
  %1 = linalg.depthwise_conv_2d_nhwc_hwc {dilations = dense<1> : tensor<2xi64>, strides = dense<1> : tensor<2xi64>} ins(%a, %dw : tensor<1x10x10x3xf16>, tensor<3x3x3xf16>) outs(%dz : tensor<1x8x8x3xf32>) -> tensor<1x8x8x3xf32>
  call @u1(%1) : (tensor<1x8x8x3xf32>) -> ()
  %2 = linalg.conv_2d_nchw_fchw {dilations = dense<1> : tensor<2xi64>, strides = dense<1> : tensor<2xi64>} ins(%na, %nw : tensor<1x3x10x10xf16>, tensor<8x3x3x3xf16>) outs(%nz : tensor<1x8x8x8xf32>) -> tensor<1x8x8x8xf32>
  call @u2(%2) : (tensor<1x8x8x8xf32>) -> ()
  %3 = linalg.conv_2d_ngchw_fgchw {dilations = dense<1> : tensor<2xi64>, strides = dense<1> : tensor<2xi64>} ins(%ga, %gw : tensor<1x2x3x10x10xf32>, tensor<4x2x3x3x3xf32>) outs(%gz : tensor<1x2x4x8x8xf32>) -> tensor<1x2x4x8x8xf32>
  call @u3(%3) : (tensor<1x2x4x8x8xf32>) -> ()
  %4 = linalg.pooling_nhwc_max {dilations = dense<1> : tensor<2xi64>, strides = dense<2> : tensor<2xi64>} ins(%pa, %pw : tensor<1x8x8x3xf16>, tensor<2x2xf32>) outs(%pz : tensor<1x4x4x3xf32>) -> tensor<1x4x4x3xf32>
  call @u4(%4) : (tensor<1x4x4x3xf32>) -> ()
  %5 = linalg.pooling_nhwc_sum {dilations = dense<1> : tensor<2xi64>, strides = dense<2> : tensor<2xi64>} ins(%pa, %pw : tensor<1x8x8x3xf16>, tensor<2x2xf32>) outs(%pz : tensor<1x4x4x3xf32>) -> tensor<1x4x4x3xf32>
  call @u5(%5) : (tensor<1x4x4x3xf32>) -> ()
  %6 = linalg.matmul {cast = #linalg.type_fn<cast_unsigned>} ins(%ia, %ib : tensor<8x64xi8>, tensor<64x32xi8>) outs(%iz : tensor<8x32xi32>) -> tensor<8x32xi32>
  call @u6(%6) : (tensor<8x32xi32>) -> ()
  %7 = linalg.matmul ins(%ia, %ib : tensor<8x64xi8>, tensor<64x32xi8>) outs(%iz : tensor<8x32xi32>) -> tensor<8x32xi32>
  call @u7(%7) : (tensor<8x32xi32>) -> ()
  %8 = linalg.transpose ins(%t : tensor<8x4x64xf16>) outs(%tz : tensor<4x64x8xf16>) permutation = [1, 2, 0]
  call @u8(%8) : (tensor<4x64x8xf16>) -> ()
  %9 = linalg.broadcast ins(%b : tensor<64xf16>) outs(%bz : tensor<8x64x2xf16>) dimensions = [0, 2]
  call @u9(%9) : (tensor<8x64x2xf16>) -> ()
  %10 = linalg.copy ins(%ca : tensor<8x64xf16>) outs(%cz : tensor<8x64xf32>) -> tensor<8x64xf32>
  call @u10(%10) : (tensor<8x64xf32>) -> ()
  %11 = linalg.pooling_nhwc_max {dilations = dense<1> : tensor<2xi64>, strides = dense<2> : tensor<2xi64>} ins(%pi, %pw : tensor<1x8x8x3xi8>, tensor<2x2xf32>) outs(%piz : tensor<1x4x4x3xi32>) -> tensor<1x4x4x3xi32>
  call @u11(%11) : (tensor<1x4x4x3xi32>) -> ()
  %12 = linalg.mmt4d ins(%m1, %m2 : tensor<2x8x4x8xf16>, tensor<4x8x8x8xf32>) outs(%mz : tensor<2x4x4x8xf32>) -> tensor<2x4x4x8xf32>
  call @u12(%12) : (tensor<2x4x4x8xf32>) -> ()
  %13 = linalg.fill ins(%f : f32) outs(%cz : tensor<8x64xf32>) -> tensor<8x64xf32>
  call @u13(%13) : (tensor<8x64xf32>) -> ()
  %14:2 = linalg.reduce ins(%ca, %ri : tensor<8x64xf16>, tensor<8x64xi32>) outs(%rz, %rzi : tensor<8xf16>, tensor<8xi32>) dimensions = [1]
    (%in: f16, %ii: i32, %acc: f16, %ai: i32) {
      linalg.yield %in, %ii : f16, i32
    }
  call @v(%14#0, %14#1): (tensor<8xf16>, tensor<8xi32>) -> ()
  %15 = linalg.copy ins(%cf : tensor<8x64xf32>) outs(%ch : tensor<8x64xf16>) -> tensor<8x64xf16>
  call @u15(%15) : (tensor<8x64xf16>) -> ()
  %16 = linalg.pooling_nhwc_min {dilations = dense<1> : tensor<2xi64>, strides = dense<2> : tensor<2xi64>} ins(%pa, %pw : tensor<1x8x8x3xf16>, tensor<2x2xf32>) outs(%pz : tensor<1x4x4x3xf32>) -> tensor<1x4x4x3xf32>
  %17 = linalg.pooling_nhwc_min {dilations = dense<1> : tensor<2xi64>, strides = dense<2> : tensor<2xi64>} ins(%pi, %pw : tensor<1x8x8x3xi8>, tensor<2x2xf32>) outs(%piz : tensor<1x4x4x3xi32>) -> tensor<1x4x4x3xi32>
  call @u16(%16, %17) : (tensor<1x4x4x3xf32>, tensor<1x4x4x3xi32>) -> ()
  return
}
// -----
// every named convolution and pooling, its result used by a call so that mlir-opt keeps it
func.func private @u0(tensor<3xf32>)
func.func private @u1(tensor<5x3xf32>)
func.func private @u2(tensor<2x5x3xf32>)
func.func private @u3(tensor<2x3x4xf32>)
func.func private @u4(tensor<2x4x3xf32>)
func.func private @u5(tensor<2x5x3x4xf32>)
func.func private @u6(tensor<2x5x3x4xf32>)
func.func private @u7(tensor<2x4x5x3xf32>)
func.func private @u8(tensor<2x2x4x5x3xf32>)
func.func private @u9(tensor<2x2x4x5x3xf32>)
func.func private @u10(tensor<2x5x3x2x4xf32>)
func.func private @u11(tensor<2x2x5x3x4xf32>)
func.func private @u12(tensor<2x4x2x5x3xf32>)
func.func private @u13(tensor<2x3x3xf32>)
func.func private @u14(tensor<2x3x3xf32>)
func.func private @u15(tensor<2x3x3x2xf32>)
func.func private @u16(tensor<2x5x3x3xf32>)
func.func private @u17(tensor<2x3x5x3xf32>)
func.func private @u18(tensor<2x5x3x3x2xf32>)
func.func private @u19(tensor<2x2x5x3x3xf32>)
func.func private @u20(tensor<2x3x2x5x3xf32>)
func.func private @u21(tensor<2x2x5x3x3x2xf32>)
func.func private @u22(tensor<2x3x3xf32>)
func.func private @u23(tensor<2x3x3xf32>)
func.func private @u24(tensor<2x3x3xf32>)
func.func private @u25(tensor<2x3x3xf32>)
func.func private @u26(tensor<2x3x3xf32>)
func.func private @u27(tensor<2x5x3x3xf32>)
func.func private @u28(tensor<2x5x3x3xf32>)
func.func private @u29(tensor<2x5x3x3xf32>)
func.func private @u30(tensor<2x3x5x3xf32>)
func.func private @u31(tensor<2x3x5x3xf32>)
func.func private @u32(tensor<2x2x5x3x3xf32>)
func.func private @u33(tensor<2x2x5x3x3xf32>)
func.func private @u34(tensor<2x2x5x3x3xf32>)
func.func @f0(%x: tensor<4xf16>, %w: tensor<2xf32>, %z: tensor<3xf32>) {
  %0 = linalg.conv_1d ins(%x, %w : tensor<4xf16>, tensor<2xf32>) outs(%z : tensor<3xf32>) -> tensor<3xf32>
  call @u0(%0) : (tensor<3xf32>) -> ()
  return
}
func.func @f1(%x: tensor<7x4xf16>, %w: tensor<3x2xf32>, %z: tensor<5x3xf32>) {
  %0 = linalg.conv_2d ins(%x, %w : tensor<7x4xf16>, tensor<3x2xf32>) outs(%z : tensor<5x3xf32>) -> tensor<5x3xf32>
  call @u1(%0) : (tensor<5x3xf32>) -> ()
  return
}
func.func @f2(%x: tensor<3x7x4xf16>, %w: tensor<2x3x2xf32>, %z: tensor<2x5x3xf32>) {
  %0 = linalg.conv_3d ins(%x, %w : tensor<3x7x4xf16>, tensor<2x3x2xf32>) outs(%z : tensor<2x5x3xf32>) -> tensor<2x5x3xf32>
  call @u2(%0) : (tensor<2x5x3xf32>) -> ()
  return
}
func.func @f3(%x: tensor<2x8x3xf16>, %w: tensor<2x3x4xf32>, %z: tensor<2x3x4xf32>) {
  %0 = linalg.conv_1d_nwc_wcf {dilations = dense<[1]> : tensor<1xi64>, strides = dense<[3]> : tensor<1xi64>} ins(%x, %w : tensor<2x8x3xf16>, tensor<2x3x4xf32>) outs(%z : tensor<2x3x4xf32>) -> tensor<2x3x4xf32>
  call @u3(%0) : (tensor<2x3x4xf32>) -> ()
  return
}
func.func @f4(%x: tensor<2x3x8xf16>, %w: tensor<4x3x2xf32>, %z: tensor<2x4x3xf32>) {
  %0 = linalg.conv_1d_ncw_fcw {dilations = dense<[1]> : tensor<1xi64>, strides = dense<[3]> : tensor<1xi64>} ins(%x, %w : tensor<2x3x8xf16>, tensor<4x3x2xf32>) outs(%z : tensor<2x4x3xf32>) -> tensor<2x4x3xf32>
  call @u4(%0) : (tensor<2x4x3xf32>) -> ()
  return
}
func.func @f5(%x: tensor<2x13x8x3xf16>, %w: tensor<3x2x3x4xf32>, %z: tensor<2x5x3x4xf32>) {
  %0 = linalg.conv_2d_nhwc_hwcf {dilations = dense<[2, 1]> : tensor<2xi64>, strides = dense<[2, 3]> : tensor<2xi64>} ins(%x, %w : tensor<2x13x8x3xf16>, tensor<3x2x3x4xf32>) outs(%z : tensor<2x5x3x4xf32>) -> tensor<2x5x3x4xf32>
  call @u5(%0) : (tensor<2x5x3x4xf32>) -> ()
  return
}
func.func @f6(%x: tensor<2x13x8x3xf16>, %w: tensor<4x3x2x3xf32>, %z: tensor<2x5x3x4xf32>) {
  %0 = linalg.conv_2d_nhwc_fhwc {dilations = dense<[2, 1]> : tensor<2xi64>, strides = dense<[2, 3]> : tensor<2xi64>} ins(%x, %w : tensor<2x13x8x3xf16>, tensor<4x3x2x3xf32>) outs(%z : tensor<2x5x3x4xf32>) -> tensor<2x5x3x4xf32>
  call @u6(%0) : (tensor<2x5x3x4xf32>) -> ()
  return
}
func.func @f7(%x: tensor<2x3x13x8xf16>, %w: tensor<4x3x3x2xf32>, %z: tensor<2x4x5x3xf32>) {
  %0 = linalg.conv_2d_nchw_fchw {dilations = dense<[2, 1]> : tensor<2xi64>, strides = dense<[2, 3]> : tensor<2xi64>} ins(%x, %w : tensor<2x3x13x8xf16>, tensor<4x3x3x2xf32>) outs(%z : tensor<2x4x5x3xf32>) -> tensor<2x4x5x3xf32>
  call @u7(%0) : (tensor<2x4x5x3xf32>) -> ()
  return
}
func.func @f8(%x: tensor<2x2x3x13x8xf16>, %w: tensor<4x2x3x3x2xf32>, %z: tensor<2x2x4x5x3xf32>) {
  %0 = linalg.conv_2d_ngchw_fgchw {dilations = dense<[2, 1]> : tensor<2xi64>, strides = dense<[2, 3]> : tensor<2xi64>} ins(%x, %w : tensor<2x2x3x13x8xf16>, tensor<4x2x3x3x2xf32>) outs(%z : tensor<2x2x4x5x3xf32>) -> tensor<2x2x4x5x3xf32>
  call @u8(%0) : (tensor<2x2x4x5x3xf32>) -> ()
  return
}
func.func @f9(%x: tensor<2x2x3x13x8xf16>, %w: tensor<2x4x3x3x2xf32>, %z: tensor<2x2x4x5x3xf32>) {
  %0 = linalg.conv_2d_ngchw_gfchw {dilations = dense<[2, 1]> : tensor<2xi64>, strides = dense<[2, 3]> : tensor<2xi64>} ins(%x, %w : tensor<2x2x3x13x8xf16>, tensor<2x4x3x3x2xf32>) outs(%z : tensor<2x2x4x5x3xf32>) -> tensor<2x2x4x5x3xf32>
  call @u9(%0) : (tensor<2x2x4x5x3xf32>) -> ()
  return
}
func.func @f10(%x: tensor<2x13x8x2x3xf16>, %w: tensor<2x4x3x2x3xf32>, %z: tensor<2x5x3x2x4xf32>) {
  %0 = linalg.conv_2d_nhwgc_gfhwc {dilations = dense<[2, 1]> : tensor<2xi64>, strides = dense<[2, 3]> : tensor<2xi64>} ins(%x, %w : tensor<2x13x8x2x3xf16>, tensor<2x4x3x2x3xf32>) outs(%z : tensor<2x5x3x2x4xf32>) -> tensor<2x5x3x2x4xf32>
  call @u10(%0) : (tensor<2x5x3x2x4xf32>) -> ()
  return
}
func.func @f11(%x: tensor<2x3x13x8x3xf16>, %w: tensor<2x3x2x3x4xf32>, %z: tensor<2x2x5x3x4xf32>) {
  %0 = linalg.conv_3d_ndhwc_dhwcf {dilations = dense<[1, 2, 1]> : tensor<3xi64>, strides = dense<[1, 2, 3]> : tensor<3xi64>} ins(%x, %w : tensor<2x3x13x8x3xf16>, tensor<2x3x2x3x4xf32>) outs(%z : tensor<2x2x5x3x4xf32>) -> tensor<2x2x5x3x4xf32>
  call @u11(%0) : (tensor<2x2x5x3x4xf32>) -> ()
  return
}
func.func @f12(%x: tensor<2x3x3x13x8xf16>, %w: tensor<4x3x2x3x2xf32>, %z: tensor<2x4x2x5x3xf32>) {
  %0 = linalg.conv_3d_ncdhw_fcdhw {dilations = dense<[1, 2, 1]> : tensor<3xi64>, strides = dense<[1, 2, 3]> : tensor<3xi64>} ins(%x, %w : tensor<2x3x3x13x8xf16>, tensor<4x3x2x3x2xf32>) outs(%z : tensor<2x4x2x5x3xf32>) -> tensor<2x4x2x5x3xf32>
  call @u12(%0) : (tensor<2x4x2x5x3xf32>) -> ()
  return
}
func.func @f13(%x: tensor<2x8x3xf16>, %w: tensor<2x3xf32>, %z: tensor<2x3x3xf32>) {
  %0 = linalg.depthwise_conv_1d_nwc_wc {dilations = dense<[1]> : tensor<1xi64>, strides = dense<[3]> : tensor<1xi64>} ins(%x, %w : tensor<2x8x3xf16>, tensor<2x3xf32>) outs(%z : tensor<2x3x3xf32>) -> tensor<2x3x3xf32>
  call @u13(%0) : (tensor<2x3x3xf32>) -> ()
  return
}
func.func @f14(%x: tensor<2x3x8xf16>, %w: tensor<3x2xf32>, %z: tensor<2x3x3xf32>) {
  %0 = linalg.depthwise_conv_1d_ncw_cw {dilations = dense<[1]> : tensor<1xi64>, strides = dense<[3]> : tensor<1xi64>} ins(%x, %w : tensor<2x3x8xf16>, tensor<3x2xf32>) outs(%z : tensor<2x3x3xf32>) -> tensor<2x3x3xf32>
  call @u14(%0) : (tensor<2x3x3xf32>) -> ()
  return
}
func.func @f15(%x: tensor<2x8x3xf16>, %w: tensor<2x3x2xf32>, %z: tensor<2x3x3x2xf32>) {
  %0 = linalg.depthwise_conv_1d_nwc_wcm {dilations = dense<[1]> : tensor<1xi64>, strides = dense<[3]> : tensor<1xi64>} ins(%x, %w : tensor<2x8x3xf16>, tensor<2x3x2xf32>) outs(%z : tensor<2x3x3x2xf32>) -> tensor<2x3x3x2xf32>
  call @u15(%0) : (tensor<2x3x3x2xf32>) -> ()
  return
}
func.func @f16(%x: tensor<2x13x8x3xf16>, %w: tensor<3x2x3xf32>, %z: tensor<2x5x3x3xf32>) {
  %0 = linalg.depthwise_conv_2d_nhwc_hwc {dilations = dense<[2, 1]> : tensor<2xi64>, strides = dense<[2, 3]> : tensor<2xi64>} ins(%x, %w : tensor<2x13x8x3xf16>, tensor<3x2x3xf32>) outs(%z : tensor<2x5x3x3xf32>) -> tensor<2x5x3x3xf32>
  call @u16(%0) : (tensor<2x5x3x3xf32>) -> ()
  return
}
func.func @f17(%x: tensor<2x3x13x8xf16>, %w: tensor<3x3x2xf32>, %z: tensor<2x3x5x3xf32>) {
  %0 = linalg.depthwise_conv_2d_nchw_chw {dilations = dense<[2, 1]> : tensor<2xi64>, strides = dense<[2, 3]> : tensor<2xi64>} ins(%x, %w : tensor<2x3x13x8xf16>, tensor<3x3x2xf32>) outs(%z : tensor<2x3x5x3xf32>) -> tensor<2x3x5x3xf32>
  call @u17(%0) : (tensor<2x3x5x3xf32>) -> ()
  return
}
func.func @f18(%x: tensor<2x13x8x3xf16>, %w: tensor<3x2x3x2xf32>, %z: tensor<2x5x3x3x2xf32>) {
  %0 = linalg.depthwise_conv_2d_nhwc_hwcm {dilations = dense<[2, 1]> : tensor<2xi64>, strides = dense<[2, 3]> : tensor<2xi64>} ins(%x, %w : tensor<2x13x8x3xf16>, tensor<3x2x3x2xf32>) outs(%z : tensor<2x5x3x3x2xf32>) -> tensor<2x5x3x3x2xf32>
  call @u18(%0) : (tensor<2x5x3x3x2xf32>) -> ()
  return
}
func.func @f19(%x: tensor<2x3x13x8x3xf16>, %w: tensor<2x3x2x3xf32>, %z: tensor<2x2x5x3x3xf32>) {
  %0 = linalg.depthwise_conv_3d_ndhwc_dhwc {dilations = dense<[1, 2, 1]> : tensor<3xi64>, strides = dense<[1, 2, 3]> : tensor<3xi64>} ins(%x, %w : tensor<2x3x13x8x3xf16>, tensor<2x3x2x3xf32>) outs(%z : tensor<2x2x5x3x3xf32>) -> tensor<2x2x5x3x3xf32>
  call @u19(%0) : (tensor<2x2x5x3x3xf32>) -> ()
  return
}
func.func @f20(%x: tensor<2x3x3x13x8xf16>, %w: tensor<3x2x3x2xf32>, %z: tensor<2x3x2x5x3xf32>) {
  %0 = linalg.depthwise_conv_3d_ncdhw_cdhw {dilations = dense<[1, 2, 1]> : tensor<3xi64>, strides = dense<[1, 2, 3]> : tensor<3xi64>} ins(%x, %w : tensor<2x3x3x13x8xf16>, tensor<3x2x3x2xf32>) outs(%z : tensor<2x3x2x5x3xf32>) -> tensor<2x3x2x5x3xf32>
  call @u20(%0) : (tensor<2x3x2x5x3xf32>) -> ()
  return
}
func.func @f21(%x: tensor<2x3x13x8x3xf16>, %w: tensor<2x3x2x3x2xf32>, %z: tensor<2x2x5x3x3x2xf32>) {
  %0 = linalg.depthwise_conv_3d_ndhwc_dhwcm {dilations = dense<[1, 2, 1]> : tensor<3xi64>, strides = dense<[1, 2, 3]> : tensor<3xi64>} ins(%x, %w : tensor<2x3x13x8x3xf16>, tensor<2x3x2x3x2xf32>) outs(%z : tensor<2x2x5x3x3x2xf32>) -> tensor<2x2x5x3x3x2xf32>
  call @u21(%0) : (tensor<2x2x5x3x3x2xf32>) -> ()
  return
}
func.func @f22(%x: tensor<2x8x3xf16>, %w: tensor<2xf32>, %z: tensor<2x3x3xf32>) {
  %0 = linalg.pooling_nwc_max {dilations = dense<[1]> : tensor<1xi64>, strides = dense<[3]> : tensor<1xi64>} ins(%x, %w : tensor<2x8x3xf16>, tensor<2xf32>) outs(%z : tensor<2x3x3xf32>) -> tensor<2x3x3xf32>
  call @u22(%0) : (tensor<2x3x3xf32>) -> ()
  return
}
func.func @f23(%x: tensor<2x8x3xf16>, %w: tensor<2xf32>, %z: tensor<2x3x3xf32>) {
  %0 = linalg.pooling_nwc_min {dilations = dense<[1]> : tensor<1xi64>, strides = dense<[3]> : tensor<1xi64>} ins(%x, %w : tensor<2x8x3xf16>, tensor<2xf32>) outs(%z : tensor<2x3x3xf32>) -> tensor<2x3x3xf32>
  call @u23(%0) : (tensor<2x3x3xf32>) -> ()
  return
}
func.func @f24(%x: tensor<2x8x3xf16>, %w: tensor<2xf32>, %z: tensor<2x3x3xf32>) {
  %0 = linalg.pooling_nwc_sum {dilations = dense<[1]> : tensor<1xi64>, strides = dense<[3]> : tensor<1xi64>} ins(%x, %w : tensor<2x8x3xf16>, tensor<2xf32>) outs(%z : tensor<2x3x3xf32>) -> tensor<2x3x3xf32>
  call @u24(%0) : (tensor<2x3x3xf32>) -> ()
  return
}
func.func @f25(%x: tensor<2x3x8xf16>, %w: tensor<2xf32>, %z: tensor<2x3x3xf32>) {
  %0 = linalg.pooling_ncw_max {dilations = dense<[1]> : tensor<1xi64>, strides = dense<[3]> : tensor<1xi64>} ins(%x, %w : tensor<2x3x8xf16>, tensor<2xf32>) outs(%z : tensor<2x3x3xf32>) -> tensor<2x3x3xf32>
  call @u25(%0) : (tensor<2x3x3xf32>) -> ()
  return
}
func.func @f26(%x: tensor<2x3x8xf16>, %w: tensor<2xf32>, %z: tensor<2x3x3xf32>) {
  %0 = linalg.pooling_ncw_sum {dilations = dense<[1]> : tensor<1xi64>, strides = dense<[3]> : tensor<1xi64>} ins(%x, %w : tensor<2x3x8xf16>, tensor<2xf32>) outs(%z : tensor<2x3x3xf32>) -> tensor<2x3x3xf32>
  call @u26(%0) : (tensor<2x3x3xf32>) -> ()
  return
}
func.func @f27(%x: tensor<2x13x8x3xf16>, %w: tensor<3x2xf32>, %z: tensor<2x5x3x3xf32>) {
  %0 = linalg.pooling_nhwc_max {dilations = dense<[2, 1]> : tensor<2xi64>, strides = dense<[2, 3]> : tensor<2xi64>} ins(%x, %w : tensor<2x13x8x3xf16>, tensor<3x2xf32>) outs(%z : tensor<2x5x3x3xf32>) -> tensor<2x5x3x3xf32>
  call @u27(%0) : (tensor<2x5x3x3xf32>) -> ()
  return
}
func.func @f28(%x: tensor<2x13x8x3xf16>, %w: tensor<3x2xf32>, %z: tensor<2x5x3x3xf32>) {
  %0 = linalg.pooling_nhwc_min {dilations = dense<[2, 1]> : tensor<2xi64>, strides = dense<[2, 3]> : tensor<2xi64>} ins(%x, %w : tensor<2x13x8x3xf16>, tensor<3x2xf32>) outs(%z : tensor<2x5x3x3xf32>) -> tensor<2x5x3x3xf32>
  call @u28(%0) : (tensor<2x5x3x3xf32>) -> ()
  return
}
func.func @f29(%x: tensor<2x13x8x3xf16>, %w: tensor<3x2xf32>, %z: tensor<2x5x3x3xf32>) {
  %0 = linalg.pooling_nhwc_sum {dilations = dense<[2, 1]> : tensor<2xi64>, strides = dense<[2, 3]> : tensor<2xi64>} ins(%x, %w : tensor<2x13x8x3xf16>, tensor<3x2xf32>) outs(%z : tensor<2x5x3x3xf32>) -> tensor<2x5x3x3xf32>
  call @u29(%0) : (tensor<2x5x3x3xf32>) -> ()
  return
}
func.func @f30(%x: tensor<2x3x13x8xf16>, %w: tensor<3x2xf32>, %z: tensor<2x3x5x3xf32>) {
  %0 = linalg.pooling_nchw_max {dilations = dense<[2, 1]> : tensor<2xi64>, strides = dense<[2, 3]> : tensor<2xi64>} ins(%x, %w : tensor<2x3x13x8xf16>, tensor<3x2xf32>) outs(%z : tensor<2x3x5x3xf32>) -> tensor<2x3x5x3xf32>
  call @u30(%0) : (tensor<2x3x5x3xf32>) -> ()
  return
}
func.func @f31(%x: tensor<2x3x13x8xf16>, %w: tensor<3x2xf32>, %z: tensor<2x3x5x3xf32>) {
  %0 = linalg.pooling_nchw_sum {dilations = dense<[2, 1]> : tensor<2xi64>, strides = dense<[2, 3]> : tensor<2xi64>} ins(%x, %w : tensor<2x3x13x8xf16>, tensor<3x2xf32>) outs(%z : tensor<2x3x5x3xf32>) -> tensor<2x3x5x3xf32>
  call @u31(%0) : (tensor<2x3x5x3xf32>) -> ()
  return
}
func.func @f32(%x: tensor<2x3x13x8x3xf16>, %w: tensor<2x3x2xf32>, %z: tensor<2x2x5x3x3xf32>) {
  %0 = linalg.pooling_ndhwc_max {dilations = dense<[1, 2, 1]> : tensor<3xi64>, strides = dense<[1, 2, 3]> : tensor<3xi64>} ins(%x, %w : tensor<2x3x13x8x3xf16>, tensor<2x3x2xf32>) outs(%z : tensor<2x2x5x3x3xf32>) -> tensor<2x2x5x3x3xf32>
  call @u32(%0) : (tensor<2x2x5x3x3xf32>) -> ()
  return
}
func.func @f33(%x: tensor<2x3x13x8x3xf16>, %w: tensor<2x3x2xf32>, %z: tensor<2x2x5x3x3xf32>) {
  %0 = linalg.pooling_ndhwc_min {dilations = dense<[1, 2, 1]> : tensor<3xi64>, strides = dense<[1, 2, 3]> : tensor<3xi64>} ins(%x, %w : tensor<2x3x13x8x3xf16>, tensor<2x3x2xf32>) outs(%z : tensor<2x2x5x3x3xf32>) -> tensor<2x2x5x3x3xf32>
  call @u33(%0) : (tensor<2x2x5x3x3xf32>) -> ()
  return
}
func.func @f34(%x: tensor<2x3x13x8x3xf16>, %w: tensor<2x3x2xf32>, %z: tensor<2x2x5x3x3xf32>) {
  %0 = linalg.pooling_ndhwc_sum {dilations = dense<[1, 2, 1]> : tensor<3xi64>, strides = dense<[1, 2, 3]> : tensor<3xi64>} ins(%x, %w : tensor<2x3x13x8x3xf16>, tensor<2x3x2xf32>) outs(%z : tensor<2x2x5x3x3xf32>) -> tensor<2x2x5x3x3xf32>
  call @u34(%0) : (tensor<2x2x5x3x3xf32>) -> ()
  return
}

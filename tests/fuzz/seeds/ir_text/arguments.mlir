// arguments
func.func @f(%a: tensor<8xf32> {bufferization.writable = true, ingot.param = "w"}, %b: tensor<8xf32> {bufferization.buffer_layout = affine_map<(d0) -> (d0)>}) -> tensor<8xf32> attributes {llvm.emit_c_interface} {
  return %a : tensor<8xf32>
}

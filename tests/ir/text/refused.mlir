// missing_comma
func.func @f(%a: f32) {
  // expected-error@+1 {{expected ',', not '%a'}}
  %0 = arith.addf %a %a : f32
  return
}
// -----
// unknown_op
func.func @f(%a: f32) {
  // expected-error@+1 {{unknown operation arith.adf}}
  %0 = arith.adf %a, %a : f32
  return
}
// -----
// unknown_dialect
func.func @f(%a: f32) {
  // expected-error@+1 {{unknown dialect arit}}
  %0 = arit.addf %a, %a : f32
  return
}
// -----
// outside_the_subset
func.func @f(%a: tensor<8xf32>) {
  // expected-error@+1 {{operation linalg.exp is not used}}
  %0 = linalg.exp ins(%a : tensor<8xf32>) outs(%a : tensor<8xf32>) -> tensor<8xf32>
  return
}
// -----
// foreign_dialect
func.func @f() {
  // expected-error@+1 {{dialect gpu is not used here}}
  gpu.barrier
  return
}
// -----
// unknown_attribute
func.func @f() {
  // expected-error@+1 {{memref.alloc has no attribute aligment}}
  %0 = memref.alloc() {aligment = 64 : i64} : memref<8xf32>
  return
}
// -----
// attribute_of_an_unknown_dialect
func.func @f() {
  // expected-error@+1 {{unknown dialect foo}}
  %0 = memref.alloc() {foo.bar = 64 : i64} : memref<8xf32>
  return
}
// -----
// attribute_twice
func.func @f() {
  // expected-error@+1 {{attribute alignment is given twice}}
  %0 = memref.alloc() {alignment = 64 : i64, alignment = 32 : i64} : memref<8xf32>
  return
}
// -----
// wrong_keyword
func.func @f(%a: f32) {
  // expected-error@+1 {{predicate cannot be 'gt'}}
  %0 = arith.cmpf gt, %a, %a : f32
  return
}
// -----
// unknown_type
// expected-error@+1 {{unknown type float32}}
func.func private @f(tensor<4xfloat32>)
// -----
// signed_type
// expected-error@+1 {{type si32 is not used: integers are signless, write i32}}
func.func private @f(si32)
// -----
// odd_width
// expected-error@+1 {{type i7 is not used}}
func.func private @f(i7)
// -----
// small_float
// expected-error@+1 {{type f8E5M2 is not used}}
func.func private @f(tensor<4xf8E5M2>)
// -----
// layout_by_map
// expected-error@+1 {{layout affine_map of a memref is not used}}
func.func private @f(memref<8x4xf32, affine_map<(i, j) -> (j, i)>>)
// -----
// too_large
// expected-error@+1 {{more than 2^48 elements}}
func.func private @f(tensor<1000000x1000000x1000000xf32>)
// -----
// undeclared
func.func @f() -> f32 {
  // expected-error@+1 {{undeclared value %x}}
  return %x : f32
}
// -----
// used_as_another_type
func.func @f(%a: f32, %b: f16) {
  // expected-error@+1 {{value %b is used as f32, but it is f16}}
  %0 = arith.addf %a, %b : f32
  return
}
// -----
// defined_twice
func.func @f(%a: f32) {
  %0 = arith.addf %a, %a : f32
  // expected-error@+1 {{value %0 is defined twice}}
  %0 = arith.addf %a, %a : f32
  return
}
// -----
// out_of_scope
func.func @f(%p: i1, %a: f32) {
  scf.if %p {
    %0 = arith.addf %a, %a : f32
  }
  // expected-error@+1 {{undeclared value %0}}
  %1 = arith.addf %0, %a : f32
  return
}
// -----
// isolated
func.func @f(%a: f32) {
  return
}
func.func @g() -> f32 {
  // expected-error@+1 {{undeclared value %a}}
  return %a : f32
}
// -----
// wrong_number_of_results
func.func @f(%a: f32) {
  // expected-error@+1 {{arith.addf has 1 results, not 2}}
  %0:2 = arith.addf %a, %a : f32
  return
}
// -----
// no_such_result
func.func @f(%a: vector<2xf32>) -> f32 {
  %0:2 = vector.to_elements %a : vector<2xf32>
  // expected-error@+1 {{there is no #2}}
  return %0#2 : f32
}
// -----
// constants
func.func @f() {
  // expected-error@+1 {{256 does not fit in 8 bits}}
  %0 = arith.constant 256 : i8
  return
}
// -----
// infinite_constant
func.func @f() {
  // expected-error@+1 {{70000.0 is infinite in this type}}
  %0 = arith.constant 70000.0 : f16
  return
}
// -----
// integer_for_a_float
func.func @f() {
  // expected-error@+1 {{expected a float}}
  %0 = arith.constant 1 : f32
  return
}
// -----
// ragged
func.func @f() {
  // expected-error@+1 {{list of 1 elements where the others have 2}}
  %0 = arith.constant dense<[[1, 2], [3]]> : tensor<2x2xi32>
  return
}
// -----
// wrong_shape
func.func @f() {
  // expected-error@+1 {{do not have the shape of the type}}
  %0 = arith.constant dense<[1, 2, 3]> : tensor<2xi32>
  return
}
// -----
// not_affine
// expected-error@+1 {{not affine}}
func.func private @f() attributes {ingot.a = affine_map<(d0, d1) -> (d0 * d1)>}
// -----
// division_by_zero
// expected-error@+1 {{divisors are at least 1}}
func.func private @f() attributes {ingot.a = affine_map<(d0) -> (d0 floordiv 0)>}
// -----
// undefined_block
llvm.func @f() {
  // expected-error@+1 {{block ^bb1 is not defined}}
  llvm.br ^bb1
}
// -----
// undefined_alias
// expected-error@+1 {{attribute alias #nope is not defined}}
func.func private @f() attributes {ingot.a = #nope}
// -----
// undefined_location
func.func @f() {
  // expected-error@+1 {{location alias #nope is not defined}}
  return loc(#nope)
}
// -----
// resource
func.func @f() {
  // expected-error@+1 {{attribute dense_resource is not used}}
  %0 = arith.constant dense_resource<blob> : tensor<4xf32>
  return
}
// -----
// unclosed
func.func @f() {
  // expected-error@+2 {{expected '}'}}
  return
// -----
// generic_form_with_too_few_operands
func.func @f(%a: f32) {
  // expected-error@+1 {{arith.addf has a wrong number of operands}}
  %0 = "arith.addf"(%a) : (f32) -> f32
  return
}
// -----
// generic_form_without_its_attribute
func.func @f(%a: f32) {
  // expected-error@+1 {{arith.cmpf lacks its attribute predicate}}
  %0 = "arith.cmpf"(%a, %a) : (f32, f32) -> i1
  return
}
// -----
// generic_form_with_a_wrong_attribute
func.func @f() {
  // expected-error@+1 {{attribute msg has a value of the wrong kind}}
  "cf.assert"(%c) <{msg = 1 : i32}> : (i1) -> ()
  %c = arith.constant true
  return
}
// -----
// unclosed_string
func.func @f() {
  // expected-error@+1 {{expected}}
  cf.assert %c, "no end
  return
}
// -----
// nested_reference
func.func @f() {
  // expected-error@+1 {{nested symbol references}}
  func.call @a::@b() : () -> ()
  return
}
// -----
// scalable_size_behind_others
// expected-error@+1 {{scalable size is not used}}
func.func @f(%a: vector<1x3x[2]x2xf16>) {
  return
}

// aliases
#numbers = [1, 2, 3]
#more = [#numbers, #numbers]
!row = tensor<4x8xf32>
func.func @f(%a: !row) -> !row attributes {ingot.a = #more} {
  return %a : !row
}

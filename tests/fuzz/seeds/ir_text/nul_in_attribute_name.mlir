func.func private @f() attributes {ingot.a = {"x\00.y" = 1}, "ingot.b\00c"}

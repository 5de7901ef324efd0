// Which intrinsics a CPU level has. LLVM aborts the process on an intrinsic without its feature and
// turns a misspelt one into an undefined symbol, so both are refused here, before selection.
#include "codegen/codegen_internal.h"

#include <string.h>

typedef struct IntrinsicFeature {
    const char *name;
    uint32_t any_of; // CPU_HAS_* bits, one of which selects it; 0: every level
} IntrinsicFeature;

static const IntrinsicFeature x86_intrinsics[] = {
    {"llvm.x86.avx2.pmadd.ub.sw", CPU_HAS_AVX2},
    {"llvm.x86.avx2.pmadd.wd", CPU_HAS_AVX2},
    {"llvm.x86.avx2.pshuf.b", CPU_HAS_AVX2},
    {"llvm.x86.avx2.psign.b", CPU_HAS_AVX2},
    {"llvm.x86.avx2.permd", CPU_HAS_AVX2},
    {"llvm.x86.avx512.pmaddubs.w.512", CPU_HAS_AVX512},
    {"llvm.x86.avx512.pmaddw.d.512", CPU_HAS_AVX512},
    {"llvm.x86.avx512.pshuf.b.512", CPU_HAS_AVX512},
    {"llvm.x86.avx512.vpdpbusd.128", CPU_HAS_AVX512VNNI | CPU_HAS_AVXVNNI},
    {"llvm.x86.avx512.vpdpbusd.256", CPU_HAS_AVX512VNNI | CPU_HAS_AVXVNNI},
    {"llvm.x86.avx512.vpdpbusd.512", CPU_HAS_AVX512VNNI},
    {"llvm.x86.avx512.vpdpwssd.256", CPU_HAS_AVX512VNNI | CPU_HAS_AVXVNNI},
    {"llvm.x86.avx512.vpdpwssd.512", CPU_HAS_AVX512VNNI},
    {"llvm.x86.avx512bf16.dpbf16ps.128", CPU_HAS_AVX512BF16},
    {"llvm.x86.avx512bf16.dpbf16ps.256", CPU_HAS_AVX512BF16},
    {"llvm.x86.avx512bf16.dpbf16ps.512", CPU_HAS_AVX512BF16},
    {"llvm.x86.avx512.permvar.qi.512", CPU_HAS_AVX512VBMI},
    {"llvm.x86.avx512.vpermi2var.qi.512", CPU_HAS_AVX512VBMI},
    {"llvm.x86.vgf2p8affineqb.128", CPU_HAS_GFNI},
    {"llvm.x86.vgf2p8affineqb.256", CPU_HAS_GFNI},
    {"llvm.x86.vgf2p8affineqb.512", CPU_HAS_GFNI},
};

// Intrinsics of every target, by the start of their name; they select to instructions at every level.
static const char *const generic_intrinsics[] = {
    "llvm.fma.", "llvm.sqrt.", "llvm.fabs.", "llvm.floor.", "llvm.ceil.", "llvm.roundeven.",
    "llvm.trunc.", "llvm.copysign.", "llvm.maximum.", "llvm.minimum.", "llvm.maxnum.",
    "llvm.minnum.", "llvm.smax.", "llvm.smin.", "llvm.umax.", "llvm.umin.", "llvm.abs.",
    "llvm.ctpop.", "llvm.ctlz.", "llvm.cttz.", "llvm.fshl.", "llvm.fshr.", "llvm.sadd.sat.",
    "llvm.uadd.sat.", "llvm.ssub.sat.", "llvm.usub.sat.", "llvm.masked.load.",
    "llvm.masked.store.", "llvm.prefetch.", "llvm.vector.reduce.",
};

static const IntrinsicFeature *find_x86(const char *name) {
    for (size_t i = 0; i < ARRAY_LEN(x86_intrinsics); i++) {
        if (str_equal(x86_intrinsics[i].name, name)) return &x86_intrinsics[i];
    }
    return NULL;
}

static bool is_generic(const char *name) {
    for (size_t i = 0; i < ARRAY_LEN(generic_intrinsics); i++) {
        if (str_has_prefix(name, generic_intrinsics[i])) return true;
    }
    return false;
}

static Status unknown_intrinsic(const IrOp *op, const char *name, DiagSink *sink) {
    Status status = diag_error(sink, DIAG_B0004, ir_loc_span(op->loc),
                               "\"%s\" is no intrinsic that kernels may use", name);
    const char *names[ARRAY_LEN(x86_intrinsics)];
    for (size_t i = 0; i < ARRAY_LEN(x86_intrinsics); i++) names[i] = x86_intrinsics[i].name;
    const char *nearest = str_nearest(name, names, ARRAY_LEN(x86_intrinsics));
    if (nearest) diag_write(sink, "\"%s\"", nearest);
    return status;
}

Status codegen_check_intrinsic(const IrOp *op, CpuLevel level, DiagSink *sink) {
    const IrAttr *attr = ir_op_attr(op, "intrin");
    const char *name = attr && attr->kind == IR_ATTR_STRING ? attr->str : "";
    const IntrinsicFeature *entry = find_x86(name);
    if (!entry && !is_generic(name)) return unknown_intrinsic(op, name, sink);
    if (LLVMLookupIntrinsicID(name, strlen(name)) == 0) return unknown_intrinsic(op, name, sink);
    const CpuLevelInfo *info = cpu_level_info(level);
    if (entry && !(entry->any_of & info->required)) {
        return diag_error(sink, DIAG_B0005, ir_loc_span(op->loc), "CPU level %s does not have \"%s\"",
                          info->name, name);
    }
    return STATUS_OK;
}

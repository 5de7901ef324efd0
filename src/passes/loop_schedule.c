// loop-schedule: chooses, for every matrix product and attention kernel, the vector width and how
// many rows are held in registers, from the registers and vector width of the CPU level
// (ingot.target). The choice is an attribute that vectorize reads: change it in a dump, and the
// code changes.
//
//   func.func private @matmul_0(...) attributes {ingot.kernel = "matmul"}
//   -> ... attributes {ingot.kernel = "matmul", ingot.schedule = {lanes = 16, row_tile = 12}}
//
// Needs: bufferized.  Keeps: all.  Exact: nothing is computed.
#include "passes/pass.h"
#include "passes/vectorize.h"

// A single row is limited by how fast its weights are read, and a core reads several streams faster
// than one. 32 registers of 16 lanes take 12 integer and 12 float accumulators, the codes and their
// scales; 16 of 8 lanes take 5 of each. Attention sums over lanes, so its vectors are 16 wide at
// every level (two registers where those have 8): all levels give the same bits.
enum {
    WIDE_ROWS = 12,
    NARROW_ROWS = 5,
    WIDE_STREAMS = 4, // of weights, for a single row
    NARROW_STREAMS = 2,
    ATTENTION_LANES = 16,
    ATTENTION_WIDE_ROWS = 6,
    ATTENTION_NARROW_ROWS = 2,
};

static int64_t rows_of(const IrOp *kernel) {
    const IrType *type = ir_func_body(kernel)->args[0]->type;
    return type->kind == IR_TYPE_MEMREF && type->rank > 0 ? type->shape[0] : 1;
}

Status pass_loop_schedule(IrModule *m, DiagSink *sink) {
    CpuLevel level;
    TRY(pass_target_read(m, sink, &level));
    bool is_wide = cpu_level_info(level)->required & CPU_HAS_AVX512;
    FOR_EACH_OP(func, ir_module_body(m)) {
        const IrAttr *kind = func->kind == IR_FUNC_FUNC ? ir_op_attr(func, "ingot.kernel") : NULL;
        if (!kind) continue;
        Schedule s = {.lanes = is_wide ? 16 : 8, .col_tile = 1};
        const IrType *first = ir_func_body(func)->args[0]->type;
        if (str_equal(kind->str, "matmul")) {
            s.row_tile = MIN(rows_of(func), is_wide ? WIDE_ROWS : NARROW_ROWS);
            if (s.row_tile == 1) s.col_tile = is_wide ? WIDE_STREAMS : NARROW_STREAMS;
        } else if (str_equal(kind->str, "attention")) {
            bool is_whole = first->shape[first->rank - 1] % ATTENTION_LANES == 0;
            s.lanes = is_whole ? ATTENTION_LANES : ATTENTION_LANES / 2;
            s.row_tile = is_wide ? ATTENTION_WIDE_ROWS : ATTENTION_NARROW_ROWS;
        } else
            continue;
        if (!ir_op_attr(func, "ingot.schedule")) schedule_write(m, func, &s);
    }
    return STATUS_OK;
}

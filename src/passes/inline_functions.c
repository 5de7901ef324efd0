// inline-functions: a call of a function that makes no calls itself, once its own calls are
// inlined, and that is not a composite is replaced by the function's body. What remains are entry
// functions and, in a language model, layers (they call composites) and composites.
//
//   %0 = func.call @rmsnorm(%x, %w)   ->   the ops of @rmsnorm on %x and %w
//
// Functions that stay are filled from the outside in, so that the work is what it makes. How much
// that is, is counted first: each function that calls another twice doubles it.
// Needs: nothing.  Keeps: bucketed, explicit-quant.  Exact.
#include <inttypes.h>
#include <stdlib.h>

#include "passes/build.h"
#include "passes/dce.h"
#include "passes/inline.h"
#include "passes/mutate.h"
#include "passes/pass.h"

typedef enum { UNSEEN, OPEN, DONE } Visit;

// A function, or none: by op index.
typedef struct Callee {
    Visit visit;
    bool is_inlined;            // where it is called
    uint64_t num_ops;           // with its calls inlined; saturated
    size_t first_call, at, end; // its calls; the next one to look at
} Callee;

typedef struct Inliner {
    IrModule *m;
    bool has_composites;
    Callee *callees;
    IrOp **calls; // of all functions, each one's together
    size_t num_calls, calls_capacity;
} Inliner;

static bool is_function(const IrOp *op) {
    return op && op->kind == IR_FUNC_FUNC && ir_func_body(op);
}

// ---- what is inlined, and how much that makes

static uint64_t saturated(uint64_t a, uint64_t b) {
    uint64_t sum;
    return size_add(a, b, &sum) ? sum : UINT64_MAX;
}

typedef struct Walk {
    Inliner *in;
    Callee *of;
} Walk;

static void note_op(IrOp *op, void *ctx) {
    Walk *walk = ctx;
    Inliner *in = walk->in;
    walk->of->num_ops++;
    if (op->kind != IR_FUNC_CALL) return;
    ARRAY_RESERVE(in->calls, in->num_calls, in->calls_capacity);
    in->calls[in->num_calls++] = op;
}

static void note_calls(Inliner *in) {
    in->callees = base_alloc((size_t)in->m->num_ops + 1, sizeof *in->callees);
    FOR_EACH_OP(func, ir_module_body(in->m)) {
        if (!is_function(func)) continue;
        Callee *of = &in->callees[func->index];
        of->first_call = of->at = in->num_calls;
        FOR_EACH_OP(op, ir_func_body(func)) ir_walk(op, note_op, &(Walk){in, of});
        of->end = in->num_calls;
    }
}

static Callee *callee_of(const Inliner *in, const IrOp *call) {
    IrOp *func = ir_call_callee(in->m, call);
    return is_function(func) ? &in->callees[func->index] : NULL;
}

static void close_function(Inliner *in, const IrOp *func, Callee *of) {
    bool is_inlined = !ir_op_attr(func, "ingot.kernel") &&
                      !(in->has_composites && ir_op_attr(func, "ingot.composite"));
    for (size_t i = of->first_call; i < of->end; i++) {
        const Callee *callee = callee_of(in, in->calls[i]);
        if (callee && callee->is_inlined)
            of->num_ops = saturated(of->num_ops, callee->num_ops);
        else
            is_inlined = false; // it calls a function that stays, itself perhaps
    }
    of->visit = DONE;
    of->is_inlined = is_inlined;
}

// Callees before callers, without recursion: chains of calls are as long as the text says. A
// function that comes to call itself meets one that is open, and stays.
static void visit(Inliner *in, IrOp *func, IrOp **open) {
    size_t num_open = 0;
    open[num_open++] = func;
    while (num_open) {
        Callee *of = &in->callees[open[num_open - 1]->index];
        of->visit = OPEN;
        IrOp *next = NULL;
        while (of->at < of->end && !next) {
            const IrOp *call = in->calls[of->at++];
            const Callee *callee = callee_of(in, call);
            if (callee && callee->visit == UNSEEN) next = ir_call_callee(in->m, call);
        }
        if (next)
            open[num_open++] = next;
        else
            close_function(in, open[--num_open], of);
    }
}

static void visit_all(Inliner *in) {
    size_t num_functions = 0;
    FOR_EACH_OP(func, ir_module_body(in->m)) num_functions += is_function(func);
    IrOp **open = base_alloc(num_functions + 1, sizeof *open);
    FOR_EACH_OP(func, ir_module_body(in->m))
    if (is_function(func) && in->callees[func->index].visit == UNSEEN) visit(in, func, open);
    free(open);
}

// ---- inlining

// Of a chain of calls these many are told, the innermost: text is read back to a depth.
enum { MAX_CALL_SITES = 32 };

typedef struct Relocate {
    IrModule *m;
    const IrLoc *caller;
} Relocate;

static void relocate(IrOp *op, void *ctx) {
    Relocate *r = ctx;
    op->loc = ir_loc_callsite(r->m, op->loc, r->caller);
}

static const IrLoc *caller_loc(const IrOp *call) {
    uint32_t depth = 0;
    for (const IrLoc *loc = call->loc; loc->kind == IR_LOC_CALLSITE; loc = loc->children[1])
        depth++;
    return depth < MAX_CALL_SITES ? call->loc : call->loc->children[0];
}

void inline_call(IrModule *m, IrOp *call, const IrOp *callee) {
    IrValueMap map;
    ir_value_map_init(&map);
    IrBlock *body = ir_func_body(callee);
    for (uint32_t i = 0; i < body->num_args; i++) {
        uint32_t from = i;
        if (MUTATED(INLINE_ORDER) && i + 1 < body->num_args &&
            body->args[i]->type == body->args[i + 1]->type)
            from = i + 1;
        ir_value_map_set(&map, body->args[i], ir_op_operand(call, from));
    }
    Relocate ctx = {m, caller_loc(call)};
    FOR_EACH_OP(op, body) {
        if (op->kind == IR_FUNC_RETURN) {
            for (uint32_t i = 0; i < op->num_operands; i++)
                ir_value_replace_all(ir_op_result(call, i),
                                     ir_value_map_get(&map, ir_op_operand(op, i)));
            break;
        }
        IrOp *clone = ir_op_clone(m, op, &map);
        ir_op_insert_before(clone, call);
        ir_walk(clone, relocate, &ctx);
    }
    ir_value_map_deinit(&map);
    ir_op_erase(m, call);
}

// What came in is looked at next.
static void fill_block(const Inliner *in, IrBlock *block) {
    for (IrOp *op = block->first, *next; op; op = next) {
        for (uint32_t r = 0; r < op->num_regions; r++)
            FOR_EACH_BLOCK(inner, &op->regions[r]) fill_block(in, inner);
        next = op->next;
        const IrOp *callee = op->kind == IR_FUNC_CALL ? ir_call_callee(in->m, op) : NULL;
        if (!is_function(callee) || !in->callees[callee->index].is_inlined) continue;
        IrOp *before = op->prev;
        inline_call(in->m, op, callee);
        next = before ? before->next : block->first;
    }
}

// ---- the bound

static Status refuse_growth(const Inliner *in, const IrOp *func, uint64_t total, DiagSink *sink) {
    const Callee *of = &in->callees[func->index];
    const char *largest = NULL;
    uint64_t num_ops = 0, times = 0;
    for (size_t i = of->first_call; i < of->end; i++) {
        const Callee *callee = callee_of(in, in->calls[i]);
        if (!callee || !callee->is_inlined) continue;
        const char *name = ir_symbol_name(ir_call_callee(in->m, in->calls[i]));
        if (callee->num_ops > num_ops) times = 0;
        if (callee->num_ops >= num_ops && (!times || str_equal(name, largest))) {
            largest = name;
            num_ops = callee->num_ops;
            times++;
        }
    }
    Status status = diag_error(sink, DIAG_P0014, ir_loc_span(func->loc),
                               "@%s and what it calls are %s%" PRIu64 " operations once inlined; "
                               "at most %d are compiled",
                               ir_symbol_name(func), total == UINT64_MAX ? "more than " : "", total,
                               PASS_MAX_OPS);
    (void)status;
    if (largest)
        diag_evidence(sink, "it calls @%s %" PRIu64 " time%s, each %s%" PRIu64 " operations",
                      largest, times, times == 1 ? "" : "s",
                      num_ops == UINT64_MAX ? "more than " : "", num_ops);
    diag_write(sink, "fewer calls: use a result twice instead of calling twice, or call in a loop "
                     "(scf.for)");
    return STATUS_LIMIT;
}

// Functions that stay; later those that are left because something beside a call names them.
static Status fill_functions(const Inliner *in, bool is_later, DiagSink *sink) {
    uint64_t total = 0;
    for (int filling = 0; filling < 2; filling++) FOR_EACH_OP(func, ir_module_body(in->m)) {
            if (!is_function(func)) continue;
            const Callee *of = &in->callees[func->index];
            if ((of->is_inlined && dce_is_private(func)) != is_later) continue;
            total = filling ? 0 : saturated(total, of->num_ops);
            if (total > PASS_MAX_OPS) return refuse_growth(in, func, total, sink);
            if (filling) fill_block(in, ir_func_body(func));
        }
    return STATUS_OK;
}

Status pass_inline_functions(IrModule *m, DiagSink *sink) {
    // Only a language model has kernels for composites; a module from text has settings without it.
    const IrAttr *config = ir_op_attr(m->op, "ingot.config");
    Inliner in = {.m = m,
                  .has_composites = !config || config->kind != IR_ATTR_DICT ||
                                    ir_attr_dict_find(config, "buckets")};
    note_calls(&in);
    visit_all(&in);
    Status status = fill_functions(&in, false, sink);
    dce_module(m);
    if (status == STATUS_OK) status = fill_functions(&in, true, sink);
    dce_module(m);
    free(in.callees);
    free(in.calls);
    return status;
}

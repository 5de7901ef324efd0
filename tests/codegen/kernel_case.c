#include "kernel_case.h"

#include <setjmp.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include <cmocka.h>

#include "abi/kernel_abi.h"
#include "base/float16.h"
#include "ir/interp.h"
#include "ir/parse.h"
#include "ir/verify.h"
#include "passes/pass.h"

enum { GUARD = 0xa5 };

void expect_ok(Status status, const DiagSink *sink) {
    if (status == STATUS_OK) return;
    StrBuf text = {0};
    diag_render(sink, &text);
    fail_msg("%s", text.data ? text.data : "failed without a diagnostic");
}

bool stock_mlir_accepts(const StrBuf *text) {
    static const char *const tools[] = {"mlir-opt-22 --verify-each --verify-roundtrip",
                                        "mlir-translate-22 --mlir-to-llvmir"};
    if (system("command -v mlir-opt-22 mlir-translate-22 > /dev/null") != 0) {
        print_message("mlir-opt-22 is not installed: the text is not checked\n");
        return false;
    }
    char path[] = "/tmp/ingot-test-XXXXXX", line[256];
    int fd = mkstemp(path), worst = 0;
    assert_true(fd >= 0);
    assert_int_equal(write(fd, text->data, text->len), (ssize_t)text->len);
    close(fd);
    for (size_t i = 0; i < ARRAY_LEN(tools); i++) {
        snprintf(line, sizeof line, "%s %s > /dev/null", tools[i], path);
        int rc = system(line);
        worst = rc ? rc : worst;
    }
    unlink(path);
    assert_int_equal(worst, 0);
    return true;
}

// ---------------------------------------------------------------- buffers

static uint32_t next_random(uint32_t *state) { // xorshift
    *state ^= *state << 13;
    *state ^= *state >> 17;
    *state ^= *state << 5;
    return *state;
}

static float random_float(uint32_t *state) { // [-4, 4)
    return (float)((int32_t)next_random(state) >> 8) * 0x1p-21f;
}

static void fill_elem(uint8_t *at, const IrType *elem, uint32_t *state) {
    float value = random_float(state);
    double wide = value;
    uint16_t half = elem->kind == IR_TYPE_F16 ? f16_from_f32(value) : bf16_from_f32(value);
    uint32_t low = next_random(state), high = next_random(state);
    uint64_t bits = (uint64_t)high << 32 | low;
    switch (elem->kind) {
    case IR_TYPE_F32: memcpy(at, &value, sizeof value); break;
    case IR_TYPE_F64: memcpy(at, &wide, sizeof wide); break;
    case IR_TYPE_F16:
    case IR_TYPE_BF16: memcpy(at, &half, sizeof half); break;
    default:
        if (ir_type_bits(elem) == 1) bits &= 1;
        memcpy(at, &bits, ir_type_bytes(elem));
    }
}

void kernel_case_fill(KernelCase *c, uint32_t seed) {
    uint32_t state = seed * 2654435761u + 12345u;
    for (uint32_t b = 0; b < c->num_buffers; b++) {
        const IrType *elem = c->buffers[b].type->elem;
        uint32_t size = ir_type_bytes(elem);
        for (uint64_t i = 0; i < c->buffers[b].len_bytes; i += size)
            fill_elem(c->buffers[b].bytes + i, elem, &state);
    }
}

static void buffer_init(CaseBuffer *buffer, const IrType *type) {
    buffer->type = type;
    buffer->len_bytes = (uint64_t)ir_type_num_elems(type) * ir_type_bytes(type->elem);
    uint64_t room = align_up(buffer->len_bytes, 64) + 2 * KERNEL_CASE_GUARD_BYTES;
    buffer->block = aligned_alloc(64, room);
    assert_non_null(buffer->block);
    memset(buffer->block, GUARD, room);
    buffer->bytes = buffer->block + KERNEL_CASE_GUARD_BYTES;
}

static void check_guards(const KernelCase *c) {
    for (uint32_t b = 0; b < c->num_buffers; b++) {
        const CaseBuffer *buffer = &c->buffers[b];
        for (uint32_t i = 0; i < KERNEL_CASE_GUARD_BYTES; i++) {
            if (buffer->block[i] != GUARD) fail_msg("buffer %u: a byte before it was written", b);
            if (buffer->bytes[buffer->len_bytes + i] != GUARD)
                fail_msg("buffer %u: a byte behind it was written", b);
        }
    }
}

// ---------------------------------------------------------------- the case

static const char *directive(const char *text, const char *name) {
    const char *at = strstr(text, name);
    return at ? at + strlen(name) : NULL;
}

static void read_directives(KernelCase *c, const char *text) {
    const char *at = directive(text, "// scalars:");
    for (char *end; at; at = end) {
        while (*at == ' ') at++;
        if (*at == '\n') break;
        c->scalars[c->num_scalars++] = strtoll(at, &end, 10);
        assert_ptr_not_equal(at, end);
    }
    c->tile_end = 1;
    at = directive(text, "// tiles:");
    if (at) {
        char *end;
        c->tile_begin = strtoll(at, &end, 10);
        c->tile_end = strtoll(end, NULL, 10);
    }
    at = directive(text, "// ulp:");
    if (at) c->max_ulp = (uint32_t)strtoul(at, NULL, 10);
    at = directive(text, "// levels: ");
    for (c->levels = at ? 0 : UINT32_MAX; at && *at >= ' ';) {
        char name[32] = {0};
        CpuLevel level;
        for (size_t i = 0; *at > ' ' && i + 1 < sizeof name; at++) name[i++] = *at;
        assert_true(cpu_level_find(name, &level));
        c->levels |= 1u << level;
        while (*at == ' ') at++;
    }
}

void kernel_case_init(KernelCase *c, const char *text, size_t len, const char *name,
                      uint32_t seed) {
    *c = (KernelCase){0};
    DiagSink sink;
    diag_sink_init(&sink);
    expect_ok(ir_parse(text, len, name, &sink, &c->module), &sink);
    diag_sink_deinit(&sink);
    FOR_EACH_OP(op, ir_module_body(c->module)) {
        if (op->kind == IR_FUNC_FUNC && ir_op_attr(op, "ingot.kernel") && !c->kernel)
            c->kernel = op;
    }
    assert_non_null(c->kernel);
    const IrBlock *body = ir_func_body(c->kernel);
    uint32_t num_indices = 0;
    for (uint32_t i = 0; i < body->num_args; i++) {
        const IrType *type = body->args[i]->type;
        if (type->kind == IR_TYPE_MEMREF) {
            assert_true(c->num_buffers < KERNEL_CASE_MAX_BUFFERS);
            buffer_init(&c->buffers[c->num_buffers++], type);
        } else {
            num_indices++;
        }
    }
    read_directives(c, text);
    assert_int_equal(num_indices, c->num_scalars + 2);
    kernel_case_fill(c, seed);
}

void kernel_case_deinit(KernelCase *c) {
    for (uint32_t b = 0; b < c->num_buffers; b++) free(c->buffers[b].block);
    ir_module_destroy(c->module);
}

void kernel_case_interpret(KernelCase *c) {
    const IrBlock *body = ir_func_body(c->kernel);
    IrInterpValue args[2 * KERNEL_CASE_MAX_BUFFERS];
    uint32_t buffer = 0, scalar = 0;
    for (uint32_t i = 0; i < body->num_args; i++) {
        args[i] = (IrInterpValue){.type = body->args[i]->type};
        if (args[i].type->kind == IR_TYPE_MEMREF) {
            args[i].data = c->buffers[buffer].bytes;
            args[i].len_bytes = c->buffers[buffer++].len_bytes;
        } else {
            int64_t value = scalar < c->num_scalars    ? c->scalars[scalar]
                            : scalar == c->num_scalars ? c->tile_begin
                                                       : c->tile_end;
            args[i].bits = (uint64_t)value;
            scalar++;
        }
    }
    DiagSink sink;
    diag_sink_init(&sink);
    expect_ok(ir_interp_call(c->module, ir_symbol_name(c->kernel), body->num_args, args, 0, NULL,
                             NULL, &sink),
              &sink);
    diag_sink_deinit(&sink);
    check_guards(c);
}

IrModule *kernel_case_lower(const IrModule *module) {
    IrModule *lowered = ir_module_clone(module);
    DiagSink sink;
    diag_sink_init(&sink);
    expect_ok(pass_lower_target(lowered, &sink), &sink);
    expect_ok(ir_verify(lowered, &(IrVerifyOptions){.level = 3}, &sink), &sink);
    diag_sink_deinit(&sink);
    return lowered;
}

void kernel_case_compile(const KernelCase *c, CpuLevel level, CaseCode *out_code) {
    IrModule *lowered = kernel_case_lower(c->module);
    DiagSink sink;
    diag_sink_init(&sink);
    expect_ok(codegen_compile(lowered, level, 1, &sink, &out_code->image), &sink);
    expect_ok(codegen_image_map(&out_code->image, &sink, &out_code->base), &sink);
    diag_sink_deinit(&sink);
    ir_module_destroy(lowered);
}

void kernel_case_call(KernelCase *c, const CaseCode *code) {
    void *buffers[KERNEL_CASE_MAX_BUFFERS];
    for (uint32_t b = 0; b < c->num_buffers; b++) buffers[b] = c->buffers[b].bytes;
    KernelFn kernel;
    uint8_t *entry = (uint8_t *)code->base + code->image.functions[0].offset;
    memcpy(&kernel, &entry, sizeof kernel);
    int64_t fault[KERNEL_FAULT_WORDS] = {0};
    kernel(buffers, c->scalars, c->tile_begin, c->tile_end, fault);
    check_guards(c);
}

void kernel_case_free_code(CaseCode *code) {
    codegen_image_unmap(code->base, code->image.len_bytes);
    codegen_image_deinit(&code->image);
}

void kernel_case_run(KernelCase *c, CpuLevel level) {
    CaseCode code;
    kernel_case_compile(c, level, &code);
    kernel_case_call(c, &code);
    kernel_case_free_code(&code);
}

// ---------------------------------------------------------------- comparison

uint8_t *kernel_case_save(const KernelCase *c) {
    uint64_t total = 0, at = 0;
    for (uint32_t b = 0; b < c->num_buffers; b++) total += c->buffers[b].len_bytes;
    uint8_t *saved = base_alloc(total + 1, 1);
    for (uint32_t b = 0; b < c->num_buffers; b++) {
        memcpy(saved + at, c->buffers[b].bytes, c->buffers[b].len_bytes);
        at += c->buffers[b].len_bytes;
    }
    return saved;
}

void kernel_case_restore(KernelCase *c, const uint8_t *saved) {
    for (uint32_t b = 0; b < c->num_buffers; b++) {
        memcpy(c->buffers[b].bytes, saved, c->buffers[b].len_bytes);
        saved += c->buffers[b].len_bytes;
    }
}

// A float's bits as a number that counts representable values.
static int64_t ordered(uint64_t bits, uint32_t width) {
    int64_t magnitude = (int64_t)(bits & ((1ull << (width - 1)) - 1));
    return bits >> (width - 1) & 1 ? -magnitude : magnitude;
}

static bool is_nan_bits(uint64_t bits, IrTypeKind kind) {
    switch (kind) {
    case IR_TYPE_F16: return (bits & 0x7fff) > 0x7c00;
    case IR_TYPE_BF16: return (bits & 0x7fff) > 0x7f80;
    case IR_TYPE_F32: return (bits & 0x7fffffff) > 0x7f800000;
    case IR_TYPE_F64: return (bits & INT64_MAX) > 0x7ff0000000000000;
    default: return false;
    }
}

static bool elems_equal(const KernelCase *c, uint64_t a, uint64_t b, const IrType *elem) {
    if (a == b || (is_nan_bits(a, elem->kind) && is_nan_bits(b, elem->kind))) return true;
    if (!c->max_ulp || !ir_type_is_float(elem)) return false;
    if (is_nan_bits(a, elem->kind) || is_nan_bits(b, elem->kind)) return false;
    uint32_t width = ir_type_bits(elem);
    int64_t distance = ordered(a, width) - ordered(b, width);
    return (uint64_t)(distance < 0 ? -distance : distance) <= c->max_ulp;
}

bool kernel_case_equal(const KernelCase *c, const uint8_t *saved) {
    for (uint32_t b = 0; b < c->num_buffers; b++) {
        if (memcmp(c->buffers[b].bytes, saved, c->buffers[b].len_bytes) != 0) return false;
        saved += c->buffers[b].len_bytes;
    }
    return true;
}

void kernel_case_expect(const KernelCase *c, const uint8_t *expected, const char *what) {
    for (uint32_t b = 0; b < c->num_buffers; b++) {
        const CaseBuffer *buffer = &c->buffers[b];
        uint32_t size = ir_type_bytes(buffer->type->elem);
        for (uint64_t i = 0; i < buffer->len_bytes; i += size) {
            uint64_t got = 0, want = 0;
            memcpy(&got, buffer->bytes + i, size);
            memcpy(&want, expected + i, size);
            if (!elems_equal(c, got, want, buffer->type->elem))
                fail_msg("%s: @%s buffer %u element %llu: got bits %llx, expected %llx", what,
                         ir_symbol_name(c->kernel), b, (unsigned long long)(i / size),
                         (unsigned long long)got, (unsigned long long)want);
        }
        expected += buffer->len_bytes;
    }
}

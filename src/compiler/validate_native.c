// Compiles and maps lowered modules; see validate_native.h.
#include "compiler/validate_native.h"

#include "abi/kernel_abi.h"

void native_deinit(NativeCode *code) {
    if (code->base) codegen_image_unmap(code->base, code->image.len_bytes);
    if (code->image.bytes) codegen_image_deinit(&code->image);
    *code = (NativeCode){.num_threads = code->num_threads};
}

static void compile(NativeCode *code, const IrModule *m) {
    native_deinit(code);
    code->m = m;
    code->num_ops = m->num_ops;
    DiagSink quiet;
    diag_sink_init(&quiet);
    CpuLevel level;
    bool can_run = pass_target_read(m, &quiet, &level) == STATUS_OK &&
                   cpu_level_runs(cpu_host_features(), cpu_level_info(level));
    if (can_run &&
        codegen_compile(m, level, MAX(code->num_threads, 1u), &quiet, &code->image) == STATUS_OK) {
        if (codegen_image_map(&code->image, &quiet, &code->base) != STATUS_OK) code->base = NULL;
    }
    diag_sink_deinit(&quiet);
}

bool native_call(void *ctx, const IrModule *m, const char *function, void *const *buffers,
                 const int64_t *scalars, int64_t tile_begin, int64_t tile_end) {
    NativeCode *code = ctx;
    if (code->m != m || code->num_ops != m->num_ops) compile(code, m);
    if (!code->base) return false;
    for (size_t i = 0; i < code->image.num_functions; i++) {
        const CodegenFunction *f = &code->image.functions[i];
        if (!str_equal(f->name, function)) continue;
        union {
            void *address;
            KernelFn call;
        } entry = {.address = (uint8_t *)code->base + f->offset};
        int64_t fault[KERNEL_FAULT_WORDS] = {0}; // the interpreter has said it
        entry.call(buffers, scalars, tile_begin, tile_end, fault);
        return true;
    }
    return false;
}

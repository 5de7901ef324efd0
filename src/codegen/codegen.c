// The driver of code generation: one object per kernel, made by workers with an LLVM context each,
// put together in the order of the module.
#include "codegen/codegen_internal.h"

#include <llvm-c/Target.h>
#include <llvm-c/Transforms/PassBuilder.h>
#include <pthread.h>
#include <stdatomic.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>

static const char target_triple[] = "x86_64-unknown-linux-gnu";

// Redundant loads and index arithmetic go; the kernels are scheduled already, and more passes
// bought nothing on them.
static const char ir_passes[] = "function(early-cse)";

static void init_llvm(void) {
    LLVMInitializeX86TargetInfo();
    LLVMInitializeX86Target();
    LLVMInitializeX86TargetMC();
    LLVMInitializeX86AsmPrinter();
}

static void init_llvm_once(void) {
    static pthread_once_t once = PTHREAD_ONCE_INIT;
    pthread_once(&once, init_llvm);
}

const char *codegen_llvm_version(void) {
    return LLVM_VERSION_STRING;
}

// ---------------------------------------------------------------- one function

static Status llvm_failed(DiagSink *sink, const IrOp *func, const char *message) {
    return diag_error(sink, DIAG_B0008, ir_loc_span(func->loc), "LLVM on kernel @%s: %s",
                      ir_symbol_name(func), message ? message : "failed");
}

static Status make_machine(CpuLevel level, const IrOp *func, DiagSink *sink,
                           LLVMTargetMachineRef *out_machine) {
    LLVMTargetRef target;
    char *message = NULL;
    if (LLVMGetTargetFromTriple(target_triple, &target, &message)) {
        Status status = llvm_failed(sink, func, message);
        LLVMDisposeMessage(message);
        return status;
    }
    const CpuLevelInfo *info = cpu_level_info(level);
    LLVMTargetMachineOptionsRef options = LLVMCreateTargetMachineOptions();
    LLVMTargetMachineOptionsSetCPU(options, info->llvm_cpu);
    LLVMTargetMachineOptionsSetFeatures(options, info->llvm_features);
    LLVMTargetMachineOptionsSetCodeGenOptLevel(options, LLVMCodeGenLevelDefault);
    LLVMTargetMachineOptionsSetRelocMode(options, LLVMRelocPIC);
    LLVMTargetMachineOptionsSetCodeModel(options, LLVMCodeModelSmall);
    *out_machine = LLVMCreateTargetMachineWithOptions(target, target_triple, options);
    LLVMDisposeTargetMachineOptions(options);
    return STATUS_OK;
}

static Status run_ir_passes(LLVMModuleRef module, LLVMTargetMachineRef machine, const IrOp *func,
                            DiagSink *sink) {
    LLVMPassBuilderOptionsRef options = LLVMCreatePassBuilderOptions();
    LLVMErrorRef error = LLVMRunPasses(module, ir_passes, machine, options);
    LLVMDisposePassBuilderOptions(options);
    if (!error) return STATUS_OK;
    char *message = LLVMGetErrorMessage(error);
    Status status = llvm_failed(sink, func, message);
    LLVMDisposeErrorMessage(message);
    return status;
}

static Status emit_object(LLVMModuleRef module, LLVMTargetMachineRef machine, const IrOp *func,
                          DiagSink *sink, LLVMMemoryBufferRef *out_object) {
    LLVMTargetDataRef layout = LLVMCreateTargetDataLayout(machine);
    LLVMSetModuleDataLayout(module, layout);
    LLVMDisposeTargetData(layout);
    LLVMSetTarget(module, target_triple);
    TRY(run_ir_passes(module, machine, func, sink));
    char *message = NULL;
    if (!LLVMTargetMachineEmitToMemoryBuffer(machine, module, LLVMObjectFile, &message, out_object))
        return STATUS_OK;
    Status status = llvm_failed(sink, func, message);
    LLVMDisposeMessage(message);
    return status;
}

// Errors LLVM reports on the way (not the fatal ones) end up here.
static void on_llvm_diagnostic(LLVMDiagnosticInfoRef info, void *ctx) {
    char **first = ctx;
    if (LLVMGetDiagInfoSeverity(info) != LLVMDSError || *first) return;
    *first = LLVMGetDiagInfoDescription(info);
}

static Status compile_function(const IrModule *m, const IrOp *func, CpuLevel level, DiagSink *sink,
                               CodegenBlob *out_blob) {
    LLVMContextRef ctx = LLVMContextCreate();
    LLVMModuleRef module = NULL;
    LLVMTargetMachineRef machine = NULL;
    LLVMMemoryBufferRef object = NULL;
    char *llvm_error = NULL;
    LLVMContextSetDiagnosticHandler(ctx, on_llvm_diagnostic, &llvm_error);
    Status status = codegen_translate(m, func, level, ctx, sink, &module);
    if (status == STATUS_OK) status = make_machine(level, func, sink, &machine);
    if (status == STATUS_OK) status = emit_object(module, machine, func, sink, &object);
    if (status == STATUS_OK && llvm_error) status = llvm_failed(sink, func, llvm_error);
    if (status == STATUS_OK)
        status =
            codegen_object_link((const uint8_t *)LLVMGetBufferStart(object),
                                LLVMGetBufferSize(object), ir_symbol_name(func), sink, out_blob);
    if (object) LLVMDisposeMemoryBuffer(object);
    if (module) LLVMDisposeModule(module);
    if (machine) LLVMDisposeTargetMachine(machine);
    LLVMDisposeMessage(llvm_error);
    LLVMContextDispose(ctx);
    return status;
}

// ---------------------------------------------------------------- all functions

typedef struct Job {
    const IrOp *func;
    Status status;
    DiagSink sink; // of its own: order of messages does not depend on timing
    CodegenBlob blob;
    uint64_t worked_ns; // of its worker, not waiting for a core
} Job;

typedef struct Queue {
    const IrModule *m;
    CpuLevel level;
    Job *jobs;
    size_t num_jobs;
    atomic_size_t next;
} Queue;

static uint64_t now_ns(clockid_t clock) {
    struct timespec t;
    clock_gettime(clock, &t);
    return (uint64_t)t.tv_sec * 1000000000u + (uint64_t)t.tv_nsec;
}

static void *work(void *arg) {
    Queue *queue = arg;
    for (;;) {
        size_t i = atomic_fetch_add(&queue->next, 1);
        if (i >= queue->num_jobs) return NULL;
        Job *job = &queue->jobs[i];
        uint64_t started = now_ns(CLOCK_THREAD_CPUTIME_ID);
        job->status = compile_function(queue->m, job->func, queue->level, &job->sink, &job->blob);
        job->worked_ns = now_ns(CLOCK_THREAD_CPUTIME_ID) - started;
    }
}

enum { MAX_WORKERS = 64 };

static void run_workers(Queue *queue, uint32_t num_threads) {
    pthread_t threads[MAX_WORKERS];
    uint32_t wanted = MIN(num_threads, MAX_WORKERS), started = 0;
    if (wanted > queue->num_jobs) wanted = (uint32_t)queue->num_jobs;
    // This thread is the first worker; a thread that cannot be started is one less.
    while (started + 1 < wanted && pthread_create(&threads[started], NULL, work, queue) == 0)
        started++;
    work(queue);
    for (uint32_t i = 0; i < started; i++) pthread_join(threads[i], NULL);
}

static Status collect_diags(const Job *jobs, size_t num_jobs, DiagSink *sink) {
    Status status = STATUS_OK;
    for (size_t i = 0; i < num_jobs; i++) {
        for (size_t d = 0; d < jobs[i].sink.num_diags; d++) {
            const Diag *diag = &jobs[i].sink.diags[d];
            diag_report(sink, diag->severity, diag->code, diag->span, "%s", diag->message);
            if (diag->write) diag_write(sink, "%s", diag->write);
        }
        if (status == STATUS_OK) status = jobs[i].status;
    }
    return status;
}

static void assemble(const Job *jobs, size_t num_jobs, CodegenImage *out_image) {
    uint64_t total = 0;
    for (size_t i = 0; i < num_jobs; i++) total += jobs[i].blob.len_bytes;
    CodegenImage image = {.bytes = base_alloc(total ? total : 1, 1),
                          .num_functions = num_jobs,
                          .functions =
                              base_alloc(num_jobs ? num_jobs : 1, sizeof(CodegenFunction))};
    for (size_t i = 0; i < num_jobs; i++) {
        const CodegenBlob *blob = &jobs[i].blob;
        const char *name = ir_symbol_name(jobs[i].func);
        size_t name_len = strlen(name) + 1;
        char *copy = base_alloc(name_len, 1);
        memcpy(copy, name, name_len);
        image.functions[i] = (CodegenFunction){
            .name = copy, .offset = image.len_bytes, .len_bytes = blob->len_bytes};
        if (blob->len_bytes) memcpy(image.bytes + image.len_bytes, blob->bytes, blob->len_bytes);
        image.len_bytes += blob->len_bytes;
    }
    *out_image = image;
}

// Functions are made side by side: each has of the time that went by what it has of the work, and
// all together no more than that time.
static void share_time(const Job *jobs, uint64_t took_ns, CodegenImage *image) {
    uint64_t left = took_ns;
    double total = 0;
    for (size_t i = 0; i < image->num_functions; i++) total += (double)jobs[i].worked_ns;
    for (size_t i = 0; i < image->num_functions && total > 0; i++) {
        uint64_t ns = (uint64_t)((double)took_ns * ((double)jobs[i].worked_ns / total));
        image->functions[i].ns = MIN(ns, left);
        left -= image->functions[i].ns;
    }
}

static bool has_body(const IrOp *op) {
    return op->kind == IR_LLVM_FUNC && op->num_regions > 0 && op->regions[0].first;
}

Status codegen_compile(const IrModule *m, CpuLevel level, uint32_t num_threads, DiagSink *sink,
                       CodegenImage *out_image) {
    uint64_t started = now_ns(CLOCK_MONOTONIC);
    init_llvm_once();
    const IrBlock *body = m->op->regions[0].first;
    Queue queue = {.m = m, .level = level};
    FOR_EACH_OP(op, body) queue.num_jobs += has_body(op);
    queue.jobs = base_alloc(queue.num_jobs ? queue.num_jobs : 1, sizeof *queue.jobs);
    size_t n = 0;
    FOR_EACH_OP(op, body) {
        if (!has_body(op)) continue;
        queue.jobs[n].func = op;
        diag_sink_init(&queue.jobs[n++].sink);
    }
    run_workers(&queue, num_threads);
    Status status = collect_diags(queue.jobs, queue.num_jobs, sink);
    if (status == STATUS_OK) {
        assemble(queue.jobs, queue.num_jobs, out_image);
        share_time(queue.jobs, now_ns(CLOCK_MONOTONIC) - started, out_image);
    }
    for (size_t i = 0; i < queue.num_jobs; i++) {
        diag_sink_deinit(&queue.jobs[i].sink);
        free(queue.jobs[i].blob.bytes);
    }
    free(queue.jobs);
    return status;
}

void codegen_image_deinit(CodegenImage *image) {
    for (size_t i = 0; i < image->num_functions; i++) free((char *)image->functions[i].name);
    free(image->functions);
    free(image->bytes);
    *image = (CodegenImage){0};
}

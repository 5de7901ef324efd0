// Every kernel of tests/codegen/kernels at every CPU level the host runs, against the interpreter
// on the same buffers: equal bits (or the ulp bound the file states), nothing written outside, and
// the same bits at every level.
#include <dirent.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

#include "base/str.h"
#include "ir/print.h"
#include "kernel_case.h"

enum { NUM_SEEDS = 3, MAX_FILES = 64 };

typedef struct KernelFile {
    char name[64];
    char path[512];
} KernelFile;

static KernelFile files[MAX_FILES];
static size_t num_files;

static char *read_text(const char *path, size_t *out_len) {
    FILE *file = fopen(path, "rb");
    assert_non_null(file);
    char *text = calloc(1, 1 << 20);
    *out_len = fread(text, 1, (1 << 20) - 1, file);
    fclose(file);
    return text;
}

static void run_levels(KernelCase *c, const uint8_t *start, const uint8_t *expected) {
    uint8_t *first = NULL;
    uint32_t exact = c->max_ulp, num_run = 0;
    for (int level = 0; level < NUM_CPU_LEVELS; level++) {
        const CpuLevelInfo *info = cpu_level_info((CpuLevel)level);
        // Kernels that name an instruction are for the levels that have it: "// levels: NAME...".
        if (!cpu_level_runs(cpu_host_features(), info) || !(c->levels >> level & 1)) continue;
        kernel_case_restore(c, start);
        kernel_case_run(c, (CpuLevel)level);
        kernel_case_expect(c, expected, info->name);
        c->max_ulp = 0;
        if (first)
            kernel_case_expect(c, first, "against the first level");
        else
            first = kernel_case_save(c);
        c->max_ulp = exact;
        num_run++;
    }
    free(first);
    if (num_run == 0)
        print_message("no CPU level of this host runs @%s\n", ir_symbol_name(c->kernel));
}

static void check_text(const KernelCase *c) {
    IrModule *lowered = kernel_case_lower(c->module);
    StrBuf text = {0};
    ir_print(lowered, NULL, &text);
    (void)stock_mlir_accepts(&text);
    strbuf_deinit(&text);
    ir_module_destroy(lowered);
}

static void test_kernel(void **state) {
    const KernelFile *file = *state;
    size_t len;
    char *text = read_text(file->path, &len);
    for (uint32_t seed = 1; seed <= NUM_SEEDS; seed++) {
        KernelCase c;
        kernel_case_init(&c, text, len, file->path, seed);
        uint8_t *start = kernel_case_save(&c);
        kernel_case_interpret(&c);
        uint8_t *expected = kernel_case_save(&c);
        if (kernel_case_equal(&c, start)) fail_msg("@%s changes nothing", ir_symbol_name(c.kernel));
        run_levels(&c, start, expected);
        if (seed == 1) check_text(&c);
        free(start);
        free(expected);
        kernel_case_deinit(&c);
    }
    free(text);
}

static int by_name(const void *a, const void *b) {
    return strcmp(((const KernelFile *)a)->name, ((const KernelFile *)b)->name);
}

static void find_files(void) {
    const char dir_name[] = INGOT_SOURCE_DIR "/tests/codegen/kernels";
    DIR *dir = opendir(dir_name);
    if (!dir) return;
    for (struct dirent *entry; (entry = readdir(dir)) && num_files < MAX_FILES;) {
        if (!str_has_suffix(entry->d_name, ".mlir")) continue;
        KernelFile *file = &files[num_files++];
        snprintf(file->name, sizeof file->name, "%.60s", entry->d_name);
        snprintf(file->path, sizeof file->path, "%s/%.200s", dir_name, entry->d_name);
    }
    closedir(dir);
    qsort(files, num_files, sizeof *files, by_name);
}

int main(void) {
    find_files();
    if (num_files == 0) {
        fprintf(stderr, "no kernels found\n");
        return 1;
    }
    struct CMUnitTest tests[MAX_FILES] = {{0}};
    for (size_t i = 0; i < num_files; i++)
        tests[i] = (struct CMUnitTest){
            .name = files[i].name, .test_func = test_kernel, .initial_state = &files[i]};
    return _cmocka_run_group_tests("kernels", tests, num_files, NULL, NULL);
}

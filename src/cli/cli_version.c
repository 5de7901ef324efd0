// `ingot --version [--json]`: what this program is and what this machine offers it.
#include <stdio.h>

#include "abi/kernel_abi.h"
#include "abi/plan.h"
#include "cli/build_info.h"
#include "cli/cli.h"

const char *build_json(void) {
    return "{\"version\":\"" INGOT_VERSION "\",\"commit\":\"" INGOT_COMMIT
           "\",\"build_mode\":\"" INGOT_BUILD_MODE "\",\"compiler\":\"" INGOT_C_COMPILER "\"}";
}

static void put_json(void) {
    StrBuf out = {0};
    JsonWriter json = {.out = &out};
    json_begin_document(&json, "ingot-version");
    json_put_string(&json, "version", INGOT_VERSION);
    json_put_string(&json, "commit", INGOT_COMMIT);
    json_put_string(&json, "build_mode", INGOT_BUILD_MODE);
    json_put_string(&json, "compiler", INGOT_C_COMPILER);
    json_put_string(&json, "llvm_version", INGOT_LLVM_VERSION);
    json_put_uint(&json, "artifact_version", ARTIFACT_VERSION);
    json_put_uint(&json, "kernel_abi_version", KERNEL_ABI_VERSION);
    json_put_uint(&json, "ir_version", INGOT_IR_VERSION);
    json_put_uint(&json, "recipe_version", INGOT_RECIPE_VERSION);
    json_begin_array(&json, "targets");
    for (int level = 0; level < NUM_CPU_LEVELS; level++)
        json_put_string(&json, NULL, cpu_level_info((CpuLevel)level)->name);
    json_end_array(&json);
    json_begin_array(&json, "host_cpu_features");
    for (int feature = 0; feature < NUM_CPU_FEATURES; feature++)
        if (cpu_host_features() >> feature & 1)
            json_put_string(&json, NULL, cpu_feature_name((CpuFeature)feature));
    json_end_array(&json);
    CpuLevel best;
    if (cpu_host_level(&best))
        json_put_string(&json, "host_cpu_level", cpu_level_info(best)->name);
    else
        json_put_null(&json, "host_cpu_level");
    json_put_uint(&json, "host_threads", cpu_usable_threads());
    json_end_object(&json);
    put_document(&out);
}

Status verb_VERSION(Cli *cli) {
    TRY(check_positional(cli, 0, 0, "nothing"));
    if (cli->is_json)
        put_json();
    else
        output_puts("ingot " INGOT_VERSION " (" INGOT_COMMIT ")\n");
    return STATUS_OK;
}

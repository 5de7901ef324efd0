// Prints machines; see target_list.h.
#include "cli/target_list.h"

static void put_words(JsonWriter *json, const char *key, const char *const *words, uint32_t num) {
    json_begin_array(json, key);
    for (uint32_t i = 0; i < num; i++) json_put_string(json, NULL, words[i]);
    json_end_array(json);
}

static void put_optional(JsonWriter *json, const char *key, const char *text) {
    if (text) json_put_string(json, key, text);
}

static void put_target_json(JsonWriter *json, const Target *t) {
    json_put_string(json, "name", t->name);
    json_put_string(json, "title", t->title);
    json_put_string(json, "kind", target_kind_name(t->kind));
    put_words(json, "arch", t->arch, t->num_archs);
    put_words(json, "brands", t->brands, t->num_brands);
    put_optional(json, "compute_capability", t->compute_capability);
    put_optional(json, "gfx_arch", t->gfx_arch);
    put_optional(json, "ai_core_type", t->ai_core_type);
    put_optional(json, "cpu_level", t->has_cpu_level ? cpu_level_info(t->cpu_level)->name : NULL);
    json_put_bool(json, "has_backend", t->has_cpu_level);
    json_begin_object(json, "numbers");
    for (int i = 0; i < NUM_TARGET_NUMBERS; i++) {
        const TargetNumberInfo *info = target_number_info((TargetNumber)i);
        if (t->numbers[i] <= 0) continue;
        json_begin_object(json, info->path);
        json_put_real(json, "value", t->numbers[i]);
        json_put_string(json, "unit", info->unit);
        json_put_string(json, "source", t->sources[i]);
        json_end_object(json);
    }
    json_end_object(json);
}

Status list_targets(Cli *cli) {
    TargetTable table;
    TRY(target_table_load(&cli->sink, &table));
    StrBuf out = {0};
    JsonWriter json = {.out = &out};
    if (cli->is_json) {
        json_begin_document(&json, "ingot-targets");
        json_begin_array(&json, "targets");
    }
    for (size_t i = 0; i < table.num_targets; i++) {
        const Target *t = &table.targets[i];
        if (cli->is_json) {
            json_begin_object(&json, NULL);
            put_target_json(&json, t);
            json_end_object(&json);
        } else
            strbuf_printf(&out, "%-16s %-4s %-14s %5.0f units %7.5g GB/s  %-8s %s\n", t->name,
                          target_kind_name(t->kind), t->arch[0], t->numbers[TARGET_UNITS],
                          t->numbers[TARGET_MEM_RATE], t->has_cpu_level ? "compiles" : "plans",
                          t->title);
    }
    if (cli->is_json) {
        json_end_array(&json);
        json_end_object(&json);
    }
    put_document(&out);
    return STATUS_OK;
}

void explain_target(const Cli *cli, const Target *target) {
    StrBuf out = {0};
    JsonWriter json = {.out = &out};
    if (cli->is_json) {
        json_begin_document(&json, "ingot-target");
        put_target_json(&json, target);
        json_end_object(&json);
    } else
        target_print(target, &out);
    put_document(&out);
}

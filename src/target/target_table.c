// The machines that came with the program; see target.h.
#include <dirent.h>
#include <stdlib.h>
#include <string.h>

#include "base/embedded.h"
#include "target/target.h"

extern const EmbeddedFile target_files[];

static int by_name(const void *a, const void *b) {
    return strcmp(((const Target *)a)->name, ((const Target *)b)->name);
}

// Files of $INGOT_DATA_DIR/targets, instead of those in the program.
static Status load_folder(const char *folder, DiagSink *sink, TargetTable *table) {
    size_t capacity = 0;
    DIR *dir = opendir(folder);
    if (!dir)
        return diag_error(sink, DIAG_H0001, (DiagSpan){.file = folder},
                          "the folder cannot be read");
    Status status = STATUS_OK;
    for (struct dirent *entry; status == STATUS_OK && (entry = readdir(dir));) {
        if (!str_has_suffix(entry->d_name, ".yaml")) continue;
        ARRAY_RESERVE(table->targets, table->num_targets, capacity);
        const char *path = arena_printf(&sink->arena, "%s/%s", folder, entry->d_name);
        status = target_load(path, sink, &table->targets[table->num_targets]);
        if (status == STATUS_OK) table->num_targets++;
    }
    closedir(dir);
    return status;
}

static Status load_embedded(DiagSink *sink, TargetTable *table) {
    size_t capacity = 0;
    for (const EmbeddedFile *file = target_files; file->name; file++) {
        ARRAY_RESERVE(table->targets, table->num_targets, capacity);
        TRY(target_parse(file->text, file->len, file->name, sink,
                         &table->targets[table->num_targets]));
        table->num_targets++;
    }
    return STATUS_OK;
}

Status target_table_load(DiagSink *sink, TargetTable *out_table) {
    TargetTable table = {0};
    const char *folder = getenv("INGOT_DATA_DIR");
    Status status =
        folder && *folder
            ? load_folder(arena_printf(&sink->arena, "%s/targets", folder), sink, &table)
            : load_embedded(sink, &table);
    if (status == STATUS_OK) {
        Target *kept = arena_memdup(&sink->arena, table.targets, table.num_targets, sizeof *kept);
        array_sort(kept, table.num_targets, sizeof *kept, by_name);
        *out_table = (TargetTable){.targets = kept, .num_targets = table.num_targets};
    }
    free(table.targets);
    return status;
}

const Target *target_find(const TargetTable *table, const char *name) {
    for (size_t i = 0; i < table->num_targets; i++)
        if (str_equal(table->targets[i].name, name)) return &table->targets[i];
    return NULL;
}

Status target_unknown(const TargetTable *table, const char *name, DiagSpan span, DiagSink *sink) {
    const char **names = ARENA_ARRAY(&sink->arena, const char *, table->num_targets);
    for (size_t i = 0; i < table->num_targets; i++) names[i] = table->targets[i].name;
    const char *nearest = str_nearest(name, names, table->num_targets);
    Status status = diag_error(sink, DIAG_H0004, span,
                               "no machine of the hardware table is called %.60s", name);
    if (nearest)
        diag_write(sink, "%s", nearest);
    else
        diag_evidence(sink, "ingot compile --list-targets prints the table");
    return status;
}

Status target_open(const char *name, DiagSpan span, DiagSink *sink, Target *out_target) {
    const char *folder = getenv("INGOT_DATA_DIR");
    const char *file_name = arena_printf(&sink->arena, "%s.yaml", name);
    if (!folder || !*folder)
        for (const EmbeddedFile *file = target_files; file->name; file++)
            if (str_equal(file->name, file_name))
                return target_parse(file->text, file->len, file->name, sink, out_target);
    TargetTable table;
    TRY(target_table_load(sink, &table));
    const Target *found = target_find(&table, name);
    if (!found) return target_unknown(&table, name, span, sink);
    *out_target = *found;
    return STATUS_OK;
}

// Numbers that depend on what instructions code may use.
static const TargetNumber of_level[] = {TARGET_OPS_F32, TARGET_OPS_F16, TARGET_OPS_BF16,
                                        TARGET_OPS_INT8};

Status target_for_level(const Target *machine, CpuLevel level, DiagSink *sink, Target *out_target) {
    Target least, own;
    TRY(target_open(cpu_level_info(level)->name, (DiagSpan){0}, sink, &least));
    if (!machine || !machine->has_cpu_level || level > machine->cpu_level) {
        *out_target = least;
        return STATUS_OK;
    }
    *out_target = *machine;
    if (level == machine->cpu_level) return STATUS_OK;
    TRY(target_open(cpu_level_info(machine->cpu_level)->name, (DiagSpan){0}, sink, &own));
    out_target->numbers[TARGET_VECTOR_BYTES] = least.numbers[TARGET_VECTOR_BYTES];
    out_target->numbers[TARGET_REGISTERS] = least.numbers[TARGET_REGISTERS];
    for (size_t i = 0; i < ARRAY_LEN(of_level); i++)
        if (own.numbers[of_level[i]] > 0)
            out_target->numbers[of_level[i]] *=
                least.numbers[of_level[i]] / own.numbers[of_level[i]];
    return STATUS_OK;
}

// Runs a fuzz target over every file of a folder, so that the corpus is replayed by ordinary
// builds.
#include <dirent.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/file.h"

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t len);

enum { MAX_SEED_BYTES = 64 << 20 };

static int compare_names(const void *a, const void *b) {
    return strcmp(*(char *const *)a, *(char *const *)b);
}

static bool replay(const char *folder, const char *name, DiagSink *sink) {
    StrBuf path = {0};
    strbuf_printf(&path, "%s/%s", folder, name);
    char *data = NULL;
    uint64_t len = 0;
    bool is_read = file_read(path.data, MAX_SEED_BYTES, sink, &data, &len) == STATUS_OK;
    if (is_read) {
        // Exactly sized memory, so that AddressSanitizer sees a read past the end.
        uint8_t *exact = malloc(len ? len : 1);
        if (!exact) abort();
        memcpy(exact, data, len);
        LLVMFuzzerTestOneInput(exact, len);
        free(exact);
    }
    printf(is_read ? "ok %s\n" : "not ok %s: cannot read\n", name);
    free(data);
    strbuf_deinit(&path);
    return is_read;
}

int main(int argc, char **argv) {
    DIR *folder = argc > 1 ? opendir(argv[1]) : NULL;
    if (!folder) {
        printf("skip corpus: there is no folder of seeds yet\n");
        return 0;
    }
    char **names = NULL;
    size_t num_names = 0, capacity = 0;
    for (struct dirent *entry; (entry = readdir(folder));) {
        if (entry->d_name[0] == '.') continue;
        ARRAY_RESERVE(names, num_names, capacity);
        names[num_names++] = strdup(entry->d_name);
    }
    closedir(folder);
    if (num_names) qsort(names, num_names, sizeof *names, compare_names);
    DiagSink sink;
    diag_sink_init(&sink);
    bool is_good = true;
    for (size_t i = 0; i < num_names; i++) {
        is_good &= replay(argv[1], names[i], &sink);
        free(names[i]);
    }
    free(names);
    diag_sink_deinit(&sink);
    return is_good ? 0 : 1;
}

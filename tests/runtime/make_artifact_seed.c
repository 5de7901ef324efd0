// Writes the synthetic artifact under the names given: the first as it is, the second with another
// first byte, which tells the fuzz target to make the checksums right (tests/fuzz/seeds/artifact).
#include <stdio.h>

#include "synthetic.h"

int main(int argc, char **argv) {
    if (argc != 3) {
        fputs("usage: make_artifact_seed VALID.ingot REPAIRED.ingot\n", stderr);
        return STATUS_USAGE;
    }
    synthetic_write(argv[1], &(SyntheticOptions){0});
    synthetic_write(argv[2], &(SyntheticOptions){0});
    FILE *file = fopen(argv[2], "r+b");
    if (!file || fputc('J', file) == EOF || fclose(file) != 0) return STATUS_IO;
    return STATUS_OK;
}

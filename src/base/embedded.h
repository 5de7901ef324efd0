// Data files compiled into the program (tools/embed.py makes the tables).
#ifndef INGOT_BASE_EMBEDDED_H
#define INGOT_BASE_EMBEDDED_H

#include <stddef.h>

// A table of them ends with a NULL name. The text is NUL-terminated; the NUL is not counted.
typedef struct EmbeddedFile {
    const char *name; // file name without folder
    const char *text;
    size_t len;
} EmbeddedFile;

#endif

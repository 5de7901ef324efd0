// GGUF model files, versions 2 and 3: a read-only mapping whose every count, length and offset has
// been checked before use. Format: github.com/ggml-org/ggml, docs/gguf.md.
#ifndef INGOT_WEIGHTS_GGUF_H
#define INGOT_WEIGHTS_GGUF_H

#include "base/diag.h"
#include "abi/quant.h"

typedef enum GgufType {
    GGUF_U8,
    GGUF_I8,
    GGUF_U16,
    GGUF_I16,
    GGUF_U32,
    GGUF_I32,
    GGUF_F32,
    GGUF_BOOL,
    GGUF_STRING,
    GGUF_ARRAY,
    GGUF_U64,
    GGUF_I64,
    GGUF_F64, // numbering of the file format
} GgufType;

// A byte string inside the mapping: not NUL-terminated, may hold any byte.
typedef struct GgufString {
    const char *data;
    uint64_t len;
} GgufString;

typedef struct GgufValue {
    GgufType type;
    union {
        uint64_t u; // U8 U16 U32 U64 BOOL
        int64_t i;  // I8 I16 I32 I64
        double f;   // F32 F64
        GgufString str;
        struct {
            GgufType elem_type; // never GGUF_ARRAY: nested arrays are refused
            uint64_t count;
            const GgufString *strings; // for elem_type GGUF_STRING, else NULL
            const uint8_t *data;       // packed elements otherwise, unaligned little-endian
        } array;
    };
} GgufValue;

typedef struct GgufEntry {
    const char *key; // NUL-terminated copy
    GgufValue value;
    uint64_t file_offset;
} GgufEntry;

enum { GGUF_MAX_DIMS = 4 };

typedef struct GgufTensor {
    const char *name; // NUL-terminated copy
    uint32_t index;   // position in the file's tensor list, from 0
    uint32_t num_dims;
    uint64_t dims[GGUF_MAX_DIMS]; // dims[0] is the fastest (row length), as in the file
    QuantFormat format;
    const uint8_t *data; // inside the mapping
    uint64_t len_bytes;
    uint64_t file_offset;
} GgufTensor;

typedef struct Gguf Gguf;

// Opens and checks a file. Errors: codes F...., STATUS_INVALID (bad bytes) or STATUS_IO.
Status gguf_open(const char *path, DiagSink *sink, Gguf **out_gguf) MUST_USE;
void gguf_close(Gguf *gguf);

// A model that is known by the shapes of its tensors alone: no file, no metadata, no data. path is
// what it is called. Tensors are added after room for them has been made, once.
Gguf *gguf_outline_create(const char *path);
bool gguf_is_outline(const Gguf *gguf);
void gguf_outline_reserve(Gguf *gguf, size_t max_tensors);
// dims[0] is a multiple of the format's block; the name is new.
const GgufTensor *gguf_outline_add(Gguf *gguf, const char *name, const uint64_t *dims,
                                   uint32_t num_dims, QuantFormat format);

const char *gguf_path(const Gguf *gguf);
uint32_t gguf_version(const Gguf *gguf);
uint64_t gguf_len_bytes(const Gguf *gguf);
const uint8_t *gguf_bytes(const Gguf *gguf);
size_t gguf_num_entries(const Gguf *gguf);
const GgufEntry *gguf_entry(const Gguf *gguf, size_t i); // in file order
size_t gguf_num_tensors(const Gguf *gguf);
const GgufTensor *gguf_tensor(const Gguf *gguf, size_t i);

// Where a key stands, or just the file if it is absent.
DiagSpan gguf_key_span(const Gguf *gguf, const char *key);
// NULL if absent. Lookups are by hash.
const GgufValue *gguf_find(const Gguf *gguf, const char *key);
const GgufTensor *gguf_find_tensor(const Gguf *gguf, const char *name);

// Typed access; false if the key is absent or of another kind. Integers of any width and sign are
// taken if the value fits; floats take F32 and F64.
bool gguf_get_u64(const Gguf *gguf, const char *key, uint64_t *out);
bool gguf_get_f64(const Gguf *gguf, const char *key, double *out);
bool gguf_get_bool(const Gguf *gguf, const char *key, bool *out);
bool gguf_get_string(const Gguf *gguf, const char *key, GgufString *out);
// Element i of a numeric array as an integer or a double; the caller has checked i and elem_type.
int64_t gguf_array_int(const GgufValue *array, uint64_t i);
double gguf_array_float(const GgufValue *array, uint64_t i);

// True if the key was asked for since the file was opened: what nobody asks for is "present but
// unused".
bool gguf_is_used(const Gguf *gguf, size_t entry_index);

#endif

// Reads GGUF: header, metadata, tensor list, data. One forward pass over the mapping with a cursor;
// every count is compared with the bytes left before anything is allocated for it. See gguf.h.
#include "weights/gguf.h"

#include <inttypes.h>
#include <stdlib.h>
#include <string.h>
#include <xxhash.h>

#include "base/file.h"

_Static_assert(__BYTE_ORDER__ == __ORDER_LITTLE_ENDIAN__, "numbers are read in the host's order");

enum {
    DEFAULT_ALIGNMENT_BYTES = 32,
    MAX_KEY_BYTES = 65535,
    MAX_TENSOR_NAME_BYTES = 64,
    MIN_ENTRY_BYTES = 8 + 1 + 4 + 1,          // key length, key, type, value
    MIN_TENSOR_BYTES = 8 + 1 + 4 + 8 + 4 + 8, // name length, name, rank, one dim, type, offset
};

// Open addressing; slots hold element number + 1.
typedef struct NameTable {
    uint32_t *slots;
    uint64_t mask;
} NameTable;

struct Gguf {
    FileMap map;
    Arena arena;
    const char *path;
    uint32_t version;
    uint64_t alignment;
    GgufEntry *entries;
    bool *is_used;
    GgufTensor *tensors;
    uint64_t num_entries, num_tensors;
    uint64_t max_tensors; // of an outline
    bool is_outline;
    NameTable entry_names, tensor_names;
};

typedef struct Reader {
    Gguf *gguf;
    DiagSink *sink;
    const uint8_t *bytes;
    uint64_t pos, len;
} Reader;

// ---------------------------------------------------------------- name tables

static NameTable name_table_create(Arena *arena, uint64_t num_names) {
    uint64_t size = 16;
    while (size < num_names * 2) size *= 2;
    return (NameTable){.slots = ARENA_ARRAY(arena, uint32_t, size), .mask = size - 1};
}

static uint32_t *entry_slot(const Gguf *gguf, const char *key) {
    const NameTable *table = &gguf->entry_names;
    uint64_t i = XXH3_64bits(key, strlen(key)) & table->mask;
    while (table->slots[i] && !str_equal(gguf->entries[table->slots[i] - 1].key, key))
        i = (i + 1) & table->mask;
    return &table->slots[i];
}

static uint32_t *tensor_slot(const Gguf *gguf, const char *name) {
    const NameTable *table = &gguf->tensor_names;
    uint64_t i = XXH3_64bits(name, strlen(name)) & table->mask;
    while (table->slots[i] && !str_equal(gguf->tensors[table->slots[i] - 1].name, name))
        i = (i + 1) & table->mask;
    return &table->slots[i];
}

// ---------------------------------------------------------------- cursor

static DiagSpan span_at(const Reader *r, uint64_t pos) {
    return (DiagSpan){.file = r->gguf->path, .byte_offset = pos};
}

static Status cut_off(Reader *r, const char *what, uint64_t want_bytes) {
    return diag_error(r->sink, DIAG_F0004, span_at(r, r->pos),
                      "%s needs %" PRIu64 " bytes, the file has %" PRIu64 " left", what, want_bytes,
                      r->len - r->pos);
}

static Status read_bytes(Reader *r, void *out, uint64_t num_bytes, const char *what) {
    if (num_bytes > r->len - r->pos) return cut_off(r, what, num_bytes);
    memcpy(out, r->bytes + r->pos, num_bytes);
    r->pos += num_bytes;
    return STATUS_OK;
}

static Status read_u32(Reader *r, uint32_t *out, const char *what) {
    return read_bytes(r, out, sizeof *out, what);
}

static Status read_u64(Reader *r, uint64_t *out, const char *what) {
    return read_bytes(r, out, sizeof *out, what);
}

// A count of things of at least min_bytes each; refused if the file cannot hold so many.
static Status read_count(Reader *r, uint64_t min_bytes, const char *what, uint64_t *out) {
    uint64_t pos = r->pos, count = 0;
    TRY(read_u64(r, &count, what));
    if (count > (r->len - r->pos) / min_bytes || count >= UINT32_MAX)
        return diag_error(r->sink, DIAG_F0004, span_at(r, pos),
                          "%s is %" PRIu64 ", the file has room for at most %" PRIu64, what, count,
                          (r->len - r->pos) / min_bytes);
    *out = count;
    return STATUS_OK;
}

static Status read_string(Reader *r, GgufString *out, const char *what) {
    uint64_t pos = r->pos, len = 0;
    TRY(read_u64(r, &len, what));
    if (len > r->len - r->pos)
        return diag_error(r->sink, DIAG_F0004, span_at(r, pos),
                          "%s is %" PRIu64 " bytes long, the file has %" PRIu64 " left", what, len,
                          r->len - r->pos);
    *out = (GgufString){.data = (const char *)r->bytes + r->pos, .len = len};
    r->pos += len;
    return STATUS_OK;
}

// ---------------------------------------------------------------- header

static Status refuse_foreign(Reader *r) {
    static const struct {
        const char *start, *what;
    } known[] = {
        {"version https://git-lfs", "a Git LFS pointer; fetch the file itself with `git lfs pull`"},
        {"<", "a web page saved in place of the model"},
        {"PK\x03\x04", "a zip archive"},
        {"ggml", "the old ggml format; convert it to GGUF"},
        {"lmgg", "the old ggml format; convert it to GGUF"},
        {"tjgg", "the old ggjt format; convert it to GGUF"},
    };
    for (size_t i = 0; i < ARRAY_LEN(known); i++) {
        size_t len = strlen(known[i].start);
        if (r->len < len || memcmp(r->bytes, known[i].start, len) != 0) continue;
        return diag_error(r->sink, DIAG_F0001, span_at(r, 0), "not a GGUF file: this is %s",
                          known[i].what);
    }
    return diag_error(r->sink, DIAG_F0001, span_at(r, 0),
                      r->len ? "not a GGUF file: it does not begin with GGUF"
                             : "the file is empty");
}

static Status read_header(Reader *r, uint64_t *out_num_entries, uint64_t *out_num_tensors) {
    if (r->len >= 4 && memcmp(r->bytes, "FUGG", 4) == 0)
        return diag_error(r->sink, DIAG_F0003, span_at(r, 0),
                          "the file begins with FUGG: its bytes are swapped");
    if (r->len < 4 || memcmp(r->bytes, "GGUF", 4) != 0) return refuse_foreign(r);
    r->pos = 4;
    uint32_t version = 0;
    TRY(read_u32(r, &version, "the version"));
    if (version && (version & 0xffff) == 0)
        return diag_error(r->sink, DIAG_F0003, span_at(r, 4),
                          "version %" PRIu32 " is version %" PRIu32 " with its bytes swapped: the "
                          "file was written for a big-endian machine",
                          version, __builtin_bswap32(version));
    if (version < 2 || version > 3)
        return diag_error(r->sink, DIAG_F0002, span_at(r, 4),
                          "GGUF version %" PRIu32 " is not supported, only 2 and 3", version);
    r->gguf->version = version;
    uint64_t pos = r->pos;
    uint64_t num_tensors = 0, num_entries = 0;
    TRY(read_count(r, MIN_TENSOR_BYTES, "the number of tensors", &num_tensors));
    TRY(read_count(r, MIN_ENTRY_BYTES, "the number of metadata entries", &num_entries));
    if (num_entries * MIN_ENTRY_BYTES + num_tensors * MIN_TENSOR_BYTES > r->len - r->pos)
        return diag_error(r->sink, DIAG_F0004, span_at(r, pos),
                          "the file is too short for %" PRIu64 " tensors and %" PRIu64 " entries",
                          num_tensors, num_entries);
    *out_num_entries = num_entries;
    *out_num_tensors = num_tensors;
    return STATUS_OK;
}

// ---------------------------------------------------------------- metadata

static uint64_t scalar_bytes(GgufType type) {
    switch (type) {
    case GGUF_U8:
    case GGUF_I8:
    case GGUF_BOOL: return 1;
    case GGUF_U16:
    case GGUF_I16: return 2;
    case GGUF_U32:
    case GGUF_I32:
    case GGUF_F32: return 4;
    case GGUF_U64:
    case GGUF_I64:
    case GGUF_F64: return 8;
    case GGUF_STRING:
    case GGUF_ARRAY: return 0;
    }
    return 0;
}

static int64_t load_int(GgufType type, const uint8_t *bytes) {
    union {
        int8_t i8;
        int16_t i16;
        int32_t i32;
        int64_t i64;
        uint8_t u8;
        uint16_t u16;
        uint32_t u32;
    } v = {.i64 = 0};
    memcpy(&v, bytes, scalar_bytes(type));
    switch (type) {
    case GGUF_U8:
    case GGUF_BOOL: return v.u8;
    case GGUF_U16: return v.u16;
    case GGUF_U32: return v.u32;
    case GGUF_I8: return v.i8;
    case GGUF_I16: return v.i16;
    case GGUF_I32: return v.i32;
    case GGUF_U64:
    case GGUF_I64: return v.i64;
    case GGUF_F32:
    case GGUF_F64:
    case GGUF_STRING:
    case GGUF_ARRAY: break;
    }
    BUG("not an integer type: %d", (int)type);
}

static double load_float(GgufType type, const uint8_t *bytes) {
    union {
        float f32;
        double f64;
    } v = {.f64 = 0};
    memcpy(&v, bytes, scalar_bytes(type));
    return type == GGUF_F32 ? (double)v.f32 : v.f64;
}

static bool is_float_type(GgufType type) {
    return type == GGUF_F32 || type == GGUF_F64;
}

static Status check_bools(Reader *r, const char *key, const uint8_t *bytes, uint64_t count) {
    for (uint64_t i = 0; i < count; i++)
        if (bytes[i] > 1)
            return diag_error(r->sink, DIAG_F0006, span_at(r, (uint64_t)(bytes - r->bytes) + i),
                              "%s: a truth value must be 0 or 1, not %u", key, bytes[i]);
    return STATUS_OK;
}

static Status read_array(Reader *r, const char *key, GgufValue *out) {
    uint64_t pos = r->pos;
    uint32_t type = 0;
    TRY(read_u32(r, &type, key));
    if (type == GGUF_ARRAY)
        return diag_error(r->sink, DIAG_F0006, span_at(r, pos), "%s: an array of arrays", key);
    if (type > GGUF_F64)
        return diag_error(r->sink, DIAG_F0006, span_at(r, pos), "%s: unknown element type %" PRIu32,
                          key, type);
    out->array.elem_type = (GgufType)type;
    uint64_t elem_bytes = scalar_bytes((GgufType)type);
    TRY(read_count(r, elem_bytes ? elem_bytes : 8, key, &out->array.count));
    if (type != GGUF_STRING) {
        out->array.data = r->bytes + r->pos;
        r->pos += out->array.count * elem_bytes;
        if (type == GGUF_BOOL) TRY(check_bools(r, key, out->array.data, out->array.count));
        return STATUS_OK;
    }
    GgufString *strings = ARENA_ARRAY(&r->gguf->arena, GgufString, out->array.count);
    for (uint64_t i = 0; i < out->array.count; i++) TRY(read_string(r, &strings[i], key));
    out->array.strings = strings;
    return STATUS_OK;
}

static Status read_value(Reader *r, const char *key, GgufValue *out) {
    uint64_t pos = r->pos;
    uint32_t type = 0;
    TRY(read_u32(r, &type, key));
    if (type > GGUF_F64)
        return diag_error(r->sink, DIAG_F0006, span_at(r, pos), "%s: unknown value type %" PRIu32,
                          key, type);
    *out = (GgufValue){.type = (GgufType)type};
    if (type == GGUF_STRING) return read_string(r, &out->str, key);
    if (type == GGUF_ARRAY) return read_array(r, key, out);
    uint64_t num_bytes = scalar_bytes(out->type);
    if (num_bytes > r->len - r->pos) return cut_off(r, key, num_bytes);
    const uint8_t *bytes = r->bytes + r->pos;
    r->pos += num_bytes;
    if (is_float_type(out->type))
        out->f = load_float(out->type, bytes);
    else
        out->i = load_int(out->type, bytes);
    return out->type == GGUF_BOOL ? check_bools(r, key, bytes, 1) : STATUS_OK;
}

static Status read_key(Reader *r, const char **out) {
    uint64_t pos = r->pos;
    GgufString key = {0};
    TRY(read_string(r, &key, "a metadata key"));
    if (key.len == 0)
        return diag_error(r->sink, DIAG_F0005, span_at(r, pos), "an empty metadata key");
    if (key.len > MAX_KEY_BYTES)
        return diag_error(r->sink, DIAG_F0005, span_at(r, pos),
                          "a metadata key of %" PRIu64 " bytes, at most %d are allowed", key.len,
                          MAX_KEY_BYTES);
    for (uint64_t i = 0; i < key.len; i++)
        if ((uint8_t)key.data[i] < 0x20 || (uint8_t)key.data[i] == 0x7f)
            return diag_error(r->sink, DIAG_F0005, span_at(r, pos + 8 + i),
                              "a metadata key holds the control byte 0x%02x",
                              (unsigned)(uint8_t)key.data[i]);
    *out = arena_strndup(&r->gguf->arena, key.data, key.len);
    return STATUS_OK;
}

static Status read_entries(Reader *r, uint64_t count) {
    Gguf *gguf = r->gguf;
    gguf->entries = ARENA_ARRAY(&gguf->arena, GgufEntry, count);
    gguf->is_used = ARENA_ARRAY(&gguf->arena, bool, count);
    gguf->entry_names = name_table_create(&gguf->arena, count);
    for (uint64_t i = 0; i < count; i++) {
        GgufEntry *entry = &gguf->entries[i];
        entry->file_offset = r->pos;
        TRY(read_key(r, &entry->key));
        uint32_t *slot = entry_slot(gguf, entry->key);
        if (*slot)
            return diag_error(r->sink, DIAG_F0005, span_at(r, entry->file_offset),
                              "metadata key %s occurs twice", entry->key);
        TRY(read_value(r, entry->key, &entry->value));
        *slot = (uint32_t)i + 1;
        gguf->num_entries = i + 1;
    }
    return STATUS_OK;
}

static Status read_alignment(Reader *r) {
    Gguf *gguf = r->gguf;
    gguf->alignment = DEFAULT_ALIGNMENT_BYTES;
    const uint32_t *slot = entry_slot(gguf, "general.alignment");
    if (!*slot) return STATUS_OK;
    const GgufEntry *entry = &gguf->entries[*slot - 1];
    gguf->is_used[*slot - 1] = true;
    if (entry->value.type != GGUF_U32)
        return diag_error(r->sink, DIAG_F0007, span_at(r, entry->file_offset),
                          "general.alignment must be an unsigned 32-bit integer");
    uint64_t alignment = entry->value.u;
    if (alignment == 0 || (alignment & (alignment - 1)))
        return diag_error(r->sink, DIAG_F0007, span_at(r, entry->file_offset),
                          "general.alignment is %" PRIu64 ", not a power of two", alignment);
    gguf->alignment = alignment;
    return STATUS_OK;
}

// A file that says it is one of several; the numbers in names count from 1, those inside from 0.
static Status refuse_shard(Reader *r) {
    Gguf *gguf = r->gguf;
    uint64_t count = 0, number = 0, total = 0;
    if (!gguf_get_u64(gguf, "split.count", &count) || count <= 1) return STATUS_OK;
    bool has_number = gguf_get_u64(gguf, "split.no", &number) && number < UINT32_MAX;
    Status status =
        has_number ? diag_error(r->sink, DIAG_F0012, span_at(r, 0),
                                "this is part %" PRIu64 " of a model split into %" PRIu64 " files",
                                number + 1, count)
                   : diag_error(r->sink, DIAG_F0012, span_at(r, 0),
                                "this is part of a model split into %" PRIu64 " files", count);
    if (gguf_get_u64(gguf, "split.tensors.count", &total))
        diag_evidence(r->sink, "%" PRIu64 " of %" PRIu64 " tensors are in this file",
                      gguf->num_tensors, total);
    diag_write(r->sink, "gguf-split --merge FIRST-PART.gguf WHOLE.gguf, then use WHOLE.gguf");
    return status;
}

// ---------------------------------------------------------------- tensors

static Status read_tensor_name(Reader *r, const char **out) {
    uint64_t pos = r->pos;
    GgufString name = {0};
    TRY(read_string(r, &name, "a tensor name"));
    if (name.len == 0 || name.len > MAX_TENSOR_NAME_BYTES)
        return diag_error(r->sink, DIAG_F0008, span_at(r, pos),
                          "a tensor name of %" PRIu64 " bytes; 1 to %d are allowed", name.len,
                          MAX_TENSOR_NAME_BYTES);
    for (uint64_t i = 0; i < name.len; i++)
        if ((uint8_t)name.data[i] < 0x20 || (uint8_t)name.data[i] == 0x7f)
            return diag_error(r->sink, DIAG_F0008, span_at(r, pos + 8 + i),
                              "a tensor name holds the control byte 0x%02x",
                              (unsigned)(uint8_t)name.data[i]);
    *out = arena_strndup(&r->gguf->arena, name.data, name.len);
    return STATUS_OK;
}

// Dimensions, type, and from them the size in bytes.
static Status read_tensor_shape(Reader *r, GgufTensor *tensor) {
    uint64_t pos = r->pos;
    TRY(read_u32(r, &tensor->num_dims, tensor->name));
    if (tensor->num_dims < 1 || tensor->num_dims > GGUF_MAX_DIMS)
        return diag_error(r->sink, DIAG_F0009, span_at(r, pos),
                          "%s has %" PRIu32 " dimensions; 1 to %d are allowed", tensor->name,
                          tensor->num_dims, GGUF_MAX_DIMS);
    uint64_t num_elems = 1;
    for (uint32_t i = 0; i < GGUF_MAX_DIMS; i++) tensor->dims[i] = 1;
    for (uint32_t i = 0; i < tensor->num_dims; i++) {
        pos = r->pos;
        TRY(read_u64(r, &tensor->dims[i], tensor->name));
        if (tensor->dims[i] == 0 || !size_mul(num_elems, tensor->dims[i], &num_elems) ||
            num_elems > INT64_MAX / 8)
            return diag_error(r->sink, DIAG_F0009, span_at(r, pos),
                              "%s: dimension %" PRIu32 " is %" PRIu64, tensor->name, i,
                              tensor->dims[i]);
    }
    pos = r->pos;
    uint32_t type = 0;
    TRY(read_u32(r, &type, tensor->name));
    if (!quant_find_gguf_type(type, &tensor->format))
        return diag_error(r->sink, DIAG_F0010, span_at(r, pos),
                          "%s is stored as type number %" PRIu32 ", which is not supported",
                          tensor->name, type);
    const QuantInfo *info = quant_info(tensor->format);
    if (tensor->dims[0] % info->block_elems)
        return diag_error(r->sink, DIAG_F0009, span_at(r, pos),
                          "%s: a row of %" PRIu64 " elements is not a whole number of %s blocks "
                          "of %" PRIu32,
                          tensor->name, tensor->dims[0], info->name, info->block_elems);
    tensor->len_bytes = num_elems / info->block_elems * info->block_bytes;
    return STATUS_OK;
}

static Status read_tensors(Reader *r, uint64_t count) {
    Gguf *gguf = r->gguf;
    gguf->tensors = ARENA_ARRAY(&gguf->arena, GgufTensor, count);
    gguf->tensor_names = name_table_create(&gguf->arena, count);
    for (uint64_t i = 0; i < count; i++) {
        GgufTensor *tensor = &gguf->tensors[i];
        uint64_t pos = r->pos;
        tensor->index = (uint32_t)i;
        TRY(read_tensor_name(r, &tensor->name));
        uint32_t *slot = tensor_slot(gguf, tensor->name);
        if (*slot)
            return diag_error(r->sink, DIAG_F0008, span_at(r, pos), "tensor name %s occurs twice",
                              tensor->name);
        TRY(read_tensor_shape(r, tensor));
        pos = r->pos;
        TRY(read_u64(r, &tensor->file_offset, tensor->name)); // of the data section, for now
        if (tensor->file_offset % gguf->alignment)
            return diag_error(r->sink, DIAG_F0011, span_at(r, pos),
                              "%s: offset %" PRIu64 " is not a multiple of the alignment %" PRIu64,
                              tensor->name, tensor->file_offset, gguf->alignment);
        *slot = (uint32_t)i + 1;
        gguf->num_tensors = i + 1;
    }
    return STATUS_OK;
}

static int compare_offset(const void *a, const void *b) {
    const GgufTensor *x = *(const GgufTensor *const *)a, *y = *(const GgufTensor *const *)b;
    if (x->file_offset != y->file_offset) return x->file_offset < y->file_offset ? -1 : 1;
    return x->index < y->index ? -1 : x->index > y->index;
}

// Data of no two tensors may share a byte; what follows the last one may not be another GGUF file.
static Status check_layout(Reader *r) {
    Gguf *gguf = r->gguf;
    if (gguf->num_tensors == 0) return STATUS_OK;
    const GgufTensor **order = ARENA_ARRAY(&gguf->arena, const GgufTensor *, gguf->num_tensors);
    for (uint64_t i = 0; i < gguf->num_tensors; i++) order[i] = &gguf->tensors[i];
    array_sort(order, gguf->num_tensors, sizeof *order, compare_offset);
    for (uint64_t i = 1; i < gguf->num_tensors; i++) {
        const GgufTensor *prev = order[i - 1], *next = order[i];
        if (prev->file_offset + prev->len_bytes <= next->file_offset) continue;
        return diag_error(r->sink, DIAG_F0011, span_at(r, next->file_offset),
                          "the data of %s and %s overlap", prev->name, next->name);
    }
    const GgufTensor *last = order[gguf->num_tensors - 1];
    uint64_t end = last->file_offset + last->len_bytes;
    uint64_t padded = align_up(end, gguf->alignment);
    for (int i = 0; i < 2; i++, end = padded)
        if (end <= r->len && r->len - end >= 8 && memcmp(r->bytes + end, "GGUF", 4) == 0)
            return diag_error(r->sink, DIAG_F0013, span_at(r, end),
                              "another GGUF file begins after the last tensor");
    return STATUS_OK;
}

static Status place_tensors(Reader *r) {
    Gguf *gguf = r->gguf;
    uint64_t start = align_up(r->pos, gguf->alignment);
    for (uint64_t i = 0; i < gguf->num_tensors; i++) {
        GgufTensor *tensor = &gguf->tensors[i];
        uint64_t begin = 0, end = 0;
        if (!size_add(start, tensor->file_offset, &begin) ||
            !size_add(begin, tensor->len_bytes, &end) || end > r->len)
            return diag_error(r->sink, DIAG_F0004, span_at(r, r->pos),
                              "%s: its %" PRIu64 " bytes at offset %" PRIu64 " of the data end "
                              "beyond the file, which has %" PRIu64 " bytes",
                              tensor->name, tensor->len_bytes, tensor->file_offset, r->len);
        tensor->file_offset = begin;
        tensor->data = r->bytes + begin;
    }
    return check_layout(r);
}

// ---------------------------------------------------------------- open, close

static Status read_all(Reader *r) {
    uint64_t num_entries = 0, num_tensors = 0;
    TRY(read_header(r, &num_entries, &num_tensors));
    TRY(read_entries(r, num_entries));
    TRY(read_alignment(r));
    TRY(read_tensors(r, num_tensors));
    TRY(refuse_shard(r));
    return place_tensors(r);
}

Status gguf_open(const char *path, DiagSink *sink, Gguf **out_gguf) {
    FileMap map = {0};
    TRY(file_map_open(path, sink, &map));
    Gguf *gguf = base_alloc(1, sizeof *gguf);
    gguf->map = map;
    arena_init(&gguf->arena);
    gguf->path = arena_strdup(&gguf->arena, path);
    // Lookups work on a file without a single entry, too.
    gguf->entry_names = name_table_create(&gguf->arena, 0);
    gguf->tensor_names = name_table_create(&gguf->arena, 0);
    Reader reader = {.gguf = gguf, .sink = sink, .bytes = map.data, .len = map.len_bytes};
    Status status = read_all(&reader);
    if (status != STATUS_OK) {
        gguf_close(gguf);
        return status;
    }
    *out_gguf = gguf;
    return STATUS_OK;
}

void gguf_close(Gguf *gguf) {
    if (!gguf) return;
    file_map_close(&gguf->map);
    arena_deinit(&gguf->arena);
    free(gguf);
}

// ---------------------------------------------------------------- outlines

Gguf *gguf_outline_create(const char *path) {
    Gguf *gguf = base_alloc(1, sizeof *gguf);
    arena_init(&gguf->arena);
    gguf->is_outline = true;
    gguf->path = arena_strdup(&gguf->arena, path);
    gguf->entry_names = name_table_create(&gguf->arena, 0);
    gguf->tensor_names = name_table_create(&gguf->arena, 0);
    return gguf;
}

bool gguf_is_outline(const Gguf *gguf) {
    return gguf->is_outline;
}

void gguf_outline_reserve(Gguf *gguf, size_t max_tensors) {
    BUG_IF(!gguf->is_outline || gguf->max_tensors, "room for tensors is made once");
    gguf->max_tensors = max_tensors;
    gguf->tensors = ARENA_ARRAY(&gguf->arena, GgufTensor, MAX(max_tensors, (size_t)1));
    gguf->tensor_names = name_table_create(&gguf->arena, max_tensors);
}

const GgufTensor *gguf_outline_add(Gguf *gguf, const char *name, const uint64_t *dims,
                                   uint32_t num_dims, QuantFormat format) {
    const QuantInfo *info = quant_info(format);
    BUG_IF(gguf->num_tensors == gguf->max_tensors, "no room was made for tensor %s", name);
    GgufTensor *tensor = &gguf->tensors[gguf->num_tensors];
    *tensor = (GgufTensor){.name = arena_strdup(&gguf->arena, name),
                           .index = (uint32_t)gguf->num_tensors,
                           .num_dims = num_dims,
                           .format = format};
    tensor->len_bytes = dims[0] / info->block_elems * info->block_bytes;
    for (uint32_t i = 0; i < GGUF_MAX_DIMS; i++) {
        tensor->dims[i] = i < num_dims ? dims[i] : 1;
        if (i) tensor->len_bytes *= tensor->dims[i];
    }
    uint32_t *slot = tensor_slot(gguf, name);
    BUG_IF(*slot, "tensor %s is there already", name);
    *slot = (uint32_t)++gguf->num_tensors;
    return tensor;
}

// ---------------------------------------------------------------- access

const char *gguf_path(const Gguf *gguf) {
    return gguf->path;
}
uint32_t gguf_version(const Gguf *gguf) {
    return gguf->version;
}
uint64_t gguf_len_bytes(const Gguf *gguf) {
    return gguf->map.len_bytes;
}
const uint8_t *gguf_bytes(const Gguf *gguf) {
    return gguf->map.data;
}
size_t gguf_num_entries(const Gguf *gguf) {
    return gguf->num_entries;
}
const GgufEntry *gguf_entry(const Gguf *gguf, size_t i) {
    return &gguf->entries[i];
}
size_t gguf_num_tensors(const Gguf *gguf) {
    return gguf->num_tensors;
}
const GgufTensor *gguf_tensor(const Gguf *gguf, size_t i) {
    return &gguf->tensors[i];
}

DiagSpan gguf_key_span(const Gguf *gguf, const char *key) {
    uint32_t number = *entry_slot(gguf, key);
    return (DiagSpan){.file = gguf->path,
                      .byte_offset = number ? gguf->entries[number - 1].file_offset : 0};
}

const GgufValue *gguf_find(const Gguf *gguf, const char *key) {
    uint32_t number = *entry_slot(gguf, key);
    if (!number) return NULL;
    gguf->is_used[number - 1] = true; // a note beside the file, not a part of it
    return &gguf->entries[number - 1].value;
}

const GgufTensor *gguf_find_tensor(const Gguf *gguf, const char *name) {
    uint32_t number = *tensor_slot(gguf, name);
    return number ? &gguf->tensors[number - 1] : NULL;
}

bool gguf_get_u64(const Gguf *gguf, const char *key, uint64_t *out) {
    const GgufValue *value = gguf_find(gguf, key);
    if (!value) return false;
    switch (value->type) {
    case GGUF_U8:
    case GGUF_U16:
    case GGUF_U32:
    case GGUF_U64: break;
    case GGUF_I8:
    case GGUF_I16:
    case GGUF_I32:
    case GGUF_I64:
        if (value->i < 0) return false;
        break;
    case GGUF_F32:
    case GGUF_F64:
    case GGUF_BOOL:
    case GGUF_STRING:
    case GGUF_ARRAY: return false;
    }
    *out = value->u;
    return true;
}

bool gguf_get_f64(const Gguf *gguf, const char *key, double *out) {
    const GgufValue *value = gguf_find(gguf, key);
    if (!value || !is_float_type(value->type)) return false;
    *out = value->f;
    return true;
}

bool gguf_get_bool(const Gguf *gguf, const char *key, bool *out) {
    const GgufValue *value = gguf_find(gguf, key);
    if (!value || value->type != GGUF_BOOL) return false;
    *out = value->u != 0;
    return true;
}

bool gguf_get_string(const Gguf *gguf, const char *key, GgufString *out) {
    const GgufValue *value = gguf_find(gguf, key);
    if (!value || value->type != GGUF_STRING) return false;
    *out = value->str;
    return true;
}

static const uint8_t *array_elem(const GgufValue *array, uint64_t i) {
    BUG_IF(array->type != GGUF_ARRAY || i >= array->array.count || !array->array.data,
           "not a numeric array or no element %" PRIu64, i);
    return array->array.data + i * scalar_bytes(array->array.elem_type);
}

int64_t gguf_array_int(const GgufValue *array, uint64_t i) {
    return load_int(array->array.elem_type, array_elem(array, i));
}

double gguf_array_float(const GgufValue *array, uint64_t i) {
    const uint8_t *bytes = array_elem(array, i);
    GgufType type = array->array.elem_type;
    return is_float_type(type) ? load_float(type, bytes) : (double)load_int(type, bytes);
}

bool gguf_is_used(const Gguf *gguf, size_t entry_index) {
    return gguf->is_used[entry_index];
}

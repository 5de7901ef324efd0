// The table of weight formats: quant.def; the arithmetic is IR text in data/quant/.
#include "abi/quant.h"

#include <string.h>

#include "base/embedded.h"

#define PLANE(suffix_, elem_, elem_bytes_, offset_, rank_, ...)                                    \
    {                                                                                              \
        .suffix = (suffix_), .elem = (elem_), .elem_bytes = (elem_bytes_), .rank = (rank_),        \
        .dims = {__VA_ARGS__}, .byte_offset = (offset_)                                            \
    }
#define F16_PLANE(suffix_, offset_)            PLANE(suffix_, "f16", 2, offset_, 0, 0)
#define I8_PLANE(suffix_, offset_, rank_, ...) PLANE(suffix_, "i8", 1, offset_, rank_, __VA_ARGS__)
// One of the two i8 planes of 8 that come out of 12 bytes of packed six-bit scales and minima.
#define PACKED_PLANE(suffix_, offset_)                                                             \
    {                                                                                              \
        .suffix = (suffix_), .elem = "i8", .elem_bytes = 1, .rank = 1, .dims = {8},                \
        .byte_offset = (offset_), .is_packed = true                                                \
    }

// Texts of data/quant/*.mlir, made into strings by the build.
extern const EmbeddedFile quant_ir_files[];

#define COUNT(...) (sizeof((const QuantPlane[]){__VA_ARGS__}) / sizeof(QuantPlane))
static const QuantInfo formats[NUM_QUANT_FORMATS] = {
#define QUANT(id, name_, type_, elems_, bytes_, ...)                                               \
    [QUANT_##id] = {.name = (name_),                                                               \
                    .gguf_type = (type_),                                                          \
                    .block_elems = (elems_),                                                       \
                    .block_bytes = (bytes_),                                                       \
                    .num_planes = COUNT(__VA_ARGS__),                                              \
                    .planes = {__VA_ARGS__}},
#include "abi/quant.def"
#undef QUANT
};

const char *quant_decode_ir(const QuantInfo *info) {
    size_t len = strlen(info->name);
    for (const EmbeddedFile *file = quant_ir_files; file->name; file++)
        if (strncmp(file->name, info->name, len) == 0 && strcmp(file->name + len, ".mlir") == 0)
            return file->text;
    return NULL;
}

const QuantInfo *quant_info(QuantFormat format) {
    BUG_IF((unsigned)format >= NUM_QUANT_FORMATS, "no weight format %d", (int)format);
    return &formats[format];
}

bool quant_find(const char *name, QuantFormat *out_format) {
    for (int i = 0; i < NUM_QUANT_FORMATS; i++) {
        if (strcmp(formats[i].name, name) != 0) continue;
        *out_format = (QuantFormat)i;
        return true;
    }
    return false;
}

bool quant_find_gguf_type(uint32_t gguf_type, QuantFormat *out_format) {
    for (int i = 0; i < NUM_QUANT_FORMATS; i++) {
        if (formats[i].gguf_type != gguf_type) continue;
        *out_format = (QuantFormat)i;
        return true;
    }
    return false;
}

// Scale and minimum j (0..7) out of the 12 bytes of Q4_K and Q5_K: the first four of each lie in
// the low six bits of bytes 0..3 and 4..7; of the others the low nibbles lie in bytes 8..11 (scale
// low, minimum high), the two high bits on top of the first four.
static uint8_t packed_scale(const uint8_t *bytes, uint32_t j) {
    if (j < 4) return bytes[j] & 63;
    return (uint8_t)((bytes[j + 4] & 15) | (bytes[j - 4] >> 6) << 4);
}

static uint8_t packed_min(const uint8_t *bytes, uint32_t j) {
    if (j < 4) return bytes[j + 4] & 63;
    return (uint8_t)(bytes[j + 4] >> 4 | (bytes[j] >> 6) << 4);
}

void quant_split_plane(QuantFormat format, uint32_t plane, const uint8_t *blocks,
                       uint64_t num_blocks, void *out) {
    const QuantInfo *info = quant_info(format);
    BUG_IF(plane >= info->num_planes, "%s has no plane %u", info->name, plane);
    const QuantPlane *p = &info->planes[plane];
    uint64_t plane_bytes = p->elem_bytes;
    for (uint32_t i = 0; i < p->rank; i++) plane_bytes *= p->dims[i];
    bool is_min = p->suffix[0] == 'm';
    uint8_t *dst = out;
    for (uint64_t b = 0; b < num_blocks; b++, dst += plane_bytes) {
        const uint8_t *src = blocks + b * info->block_bytes + p->byte_offset;
        if (!p->is_packed) {
            memcpy(dst, src, plane_bytes);
            continue;
        }
        for (uint32_t j = 0; j < 8; j++)
            dst[j] = is_min ? packed_min(src, j) : packed_scale(src, j);
    }
}

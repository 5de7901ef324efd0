// Storage formats of weight tensors: one table (quant.def) for block sizes and the planes a block
// splits into. A plane is a plain tensor [rows, blocks, plane shape...] of the
// plane's type, cut out of every block at a fixed byte offset (Q4_K and Q5_K: their 12 packed scale
// bytes are first split into two i8 planes of 8, lossless). The arithmetic that turns planes into
// numbers is IR text.
#ifndef INGOT_ABI_QUANT_H
#define INGOT_ABI_QUANT_H

#include "base/base.h"

typedef enum QuantFormat {
#define QUANT(id, name, gguf_type, block_elems, block_bytes, ...) QUANT_##id,
#include "abi/quant.def"
#undef QUANT
    NUM_QUANT_FORMATS
} QuantFormat;

typedef struct QuantPlane {
    const char *suffix; // "q", "d", "m", "qh", "sc", "mn", "dmin", ...; names the IR argument
    const char *elem;   // IR element type: "i8", "f16", "i32", "f32", "bf16"
    uint32_t elem_bytes;
    uint32_t rank; // dims beside rows and blocks; 0 = one element per block
    uint32_t dims[4];
    uint32_t byte_offset; // in the block; planes that need unpacking have is_packed set
    bool is_packed;       // 6-bit scale/min planes of Q4_K, Q5_K
} QuantPlane;

enum { QUANT_MAX_PLANES = 6 };

typedef struct QuantInfo {
    const char *name;
    uint32_t gguf_type;
    uint32_t block_elems, block_bytes;
    uint32_t num_planes; // 1 for plain floats: suffix "", block of one element, rank 0
    QuantPlane planes[QUANT_MAX_PLANES];
} QuantInfo;

const QuantInfo *quant_info(QuantFormat format);
// Is it a block format, whose planes a text decodes? The others are plain floats.
static inline bool quant_is_block(const QuantInfo *info) {
    return info->block_elems > 1;
}
// The function that decodes it, level-1 IR with ${N} rows of ${KB} blocks, ${K} elements; NULL for
// plain floats.
const char *quant_decode_ir(const QuantInfo *info);
bool quant_find(const char *name, QuantFormat *out_format);
bool quant_find_gguf_type(uint32_t gguf_type, QuantFormat *out_format);

// Copies plane `plane` of blocks [first, first + num_blocks) to out, packed without gaps
// (num_blocks * elements of the plane * elem_bytes).
void quant_split_plane(QuantFormat format, uint32_t plane, const uint8_t *blocks,
                       uint64_t num_blocks, void *out);

#endif

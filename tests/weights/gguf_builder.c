// See gguf_builder.h.
#include "gguf_builder.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <unistd.h>

void gguf_builder_deinit(GgufBuilder *b) {
    strbuf_deinit(&b->entries);
    strbuf_deinit(&b->tensors);
    strbuf_deinit(&b->data);
    *b = (GgufBuilder){0};
}

void gguf_builder_bytes(StrBuf *out, const void *bytes, size_t len) {
    strbuf_append(out, bytes, len);
}

void gguf_builder_put_u32(StrBuf *out, uint32_t value) {
    gguf_builder_bytes(out, &value, sizeof value);
}

void gguf_builder_put_u64(StrBuf *out, uint64_t value) {
    gguf_builder_bytes(out, &value, sizeof value);
}

void gguf_builder_put_string(StrBuf *out, const char *text) {
    gguf_builder_put_u64(out, strlen(text));
    gguf_builder_bytes(out, text, strlen(text));
}

void gguf_builder_entry(GgufBuilder *b, const char *key, GgufType type) {
    gguf_builder_put_string(&b->entries, key);
    gguf_builder_put_u32(&b->entries, (uint32_t)type);
    b->num_entries++;
}

void gguf_builder_u32(GgufBuilder *b, const char *key, uint32_t value) {
    gguf_builder_entry(b, key, GGUF_U32);
    gguf_builder_put_u32(&b->entries, value);
}

void gguf_builder_f32(GgufBuilder *b, const char *key, float value) {
    gguf_builder_entry(b, key, GGUF_F32);
    gguf_builder_bytes(&b->entries, &value, sizeof value);
}

void gguf_builder_string(GgufBuilder *b, const char *key, const char *value) {
    gguf_builder_entry(b, key, GGUF_STRING);
    gguf_builder_put_string(&b->entries, value);
}

void gguf_builder_tensor_info(GgufBuilder *b, const char *name, uint32_t type, uint32_t num_dims,
                              const uint64_t *dims, uint64_t offset) {
    gguf_builder_put_string(&b->tensors, name);
    gguf_builder_put_u32(&b->tensors, num_dims);
    for (uint32_t i = 0; i < num_dims; i++) gguf_builder_put_u64(&b->tensors, dims[i]);
    gguf_builder_put_u32(&b->tensors, type);
    gguf_builder_put_u64(&b->tensors, offset);
    b->num_tensors++;
}

static uint64_t alignment(const GgufBuilder *b) {
    return b->alignment ? b->alignment : 32;
}

static void pad(StrBuf *out, uint64_t to) {
    while (out->len % to) strbuf_putc(out, 0);
}

// Numerical recipes' linear congruence: the same bytes everywhere.
static uint32_t next_random(uint32_t *state) {
    return *state = *state * 1664525u + 1013904223u;
}

static void fill_random(uint8_t *bytes, const QuantInfo *info, uint64_t num_blocks, uint32_t seed) {
    if (info->gguf_type == 0) {
        for (uint64_t i = 0; i < num_blocks; i++) {
            float value = (float)(next_random(&seed) >> 8) / (float)(1 << 23) - 1.0f;
            memcpy(bytes + i * sizeof value, &value, sizeof value);
        }
        return;
    }
    for (uint64_t i = 0; i < num_blocks * info->block_bytes; i++)
        bytes[i] = (uint8_t)(next_random(&seed) >> 24);
    for (uint32_t p = 0; p < info->num_planes; p++) {
        const QuantPlane *plane = &info->planes[p];
        if (plane->elem_bytes != 2) continue;
        // Exponents of 2^-7 to 2^-3: the high bytes 0x20 to 0x2f of f16, 0x3c to 0x3d of bf16.
        bool is_bf16 = info->gguf_type == 30;
        for (uint64_t i = 0; i < num_blocks; i++) {
            uint8_t *high = bytes + i * info->block_bytes + plane->byte_offset + 1;
            *high = (uint8_t)(is_bf16 ? 0x3c | (*high & 0x81) : 0x20 | (*high & 0x8f));
        }
    }
}

void gguf_builder_tensor(GgufBuilder *b, const char *name, QuantFormat format, uint32_t num_dims,
                         const uint64_t *dims) {
    const QuantInfo *info = quant_info(format);
    uint64_t num_elems = 1;
    for (uint32_t i = 0; i < num_dims; i++) num_elems *= dims[i];
    uint64_t num_blocks = num_elems / info->block_elems, len = num_blocks * info->block_bytes;
    pad(&b->data, alignment(b));
    gguf_builder_tensor_info(b, name, info->gguf_type, num_dims, dims, b->data.len);
    uint8_t *bytes = base_alloc(len, 1);
    fill_random(bytes, info, num_blocks, (uint32_t)b->num_tensors * 7919u);
    gguf_builder_bytes(&b->data, bytes, len);
    free(bytes);
}

void gguf_builder_finish(const GgufBuilder *b, StrBuf *out) {
    gguf_builder_bytes(out, "GGUF", 4);
    gguf_builder_put_u32(out, b->version ? b->version : 3);
    gguf_builder_put_u64(out, b->num_tensors);
    gguf_builder_put_u64(out, b->num_entries);
    if (b->entries.len) gguf_builder_bytes(out, b->entries.data, b->entries.len);
    if (b->tensors.len) gguf_builder_bytes(out, b->tensors.data, b->tensors.len);
    pad(out, alignment(b));
    if (b->data.len) gguf_builder_bytes(out, b->data.data, b->data.len);
}

Status gguf_builder_open(const void *bytes, size_t len, DiagSink *sink, Gguf **out_gguf) {
    int fd = memfd_create("gguf", 0);
    BUG_IF(fd < 0, "no anonymous file");
    for (size_t done = 0; done < len;) {
        ssize_t n = write(fd, (const char *)bytes + done, len - done);
        BUG_IF(n <= 0, "cannot write");
        done += (size_t)n;
    }
    char path[64];
    snprintf(path, sizeof path, "/proc/self/fd/%d", fd);
    Status status = gguf_open(path, sink, out_gguf);
    close(fd); // a mapping stays
    return status;
}

// The decoding of every block format: the IR text, run by the reference interpreter on random
// blocks, gives bit for bit what the format's published formula gives; and every byte of a block
// reaches a plane.
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

#include "abi/quant.h"
#include "base/float16.h"
#include "ir/interp.h"
#include "ir/parse.h"
#include "ir/verify.h"

enum { ROWS = 3, BLOCKS = 2, MAX_BLOCK_BYTES = 256, MAX_BLOCK_ELEMS = 256 };

static uint32_t seed = 12345;
static uint8_t random_byte(void) {
    return (uint8_t)((seed = seed * 1664525u + 1013904223u) >> 24);
}

// ---------------------------------------------------------------- the formulas (ggml-quants.c's
// layout)

static float half_at(const uint8_t *block, int offset) {
    uint16_t bits;
    memcpy(&bits, block + offset, 2);
    return f16_to_f32(bits);
}

static int nibble(const uint8_t *q, int i, bool is_high) {
    return is_high ? q[i] >> 4 : q[i] & 15;
}

static const int8_t levels[16] = {-127, -104, -83, -65, -49, -35, -22, -10,
                                  1,    13,   25,  38,  53,  69,  89,  113};

static void decode_small(QuantFormat format, const uint8_t *b, float *out) {
    float d = half_at(b, 0), m = half_at(b, 2);
    uint32_t qh = 0;
    if (format == QUANT_Q5_0 || format == QUANT_Q5_1)
        memcpy(&qh, b + (format == QUANT_Q5_0 ? 2 : 4), 4);
    for (int i = 0; i < 32; i++) {
        int fifth = (int)(qh >> i & 1) << 4;
        switch (format) {
        case QUANT_Q8_0: out[i] = (float)(int8_t)b[2 + i] * d; break;
        case QUANT_Q4_0: out[i] = (float)(nibble(b + 2, i % 16, i >= 16) - 8) * d; break;
        case QUANT_Q4_1: out[i] = (float)nibble(b + 4, i % 16, i >= 16) * d + m; break;
        case QUANT_Q5_0: out[i] = (float)((nibble(b + 6, i % 16, i >= 16) | fifth) - 16) * d; break;
        case QUANT_Q5_1: out[i] = (float)(nibble(b + 8, i % 16, i >= 16) | fifth) * d + m; break;
        case QUANT_IQ4_NL: out[i] = (float)levels[nibble(b + 2, i % 16, i >= 16)] * d; break;
        default: fail_msg("not a small format");
        }
    }
}

static void scale_min(const uint8_t *q, int j, int *scale, int *min) {
    if (j < 4) {
        *scale = q[j] & 63;
        *min = q[j + 4] & 63;
    } else {
        *scale = (q[j + 4] & 15) | (q[j - 4] >> 6) << 4;
        *min = q[j + 4] >> 4 | (q[j] >> 6) << 4;
    }
}

static void decode_q45_k(bool is_q5, const uint8_t *b, float *out) {
    float d = half_at(b, 0), dmin = half_at(b, 2);
    const uint8_t *q = b + (is_q5 ? 48 : 16), *qh = b + 16;
    for (int i = 0; i < 256; i++) {
        int scale, min, group = i / 64, is_high = i / 32 % 2, l = i % 32;
        scale_min(b + 4, i / 32, &scale, &min);
        int code = nibble(q + group * 32, l, is_high);
        if (is_q5) code += qh[l] >> (2 * group + is_high) & 1 ? 16 : 0;
        float d1 = d * (float)scale, m1 = dmin * (float)min;
        out[i] = d1 * (float)code - m1;
    }
}

static void decode_q6_k(const uint8_t *b, float *out) {
    float d = half_at(b, 208);
    for (int n = 0; n < 2; n++) {
        const uint8_t *ql = b + 64 * n, *qh = b + 128 + 32 * n;
        const int8_t *sc = (const int8_t *)b + 192 + 8 * n;
        for (int l = 0; l < 32; l++)
            for (int part = 0; part < 4; part++) {
                int low = nibble(ql, l + 32 * (part % 2), part >= 2);
                int code = (low | (qh[l] >> (2 * part) & 3) << 4) - 32;
                out[128 * n + 32 * part + l] = d * (float)sc[l / 16 + 2 * part] * (float)code;
            }
    }
}

static void decode_block(QuantFormat format, const uint8_t *block, float *out) {
    if (format == QUANT_Q6_K)
        decode_q6_k(block, out);
    else if (format == QUANT_Q4_K || format == QUANT_Q5_K)
        decode_q45_k(format == QUANT_Q5_K, block, out);
    else
        decode_small(format, block, out);
}

// ---------------------------------------------------------------- the IR

static void fill(const char *text, const QuantInfo *info, StrBuf *out) {
    for (; *text; text++) {
        if (text[0] != '$') {
            strbuf_putc(out, *text);
            continue;
        }
        if (strncmp(text, "${N}", 4) == 0)
            strbuf_printf(out, "%d", ROWS);
        else if (strncmp(text, "${KB}", 5) == 0)
            strbuf_printf(out, "%d", BLOCKS);
        else if (strncmp(text, "${K}", 4) == 0)
            strbuf_printf(out, "%u", BLOCKS * info->block_elems);
        else
            fail_msg("unknown placeholder %.6s", text);
        text = strchr(text, '}');
    }
}

static void interpret(QuantFormat format, const uint8_t *blocks, float *out, DiagSink *sink) {
    const QuantInfo *info = quant_info(format);
    StrBuf text = {0}, name = {0};
    IrModule *m = NULL;
    IrInterpValue args[QUANT_MAX_PLANES] = {0}, result = {0};
    fill(quant_decode_ir(info), info, &text);
    strbuf_printf(&name, "dequant_%s", info->name);
    assert_int_equal(ir_parse(text.data, text.len, info->name, sink, &m), STATUS_OK);
    assert_int_equal(ir_verify(m, &(IrVerifyOptions){.level = 1}, sink), STATUS_OK);
    const IrType *type = ir_func_type(ir_symbol_find(m, name.data));
    assert_int_equal(type->num_inputs, info->num_planes);
    for (uint32_t p = 0; p < info->num_planes; p++) {
        uint64_t len = (uint64_t)ir_type_num_elems(type->inputs[p]) * info->planes[p].elem_bytes;
        args[p] = (IrInterpValue){.type = type->inputs[p], .data = malloc(len), .len_bytes = len};
        assert_non_null(args[p].data);
        quant_split_plane(format, p, blocks, ROWS * BLOCKS, args[p].data);
    }
    Status status = ir_interp_call(m, name.data, info->num_planes, args, 1, &result, NULL, sink);
    if (status != STATUS_OK) fail_msg("%s: %s", info->name, sink->diags[0].message);
    assert_int_equal(result.len_bytes, (size_t)ROWS * BLOCKS * info->block_elems * sizeof *out);
    memcpy(out, result.data, result.len_bytes);
    ir_interp_result_deinit(&result);
    for (uint32_t p = 0; p < info->num_planes; p++) free(args[p].data);
    ir_module_destroy(m);
    strbuf_deinit(&text);
    strbuf_deinit(&name);
}

static void random_block(const QuantInfo *info, uint8_t *block) {
    for (uint32_t i = 0; i < info->block_bytes; i++) block[i] = random_byte();
    for (uint32_t p = 0; p < info->num_planes; p++) // scales are finite
        if (info->planes[p].elem_bytes == 2) block[info->planes[p].byte_offset + 1] &= 0xbf;
}

static void test_decoding(void **state) {
    (void)state;
    static uint8_t blocks[ROWS * BLOCKS * MAX_BLOCK_BYTES];
    static float have[ROWS * BLOCKS * MAX_BLOCK_ELEMS], want[ROWS * BLOCKS * MAX_BLOCK_ELEMS];
    DiagSink sink;
    diag_sink_init(&sink);
    for (int f = 0; f < NUM_QUANT_FORMATS; f++) {
        const QuantInfo *info = quant_info((QuantFormat)f);
        if (!quant_is_block(info)) continue;
        for (int b = 0; b < ROWS * BLOCKS; b++) {
            random_block(info, blocks + (size_t)b * info->block_bytes);
            decode_block((QuantFormat)f, blocks + (size_t)b * info->block_bytes,
                         want + (size_t)b * info->block_elems);
        }
        interpret((QuantFormat)f, blocks, have, &sink);
        assert_memory_equal(have, want, (size_t)ROWS * BLOCKS * info->block_elems * sizeof *have);
    }
    diag_sink_deinit(&sink);
}

// Changing any bit of a block changes a plane: nothing is lost on the way.
static void test_planes_hold_everything(void **state) {
    (void)state;
    for (int f = 0; f < NUM_QUANT_FORMATS; f++) {
        const QuantInfo *info = quant_info((QuantFormat)f);
        uint8_t block[MAX_BLOCK_BYTES] = {0}, before[MAX_BLOCK_BYTES * 2],
                after[MAX_BLOCK_BYTES * 2];
        for (uint32_t bit = 0; bit < info->block_bytes * 8; bit++) {
            bool has_changed = false;
            for (uint32_t p = 0; p < info->num_planes; p++) {
                memset(before, 0, sizeof before);
                memset(after, 0, sizeof after);
                quant_split_plane((QuantFormat)f, p, block, 1, before);
                block[bit / 8] ^= (uint8_t)(1u << bit % 8);
                quant_split_plane((QuantFormat)f, p, block, 1, after);
                block[bit / 8] ^= (uint8_t)(1u << bit % 8);
                has_changed = has_changed || memcmp(before, after, sizeof before) != 0;
            }
            assert_true(has_changed);
        }
    }
}

static void test_table(void **state) {
    (void)state;
    for (int f = 0; f < NUM_QUANT_FORMATS; f++) {
        QuantFormat found = NUM_QUANT_FORMATS;
        const QuantInfo *info = quant_info((QuantFormat)f);
        assert_true(quant_find(info->name, &found) && found == (QuantFormat)f);
        assert_true(quant_find_gguf_type(info->gguf_type, &found) && found == (QuantFormat)f);
        assert_true((quant_decode_ir(info) != NULL) == quant_is_block(info));
    }
    QuantFormat found;
    assert_false(quant_find("q9_9", &found));
    assert_false(quant_find_gguf_type(4, &found));
}

int main(void) {
    const struct CMUnitTest tests[] = {cmocka_unit_test(test_decoding),
                                       cmocka_unit_test(test_planes_hold_everything),
                                       cmocka_unit_test(test_table)};
    return cmocka_run_group_tests(tests, NULL, NULL);
}

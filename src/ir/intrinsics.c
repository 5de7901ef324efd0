// Exact lane semantics of the intrinsics in intrinsics.def.
#include "ir/intrinsics.h"

#include "abi/cpu.h"

static void run_vpdpbusd(uint64_t *r, uint32_t lanes, const uint64_t *acc, const uint64_t *a,
                         const uint64_t *b) {
    for (uint32_t i = 0; i < lanes; i++) {
        uint32_t sum = (uint32_t)acc[i];
        for (uint32_t j = 4 * i; j < 4 * i + 4; j++) {
            sum += (uint32_t)((int32_t)(uint8_t)a[j] * (int32_t)(int8_t)b[j]);
        }
        r[i] = (uint64_t)(int64_t)(int32_t)sum;
    }
}

static void run_vpdpwssd(uint64_t *r, uint32_t lanes, const uint64_t *acc, const uint64_t *a,
                         const uint64_t *b) {
    for (uint32_t i = 0; i < lanes; i++) {
        uint32_t sum = (uint32_t)acc[i];
        for (uint32_t j = 2 * i; j < 2 * i + 2; j++) {
            sum += (uint32_t)((int32_t)(int16_t)a[j] * (int32_t)(int16_t)b[j]);
        }
        r[i] = (uint64_t)(int64_t)(int32_t)sum;
    }
}

static void run_pmaddubsw(uint64_t *r, uint32_t lanes, const uint64_t *a, const uint64_t *b,
                          const uint64_t *none) {
    (void)none;
    for (uint32_t i = 0; i < lanes; i++) {
        int32_t sum = (int32_t)(uint8_t)a[2 * i] * (int32_t)(int8_t)b[2 * i] +
                      (int32_t)(uint8_t)a[2 * i + 1] * (int32_t)(int8_t)b[2 * i + 1];
        r[i] = (uint64_t)(int64_t)MAX(INT16_MIN, MIN(INT16_MAX, sum));
    }
}

static void run_pmaddwd(uint64_t *r, uint32_t lanes, const uint64_t *a, const uint64_t *b,
                        const uint64_t *none) {
    (void)none;
    for (uint32_t i = 0; i < lanes; i++) {
        uint32_t sum = (uint32_t)((int32_t)(int16_t)a[2 * i] * (int32_t)(int16_t)b[2 * i]) +
                       (uint32_t)((int32_t)(int16_t)a[2 * i + 1] * (int32_t)(int16_t)b[2 * i + 1]);
        r[i] = (uint64_t)(int64_t)(int32_t)sum;
    }
}

static void run_gf2p8affineqb(uint64_t *r, uint32_t lanes, const uint64_t *x,
                              const uint64_t *matrix, const uint64_t *immediate) {
    uint8_t out[64];
    for (uint32_t i = 0; i < lanes; i++) {
        unsigned byte = 0;
        for (uint32_t k = 0; k < 8; k++) {
            unsigned row = (unsigned)matrix[(i & ~7u) + 7 - k] & 0xFFu;
            byte |= (unsigned)__builtin_parity(row & (unsigned)x[i]) << k;
        }
        out[i] = (uint8_t)(byte ^ (unsigned)immediate[0]);
    }
    for (uint32_t i = 0; i < lanes; i++) r[i] = (uint64_t)(int64_t)(int8_t)out[i];
}

static void run_permvar_qi(uint64_t *r, uint32_t lanes, const uint64_t *table,
                           const uint64_t *index, const uint64_t *none) {
    (void)none;
    for (uint32_t i = 0; i < lanes; i++) r[i] = table[index[i] & (lanes - 1)];
}

static void run_pshufb(uint64_t *r, uint32_t lanes, const uint64_t *table, const uint64_t *index,
                       const uint64_t *none) {
    (void)none;
    for (uint32_t i = 0; i < lanes; i++) {
        r[i] = (int64_t)index[i] < 0 ? 0 : table[(i & ~15u) + (index[i] & 15)];
    }
}

enum { WIDTH_i8 = 8, WIDTH_i16 = 16, WIDTH_i32 = 32 };
#define T(lanes, elem)                                                                             \
    { lanes, WIDTH_##elem }
#define NONE                                                                                       \
    { 0, 0 }
static const IrIntrinsic intrinsics[] = {
#define INTRINSIC(name, meaning, features, or_features, result, a, b, c)                           \
    {name, features, or_features, result, {a, b, c}, run_##meaning},
#include "ir/intrinsics.def"
#undef INTRINSIC
};
#undef T
#undef NONE

size_t ir_intrinsic_count(void) {
    return ARRAY_LEN(intrinsics);
}
const IrIntrinsic *ir_intrinsic_at(size_t i) {
    return &intrinsics[i];
}

const IrIntrinsic *ir_intrinsic_find(const char *name) {
    for (size_t i = 0; i < ARRAY_LEN(intrinsics); i++) {
        if (str_equal(intrinsics[i].name, name)) return &intrinsics[i];
    }
    return NULL;
}

uint32_t ir_intrinsic_num_operands(const IrIntrinsic *intrinsic) {
    uint32_t n = 0;
    while (n < IR_INTRINSIC_MAX_OPERANDS && intrinsic->operands[n].width) n++;
    return n;
}

bool ir_intrinsic_type_matches(IrIntrinsicType want, const IrType *type) {
    const IrType *elem = ir_type_elem(type);
    bool is_vector = type->kind == IR_TYPE_VECTOR;
    if (elem->kind != IR_TYPE_INT || elem->width != want.width) return false;
    if (!want.lanes) return !is_vector && ir_type_is_scalar(type);
    return is_vector && type->rank == 1 && type->shape[0] == want.lanes;
}

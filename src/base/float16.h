// f16 (IEEE binary16) and bf16 as bit patterns, to and from f32 and f64: exact one way, round to
// nearest even the other way. NaN stays NaN and becomes quiet; overflow gives infinity. Assumes the
// floating-point environment's default rounding mode.
#ifndef INGOT_BASE_FLOAT16_H
#define INGOT_BASE_FLOAT16_H

#include <string.h>

#include "base/base.h"

static inline float f32_from_bits(uint32_t bits) {
    float value;
    memcpy(&value, &bits, sizeof value);
    return value;
}
static inline uint32_t f32_to_bits(float value) {
    uint32_t bits;
    memcpy(&bits, &value, sizeof bits);
    return bits;
}
static inline double f64_from_bits(uint64_t bits) {
    double value;
    memcpy(&value, &bits, sizeof value);
    return value;
}
static inline uint64_t f64_to_bits(double value) {
    uint64_t bits;
    memcpy(&bits, &value, sizeof bits);
    return bits;
}

static inline float f16_to_f32(uint16_t h) {
    uint32_t sign = (uint32_t)(h & 0x8000u) << 16;
    uint32_t exponent = (h >> 10) & 31u, mantissa = h & 0x3FFu;
    if (exponent == 0) { // zero and subnormals: mantissa * 2^-24, exact
        return f32_from_bits(f32_to_bits((float)mantissa * 0x1p-24f) | sign);
    }
    if (exponent == 31) {
        uint32_t quiet = mantissa ? 0x400000u : 0;
        return f32_from_bits(sign | 0x7F800000u | mantissa << 13 | quiet);
    }
    return f32_from_bits(sign | (exponent + 112) << 23 | mantissa << 13);
}

static inline uint16_t f16_from_f32(float value) {
    uint32_t bits = f32_to_bits(value);
    uint32_t sign = bits >> 16 & 0x8000u, magnitude = bits & 0x7FFFFFFFu;
    if (magnitude > 0x7F800000u) return (uint16_t)(sign | 0x7E00u | (magnitude >> 13 & 0x3FFu));
    if (magnitude >= 0x477FF000u) return (uint16_t)(sign | 0x7C00u); // 65520 and more
    if (magnitude < 0x38800000u) { // below 2^-14: let the adder round at 2^-24
        float sum = f32_from_bits(magnitude) + 0.5f;
        return (uint16_t)(sign | (f32_to_bits(sum) - 0x3F000000u));
    }
    uint32_t odd = magnitude >> 13 & 1u;
    return (uint16_t)(sign | (magnitude - (112u << 23) + 0xFFFu + odd) >> 13);
}

static inline float bf16_to_f32(uint16_t b) {
    uint32_t bits = (uint32_t)b << 16;
    if ((bits & 0x7FFFFFFFu) > 0x7F800000u) bits |= 0x400000u;
    return f32_from_bits(bits);
}

static inline uint16_t bf16_from_f32(float value) {
    uint32_t bits = f32_to_bits(value);
    if ((bits & 0x7FFFFFFFu) > 0x7F800000u) return (uint16_t)(bits >> 16 | 0x40u);
    return (uint16_t)((bits + 0x7FFFu + (bits >> 16 & 1u)) >> 16);
}

// One rounding, not two.
uint16_t f16_from_f64(double value);
uint16_t bf16_from_f64(double value);

void f16_to_f32_array(const uint16_t *src, size_t count, float *out_dst);
void f16_from_f32_array(const float *src, size_t count, uint16_t *out_dst);
void bf16_to_f32_array(const uint16_t *src, size_t count, float *out_dst);
void bf16_from_f32_array(const float *src, size_t count, uint16_t *out_dst);

#endif

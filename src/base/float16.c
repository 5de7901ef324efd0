// Conversions of f16 and bf16 that are not worth inlining; see float16.h.
#include "base/float16.h"

// value as f32, rounded to odd: a second rounding to a format at least two bits narrower gives
// the correctly rounded result (Boldo and Melquiond, "Emulation of FMA and correctly rounded
// sums").
static float f32_round_to_odd(double value) {
    float nearest = (float)value;
    if (nearest != nearest || (double)nearest == value) return nearest;
    uint32_t bits = f32_to_bits(nearest);
    bool is_beyond = __builtin_fabs((double)nearest) > __builtin_fabs(value);
    if (is_beyond) bits--; // toward zero; infinity becomes the largest finite number
    return f32_from_bits(bits | 1u);
}

uint16_t f16_from_f64(double value) {
    return f16_from_f32(f32_round_to_odd(value));
}
uint16_t bf16_from_f64(double value) {
    return bf16_from_f32(f32_round_to_odd(value));
}

void f16_to_f32_array(const uint16_t *src, size_t count, float *out_dst) {
    for (size_t i = 0; i < count; i++) out_dst[i] = f16_to_f32(src[i]);
}

void f16_from_f32_array(const float *src, size_t count, uint16_t *out_dst) {
    for (size_t i = 0; i < count; i++) out_dst[i] = f16_from_f32(src[i]);
}

void bf16_to_f32_array(const uint16_t *src, size_t count, float *out_dst) {
    for (size_t i = 0; i < count; i++) out_dst[i] = bf16_to_f32(src[i]);
}

void bf16_from_f32_array(const float *src, size_t count, uint16_t *out_dst) {
    for (size_t i = 0; i < count; i++) out_dst[i] = bf16_from_f32(src[i]);
}

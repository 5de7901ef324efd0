// Prints floats digit by digit the way LLVM's APFloat does: the exact value as a decimal integer,
// cut to about 196/59 bits per wanted digit, rounded half up. Not printf: that rounds differently
// in rare cases.
#include "ir/float_text.h"

#include <stdlib.h>
#include <string.h>

#include "base/float16.h"

// An unsigned integer large enough for 2^1024 and for 2^53 * 5^1074 (2547 bits).
enum { MAX_LIMBS = 88, MAX_DIGITS = 800 };

typedef struct Big {
    uint32_t limbs[MAX_LIMBS]; // least significant first
    size_t count;              // without leading zeros
} Big;

static void big_mul_small(Big *n, uint32_t factor) {
    uint64_t carry = 0;
    for (size_t i = 0; i < n->count; i++) {
        carry += (uint64_t)n->limbs[i] * factor;
        n->limbs[i] = (uint32_t)carry;
        carry >>= 32;
    }
    if (!carry) return;
    BUG_IF(n->count == MAX_LIMBS, "number too long");
    n->limbs[n->count++] = (uint32_t)carry;
}

static uint32_t big_div_small(Big *n, uint32_t divisor) {
    uint64_t rest = 0;
    for (size_t i = n->count; i-- > 0;) {
        rest = rest << 32 | n->limbs[i];
        n->limbs[i] = (uint32_t)(rest / divisor);
        rest %= divisor;
    }
    while (n->count && n->limbs[n->count - 1] == 0) n->count--;
    return (uint32_t)rest;
}

static unsigned big_bits(const Big *n) {
    if (!n->count) return 0;
    return (unsigned)n->count * 32 - (unsigned)__builtin_clz(n->limbs[n->count - 1]);
}

typedef struct FloatFormat {
    unsigned bits, mantissa_bits, exponent_bits;
} FloatFormat;

static FloatFormat format_of(IrTypeKind kind) {
    switch (kind) {
    case IR_TYPE_F16: return (FloatFormat){16, 10, 5};
    case IR_TYPE_BF16: return (FloatFormat){16, 7, 8};
    case IR_TYPE_F32: return (FloatFormat){32, 23, 8};
    case IR_TYPE_F64: return (FloatFormat){64, 52, 11};
    default: BUG("type kind %d is not a float", (int)kind);
    }
}

// A decimal number digits * 10^exponent, the most significant digit first.
typedef struct Decimal {
    char digits[MAX_DIGITS];
    unsigned count;
    int exponent;
} Decimal;

// value * 2^exponent as an integer times a power of ten.
static void exact_decimal(uint64_t significand, int exponent, unsigned precision, Big *out_integer,
                          int *out_exponent) {
    int zeros = __builtin_ctzll(significand);
    significand >>= zeros;
    exponent += zeros;
    Big n = {.limbs = {(uint32_t)significand, (uint32_t)(significand >> 32)}};
    n.count = significand >> 32 ? 2 : 1;
    for (int e = exponent; e > 0; e -= MIN(e, 31)) big_mul_small(&n, 1u << MIN(e, 31));
    for (int e = exponent; e < 0; e++) big_mul_small(&n, 5);
    int power = MIN(exponent, 0);
    // Only so many bits can matter: drop whole decimal digits beyond them.
    unsigned wanted = (precision * 196 + 58) / 59, bits = big_bits(&n);
    unsigned drop = bits > wanted ? (bits - wanted) * 59 / 196 : 0;
    for (unsigned i = 0; i < drop; i++) (void)big_div_small(&n, 10);
    *out_integer = n;
    *out_exponent = power + (int)drop;
}

static void to_digits(Big *n, int exponent, Decimal *out) {
    char reversed[MAX_DIGITS];
    unsigned count = 0;
    bool is_trailing = true;
    while (n->count) {
        uint32_t digit = big_div_small(n, 10);
        if (is_trailing && digit == 0) {
            exponent++;
            continue;
        }
        is_trailing = false;
        BUG_IF(count == MAX_DIGITS, "number too long");
        reversed[count++] = (char)('0' + digit);
    }
    for (unsigned i = 0; i < count; i++) out->digits[i] = reversed[count - 1 - i];
    out->count = count;
    out->exponent = exponent;
}

// Half up, away from zero, to at most precision digits; trailing zeros go into the exponent.
static void round_digits(Decimal *d, unsigned precision) {
    if (d->count <= precision) return;
    bool up = d->digits[precision] >= '5';
    d->exponent += (int)(d->count - precision);
    d->count = precision;
    while (up && d->count && d->digits[d->count - 1] == '9') {
        d->count--;
        d->exponent++;
    }
    if (up && d->count == 0) {
        d->digits[0] = '1';
        d->count = 1;
        return;
    }
    if (up) d->digits[d->count - 1]++;
    while (!up && d->count > 1 && d->digits[d->count - 1] == '0') {
        d->count--;
        d->exponent++;
    }
}

static void put_scientific(const Decimal *d, unsigned precision, bool is_short, StrBuf *out) {
    int exponent = d->exponent + (int)d->count - 1;
    strbuf_putc(out, d->digits[0]);
    strbuf_putc(out, '.');
    if (d->count == 1 && is_short) strbuf_putc(out, '0');
    strbuf_append(out, d->digits + 1, d->count - 1);
    if (!is_short)
        for (unsigned i = d->count; i < precision + 1; i++) strbuf_putc(out, '0');
    char sign = exponent < 0 ? '-' : '+';
    if (is_short)
        strbuf_printf(out, "E%c%d", sign, abs(exponent));
    else
        strbuf_printf(out, "e%c%02d", sign, abs(exponent));
}

static void put_plain(const Decimal *d, StrBuf *out) {
    int whole = d->exponent + (int)d->count; // digits before the point
    if (d->exponent >= 0) {
        strbuf_append(out, d->digits, d->count);
        for (int i = 0; i < d->exponent; i++) strbuf_putc(out, '0');
    } else if (whole > 0) {
        strbuf_append(out, d->digits, (size_t)whole);
        strbuf_putc(out, '.');
        strbuf_append(out, d->digits + whole, d->count - (unsigned)whole);
    } else {
        strbuf_puts(out, "0.");
        for (int i = whole; i < 0; i++) strbuf_putc(out, '0');
        strbuf_append(out, d->digits, d->count);
    }
}

// Full precision: plain, unless that would take more than three padding zeros.
static void put_short(const Decimal *d, unsigned precision, StrBuf *out) {
    enum { MAX_PADDING = 3 };
    int leading = d->exponent + (int)d->count - 1; // power of ten of the first digit
    bool is_scientific =
        d->exponent >= 0 ? d->exponent > MAX_PADDING || (int)d->count + d->exponent > (int)precision
                         : leading < 0 && -leading > MAX_PADDING;
    if (is_scientific)
        put_scientific(d, precision, true, out);
    else
        put_plain(d, out);
}

static uint64_t read_back(IrTypeKind kind, const char *text) {
    switch (kind) {
    case IR_TYPE_F16: return f16_from_f64(strtod(text, NULL));
    case IR_TYPE_BF16: return bf16_from_f64(strtod(text, NULL));
    case IR_TYPE_F32: return f32_to_bits(strtof(text, NULL));
    default: return f64_to_bits(strtod(text, NULL));
    }
}

static void put_digits(uint64_t significand, int exponent, unsigned precision, bool is_short,
                       StrBuf *out) {
    Big integer;
    int power;
    Decimal decimal;
    exact_decimal(significand, exponent, precision, &integer, &power);
    to_digits(&integer, power, &decimal);
    round_digits(&decimal, precision);
    if (is_short)
        put_short(&decimal, precision, out);
    else
        put_scientific(&decimal, precision, false, out);
}

void float_text(IrTypeKind kind, uint64_t bits, StrBuf *out) {
    enum { SHORT_DIGITS = 6 };
    FloatFormat f = format_of(kind);
    uint64_t mantissa = bits & (((uint64_t)1 << f.mantissa_bits) - 1);
    unsigned max_exponent = (1u << f.exponent_bits) - 1;
    unsigned biased = (unsigned)(bits >> f.mantissa_bits) & max_exponent;
    bool is_negative = bits >> (f.bits - 1) & 1;
    if (biased == max_exponent) {
        strbuf_printf(out, "0x%llX", (unsigned long long)bits);
        return;
    }
    if (biased == 0 && mantissa == 0) {
        strbuf_puts(out, is_negative ? "-0.000000e+00" : "0.000000e+00");
        return;
    }
    int bias = (int)(max_exponent >> 1);
    uint64_t significand = biased ? mantissa | (uint64_t)1 << f.mantissa_bits : mantissa;
    int exponent = (int)MAX(biased, 1u) - bias - (int)f.mantissa_bits;
    StrBuf text = {0};
    if (is_negative) strbuf_putc(&text, '-');
    put_digits(significand, exponent, SHORT_DIGITS, false, &text);
    if (read_back(kind, text.data) != bits) {
        strbuf_clear(&text);
        if (is_negative) strbuf_putc(&text, '-');
        put_digits(significand, exponent, 2 + (f.mantissa_bits + 1) * 59 / 196, true, &text);
        if (!memchr(text.data, '.', text.len)) {
            strbuf_clear(&text);
            strbuf_printf(&text, "0x%llX", (unsigned long long)bits);
        }
    }
    strbuf_append(out, text.data, text.len);
    strbuf_deinit(&text);
}

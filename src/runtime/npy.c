// The .npy format: a magic, a version, and a Python dictionary literal with the keys descr,
// fortran_order and shape, padded with blanks; then the elements. See npy.h.
// https://numpy.org/doc/stable/reference/generated/numpy.lib.format.html
#include "runtime/npy.h"

#include <string.h>

static const uint8_t magic[] = {0x93, 'N', 'U', 'M', 'P', 'Y'};

typedef struct Header {
    const char *at, *end;
    const char *path;
    DiagSink *sink;
    const uint8_t *bytes; // of the file, for places
    NpyTensor *tensor;
    bool has_descr, has_order, has_shape;
} Header;

static Status refuse(const Header *h, const char *what) {
    DiagSpan span = {.file = h->path, .byte_offset = (uint64_t)((const uint8_t *)h->at - h->bytes)};
    return diag_error(h->sink, DIAG_X0019, span, "%s", what);
}

static void skip_blanks(Header *h) {
    while (h->at < h->end && (*h->at == ' ' || *h->at == '\n' || *h->at == '\t')) h->at++;
}

static bool eat(Header *h, char c) {
    skip_blanks(h);
    if (h->at == h->end || *h->at != c) return false;
    h->at++;
    return true;
}

static bool eat_word(Header *h, const char *word) {
    skip_blanks(h);
    size_t len = strlen(word);
    if ((size_t)(h->end - h->at) < len || memcmp(h->at, word, len) != 0) return false;
    h->at += len;
    return true;
}

// 'text' or "text", without escapes.
static bool eat_string(Header *h, char *out, size_t capacity) {
    skip_blanks(h);
    if (h->at == h->end || (*h->at != '\'' && *h->at != '"')) return false;
    const char *close = memchr(h->at + 1, *h->at, (size_t)(h->end - h->at - 1));
    if (!close || (size_t)(close - h->at) > capacity) return false;
    size_t len = (size_t)(close - h->at - 1);
    memcpy(out, h->at + 1, len);
    out[len] = '\0';
    h->at = close + 1;
    return true;
}

static Status read_descr(Header *h) {
    char descr[16];
    if (!eat_string(h, descr, sizeof descr))
        return refuse(h, "the element type (descr) is no plain type");
    h->has_descr = true;
    if (descr[0] == '>') return refuse(h, "the elements are big-endian");
    bool has_order = descr[0] == '<' || descr[0] == '|' || descr[0] == '=';
    const char *code = has_order ? descr + 1 : descr;
    for (int i = 0; i < NUM_DTYPES; i++) {
        const char *own = dtype_info((Dtype)i)->npy + 1;
        bool is_unsigned = own[0] == 'i' && code[0] == 'u' && str_equal(own + 1, code + 1);
        if (!str_equal(own, code) && !is_unsigned) continue;
        h->tensor->dtype = (Dtype)i;
        h->tensor->is_unsigned = is_unsigned;
        return STATUS_OK;
    }
    return refuse(h, "the element type (descr) is none that an artifact takes");
}

static Status read_shape(Header *h) {
    h->has_shape = true;
    if (!eat(h, '(')) return refuse(h, "the shape is no tuple");
    while (!eat(h, ')')) {
        if (h->tensor->rank == PLAN_MAX_RANK) return refuse(h, "more than 16 dimensions");
        skip_blanks(h);
        int64_t size = 0;
        const char *first = h->at;
        for (; h->at < h->end && *h->at >= '0' && *h->at <= '9'; h->at++)
            if (__builtin_mul_overflow(size, 10, &size) ||
                __builtin_add_overflow(size, *h->at - '0', &size))
                return refuse(h, "a size that is no number of 63 bits");
        if (h->at == first) return refuse(h, "a size that is no number");
        h->tensor->dims[h->tensor->rank++] = size;
        if (!eat(h, ',') && h->at < h->end && *h->at != ')')
            return refuse(h, "the shape is no tuple");
    }
    return STATUS_OK;
}

static Status read_order(Header *h) {
    h->has_order = true;
    if (eat_word(h, "False")) return STATUS_OK;
    if (eat_word(h, "True")) {
        Status status = refuse(h, "the elements are stored column by column");
        diag_write(h->sink, "numpy.save(path, numpy.ascontiguousarray(x))");
        return status;
    }
    return refuse(h, "fortran_order is neither True nor False");
}

static Status read_dictionary(Header *h) {
    if (!eat(h, '{')) return refuse(h, "the header is no dictionary");
    while (!eat(h, '}')) {
        char key[16];
        if (!eat_string(h, key, sizeof key) || !eat(h, ':'))
            return refuse(h, "the header is no dictionary of descr, fortran_order and shape");
        if (str_equal(key, "descr") && !h->has_descr)
            TRY(read_descr(h));
        else if (str_equal(key, "shape") && !h->has_shape)
            TRY(read_shape(h));
        else if (str_equal(key, "fortran_order") && !h->has_order)
            TRY(read_order(h));
        else
            return refuse(h, "a key of the header is unknown or given twice");
        if (!eat(h, ',') && h->at < h->end && *h->at != '}')
            return refuse(h, "the header is no dictionary");
    }
    skip_blanks(h);
    if (h->at != h->end) return refuse(h, "something follows the header's dictionary");
    if (!h->has_descr || !h->has_order || !h->has_shape)
        return refuse(h, "the header lacks descr, fortran_order or shape");
    return STATUS_OK;
}

// Bytes of the elements; false on overflow.
static bool count_bytes(const NpyTensor *tensor, uint64_t *out) {
    *out = dtype_info(tensor->dtype)->bytes;
    bool is_empty = false;
    for (uint32_t d = 0; d < tensor->rank; d++) {
        is_empty = is_empty || tensor->dims[d] == 0;
        if (tensor->dims[d] && !size_mul(*out, (uint64_t)tensor->dims[d], out)) return false;
    }
    if (is_empty) *out = 0;
    return true;
}

Status npy_parse(const uint8_t *bytes, uint64_t len_bytes, const char *path, DiagSink *sink,
                 NpyTensor *out_tensor) {
    NpyTensor tensor = {0};
    Header h = {.path = path, .sink = sink, .bytes = bytes, .tensor = &tensor};
    h.at = (const char *)bytes;
    if (len_bytes < 10 || memcmp(bytes, magic, sizeof magic) != 0) {
        Status status = refuse(&h, "this is no .npy file");
        diag_write(sink, "numpy.save(path, x)");
        return status;
    }
    uint32_t version = bytes[6];
    uint64_t start = version == 1 ? 10 : 12;
    if (version < 1 || version > 3 || bytes[7] != 0 || len_bytes < start)
        return refuse(&h, "a version of the format other than 1.0, 2.0 and 3.0");
    uint64_t header_len = bytes[8] | (uint64_t)bytes[9] << 8;
    if (version > 1) header_len |= (uint64_t)bytes[10] << 16 | (uint64_t)bytes[11] << 24;
    if (header_len > len_bytes - start) return refuse(&h, "the file ends within its header");
    h.at = (const char *)bytes + start;
    h.end = h.at + header_len;
    TRY(read_dictionary(&h));
    if (!count_bytes(&tensor, &tensor.len_bytes))
        return refuse(&h, "the shape has more elements than can be counted");
    tensor.data = bytes + start + header_len;
    if (tensor.len_bytes != len_bytes - start - header_len)
        return diag_error(sink, DIAG_X0019,
                          (DiagSpan){.file = path, .byte_offset = start + header_len},
                          "%llu bytes follow the header, the shape takes %llu",
                          (unsigned long long)(len_bytes - start - header_len),
                          (unsigned long long)tensor.len_bytes);
    for (uint64_t i = 0; tensor.dtype == DTYPE_I1 && i < tensor.len_bytes; i++)
        if (tensor.data[i] > 1)
            return diag_error(sink, DIAG_X0019,
                              (DiagSpan){.file = path, .byte_offset = start + header_len + i},
                              "a truth value that is neither 0 nor 1");
    *out_tensor = tensor;
    return STATUS_OK;
}

void npy_put_header(Dtype dtype, uint32_t rank, const int64_t *dims, StrBuf *out) {
    enum { ALIGN = 64, PREFIX = 10 };
    StrBuf text = {0};
    strbuf_printf(&text, "{'descr': '%s', 'fortran_order': False, 'shape': (",
                  dtype_info(dtype)->npy);
    for (uint32_t d = 0; d < rank; d++)
        strbuf_printf(&text, "%s%lld", d ? ", " : "", (long long)dims[d]);
    strbuf_puts(&text, rank == 1 ? ",), }" : "), }");
    while ((PREFIX + text.len + 1) % ALIGN) strbuf_putc(&text, ' ');
    strbuf_putc(&text, '\n');
    const uint8_t prefix[PREFIX] = {
        magic[0], magic[1], magic[2], magic[3],          magic[4],
        magic[5], 1,        0,        (uint8_t)text.len, (uint8_t)(text.len >> 8)};
    strbuf_append(out, (const char *)prefix, sizeof prefix);
    strbuf_append(out, text.data, text.len);
    strbuf_deinit(&text);
}

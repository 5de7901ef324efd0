// The interpreter's memory: buffers with byte tracking. Undefined bytes are filled with ones (a NaN
// in every float format) and tracked, so that a read of them is a fault; the bytes of an arena
// remember the view that last wrote them, so that a plan that lets two live buffers overlap is a
// fault too.
#include <stdlib.h>

#include "ir/interp_internal.h"

// A buffer's own struct and what malloc adds to it and its parts: programs that make many empty
// buffers are bounded too.
enum { BUFFER_BYTES = 192 };

bool interp_reserve(Interp *in, const IrOp *op, uint64_t len_bytes) {
    if (len_bytes > in->max_bytes - in->live_bytes) {
        return interp_limit(in, op, "needs %llu bytes beside %llu live ones, the bound is %llu",
                            (unsigned long long)len_bytes, (unsigned long long)in->live_bytes,
                            (unsigned long long)in->max_bytes);
    }
    in->live_bytes += len_bytes;
    return true;
}

static InterpBuffer *buffer_struct(Interp *in) {
    InterpBuffer *buffer = in->free_buffers;
    if (buffer) {
        in->free_buffers = buffer->next;
        memset(buffer, 0, sizeof *buffer);
    } else {
        buffer = ARENA_NEW(&in->arena, InterpBuffer);
    }
    buffer->refs = 1;
    buffer->next = in->buffers;
    if (in->buffers) in->buffers->prev = buffer;
    in->buffers = buffer;
    return buffer;
}

InterpBuffer *interp_buffer_new(Interp *in, const IrOp *op, uint64_t len_bytes, bool is_defined) {
    uint64_t held_bytes;
    if (!size_mul(len_bytes, is_defined ? 1 : 2, &held_bytes)) held_bytes = UINT64_MAX;
    if (!interp_count(in, op, len_bytes / 64) || !interp_reserve(in, op, BUFFER_BYTES)) return NULL;
    if (!interp_reserve(in, op, held_bytes)) return NULL;
    InterpBuffer *buffer = buffer_struct(in);
    buffer->held_bytes = held_bytes;
    buffer->data = base_alloc(len_bytes + 1, 1);
    buffer->len_bytes = len_bytes;
    if (!is_defined) {
        memset(buffer->data, 0xFF, len_bytes);
        buffer->defined = base_alloc(len_bytes + 1, 1);
    }
    return buffer;
}

InterpBuffer *interp_buffer_borrow(Interp *in, void *data, uint64_t len_bytes) {
    InterpBuffer *buffer = buffer_struct(in);
    buffer->data = data;
    buffer->len_bytes = len_bytes;
    buffer->is_borrowed = true;
    return buffer;
}

void interp_buffer_free(Interp *in, InterpBuffer *buffer) {
    if (buffer->is_freed) return;
    in->live_bytes -= buffer->held_bytes;
    buffer->held_bytes = 0;
    if (!buffer->is_borrowed) free(buffer->data);
    free(buffer->defined);
    free(buffer->writer);
    buffer->data = NULL;
    buffer->defined = NULL;
    buffer->writer = NULL;
    buffer->is_freed = true;
}

void interp_buffer_unref(Interp *in, InterpBuffer *buffer) {
    if (!buffer || --buffer->refs) return;
    interp_buffer_free(in, buffer);
    if (!buffer->is_borrowed) in->live_bytes -= BUFFER_BYTES;
    if (buffer->prev)
        buffer->prev->next = buffer->next;
    else
        in->buffers = buffer->next;
    if (buffer->next) buffer->next->prev = buffer->prev;
    buffer->next = in->free_buffers;
    in->free_buffers = buffer;
}

void interp_buffers_deinit(Interp *in) {
    for (InterpBuffer *b = in->buffers; b; b = b->next) interp_buffer_free(in, b);
    in->buffers = NULL;
}

bool interp_buffer_make_arena(Interp *in, const IrOp *op, InterpBuffer *buffer) {
    if (!buffer->writer) {
        uint64_t len;
        if (!size_mul(buffer->len_bytes, sizeof *buffer->writer, &len)) len = UINT64_MAX;
        if (!interp_reserve(in, op, len)) return false;
        buffer->held_bytes += len;
        buffer->writer = base_alloc(buffer->len_bytes + 1, sizeof *buffer->writer);
        free(buffer->defined);
        buffer->defined = NULL;
    } else {
        memset(buffer->writer, 0, buffer->len_bytes * sizeof *buffer->writer);
    }
    if (buffer->len_bytes) memset(buffer->data, 0xFF, buffer->len_bytes);
    return true;
}

bool interp_buffer_own(Interp *in, const IrOp *op, InterpBuffer **buffer) {
    InterpBuffer *shared = *buffer;
    if (shared->refs == 1 && !shared->is_borrowed) return true;
    InterpBuffer *copy = interp_buffer_new(in, op, shared->len_bytes, !shared->defined);
    if (!copy) return false;
    if (shared->len_bytes) memcpy(copy->data, shared->data, shared->len_bytes);
    if (shared->defined) memcpy(copy->defined, shared->defined, shared->len_bytes);
    interp_buffer_unref(in, shared);
    *buffer = copy;
    return true;
}

void interp_buffer_set_defined(InterpBuffer *buffer) {
    free(buffer->defined);
    buffer->defined = NULL;
}

// The range must lie inside the buffer, and the buffer must be alive.
static bool check_range(Interp *in, const IrOp *op, const InterpBuffer *buffer, int64_t at,
                        int64_t len) {
    if (buffer->is_freed) return interp_fault(in, op, "accesses memory that was deallocated");
    if (at < 0 || len < 0 || (uint64_t)at > buffer->len_bytes ||
        (uint64_t)len > buffer->len_bytes - (uint64_t)at) {
        return interp_fault(in, op, "accesses bytes %lld to %lld of a buffer of %llu bytes",
                            (long long)at, (long long)at + len - 1,
                            (unsigned long long)buffer->len_bytes);
    }
    return true;
}

bool interp_track_read(Interp *in, const IrOp *op, const InterpBuffer *buffer, uint64_t view_id,
                       int64_t at, int64_t len) {
    if (buffer->defined) {
        const uint8_t *hole = memchr(buffer->defined + at, 0, (size_t)len);
        if (!hole) return true;
        return interp_fault(in, op,
                            "reads undefined data (byte %lld of its buffer was never written)",
                            (long long)(hole - buffer->defined));
    }
    if (!buffer->writer) return true;
    for (int64_t i = at; i < at + len; i++) {
        if (buffer->writer[i] == view_id) continue;
        if (!buffer->writer[i]) {
            return interp_fault(in, op, "reads undefined data (arena byte %lld was never written)",
                                (long long)i);
        }
        return interp_fault(in, op,
                            "reads arena byte %lld through another view than the one that "
                            "last wrote it: two live buffers overlap",
                            (long long)i);
    }
    return true;
}

void interp_track_write(InterpBuffer *buffer, uint64_t view_id, int64_t at, int64_t len) {
    if (buffer->defined) memset(buffer->defined + at, 1, (size_t)len);
    if (!buffer->writer) return;
    for (int64_t i = at; i < at + len; i++) buffer->writer[i] = (uint32_t)view_id;
}

bool interp_check_read(Interp *in, const IrOp *op, const InterpBuffer *buffer, uint64_t view_id,
                       int64_t at, int64_t len) {
    if (!check_range(in, op, buffer, at, len)) return false;
    return !interp_is_tracked(buffer) || interp_track_read(in, op, buffer, view_id, at, len);
}

bool interp_check_write(Interp *in, const IrOp *op, InterpBuffer *buffer, uint64_t view_id,
                        int64_t at, int64_t len) {
    if (!check_range(in, op, buffer, at, len)) return false;
    if (interp_is_tracked(buffer)) interp_track_write(buffer, view_id, at, len);
    return true;
}

bool interp_copy_bytes(Interp *in, const IrOp *op, InterpBuffer *dst, uint64_t dst_view,
                       int64_t dst_at, const InterpBuffer *src, int64_t src_at, int64_t len) {
    if (len <= 0) return true;
    memmove(dst->data + dst_at, src->data + src_at, (size_t)len);
    if (!dst->defined && !dst->writer) {
        // A fully defined target takes undefined bytes on: from now on it is tracked.
        if (!src->defined || !memchr(src->defined + src_at, 0, (size_t)len)) return true;
        if (!interp_reserve(in, op, dst->len_bytes)) return false;
        dst->held_bytes += dst->len_bytes;
        dst->defined = base_alloc(dst->len_bytes + 1, 1);
        memset(dst->defined, 1, dst->len_bytes);
    }
    for (int64_t i = 0; i < len; i++) {
        bool is_defined = src->defined  ? src->defined[src_at + i]
                          : src->writer ? src->writer[src_at + i] != 0
                                        : true;
        if (dst->defined)
            dst->defined[dst_at + i] = is_defined;
        else
            dst->writer[dst_at + i] = is_defined ? (uint32_t)dst_view : 0;
    }
    return true;
}

bool interp_shape_bytes(const int64_t *sizes, uint32_t rank, uint32_t elem_bytes,
                        int64_t *out_bytes) {
    int64_t total = elem_bytes;
    bool is_empty = false;
    for (uint32_t i = 0; i < rank; i++) {
        if (sizes[i] < 0) return false;
        if (sizes[i] == 0)
            is_empty = true;
        else if (__builtin_mul_overflow(total, sizes[i], &total))
            return false;
    }
    *out_bytes = is_empty ? 0 : total;
    return true;
}

void interp_view_set_strides(InterpView *view, uint32_t rank) {
    int64_t stride = 1;
    for (uint32_t i = rank; i-- > 0;) {
        view->dims[rank + i] = stride;
        // Wraps only for an empty or refused shape.
        stride = (int64_t)((uint64_t)stride * (uint64_t)view->dims[i]);
    }
}

bool interp_tensor_new(Interp *in, const IrOp *op, InterpView *view, uint32_t rank,
                       uint32_t elem_bytes, bool is_defined) {
    int64_t len;
    if (!interp_shape_bytes(view->dims, rank, elem_bytes, &len)) {
        return interp_fault(in, op, "has a negative size or more than 2^63 bytes");
    }
    InterpBuffer *buffer = interp_buffer_new(in, op, (uint64_t)len, is_defined);
    if (!buffer) return false;
    view->buffer = buffer;
    view->base_bytes = 0;
    view->offset = 0;
    view->view_id = 0;
    interp_view_set_strides(view, rank);
    return true;
}

void interp_dense_store(const IrAttr *dense, const IrType *type, uint8_t *out) {
    InterpMem mem = interp_mem(type->elem);
    uint32_t elem_bytes = ir_type_bytes(type->elem);
    int64_t num = ir_type_num_elems(type);
    for (int64_t i = 0; i < num; i++) {
        interp_store(mem, out + i * elem_bytes, ir_attr_dense_elem(dense, i));
    }
}

// Lays out, computes and writes the weight image; see weights_image.h.
#include "compiler/weights_image.h"

#include <pthread.h>
#include <stdlib.h>
#include <string.h>

#include "abi/kernel_abi.h"
#include "abi/plan.h"
#include "abi/quant.h"
#include "compiler/check_table.h"
#include "passes/pass.h"
#include "recipe/import.h"

static bool is_entry(const IrOp *op) {
    return op->kind == IR_FUNC_FUNC && ir_func_body(op) && !ir_op_attr(op, "sym_visibility");
}

static uint64_t type_bytes(const IrType *t) {
    return (uint64_t)ir_type_num_elems(t) * ir_type_bytes(t->elem);
}

static ImageItem key_of(const IrOp *entry, uint32_t arg) {
    ImageItem key = {.value = ir_func_arg_attr(entry, arg, "ingot.value"),
                     .init = ir_func_arg_attr(entry, arg, "ingot.init"),
                     .init_args = ir_func_arg_attr(entry, arg, "ingot.init_args")};
    if (!key.init) {
        key.param = ir_func_arg_attr(entry, arg, "ingot.param");
        key.plane = ir_func_arg_attr(entry, arg, "ingot.plane");
    }
    return key;
}

const ImageItem *weights_image_find(const WeightsImage *image, const IrOp *entry, uint32_t arg) {
    ImageItem key = key_of(entry, arg);
    if (!key.init && !key.param && !key.value) return NULL;
    for (size_t i = 0; i < image->num_items; i++) {
        const ImageItem *item = &image->items[i];
        if (item->value == key.value && item->param == key.param && item->plane == key.plane &&
            item->init == key.init && item->init_args == key.init_args)
            return item;
    }
    return NULL;
}

Status weights_image_layout(IrModule *m, DiagSink *sink, WeightsImage *out_image) {
    WeightsImage image = {0};
    FOR_EACH_OP(entry, ir_module_body(m)) {
        if (!is_entry(entry)) continue;
        IrBlock *body = ir_func_body(entry);
        for (uint32_t i = 0; i < body->num_args; i++) {
            ImageItem item = key_of(entry, i);
            if ((!item.init && !item.param && !item.value) || weights_image_find(&image, entry, i))
                continue;
            const IrType *type = body->args[i]->type;
            if (!ir_type_is_shaped(type) || !ir_type_is_static(type)) {
                weights_image_deinit(&image);
                return diag_error(sink, DIAG_P0006, ir_loc_span(entry->loc),
                                  "parameter %u of @%s has no fixed size", i,
                                  ir_symbol_name(entry));
            }
            item.offset = align_up(image.len_bytes, PLAN_BUFFER_ALIGN_BYTES);
            item.len_bytes = type_bytes(type);
            image.len_bytes = item.offset + item.len_bytes;
            ARRAY_RESERVE(image.items, image.num_items, image.capacity);
            image.items[image.num_items++] = item;
        }
    }
    image.len_bytes = align_up(image.len_bytes, PLAN_BUFFER_ALIGN_BYTES);
    *out_image = image;
    return STATUS_OK;
}

void weights_image_deinit(WeightsImage *image) {
    free(image->items);
    *image = (WeightsImage){0};
}

// ---- data of one parameter

typedef struct Bytes {
    uint8_t *data;
    uint64_t len;
} Bytes;

static uint64_t num_elems(const ImportParam *p) {
    uint64_t n = 1;
    for (uint32_t i = 0; i < p->num_dims; i++) n *= p->dims[i];
    return n;
}

static int find_plane(const QuantInfo *info, const char *suffix) {
    for (uint32_t i = 0; i < info->num_planes; i++)
        if (str_equal(info->planes[i].suffix, suffix)) return (int)i;
    return -1;
}

static uint64_t plane_elems(const QuantPlane *plane) {
    uint64_t n = 1;
    for (uint32_t i = 0; i < plane->rank; i++) n *= plane->dims[i];
    return n;
}

// Init functions are kernels: what they read is aligned as the kernel ABI says.
static void grow(Bytes *bytes, uint64_t by) {
    uint64_t room = align_up(MAX(bytes->len + by, 1), PLAN_BUFFER_ALIGN_BYTES);
    uint8_t *data = aligned_alloc(PLAN_BUFFER_ALIGN_BYTES, room);
    if (!data) BUG("out of memory for a parameter");
    if (bytes->len) memcpy(data, bytes->data, bytes->len);
    free(bytes->data);
    bytes->data = data;
}

// Appends a parameter's bytes, or one plane of its blocks, to out.
static Status append_param(const WeightsSource *source, const char *name, const char *plane,
                           DiagSink *sink, Bytes *out) {
    ImportParam param = {0};
    TRY(import_param_data(source->m, source->gguf, name, sink, &param));
    const QuantInfo *info = quant_info(param.format);
    int p = plane ? find_plane(info, plane) : 0;
    if (p < 0 || (!plane && info->num_planes != 1)) {
        import_param_deinit(&param);
        return diag_error(sink, DIAG_P0006, (DiagSpan){0},
                          "parameter %s has no plane '%s' in format %s", name, plane ? plane : "",
                          info->name);
    }
    uint64_t blocks = num_elems(&param) / info->block_elems;
    uint64_t bytes = blocks * plane_elems(&info->planes[p]) * info->planes[p].elem_bytes;
    grow(out, bytes);
    if (plane)
        quant_split_plane(param.format, (uint32_t)p, param.data, blocks, out->data + out->len);
    else
        memcpy(out->data + out->len, param.data, bytes);
    out->len += bytes;
    import_param_deinit(&param);
    return STATUS_OK;
}

static Status load_param(const WeightsSource *source, const IrAttr *param, const IrAttr *plane,
                         DiagSink *sink, Bytes *out) {
    const char *suffix = plane ? plane->str : NULL;
    if (param->kind == IR_ATTR_STRING) return append_param(source, param->str, suffix, sink, out);
    for (size_t i = 0; i < param->num_elems; i++)
        TRY(append_param(source, param->elems[i]->str, suffix, sink, out));
    return STATUS_OK;
}

// ---- one item

static Status run_init(const WeightsSource *source, const ImageItem *item, DiagSink *sink,
                       uint8_t *out) {
    const CodegenFunction *function = NULL;
    for (size_t i = 0; i < source->inits->num_functions; i++)
        if (str_equal(source->inits->functions[i].name, item->init->str))
            function = &source->inits->functions[i];
    if (!function || item->init_args->num_elems > 8)
        return diag_error(sink, DIAG_P0006, (DiagSpan){0}, "init function @%s is missing",
                          item->init->str);
    Bytes planes[8] = {0};
    void *buffers[9];
    Status status = STATUS_OK;
    uint32_t n = (uint32_t)item->init_args->num_elems;
    for (uint32_t i = 0; i < n && status == STATUS_OK; i++) {
        const IrAttr *arg = item->init_args->elems[i];
        status = load_param(source, ir_attr_dict_find(arg, "param"),
                            ir_attr_dict_find(arg, "plane"), sink, &planes[i]);
        buffers[i] = planes[i].data;
    }
    if (status == STATUS_OK) {
        buffers[n] = out;
        union {
            void *address;
            KernelFn call;
        } code = {.address = (uint8_t *)source->inits_base + function->offset};
        int64_t no_scalars[1] = {0};
        int64_t fault[KERNEL_FAULT_WORDS] = {0};
        code.call(buffers, no_scalars, 0, 1, fault);
        if (fault[KERNEL_FAULT_CHECK]) status = check_table_refuse(source->m, fault, sink);
    }
    for (uint32_t i = 0; i < n; i++) free(planes[i].data);
    return status;
}

static void write_constant(const IrAttr *value, uint64_t len_bytes, uint8_t *out) {
    uint64_t bytes = ir_type_bytes(value->type->elem), count = len_bytes / bytes;
    for (uint64_t i = 0; i < count; i++) {
        uint64_t bits = ir_attr_dense_elem(value, (int64_t)i);
        if (value->type->elem->width == 1) bits &= 1;
        memcpy(out + i * bytes, &bits, bytes);
    }
}

static Status compute_item(const WeightsSource *source, const ImageItem *item, DiagSink *sink,
                           uint8_t *out) {
    if (item->init) return run_init(source, item, sink, out);
    if (item->value) {
        write_constant(item->value, item->len_bytes, out);
        return STATUS_OK;
    }
    Bytes bytes = {0};
    Status status = load_param(source, item->param, item->plane, sink, &bytes);
    if (status == STATUS_OK && bytes.len != item->len_bytes)
        status = diag_error(sink, DIAG_P0006, (DiagSpan){0},
                            "a parameter has %llu bytes, %llu are planned",
                            (unsigned long long)bytes.len, (unsigned long long)item->len_bytes);
    if (status == STATUS_OK) memcpy(out, bytes.data, bytes.len);
    free(bytes.data);
    return status;
}

Status weights_image_fill(const WeightsImage *image, const WeightsSource *source, uint8_t *out,
                          DiagSink *sink) {
    for (size_t i = 0; i < image->num_items; i++) {
        BUG_IF(image->items[i].init, "an init function before its level");
        TRY(compute_item(source, &image->items[i], sink, out + image->items[i].offset));
    }
    return STATUS_OK;
}

// ---- all items: workers compute a batch, then it is written in order

typedef struct Batch {
    const WeightsSource *source;
    const ImageItem *items;
    uint8_t *base;
    uint64_t offset; // of base in the image
    size_t begin, end, next;
    pthread_mutex_t lock;
    DiagSink *sink;
    Status status;
} Batch;

static void *work(void *arg) {
    Batch *b = arg;
    for (;;) {
        pthread_mutex_lock(&b->lock);
        size_t i = b->status == STATUS_OK ? b->next++ : b->end;
        pthread_mutex_unlock(&b->lock);
        if (i >= b->end) return NULL;
        DiagSink own;
        diag_sink_init(&own);
        Status status =
            compute_item(b->source, &b->items[i], &own, b->base + (b->items[i].offset - b->offset));
        pthread_mutex_lock(&b->lock);
        if (status != STATUS_OK && b->status == STATUS_OK) {
            b->status = status;
            for (size_t k = 0; k < own.num_diags; k++) {
                Status ignored = diag_error(b->sink, own.diags[k].code, own.diags[k].span, "%s",
                                            own.diags[k].message);
                (void)ignored;
            }
        }
        pthread_mutex_unlock(&b->lock);
        diag_sink_deinit(&own);
    }
}

// On threads whose stacks hold what init functions may keep; of that only what they do keep becomes
// memory.
static Status run_batch(Batch *b, uint32_t num_threads) {
    pthread_t threads[64];
    pthread_attr_t attr;
    uint32_t n = 0;
    int error = pthread_attr_init(&attr);
    if (error == 0) {
        error = pthread_attr_setstacksize(&attr, INIT_MAX_STACK_BYTES + (1 << 20));
        for (; error == 0 && n < MAX(num_threads, 1u) && n < ARRAY_LEN(threads); n++)
            if ((error = pthread_create(&threads[n], &attr, work, b)) != 0) break;
        pthread_attr_destroy(&attr);
    }
    for (uint32_t i = 0; i < n; i++) pthread_join(threads[i], NULL);
    if (n > 0) return b->status;
    return diag_error(b->sink, DIAG_X0014, (DiagSpan){0}, "no thread to make weights on: %s",
                      strerror(error));
}

Status weights_image_write(const WeightsImage *image, const WeightsSource *source,
                           ArtifactWriter *writer, DiagSink *sink) {
    enum { BATCH_BYTES = 64 << 20 };
    Status status = STATUS_OK;
    for (size_t begin = 0, end; begin < image->num_items && status == STATUS_OK; begin = end) {
        uint64_t offset = image->items[begin].offset, limit = offset;
        for (end = begin; end < image->num_items; end++) {
            uint64_t item_end = image->items[end].offset + image->items[end].len_bytes;
            if (end > begin && item_end - offset > BATCH_BYTES) break;
            limit = align_up(item_end, PLAN_BUFFER_ALIGN_BYTES);
        }
        Batch b = {.source = source,
                   .items = image->items,
                   .offset = offset,
                   .begin = begin,
                   .end = end,
                   .next = begin,
                   .sink = sink,
                   .status = STATUS_OK};
        uint64_t bytes = limit - offset;
        b.base =
            aligned_alloc(PLAN_BUFFER_ALIGN_BYTES, MAX(bytes, (uint64_t)PLAN_BUFFER_ALIGN_BYTES));
        if (!b.base) BUG("out of memory for a batch of weights");
        memset(b.base, 0, bytes);
        pthread_mutex_init(&b.lock, NULL);
        status = run_batch(&b, source->num_threads);
        pthread_mutex_destroy(&b.lock);
        if (status == STATUS_OK) status = artifact_writer_append(writer, b.base, bytes, sink);
        free(b.base);
        if (source->progress) source->progress(limit, image->len_bytes, source->progress_ctx);
    }
    return status;
}

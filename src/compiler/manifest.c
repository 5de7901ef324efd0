// Writes the manifest; see manifest.h.
#include "compiler/manifest.h"

#include <nettle/sha2.h>
#include <stdlib.h>
#include <string.h>

#include "abi/plan.h"
#include "base/file.h"
#include "codegen/codegen.h"

void manifest_put_sha256(const uint8_t *bytes, uint64_t len, StrBuf *out) {
    struct sha256_ctx ctx;
    uint8_t digest[SHA256_DIGEST_SIZE];
    sha256_init(&ctx);
    sha256_update(&ctx, len, bytes);
    sha256_digest(&ctx, sizeof digest, digest);
    strbuf_putc(out, '"');
    for (size_t i = 0; i < sizeof digest; i++) strbuf_printf(out, "%02x", digest[i]);
    strbuf_putc(out, '"');
}

static void put_base_name(const char *path, StrBuf *out) {
    const char *slash = strrchr(path, '/');
    const char *name = slash ? slash + 1 : path;
    strbuf_put_json_string(out, name, strlen(name));
}

enum { MAX_INPUT_BYTES = 16 << 20 };

// ,"KEY":{"name":...,"sha256":...}
static void put_text(StrBuf *out, const char *key, const char *path, const char *text,
                     uint64_t len) {
    strbuf_printf(out, ",\"%s\":{\"name\":", key);
    put_base_name(path, out);
    strbuf_puts(out, ",\"sha256\":");
    manifest_put_sha256((const uint8_t *)text, len, out);
    strbuf_putc(out, '}');
}

static Status put_file(StrBuf *out, const char *key, const char *path, DiagSink *sink) {
    char *text;
    uint64_t len;
    TRY(file_read(path, MAX_INPUT_BYTES, sink, &text, &len));
    put_text(out, key, path, text, len);
    free(text);
    return STATUS_OK;
}

// Op classes where they are not fp32.
static void put_precision(const PassConfig *config, StrBuf *out) {
    strbuf_printf(out, ",\"precision\":{\"activations\":\"%s\",\"kv\":\"%s\"", config->activations,
                  config->kv);
    for (int i = 0; i < NUM_OP_CLASSES; i++)
        if (config->op_precisions[i] != PRECISION_FP32)
            strbuf_printf(out, ",\"%s\":\"%s\"", op_class_info((OpClass)i)->name,
                          op_precision_info(config->op_precisions[i])->name);
    strbuf_putc(out, '}');
}

Status manifest_build(const ManifestInputs *in, DiagSink *sink, StrBuf *out) {
    strbuf_printf(out,
                  "{\"schema\":\"ingot-manifest/"
                  "1\",\"artifact_version\":%d,\"llvm\":\"%s\",\"recipe\":{\"sha256\":",
                  ARTIFACT_VERSION, codegen_llvm_version());
    manifest_put_sha256((const uint8_t *)in->text, in->text_len, out);
    strbuf_puts(out, "},\"model\":{\"name\":");
    strbuf_put_json_string(out, in->model_name, strlen(in->model_name));
    bool has_file = in->gguf && !gguf_is_outline(in->gguf);
    if (has_file)
        strbuf_printf(out, ",\"bytes\":%llu", (unsigned long long)gguf_len_bytes(in->gguf));
    if (has_file && in->hashes_model) {
        strbuf_puts(out, ",\"sha256\":");
        manifest_put_sha256(gguf_bytes(in->gguf), gguf_len_bytes(in->gguf), out);
    }
    strbuf_putc(out, '}');
    if (in->gguf) put_precision(in->config, out);
    strbuf_printf(out, ",\"threads\":%u,\"buckets\":[", in->config->threads);
    for (uint32_t i = 0; i < in->config->num_buckets; i++)
        strbuf_printf(out, "%s%lld", i ? "," : "", (long long)in->config->buckets[i]);
    strbuf_puts(out, "],\"levels\":[");
    for (uint32_t i = 0; i < in->num_levels; i++)
        strbuf_printf(out, "%s\"%s\"", i ? "," : "", cpu_level_info(in->levels[i])->name);
    strbuf_printf(out, "],\"passes\":[");
    for (int i = 0; i < NUM_PASSES; i++)
        strbuf_printf(out, "%s\"%s\"", i ? "," : "", pass_info((PassId)i)->name);
    strbuf_printf(out, "],\"settings\":%s", in->settings->data);
    if (in->build) strbuf_printf(out, ",\"build\":%s", in->build);
    strbuf_printf(out, ",\"num_kernels\":%llu", (unsigned long long)in->num_kernels);
    if (in->subgraph_path)
        put_text(out, "subgraph", in->subgraph_path, in->subgraph_text, in->subgraph_len);
    if (in->target_file) TRY(put_file(out, "target_file", in->target_file, sink));
    if (in->tuning_path) TRY(put_file(out, "tuning", in->tuning_path, sink));
    strbuf_printf(out, ",\"predicted\":%s,\"explain\":%s}\n", in->predicted->data, in->explain);
    return STATUS_OK;
}

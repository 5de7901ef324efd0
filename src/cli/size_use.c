// Padding of versions; see size_use.h.
#include "cli/size_use.h"

PaddingUse size_use_padding(const SizeUse *uses, uint32_t num) {
    double mean = 1, least = 1, largest = 1;
    for (uint32_t i = 0; i < num; i++) {
        double middle = ((double)uses[i].least + (double)uses[i].bucket) / 2;
        mean *= middle / (double)uses[i].bucket;
        least *= (double)uses[i].least / (double)uses[i].bucket;
        largest *= middle / (double)uses[i].largest;
    }
    return (PaddingUse){1 - mean, 1 - least, 1 - largest};
}

void size_use_put_text(const SizeUse *uses, uint32_t num, StrBuf *out) {
    if (num == 0) return;
    for (uint32_t i = 0; i < num; i++) {
        strbuf_printf(out, ", %s %lld", uses[i].name, (long long)uses[i].least);
        if (uses[i].bucket != uses[i].least)
            strbuf_printf(out, " to %lld", (long long)uses[i].bucket);
    }
    PaddingUse padding = size_use_padding(uses, num);
    strbuf_printf(out, "; padding %.0f %% on average, %.0f %% at most", padding.mean * 100,
                  padding.most * 100);
    if (padding.mean_in_largest > padding.mean)
        strbuf_printf(out, " (%.0f %% in the largest version)", padding.mean_in_largest * 100);
}

void size_use_put_json(const SizeUse *uses, uint32_t num, JsonWriter *json) {
    if (num == 0) return;
    json_begin_array(json, "sizes");
    for (uint32_t i = 0; i < num; i++) {
        const BucketRange *range = &uses[i].range;
        json_begin_object(json, NULL);
        json_put_string(json, "name", uses[i].name);
        json_put_int(json, "least", uses[i].least);
        json_put_int(json, "bucket", uses[i].bucket);
        json_put_int(json, "min", range->min);
        json_put_int(json, "max", range->max);
        json_put_int(json, "step", range->step);
        json_begin_array(json, "hot");
        for (uint32_t k = 0; k < range->num_hot; k++) json_put_int(json, NULL, range->hot[k]);
        json_end_array(json);
        json_put_string(json, "off_step", range->rejects_off_step ? "reject" : "pad");
        json_put_string(json, "set_by", uses[i].set_by);
        json_end_object(json);
    }
    json_end_array(json);
    PaddingUse padding = size_use_padding(uses, num);
    json_begin_object(json, "padding");
    json_put_real(json, "mean", padding.mean);
    json_put_real(json, "most", padding.most);
    json_put_real(json, "mean_in_largest", padding.mean_in_largest);
    json_end_object(json);
}

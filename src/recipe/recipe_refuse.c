// Refuses what no target does so far; see recipe_refuse.h.
#include "recipe/recipe_refuse.h"

#include <inttypes.h>

static Status refuse(const Recipe *recipe, DiagSpan span, const char *what, const char *why,
                     const char *remedy, DiagSink *sink) {
    Status status = diag_error(sink, DIAG_R0012, span, "%s is not made for %s", what,
                               recipe_target_name(&recipe->target));
    diag_evidence(sink, "%s", why);
    diag_write(sink, "%s", remedy);
    return status;
}

static Status refuse_of_rule(const Recipe *recipe, const RecipeRule *rule, DiagSink *sink) {
    if (rule->flash_version == 1)
        return refuse(recipe, rule->span, "flash_attention_version 1",
                      "it stores the result again for every block of keys; version 2 keeps it in "
                      "registers",
                      "flash_attention_version: 2", sink);
    if (rule->flash_version == 3)
        return refuse(recipe, rule->span, "flash_attention_version 3",
                      "it overlaps copies and tensor cores of sm_90a by warp groups of their own",
                      "flash_attention_version: 2", sink);
    if (!rule->flash_version || rule->is_flash) return STATUS_OK;
    Status status = diag_error(sink, DIAG_R0011, rule->span,
                               "the rule %s says flash_attention_version: %" PRId64
                               " and use_flash_attention: false",
                               rule->pattern, rule->flash_version);
    diag_write(sink, "use_flash_attention: true");
    return status;
}

static Status check_rope(const Recipe *recipe, DiagSink *sink) {
    if (!recipe->is_rope_custom || recipe->spans[RECIPE_DIMS_ROPE_BASE].line) return STATUS_OK;
    Status status = diag_error(sink, DIAG_R0011, recipe->spans[RECIPE_CUSTOM_ROPE],
                               "enable_custom_rope needs the base: dims.rope_base is not given");
    diag_write(sink, "dims: {rope_base: 10000}");
    return status;
}

Status recipe_refuse_unmade(const Recipe *recipe, DiagSink *sink) {
    Status status = check_rope(recipe, sink);
    if (!recipe->is_kv_paged)
        status = refuse(recipe, recipe->spans[RECIPE_PAGED], "a KV cache that is not paged",
                        "attention reads keys and values page by page",
                        "enable_paged_kv_cache: true", sink);
    if (recipe->is_recomputed)
        status = refuse(
            recipe, recipe->spans[RECIPE_RECOMPUTE], "recomputation",
            "intermediates live for a few steps and share one arena; what is left is "
            "decided by the sizes",
            "enable_recomputation: false, and a smaller seq_len.max for a smaller arena", sink);
    for (uint32_t i = 0; i < recipe->num_rules; i++) {
        Status one = refuse_of_rule(recipe, &recipe->rules[i], sink);
        if (one != STATUS_OK) status = one;
    }
    return status;
}

Status recipe_derive_sync(Recipe *recipe, DiagSink *sink) {
    bool says_async = recipe->spans[RECIPE_ASYNC].line != 0,
         says_sync = recipe->spans[RECIPE_SYNC_ALL].line != 0;
    if (says_async && says_sync && recipe->is_async == recipe->is_sync) {
        Status status =
            diag_error(sink, DIAG_R0011, recipe->spans[RECIPE_SYNC_ALL],
                       "enable_async_execution and enable_sync_all are contraries, and both are %s",
                       recipe->is_sync ? "true" : "false");
        diag_write(sink, "one of the two");
        return status;
    }
    if (says_async)
        recipe->is_sync = !recipe->is_async;
    else
        recipe->is_async = !recipe->is_sync;
    return STATUS_OK;
}

// What rules of fusion say together; see recipe_refuse.h.
#include <string.h>

#include "recipe/recipe_refuse.h"

static RecipeRule *find_rule(Recipe *recipe, const char *pattern) {
    for (uint32_t i = 0; i < recipe->num_rules; i++)
        if (str_equal(recipe->rules[i].pattern, pattern)) return &recipe->rules[i];
    return NULL;
}

// The softmax of an attention is the one op that two rules can take: attn_softmax with all of the
// attention, block of keys by block, or matmul_softmax with the product before it, in whole rows.
// The rule that comes first has it.
static Status derive_order(Recipe *recipe, RecipeRule *rule, DiagSink *sink) {
    static const char *const pair[] = {"attn_softmax", "matmul_softmax"};
    RecipeRule *attention = find_rule(recipe, pair[0]), *product = find_rule(recipe, pair[1]);
    if (rule != attention && rule != product) {
        Status status =
            diag_error(sink, DIAG_R0012, rule->span,
                       "fuse_order of %s: no other rule takes an op from it", rule->pattern);
        diag_evidence(sink, "two rules can take one op where an attention has its softmax: "
                            "attn_softmax and matmul_softmax");
        diag_write(sink, "the rule without fuse_order; mode: forbid on the rule that should give "
                         "way");
        return status;
    }
    const char *other = pair[rule == attention];
    if (!attention || !product || !attention->order || !product->order ||
        attention->order == product->order) {
        Status status = diag_error(
            sink, DIAG_R0011, rule->span,
            "fuse_order: %lld of %s is before or behind "
            "that of %s, which is %s",
            (long long)rule->order, rule->pattern, other,
            attention && product && attention->order == product->order ? "the same" : "not given");
        diag_write(sink, "{pattern: %s, fuse_order: %lld}", other, (long long)rule->order + 1);
        return status;
    }
    if (rule != attention || attention->order < product->order) return STATUS_OK;
    if (attention->says_flash && attention->is_flash) {
        Status status = diag_error(sink, DIAG_R0011, rule->span,
                                   "use_flash_attention: true, and matmul_softmax comes first: it "
                                   "keeps whole rows of scores");
        diag_write(sink, "fuse_order: %lld", (long long)MAX(product->order - 1, (int64_t)1));
        return status;
    }
    attention->says_flash = true;
    attention->is_flash = false;
    return STATUS_OK;
}

// Whole rows of scores are stored in a language model, as its context has no bound that a kernel
// could keep.
static Status check_attention(const Recipe *recipe, const RecipeRule *rule, DiagSink *sink) {
    if (recipe_is_subgraph(recipe) || !str_equal(rule->pattern, "attn_softmax") || rule->is_flash ||
        !rule->is_atomic)
        return STATUS_OK;
    Status status =
        diag_error(sink, DIAG_R0012, rule->span,
                   "attention without an online softmax stores its scores: it cannot be atomic");
    diag_write(sink, "mode: require");
    return status;
}

Status recipe_derive_rules(Recipe *recipe, DiagSink *sink) {
    Status status = STATUS_OK;
    for (uint32_t i = 0; i < recipe->num_rules; i++) {
        RecipeRule *rule = &recipe->rules[i];
        Status one = rule->order ? derive_order(recipe, rule, sink) : STATUS_OK;
        if (one == STATUS_OK) one = check_attention(recipe, rule, sink);
        if (one != STATUS_OK) status = one;
    }
    return status;
}

// From the words of `precision` to a precision per op class; see recipe.h.
#include "recipe/recipe.h"

// Products take the storage of what the default asks for: their sums stay fp32.
static OpPrecision product_precision(OpPrecision asked) {
    switch (op_precision_info(asked)->storage) {
    case DTYPE_F16: return PRECISION_FP16_STORAGE;
    case DTYPE_BF16: return PRECISION_BF16_STORAGE;
    default: return PRECISION_FP32;
    }
}

static OpPrecision word_precision(const char *word) {
    OpPrecision precision = PRECISION_FP32;
    BUG_IF(!op_precision_find(word, &precision), "%s is no precision", word);
    return precision;
}

static void keep_error(Status status) {
    (void)status;
}

static void warn_of_softmax(const Recipe *recipe, DiagSink *sink) {
    const OpPrecisionInfo *info = op_precision_info(recipe->op_precisions[OP_CLASS_SOFTMAX]);
    if (recipe->op_words[OP_CLASS_SOFTMAX] || info->storage != DTYPE_F16) return;
    diag_report(sink, DIAG_WARNING, DIAG_R0020, recipe->spans[RECIPE_PRECISION_DEFAULT],
                "precision.default: %s makes the softmax of attention %s", info->name, info->name);
    diag_evidence(sink,
                  "scores above 65504 become infinite and the row NaN; weights below "
                  "6e-8 become 0%s",
                  info->accumulate == DTYPE_F16 ? "; a sum of 2048 stops to grow by ones" : "");
    diag_write(sink, "softmax_precision: fp32");
}

// An attention whose softmax has types of its own is no online softmax, and no single kernel.
static void check_rules(const Recipe *recipe, DiagSink *sink) {
    if (recipe->op_precisions[OP_CLASS_SOFTMAX] == PRECISION_FP32) return;
    for (uint32_t i = 0; i < recipe->num_rules; i++) {
        const RecipeRule *rule = &recipe->rules[i];
        bool wants_flash = rule->says_flash && rule->is_flash;
        if (!str_equal(rule->pattern, "attn_softmax") || (!rule->is_atomic && !wants_flash))
            continue;
        keep_error(diag_error(sink, DIAG_R0011, rule->span,
                              "the online softmax is computed in fp32, and the recipe asks for %s",
                              op_precision_info(recipe->op_precisions[OP_CLASS_SOFTMAX])->name));
        diag_write(sink, "softmax_precision: fp32");
    }
}

void recipe_derive_precisions(Recipe *recipe, DiagSink *sink) {
    OpPrecision common = word_precision(recipe->op_default);
    for (int i = 0; i < NUM_OP_CLASSES; i++) {
        bool is_product = op_class_info((OpClass)i)->is_product;
        recipe->op_precisions[i] = recipe->op_words[i] ? word_precision(recipe->op_words[i])
                                   : is_product        ? product_precision(common)
                                                       : common;
    }
    if (recipe_is_subgraph(recipe)) return;
    warn_of_softmax(recipe, sink);
    check_rules(recipe, sink);
}

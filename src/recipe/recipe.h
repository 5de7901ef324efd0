// The recipe: what the user asked for, checked, with the place of every value. All keys come from
// recipe.def; keys that are not in it are refused.
#ifndef INGOT_RECIPE_RECIPE_H
#define INGOT_RECIPE_RECIPE_H

#include "abi/cpu.h"
#include "abi/op_precision.h"
#include "abi/quant.h"
#include "abi/relation.h"
#include "base/diag.h"
#include "ir/ir.h"
#include "target/target.h"

typedef enum RecipeKey {
#define RECIPE_KEY(id, path, type, owner, field, min, max, choices, default_, doc, effect)         \
    RECIPE_##id,
#include "recipe/recipe.def"
#undef RECIPE_KEY
    NUM_RECIPE_KEYS
} RecipeKey;

typedef enum RecipeType {
    RECIPE_TYPE_INT,
    RECIPE_TYPE_REAL,
    RECIPE_TYPE_BOOL,
    RECIPE_TYPE_TEXT,
    RECIPE_TYPE_WORD,
    RECIPE_TYPE_SIZE,
    RECIPE_TYPE_LEVELS,
    RECIPE_TYPE_RELATIONS,
    RECIPE_TYPE_INTS,
    RECIPE_TYPE_OPS,
    RECIPE_TYPE_SHAPE,
} RecipeType;

// What a recipe must describe for a key to be of use.
typedef enum RecipeScope {
    RECIPE_OF_ANY,
    RECIPE_OF_MODEL,
    RECIPE_OF_SUBGRAPH,
} RecipeScope;

typedef struct RecipeKeyInfo {
    const char *path;
    RecipeScope scope;
    RecipeType type;
    int64_t min, max;         // INT; REAL: above min
    const char *choices;      // WORD: separated by blanks
    const char *default_text; // NULL: must be given; "": derived or absent
    const char *doc, *effect;
    size_t offset; // of the field in its structure
} RecipeKeyInfo;

const RecipeKeyInfo *recipe_key_info(RecipeKey key);

enum { RECIPE_MAX_LIST = 32 };

typedef struct RecipeInts {
    int64_t of[RECIPE_MAX_LIST];
    uint32_t num;
} RecipeInts;

typedef struct RecipeRange {
    int64_t min, max, step;
    RecipeInts hot;           // ascending
    const char *off_step;     // "pad", "reject"
    const char *out_of_range; // of a model: "next_bucket", "reject"
} RecipeRange;

typedef struct RecipeOps {
    IrOpKind of[RECIPE_MAX_LIST];
    DiagSpan spans[RECIPE_MAX_LIST];
    uint32_t num;
} RecipeOps;

// A size of a subgraph that varies, by its name in the module.
typedef struct RecipeSize {
    const char *name;
    RecipeRange range;
    DiagSpan span;
} RecipeSize;

typedef struct RecipeTarget {
    const char *name, *arch;                                       // NULL: not given
    uint32_t levels;                                               // bits 1 << CpuLevel
    int64_t threads;                                               // maximum
    int64_t sm_count, core_count, l2_cache_mb, mem_bandwidth_gbps; // 0: not given
    const char *compute_capability, *gfx_arch, *ai_core_type, *ai_core_preference;
    DiagSpan span;
    // What the hardware table knows of it; has_machine is false for x86_64 without a name, which is
    // planned for as the least machine of each level.
    bool has_machine;
    Target machine;
} RecipeTarget;

typedef struct RecipeRule {
    const char *pattern;
    const char *mode; // "allow", "forbid", "require"
    bool is_enabled, is_atomic, is_flash, says_flash;
    int64_t flash_version, order; // 0: not given
    DiagSpan span;
} RecipeRule;

enum { RECIPE_MAX_RANK = 8, RECIPE_MAX_LAYOUTS = 32 };

typedef struct RecipeShape {
    const char *dims[RECIPE_MAX_RANK]; // a number, a word, or "-1"
    DiagSpan spans[RECIPE_MAX_RANK];
    DiagSpan span;
    uint32_t rank; // 0: not given
} RecipeShape;

// What is said of an input, a cache or a weight.
typedef struct RecipeLayout {
    const char *name, *dtype, *format; // dtype: NULL if not given
    RecipeShape shape;
    int64_t tile_size, block_size; // 0: not given
    DiagSpan span;
} RecipeLayout;

typedef struct RecipeRelation {
    const char *text; // in one form, whatever blanks the recipe has
    Relation is;
    DiagSpan span;
} RecipeRelation;

typedef struct RecipeRelations {
    RecipeRelation of[RELATION_MAX];
    uint32_t num;
} RecipeRelations;

// The shape of a model, for where there is no file; 0, NULL: not known.
typedef struct RecipeDims {
    const char *architecture;
    int64_t layers, hidden, heads, kv_heads, head_dim, ffn, vocab, context, sliding_window;
    double rope_base, norm_eps;
    bool is_tied;
} RecipeDims;

enum {
    RECIPE_MAX_BUCKETS = 32,
    RECIPE_MAX_RULES = 16,
    RECIPE_MAX_TARGETS = 16,
    RECIPE_MAX_SIZES = 32
};

typedef struct Recipe {
    Arena arena;
    const char *path; // of the recipe, as given
    const char *text; // as read
    size_t text_len;
    int64_t version;
    const char *model_name;
    const char *model_path; // resolved against the recipe's folder; NULL if the recipe names none
    // IR text instead of a language model: inline, or the path of its file, resolved. NULL: a
    // model.
    const char *subgraph_text, *subgraph_path;
    int64_t max_scratch_bytes;          // of a kernel of a subgraph, per worker; 0: not given
    RecipeSize sizes[RECIPE_MAX_SIZES]; // of a subgraph
    uint32_t num_sizes;
    RecipeDims dims;         // as given, and where nothing is given of the known model
    const char *known_model; // of that name; NULL: the name is not known
    // "as_stored" or a format in capitals; "int8" "bf16" "f32"; "f16" "f32"
    const char *weights, *activations, *kv;
    const char *op_default, *op_words[NUM_OP_CLASSES]; // names of precisions; NULL: not given
    OpPrecision op_precisions[NUM_OP_CLASSES];         // what follows
    int64_t max_memory_bytes;                          // 0: not given
    QuantFormat weight_format;                         // NUM_QUANT_FORMATS: as stored
    RecipeRange batch_size, seq_len;
    int64_t kv_len_tokens;              // as asked; the context is page_len_tokens * max_pages
    int64_t page_len_tokens, max_pages; // of a sequence
    int64_t num_pages;                  // of all sequences of a batch that the relations allow
    RecipeRelations relations;
    int64_t reserve_bytes;
    const char *fallback; // "allow", "forbid"
    RecipeOps unsupported_ops;
    bool is_kv_paged, is_recomputed, is_rope_custom;
    bool is_async, is_sync; // contraries
    bool is_qkv_packed, is_gate_up_packed;
    RecipeLayout layouts[RECIPE_MAX_LAYOUTS];
    uint32_t num_layouts;
    RecipeTarget targets[RECIPE_MAX_TARGETS]; // at least one
    uint32_t num_targets;
    RecipeTarget target; // the one that is worked on: the first, or recipe_select_target's
    RecipeRule rules[RECIPE_MAX_RULES];
    uint32_t num_rules;
    int64_t buckets[RECIPE_MAX_BUCKETS]; // tokens per call, ascending, the first is 1
    uint32_t num_buckets;
    int64_t batches[RECIPE_MAX_BUCKETS]; // sequences that advance by one token at once, ascending
    uint32_t num_batches;                // from 2; 0: one at a time
    // Place of each value (keys in lists: of the last element). line 0: the default was taken.
    // Quotes text in the arena of the sink given to recipe_load.
    DiagSpan spans[NUM_RECIPE_KEYS];
} Recipe;

// Reads *.yaml or *.json. Every fault found is reported (codes R....), STATUS_INVALID; a file that
// cannot be read: U0002, STATUS_IO. The sink must outlive uses of the spans.
Status recipe_load(const char *path, DiagSink *sink, Recipe **out_recipe) MUST_USE;
// The same from text; a relative model path is resolved against the folder of `path`.
Status recipe_parse(const char *text, size_t len, const char *path, DiagSink *sink,
                    Recipe **out_recipe) MUST_USE;
// Works on the target that is called so (its name, its arch, or its machine's name); H0012 if none
// or several are.
Status recipe_select_target(Recipe *recipe, const char *name, DiagSink *sink) MUST_USE;
// The number that `dims` has under this name, 0 if it says nothing of it; false: no such number.
bool recipe_dim(const Recipe *recipe, const char *name, RecipeKey *out_key, double *out_value);
const char *recipe_target_name(const RecipeTarget *target);
// Finds the target's machine and checks the numbers it gives: H0004 to H0009.
Status recipe_check_target(const Recipe *recipe, const DiagSpan *spans, RecipeTarget *target,
                           DiagSink *sink) MUST_USE;
// The precision of every op class, from its own key or from precision.default; R0011 where a fusion
// rule contradicts one, and a warning where fp16 reaches the softmax unsaid (R0020).
void recipe_derive_precisions(Recipe *recipe, DiagSink *sink);
// What an artifact and the IR call the recipe: equal recipes give equal bytes, whatever their files
// are called.
#define RECIPE_NEUTRAL_NAME "recipe"
// Messages about places in it name the file again.
void recipe_name_places(const char *path, DiagSink *sink);
// The same of the model file.
#define MODEL_NEUTRAL_NAME "model"
void recipe_name_model_places(const char *path, DiagSink *sink);
// Does it describe a subgraph instead of a language model?
bool recipe_is_subgraph(const Recipe *recipe);
void recipe_destroy(Recipe *recipe);

#endif

// A tiny random model and a recipe for it, as far along the pipeline as a test wants.
#ifndef INGOT_TESTS_TINY_CHAIN_H
#define INGOT_TESTS_TINY_CHAIN_H

#include "../recipe/tiny_model.h"
#include "passes/pass.h"
#include "recipe/import.h"

typedef struct TinyChain {
    // What to make; 0 and NULL: a default.
    TinyModel model;
    bool is_halves;          // rope pairing
    const char *activations; // "f32"
    const char *kv;          // "f32"
    const char *precision;   // further keys of precision, ", default: bf16"
    uint32_t bucket;         // 16: entries for 1 and this many tokens
    uint32_t context;        // 64, in pages of 16
    const char *more;        // further lines of the recipe
    // What was made.
    DiagSink sink;
    StrBuf bytes, recipe_text; // the model file
    Gguf *gguf;
    Recipe *recipe;
    IrModule *imported; // level 1
} TinyChain;

enum { TINY_PAGE_LEN = 16, TINY_VOCAB = 272 };

void tiny_chain_open(TinyChain *chain); // fails the test on an error
void tiny_chain_close(TinyChain *chain);
// Fails the test with the rendered diagnostics unless status is STATUS_OK.
void tiny_chain_expect_ok(TinyChain *chain, Status status);
// Runs the standard pipeline on m from where it stands up to, not including, end.
void tiny_chain_advance(TinyChain *chain, IrModule *m, PassId end);
// A copy of the imported module, advanced up to end; level NULL: no ingot.target.
IrModule *tiny_chain_module(TinyChain *chain, PassId end, const char *level);
void tiny_chain_set_target(IrModule *m, const char *level);

#endif

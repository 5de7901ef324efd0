// What a compile was told, key by key: the recipe's values with their lines, its defaults, and the
// options given beside it. Part of the manifest, so that two artifacts can be compared by their
// causes.
#ifndef INGOT_COMPILER_SETTINGS_H
#define INGOT_COMPILER_SETTINGS_H

#include "compiler/compile.h"
#include "recipe/recipe.h"

// Appends a JSON array of {"key", "value", "at"}: at is "recipe:LINE", "default" or "option". The
// elements of a list are told apart by their pattern, else by number. Files are named without their
// folders, long texts by their SHA-256. recipe: NULL for a module of IR text.
Status settings_put(const CompileOptions *options, const Recipe *recipe, DiagSink *sink,
                    StrBuf *out) MUST_USE;

#endif

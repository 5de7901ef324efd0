// Layouts of the maps between convolutions. Channels-last is [n, h, w, c]; blocked is
// [n, c/16, h, w, 16]: a row of one block of channels lies together. layout-optimize chooses one of
// them for all maps that some op needs in the same layout (map_choice.c) and puts relayouts around
// the convolutions; propagate-layout carries the blocks through what lies between.
#ifndef INGOT_PASSES_MAP_LAYOUT_H
#define INGOT_PASSES_MAP_LAYOUT_H

#include "passes/build.h"
#include "target/target.h"

// Channels of a block: a cache line of f32, which is one vector of the widest CPU level and two of
// the others. All levels share one layout, as they share the weights.
enum { MAP_BLOCK = 16, MAP_MAX_INSIDE = 4, MAP_MAX_OPERANDS = 16 };

// Could value be a map in blocks: f32, at least [n, .., c], whole blocks of channels?
bool map_can_be_blocked(const IrValue *value);
// [n, .., c] -> [n, c/16, .., 16]
const IrType *map_blocked_type(IrModule *m, const IrType *last);

typedef enum MapOpKind { MAP_OP_NONE, MAP_OP_GENERIC, MAP_OP_SLICE, MAP_OP_RESHAPE } MapOpKind;

// What an op that is no convolution does with maps: all members have one layout.
typedef struct MapOp {
    MapOpKind kind;
    uint32_t channel; // GENERIC: the loop over channels
    uint32_t members; // operands that are maps, one bit each
    bool has_result;  // the result is one
    uint32_t num_inside;
    IrValue *inside[MAP_MAX_INSIDE]; // maps that a body reads element by element
    const char *why;                 // NONE: why not, if there is something to say
} MapOp;

// Maps that must have one layout where their ops have it: the roots of their sets are equal.
typedef struct MapSet {
    IrModule *m;
    IrBlock *body;
    uint32_t num; // of values when it was made
    bool *is_map;
    uint32_t *parent;
    const IrValue **todo;
    uint32_t num_todo;
} MapSet;

void map_set_init(IrModule *m, IrOp *func, MapSet *out_set);
void map_set_add(MapSet *set, const IrValue *map); // and what ops carry its layout on to
uint32_t map_set_root(MapSet *set, const IrValue *map);
bool map_set_has(const MapSet *set, const IrValue *value);

// Reads op, of which `map` (an operand, the result, or read inside) is a map with channels last.
// Without whether they are in blocks now.
MapOp map_op_read(IrModule *m, IrOp *op, const IrValue *map);
// Filled or empty tensors are made in any layout.
bool map_is_free(const IrValue *value);

// Relayouts: a copy of a channels-last map in blocks, and back.
IrValue *map_to_blocked(Builder *b, IrValue *last);
IrValue *map_to_last(Builder *b, IrValue *blocked);
// What a relayout reads, without reshapes around it; NULL: op is none.
IrValue *map_relayout_source(const IrOp *op, bool to_blocked);

// ---- the choice

typedef struct MapLayouts {
    uint32_t num;
    bool *is_blocked; // by index of a value
} MapLayouts;

bool map_is_blocked(const MapLayouts *layouts, const IrValue *value);
// Chooses for every map of func and notes why (ingot.layouts); lives as long as the module.
Status map_layouts_choose(IrModule *m, IrOp *func, const Target *target, DiagSink *sink,
                          MapLayouts *out_layouts) MUST_USE;

#endif

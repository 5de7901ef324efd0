// The artifact: one file, little-endian, pointer-free, mapped read-only. Compiler and run time
// share this header, with what it includes, and nothing else.
//
//   ArtifactHeader | section table | sections, each on the page behind the one before, gaps zero
//
// SECTION_WEIGHTS comes last: what lies before it is mapped, the weights are read.
// All structures are naturally aligned fixed-width integers. Every reference is an index or a byte
// offset inside its section and is checked at open (artifact_open in runtime/artifact.c).
#ifndef INGOT_ABI_PLAN_H
#define INGOT_ABI_PLAN_H

#include <stdint.h>

#include "abi/bucket_range.h"

#define ARTIFACT_MAGIC "INGOT\r\n\x1a"
enum {
    ARTIFACT_VERSION = 6,
    ARTIFACT_PAGE_BYTES = 4096,         // alignment of code
    ARTIFACT_HUGE_PAGE_BYTES = 2 << 20, // unit the weight image is rounded up to in memory
    ARTIFACT_MAX_SECTIONS = 32,         // slots of the section table, which follows the header
    PLAN_BUFFER_ALIGN_BYTES = 64,
    PLAN_MAX_THREADS = 256,
    PLAN_MAX_TILES = INT32_MAX, // of a step
    PLAN_MAX_SEQUENCES = 256,   // of a batch
    PLAN_MAX_NAME_BYTES = 4096, // longest string, its NUL not counted
    PLAN_MAX_RANK = 16,         // of a port
};

typedef enum SectionKind {
    SECTION_MANIFEST = 1, // JSON text: inputs, options, decisions
    SECTION_STRINGS,      // NUL-terminated strings, referenced by byte offset
    SECTION_TOKENIZER,    // abi/tokenizer_blob.h
    SECTION_TEMPLATE,     // chat template source text, may be absent
    SECTION_PLAN,         // PlanHeader and its tables
    SECTION_CODE,         // machine code of one CPU level (tag = CpuLevel)
    SECTION_WEIGHTS,      // packed weights and constants; its checksum is verified on request only
    SECTION_SIZES,        // PlanSize[]: the sizes of entries that vary; absent if there are none
    SECTION_RELATIONS,    // PlanRelation[]: what sizes of a call must keep to; absent if there are
                          // none
    NUM_SECTION_KINDS,
} SectionKind;

typedef struct ArtifactHeader {
    uint8_t magic[8];
    uint32_t version;
    uint32_t num_sections;
    uint64_t file_len_bytes;
    uint64_t sections_offset; // of SectionEntry[num_sections]
    uint64_t checksum;        // XXH3-64 of the section table
} ArtifactHeader;

typedef struct SectionEntry {
    uint32_t kind; // SectionKind
    uint32_t tag;  // SECTION_CODE: CpuLevel
    uint64_t offset, len_bytes;
    uint64_t checksum; // XXH3-64 of the bytes
} SectionEntry;

// ---- SECTION_PLAN: PlanHeader, then the tables at the given byte offsets of the section.

typedef struct PlanTable {
    uint64_t offset; // byte offset in the section
    uint64_t count;  // elements
} PlanTable;

typedef struct PlanHeader {
    uint32_t kernel_abi_version;
    uint32_t max_threads;                // workers the plan has scratch for
    uint32_t vocab_size;                 // 0: no language model, every entry is called with tensors
    uint32_t context_len_tokens;         // = page_len_tokens * max_pages
    uint32_t page_len_tokens, max_pages; // max_pages: of a sequence
    uint32_t num_pages;                  // of all sequences together
    uint32_t max_sequences;              // that one call takes a token each of; 1 without batches
    uint32_t model_name;                 // string offset
    uint32_t reserved;
    uint64_t weights_bytes; // bytes of SECTION_WEIGHTS
    uint64_t arena_bytes;   // one arena, shared by all entries
    uint64_t kv_bytes;      // all layers, num_pages pages
    uint64_t kv_page_bytes; // of a page of one cache: every buffer in SPACE_KV has num_pages of it
    uint64_t scratch_bytes; // per worker
    uint64_t ports_bytes;   // arguments and results of the entry that has most of them
    uint64_t io_bytes;      // token ids, positions, page tables, logits, ports
    uint64_t runtime_bytes; // executor, sampler, tokenizer state
    uint64_t reserve_bytes; // left for what is not in the plan
    PlanTable levels;       // PlanLevel: one per SECTION_CODE
    PlanTable kernels;      // PlanKernel
    PlanTable kernel_code;  // PlanKernelCode[levels.count * kernels.count], level-major
    PlanTable entries;      // PlanEntry: of one sequence, smallest bucket first, then of batches
    PlanTable steps;        // PlanStep
    PlanTable buffers;      // PlanBuffer
    PlanTable scalars;      // PlanScalar
    PlanTable memory;       // PlanMemoryPart
    PlanTable ports;        // PlanPort
    PlanTable checks;       // PlanCheck
} PlanHeader;

typedef struct PlanLevel {
    uint32_t cpu_level;         // CpuLevel
    uint32_t required_features; // CPU_HAS_* bits
    uint32_t section;           // index in the section table
    uint32_t name;              // string offset
} PlanLevel;

typedef struct PlanKernel {
    uint32_t name; // string offset
    uint32_t num_buffers, num_scalars;
    uint32_t kind; // string offset: what the kernel does ("matmul.q4_1.i8", ...)
} PlanKernel;

typedef struct PlanKernelCode {
    uint64_t offset, len_bytes; // in the level's code section
} PlanKernelCode;

// One compiled entry point. Of a language model: processes `num_valid` tokens, 1 <= num_valid <=
// bucket_tokens, at positions start..start+num_valid-1, and leaves the logits of the last one in
// the logits buffer. Of batches: one token of each of `num_valid` sequences, at positions of their
// own, and leaves their logits in as many rows. Else (bucket_tokens 0): computes its result ports
// from its argument ports; several entries of one name are its versions for different sizes.
typedef struct PlanEntry {
    uint32_t bucket_tokens; // is_batch: sequences
    uint32_t first_step, num_steps;
    uint32_t name; // string offset
    // The last num_head_steps steps serve the logits only and are left out where a prompt goes on
    // in another call; 0: none is left out.
    uint32_t num_head_steps;
    // 1: they may run again and again for other rows of the same call, with the number of valid
    // tokens up to that row: they write nothing that they read from the steps before them.
    uint32_t repeats_head;
    uint32_t first_port, num_ports; // arguments, then results
    uint32_t is_batch;
} PlanEntry;

typedef enum PlanPortKind {
    PORT_ARGUMENT,
    PORT_RESULT,
    PORT_COUNT, // the run time puts there how many elements are valid where a size has its name
    NUM_PORT_KINDS
} PlanPortKind;

// A tensor that an entry takes or gives. A dimension with a name is a bucket of the size of that
// name: the tensor of a call is as large or smaller there, the rest of the port is padding.
typedef struct PlanPort {
    uint32_t name;  // string offset; unique among the ports of a kind of an entry
    uint32_t dtype; // Dtype
    uint32_t rank, kind;
    uint64_t offset, len_bytes;        // in SPACE_PORTS
    int64_t dims[PLAN_MAX_RANK];       // 0 from rank on
    uint32_t dim_names[PLAN_MAX_RANK]; // string offsets; the empty text for a fixed size
} PlanPort;

// What compiled code checks while it runs: the check that a fault record names by its number.
typedef struct PlanCheck {
    uint32_t kind;      // FaultKind
    uint32_t op;        // string offset: the op that is checked
    uint32_t text;      // string offset: what an assertion says
    uint32_t file;      // string offset, without its folder; the empty text if unknown
    uint32_t line, col; // from 1; 0 if unknown
    int64_t numbers[4]; // what the text of the kind names
} PlanCheck;

// ---- SECTION_SIZES

enum { PLAN_MAX_SIZES = 8 }; // of an entry

// A size that varies: its name in the ports of all entries called `entry`, what a call may have,
// and what the versions of the entry hold.
typedef struct PlanSize {
    uint32_t entry, name; // string offsets
    uint32_t at;          // string offset: file and line that state the range
    uint32_t reserved;
    BucketRange range;
} PlanSize;

// ---- SECTION_RELATIONS

// At most RELATION_MAX of them: every call of a language model keeps to each, every call of an
// entry to those whose names are all sizes of it.
typedef struct PlanRelation {
    uint32_t text, at; // string offsets: in the form of abi/relation.h; file and line that state it
} PlanRelation;

// ---- of the plan

typedef enum PlanSpace {
    SPACE_WEIGHTS, // offset in SECTION_WEIGHTS
    SPACE_ARENA,
    SPACE_KV,
    SPACE_SCRATCH, // offset in the worker's own scratch
    SPACE_TOKENS,  // i32 token ids of this call, bucket_tokens of the largest entry
    SPACE_STARTS,  // i32 positions of a batch's tokens, max_sequences; 0 from num_valid on
    SPACE_PAGES,  // i32 page table of each sequence, max_pages; any order, 0 where not yet assigned
    SPACE_LOGITS, // f32, vocab_size for each sequence
    SPACE_PORTS,  // arguments and results of the entry at hand
    NUM_PLAN_SPACES
} PlanSpace;

typedef struct PlanBuffer {
    uint32_t space; // PlanSpace
    uint32_t reserved;
    uint64_t offset, len_bytes;
} PlanBuffer;

typedef enum PlanScalarKind {
    SCALAR_CONST,
    SCALAR_NUM_VALID, // tokens, or sequences, of this call
    SCALAR_START,     // position of the first of them
} PlanScalarKind;

typedef struct PlanScalar {
    uint32_t kind; // PlanScalarKind
    uint32_t reserved;
    int64_t value; // SCALAR_CONST
} PlanScalar;

// Runs a kernel over T = tiles_mul * ceil(tiles_of / tiles_div) tiles. The share of worker w of W
// is [T*w/W, T*(w+1)/W); in entries that take more than one token, or tensors, pieces of its second
// half go to whoever is free. Which worker computes a tile makes no difference to it.
// A barrier follows every step with needs_barrier set (the next step reads what this one wrote).
typedef struct PlanStep {
    uint32_t kernel;
    uint32_t first_buffer, first_scalar; // counts are the kernel's
    uint32_t needs_barrier;
    PlanScalar tiles_of;
    int64_t tiles_mul, tiles_div;
    uint32_t every_worker; // 1: each worker computes all tiles, into its own scratch
    uint32_t reserved;
} PlanStep;

// A line of the memory table; the lines add up to the total. outside = listed, not counted.
typedef struct PlanMemoryPart {
    uint32_t name;   // string offset
    uint32_t set_by; // string offset: what decides it (recipe lines, model file)
    uint64_t bytes;
    uint32_t is_outside;
    uint32_t reserved;
} PlanMemoryPart;

#endif

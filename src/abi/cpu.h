// CPU features and the code levels an artifact holds; from cpu.def.
#ifndef INGOT_ABI_CPU_H
#define INGOT_ABI_CPU_H

#include "base/base.h"

typedef enum CpuFeature {
#define CPU_FEATURE(id, name) CPU_FEATURE_##id,
#include "abi/cpu.def"
    NUM_CPU_FEATURES
} CpuFeature;

enum {
#define CPU_FEATURE(id, name) CPU_HAS_##id = 1u << CPU_FEATURE_##id,
#include "abi/cpu.def"
};

typedef enum CpuLevel {
#define CPU_LEVEL(id, name, cpu, features, required) CPU_LEVEL_##id,
#include "abi/cpu.def"
    NUM_CPU_LEVELS
} CpuLevel;

typedef struct CpuLevelInfo {
    const char *name, *llvm_cpu, *llvm_features;
    uint32_t required; // CPU_HAS_* bits
} CpuLevelInfo;

const CpuLevelInfo *cpu_level_info(CpuLevel level);
bool cpu_level_find(const char *name, CpuLevel *out_level); // "native" is the host's best level
const char *cpu_feature_name(CpuFeature feature);
// CPU_HAS_* bits of the host, operating system support (XCR0) included.
uint32_t cpu_host_features(void);
// Best level the host runs; false if it lacks even the least.
bool cpu_host_level(CpuLevel *out_level);
static inline bool cpu_level_runs(uint32_t features, const CpuLevelInfo *info) {
    return (features & info->required) == info->required;
}
// Processors this process may use: affinity mask, and cgroup v1/v2 CPU quota (rounded up), at
// least 1.
uint32_t cpu_usable_threads(void);

#endif

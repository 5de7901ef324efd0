// What the host processor can do, and how much of it this process may use; see cpu.h.
// CPUID leaves and XCR0 bits: Intel SDM volume 2A (CPUID) and volume 1 chapter 13 (XSAVE).
#include "abi/cpu.h"

#include <sched.h>
#include <stdlib.h>
#include <unistd.h>

#include "abi/cgroup.h"
#include "base/str.h"

#if defined(__x86_64__)
#include <cpuid.h>
#endif

static const CpuLevelInfo levels[NUM_CPU_LEVELS] = {
#define CPU_LEVEL(id, level_name, cpu, features, needs)                                            \
    [CPU_LEVEL_##id] = {                                                                           \
        .name = level_name, .llvm_cpu = cpu, .llvm_features = features, .required = (needs)},
#include "abi/cpu.def"
};

static const char *const feature_names[NUM_CPU_FEATURES] = {
#define CPU_FEATURE(id, name) [CPU_FEATURE_##id] = name,
#include "abi/cpu.def"
};

const CpuLevelInfo *cpu_level_info(CpuLevel level) {
    BUG_IF((unsigned)level >= NUM_CPU_LEVELS, "CPU level %d does not exist", (int)level);
    return &levels[level];
}

const char *cpu_feature_name(CpuFeature feature) {
    BUG_IF((unsigned)feature >= NUM_CPU_FEATURES, "CPU feature %d does not exist", (int)feature);
    return feature_names[feature];
}

bool cpu_level_find(const char *name, CpuLevel *out_level) {
    if (str_equal(name, "native")) return cpu_host_level(out_level);
    for (unsigned i = 0; i < NUM_CPU_LEVELS; i++) {
        if (!str_equal(levels[i].name, name)) continue;
        *out_level = (CpuLevel)i;
        return true;
    }
    return false;
}

bool cpu_host_level(CpuLevel *out_level) {
    uint32_t features = cpu_host_features();
    for (unsigned i = NUM_CPU_LEVELS; i-- > 0;) {
        if (!cpu_level_runs(features, &levels[i])) continue;
        *out_level = (CpuLevel)i;
        return true;
    }
    return false;
}

#if defined(__x86_64__)
enum {
    XCR0_AVX = 0x06,    // XMM and YMM state
    XCR0_AVX512 = 0xe6, // and opmask, upper ZMM, high 16 ZMM
};

// State components the operating system saves; 0 without XSAVE.
static uint64_t enabled_state(uint32_t leaf1_ecx) {
    if (!(leaf1_ecx & bit_OSXSAVE)) return 0;
    uint32_t low, high;
    __asm__ volatile("xgetbv" : "=a"(low), "=d"(high) : "c"(0));
    return (uint64_t)high << 32 | low;
}

static bool has_all(uint32_t reg, uint32_t bits) {
    return (reg & bits) == bits;
}

uint32_t cpu_host_features(void) {
    enum {
        EBX_AVX2 = 1u << 5,
        EBX_BMI2 = 1u << 8,
        EBX_AVX512F = 1u << 16,
        EBX_AVX512DQ = 1u << 17,
        EBX_AVX512CD = 1u << 28,
        EBX_AVX512BW = 1u << 30,
        ECX_VBMI = 1u << 1,
        ECX_GFNI = 1u << 8,
        ECX_AVX512VNNI = 1u << 11,
        EAX_AVXVNNI = 1u << 4,
        EAX_AVX512BF16 = 1u << 5,
    };
    const uint32_t ebx_avx512vl = 1u << 31;
    uint32_t a, b, c, d, features = 0;
    if (!__get_cpuid(1, &a, &b, &c, &d)) return 0;
    uint32_t leaf1_ecx = c;
    uint64_t state = enabled_state(leaf1_ecx);
    if ((state & XCR0_AVX) != XCR0_AVX || !(leaf1_ecx & bit_AVX)) return 0;
    if (leaf1_ecx & bit_FMA) features |= CPU_HAS_FMA;
    if (leaf1_ecx & bit_F16C) features |= CPU_HAS_F16C;

    uint32_t a0, b0, c0, d0, a1 = 0;
    if (!__get_cpuid_count(7, 0, &a0, &b0, &c0, &d0)) return features;
    if (a0 >= 1 && __get_cpuid_count(7, 1, &a, &b, &c, &d)) a1 = a;
    if (b0 & EBX_AVX2) features |= CPU_HAS_AVX2;
    if (b0 & EBX_BMI2) features |= CPU_HAS_BMI2;
    if (c0 & ECX_GFNI) features |= CPU_HAS_GFNI;
    if (a1 & EAX_AVXVNNI) features |= CPU_HAS_AVXVNNI;
    if ((state & XCR0_AVX512) != XCR0_AVX512 ||
        !has_all(b0, EBX_AVX512F | EBX_AVX512DQ | EBX_AVX512CD | EBX_AVX512BW | ebx_avx512vl))
        return features;
    features |= CPU_HAS_AVX512;
    if (c0 & ECX_AVX512VNNI) features |= CPU_HAS_AVX512VNNI;
    if (c0 & ECX_VBMI) features |= CPU_HAS_AVX512VBMI;
    if (a1 & EAX_AVX512BF16) features |= CPU_HAS_AVX512BF16;
    return features;
}
#else
uint32_t cpu_host_features(void) {
    return 0;
}
#endif

// Processors in the affinity mask; the mask is grown until the kernel accepts its size.
static uint32_t affinity_threads(void) {
    for (size_t max_cpus = 1024; max_cpus <= 1 << 20; max_cpus *= 2) {
        size_t bytes = CPU_ALLOC_SIZE(max_cpus);
        cpu_set_t *set = base_alloc(bytes, 1);
        int result = sched_getaffinity(0, bytes, set);
        uint32_t count = result == 0 ? (uint32_t)CPU_COUNT_S(bytes, set) : 0;
        free(set);
        if (count > 0) return count;
    }
    long online = sysconf(_SC_NPROCESSORS_ONLN);
    return online > 0 ? (uint32_t)online : 1;
}

uint32_t cpu_usable_threads(void) {
    uint32_t threads = affinity_threads();
    uint64_t millis = cgroup_cpu_limit_millis("");
    if (millis == CGROUP_NO_LIMIT) return threads;
    uint64_t quota = MAX(millis / 1000 + (millis % 1000 != 0), 1);
    return (uint32_t)MIN((uint64_t)threads, quota);
}

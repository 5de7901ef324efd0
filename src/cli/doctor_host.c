// What this machine offers; see doctor.h.
#include <stdio.h>
#include <string.h>

#include "abi/cgroup.h"
#include "cli/doctor.h"
#include "target/host.h"

// The first line of a small file of /proc or /sys; "" if there is none.
static const char *first_line(const char *path, char line[256]) {
    FILE *file = fopen(path, "re");
    line[0] = 0;
    if (!file) return line;
    if (!fgets(line, 256, file)) line[0] = 0;
    fclose(file);
    line[strcspn(line, "\n")] = 0;
    return line;
}

static void check_cpu(Doctor *d) {
    StrBuf levels = {0};
    uint32_t num = 0;
    for (int i = 0; i < NUM_CPU_LEVELS; i++) {
        const CpuLevelInfo *info = cpu_level_info((CpuLevel)i);
        if (!cpu_level_runs(d->host_features, info)) continue;
        strbuf_printf(&levels, "%s%s", num++ ? ", " : "", info->name);
    }
    doctor_find(d, SYMPTOM_HOST_CPU, num ? FINDING_PASS : FINDING_FAIL, num, "levels",
                "CPUID and XCR0", "%s runs %u of %d levels%s%s", d->host_name, num, NUM_CPU_LEVELS,
                num ? ": " : "", num ? levels.data : "");
    strbuf_deinit(&levels);
}

static void check_memory(Doctor *d) {
    HostInfo host;
    host_info_get(&host);
    uint64_t left = cgroup_memory_left_bytes("");
    bool is_limited = left != CGROUP_NO_LIMIT && left < host.memory_bytes;
    uint64_t bytes = is_limited ? left : host.memory_bytes;
    char text[32];
    doctor_find(d, SYMPTOM_HOST_MEMORY, bytes ? FINDING_PASS : FINDING_WARN, (double)bytes, "bytes",
                is_limited ? "limit of the control group, less what it uses" : "physical memory",
                "%s bytes", grouped(bytes, text));
}

static void check_huge_pages(Doctor *d) {
    static const char path[] = "/sys/kernel/mm/transparent_hugepage/enabled";
    char line[256];
    bool is_known = *first_line(path, line), is_off = strstr(line, "[never]") != NULL;
    doctor_find(d, SYMPTOM_HOST_HUGE_PAGES, is_known && !is_off ? FINDING_PASS : FINDING_WARN,
                is_known && !is_off, "on", path, "%s",
                is_known ? line : "the kernel does not say: spaces lie in small pages");
}

static void check_clock(Doctor *d) {
    static const char path[] = "/sys/devices/system/clocksource/clocksource0/current_clocksource";
    char line[256];
    first_line(path, line);
    bool is_quick = str_equal(line, "tsc") || str_equal(line, "kvm-clock") ||
                    str_equal(line, "hyperv_clocksource_tsc_page");
    uint64_t begin = clock_ns(), reads = 0, end = begin;
    while (end - begin < 1000000) { // a millisecond of it
        end = clock_ns();
        reads++;
    }
    double ns = (double)(end - begin) / (double)MAX(reads, (uint64_t)1);
    doctor_find(d, SYMPTOM_HOST_CLOCK, is_quick || ns < 200 ? FINDING_PASS : FINDING_WARN, ns,
                "ns per reading", "measured: readings in one millisecond", "%s, %.0f ns a reading",
                *line ? line : "unnamed clock", ns);
}

void doctor_check_host(Doctor *d) {
    check_cpu(d);
    check_memory(d);
    check_huge_pages(d);
    if (doctor_wants(d, SYMPTOM_HOST_CLOCK)) check_clock(d);
}

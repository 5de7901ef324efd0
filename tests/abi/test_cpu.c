// CPU levels and features against what Linux reports, and control group limits read from made-up
// /proc and /sys trees of both versions.
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <sys/wait.h>
#include <unistd.h>

#include <cmocka.h>

#include "abi/cgroup.h"
#include "abi/cpu.h"
#include "base/str.h"

static void test_levels(void **state) {
    (void)state;
    CpuLevel level = CPU_LEVEL_V3;
    for (unsigned i = 0; i < NUM_CPU_LEVELS; i++) {
        const CpuLevelInfo *info = cpu_level_info((CpuLevel)i);
        assert_true(cpu_level_find(info->name, &level));
        assert_int_equal(level, i);
        assert_true(cpu_level_runs(info->required, info));
        for (unsigned f = 0; f < NUM_CPU_FEATURES; f++) {
            assert_non_null(cpu_feature_name((CpuFeature)f));
            if (info->required >> f & 1)
                assert_false(cpu_level_runs(info->required & ~(1u << f), info));
        }
    }
    assert_false(cpu_level_find("x86-64-v9", &level));
    assert_false(cpu_level_find("", &level));
    CpuLevel native = CPU_LEVEL_V3, best = CPU_LEVEL_V3;
    assert_int_equal(cpu_level_find("native", &native), cpu_host_level(&best));
    assert_int_equal(native, best);
}

// True if the processor's flags in /proc/cpuinfo hold every word of the list.
static bool linux_has(const char *flags, const char *words) {
    char list[256], *rest = list, *word;
    snprintf(list, sizeof list, "%s", words);
    while ((word = strsep(&rest, " "))) {
        char spaced[64];
        snprintf(spaced, sizeof spaced, " %s ", word);
        if (!strstr(flags, spaced)) return false;
    }
    return true;
}

static void test_features_are_those_of_linux(void **state) {
    (void)state;
    static const struct {
        uint32_t feature;
        const char *flags;
    } rows[] = {
        {CPU_HAS_AVX2, "avx2"},
        {CPU_HAS_FMA, "fma"},
        {CPU_HAS_F16C, "f16c"},
        {CPU_HAS_BMI2, "bmi2"},
        {CPU_HAS_AVXVNNI, "avx_vnni"},
        {CPU_HAS_AVX512, "avx512f avx512bw avx512vl avx512dq avx512cd"},
        {CPU_HAS_AVX512VNNI, "avx512_vnni"},
        {CPU_HAS_AVX512BF16, "avx512_bf16"},
        {CPU_HAS_AVX512VBMI, "avx512vbmi"},
        {CPU_HAS_GFNI, "gfni"},
    };
    assert_int_equal(ARRAY_LEN(rows), NUM_CPU_FEATURES);
    FILE *file = fopen("/proc/cpuinfo", "r");
    if (!file) skip();
    static char line[16384];
    bool is_found = false;
    while (!is_found && fgets(line, sizeof line - 1, file))
        is_found = str_has_prefix(line, "flags");
    fclose(file);
    if (!is_found) skip();
    line[strcspn(line, "\n")] = ' ';
    for (size_t i = 0; i < ARRAY_LEN(rows); i++)
        assert_int_equal((cpu_host_features() & rows[i].feature) != 0,
                         linux_has(line, rows[i].flags));
}

static void test_usable_threads(void **state) {
    (void)state;
    long online = sysconf(_SC_NPROCESSORS_CONF);
    assert_true(cpu_usable_threads() >= 1);
    assert_true((long)cpu_usable_threads() <= online);
}

// Writes root/path with its folders.
static void put_file(const char *root, const char *path, const char *text) {
    StrBuf full = {0};
    strbuf_printf(&full, "%s%s", root, path);
    for (char *slash = full.data + 1; (slash = strchr(slash, '/')); slash++) {
        *slash = '\0';
        mkdir(full.data, 0777);
        *slash = '/';
    }
    FILE *file = fopen(full.data, "w");
    assert_non_null(file);
    fputs(text, file);
    fclose(file);
    strbuf_deinit(&full);
}

static char *make_root(void) {
    const char *folder = getenv("TMPDIR");
    StrBuf path = {0};
    strbuf_printf(&path, "%s/ingot-cgroup-XXXXXX", folder && *folder ? folder : "/tmp");
    assert_non_null(mkdtemp(path.data));
    return strbuf_take(&path);
}

static void remove_root(char *root) {
    pid_t pid = fork();
    if (pid == 0) {
        execlp("rm", "rm", "-r", root, (char *)NULL);
        _exit(1);
    }
    int result = -1;
    assert_int_equal(waitpid(pid, &result, 0), pid);
    assert_int_equal(result, 0);
    free(root);
}

static const char v2_mounts[] =
    "22 1 0:20 / /proc rw - proc proc rw\n"
    "31 22 0:28 / /sys/fs/cgroup rw,nosuid - cgroup2 cgroup2 rw,nsdelegate\n";

static void test_cgroup_v2(void **state) {
    (void)state;
    char *root = make_root();
    put_file(root, "/proc/self/cgroup", "0::/a/b\n");
    put_file(root, "/proc/self/mountinfo", v2_mounts);
    assert_true(cgroup_cpu_limit_millis(root) == CGROUP_NO_LIMIT);
    put_file(root, "/sys/fs/cgroup/a/b/cpu.max", "max 100000\n");
    assert_true(cgroup_cpu_limit_millis(root) == CGROUP_NO_LIMIT);
    put_file(root, "/sys/fs/cgroup/a/b/cpu.max", "350000 100000\n");
    assert_int_equal(cgroup_cpu_limit_millis(root), 3500);
    // The parent's limit binds too.
    put_file(root, "/sys/fs/cgroup/a/cpu.max", "50000 50000\n");
    assert_int_equal(cgroup_cpu_limit_millis(root), 1000);
    assert_true(cgroup_memory_left_bytes(root) == CGROUP_NO_LIMIT);
    put_file(root, "/sys/fs/cgroup/a/memory.max", "1000000\n");
    put_file(root, "/sys/fs/cgroup/a/memory.current", "400000\n");
    assert_int_equal(cgroup_memory_left_bytes(root), 600000);
    put_file(root, "/sys/fs/cgroup/a/memory.stat",
             "anon 300000\nfile 100000\ninactive_file 60000\nactive_file 40000\n");
    assert_int_equal(cgroup_memory_left_bytes(root), 700000);
    put_file(root, "/sys/fs/cgroup/a/b/memory.max", "max\n");
    assert_int_equal(cgroup_memory_left_bytes(root), 700000);
    // Rubbish is no limit.
    put_file(root, "/sys/fs/cgroup/a/cpu.max", "5 0\n");
    put_file(root, "/sys/fs/cgroup/a/b/cpu.max", "-1 x\n");
    assert_true(cgroup_cpu_limit_millis(root) == CGROUP_NO_LIMIT);
    remove_root(root);
}

static void test_cgroup_v1_in_container(void **state) {
    (void)state;
    char *root = make_root();
    put_file(root, "/proc/self/cgroup",
             "9:name=systemd:/x\n4:memory:/docker/c1/app\n3:cpu,cpuacct:/docker/c1\n0::/\n");
    put_file(
        root, "/proc/self/mountinfo",
        "32 31 0:29 /docker/c1 /sys/fs/cgroup/cpu\\040acct rw,relatime shared:1 - cgroup cgroup "
        "rw,cpu,cpuacct\n"
        "35 31 0:32 /docker/c1 /sys/fs/cgroup/memory rw,relatime - cgroup cgroup rw,memory\n"
        "38 31 0:38 / /sys/fs/cgroup/unified rw - cgroup2 cgroup2 rw\n");
    put_file(root, "/sys/fs/cgroup/cpu acct/cpu.cfs_quota_us", "-1\n");
    put_file(root, "/sys/fs/cgroup/cpu acct/cpu.cfs_period_us", "100000\n");
    assert_true(cgroup_cpu_limit_millis(root) == CGROUP_NO_LIMIT);
    put_file(root, "/sys/fs/cgroup/cpu acct/cpu.cfs_quota_us", "150000\n");
    assert_int_equal(cgroup_cpu_limit_millis(root), 1500);
    put_file(root, "/sys/fs/cgroup/memory/memory.limit_in_bytes", "9223372036854771712\n");
    assert_true(cgroup_memory_left_bytes(root) == CGROUP_NO_LIMIT);
    put_file(root, "/sys/fs/cgroup/memory/app/memory.limit_in_bytes", "5000\n");
    put_file(root, "/sys/fs/cgroup/memory/app/memory.usage_in_bytes", "6000\n");
    assert_int_equal(cgroup_memory_left_bytes(root), 0);
    remove_root(root);
}

static void test_no_proc(void **state) {
    (void)state;
    assert_true(cgroup_cpu_limit_millis("/nonexistent") == CGROUP_NO_LIMIT);
    assert_true(cgroup_memory_left_bytes("/nonexistent") == CGROUP_NO_LIMIT);
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_levels),
        cmocka_unit_test(test_features_are_those_of_linux),
        cmocka_unit_test(test_usable_threads),
        cmocka_unit_test(test_cgroup_v2),
        cmocka_unit_test(test_cgroup_v1_in_container),
        cmocka_unit_test(test_no_proc),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}

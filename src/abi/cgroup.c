// Control group limits; see cgroup.h. A process is in one group per hierarchy, and every ancestor's
// limit binds too, so each folder from the group up to the mount point is read.
// Formats: Linux, Documentation/admin-guide/cgroup-v1 and cgroup-v2.rst, proc(5) for mountinfo.
#include "abi/cgroup.h"

#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "base/str.h"

enum { MAX_PROC_BYTES = 256 * 1024, PATH_BYTES = 4096 };

// Reads a small text file whole; NULL if it cannot be read. The caller frees it.
static char *read_text(const char *path) {
    int fd = open(path, O_RDONLY | O_CLOEXEC);
    if (fd < 0) return NULL;
    char *text = base_alloc(MAX_PROC_BYTES + 1, 1);
    size_t len = 0;
    while (len < MAX_PROC_BYTES) {
        ssize_t got = read(fd, text + len, MAX_PROC_BYTES - len);
        if (got <= 0) break;
        len += (size_t)got;
    }
    close(fd);
    return text;
}

static bool read_number_file(const char *folder, const char *name, char *out_text,
                             size_t capacity) {
    char path[2 * PATH_BYTES];
    int len = snprintf(path, sizeof path, "%s/%s", folder, name);
    if (len < 0 || (size_t)len >= sizeof path) return false;
    char *text = read_text(path);
    if (!text) return false;
    snprintf(out_text, capacity, "%s", text);
    free(text);
    return true;
}

// A decimal number; "max", negative numbers and absurdly large ones mean no limit.
static uint64_t parse_limit(const char *text) {
    char *end;
    if (text[0] < '0' || text[0] > '9') return CGROUP_NO_LIMIT;
    unsigned long long value = strtoull(text, &end, 10);
    return value >= (uint64_t)1 << 62 ? CGROUP_NO_LIMIT : (uint64_t)value;
}

// The value of "key N" in a text of such lines, 0 if absent.
static uint64_t keyed_number(const char *text, const char *key) {
    size_t len = strlen(key);
    for (const char *line = text; line; line = strchr(line, '\n')) {
        if (*line == '\n') line++;
        if (strncmp(line, key, len) == 0 && line[len] == ' ') {
            uint64_t value = parse_limit(line + len + 1);
            return value == CGROUP_NO_LIMIT ? 0 : value;
        }
    }
    return 0;
}

typedef uint64_t (*LimitReader)(const char *folder, bool is_v2);

static uint64_t read_cpu_limit(const char *folder, bool is_v2) {
    char text[256];
    uint64_t quota, period;
    if (is_v2) { // "200000 100000" or "max 100000"
        if (!read_number_file(folder, "cpu.max", text, sizeof text)) return CGROUP_NO_LIMIT;
        quota = parse_limit(text);
        char *space = strchr(text, ' ');
        period = space ? parse_limit(space + 1) : 100000;
    } else {
        if (!read_number_file(folder, "cpu.cfs_quota_us", text, sizeof text))
            return CGROUP_NO_LIMIT;
        quota = parse_limit(text);
        if (!read_number_file(folder, "cpu.cfs_period_us", text, sizeof text))
            return CGROUP_NO_LIMIT;
        period = parse_limit(text);
    }
    uint64_t scaled;
    if (quota == CGROUP_NO_LIMIT || period == CGROUP_NO_LIMIT || period == 0 ||
        !size_mul(quota, 1000, &scaled))
        return CGROUP_NO_LIMIT;
    return scaled / period;
}

static uint64_t read_memory_left(const char *folder, bool is_v2) {
    char text[8192];
    if (!read_number_file(folder, is_v2 ? "memory.max" : "memory.limit_in_bytes", text,
                          sizeof text))
        return CGROUP_NO_LIMIT;
    uint64_t limit = parse_limit(text);
    if (limit == CGROUP_NO_LIMIT) return limit;
    if (!read_number_file(folder, is_v2 ? "memory.current" : "memory.usage_in_bytes", text,
                          sizeof text))
        return limit;
    uint64_t used = parse_limit(text), droppable = 0;
    if (used == CGROUP_NO_LIMIT) return limit;
    if (read_number_file(folder, "memory.stat", text, sizeof text))
        droppable = keyed_number(text, is_v2 ? "inactive_file" : "total_inactive_file") +
                    keyed_number(text, is_v2 ? "active_file" : "total_active_file");
    used -= MIN(used, droppable);
    return limit - MIN(limit, used);
}

// True if the comma-separated list holds the word.
static bool list_holds(const char *list, size_t len, const char *word) {
    size_t word_len = strlen(word);
    for (size_t begin = 0; begin <= len;) {
        const char *comma = memchr(list + begin, ',', len - begin);
        size_t end = comma ? (size_t)(comma - list) : len;
        if (end - begin == word_len && memcmp(list + begin, word, word_len) == 0) return true;
        begin = end + 1;
    }
    return false;
}

// Path of this process's group in the hierarchy of the controller (version 2: NULL controller),
// from a text like "4:cpu,cpuacct:/group" or "0::/group".
static bool find_group(const char *cgroups, const char *controller, char *out, size_t capacity) {
    for (const char *line = cgroups; *line;) {
        const char *end = strchrnul(line, '\n');
        const char *first = memchr(line, ':', (size_t)(end - line));
        const char *second = first ? memchr(first + 1, ':', (size_t)(end - first - 1)) : NULL;
        if (second) {
            size_t list_len = (size_t)(second - first - 1), len = (size_t)(end - second - 1);
            bool is_match =
                controller ? list_holds(first + 1, list_len, controller) : list_len == 0;
            if (is_match && len < capacity) {
                memcpy(out, second + 1, len);
                out[len] = '\0';
                return true;
            }
        }
        line = *end ? end + 1 : end;
    }
    return false;
}

// Undoes mountinfo's octal escapes (a blank is written \040).
static void unescape(char *text) {
    char *to = text;
    for (const char *from = text; *from; to++) {
        bool is_escape = from[0] == '\\' && from[1] >= '0' && from[1] <= '3' && from[2] >= '0' &&
                         from[2] <= '7' && from[3] >= '0' && from[3] <= '7';
        *to = is_escape ? (char)((from[1] - '0') * 64 + (from[2] - '0') * 8 + (from[3] - '0'))
                        : *from;
        from += is_escape ? 4 : 1;
    }
    *to = '\0';
}

typedef struct Mount {
    char root[PATH_BYTES], point[PATH_BYTES];
} Mount;

// Where the controller's hierarchy is mounted, from /proc/self/mountinfo.
static bool find_mount(const char *mounts, const char *controller, Mount *out) {
    char *copy = strdup(mounts), *rest = copy, *line;
    bool is_found = false;
    while (copy && !is_found && (line = strsep(&rest, "\n"))) {
        char *tail = strstr(line, " - "), type[64] = "", options[1024] = "";
        if (!tail || sscanf(tail, " - %63s %*s %1023s", type, options) != 2) continue;
        if (controller
                ? !str_equal(type, "cgroup") || !list_holds(options, strlen(options), controller)
                : !str_equal(type, "cgroup2"))
            continue;
        is_found = sscanf(line, "%*s %*s %*s %4095s %4095s", out->root, out->point) == 2;
    }
    free(copy);
    if (!is_found) return false;
    unescape(out->root);
    unescape(out->point);
    return true;
}

// Least limit from the process's group up to the mount point of its hierarchy.
static uint64_t hierarchy_limit(const char *root, const char *controller, LimitReader read_limit) {
    char path[PATH_BYTES], group[PATH_BYTES], folder[2 * PATH_BYTES];
    Mount *mount = base_alloc(1, sizeof *mount);
    snprintf(path, sizeof path, "%s/proc/self/cgroup", root);
    char *cgroups = read_text(path);
    snprintf(path, sizeof path, "%s/proc/self/mountinfo", root);
    char *mounts = read_text(path);
    uint64_t least = CGROUP_NO_LIMIT;
    if (cgroups && mounts && find_group(cgroups, controller, group, sizeof group) &&
        find_mount(mounts, controller, mount)) {
        // In a container the mount shows the group itself as its root.
        size_t skip = strlen(mount->root);
        bool is_below = skip > 1 && strncmp(group, mount->root, skip) == 0 &&
                        (group[skip] == '/' || group[skip] == '\0');
        int len = snprintf(folder, sizeof folder, "%s%s%s", root, mount->point,
                           is_below ? group + skip : group);
        size_t head = strlen(root) + strlen(mount->point);
        for (size_t end = (size_t)len; len > 0 && (size_t)len < sizeof folder && end >= head;
             end--) {
            if (end > head && folder[end] != '/' && folder[end] != '\0') continue;
            folder[end] = '\0';
            least = MIN(least, read_limit(folder, controller == NULL));
            if (end == 0) break;
        }
    }
    free(cgroups);
    free(mounts);
    free(mount);
    return least;
}

uint64_t cgroup_cpu_limit_millis(const char *root) {
    return MIN(hierarchy_limit(root, NULL, read_cpu_limit),
               hierarchy_limit(root, "cpu", read_cpu_limit));
}

uint64_t cgroup_memory_left_bytes(const char *root) {
    return MIN(hierarchy_limit(root, NULL, read_memory_left),
               hierarchy_limit(root, "memory", read_memory_left));
}

// Colour, width and progress on the terminal; see cli.h.
#include <errno.h>
#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/ioctl.h>
#include <unistd.h>

#include "cli/cli.h"

enum {
    REDRAW_NS = 100 * 1000 * 1000,   // at most ten a second
    PATIENCE_NS = 500 * 1000 * 1000, // shorter phases are not shown
};

typedef enum ProgressMode {
    PROGRESS_NONE,
    PROGRESS_TERMINAL,
    PROGRESS_LINES,
    PROGRESS_JSON,
} ProgressMode;

static struct {
    bool color_stdout, color_stderr;
    ProgressMode progress;
    char phase[80];
    uint64_t begin_ns, drawn_ns, done, total;
    volatile bool is_drawn;
} state;

static bool is_given(const char *name) {
    const char *value = getenv(name);
    return value && *value;
}

// Flag, INGOT_COLOR, NO_COLOR, CLICOLOR_FORCE, then "is a terminal and TERM is not dumb".
static bool want_color(const char *when, int fd) {
    if (!when) when = getenv("INGOT_COLOR");
    if (when && str_equal(when, "always")) return true;
    if (when && str_equal(when, "never")) return false;
    if (is_given("NO_COLOR")) return false;
    if (is_given("CLICOLOR_FORCE") && !str_equal(getenv("CLICOLOR_FORCE"), "0")) return true;
    const char *term = getenv("TERM");
    return isatty(fd) && term && *term && !str_equal(term, "dumb");
}

void terminal_init(const Args *args) {
    const char *when = args_text(args, OPT_COLOR, NULL);
    state.color_stdout = want_color(when, STDOUT_FILENO);
    state.color_stderr = want_color(when, STDERR_FILENO);
    const char *how = args_text(args, OPT_PROGRESS, getenv("INGOT_PROGRESS"));
    const char *term = getenv("TERM");
    bool can_redraw = isatty(STDERR_FILENO) && term && *term && !str_equal(term, "dumb");
    state.progress = can_redraw ? PROGRESS_TERMINAL : PROGRESS_LINES;
    if (how && str_equal(how, "json"))
        state.progress = PROGRESS_JSON;
    else if (args_has(args, OPT_QUIET) || (how && str_equal(how, "none")))
        state.progress = PROGRESS_NONE;
}

bool terminal_color_stderr(void) {
    return state.color_stderr;
}
bool terminal_color_stdout(void) {
    return state.color_stdout;
}

uint32_t terminal_width(void) {
    const char *columns = getenv("COLUMNS");
    if (columns && atoi(columns) >= 40) return (uint32_t)MIN(atoi(columns), 120);
    struct winsize size;
    if (ioctl(STDOUT_FILENO, TIOCGWINSZ, &size) == 0 && size.ws_col >= 40)
        return MIN((uint32_t)size.ws_col, 120u);
    return 80;
}

void progress_clear(void) {
    static const char erase[] = "\r\x1b[K";
    if (!state.is_drawn) return;
    state.is_drawn = false;
    ssize_t ignored = write(STDERR_FILENO, erase, sizeof erase - 1);
    (void)ignored;
}

static void put_event(const char *event, uint64_t now_ns) {
    StrBuf text = {0};
    JsonWriter writer = {.out = &text, .is_compact = true};
    json_begin_object(&writer, NULL);
    json_put_string(&writer, "event", event);
    json_put_string(&writer, "phase", state.phase);
    json_put_uint(&writer, "elapsed_ns", now_ns - state.begin_ns);
    if (state.total) {
        json_put_uint(&writer, "done", state.done);
        json_put_uint(&writer, "total", state.total);
    }
    json_end_object(&writer);
    fputs(text.data, stderr);
    strbuf_deinit(&text);
}

void progress_begin(const char *phase) {
    snprintf(state.phase, sizeof state.phase, "%s", phase);
    state.begin_ns = state.drawn_ns = clock_ns();
    state.done = state.total = 0;
    if (state.progress == PROGRESS_JSON) put_event("begin", state.begin_ns);
}

static void draw(const char *unit, uint64_t now_ns) {
    char text[200];
    double seconds = (double)(now_ns - state.begin_ns) * 1e-9;
    int len;
    if (state.total) {
        double part = (double)state.done / (double)state.total;
        double left = part > 0 ? seconds * (1 - part) / part : 0;
        len = snprintf(text, sizeof text,
                       "\r\x1b[K%s: %" PRIu64 " of %" PRIu64
                       " %s, %.0f %%, %.1f s, about %.0f s left",
                       state.phase, state.done, state.total, unit, part * 100, seconds, left);
    } else {
        len = snprintf(text, sizeof text, "\r\x1b[K%s: %" PRIu64 " %s, %.1f s", state.phase,
                       state.done, unit, seconds);
    }
    state.is_drawn = true;
    ssize_t ignored = write(STDERR_FILENO, text, (size_t)MIN(len, (int)sizeof text - 1));
    (void)ignored;
}

void progress_update(uint64_t done, uint64_t total, const char *unit) {
    state.done = done;
    state.total = total;
    uint64_t now = clock_ns();
    if (now - state.begin_ns < PATIENCE_NS || now - state.drawn_ns < REDRAW_NS) return;
    state.drawn_ns = now;
    if (state.progress == PROGRESS_TERMINAL) draw(unit, now);
    if (state.progress == PROGRESS_JSON) put_event("update", now);
}

void progress_end(void) {
    uint64_t now = clock_ns();
    progress_clear();
    if (state.progress == PROGRESS_JSON) put_event("end", now);
    if (state.progress == PROGRESS_LINES)
        fprintf(stderr, "%s: %.2f s\n", state.phase, (double)(now - state.begin_ns) * 1e-9);
}

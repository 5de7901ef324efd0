// Writes line charts; see svg.h.
#include "cli/svg.h"

#include <math.h>
#include <stdio.h>

// Pixels: of a panel, and around its axes.
static const double WIDTH = 560, HEIGHT = 360, LEFT = 64, RIGHT = 16, TOP = 36, BOTTOM = 52;
static const double MOST_TICKS = 8; // of an axis

typedef struct Axes {
    double left, top, width, height; // of the inner part
    double most_x, most_y, step_x, step_y;
} Axes;

// The least of 1, 2, 5 times a power of ten that makes no more than MOST_TICKS steps.
static double round_step(double most) {
    double step = pow(10, floor(log10(most)) - 2);
    static const double factors[] = {2, 2.5, 2};
    for (int i = 0; most / step > MOST_TICKS; i = (i + 1) % 3) step *= factors[i];
    return step;
}

static double px(const Axes *a, double x) {
    return a->left + a->width * x / a->most_x;
}

static double py(const Axes *a, double y) {
    return a->top + a->height * (1 - y / a->most_y);
}

static Axes axes_of(size_t number, const SvgPanel *panel) {
    double most_x = 0, most_y = 0;
    for (size_t i = 0; i < panel->num_points; i++) {
        most_x = fmax(most_x, panel->points[i].x);
        most_y = fmax(most_y, panel->points[i].y);
    }
    Axes a = {.left = (double)number * WIDTH + LEFT,
              .top = TOP,
              .width = WIDTH - LEFT - RIGHT,
              .height = HEIGHT - TOP - BOTTOM};
    a.step_x = round_step(fmax(most_x, 1));
    a.step_y = round_step(fmax(most_y, 1e-6));
    a.most_x = fmax(most_x, 1);
    a.most_y = fmax(ceil(most_y / a.step_y), 1) * a.step_y;
    return a;
}

static void put_line(StrBuf *out, double x1, double y1, double x2, double y2, const char *colour) {
    strbuf_printf(out, "<line x1=\"%.1f\" y1=\"%.1f\" x2=\"%.1f\" y2=\"%.1f\" stroke=\"%s\"/>\n",
                  x1, y1, x2, y2, colour);
}

static void put_text(StrBuf *out, double x, double y, const char *anchor, const char *text) {
    strbuf_printf(out, "<text x=\"%.1f\" y=\"%.1f\" text-anchor=\"%s\">%s</text>\n", x, y, anchor,
                  text);
}

static void put_axes(StrBuf *out, const Axes *a, const SvgPanel *panel) {
    char text[32];
    double right = a->left + a->width, bottom = a->top + a->height;
    for (double y = 0; y <= a->most_y * 1.0001; y += a->step_y) {
        put_line(out, a->left, py(a, y), right, py(a, y), "#ddd");
        snprintf(text, sizeof text, "%g", y);
        put_text(out, a->left - 6, py(a, y) + 4, "end", text);
    }
    for (double x = 0; x <= a->most_x; x += a->step_x) {
        put_line(out, px(a, x), bottom, px(a, x), bottom + 5, "#555");
        snprintf(text, sizeof text, "%g", x);
        put_text(out, px(a, x), bottom + 18, "middle", text);
    }
    for (size_t i = 0; i < panel->num_marks; i++)
        put_line(out, px(a, panel->marks[i]), a->top, px(a, panel->marks[i]), bottom, "#cde");
    put_line(out, a->left, bottom, right, bottom, "#555");
    put_text(out, a->left + a->width / 2, bottom + 38, "middle", panel->across);
    put_text(out, a->left, a->top - 12, "start", panel->title);
    put_text(out, right, a->top - 12, "end", panel->up);
}

void svg_begin(StrBuf *out, size_t num_panels) {
    strbuf_printf(out,
                  "<svg xmlns=\"http://www.w3.org/2000/svg\" width=\"%.0f\" height=\"%.0f\" "
                  "font-family=\"sans-serif\" font-size=\"12\">\n"
                  "<rect width=\"100%%\" height=\"100%%\" fill=\"white\"/>\n",
                  (double)num_panels * WIDTH, HEIGHT);
}

void svg_panel(StrBuf *out, size_t number, const SvgPanel *panel) {
    Axes a = axes_of(number, panel);
    put_axes(out, &a, panel);
    strbuf_puts(out, "<polyline fill=\"none\" stroke=\"#15c\" stroke-width=\"1.5\" points=\"");
    for (size_t i = 0; i < panel->num_points; i++)
        strbuf_printf(out, "%s%.1f,%.1f", i ? " " : "", px(&a, panel->points[i].x),
                      py(&a, panel->points[i].y));
    strbuf_puts(out, "\"/>\n");
    for (size_t i = 0; i < panel->num_points; i++)
        strbuf_printf(out,
                      "<circle cx=\"%.1f\" cy=\"%.1f\" r=\"2\" fill=\"#15c\">"
                      "<title>%.0f: %.3f</title></circle>\n",
                      px(&a, panel->points[i].x), py(&a, panel->points[i].y), panel->points[i].x,
                      panel->points[i].y);
}

void svg_end(StrBuf *out) {
    strbuf_puts(out, "</svg>\n");
}

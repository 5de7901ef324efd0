// Line charts as SVG 1.1: panels beside each other, each a curve with its axes.
#ifndef INGOT_CLI_SVG_H
#define INGOT_CLI_SVG_H

#include "base/str.h"

typedef struct SvgPoint {
    double x, y; // not negative
} SvgPoint;

typedef struct SvgPanel {
    const char *title, *across, *up; // plain words, without < and &
    const SvgPoint *points;          // sorted by x
    size_t num_points;
    const double *marks; // faint lines at these x
    size_t num_marks;
} SvgPanel;

void svg_begin(StrBuf *out, size_t num_panels);
void svg_panel(StrBuf *out, size_t number, const SvgPanel *panel);
void svg_end(StrBuf *out);

#endif

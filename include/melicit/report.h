/* melicit/report.h: pictures (SVG) and pages (HTML) for people.
 *
 * Every plot is one self-contained SVG text in UTF-8, well-formed XML, for the caller to free(): light and
 * dark by the reader's preference, light on paper, no script, no request. Series differ in dashes and
 * markers as well as in colour. Numbers that are not finite are refused (MEL_EINVAL, with the place). Text
 * may hold any bytes: markup is escaped, and what is not UTF-8 or not allowed in XML becomes U+FFFD. */
#ifndef MELICIT_REPORT_H
#define MELICIT_REPORT_H

#include "melicit/outcome.h"

#ifdef __cplusplus
extern "C" {
#endif

typedef struct {
    size_t struct_size;
    double width, height;    /* CSS pixels, 160 to 4096, a legend comes on top; 0: what suits the plot */
    const char *id;          /* letters, digits, '-', '_': keeps ids apart where plots share a page; "plot" */
    const char *heading;     /* drawn above the picture; NULL: none */
    const char *title;       /* read out instead of the picture; NULL: says what kind of plot it is */
    const char *description; /* the longer text read out; NULL: made from the numbers */
    bool embedded;           /* for a page that has the styles already: none of its own */
} mel_plot_options;
MEL_API void mel_plot_options_init(mel_plot_options *opt);

#define MEL_MOST_SERIES 6
typedef struct {
    const char *name;
    size_t n;
    const double *x, *y;      /* x ascending when there is a band or a step */
    const double *low, *high; /* a band around y; both or neither */
    bool step;                /* y holds until the next x */
    bool points;              /* a marker at each point */
} mel_series;
typedef struct {
    size_t struct_size;
    size_t n_series; /* at most MEL_MOST_SERIES */
    const mel_series *series;
    const char *x_title, *y_title;
    bool log_x, log_y;
    bool whole_x;         /* x counts things: no ticks between whole numbers */
    double y_low, y_high; /* NaN (default): from the data */
    double reference;     /* a horizontal line; NaN (default): none */
    const char *reference_name;
} mel_line_chart;
MEL_API void mel_line_chart_init(mel_line_chart *chart);
/* The picture, for the caller to free(). */
MEL_API mel_status mel_plot_lines(char **svg, const mel_line_chart *chart, const mel_plot_options *opt,
                                  mel_error *err);

/* Horizontal bars from zero, one group per name, one bar per series in it. */
typedef struct {
    size_t struct_size;
    size_t n_groups, n_series; /* n_series at most MEL_MOST_SERIES */
    const char *const *group_names;
    const char *const *series_names; /* NULL with one series: no legend */
    const double *value;             /* n_series x n_groups, row-major */
    const double *low, *high;        /* error bars, the same shape; both or neither */
    const char *x_title;
    int decimals; /* of the values written at the bars; -1 (default): none are written */
} mel_bar_chart;
MEL_API void mel_bar_chart_init(mel_bar_chart *chart);
/* The picture, for the caller to free(). */
MEL_API mel_status mel_plot_bars(char **svg, const mel_bar_chart *chart, const mel_plot_options *opt,
                                 mel_error *err);

/* What a session's page says beyond its outcome. Everything is optional and lent. */
typedef struct {
    size_t struct_size;
    const char *title;                      /* "What counts as a good decision" */
    const char *data;                       /* one sentence about the data */
    const mel_outcome_options *about;       /* names, and how many rows it was measured on */
    const char *session_path, *metric_path; /* for the commands to copy */
    const char *space_options;              /* "--data cancer.csv --label label", as typed */
    const char *date;                       /* none: the same session gives the same bytes */
    const char *answered_by;                /* "simulated doctor" */
} mel_report_options;
MEL_API void mel_report_options_init(mel_report_options *opt);
/* One HTML file that needs nothing else: the metric in words, its numbers, what it does to 1,000 people, the
 * pictures, the questions, how sure it is, how to use it. For the caller to free(). */
MEL_API mel_status mel_report_session(char **html, mel_session *session, const mel_report_options *opt,
                                      mel_error *err);

#ifdef __cplusplus
}
#endif
#endif

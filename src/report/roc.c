/* Receiver operating characteristics, one curve for each group, with the points that a rule operates at. */
#include "report/shared.h"
#include "report/svg.h"
#include "report/write.h"

#include <math.h>

static const double usual_width = 420.0, usual_height = 420.0;

static void check(mel_figure *fig, size_t n, const mel_roc *curve)
{
    if (n == 0 || n > MEL_MOST_SERIES || curve == NULL) {
        mel_figure_refuse(fig, MEL_EINVAL, "curves of %zu groups, not of 1 to %d", n, MEL_MOST_SERIES);
        return;
    }
    for (size_t g = 0; g < n && mel_figure_ok(fig); g++)
        if (curve[g].n < 2 || curve[g].fpr == NULL || curve[g].tpr == NULL)
            mel_figure_refuse(fig, MEL_EINVAL, "group %zu has no curve", g + 1);
}

mel_status mel_plot_roc(char **svg, size_t n, const mel_roc *curve, const mel_plot_options *opt,
                        mel_error *err)
{
    mel_figure fig;
    *svg = NULL;
    mel_figure_open(&fig, opt, usual_width, usual_height, "What each group gets");
    check(&fig, n, curve);
    if (mel_figure_ok(&fig)) {
        const mel_axis x = {
            .low = 0.0, .high = 1.0, .wanted = 5, .grid = true, .title = "false alarms, share of negatives"
        };
        const mel_axis y = {
            .low = 0.0, .high = 1.0, .wanted = 5, .grid = true, .title = "found, share of positives"
        };
        mel_figure_axes(&fig, &x, &y, 1.0);
        mel_figure_segment(&fig, "soft dots", 0.0, 0.0, 1.0, 1.0);
    }
    for (size_t g = 0; g < n && mel_figure_ok(&fig); g++) {
        const char *name = curve[g].name != NULL ? curve[g].name : "group";
        mel_figure_line(&fig, mel_class_line(g),
                        (mel_curve){ name, curve[g].n, 1, curve[g].fpr, curve[g].tpr, false });
        mel_figure_key(&fig, MEL_KEY_MARKED_LINE, mel_series_marker(g), mel_class_line(g), name);
    }
    for (size_t g = 0; g < n && mel_figure_ok(&fig); g++) {
        if (isnan(curve[g].at_fpr))
            continue;
        mel_figure_marker(&fig, mel_series_marker(g), mel_class_fill(g), curve[g].at_fpr, curve[g].at_tpr,
                          6.0);
        mel_figure_describe(
            &fig, "%s: %s of the positives are found and %s of the negatives are false alarms.",
            curve[g].name != NULL ? curve[g].name : "group", mel_digits_significant(curve[g].at_tpr, 3).text,
            mel_digits_significant(curve[g].at_fpr, 3).text);
    }
    return mel_figure_close(svg, &fig, err);
}

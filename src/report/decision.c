/* What rules are worth as the exchange rate between the two mistakes changes: net benefit and cost curves. */
#include "report/shared.h"
#include "report/svg.h"
#include "report/write.h"

#include <math.h>
#include <stdio.h>
#include <stdlib.h>

static const double usual_width = 480.0, usual_height = 320.0;
enum { STEPS = 241 };

void mel_decision_plot_init(mel_decision_plot *plot)
{
    *plot = (mel_decision_plot){
        .struct_size = sizeof *plot, .people = 1000.0, .cost = { NAN, NAN, NAN }, .chosen = { NAN, NAN }
    };
}

static void check(mel_figure *fig, const mel_decision_plot *plot)
{
    const double p = plot->positives, n = plot->negatives;
    if (plot->n_hull < 2 || plot->hull == NULL || !(p > 0.0) || !(n > 0.0) || !isfinite(p + n)) {
        mel_figure_refuse(fig, MEL_EINVAL, "%zu rules on %g positives and %g negatives", plot->n_hull, p, n);
        return;
    }
    for (size_t i = 0; mel_figure_ok(fig) && i < plot->n_hull; i++)
        if (!isfinite(plot->hull[i].tp) || !isfinite(plot->hull[i].tn))
            mel_figure_refuse(fig, MEL_EINVAL, "rule %zu: (%g, %g)", i, plot->hull[i].tp, plot->hull[i].tn);
    if (mel_figure_ok(fig) && !(plot->cost.value > 0.0 && isfinite(plot->cost.value)))
        mel_figure_refuse(fig, MEL_EINVAL, "a missed positive costs %g false alarms", plot->cost.value);
}

/* --- what is drawn ------------------------------------------------------------------------------ */

/* A curve over the x axis for everything that is compared. */
typedef struct {
    double x[STEPS];
    double best[STEPS], chosen[STEPS], always[STEPS], never[STEPS];
} curves;

/* The worth of a rule at place x of the axis. */
typedef double worth_fn(const mel_decision_plot *plot, mel_point at, double x);

/* TP - FP t/(1 - t), t the probability from which on a positive is worth its alarm. */
static double net_benefit(const mel_decision_plot *plot, mel_point at, double t)
{
    return plot->people * (at.tp - (plot->negatives - at.tn) * t / (1.0 - t));
}

/* Share of the largest possible cost, x of which is due to missed positives. Less is better. */
static double cost_share(const mel_decision_plot *plot, mel_point at, double x)
{
    const double missed = 1.0 - at.tp / plot->positives, alarms = 1.0 - at.tn / plot->negatives;
    return missed * x + alarms * (1.0 - x);
}

static void fill(curves *c, const mel_decision_plot *plot, worth_fn *worth, double sign, double low,
                 double high)
{
    const mel_point never = { 0.0, plot->negatives }, always = { plot->positives, 0.0 };
    for (size_t i = 0; i < STEPS; i++) {
        const double x = low + (high - low) * (double)i / (STEPS - 1);
        c->x[i] = x;
        c->never[i] = worth(plot, never, x);
        c->always[i] = worth(plot, always, x);
        c->chosen[i] = isnan(plot->chosen.tp) ? 0.0 : worth(plot, plot->chosen, x);
        double best = sign * fmax(sign * c->never[i], sign * c->always[i]);
        for (size_t h = 0; h < plot->n_hull; h++)
            best = sign * fmax(sign * best, sign * worth(plot, plot->hull[h], x));
        c->best[i] = best;
    }
}

/* A vertical line where the metric is, and a band where it may be. */
static void mark(mel_figure *fig, const mel_decision_plot *plot, double at, double low, double high)
{
    enum { MOST = 120 };
    char text[MOST];
    (void)snprintf(text, sizeof text, "1 %s = %s %s", plot->missed != NULL ? plot->missed : "missed positive",
                   mel_digits_significant(plot->cost.value, 2).text,
                   plot->false_alarms != NULL ? plot->false_alarms : "false alarms");
    if (isfinite(low) && isfinite(high) && high > low) {
        const double x[] = { fmax(low, fig->x.low), fmin(high, fig->x.high) },
                     bottom[] = { fig->y.low, fig->y.low }, top[] = { fig->y.high, fig->y.high };
        if (x[1] > x[0])
            mel_figure_band(fig, "band-2", "interval", 2, x, bottom, top);
        mel_figure_key(fig, MEL_KEY_BAND, MEL_MARKER_DISC, "band-2", "95% interval of the exchange rate");
    }
    mel_figure_segment(fig, "line-2 solid thin", at, fig->y.low, at, fig->y.high);
    const double px = mel_figure_x(fig, at);
    const bool left = px > 0.5 * (fig->left + fig->right);
    mel_figure_text(fig, "note halo", left ? MEL_END : MEL_START, px + (left ? -6.0 : 6.0), fig->top + 14.0,
                    left ? px - fig->left - 6.0 : fig->right - px - 6.0, text);
}

static void draw_curves(mel_figure *fig, const mel_decision_plot *plot, const curves *c, double at,
                        double worth)
{
    mel_figure_line(fig, "soft", (mel_curve){ "always", STEPS, 1, c->x, c->always, false });
    mel_figure_line(fig, "soft dots", (mel_curve){ "never", STEPS, 1, c->x, c->never, false });
    if (!isnan(plot->chosen.tp))
        mel_figure_line(fig, "line-2 solid",
                        (mel_curve){ "the chosen rule", STEPS, 1, c->x, c->chosen, false });
    mel_figure_line(fig, "line-1 thick", (mel_curve){ "the best rule", STEPS, 1, c->x, c->best, false });
    if (!isnan(plot->chosen.tp))
        mel_figure_marker(fig, MEL_MARKER_DISC, "fill-2", at, worth, 5.0);
    mel_figure_key(fig, MEL_KEY_LINE, MEL_MARKER_DISC, "line-1 thick", "the best rule for each rate");
    if (!isnan(plot->chosen.tp))
        mel_figure_key(fig, MEL_KEY_LINE, MEL_MARKER_DISC, "line-2 solid", "the rule for this metric");
    mel_figure_key(fig, MEL_KEY_LINE, MEL_MARKER_DISC, "soft",
                   plot->always != NULL ? plot->always : "always positive");
    mel_figure_key(fig, MEL_KEY_LINE, MEL_MARKER_DISC, "soft dots",
                   plot->never != NULL ? plot->never : "never positive");
}

/* --- net benefit -------------------------------------------------------------------------------- */

static double threshold_of(double cost)
{
    return 1.0 / (1.0 + cost);
}

static void draw_net_benefit(mel_figure *fig, const mel_decision_plot *plot, curves *c)
{
    const double at = threshold_of(plot->cost.value), low = threshold_of(plot->cost.high),
                 high = threshold_of(plot->cost.low);
    const double far = isfinite(high) ? high : at, right = fmin(0.97, fmax(0.5, 1.4 * far));
    fill(c, plot, net_benefit, 1.0, 0.0, right);
    const double top = plot->people * plot->positives;
    const mel_axis x = { .low = 0.0, .high = right, .wanted = 6, .title = "threshold probability" };
    const mel_axis y = { .low = -0.14 * top,
                         .high = 1.1 * top,
                         .grid = true,
                         .wanted = 5,
                         .title = plot->y_title != NULL ? plot->y_title : "net benefit per 1,000" };
    mel_figure_axes(fig, &x, &y, 0.0);
    mark(fig, plot, at, low, high);
    draw_curves(fig, plot, c, at, net_benefit(plot, plot->chosen, at));
    mel_figure_describe(
        fig, "At the metric's threshold %s the chosen rule has a net benefit of %s of %s at most.",
        mel_digits_significant(at, 3).text,
        isnan(plot->chosen.tp) ? "?" : mel_digits_significant(net_benefit(plot, plot->chosen, at), 3).text,
        mel_digits_significant(top, 3).text);
}

/* --- costs -------------------------------------------------------------------------------------- */

/* The share of the largest possible cost that missed positives have. */
static double share_of(const mel_decision_plot *plot, double cost)
{
    const double missed = plot->positives * cost;
    return isinf(missed) ? 1.0 : missed / (missed + plot->negatives);
}

static void draw_costs(mel_figure *fig, const mel_decision_plot *plot, curves *c)
{
    const double at = share_of(plot, plot->cost.value), low = share_of(plot, plot->cost.low),
                 high = share_of(plot, plot->cost.high);
    fill(c, plot, cost_share, -1.0, 0.0, 1.0);
    double top = 0.0;
    for (size_t i = 0; i < STEPS; i++)
        top = fmax(top, isnan(plot->chosen.tp) ? c->best[i] : fmax(c->best[i], c->chosen[i]));
    const mel_axis x = {
        .low = 0.0, .high = 1.0, .wanted = 6, .title = "share of missed positives in the largest cost"
    };
    const mel_axis y = { .low = 0.0,
                         .high = fmin(1.0, fmax(1.35 * top, 0.1)),
                         .grid = true,
                         .wanted = 5,
                         .title = "cost, share of the largest" };
    mel_figure_axes(fig, &x, &y, 0.0);
    mark(fig, plot, at, low, high);
    draw_curves(fig, plot, c, at, cost_share(plot, plot->chosen, at));
    mel_figure_describe(fig,
                        "Where missed positives are %s of the largest cost the best rule costs %s of it.",
                        mel_digits_significant(at, 3).text,
                        mel_digits_significant(c->best[(size_t)(at * (STEPS - 1))], 3).text);
}

/* --- both --------------------------------------------------------------------------------------- */

static mel_status draw(char **svg, const mel_decision_plot *plot, const mel_plot_options *opt,
                       const char *title, void (*picture)(mel_figure *, const mel_decision_plot *, curves *),
                       mel_error *err)
{
    mel_figure fig;
    mel_decision_plot own;
    *svg = NULL;
    mel_decision_plot_init(&own);
    const mel_status status = mel_options_take(&own, sizeof own, plot, "plot's fields", err);
    if (status != MEL_OK)
        return status;
    curves *c = mel_alloc_zero(1, sizeof *c);
    if (c == NULL)
        return mel_fail_memory(err, "a decision curve");
    mel_figure_open(&fig, opt, usual_width, usual_height, title);
    check(&fig, &own);
    if (mel_figure_ok(&fig))
        picture(&fig, &own, c);
    free(c);
    return mel_figure_close(svg, &fig, err);
}

mel_status mel_plot_net_benefit(char **svg, const mel_decision_plot *plot, const mel_plot_options *opt,
                                mel_error *err)
{
    return draw(svg, plot, opt, "Net benefit by threshold probability", draw_net_benefit, err);
}

mel_status mel_plot_cost_curve(char **svg, const mel_decision_plot *plot, const mel_plot_options *opt,
                               mel_error *err)
{
    return draw(svg, plot, opt, "Cost curve", draw_costs, err);
}

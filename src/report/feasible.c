/* The picture of what classifiers can achieve: hull, best points with their lines, questions. */
#include "base/internal.h"
#include "report/svg.h"
#include "report/write.h"

#include <math.h>
#include <stdlib.h>

static const double usual_size = 480.0;
static const double room = 0.09;         /* around the box of all (TP, TN), share of its sides */
static const double most_oblong = 1.3;   /* up to this ratio of the sides both axes have one scale */
static const double arrow_length = 36.0; /* px */
enum { MOST_NUMBERED = 99 };

void mel_feasible_plot_init(mel_feasible_plot *plot)
{
    *plot = (mel_feasible_plot){ .struct_size = sizeof *plot, .people = 1.0 };
}

/* A rectangle that is taken, px. */
typedef struct {
    double left, top, right, bottom;
} box;

typedef struct {
    mel_figure fig;
    mel_feasible_plot plot;
    double p, n;        /* sides of the box in the unit of the axes */
    mel_point *hull;    /* in the unit of the axes, as all points below */
    size_t n_hull, end; /* hull[end] is (positives, 0): the lower boundary ends there */
    mel_point *overlay; /* staircase, then smooth */
    box *boxes;
    size_t n_boxes;
} scene;

static bool finite_point(mel_point at)
{
    return isfinite(at.tp) && isfinite(at.tn);
}

static mel_point scaled(mel_point at, double by)
{
    return (mel_point){ at.tp * by, at.tn * by };
}

static void check_points(mel_figure *fig, const char *what, size_t n, const mel_point *at)
{
    if (n != 0 && at == NULL) {
        mel_figure_refuse(fig, MEL_EINVAL, "%s of %zu points without points", what, n);
        return;
    }
    for (size_t i = 0; mel_figure_ok(fig) && i < n; i++)
        if (!finite_point(at[i]))
            mel_figure_refuse(fig, MEL_EINVAL, "%s, point %zu: (%g, %g) is not finite", what, i, at[i].tp,
                              at[i].tn);
}

static void check_marks(mel_figure *fig, const mel_feasible_plot *plot)
{
    check_points(fig, "staircase", plot->n_staircase, plot->staircase);
    check_points(fig, "smoothed boundary", plot->n_smooth, plot->smooth);
    if (plot->n_supports > MEL_MOST_SUPPORTS)
        mel_figure_refuse(fig, MEL_EINVAL, "%zu supporting lines, at most %d", plot->n_supports,
                          MEL_MOST_SUPPORTS);
    for (size_t i = 0; mel_figure_ok(fig) && i < plot->n_supports; i++) {
        const mel_support *s = &plot->supports[i];
        if (!isfinite(s->m11) || !isfinite(s->m00) || !(hypot(s->m11, s->m00) > 0.0) ||
            !(finite_point(s->best) || isnan(s->best.tp)))
            mel_figure_refuse(fig, MEL_EINVAL, "supporting line %zu: (%g, %g) at (%g, %g)", i, s->m11, s->m00,
                              s->best.tp, s->best.tn);
    }
    for (size_t i = 0; mel_figure_ok(fig) && i < plot->n_questions; i++) {
        const mel_asked *q = &plot->questions[i];
        if (!finite_point(q->a) || !finite_point(q->b))
            mel_figure_refuse(fig, MEL_EINVAL, "question %zu: (%g, %g) or (%g, %g) is not finite", i + 1,
                              q->a.tp, q->a.tn, q->b.tp, q->b.tn);
    }
}

static void check_box(mel_figure *fig, mel_feasible_plot *plot)
{
    if (plot->face != NULL) {
        plot->positives = mel_face_positives(plot->face);
        plot->negatives = mel_face_negatives(plot->face);
        plot->n_hull = mel_face_vertices(plot->face);
    } else {
        check_points(fig, "hull", plot->n_hull, plot->hull);
    }
    if (!(plot->positives > 0.0 && plot->negatives > 0.0 && plot->positives + plot->negatives < 1.000001))
        mel_figure_refuse(fig, MEL_EINVAL, "shares %g of positives and %g of negatives", plot->positives,
                          plot->negatives);
    if (!(plot->people > 0.0 && plot->people <= 1e9))
        mel_figure_refuse(fig, MEL_EINVAL, "axes per %g", plot->people);
    if (plot->n_hull < 2)
        mel_figure_refuse(fig, MEL_EINVAL, "a hull of %zu points", plot->n_hull);
}

/* The vertex that is furthest towards "always positive". */
static size_t lower_end(const scene *s)
{
    size_t best = 0;
    for (size_t i = 1; i < s->n_hull; i++)
        if (s->hull[i].tp / s->p - s->hull[i].tn / s->n > s->hull[best].tp / s->p - s->hull[best].tn / s->n)
            best = i;
    return best;
}

static void load(scene *s)
{
    const mel_feasible_plot *plot = &s->plot;
    s->n_hull = plot->n_hull;
    s->p = plot->positives * plot->people;
    s->n = plot->negatives * plot->people;
    s->hull = mel_alloc(plot->n_hull + 1, sizeof *s->hull);
    s->overlay = mel_alloc(plot->n_staircase + plot->n_smooth, sizeof *s->overlay);
    s->boxes = mel_alloc(2 * plot->n_questions + MOST_NUMBERED + plot->n_supports + 2, sizeof *s->boxes);
    if (s->hull == NULL || s->overlay == NULL || s->boxes == NULL) {
        mel_figure_refuse(&s->fig, MEL_ENOMEM, "out of memory: plot of what is achievable");
        return;
    }
    for (size_t i = 0; i < s->n_hull; i++)
        s->hull[i] =
            scaled(plot->face != NULL ? mel_face_vertex(plot->face, i) : plot->hull[i], plot->people);
    s->hull[s->n_hull] = s->hull[0];
    for (size_t i = 0; i < plot->n_staircase; i++)
        s->overlay[i] = scaled(plot->staircase[i], plot->people);
    for (size_t i = 0; i < plot->n_smooth; i++)
        s->overlay[plot->n_staircase + i] = scaled(plot->smooth[i], plot->people);
    s->end = lower_end(s);
}

static mel_curve points(const char *what, size_t n, const mel_point *at)
{
    return (mel_curve){ what, n, sizeof *at / sizeof(double), &at->tp, &at->tn, false };
}

static void draw_frame(scene *s)
{
    const mel_feasible_plot *plot = &s->plot;
    const bool shares = plot->people == 1.0;
    const double ratio = s->n / s->p;
    const char *x_title = shares ? "true positives (share of all)" : "true positives";
    const char *y_title = shares ? "true negatives (share of all)" : "true negatives";
    const mel_axis x = { .low = -room * s->p,
                         .high = (1.0 + room) * s->p,
                         .wanted = 5,
                         .title = plot->x_title != NULL ? plot->x_title : x_title };
    const mel_axis y = { .low = -room * s->n,
                         .high = (1.0 + room) * s->n,
                         .wanted = 5,
                         .title = plot->y_title != NULL ? plot->y_title : y_title };
    mel_figure_axes(&s->fig, &x, &y, fmin(fmax(ratio, 1.0 / most_oblong), most_oblong));
    mel_figure_rectangle(&s->fig, "soft dots", mel_figure_x(&s->fig, 0.0), mel_figure_y(&s->fig, s->n),
                         mel_figure_x(&s->fig, s->p), mel_figure_y(&s->fig, 0.0));
}

static void draw_hull(scene *s)
{
    mel_figure *fig = &s->fig;
    const mel_feasible_plot *plot = &s->plot;
    mel_figure_polygon(fig, "area", points("hull", s->n_hull, s->hull));
    mel_figure_line(fig, "line-1 thin", points("lower boundary", s->end + 1, s->hull));
    mel_figure_line(fig, "line-1 thick", points("upper boundary", s->n_hull + 1 - s->end, s->hull + s->end));
    mel_figure_key(fig, MEL_KEY_LINE, MEL_MARKER_DISC, "line-1 thick", "boundary of what is achievable");
    if (plot->n_staircase != 0) {
        mel_figure_line(fig, "ink thin", points("staircase", plot->n_staircase, s->overlay));
        mel_figure_key(fig, MEL_KEY_LINE, MEL_MARKER_DISC, "ink thin", "single thresholds");
    }
    if (plot->n_smooth != 0) {
        mel_figure_line(fig, mel_class_line(3),
                        points("smoothed boundary", plot->n_smooth, s->overlay + plot->n_staircase));
        mel_figure_key(fig, MEL_KEY_LINE, MEL_MARKER_DISC, mel_class_line(3), "smoothed boundary");
    }
}

static void take_box(scene *s, double x, double y, double half_width, double half_height)
{
    s->boxes[s->n_boxes++] = (box){ x - half_width, y - half_height, x + half_width, y + half_height };
}

static bool is_free(const scene *s, const box *b)
{
    if (b->left < 2.0 || b->right > s->fig.width - 2.0 || b->top < 2.0 || b->bottom > s->fig.bottom)
        return false;
    for (size_t i = 0; i < s->n_boxes; i++) {
        const box *o = &s->boxes[i];
        if (b->left < o->right && o->left < b->right && b->top < o->bottom && o->top < b->bottom)
            return false;
    }
    return true;
}

/* The question's number beyond the end at (x, y), outwards as seen from (from_x, from_y) where that is
 * free, else around it; left out in a crowd. */
static void number_question(scene *s, size_t i, double x, double y, double from_x, double from_y)
{
    static const double distances[] = { 13.0, 21.0, 30.0 };
    static const double turns[] = { 0.0, 0.6, -0.6, 1.2, -1.2, 1.9, -1.9, 2.6, -2.6 };
    const mel_digits text = mel_digits_count(i + 1);
    const double half = 0.5 * mel_text_pixels(text.text), outwards = atan2(y - from_y, x - from_x);
    for (size_t d = 0; d < sizeof distances / sizeof *distances; d++)
        for (size_t t = 0; t < sizeof turns / sizeof *turns; t++) {
            const double tx = x + distances[d] * cos(outwards + turns[t]);
            const double ty = y + distances[d] * sin(outwards + turns[t]);
            const box b = { tx - half - 2.5, ty - 6.0, tx + half + 2.5, ty + 6.0 };
            if (!is_free(s, &b))
                continue;
            mel_figure_text(&s->fig, "note halo", MEL_MIDDLE, tx, ty + 4.0, s->fig.width, text.text);
            s->boxes[s->n_boxes++] = b;
            return;
        }
}

static void draw_question(scene *s, const mel_asked *q)
{
    const mel_point a = scaled(q->a, s->plot.people), b = scaled(q->b, s->plot.people);
    const bool same = q->answer != MEL_ANSWER_A && q->answer != MEL_ANSWER_B;
    mel_figure_segment(&s->fig, same ? "asked dots" : "asked", a.tp, a.tn, b.tp, b.tn);
    take_box(s, mel_figure_x(&s->fig, a.tp), mel_figure_y(&s->fig, a.tn), 5.0, 5.0);
    take_box(s, mel_figure_x(&s->fig, b.tp), mel_figure_y(&s->fig, b.tn), 5.0, 5.0);
}

static void mark_question(scene *s, size_t i)
{
    mel_figure *fig = &s->fig;
    const mel_asked *q = &s->plot.questions[i];
    const bool b_won = q->answer == MEL_ANSWER_B, same = !b_won && q->answer != MEL_ANSWER_A;
    const mel_point won = scaled(b_won ? q->b : q->a, s->plot.people);
    const mel_point lost = scaled(b_won ? q->a : q->b, s->plot.people);
    mel_figure_marker(fig, MEL_MARKER_RING, "lost", lost.tp, lost.tn, 3.2);
    mel_figure_marker(fig, same ? MEL_MARKER_RING : MEL_MARKER_DISC, same ? "lost" : "won", won.tp, won.tn,
                      same ? 3.2 : 4.2);
    if (i < MOST_NUMBERED)
        number_question(s, i, mel_figure_x(fig, won.tp), mel_figure_y(fig, won.tn),
                        mel_figure_x(fig, lost.tp), mel_figure_y(fig, lost.tn));
}

static void draw_questions(scene *s)
{
    const size_t n = s->plot.n_questions;
    bool any_same = false, any_skipped = false;
    for (size_t i = 0; i < n; i++) {
        draw_question(s, &s->plot.questions[i]);
        any_same = any_same || s->plot.questions[i].answer == MEL_ANSWER_SAME;
        any_skipped = any_skipped || s->plot.questions[i].answer >= MEL_ANSWER_SKIP;
    }
    for (size_t i = 0; i < n; i++)
        mark_question(s, i);
    if (n == 0)
        return;
    mel_figure_key(&s->fig, MEL_KEY_MARKER, MEL_MARKER_DISC, "won", "preferred");
    mel_figure_key(&s->fig, MEL_KEY_MARKER, MEL_MARKER_RING, "lost", "not preferred");
    if (any_same || any_skipped)
        mel_figure_key(&s->fig, MEL_KEY_LINE, MEL_MARKER_RING, "soft dots",
                       !any_skipped ? "about the same"
                       : any_same   ? "about the same, or no choice"
                                    : "no choice");
    mel_figure_describe(&s->fig, "%s questions are drawn as numbered segments between the two classifiers.",
                        mel_digits_count(n).text);
}

/* The part of at + t direction that lies in the area: Liang and Barsky. */
static bool clip_line(const mel_figure *fig, mel_point at, double dx, double dy, double *from, double *to)
{
    const double p[] = { -dx, dx, -dy, dy };
    const double q[] = { at.tp - fig->x.low, fig->x.high - at.tp, at.tn - fig->y.low, fig->y.high - at.tn };
    *from = -INFINITY;
    *to = INFINITY;
    for (size_t i = 0; i < 4; i++) {
        if (p[i] == 0.0 && q[i] < 0.0)
            return false;
        if (p[i] < 0.0)
            *from = fmax(*from, q[i] / p[i]);
        if (p[i] > 0.0)
            *to = fmin(*to, q[i] / p[i]);
    }
    return *from < *to;
}

static mel_point best_point(const scene *s, const mel_support *line)
{
    if (!isnan(line->best.tp))
        return scaled(line->best, s->plot.people);
    size_t best = 0;
    for (size_t i = 1; i < s->n_hull; i++)
        if (line->m11 * (s->hull[i].tp - s->hull[best].tp) + line->m00 * (s->hull[i].tn - s->hull[best].tn) >
            0.0)
            best = i;
    return s->hull[best];
}

/* Lines of rules that are worth the same, at equal steps down to the coin toss. */
static void draw_equals(scene *s, const mel_support *line, mel_point at)
{
    enum { LINES = 4 };
    const mel_point coin = { 0.5 * s->p, 0.5 * s->n };
    double from, to;
    for (size_t j = 1; j <= LINES; j++) {
        const double t = (double)j / LINES;
        const mel_point through = { at.tp + t * (coin.tp - at.tp), at.tn + t * (coin.tn - at.tn) };
        if (clip_line(&s->fig, through, -line->m00, line->m11, &from, &to))
            mel_figure_segment(&s->fig, "equals", through.tp - from * line->m00,
                               through.tn + from * line->m11, through.tp - to * line->m00,
                               through.tn + to * line->m11);
    }
    mel_figure_key(&s->fig, MEL_KEY_LINE, MEL_MARKER_DISC, "equals", "equally good");
}

static void draw_support(scene *s, size_t i)
{
    static const char *const lines[] = { "line-2 solid", "line-3", "line-4", "line-5" };
    static const char *const fills[] = { "fill-2", "line-3 solid", "fill-4", "open-5" };
    static const mel_marker markers[] = { MEL_MARKER_DISC, MEL_MARKER_RING, MEL_MARKER_DIAMOND,
                                          MEL_MARKER_SQUARE };
    mel_figure *fig = &s->fig;
    const mel_support *line = &s->plot.supports[i];
    const mel_point at = best_point(s, line);
    double from, to;
    if (i == 0 && s->plot.n_questions == 0)
        draw_equals(s, line, at);
    if (clip_line(fig, at, -line->m00, line->m11, &from, &to))
        mel_figure_segment(fig, lines[i], at.tp - from * line->m00, at.tn + from * line->m11,
                           at.tp - to * line->m00, at.tn + to * line->m11);
    /* Uphill as seen on the picture, which is the normal when both axes have one scale. */
    const double gx = line->m11 * (fig->x.high - fig->x.low) / (fig->right - fig->left);
    const double gy = -line->m00 * (fig->y.high - fig->y.low) / (fig->bottom - fig->top);
    const double size = hypot(gx, gy), px = mel_figure_x(fig, at.tp), py = mel_figure_y(fig, at.tn);
    mel_figure_arrow(fig, lines[i], px, py, px + arrow_length * gx / size, py + arrow_length * gy / size);
    mel_figure_marker(fig, markers[i], fills[i], at.tp, at.tn, i == 1 ? 8.0 : 5.0);
    take_box(s, px, py, 6.0, 6.0);
    mel_figure_key(fig, MEL_KEY_MARKER, markers[i], fills[i], line->name != NULL ? line->name : "best point");
    mel_figure_describe(fig, "%s: best at %s true positives and %s true negatives.",
                        line->name != NULL ? line->name : "Metric", mel_digits_significant(at.tp, 4).text,
                        mel_digits_significant(at.tn, 4).text);
}

static void draw_landmarks(scene *s)
{
    mel_figure *fig = &s->fig;
    const char *never = s->plot.never != NULL ? s->plot.never : "never positive";
    const char *always = s->plot.always != NULL ? s->plot.always : "always positive";
    const double x0 = mel_figure_x(fig, 0.0), y0 = mel_figure_y(fig, s->n), x1 = mel_figure_x(fig, s->p),
                 y1 = mel_figure_y(fig, 0.0);
    mel_figure_marker(fig, MEL_MARKER_SQUARE, "mark", 0.0, s->n, 4.5);
    mel_figure_marker(fig, MEL_MARKER_SQUARE, "mark", s->p, 0.0, 4.5);
    mel_figure_marker(fig, MEL_MARKER_CROSS, "mark", 0.5 * s->p, 0.5 * s->n, 5.0);
    mel_figure_text(fig, "note halo", MEL_START, x0 - 4.0, y0 - 10.0, x1 - x0, never);
    const double below = fmin(y1 + 19.0, fig->bottom - 6.0); /* not across the axis */
    mel_figure_text(fig, "note halo", MEL_END, x1 + 4.0, below, x1 - x0, always);
    mel_figure_key(fig, MEL_KEY_MARKER, MEL_MARKER_CROSS, "mark", "a coin toss");
    take_box(s, x0 - 4.0 + 0.5 * mel_text_pixels(never), y0 - 14.0, 0.5 * mel_text_pixels(never), 8.0);
    take_box(s, x1 + 4.0 - 0.5 * mel_text_pixels(always), below - 4.0, 0.5 * mel_text_pixels(always), 8.0);
    mel_figure_describe(fig, "True positives up to %s, true negatives up to %s; the boundary has %s corners.",
                        mel_digits_significant(s->p, 4).text, mel_digits_significant(s->n, 4).text,
                        mel_digits_count(s->n_hull).text);
}

mel_status mel_plot_feasible(char **svg, const mel_feasible_plot *plot, const mel_plot_options *opt,
                             mel_error *err)
{
    scene s = { .n_hull = 0 };
    *svg = NULL;
    mel_feasible_plot_init(&s.plot);
    mel_status status = mel_options_take(&s.plot, sizeof s.plot, plot, "plot's fields", err);
    if (status != MEL_OK)
        return status;
    mel_figure_open(&s.fig, opt, usual_size, usual_size, "What classifiers can achieve");
    check_box(&s.fig, &s.plot);
    check_marks(&s.fig, &s.plot);
    if (mel_figure_ok(&s.fig))
        load(&s);
    if (mel_figure_ok(&s.fig)) {
        draw_frame(&s);
        draw_hull(&s);
        draw_landmarks(&s);
        for (size_t i = 0; i < s.plot.n_supports; i++)
            draw_support(&s, i);
        draw_questions(&s);
    }
    status = mel_figure_close(svg, &s.fig, err);
    free(s.hull);
    free(s.overlay);
    free(s.boxes);
    return status;
}

/* Active elicitation of a binary linear-fractional metric: the posterior of its pivot (pivot.h) by samples
 * (posterior/sphere.h), asked about chord by chord (ask/chord.h).
 *
 * The tolerance is in radians of level lines: the session is done when 95% of the posterior's metrics
 * (97.5% with flips: mel_samples_radius_level) have all their level lines on the face within
 * it of the mean metric's, and the radius reported is that angle. (Preferences fix the level lines and
 * nothing else; how p and q are chosen among the metrics that share them is said in pivot.h.) A metric that
 * decreases is reported as a cost. */
#include "elicit/active/engine.h"

#include "base/la.h"
#include "elicit/active/ask/chord.h"

#include <math.h>
#include <stdlib.h>

enum {
    SAMPLES = 640,
    COSTLY_SAMPLES = 400, /* where every answer's margin counts */
    DIRECTION_TRIES = 5   /* questions about an unknown direction, at most */
};
typedef struct {
    mel_active base;
    const mel_face *face;
    mel_shares shares;
    mel_sampler *sampler;
    mel_chords *chords;
    /* Where p11 is known the sampler works in a plane; as pivots its samples are here. */
    bool on_line;
    mel_pivot_line line;
    mel_samples wide;
    double *wide_w, wide_mean[3];
    size_t n_direction; /* the first so many were about the direction; the sampler has the others */
    mel_direction direction;
    int lead; /* while the direction is unknown: answers for increasing less those for decreasing */
} fractional;

static const mel_samples *samples(const mel_active *base)
{
    const fractional *f = (const fractional *)base;
    return f->on_line ? &f->wide : mel_sampler_samples(f->sampler);
}

static void widen_samples(fractional *f)
{
    const mel_samples *narrow = mel_sampler_samples(f->sampler);
    f->wide = *narrow;
    f->wide.dimension = 3;
    f->wide.w = f->wide_w;
    f->wide.mean = f->wide.centre = f->wide_mean;
    f->wide.covariance = NULL;
    for (size_t i = 0; i < narrow->count; i++)
        mel_pivot_widen(f->wide_w + 3 * i, &f->line, narrow->w + 2 * i);
    mel_pivot_widen(f->wide_mean, &f->line, narrow->mean);
}

/* The row as the sampler wants it. */
static const double *told(const fractional *f, const double *row, double room[2])
{
    if (!f->on_line)
        return row;
    mel_pivot_narrow(room, &f->line, row);
    return room;
}

static void look(fractional *f)
{
    if (f->on_line)
        widen_samples(f);
    f->base.radius = mel_chords_radius(f->chords, samples(&f->base));
    f->base.w = samples(&f->base)->w;
    f->base.middle = samples(&f->base)->mean;
}

/* --- answers ------------------------------------------------------------------------------------ */

static mel_spot spot(const fractional *f, const double *x)
{
    return mel_spot_of(f->shares, (mel_point){ x[0], x[1] });
}

static void row(mel_active *base, const double *a, const double *b, double *out)
{
    const fractional *f = (const fractional *)base;
    mel_pivot_row(out, spot(f, a), spot(f, b));
}

/* The value of a difference depends on where the pivot is: gains are those of the mean metric. */
static double gain_of(const fractional *f, const double *a, const double *b)
{
    return mel_pivot_gain(f->base.middle, spot(f, a), spot(f, b));
}

/* Leaves the row behind. */
static double predict(mel_engine *base, const double *a, const double *b)
{
    fractional *f = (fractional *)base;
    row(&f->base, a, b, f->base.row);
    double room[2];
    const double first = mel_sampler_probability(f->sampler, told(f, f->base.row, room), gain_of(f, a, b));
    return f->direction == MEL_DECREASING ? 1.0 - first : first;
}

/* How far one answer must be ahead before an unknown direction counts as known. */
static int lead_needed(const fractional *f)
{
    return (int)mel_answers_needed(&f->base.opt.assume);
}

static void judge_direction(fractional *f, mel_answer answer)
{
    f->lead += answer == MEL_ANSWER_A ? 1 : answer == MEL_ANSWER_B ? -1 : 0;
    f->n_direction++;
    if (abs(f->lead) >= lead_needed(f) || f->n_direction >= DIRECTION_TRIES)
        f->direction = f->lead >= 0 ? MEL_INCREASING : MEL_DECREASING;
}

static mel_status hear(mel_active *base, const mel_pair *pair, mel_answer answer, bool *apart, mel_error *err)
{
    fractional *f = (fractional *)base;
    *apart = f->direction == MEL_DIRECTION_UNKNOWN;
    if (*apart) {
        judge_direction(f, answer);
        return MEL_OK;
    }
    for (size_t i = f->n_direction; i < base->history.n; i++) {
        const double *earlier = base->history.points + 4 * i;
        mel_sampler_set_gain(f->sampler, i - f->n_direction, gain_of(f, earlier, earlier + 2));
    }
    if (f->direction == MEL_DECREASING && answer != MEL_ANSWER_SAME)
        answer = answer == MEL_ANSWER_A ? MEL_ANSWER_B : MEL_ANSWER_A;
    const double gain = gain_of(f, pair->a, pair->b);
    double room[2];
    const mel_status status = mel_sampler_tell(f->sampler, told(f, base->row, room), gain, answer, err);
    if (status == MEL_OK)
        look(f);
    return status;
}

/* --- questions ---------------------------------------------------------------------------------- */

static void put(double *x, mel_point point)
{
    x[0] = point.tp;
    x[1] = point.tn;
}

static mel_status ask_direction(mel_active *base, bool *asked, mel_error *err)
{
    const fractional *f = (const fractional *)base;
    *asked = f->direction == MEL_DIRECTION_UNKNOWN;
    if (!*asked)
        return MEL_OK;
    const double tilt = (double)(base->avoided.n % 5); /* another pair when it was not answered */
    mel_point a = { 0 }, b = { 0 };
    mel_status status = mel_face_support(&a, f->face, 1.0, 1.0 + tilt, err);
    if (status == MEL_OK)
        status = mel_face_support(&b, f->face, -1.0, -1.0 - tilt, err);
    put(base->a, a);
    put(base->b, b);
    return status;
}

static mel_status choose(mel_active *base, mel_rng *rng, mel_error *err)
{
    (void)err;
    fractional *f = (fractional *)base;
    mel_spot a = { 0 }, b = { 0 };
    mel_outlook outlook = { .margin = INFINITY };
    mel_chords_choose(&a, &b, &outlook.information, f->chords, f->sampler, samples(base), &base->avoided,
                      rng);
    if (outlook.information < MEL_LEAST_INFORMATION && base->avoided.n > 0) /* nothing else is worth asking */
        mel_chords_choose(&a, &b, &outlook.information, f->chords, f->sampler, samples(base), NULL, rng);
    base->end = mel_end_of(&base->opt, samples(base), &outlook);
    put(base->a, mel_point_of(f->shares, a));
    put(base->b, mel_point_of(f->shares, b));
    mel_toss_sides(2, base->a, base->b, rng);
    return MEL_OK;
}

/* --- results ------------------------------------------------------------------------------------ */

static mel_status coefficients(const mel_active *base, const double *w, double *out, mel_error *err)
{
    (void)err;
    mel_pivot_metric(out, ((const fractional *)base)->shares, w);
    return MEL_OK;
}

static mel_status metric(mel_metric **out, const mel_active *base, const double *coefficient, mel_error *err)
{
    const bool cost = ((const fractional *)base)->direction == MEL_DECREASING;
    return mel_metric_fractional(out, base->opt.family, &mel_binary_layout, base->opt.class_names,
                                 cost ? MEL_COST : MEL_UTILITY, coefficient, coefficient[2], coefficient + 3,
                                 coefficient[5], err);
}

/* Two numbers are sought, or one, so halving the radius takes as many bits. */
static uint32_t expected(const mel_active *base)
{
    const fractional *f = (const fractional *)base;
    const double bits = mel_bits_per_answer(mel_assumed(&base->opt.assume), samples(base)->error_rate);
    double left = 0.0;
    if (base->radius > base->opt.tolerance)
        left = ceil((f->on_line ? 1.0 : 2.0) * log2(base->radius / base->opt.tolerance) / bits);
    if (f->direction == MEL_DIRECTION_UNKNOWN)
        left += (double)lead_needed(f);
    return (uint32_t)fmin(left, 1e6);
}

static void clear(mel_active *base)
{
    fractional *f = (fractional *)base;
    mel_sampler_free(f->sampler);
    mel_chords_free(f->chords);
    free(f->wide_w);
}

static const mel_active_ops fractional_ops = {
    .prepare = ask_direction,
    .choose = choose,
    .predict = predict,
    .row = row,
    .hear = hear,
    .samples = samples,
    .coefficients = coefficients,
    .metric = metric,
    .expected = expected,
    .clear = clear,
};

/* The direction of the prior metric as the sampler sees it, which thinks of metrics that increase. */
static mel_status set_prior(mel_sampler_options *sampling, double w[3], const fractional *f, mel_error *err)
{
    const mel_session_options *opt = &f->base.opt;
    if (opt->prior == NULL)
        return MEL_OK;
    if (opt->direction == MEL_DIRECTION_UNKNOWN)
        return mel_fail(err, MEL_EINVAL, "with a prior metric the direction cannot be unknown");
    if (!mel_pivot_of(w, f->shares, mel_metric_coefficient(opt->prior)))
        return mel_fail(err, MEL_EINVAL, "the prior metric does not tell any two classifiers apart");
    const bool cost = mel_metric_orientation(opt->prior) == MEL_COST;
    if (cost != (opt->direction == MEL_DECREASING))
        for (size_t i = 0; i < 3; i++)
            w[i] = -w[i];
    if (f->on_line) {
        double along[2];
        mel_pivot_narrow(along, &f->line, w);
        if (mel_norm2(2, along) < 1.0 - 1e-6)
            return mel_fail(err, MEL_EINVAL, "the prior metric has another p11 than %g, which is known",
                            opt->known_p11);
        w[0] = along[0];
        w[1] = along[1];
    }
    sampling->prior = w;
    sampling->prior_strength = opt->prior_strength;
    return MEL_OK;
}

/* Leaves the sampler's samples to be made. */
static void set_line(mel_sampler_options *sampling, fractional *f)
{
    f->on_line = !isnan(f->base.opt.known_p11);
    if (!f->on_line)
        return;
    mel_pivot_line_of(&f->line, f->shares, f->base.opt.known_p11);
    sampling->dimension = 2;
    sampling->n_cone = f->line.n_cone;
    sampling->cone = f->line.cone;
    sampling->start = f->line.start;
}

static mel_status set_up(fractional *f, const mel_face *face, mel_error *err)
{
    const mel_session_options *opt = &f->base.opt;
    const mel_noise_ops *noise = mel_assumed(&opt->assume);
    const bool costly = noise->errs == MEL_ERRS_BY_MARGIN && !noise->band;
    f->face = face;
    f->direction = opt->direction;
    f->shares = (mel_shares){ mel_face_positives(face), mel_face_negatives(face) };
    f->base.n_reported = MEL_FRACTIONAL_COEFFICIENTS;
    double prior[3];
    mel_sampler_options sampling = {
        .dimension = 3,
        .samples = costly ? COSTLY_SAMPLES : SAMPLES,
        .n_cone = MEL_PIVOT_CONE,
        .cone = mel_pivot_cone,
        .start = mel_pivot_start,
        .assume = opt->assume,
        .seed = opt->seed,
    };
    set_line(&sampling, f);
    mel_status status = mel_active_room(&f->base, 2, 3, err);
    if (status == MEL_OK)
        status = set_prior(&sampling, prior, f, err);
    if (status == MEL_OK)
        status = mel_sampler_new(&f->sampler, &sampling, err);
    if (status == MEL_OK)
        status = mel_chords_new(&f->chords, face, mel_sampler_samples(f->sampler)->count, err);
    if (status == MEL_OK && f->on_line) {
        f->wide_w = mel_alloc(mel_sampler_samples(f->sampler)->count, 3 * sizeof *f->wide_w);
        status = f->wide_w != NULL ? MEL_OK : mel_fail_memory(err, "the posterior");
    }
    if (status == MEL_OK)
        look(f);
    return status;
}

mel_status mel_engine_fractional(mel_engine **out, const mel_face *face, const mel_session_options *opt,
                                 mel_error *err)
{
    mel_active *e = NULL;
    const mel_status status =
        mel_active_new(&e, sizeof(fractional), &mel_active_engine, &fractional_ops, opt, err);
    return mel_active_ready(out, e, status == MEL_OK ? set_up((fractional *)e, face, err) : status);
}

/* Active elicitation of linear-fractional metrics on a ball and, of the diagonal, on two-class faces: the
 * posterior of the bivector that preferences see (bivector.h, posterior/bivector.h), the next line
 * (ask/line.h).
 *
 * The session is done when the radius that it reports (mel_lines_radius) is at most the tolerance: 95% of the
 * posterior (with flips 97.5%) have their level hyperplanes within it, in radians, of the
 * mean metric's. */
#include "elicit/active/engine.h"

#include "elicit/active/ask/line.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

/* Beyond this an answer takes many seconds. */
enum { MOST_COORDINATES = 60 };

typedef struct {
    mel_active base;
    mel_layout layout;
    mel_region region;
    mel_bivector_sampler *sampler;
    mel_lines *lines;
    double *inside;  /* 2n: ends of a pair, inside the region */
    double *numbers; /* 2n + 2: of the mean metric, for gains */
    double *likely;  /* one per sample: work */
} engine;

static const mel_samples *samples(const mel_active *base)
{
    return mel_bivector_sampler_samples(((const engine *)base)->sampler);
}

static void go_inside(engine *e, const double *a, const double *b)
{
    mel_region_inside(&e->region, a, e->inside);
    mel_region_inside(&e->region, b, e->inside + e->region.n);
}

/* What turns margins of the pair inside the region into differences of the reported metric. */
static double gain_inside(const engine *e)
{
    const double gain =
        mel_bivector_gain(&e->region, e->base.middle, e->numbers, e->inside, e->inside + e->region.n);
    return isfinite(gain) && gain > 0.0 ? gain : 1.0;
}

static void look(engine *e)
{
    const mel_samples *now = samples(&e->base);
    e->base.radius = mel_lines_radius(e->lines);
    e->base.w = now->w;
    e->base.middle = now->mean;
    if (mel_bivector_metric(&e->region, now->mean, e->numbers, NULL) != MEL_OK)
        memset(e->numbers, 0, e->base.n_reported * sizeof(double)); /* margins are taken as they are */
}

static void row(mel_active *base, const double *a, const double *b, double *out)
{
    engine *e = (engine *)base;
    go_inside(e, a, b);
    mel_lines_row(e->lines, e->inside, e->inside + e->region.n, out);
}

static double predict(mel_engine *base, const double *a, const double *b)
{
    engine *e = (engine *)base;
    const mel_samples *now = samples(&e->base);
    const size_t n = e->region.n;
    double sum = 0.0;
    go_inside(e, a, b);
    const double gain = gain_inside(e);
    for (size_t i = 0; i < now->count; i++)
        e->likely[i] = gain * mel_bivector_margin(n, now->w + i * now->dimension, e->inside, e->inside + n);
    mel_bivector_sampler_predict(e->sampler, e->inside, e->inside + n, gain, e->likely);
    for (size_t i = 0; i < now->count; i++)
        sum += e->likely[i];
    return sum / (double)now->count;
}

static mel_status hear(mel_active *base, const mel_pair *pair, mel_answer answer, bool *apart, mel_error *err)
{
    (void)apart;
    engine *e = (engine *)base;
    const size_t n = e->region.n;
    for (size_t i = 0; i < base->history.n; i++) { /* margins are measured in the mean metric's values */
        const double *told = base->history.points + 2 * n * i;
        go_inside(e, told, told + n);
        mel_bivector_sampler_set_gain(e->sampler, i, gain_inside(e));
    }
    go_inside(e, pair->a, pair->b);
    const mel_status status =
        mel_bivector_sampler_tell(e->sampler, e->inside, e->inside + n, gain_inside(e), answer, err);
    if (status == MEL_OK)
        look(e);
    return status;
}

static mel_status choose_line(mel_active *base, mel_rng *rng, mel_error *err)
{
    (void)err;
    engine *e = (engine *)base;
    mel_outlook outlook;
    const size_t n = e->region.n;
    const bool simple = base->opt.simple_questions;
    memset(e->inside, 0, 2 * n * sizeof(double));
    const double gain = gain_inside(e);
    mel_lines_choose(base->a, base->b, &outlook, e->lines, gain, simple, &base->avoided, rng);
    if (base->avoided.n > 0 && outlook.information < MEL_LEAST_INFORMATION)
        mel_lines_choose(base->a, base->b, &outlook, e->lines, gain, simple, NULL, rng);
    base->end = mel_end_of(&base->opt, samples(base), &outlook);
    mel_toss_sides(n, base->a, base->b, rng);
    return MEL_OK;
}

static void note(const mel_active *base, mel_pair *pair)
{
    const engine *e = (const engine *)base;
    const mel_class_faces *faces = mel_lines_faces(e->lines);
    if (faces != NULL)
        mel_class_faces_note(faces, base->opt.class_names, base->a, base->b, pair->note_a, pair->note_b);
}

static mel_status bivector_numbers(const mel_active *base, const double *w, double *out, mel_error *err)
{
    return mel_bivector_metric(&((const engine *)base)->region, w, out, err);
}

static mel_status metric(mel_metric **out, const mel_active *base, const double *coefficient, mel_error *err)
{
    const engine *e = (const engine *)base;
    const double *below = coefficient + e->region.n + 1;
    return mel_metric_fractional(out, base->opt.family, &e->layout, base->opt.class_names, MEL_UTILITY,
                                 coefficient, 0.0, below, below[e->region.n], err);
}

static void clear(mel_active *base)
{
    engine *e = (engine *)base;
    mel_lines_free(e->lines);
    mel_bivector_sampler_free(e->sampler);
    mel_region_clear(&e->region);
    free(e->inside);
    free(e->likely);
}

static const mel_active_ops bivector_ops = {
    .choose = choose_line,
    .predict = predict,
    .row = row,
    .hear = hear,
    .note = note,
    .samples = samples,
    .coefficients = bivector_numbers,
    .metric = metric,
    .clear = clear,
};

static mel_status make_sampler(engine *e, mel_error *err)
{
    const mel_session_options *opt = &e->base.opt;
    mel_bivector_options sampling = { .region = &e->region, .assume = opt->assume, .seed = opt->seed };
    double *prior = e->inside; /* the sampler takes a copy */
    if (opt->prior != NULL) {
        if (!mel_bivector_of(prior, &e->region, opt->prior))
            return mel_fail(err, MEL_EINVAL,
                            "the prior metric does not tell the classifiers in question apart");
        sampling.prior = prior;
        sampling.prior_strength = opt->prior_strength;
    }
    return mel_bivector_sampler_new(&e->sampler, &sampling, err);
}

static mel_status set_up(engine *e, const mel_domain *domain, mel_error *err)
{
    mel_active *base = &e->base;
    mel_status status = domain->ball != NULL
                            ? mel_region_of_ball(&e->region, domain->ball, &base->opt, err)
                            : mel_region_of_space(&e->region, domain->space, &base->opt, err);
    if (status != MEL_OK)
        return status;
    const size_t n = e->region.n;
    if (n > MOST_COORDINATES)
        return mel_fail(
            err, MEL_ELIMIT,
            "linear-fractional metrics of %zu numbers: the active strategy follows at most %d; use "
            "the search strategy",
            n, MOST_COORDINATES);
    e->layout = *(domain->ball != NULL ? mel_ball_layout(domain->ball) : mel_space_layout(domain->space));
    base->numbers = 2.0 * ((double)n - 1.0);
    base->n_reported = 2 * n + 2;
    e->inside = mel_alloc_zero(2 * n + base->n_reported, sizeof(double));
    if (e->inside == NULL)
        return mel_fail_memory(err, "the question");
    e->numbers = e->inside + 2 * n;
    status = mel_active_room(base, n, 2 * n, err);
    if (status == MEL_OK)
        status = make_sampler(e, err);
    if (status == MEL_OK) {
        e->likely = mel_alloc(samples(base)->count, sizeof *e->likely);
        status = e->likely != NULL ? MEL_OK : mel_fail_memory(err, "the question");
    }
    if (status == MEL_OK)
        status = mel_lines_new(&e->lines, &e->region, e->sampler, domain->space, err);
    if (status == MEL_OK)
        look(e);
    return status;
}

mel_status mel_engine_bivector(mel_engine **out, const mel_domain *domain, const mel_session_options *opt,
                               mel_error *err)
{
    mel_active *e = NULL;
    const mel_status status = mel_active_new(&e, sizeof(engine), &mel_active_engine, &bivector_ops, opt, err);
    return mel_active_ready(out, e, status == MEL_OK ? set_up((engine *)e, domain, err) : status);
}

/* Active elicitation of every metric that is linear in known features: the posterior of its coefficient
 * vector by samples (posterior/sphere.h), the family's features, prior and domain (family.h), the next pair
 * (ask/pair.h).
 *
 * The session is done when the radius that it reports (mel_chooser_radius: 95% of the posterior is within it
 * of the mean in every coefficient, 97.5% with flips, and no 95% interval is wider than twice that) is at
 * most the tolerance, at the norm at which the family is judged (l1 for diagonal metrics, otherwise l2 over
 * all coefficients; of fair metrics (1 - lambda) a and lambda b). */
#include "elicit/active/engine.h"

#include "elicit/active/ask/realistic.h"
#include "elicit/options.h"

#include <stdlib.h>

enum { DIRECTION_TRIES = 5 }; /* questions about an unknown direction, at most */

typedef struct {
    mel_active base;
    const mel_basis *f; /* base.basis */
    mel_sampler *sampler;
    mel_chooser *chooser;
    mel_realistic *realistic; /* NULL: questions are far */
    bool directed;            /* the direction is known, or need not be */
    size_t n_direction;       /* the first so many were about it; the sampler has the others */
    int lead;                 /* answers for increasing less those for decreasing */
} engine;

static const mel_samples *samples(const mel_active *base)
{
    return mel_sampler_samples(((const engine *)base)->sampler);
}

static void look(engine *e)
{
    mel_chooser_look(e->chooser, e->sampler);
    e->base.radius = mel_chooser_radius(e->chooser);
    e->base.w = mel_chooser_samples(e->chooser);
    e->base.middle = mel_chooser_mean(e->chooser);
}

static void row(mel_active *base, const double *a, const double *b, double *out)
{
    const mel_basis *f = ((engine *)base)->f;
    f->ops->row(f, a, b, out);
}

/* Leaves the row behind. */
static double predict(mel_engine *base, const double *a, const double *b)
{
    engine *e = (engine *)base;
    row(&e->base, a, b, e->base.row);
    return mel_sampler_probability(e->sampler, e->base.row, mel_chooser_gain(e->chooser, a, b));
}

/* An unknown direction counts as known once one answer is far enough ahead. */
static void judge_direction(engine *e, mel_answer answer)
{
    mel_session_options *opt = &e->base.opt;
    e->lead += answer == MEL_ANSWER_A ? 1 : answer == MEL_ANSWER_B ? -1 : 0;
    e->n_direction++;
    e->directed = abs(e->lead) >= (int)mel_answers_needed(&opt->assume) || e->n_direction >= DIRECTION_TRIES;
    if (e->directed)
        e->f->ops->turn(e->base.basis, e->lead >= 0 ? MEL_INCREASING : MEL_DECREASING);
}

static mel_status hear(mel_active *base, const mel_pair *pair, mel_answer answer, bool *apart, mel_error *err)
{
    engine *e = (engine *)base;
    *apart = !e->directed;
    if (*apart) {
        judge_direction(e, answer);
        return MEL_OK;
    }
    for (size_t i = e->n_direction; i < base->history.n; i++) {
        const double *earlier = base->history.points + 2 * e->f->size * i;
        mel_sampler_set_gain(e->sampler, i - e->n_direction,
                             mel_chooser_gain(e->chooser, earlier, earlier + e->f->size));
    }
    const double gain = mel_chooser_gain(e->chooser, pair->a, pair->b);
    TRY(mel_sampler_tell(e->sampler, base->row, gain, answer, err));
    look(e);
    return MEL_OK;
}

/* While the direction is unknown the questions are about it; another pair when one was put aside. */
static mel_status ask_direction(mel_active *base, bool *asked, mel_error *err)
{
    const engine *e = (const engine *)base;
    *asked = !e->directed;
    return *asked
               ? e->f->ops->extremes(e->f, (double)(base->avoided.n % DIRECTION_TRIES), base->a, base->b, err)
               : MEL_OK;
}

/* One of the best pair's kinds. */
static mel_status try_pair(mel_outlook *outlook, engine *e, bool simple, const mel_avoided *avoided,
                           mel_rng *rng, mel_error *err)
{
    mel_active *base = &e->base;
    if (e->realistic != NULL)
        return mel_realistic_choose(base->a, base->b, outlook, e->realistic, e->chooser, e->sampler,
                                    &base->history, avoided, rng, err);
    return mel_chooser_choose(base->a, base->b, outlook, e->chooser, e->sampler, simple, avoided, rng, err);
}

/* The best pair. When questions were put aside: the best that is not like them; if all are, the best of the
 * other kind, one that is not just the same, and in the end the best again. */
static mel_status choose(mel_active *base, mel_rng *rng, mel_error *err)
{
    engine *e = (engine *)base;
    const bool simple = base->opt.simple_questions;
    const struct {
        bool simple;
        double alike;
        const mel_avoided *avoided;
    } tries[] = { { simple, MEL_ALIKE, &base->avoided },
                  { !simple, MEL_ALIKE, &base->avoided },
                  { simple, MEL_IDENTICAL, &base->avoided },
                  { simple, MEL_IDENTICAL, NULL } };
    const size_t n = base->avoided.n > 0 ? sizeof tries / sizeof *tries : 1;
    mel_outlook outlook = { 0 };
    for (size_t i = 0; i < n; i++) {
        base->avoided.alike = tries[i].alike;
        const mel_status status = try_pair(&outlook, e, tries[i].simple, tries[i].avoided, rng, err);
        if (status != MEL_OK)
            return status;
        if (outlook.information >= MEL_LEAST_INFORMATION)
            break;
    }
    base->end = mel_end_of(&base->opt, samples(base), &outlook);
    mel_toss_sides(e->f->size, base->a, base->b, rng);
    return MEL_OK;
}

static void note(const mel_active *base, mel_pair *pair)
{
    const mel_basis *f = ((const engine *)base)->f;
    if (f->ops->note != NULL)
        f->ops->note(f, &base->opt, base->a, base->b, pair->note_a, pair->note_b);
}

static void show(const mel_active *base, mel_pair *pair)
{
    const engine *e = (const engine *)base;
    if (e->realistic != NULL)
        pair->people = mel_realistic_people(e->realistic);
}

static void clear(mel_active *base)
{
    engine *e = (engine *)base;
    mel_realistic_free(e->realistic);
    mel_chooser_free(e->chooser);
    mel_sampler_free(e->sampler);
}

static const mel_active_ops features_ops = {
    .prepare = ask_direction,
    .choose = choose,
    .predict = predict,
    .row = row,
    .hear = hear,
    .note = note,
    .show = show,
    .samples = samples,
    .clear = clear,
};

static mel_status make_sampler(engine *e, mel_error *err)
{
    const mel_session_options *opt = &e->base.opt;
    mel_sampler_options sampling = {
        .dimension = e->f->dimension,
        .samples = e->f->samples,
        .n_cone = e->f->n_cone,
        .cone = e->f->cone,
        .start = e->f->start,
        .assume = opt->assume,
        .seed = opt->seed,
        .reports_mean = opt->until == MEL_UNTIL_RULE || e->f->reports_mean,
    };
    double *prior = NULL;
    mel_status status = opt->prior != NULL ? mel_basis_vector(&prior, e->f, opt, opt->prior, err) : MEL_OK;
    sampling.prior = prior;
    sampling.prior_strength = prior != NULL ? opt->prior_strength : 0.0;
    if (status == MEL_OK)
        status = mel_sampler_new(&e->sampler, &sampling, err);
    free(prior);
    return status;
}

static mel_status set_up(engine *e, const mel_domain *domain, mel_error *err)
{
    TRY(mel_active_linear(&e->base, domain, err));
    e->f = e->base.basis;
    e->directed = e->f->ops->extremes == NULL || e->base.opt.direction != MEL_DIRECTION_UNKNOWN;
    TRY(mel_active_room(&e->base, e->f->size, e->f->dimension, err));
    TRY(make_sampler(e, err));
    TRY(mel_chooser_new(&e->chooser, e->base.basis, samples(&e->base)->count, err));
    const mel_space *frontier = domain->ball != NULL ? domain->frontier : domain->space;
    if (mel_asks_near_best(&e->base.opt, domain))
        TRY(mel_realistic_new(&e->realistic, e->f, frontier, samples(&e->base)->count, &e->base.opt, err));
    look(e);
    return MEL_OK;
}

mel_status mel_engine_features(mel_engine **out, const mel_domain *domain, const mel_session_options *opt,
                               mel_error *err)
{
    mel_active *e = NULL;
    const mel_status status = mel_active_new(&e, sizeof(engine), &mel_active_engine, &features_ops, opt, err);
    return mel_active_ready(out, e, status == MEL_OK ? set_up((engine *)e, domain, err) : status);
}

/* Pairs that people can take seriously: plug-in classifiers near the best, judged on the samples. */
#include "elicit/active/ask/realistic.h"

#include "base/la.h"
#include "oracle/counts.h"
#include "space/shared.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

enum {
    BASES = 16, /* metrics whose best classifiers are looked at */
    KINDS = 3,  /* each of these, and twice with a boundary moved */
    PLUG_INS = KINDS * BASES,
    PAIRS = (KINDS - 1) * BASES, /* a base with each of its changes: one trade a question */
    TURNS = 6,                   /* steps towards the best classifier of a metric that is not linear */
    TRIES = 400,                 /* of a pair at random; of the second half any two that differ will do */
    LOOKS = 4,                   /* lists of classifiers that are made where none tells anything */
    MOST_ROWS = 4000,            /* of more, about so many are looked at */
    JUDGES = 64,                 /* samples that say whether somebody might use a classifier */
    HUNDRED = 100,               /* people of each class in each group */
    MANY = 1000,                 /* people */
    MORE = 10000,                /* where fewer than ENOUGH of a class are among MANY */
    ENOUGH = 20,
    LEAST_APART = 3 /* people by which two classifiers must differ in some number */
};
/* By how much weights are changed, natural logarithm. */
static const double least_change = 0.4, most_change = 1.6;
/* Share of what the best classifier adds to the best trivial one that both of a pair are to keep. */
static const double plausible_from = 0.5;
/* A pair counts by so high a power of how likely both of it are to be such. */
static const double care = 10.0;
/* Among pairs with at least this share of the best pair's information, the simplest is asked. */
static const double about_as_good = 0.85;

/* Classifiers in whole numbers of people. */
typedef struct {
    const mel_basis *f;
    uint32_t people;
    int64_t *most; /* classes: people of each, in every group */
    double *scale; /* size: what was found on some rows, times this, is true of all */
} whole_numbers;

struct mel_realistic {
    const mel_basis *f;
    const mel_space *space; /* what is achievable, or some rows of it */
    mel_some_rows some;
    whole_numbers whole;
    size_t n_trivial;
    double *trivial;   /* n_trivial x size: classifiers that always predict one class */
    double *point;     /* PLUG_INS x size */
    double *feature;   /* (PLUG_INS + n_trivial) x D: rows against the first trivial one */
    double *value;     /* PLUG_INS + n_trivial: work */
    double *kept;      /* PLUG_INS: share of the judges by whom somebody might use it */
    bool for_rule;     /* questions are chosen for the best classifier, not for the weights */
    size_t count;      /* samples */
    double *worth;     /* for_rule: PLUG_INS x count */
    double *direction; /* size */
    double *slope;     /* size: work */
    double *centre;    /* size: of the space */
    double *gain;      /* groups x k x k */
};

typedef struct {
    size_t a, b;
    mel_outlook outlook;
    double score;
    size_t differing;
} option;

void mel_realistic_free(mel_realistic *r)
{
    if (r == NULL)
        return;
    mel_some_rows_clear(&r->some);
    free(r->whole.most);
    free(r->trivial); /* and all that was made with it */
    free(r);
}

uint32_t mel_realistic_people(const mel_realistic *r)
{
    return r->whole.people;
}

static uint32_t people_for(const mel_space *space)
{
    const double *share = mel_space_class_share(space);
    double rarest = 1.0;
    if (mel_space_layout(space)->kind != MEL_CONFUSION)
        return HUNDRED;
    for (size_t i = 0; i < mel_space_layout(space)->n_classes; i++)
        rarest = fmin(rarest, share[i]);
    return rarest * MANY < ENOUGH ? MORE : MANY;
}

static mel_status find_trivial(mel_realistic *r, mel_error *err)
{
    const size_t k = r->n_trivial, size = r->f->size;
    for (size_t j = 0; j < k; j++) {
        for (size_t i = 0; i < r->f->groups * k * k; i++)
            r->gain[i] = i % k == j ? 1.0 : 0.0;
        TRY(mel_space_rule(r->trivial + j * size, r->space, r->gain, err));
        for (size_t i = 0; i < size; i++)
            r->trivial[j * size + i] *= r->whole.scale[i];
    }
    return MEL_OK;
}

/* Time grows with the rows. */
static mel_status take_rows(mel_realistic *r, const mel_space *space, uint64_t seed, mel_error *err)
{
    const mel_layout *layout = mel_space_layout(space);
    const bool many = mel_space_rows(space) > MOST_ROWS;
    const mel_status status = many ? mel_some_rows_take(&r->some, space, MOST_ROWS, seed, err) : MEL_OK;
    if (status != MEL_OK)
        return status;
    r->space = many ? r->some.space : space;
    for (size_t i = 0; i < r->f->size; i++) {
        const size_t class = mel_layout_cell(layout, i % r->f->per_group) / layout->n_classes;
        r->whole.scale[i] = layout->kind == MEL_CONFUSION
                                ? mel_space_class_share(space)[class] / mel_space_class_share(r->space)[class]
                                : 1.0;
    }
    mel_shown_totals(r->whole.most, layout, r->f->groups > 1 ? NULL : mel_space_class_share(space),
                     r->whole.people);
    mel_space_centre(r->centre, r->space);
    return MEL_OK;
}

static bool make_room(mel_realistic *r, const mel_basis *f)
{
    const size_t all = PLUG_INS + r->n_trivial, cells = f->groups * r->n_trivial * r->n_trivial;
    const mel_part parts[] = { { r->n_trivial * f->size, { &r->trivial } },
                               { PLUG_INS * f->size, { &r->point } },
                               { all * f->dimension, { &r->feature } },
                               { all, { &r->value } },
                               { r->for_rule ? PLUG_INS * r->count : 1, { &r->worth } },
                               { PLUG_INS, { &r->kept } },
                               { cells, { &r->gain } },
                               { f->size, { &r->direction, &r->slope, &r->centre, &r->whole.scale } } };
    r->whole.most = mel_alloc(r->n_trivial, sizeof *r->whole.most);
    return r->whole.most != NULL && mel_parts_new(MEL_PARTS(parts));
}

mel_status mel_realistic_new(mel_realistic **out, const mel_basis *f, const mel_space *space, size_t samples,
                             const mel_session_options *opt, mel_error *err)
{
    *out = NULL;
    mel_realistic *r = mel_alloc_zero(1, sizeof *r);
    if (r == NULL)
        return mel_fail_memory(err, "the questions");
    r->f = f;
    r->whole.f = f;
    r->whole.people = opt->people > 0 ? opt->people : people_for(space);
    r->for_rule = opt->until == MEL_UNTIL_RULE;
    r->count = samples;
    r->n_trivial = f->layout.n_classes;
    mel_status status = make_room(r, f) ? MEL_OK : mel_fail_memory(err, "the questions");
    if (status == MEL_OK)
        status = take_rows(r, space, opt->seed, err);
    if (status == MEL_OK)
        status = find_trivial(r, err);
    if (status != MEL_OK) {
        mel_realistic_free(r);
        return status;
    }
    *out = r;
    return MEL_OK;
}

/* --- whole numbers ---------------------------------------------------------------------------------- */

static size_t class_of(const mel_basis *f, size_t i)
{
    return mel_layout_cell(&f->layout, i % f->per_group) / f->layout.n_classes;
}

/* By how many people the numbers of the class that has number i, in its group, are more than it has. */
static int64_t surplus(const whole_numbers *whole, const double *x, size_t i)
{
    const mel_basis *f = whole->f;
    const size_t class = class_of(f, i), first = i - i % f->per_group;
    int64_t sum = -whole->most[class];
    for (size_t j = first; j < first + f->per_group; j++)
        if (class_of(f, j) == class)
            sum += llround(x[j] * (double)whole->people);
    return sum;
}

/* Rounding may have made each number of a class greater; those that are there give way, one by one. */
static void fit_classes(const whole_numbers *whole, double *x)
{
    for (size_t i = 0; i < whole->f->size; i++) {
        const double here = round(x[i] * (double)whole->people);
        const double over = fmin(here, (double)surplus(whole, x, i));
        if (over > 0.0)
            x[i] = (here - over) / (double)whole->people;
    }
}

static void whole_point(const whole_numbers *whole, double *x)
{
    for (size_t i = 0; i < whole->f->size; i++)
        x[i] = round(x[i] * whole->scale[i] * (double)whole->people) / (double)whole->people;
    fit_classes(whole, x);
}

/* Numbers of a change that are hardly other than its base's are the base's, and so are all of a class that
 * would then have more people than there are. The base is in whole numbers. */
static void whole_change(const whole_numbers *whole, double *x, const double *base)
{
    const mel_basis *f = whole->f;
    whole_point(whole, x);
    for (size_t i = 0; i < f->size; i++)
        if (round(fabs(x[i] - base[i]) * (double)whole->people) < LEAST_APART)
            x[i] = base[i];
    for (size_t i = 0; i < f->size; i++) {
        const size_t first = i - i % f->per_group, class = class_of(f, i);
        const bool too_many = surplus(whole, x, i) > 0;
        for (size_t j = first; too_many && j < first + f->per_group; j++)
            if (class_of(f, j) == class)
                x[j] = base[j];
    }
}

/* --- classifiers ------------------------------------------------------------------------------------ */

/* The classifier that is best for w into point, and the direction in which it is. Of metrics that are not
 * linear it is best in the direction of their average slope at the classifiers before: so each group keeps
 * one rule where differences between groups vanish. */
static mel_status plug_in(mel_realistic *r, const double *w, double *point, mel_error *err)
{
    const mel_basis *f = r->f;
    const bool flat = f->ops->slope == mel_basis_same_slope;
    memcpy(point, r->centre, f->size * sizeof *point);
    memset(r->direction, 0, f->size * sizeof *r->direction);
    for (int turn = 0; turn < (flat ? 1 : TURNS); turn++) {
        f->ops->slope(f, point, w, r->slope);
        for (size_t i = 0; i < f->size; i++)
            r->direction[i] += (r->slope[i] - r->direction[i]) / (turn + 1.0);
        TRY(mel_space_linear(point, r->space, r->direction, err));
    }
    return MEL_OK;
}

static double random_factor(mel_rng *rng)
{
    const double by = least_change + (most_change - least_change) * mel_rng_uniform(rng);
    return exp(mel_rng_below(rng, 2) == 0 ? by : -by);
}

/* The classifier of the direction with its boundary between two classes moved, in one group. */
static mel_status move_boundary(mel_realistic *r, double *point, mel_rng *rng, mel_error *err)
{
    const size_t k = r->n_trivial, group = mel_rng_below(rng, r->f->groups);
    const size_t first = mel_rng_below(rng, k), second = (first + 1 + mel_rng_below(rng, k - 1)) % k;
    mel_space_gains(r->gain, r->space, r->direction);
    return mel_space_swap(point, r->space, r->gain, group, first, second, random_factor(rng), err);
}

/* The classifier of the direction with one or two weights changed. */
static mel_status change_weights(mel_realistic *r, double *point, mel_rng *rng, mel_error *err)
{
    const size_t n = 1 + mel_rng_below(rng, 2);
    memcpy(r->slope, r->direction, r->f->size * sizeof *r->slope);
    for (size_t i = 0; i < n; i++) {
        const double factor = random_factor(rng);
        r->slope[mel_rng_below(rng, r->f->size)] *= factor;
    }
    return mel_space_linear(point, r->space, r->slope, err);
}

/* The best classifiers of the mean and of random samples, each with its changes after it. */
static mel_status find_plug_ins(mel_realistic *r, const mel_chooser *chooser, size_t count, mel_rng *rng,
                                mel_error *err)
{
    const size_t size = r->f->size, d = r->f->dimension;
    const bool rows = mel_space_rows(r->space) > 0;
    mel_status status = MEL_OK;
    for (size_t i = 0; i < BASES && status == MEL_OK; i++) {
        const double *w =
            i == 0 ? mel_chooser_mean(chooser) : mel_chooser_samples(chooser) + mel_rng_below(rng, count) * d;
        double *point = r->point + KINDS * i * size;
        status = plug_in(r, w, point, err);
        for (size_t kind = 1; kind < KINDS && status == MEL_OK; kind++)
            status = rows ? move_boundary(r, point + kind * size, rng, err)
                          : change_weights(r, point + kind * size, rng, err);
    }
    for (size_t p = 0; p < PLUG_INS && status == MEL_OK; p++)
        whole_change(&r->whole, r->point + p * size, r->point + p / KINDS * KINDS * size);
    return status;
}

/* How many of the judges think that each classifier keeps enough of what the best one of these adds to the
 * best trivial one. */
static void find_kept(mel_realistic *r, const mel_chooser *chooser, size_t count)
{
    const size_t size = r->f->size, d = r->f->dimension, all = PLUG_INS + r->n_trivial;
    for (size_t i = 0; i < all; i++)
        r->f->ops->row(r->f, i < PLUG_INS ? r->point + i * size : r->trivial + (i - PLUG_INS) * size,
                       r->trivial, r->feature + i * d);
    memset(r->kept, 0, PLUG_INS * sizeof *r->kept);
    for (size_t s = 0; s < JUDGES; s++) {
        const double *w = mel_chooser_samples(chooser) + s * count / JUDGES * d;
        double best = -INFINITY, plain = -INFINITY;
        for (size_t i = 0; i < all; i++) {
            r->value[i] = mel_dot(d, r->feature + i * d, w);
            best = fmax(best, r->value[i]);
            plain = i < PLUG_INS ? plain : fmax(plain, r->value[i]);
        }
        for (size_t i = 0; i < PLUG_INS; i++)
            r->kept[i] += (r->value[i] >= plain + plausible_from * (best - plain)) / (double)JUDGES;
    }
}

/* What each classifier is worth to each sample, less what all are on average, and less its own mean. */
static void find_worth(mel_realistic *r, const mel_chooser *chooser)
{
    const size_t d = r->f->dimension, n = r->count;
    for (size_t s = 0; s < n; s++) {
        double mean = 0.0;
        for (size_t i = 0; i < PLUG_INS; i++)
            mean += r->worth[i * n + s] =
                mel_dot(d, r->feature + i * d, mel_chooser_samples(chooser) + s * d);
        for (size_t i = 0; i < PLUG_INS; i++)
            r->worth[i * n + s] -= mean / PLUG_INS;
    }
    for (size_t i = 0; i < PLUG_INS; i++) {
        double mean = 0.0;
        for (size_t s = 0; s < n; s++)
            mean += r->worth[i * n + s] / (double)n;
        for (size_t s = 0; s < n; s++)
            r->worth[i * n + s] -= mean;
    }
}

/* --- pairs ------------------------------------------------------------------------------------------ */

static bool was_asked(const mel_history *history, const double *a, const double *b)
{
    const size_t size = history->size, bytes = size * sizeof(double);
    for (size_t i = 0; i < history->n; i++) {
        const double *told = history->points + 2 * size * i;
        if ((memcmp(told, a, bytes) == 0 && memcmp(told + size, b, bytes) == 0) ||
            (memcmp(told, b, bytes) == 0 && memcmp(told + size, a, bytes) == 0))
            return true;
    }
    return false;
}

/* Numbers in which two classifiers differ; 0: hardly in any. */
static size_t count_differing(const mel_realistic *r, const double *a, const double *b)
{
    size_t n = 0;
    double apart = 0.0;
    for (size_t i = 0; i < r->f->size; i++) {
        const double by = round(fabs(a[i] - b[i]) * (double)r->whole.people);
        n += by > 0.0;
        apart = fmax(apart, by);
    }
    return apart >= LEAST_APART ? n : 0;
}

/* Whether one is as good as the other in every number, or better: nobody takes such a question seriously. */
static bool is_dominated(const mel_realistic *r, const double *a, const double *b)
{
    bool above = false, below = false;
    for (size_t i = 0; i < r->f->size; i++) {
        above = above || a[i] > b[i];
        below = below || a[i] < b[i];
    }
    return !(above && below);
}

/* How much of the variance of what the classifiers at hand are worth, against each other, an answer with
 * these probabilities, one for each sample, is expected to take away: what is left of it is what the choice
 * among them may still cost. */
static double taken_away(const mel_realistic *r, const double *likely, double share)
{
    double sum = 0.0;
    if (!(share > 0.0 && share < 1.0))
        return 0.0;
    for (size_t i = 0; i < PLUG_INS; i++) {
        const double together = mel_dot(r->count, likely, r->worth + i * r->count) / (double)r->count;
        sum += together * together;
    }
    return sum / (share * (1.0 - share));
}

/* The same of the pair judged last. Where somebody may see far smaller differences than usual, it must also
 * hold for people as they usually are: those who see any difference would make the tiniest pair as good as
 * any. */
static double decides(const mel_realistic *r, mel_chooser *chooser, const mel_noise_ops *noise)
{
    double share = 0.0;
    const double *likely = mel_chooser_likely(chooser, &share);
    const double drawn = taken_away(r, likely, share);
    if (!noise->sharper)
        return drawn;
    likely = mel_chooser_likely_usually(chooser, noise, &share);
    return sqrt(drawn * taken_away(r, likely, share));
}

static void judge(option *o, mel_realistic *r, mel_chooser *chooser, const mel_sampler *sampler,
                  const mel_history *history, const mel_avoided *avoided)
{
    const double *a = r->point + o->a * r->f->size, *b = r->point + o->b * r->f->size;
    o->score = 0.0;
    o->differing = count_differing(r, a, b);
    if (o->differing == 0 || is_dominated(r, a, b) || was_asked(history, a, b))
        return;
    if (avoided != NULL && avoided->n > 0) {
        r->f->ops->row(r->f, a, b, r->feature); /* not needed any more */
        if (mel_avoided_has(avoided, r->feature))
            return;
    }
    o->outlook = mel_chooser_judge(chooser, sampler, a, b);
    const double both = r->kept[o->a] * r->kept[o->b];
    const mel_noise_ops *noise = mel_sampler_samples(sampler)->noise;
    o->score = (r->for_rule ? decides(r, chooser, noise) : o->outlook.information) * pow(both, care);
}

static void list_pairs(option pair[PAIRS])
{
    for (size_t i = 0; i < PAIRS; i++) {
        const size_t base = i / (KINDS - 1) * KINDS;
        pair[i] = (option){ .a = base, .b = base + 1 + i % (KINDS - 1) };
    }
}

/* The simplest of those that are about as good as the best. */
static const option *pick(const option pair[PAIRS])
{
    const option *best = NULL;
    double most = 0.0;
    for (size_t i = 0; i < PAIRS; i++)
        most = fmax(most, pair[i].score);
    for (size_t i = 0; i < PAIRS; i++) {
        const option *o = &pair[i];
        if (!(o->score > 0.0) || o->score < about_as_good * most)
            continue;
        if (best == NULL || o->differing < best->differing ||
            (o->differing == best->differing && o->score > best->score))
            best = o;
    }
    return best;
}

/* The best pair of one list of classifiers into *best; its information is 0 when none tells anything. */
static mel_status look_once(option *best, mel_realistic *r, mel_chooser *chooser, const mel_sampler *sampler,
                            const mel_history *history, const mel_avoided *avoided, mel_rng *rng,
                            mel_error *err)
{
    option pair[PAIRS];
    *best = (option){ .a = 0 };
    TRY(find_plug_ins(r, chooser, r->count, rng, err));
    find_kept(r, chooser, r->count);
    if (r->for_rule)
        find_worth(r, chooser);
    list_pairs(pair);
    for (size_t i = 0; i < PAIRS; i++)
        judge(&pair[i], r, chooser, sampler, history, avoided);
    const option *found = pick(pair);
    if (found != NULL)
        *best = *found;
    return MEL_OK;
}

mel_status mel_realistic_choose(double *a, double *b, mel_outlook *outlook, mel_realistic *r,
                                mel_chooser *chooser, const mel_sampler *sampler, const mel_history *history,
                                const mel_avoided *avoided, mel_rng *rng, mel_error *err)
{
    const size_t bytes = r->f->size * sizeof(double);
    option best = { .a = 0 };
    for (int i = 0; i < LOOKS && best.outlook.information < MEL_LEAST_INFORMATION; i++)
        TRY(look_once(&best, r, chooser, sampler, history, avoided, rng, err));
    *outlook = best.outlook;
    if (best.score > 0.0) {
        memcpy(a, r->point + best.a * r->f->size, bytes);
        memcpy(b, r->point + best.b * r->f->size, bytes);
    }
    return MEL_OK;
}

/* --- at random -------------------------------------------------------------------------------------- */

/* From the prior: a unit vector, turned to the right side of every plane. */
static void draw_metric(double *w, const mel_basis *f, mel_rng *rng)
{
    const size_t d = f->dimension;
    mel_rng_sphere(rng, d, w);
    for (size_t j = 0; j < f->n_cone; j++) {
        const double *plane = f->cone + j * d, above = mel_dot(d, plane, w);
        if (above < 0.0)
            mel_axpy(d, -2.0 * above / mel_dot(d, plane, plane), plane, w);
    }
}

/* Whether b keeps enough of what a, the best classifier for w, adds to the trivial ones. */
static bool keeps_enough(mel_realistic *r, const double *a, const double *b, const double *w)
{
    const size_t d = r->f->dimension;
    double value[2], plain = -INFINITY;
    for (size_t i = 0; i < 2; i++) {
        r->f->ops->row(r->f, i == 0 ? a : b, r->trivial, r->feature);
        value[i] = mel_dot(d, r->feature, w);
    }
    for (size_t j = 0; j < r->n_trivial; j++) {
        r->f->ops->row(r->f, r->trivial + j * r->f->size, r->trivial, r->feature);
        plain = fmax(plain, mel_dot(d, r->feature, w));
    }
    return value[0] > plain && value[1] >= plain + plausible_from * (value[0] - plain);
}

mel_status mel_realistic_random(double *a, double *b, mel_realistic *r, mel_rng *rng, mel_error *err)
{
    double *w = r->feature + r->f->dimension; /* the first row is work */
    for (int i = 0; i < TRIES; i++) {
        draw_metric(w, r->f, rng);
        mel_status status = plug_in(r, w, a, err);
        if (status == MEL_OK)
            status = mel_space_rows(r->space) > 0 && mel_rng_below(rng, 2) == 0
                         ? move_boundary(r, b, rng, err)
                         : change_weights(r, b, rng, err);
        if (status != MEL_OK)
            return status;
        whole_point(&r->whole, a);
        whole_change(&r->whole, b, a);
        const bool apart = count_differing(r, a, b) > 0 && !is_dominated(r, a, b);
        if (apart && (keeps_enough(r, a, b, w) || i >= TRIES / 2))
            return MEL_OK;
    }
    return mel_fail(err, MEL_EINVAL, "out of %u people no two classifiers differ by enough to be shown",
                    r->whole.people);
}

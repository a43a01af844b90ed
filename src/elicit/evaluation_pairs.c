/* Random pairs for questions that are no part of a session but put its result to the test. */
#include "elicit/active/ask/levels.h"
#include "elicit/active/ask/realistic.h"
#include "elicit/options.h"
#include "space/shared.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

enum { MOST_TRIES = 2000 };
/* Around the middle of what is feasible, where no other pairs are known. */
static const double usual_radius = 0.1;
/* Level pairs that keep at least this share of what the test can add, if there are enough. */
static const double plausible_from = 0.5;

/* n of all pairs of a test, each one once as long as there are others. */
static mel_status draw_levels(double *pairs, uint32_t *people, const mel_face *face, size_t n, mel_rng *rng,
                              mel_error *err)
{
    const double share[2] = { mel_face_positives(face), mel_face_negatives(face) };
    const uint32_t of = *people > 0 ? *people : mel_levels_people(share[0], share[1]);
    mel_levels l = { 0 };
    const mel_status status = mel_levels_real(&l, face, of, err);
    size_t plausible = 0;
    for (size_t i = 0; i < l.n && status == MEL_OK; i++)
        if (l.level[i].plausible >= plausible_from)
            l.level[plausible++] = l.level[i];
    *people = plausible > 0 ? of : 0;
    for (size_t i = 0, left = plausible; i < n && plausible > 0;
         i++, left = left > 1 ? left - 1 : plausible) {
        const size_t at = mel_rng_below(rng, left);
        const mel_level one = l.level[at];
        l.level[at] = l.level[left - 1];
        l.level[left - 1] = one;
        for (size_t side = 0; side < 2; side++) {
            pairs[4 * i + 2 * side] = (double)one.tp[side] / of;
            pairs[4 * i + 2 * side + 1] = (double)one.tn[side] / of;
        }
    }
    mel_levels_free(&l);
    return status;
}

static mel_status draw_near_best(double *pairs, uint32_t *people, const mel_domain *domain,
                                 const mel_session_options *opt, size_t n, mel_rng *rng, mel_error *err)
{
    const mel_space *frontier = domain->ball != NULL ? domain->frontier : domain->space;
    mel_basis *f = NULL;
    mel_realistic *r = NULL;
    mel_status status = mel_basis_new(&f, domain, opt, err);
    if (status == MEL_OK)
        status = mel_realistic_new(&r, f, frontier, 1, opt, err);
    for (size_t i = 0; i < n && status == MEL_OK; i++)
        status = mel_realistic_random(pairs + 2 * i * f->size, pairs + (2 * i + 1) * f->size, r, rng, err);
    *people = status == MEL_OK ? mel_realistic_people(r) : 0;
    mel_realistic_free(r);
    mel_basis_free(f);
    return status;
}

/* Such as sessions with these options ask people about; *people is 0 where none are known. */
static mel_status draw_realistic(double *pairs, uint32_t *people, const mel_domain *domain,
                                 const mel_session_options *opt, size_t n, mel_rng *rng, mel_error *err)
{
    mel_session_options asked = *opt;
    asked.strategy = MEL_STRATEGY_ACTIVE;
    asked.until = MEL_UNTIL_TOLERANCE;
    asked.questions = MEL_QUESTIONS_REALISTIC;
    *people = opt->people;
    if (mel_asks_exchange(&asked, domain))
        return draw_levels(pairs, people, domain->face, n, rng, err);
    if (mel_asks_near_best(&asked, domain))
        return draw_near_best(pairs, people, domain, &asked, n, rng, err);
    *people = 0;
    return MEL_OK;
}

/* Two of the given classifiers that differ. */
static void draw_candidates(double *a, double *b, const mel_pool *pool, mel_rng *rng)
{
    const size_t bytes = pool->size * sizeof *a;
    for (size_t tries = 0; tries == 0 || (memcmp(a, b, bytes) == 0 && tries < MOST_TRIES); tries++) {
        memcpy(a, pool->value + mel_rng_below(rng, pool->n) * pool->size, bytes);
        memcpy(b, pool->value + mel_rng_below(rng, pool->n) * pool->size, bytes);
    }
}

/* A point of the disc around the face's centre; false: it lies outside the face. */
static bool draw_in_disc(double point[2], const mel_face *face, double radius, mel_rng *rng)
{
    const mel_point centre = mel_face_centre(face);
    mel_rng_sphere(rng, 2, point);
    const double length = radius * sqrt(mel_rng_uniform(rng));
    point[0] = centre.tp + length * point[0];
    point[1] = centre.tn + length * point[1];
    return mel_face_contains(face, (mel_point){ point[0], point[1] }, 0.0);
}

/* Around the middle of what is feasible, as in the thesis. */
static mel_status draw_around_middle(double *points, const mel_domain *domain, double radius, size_t n,
                                     mel_rng *rng, mel_error *err)
{
    const size_t size = mel_layout_size(mel_domain_layout(domain));
    if (domain->space != NULL)
        return mel_fail(err, MEL_EDATA,
                        "radius: pairs of a ball can be drawn for two classes or on a ball, not for this "
                        "family");
    const double within = domain->ball != NULL ? fmin(radius, mel_ball_radius(domain->ball)) : radius;
    for (size_t i = 0; i < n; i++) {
        size_t tries = 0;
        if (domain->ball != NULL)
            mel_ball_random(points + i * size, domain->ball, within, rng);
        while (domain->face != NULL && !draw_in_disc(points + i * size, domain->face, within, rng))
            if (++tries == MOST_TRIES)
                return mel_fail(err, MEL_EDATA, "radius %g reaches beyond what classifiers can achieve here",
                                within);
    }
    return MEL_OK;
}

mel_status mel_evaluation_pairs(double *pairs, uint32_t *people, const mel_domain *domain,
                                const mel_session_options *opt, double radius, size_t n, uint64_t seed,
                                mel_error *err)
{
    const size_t size = mel_layout_size(mel_domain_layout(domain));
    mel_rng rng;
    mel_rng_seed(&rng, seed);
    *people = 0;
    for (size_t i = 0; i < n && domain->pool != NULL; i++)
        draw_candidates(pairs + 2 * i * size, pairs + (2 * i + 1) * size, domain->pool, &rng);
    if (domain->pool != NULL)
        return MEL_OK;
    if (isnan(radius)) {
        const mel_status status = draw_realistic(pairs, people, domain, opt, n, &rng, err);
        if (status != MEL_OK || *people > 0)
            return status;
    }
    return draw_around_middle(pairs, domain, isnan(radius) ? usual_radius : radius, 2 * n, &rng, err);
}

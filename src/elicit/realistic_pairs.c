/* Pairs that people can take seriously, at random: for questions that are no part of a session. */
#include "elicit/active/ask/levels.h"
#include "elicit/active/ask/realistic.h"
#include "elicit/options.h"

#include <stdlib.h>
#include <string.h>

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

mel_status mel_realistic_pairs(double *pairs, uint32_t *people, const mel_domain *domain,
                               const mel_session_options *opt, size_t n, uint64_t seed, mel_error *err)
{
    mel_rng rng;
    mel_session_options asked = *opt;
    asked.strategy = MEL_STRATEGY_ACTIVE;
    asked.active.until = MEL_UNTIL_TOLERANCE;
    asked.active.questions = MEL_QUESTIONS_REALISTIC;
    *people = opt->active.people;
    mel_rng_seed(&rng, seed);
    if (mel_asks_exchange(&asked, domain))
        return draw_levels(pairs, people, domain->face, n, &rng, err);
    if (mel_asks_near_best(&asked, domain))
        return draw_near_best(pairs, people, domain, &asked, n, &rng, err);
    *people = 0;
    return MEL_OK;
}

/* Places and unknowns of the search for a polynomial metric. */
#include "elicit/search/slopes.h"

#include "base/stat.h"
#include "elicit/families/families.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

enum { MOST_TERMS = 1200 }; /* a system of so many unknowns takes a minute */

/* --- terms -------------------------------------------------------------------------------------- */

/* Ascending tuples of this length with entries from n values: C(n + length - 1, length). */
static double count_tuples(size_t n, uint32_t length)
{
    double count = 1.0;
    for (uint32_t i = 1; i <= length; i++)
        count = count * (double)(n + i - 1) / (double)i;
    return round(count);
}

/* How many ascending tuples of the same length come before this one in the lexicographic order. */
static size_t rank_of(size_t q, uint32_t length, const size_t *tuple)
{
    double before = 0.0;
    size_t least = 0;
    for (uint32_t i = 0; i < length; i++) {
        for (size_t value = least; value < tuple[i]; value++)
            before += count_tuples(q - value, length - i - 1);
        least = tuple[i];
    }
    return (size_t)before;
}

static void sort_tuple(size_t *tuple, uint32_t length)
{
    for (uint32_t i = 1; i < length; i++)
        for (uint32_t j = i; j > 0 && tuple[j - 1] > tuple[j]; j--) {
            const size_t held = tuple[j];
            tuple[j] = tuple[j - 1];
            tuple[j - 1] = held;
        }
}

/* Which term every entry of the tensor of this order is; its own first entry and first term are given. */
static void place_entries(mel_terms *terms, uint32_t order, size_t first_entry, size_t n, size_t first_term)
{
    for (size_t e = 0; e < n; e++) {
        size_t tuple[MEL_MAX_DEGREE], rest = e;
        for (uint32_t i = 0; i < order; i++, rest /= terms->q)
            tuple[i] = rest % terms->q;
        sort_tuple(tuple, order);
        terms->term[first_entry + e] = first_term + rank_of(terms->q, order, tuple);
    }
}

mel_status mel_terms_make(mel_terms *terms, size_t q, uint32_t degree, mel_error *err)
{
    *terms = (mel_terms){ .q = q, .degree = degree };
    double n_terms = 0.0, size = 1.0, n_entries = 0.0;
    for (uint32_t order = 1; order <= degree; order++) {
        n_terms += count_tuples(q, order);
        size *= (double)q;
        n_entries += size;
    }
    if (n_terms > MOST_TERMS)
        return mel_fail(err, MEL_ELIMIT, "a polynomial of degree %u in %zu statistics has more than %d terms",
                        degree, q, MOST_TERMS);
    terms->n_terms = (size_t)n_terms;
    terms->n_entries = (size_t)n_entries;
    terms->order = mel_alloc(terms->n_terms, sizeof *terms->order);
    terms->index = mel_alloc_zero(terms->n_terms * degree, sizeof *terms->index);
    terms->weight = mel_alloc(terms->n_terms, sizeof *terms->weight);
    terms->term = mel_alloc(terms->n_entries, sizeof *terms->term);
    if (terms->order == NULL || terms->index == NULL || terms->weight == NULL || terms->term == NULL)
        return mel_fail_memory(err, "the terms of a polynomial");
    size_t first_term = 0, first_entry = 0, n = 1;
    for (uint32_t order = 1; order <= degree; order++) {
        const size_t next =
            mel_monomials_add(q, degree, order, first_term, terms->index, terms->order, terms->weight);
        n *= q;
        place_entries(terms, order, first_entry, n, first_term);
        first_entry += n;
        first_term = next;
    }
    return MEL_OK;
}

void mel_terms_clear(mel_terms *terms)
{
    free(terms->order);
    free(terms->index);
    free(terms->weight);
    free(terms->term);
}

/* --- stations ----------------------------------------------------------------------------------- */

double mel_polynomial_inner(double tolerance, double ball_radius)
{
    /* Between opposite points the third derivative turns a slope by about a sixth of the radius' square: well
     * below the tolerance. */
    return fmin(sqrt(0.1 * tolerance), 0.1 * ball_radius);
}

/* How far the farthest place is from the centre. */
static double reach(const mel_plan *plan)
{
    const double radius = mel_ball_radius(plan->ball);
    return radius - mel_polynomial_inner(plan->opt.tolerance, radius);
}

/* In the direction of one step along each of these axes, at this distance. */
static mel_status add_station(mel_plan *plan, uint32_t n_steps, const size_t *axis, bool backwards,
                              double distance, mel_error *err)
{
    const double inner = mel_polynomial_inner(plan->opt.tolerance, mel_ball_radius(plan->ball));
    mel_station *s = NULL;
    TRY(mel_plan_add(&s, plan, inner, plan->per_group, false, err));
    double squares = 0.0, run = 0.0; /* of the sum of the steps; axes ascend */
    for (uint32_t i = 0; i < n_steps; i++) {
        run += 1.0;
        if (i + 1 == n_steps || axis[i + 1] != axis[i]) {
            squares += run * run;
            run = 0.0;
        }
    }
    for (uint32_t i = 0; i < n_steps; i++)
        s->middle[axis[i]] += (backwards && axis[i] == 0 ? -distance : distance) / sqrt(squares);
    return MEL_OK;
}

mel_status mel_polynomial_add(mel_plan *plan, const mel_terms *terms, mel_error *err)
{
    const double h = reach(plan), most = (double)(terms->degree - 1);
    TRY(add_station(plan, 0, NULL, false, 0.0, err));
    for (int backwards = 0; backwards < 2; backwards++)
        for (size_t t = 0; t < terms->n_terms; t++) {
            const size_t *axis = terms->index + t * terms->degree;
            const uint32_t order = terms->order[t];
            if (order < terms->degree && (backwards == 0 || axis[0] == 0))
                TRY(add_station(plan, order, axis, backwards != 0, h * (double)order / most, err));
        }
    return MEL_OK;
}

/* --- solution ----------------------------------------------------------------------------------- */

static void gradient_at(void *context, const double *place, double *matrix)
{
    const mel_terms *terms = context;
    const size_t n = terms->n_terms;
    memset(matrix, 0, terms->q * n * sizeof *matrix);
    for (size_t t = 0; t < n; t++) {
        const uint32_t order = terms->order[t];
        const size_t *index = terms->index + t * terms->degree;
        const double scale = terms->weight[t] / mel_factorial(order);
        for (uint32_t left_out = 0; left_out < order; left_out++) {
            double product = scale;
            for (uint32_t i = 0; i < order; i++)
                product *= i == left_out ? 1.0 : place[index[i]];
            matrix[index[left_out] * n + t] += product;
        }
    }
}

mel_status mel_polynomial_solve(mel_slope_fit *fit, const mel_plan *plan, const mel_terms *terms,
                                mel_error *err)
{
    const size_t q = terms->q, n = plan->n_stations;
    const double h = reach(plan), *centre = mel_ball_centre(plan->ball);
    *fit = (mel_slope_fit){ .n_unknown = 0 };
    double *place = mel_alloc(n * q, sizeof *place);
    mel_slope_at *at = mel_alloc(n, sizeof *at);
    mel_status status = MEL_OK;
    if (place == NULL || at == NULL) {
        status = mel_fail_memory(err, "the places of a search");
    } else {
        for (size_t i = 0; i < n; i++) {
            for (size_t j = 0; j < q; j++)
                place[i * q + j] = (plan->station[i].middle[j] - centre[j]) / h;
            at[i] = (mel_slope_at){ .place = place + i * q, .station = &plan->station[i] };
        }
        const mel_slope_model model = {
            .n_coordinates = q, .n_unknown = terms->n_terms, .gradient = gradient_at, .context = (void *)terms
        };
        status = mel_slope_fit_make(fit, &model, n, at, err);
    }
    free(place);
    free(at);
    return status;
}

void mel_polynomial_spread(const mel_plan *plan, const mel_terms *terms, const double *unknown, double *entry)
{
    const double h = reach(plan);
    double scale = 1.0;
    size_t at = 0, n = 1;
    for (uint32_t order = 1; order <= terms->degree; order++, scale /= h) {
        n *= terms->q;
        for (const size_t end = at + n; at < end; at++)
            entry[at] = scale * unknown[terms->term[at]] / terms->weight[terms->term[at]];
    }
}

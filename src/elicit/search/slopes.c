/* A polynomial metric from slopes at several places, by least squares. */
#include "elicit/search/slopes.h"

#include "base/la.h"
#include "base/stat.h"
#include "elicit/families/families.h"

#include <float.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>

/* A second solution is told from rounding above this share of the largest singular value. */
static const double rounding = 1e-10;
/* What is less than this share of the whole and may be nil is taken to be nil. */
static const double small = 0.2;
enum { MOST_TERMS = 1200 }; /* a system of so many unknowns takes a minute */

/* --- terms ---------------------------------------------------------------------------------------------- */

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

/* Leaves the squares alone of the terms of degree 2. */
static void keep_diagonal(mel_terms *terms)
{
    const size_t q = terms->q;
    for (size_t i = 0; i < q; i++) {
        terms->order[q + i] = 2;
        terms->index[2 * (q + i)] = terms->index[2 * (q + i) + 1] = i;
        terms->weight[q + i] = 1.0;
    }
    terms->n_terms = 2 * q;
    for (size_t e = 0; e < q * q; e++)
        terms->term[q + e] = e / q == e % q ? q + e / q : terms->n_terms;
}

static mel_status make_terms(mel_terms *terms, size_t q, uint32_t degree, mel_error *err)
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

/* The q x n_terms matrix whose product with the unknowns is the gradient at a place, a displacement over the
 * reach. */
static void gradient_at(const mel_terms *terms, const double *place, double *matrix)
{
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

void mel_curve_spread(const mel_curve *curve, const double *unknown, double *entry)
{
    const mel_terms *terms = &curve->terms;
    double scale = 1.0;
    size_t at = 0, n = 1;
    for (uint32_t order = 1; order <= terms->degree; order++, scale /= curve->reach) {
        n *= terms->q;
        for (const size_t end = at + n; at < end; at++) {
            const size_t t = terms->term[at];
            entry[at] = t < terms->n_terms ? scale * unknown[t] / terms->weight[t] : 0.0;
        }
    }
}

/* --- stations ------------------------------------------------------------------------------------------- */

void mel_curve_clear(mel_curve *curve)
{
    free(curve->terms.order);
    free(curve->terms.index);
    free(curve->terms.weight);
    free(curve->terms.term);
}

/* Between opposite points a quadratic function differs as a linear one: without noise a smaller radius is
 * better (places are farther apart), with noise a larger one. Of others the third derivative turns a slope by
 * about a sixth of the radius' square: that is to be well below the tolerance. */
static double inner_radius(const mel_plan *plan, bool quadratic)
{
    const double usual = 0.1 * mel_ball_radius(plan->ball);
    return quadratic ? usual : fmin(sqrt(0.1 * plan->opt.tolerance), usual);
}

mel_status mel_curve_init(mel_curve *curve, const mel_plan *plan, mel_error *err)
{
    const bool quadratic = mel_family_about(plan->opt.family)->degree == 2;
    const size_t q = plan->per_group;
    *curve = (mel_curve){ .wide = quadratic, .planes = quadratic && plan->opt.diagonal_b };
    curve->inner = inner_radius(plan, quadratic);
    curve->reach = mel_ball_radius(plan->ball) - curve->inner;
    TRY(make_terms(&curve->terms, q, quadratic ? 2 : plan->opt.degree, err));
    if (curve->planes)
        keep_diagonal(&curve->terms);
    const mel_terms *terms = &curve->terms;
    curve->n_stations = 1;
    for (size_t t = 0; t < terms->n_terms; t++)
        if (terms->order[t] < terms->degree)
            curve->n_stations += terms->index[t * terms->degree] == 0 && !curve->planes ? 2 : 1;
    return MEL_OK;
}

/* Puts the groups that move in the direction of these steps along axes, at this distance from the centre. */
static void displace(const mel_plan *plan, mel_station *s, uint32_t n_steps, const size_t *axis,
                     bool backwards, double distance)
{
    const size_t q = plan->per_group;
    double squares = 0.0, run = 0.0; /* of the sum of the steps; axes ascend */
    for (uint32_t i = 0; i < n_steps; i++) {
        run += 1.0;
        if (i + 1 == n_steps || axis[i + 1] != axis[i]) {
            squares += run * run;
            run = 0.0;
        }
    }
    for (size_t g = 0; g < plan->groups; g++) {
        double *middle = s->middle + g * q;
        memcpy(middle, mel_ball_centre(plan->ball), q * sizeof *middle);
        for (uint32_t i = 0; i < n_steps && s->moves[g]; i++)
            middle[axis[i]] += (backwards && axis[i] == 0 ? -distance : distance) / sqrt(squares);
    }
}

static mel_status add_station(mel_plan *plan, const mel_curve *curve, const bool *moves, uint32_t n_steps,
                              const size_t *axis, bool backwards, mel_error *err)
{
    /* Opposite points may be as far apart as the ball allows. */
    const double radius = n_steps == 0 && curve->wide ? mel_ball_radius(plan->ball) : curve->inner;
    const bool plane = n_steps > 0 && curve->planes;
    mel_station *s = NULL;
    TRY(mel_plan_add(&s, plan, radius, plane ? 2 : plan->per_group, plane, err));
    for (size_t g = 0; g < plan->groups && moves != NULL; g++)
        s->moves[g] = moves[g];
    const double farthest = (double)(curve->terms.degree - 1);
    displace(plan, s, n_steps, axis, backwards, curve->reach * (double)n_steps / farthest);
    return MEL_OK;
}

mel_status mel_curve_add(mel_plan *plan, const mel_curve *curve, const bool *moves, mel_error *err)
{
    const mel_terms *terms = &curve->terms;
    TRY(add_station(plan, curve, moves, 0, NULL, false, err));
    for (int backwards = 0; backwards < (curve->planes ? 1 : 2); backwards++)
        for (size_t t = 0; t < terms->n_terms; t++) {
            const size_t *axis = terms->index + t * terms->degree;
            if (terms->order[t] < terms->degree && (backwards == 0 || axis[0] == 0))
                TRY(add_station(plan, curve, moves, terms->order[t], axis, backwards != 0, err));
        }
    return MEL_OK;
}

/* Whether a station's slope is distinguishable from axis j. */
static bool has_rest(const mel_plan *plan, const mel_station *s, size_t j)
{
    double squares = 0.0;
    for (size_t i = 0; i < plan->per_group; i++)
        squares += i != j ? s->slope[i] * s->slope[i] : 0.0;
    return sqrt(squares) > 2.0 * plan->opt.tolerance;
}

/* Whether the place for axis j is on it: the rest of d shows beside e_j, and showed at the first place off
 * the centre (where it does not, the slope found at the centre may be none). */
static bool on_axis(const mel_plan *plan, size_t first, size_t j)
{
    const mel_station *centre = &plan->station[first];
    const bool shown = j == 0 || !has_rest(plan, centre, 0) || has_rest(plan, centre + 1, 0);
    return shown && has_rest(plan, centre, j);
}

/* The gradient at o + h e_j is d + h B_jj e_j: it lies in the plane of e_j and the rest of d, and one angle
 * tells it. Where d has no rest the place is between two axes instead, and the plane that of these two. */
void mel_curve_prepare(mel_plan *plan, const mel_curve *curve, size_t first, size_t at)
{
    if (!curve->planes || at == first)
        return;
    const size_t q = plan->per_group, j = at - first - 1, other = (j + 1) % q;
    const mel_station *centre = &plan->station[first];
    mel_station *s = &plan->station[at];
    double *axis = s->basis, *rest = s->basis + q;
    const bool usual = on_axis(plan, first, j);
    memset(axis, 0, 2 * q * sizeof *axis);
    axis[j] = 1.0;
    rest[other] = 1.0;
    if (usual) {
        memcpy(rest, centre->slope, q * sizeof *rest);
        rest[j] = 0.0;
        mel_scale(q, 1.0 / mel_norm2(q, rest), rest);
    }
    displace(plan, s, usual ? 1 : 2, (const size_t[]){ j, other }, false, curve->reach);
}

/* --- equations ------------------------------------------------------------------------------------------ */

/* Three standard deviations of a sum of errors that are spread evenly: a third of the square of each end is
 * its variance. */
static double likely(double squares)
{
    return sqrt(3.0 * squares);
}

typedef struct {
    const mel_plan *plan;
    const mel_terms *terms;
    const mel_station *station;
    size_t n; /* stations */
    double reach;
    size_t n_rows;       /* at least as many as unknowns: nil rows at the end say nothing */
    double *matrix;      /* n_rows x unknowns; the decomposition overwrites it */
    double *gradient;    /* q x unknowns, at one place */
    double *place;       /* q */
    double *along;       /* unknowns: the gradient's part along the slope */
    double *towards;     /* unknowns: the sum of these */
    double *values, *vt; /* singular values, descending, and vectors */
    double *rows,
        *at_right;   /* of one place: its equations, and what its changes do to their right-hand side */
    double *product; /* changes of one place x unknowns */
} equations;

static void equations_clear(equations *e)
{
    free(e->matrix); /* and all that was made with it */
}

/* In the directions that were searched, what is left of the gradient across the slope. */
static void write_rows(const equations *e, const mel_station *station, double *rows)
{
    const size_t q = e->terms->q, d = e->terms->n_terms;
    size_t mover = 0; /* a group that moves; those that do not stay at the centre */
    while (mover + 1 < e->plan->groups && !station->moves[mover])
        mover++;
    for (size_t j = 0; j < q; j++)
        e->place[j] = (station->middle[mover * q + j] - mel_ball_centre(e->plan->ball)[j]) / e->reach;
    gradient_at(e->terms, e->place, e->gradient);
    mel_gemv_t(q, d, 1.0, e->gradient, d, station->slope, 0.0, e->along);
    for (size_t i = 0; i < station->n; i++) {
        double *row = rows + i * d;
        const double *axis = station->basis != NULL ? station->basis + i * q : NULL;
        if (axis != NULL)
            mel_gemv_t(q, d, 1.0, e->gradient, d, axis, 0.0, row);
        else
            memcpy(row, e->gradient + i * d, d * sizeof *row);
        const double part = axis != NULL ? mel_dot(q, axis, station->slope) : station->slope[i];
        mel_axpy(d, -part, e->along, row);
    }
}

static mel_status make_equations(equations *e, mel_error *err)
{
    const size_t q = e->terms->q, d = e->terms->n_terms;
    size_t n_rows = 0;
    for (size_t i = 0; i < e->n; i++)
        n_rows += e->station[i].n;
    e->n_rows = n_rows > d ? n_rows : d;
    const mel_part parts[] = { { e->n_rows * d, { &e->matrix } },
                               { q * d, { &e->gradient, &e->rows, &e->product } },
                               { q, { &e->place } },
                               { d, { &e->along, &e->towards, &e->values } },
                               { d * d, { &e->vt } },
                               { q * q, { &e->at_right } } };
    if (!mel_parts_new(MEL_PARTS(parts)))
        return mel_fail_memory(err, "the equations of a search");
    double *row = e->matrix;
    for (size_t i = 0; i < e->n; i++) {
        write_rows(e, &e->station[i], row);
        row += e->station[i].n * d;
        if (!e->station[i].flat)
            mel_axpy(d, 1.0, e->along, e->towards);
    }
    return MEL_OK;
}

/* --- solution ------------------------------------------------------------------------------------------- */

/* How long the gradient is along the slope of a place; writes the place's equations into rows. */
static double length_at(const equations *e, const mel_station *station, const double *value)
{
    write_rows(e, station, e->rows);
    return mel_dot(e->terms->n_terms, e->along, value);
}

/* What the equations of a place leave of a true value of length 1, about: three standard deviations of the
 * angles of its slope, whose errors are spread evenly over their last intervals. */
static double noise_of(const equations *e)
{
    double squares = 0.0, count = 0.0;
    for (size_t i = 0; i < e->n; i++)
        if (!e->station[i].flat) {
            squares += pow(mel_norm2((e->station[i].n - 1) * e->terms->q, e->station[i].change), 2.0);
            count += 1.0;
        }
    return likely(squares / count);
}

/* The least residual among values whose gradients along all slopes sum to 1: unlike the least among values of
 * length 1, it is not found where most gradients nearly vanish, which fits any slopes. With M = U S V' it is
 * proportional to V S^-2 V' towards. Directions with singular values within the noise all fit alike; of these
 * values the shortest is taken, which bends least. A function of a linear one, such as B = c d d', has the
 * same slopes everywhere whatever c is, and a c that is far too large has its best point inside the ball. */
static void solve_towards(const equations *e, double *value)
{
    const size_t d = e->terms->n_terms;
    const double noise = noise_of(e);
    const double least = e->values[d - 1], floor = pow(DBL_EPSILON * e->values[0], 2.0) + DBL_MIN;
    for (size_t k = 0; k < d; k++) {
        const double *v = e->vt + k * d;
        const double share =
            e->values[k] <= noise ? 1.0 : (least * least + floor) / (e->values[k] * e->values[k] + floor);
        mel_axpy(d, share * mel_dot(d, v, e->towards), v, value);
    }
    const double length = mel_norm2(d, value);
    if (length > 0.0)
        mel_scale(d, 1.0 / length, value);
}

/* Whether no gradient points against its slope by more than it may be off by: where a gradient is nil,
 * answers may show a slope that is none, and the length along it is as likely below zero as above. */
static bool goes_along(const equations *e, const mel_curve_found *found)
{
    const size_t d = e->terms->n_terms;
    double most = 0.0;
    for (size_t i = 0; i < e->n; i++)
        if (!e->station[i].flat)
            most = fmax(most, length_at(e, &e->station[i], found->unknown));
    for (size_t i = 0; i < e->n; i++) {
        const double against = e->station[i].flat ? 0.0 : -length_at(e, &e->station[i], found->unknown);
        if (against <= 1e-9 * most)
            continue;
        double squares = 0.0;
        for (size_t k = 0; k < found->n_changes; k++)
            squares += pow(mel_dot(d, e->along, found->change + k * d), 2.0);
        if (against > likely(squares))
            return false;
    }
    return true;
}

/* When the slope turns by `change`, the right-hand side of the place's equations does by the gradient's
 * length times that, and the solution by the pseudo-inverse times it: V S^-2 V' rows' right. */
static void add_changes(const equations *e, const mel_station *station, const double *value, double *out)
{
    const size_t q = e->terms->q, d = e->terms->n_terms, turns = station->n - 1;
    const double length = length_at(e, station, value);
    for (size_t i = 0; i < turns; i++)
        for (size_t j = 0; j < station->n; j++) {
            const double *turn = station->change + i * q;
            const double part = station->basis != NULL ? mel_dot(q, station->basis + j * q, turn) : turn[j];
            e->at_right[i * station->n + j] = length * part;
        }
    mel_gemm(false, false, turns, d, station->n, 1.0, e->at_right, station->n, e->rows, d, 0.0, out, d);
    mel_gemm(false, true, turns, d, d, 1.0, out, d, e->vt, d, 0.0, e->product, d);
    for (size_t i = 0; i < turns; i++)
        for (size_t k = 0; k < d; k++)
            e->product[i * d + k] *= k + 1 < d ? 1.0 / (e->values[k] * e->values[k]) : 0.0;
    mel_gemm(false, false, turns, d, d, 1.0, e->product, d, e->vt, d, 0.0, out, d);
}

static mel_status find_changes(mel_curve_found *found, const equations *e, mel_error *err)
{
    const size_t d = e->terms->n_terms;
    size_t count = 0;
    for (size_t i = 0; i < e->n; i++)
        count += e->station[i].flat ? 0 : e->station[i].n - 1;
    found->change = mel_alloc(count * d, sizeof *found->change);
    if (found->change == NULL)
        return mel_fail_memory(err, "the equations of a search");
    for (size_t i = 0; i < e->n; i++)
        if (!e->station[i].flat) {
            add_changes(e, &e->station[i], found->unknown, found->change + found->n_changes * d);
            found->n_changes += e->station[i].n - 1;
        }
    return MEL_OK;
}

/* Sets the spread; whether the first q unknowns may be nil. */
static bool hides_gradient(mel_curve_found *found, size_t q, size_t d)
{
    double all = 0.0, whole = 0.0;
    bool hidden = true;
    for (size_t j = 0; j < d; j++) {
        double squares = 0.0;
        for (size_t i = 0; i < found->n_changes; i++)
            squares += found->change[i * d + j] * found->change[i * d + j];
        hidden = hidden && (j >= q || fabs(found->unknown[j]) <= likely(squares));
        all += j < q ? squares : 0.0;
        whole += squares;
    }
    found->spread = likely(whole);
    return hidden && likely(all) <= small;
}

/* All stations reached, and some have slopes. */
static mel_status solve_equations(mel_curve_found *found, equations *e, mel_error *err)
{
    const size_t d = e->terms->n_terms;
    TRY(make_equations(e, err));
    TRY(mel_svd(e->n_rows, d, e->matrix, d, e->values, e->vt, err));
    solve_towards(e, found->unknown);
    if (!(e->values[d - 2] > rounding * e->values[0]))
        return MEL_OK;
    TRY(find_changes(found, e, err));
    found->known = goes_along(e, found);
    if (found->known)
        found->flat_centre = hides_gradient(found, e->terms->q, d) || found->flat_centre;
    else
        found->n_changes = 0;
    return MEL_OK;
}

void mel_curve_found_clear(mel_curve_found *found)
{
    free(found->value); /* and the unknowns */
    free(found->change);
    *found = (mel_curve_found){ .known = false };
}

mel_status mel_curve_solve(mel_curve_found *found, const mel_plan *plan, const mel_curve *curve, size_t first,
                           mel_error *err)
{
    const mel_station *station = plan->station + first;
    const size_t q = plan->per_group, n = curve->n_stations;
    size_t reached = 0, flat = 0;
    for (size_t i = 0; i < n; i++) {
        reached += station[i].reached ? 1 : 0;
        flat += station[i].reached && station[i].flat ? 1 : 0;
    }
    *found = (mel_curve_found){ .flat = flat == n, .flat_centre = station->reached && station->flat };
    const mel_part parts[] = { { curve->terms.n_entries, { &found->value } },
                               { curve->terms.n_terms, { &found->unknown } } };
    if (!mel_parts_new(MEL_PARTS(parts)))
        return mel_fail_memory(err, "a polynomial");
    if (reached < n && station->reached)
        memcpy(found->value, station->slope, q * sizeof *found->value);
    if (reached < n || flat == n)
        return MEL_OK;
    MEL_AUTO_CLEAR(equations)
    e = { .plan = plan, .terms = &curve->terms, .station = station, .n = n, .reach = curve->reach };
    TRY(solve_equations(found, &e, err));
    mel_curve_spread(curve, found->unknown, found->value);
    return MEL_OK;
}

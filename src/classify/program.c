/* Programs: their terms and values, and multipliers by descent: L-BFGS on the bound that they prove. */
#include "classify/goal.h"

#include "base/la.h"

#include <math.h>
#include <nlopt.h>
#include <stdlib.h>
#include <string.h>

mel_status mel_program_init(mel_program *out, size_t size, mel_error *err)
{
    *out = (mel_program){ .size = size };
    out->c = mel_alloc_zero(size, sizeof *out->c);
    return out->c != NULL ? MEL_OK : mel_fail_memory(err, "a program");
}

void mel_program_clear(mel_program *program)
{
    free(program->c);
    free(program->term);
    free(program->at);
    free(program->a);
    *program = (mel_program){ 0 };
}

mel_status mel_program_add(mel_program *program, mel_term term, mel_error *err)
{
    if (program->n_terms == program->term_room) {
        const size_t room = 2 * program->term_room + 16;
        if (!mel_grow((void **)&program->term, room, sizeof *program->term))
            return mel_fail_memory(err, "a program");
        program->term_room = room;
    }
    term.first = program->n_entries;
    term.n = 0;
    program->term[program->n_terms++] = term;
    return MEL_OK;
}

mel_status mel_program_entry(mel_program *program, size_t at, double a, mel_error *err)
{
    if (program->n_entries == program->entry_room) {
        const size_t room = 2 * program->entry_room + 64;
        if (!mel_grow((void **)&program->at, room, sizeof *program->at) ||
            !mel_grow((void **)&program->a, room, sizeof *program->a))
            return mel_fail_memory(err, "a program");
        program->entry_room = room;
    }
    program->at[program->n_entries] = at;
    program->a[program->n_entries++] = a;
    program->term[program->n_terms - 1].n++;
    return MEL_OK;
}

double mel_program_term(const mel_program *program, const mel_term *term, const double *x)
{
    double sum = 0.0;
    for (size_t e = term->first; e < term->first + term->n; e++)
        sum += program->a[e] * x[program->at[e]];
    return sum;
}

double mel_program_value(const mel_program *p, const double *x)
{
    double value = mel_dot(p->size, p->c, x) + p->constant, smallest = INFINITY;
    for (size_t t = 0; t < p->n_terms; t++) {
        const double at = mel_program_term(p, &p->term[t], x);
        if (p->term[t].kind == MEL_TERM_ABSOLUTE)
            value -= p->term[t].weight * fabs(at - p->term[t].f);
        else if (p->term[t].kind == MEL_TERM_SMALLEST)
            smallest = fmin(smallest, at + p->term[t].f);
    }
    return isfinite(smallest) ? value + p->smallest_weight * smallest : value;
}

bool mel_program_has_limits(const mel_program *program)
{
    for (size_t t = 0; t < program->n_terms; t++)
        if (program->term[t].kind == MEL_TERM_LIMIT)
            return true;
    return false;
}

void mel_program_gains(double *gain, const mel_program *program, const double *c, const double *price)
{
    memcpy(gain, c, program->size * sizeof *gain);
    for (size_t t = 0; t < program->n_terms; t++) {
        const mel_term *term = &program->term[t];
        /* A smallest term stands in its equation with the other sign. */
        const double by = term->kind == MEL_TERM_SMALLEST ? price[t] : -price[t];
        for (size_t e = term->first; e < term->first + term->n && by != 0.0; e++)
            gain[program->at[e]] += by * program->a[e];
    }
}

/* --- multipliers by descent -------------------------------------------------------------------------- */

enum { MEMORY = 20 };

typedef struct {
    const mel_program *program;
    const double *c;
    mel_vertices *vertices;
    unsigned taken, most;
    double *price, *best, *gain, *x;
    double bound;
    mel_status status;
    mel_error *err;
    nlopt_opt opt;
} descent;

/* Prices of what the method varies: those of the smallest terms are shares of their weight. */
static void read_prices(double *price, const mel_program *p, const double *variable)
{
    double top = -INFINITY, sum = 0.0;
    for (size_t t = 0; t < p->n_terms; t++)
        if (p->term[t].kind == MEL_TERM_SMALLEST)
            top = fmax(top, variable[t]);
    for (size_t t = 0; t < p->n_terms; t++) {
        price[t] = p->term[t].kind == MEL_TERM_SMALLEST ? exp(variable[t] - top) : variable[t];
        sum += p->term[t].kind == MEL_TERM_SMALLEST ? price[t] : 0.0;
    }
    for (size_t t = 0; t < p->n_terms; t++)
        if (p->term[t].kind == MEL_TERM_SMALLEST)
            price[t] *= p->smallest_weight / sum;
}

/* d bound / d price, then by what the method varies. */
static void put_slope_of_bound(double *slope, const descent *d)
{
    const mel_program *p = d->program;
    double mean = 0.0;
    for (size_t t = 0; t < p->n_terms; t++) {
        const double at = mel_program_term(p, &p->term[t], d->x);
        const bool smallest = p->term[t].kind == MEL_TERM_SMALLEST;
        slope[t] = p->term[t].f - (smallest ? -at : at);
        mean += smallest ? d->price[t] / p->smallest_weight * slope[t] : 0.0;
    }
    for (size_t t = 0; t < p->n_terms; t++)
        if (p->term[t].kind == MEL_TERM_SMALLEST)
            slope[t] = d->price[t] * (slope[t] - mean);
}

static double evaluate(unsigned n, const double *variable, double *slope, void *data)
{
    descent *d = data;
    const mel_vertices *vertices = d->vertices;
    const size_t size = mel_steps_block_size(vertices->steps);
    double value = 0.0;
    read_prices(d->price, d->program, variable);
    mel_program_gains(d->gain, d->program, d->c, d->price);
    if (d->status == MEL_OK)
        d->status = mel_vertices_step(&value, NULL, d->vertices, d->gain, d->err);
    if (d->status != MEL_OK || ++d->taken >= d->most)
        (void)nlopt_force_stop(d->opt);
    if (d->status != MEL_OK) {
        memset(slope, 0, n * sizeof *slope);
        return 0.0;
    }
    for (size_t b = 0; b < vertices->steps->n_blocks; b++)
        memcpy(d->x + b * size, mel_vertices_shares(vertices, vertices->newest[b]), size * sizeof *d->x);
    for (size_t t = 0; t < n; t++)
        value += d->price[t] * d->program->term[t].f;
    if (value < d->bound) {
        d->bound = value;
        memcpy(d->best, d->price, n * sizeof *d->best);
    }
    if (slope != NULL)
        put_slope_of_bound(slope, d);
    return value;
}

static mel_status descend_dual(descent *d, double *variable, double *low, double *high)
{
    const mel_program *p = d->program;
    for (size_t t = 0; t < p->n_terms; t++) {
        const mel_term_kind kind = p->term[t].kind;
        variable[t] = 0.0;
        low[t] = kind == MEL_TERM_ABSOLUTE ? -p->term[t].weight : kind == MEL_TERM_LIMIT ? 0.0 : -HUGE_VAL;
        high[t] = kind == MEL_TERM_ABSOLUTE ? p->term[t].weight : HUGE_VAL;
    }
    d->opt = nlopt_create(NLOPT_LD_LBFGS, (unsigned)p->n_terms);
    if (d->opt == NULL)
        return mel_fail_memory(d->err, "multipliers");
    double value = 0.0;
    nlopt_result result = nlopt_set_min_objective(d->opt, evaluate, d);
    if (result == NLOPT_SUCCESS)
        result = nlopt_set_vector_storage(d->opt, MEMORY);
    if (result == NLOPT_SUCCESS)
        result = nlopt_set_lower_bounds(d->opt, low);
    if (result == NLOPT_SUCCESS)
        result = nlopt_set_upper_bounds(d->opt, high);
    if (result == NLOPT_SUCCESS)
        result = nlopt_optimize(d->opt, variable, &value);
    nlopt_destroy(d->opt);
    /* However it ended, what it found is among the vertices. */
    return result == NLOPT_OUT_OF_MEMORY ? mel_fail_memory(d->err, "multipliers") : d->status;
}

mel_status mel_dual_descend(double *price, double *bound, const mel_program *program, const double *c,
                            mel_vertices *vertices, unsigned most, mel_error *err)
{
    const size_t n = program->n_terms;
    descent d = { .program = program,
                  .c = c,
                  .vertices = vertices,
                  .most = most,
                  .best = price,
                  .bound = INFINITY,
                  .err = err };
    double *variable = NULL, *low = NULL, *high = NULL;
    const mel_part parts[] = { { n + 1, { &variable, &low, &high, &d.price } },
                               { program->size, { &d.gain, &d.x } } };
    mel_status status = mel_parts_new(MEL_PARTS(parts)) ? MEL_OK : mel_fail_memory(err, "multipliers");
    if (status == MEL_OK)
        status = descend_dual(&d, variable, low, high);
    free(variable);
    *bound = d.bound;
    return status;
}

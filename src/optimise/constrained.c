/* Probing classifiers for functions that overlap and for the whole matrix: the constraint problem of appendix
 * E.7 by the solver of the classify room.
 *
 * Entries x[l][i][j] of a classifier are sums of phi_l over the training rows of class i that it predicts as
 * j, as shares of all rows. The probe for an entry maximises the entry less the largest of all others, each
 * divided by the sum of phi_l over its class: the problem "at least gamma, all others at most omega" with
 * gamma - omega as large as can be. Linear steps are passes over the packed rows; the solution is a mixture
 * of the rules that they find. */
#include "classify/goal.h"
#include "optimise/optimise.h"

#include <stdlib.h>
#include <string.h>

static const double near_enough = 1e-3; /* of gamma - omega */
enum { MOST_STEPS = 40 };

/* --- linear steps over packed rows -------------------------------------------------------------- */

typedef struct {
    mel_packed *packed; /* of the whole matrix, one direction */
    double n_rows;
    double *moment; /* k x k x n_basis */
    mel_status status;
    mel_error *err;
} passes;

static void free_passes(void *self)
{
    passes *p = self;
    mel_packed_free(p->packed);
    free(p->moment);
    free(p);
}

static void measure(double *shares, mel_steps *steps, size_t block, const double *rule)
{
    passes *p = steps->self;
    const size_t k = steps->n_classes, n_basis = steps->n_groups;
    (void)block;
    if (p->status == MEL_OK)
        p->status = mel_packed_sums(p->moment, p->packed, rule, p->err);
    for (size_t l = 0; l < n_basis; l++)
        for (size_t c = 0; c < k * k; c++)
            shares[l * k * k + c] = p->status == MEL_OK ? p->moment[c * n_basis + l] / p->n_rows : 0.0;
}

static void step(double *shares, double *rule, mel_steps *steps, size_t block, const double *gain)
{
    memcpy(rule, gain, mel_steps_rule_size(steps) * sizeof *rule);
    measure(shares, steps, block, rule);
}

static const mel_steps_ops ops = { free_passes, step, measure };

/* Masses are the sums of phi_l over the rows of a class. */
static mel_status weigh(mel_steps *steps, mel_error *err)
{
    passes *p = steps->self;
    const size_t k = steps->n_classes, n_basis = steps->n_groups;
    TRY(mel_packed_totals(p->moment, p->packed, err));
    for (size_t l = 0; l < n_basis; l++)
        for (size_t i = 0; i < k; i++)
            steps->mass[l * k + i] = p->moment[i * n_basis + l] / p->n_rows;
    return MEL_OK;
}

static mel_status steps_new(mel_steps **out, const mel_weighting *w, const mel_weight_rows *train,
                            mel_error *err)
{
    const size_t k = w->size.k, n_basis = w->size.n_basis;
    mel_weight_size size = w->size;
    size.whole = true;
    size.n_directions = 1;
    const mel_steps shape = { .n_groups = n_basis,
                              .n_classes = k,
                              .n_decisions = k,
                              .n_blocks = 1,
                              .n_evidence = n_basis * k,
                              .progress = w->opt.progress };
    passes *p = mel_alloc_zero(1, sizeof *p);
    *out = NULL;
    if (p == NULL)
        return mel_fail_memory(err, "probes");
    *p = (passes){ .n_rows = (double)train->n_rows, .err = err };
    p->moment = mel_alloc(k * k * n_basis, sizeof *p->moment);
    const mel_status status =
        p->moment != NULL ? mel_packed_new(&p->packed, &size, train, err) : mel_fail_memory(err, "probes");
    if (status != MEL_OK) {
        free_passes(p);
        return status;
    }
    TRY(mel_steps_new(out, &ops, p, &shape, err));
    return weigh(*out, err);
}

/* --- one probe ---------------------------------------------------------------------------------- */

/* Place of an entry in x, and what it is multiplied by: one over the sum of its function over its class. */
typedef struct {
    size_t at;
    double by;
} entry;

/* Entry number q of those that have weights. */
static entry entry_of(const mel_weighting *w, const mel_steps *steps, size_t q)
{
    const size_t k = w->size.k, l = q / w->n_cells, cell = w->cell[q % w->n_cells];
    const size_t of = w->size.whole ? cell : cell * k + cell;
    const double mass = steps->mass[l * k + of / k];
    return (entry){ l * k * k + of, mass > 0.0 ? 1.0 / mass : 0.0 };
}

static mel_status make_program(mel_program *program, const mel_weighting *w, const mel_steps *steps,
                               size_t wanted, mel_error *err)
{
    TRY(mel_program_init(program, mel_steps_size(steps), err));
    program->smallest_weight = 1.0;
    for (size_t q = 0; q < w->probes.n; q++) {
        const entry e = entry_of(w, steps, q);
        if (q == wanted) {
            program->c[e.at] = e.by;
            continue;
        }
        TRY(mel_program_add(program, (mel_term){ .kind = MEL_TERM_SMALLEST, .level = MEL_NO_LEVEL }, err));
        TRY(mel_program_entry(program, e.at, -e.by, err));
    }
    return MEL_OK;
}

/* The mixture's sums over training rows and what it does on the validation rows. */
static mel_status take_probe(mel_weighting *w, size_t number, const mel_vertices *vertices,
                             const double *weight, mel_error *err)
{
    const passes *p = vertices->steps->self;
    const size_t k = w->size.k, n_basis = w->size.n_basis, cells = mel_weight_cells(&w->size);
    double *train = w->probes.train + number * cells * n_basis;
    for (size_t v = 0; v < vertices->n; v++) {
        const double *shares = mel_vertices_shares(vertices, v);
        if (!(weight[v] > 0.0))
            continue;
        for (size_t c = 0; c < cells; c++)
            for (size_t l = 0; l < n_basis; l++)
                train[c * n_basis + l] +=
                    weight[v] * p->n_rows * shares[l * k * k + (w->size.whole ? c : c * k + c)];
        TRY(mel_probes_decide(w, number, mel_vertices_rule(vertices, v), weight[v], err));
    }
    return MEL_OK;
}

static mel_status make_probe(mel_weighting *w, size_t number, mel_vertices *vertices, mel_error *err)
{
    const passes *p = vertices->steps->self;
    const mel_columns_options opt = { .tolerance = near_enough, .most_steps = MOST_STEPS, .costly = true };
    MEL_AUTO_CLEAR(mel_program) program = { 0 };
    MEL_AUTO(mel_columns) *columns = NULL;
    TRY(make_program(&program, w, vertices->steps, number, err));
    TRY(mel_columns_new(&columns, &program, vertices, err));
    TRY(mel_columns_solve(columns, NULL, &opt, err));
    TRY(p->status);
    return take_probe(w, number, vertices, mel_columns_weights(columns), err);
}

mel_status mel_probes_constrained(mel_weighting *w, const mel_weight_rows *train, mel_error *err)
{
    MEL_AUTO(mel_steps) *steps = NULL;
    MEL_AUTO_CLEAR(mel_vertices) vertices = { 0 };
    TRY(steps_new(&steps, w, train, err));
    TRY(mel_vertices_init(&vertices, steps, err));
    for (size_t q = 0; q < w->probes.n; q++)
        TRY(make_probe(w, q, &vertices, err));
    return MEL_OK;
}

/* Linear steps by a pass over rows, here or where an engine has them: any weights, any number of decisions,
 * groups seen or not. */
#include "classify/steps.h"

#include "base/la.h"
#include "base/stat.h"
#include "base/team.h"
#include "space/space.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

enum { MOST_SLICES = 64, SLICE_ROWS = 2048 };

typedef struct {
    mel_step_rows rows; /* lent arrays */
    uint32_t *order;    /* rows by block; NULL: one block */
    size_t n_blocks;
    size_t *start; /* n_blocks + 1: where the rows of each begin in `order` */
    double *fold;  /* P(G=g | Y=i), as masses are, where rules do not see groups */
    double total;  /* of all weights */
    double *sum;   /* slices x numbers of a block, decisions before classes */
    double *ask;   /* what an engine is asked, by rows elsewhere */
    /* Where rules see the classes alone and decide between them, rows are predicted in blocks; NULL: else. */
    double *scratch; /* by thread */
    uint32_t *said;  /* by thread */
} pass;

static void free_pass(void *self)
{
    pass *p = self;
    free(p->start);
    free(p->order);
    free(p->fold);
    free(p->sum);
    free(p->scratch);
    free(p->said);
    free(p->ask);
    free(p);
}

/* The first largest of the sums over the evidence. */
static size_t decide(size_t n, size_t d, const double *evidence, const double *rule)
{
    double most = -INFINITY;
    size_t best = 0;
    for (size_t j = 0; j < d; j++) {
        double score = 0.0;
        for (size_t e = 0; e < n; e++)
            score += evidence[e] * rule[e * d + j];
        best = score > most ? j : best;
        most = score > most ? score : most;
    }
    return best;
}

/* Adds a row to what decision j achieves. */
static void add_decided_row(double *sum, const mel_step_rows *rows, size_t r, size_t d, size_t j)
{
    const size_t k = rows->n_classes;
    const double weight = rows->weight != NULL ? rows->weight[r] : 1.0;
    double *of = sum + (rows->one_block && rows->n_groups > 1 ? rows->group[r] * k * d : 0);
    if (rows->evidence == MEL_BY_LABELS) {
        of[j * k + rows->label[r]] += weight;
        return;
    }
    for (size_t i = 0; i < k; i++)
        of[j * k + i] += weight * rows->probability[r * k + i];
}

/* Rows from..to of the pass, block by block. */
static void add_blocks(double *sum, const pass *p, size_t k, size_t from, size_t to, const double *rule,
                       size_t thread)
{
    const size_t rows = mel_block_rows(k);
    uint32_t *said = p->said + thread * rows;
    const bool diagonal = mel_gain_diagonal(k, rule);
    for (size_t first = from; first < to; first += rows) {
        const size_t n = to - first < rows ? to - first : rows;
        mel_predict_block(said, n, k, p->rows.probability + (p->order != NULL ? 0 : first * k),
                          p->order != NULL ? p->order + first : NULL, rule, diagonal,
                          p->scratch + thread * mel_block_scratch(k));
        for (size_t i = 0; i < n; i++)
            add_decided_row(sum, &p->rows, p->order != NULL ? p->order[first + i] : first + i, k, said[i]);
    }
}

/* A rule on the rows of a block. */
typedef struct {
    const mel_steps *steps;
    const double *rule;
    size_t first, n_rows, n_slices; /* of the block */
} measuring;

static void add_slice(double *sum, size_t place, size_t thread, void *user)
{
    const measuring *m = user;
    const mel_steps *steps = m->steps;
    const double *rule = m->rule;
    const size_t from = m->first + m->n_rows * place / m->n_slices,
                 to = m->first + m->n_rows * (place + 1) / m->n_slices;
    const pass *p = steps->self;
    const size_t d = steps->n_decisions, n = steps->n_evidence;
    memset(sum, 0, mel_steps_block_size(steps) * sizeof *sum);
    if (p->scratch != NULL) {
        add_blocks(sum, p, steps->n_classes, from, to, rule, thread);
        return;
    }
    for (size_t at = from; at < to; at++) {
        const size_t r = p->order != NULL ? p->order[at] : at;
        add_decided_row(sum, &p->rows, r, d, decide(n, d, p->rows.probability + r * n, rule));
    }
}

static size_t count_slices(size_t n_rows)
{
    return n_rows / SLICE_ROWS + 1 < MOST_SLICES ? n_rows / SLICE_ROWS + 1 : MOST_SLICES;
}

/* Sums of slices, of which there are *n. */
static void sum_rows(size_t *n, const mel_steps *steps, size_t block, const double *rule)
{
    const pass *p = steps->self;
    const size_t size = mel_steps_block_size(steps), first = p->start[block],
                 n_rows = p->start[block + 1] - first, n_slices = count_slices(n_rows);
    *n = n_slices;
    mel_slices_fill(&(mel_slices){ .n_slices = n_slices,
                                   .rows = n_rows,
                                   .size = size,
                                   .stride = size,
                                   .sum = p->sum,
                                   .threads = p->rows.threads,
                                   .fill = add_slice,
                                   .user = &(measuring){ steps, rule, first, n_rows, n_slices } });
}

void mel_steps_pass(double *out, const mel_steps *steps, size_t block, const double *rule)
{
    const pass *p = steps->self;
    const size_t size = mel_steps_block_size(steps);
    size_t n_slices = 0;
    sum_rows(&n_slices, steps, block, rule);
    memset(out, 0, size * sizeof *out);
    for (size_t c = 0; c < n_slices * size; c++)
        out[c % size] += p->sum[c];
}

/* The sums of rows elsewhere. */
static void ask_engine(mel_steps *steps, size_t block, const double *rule)
{
    const pass *p = steps->self;
    const mel_row_engine *engine = p->rows.engine;
    const size_t size = mel_steps_block_size(steps), gains = mel_steps_rule_size(steps);
    const mel_pass ask = { MEL_PASS_DECISIONS, MEL_DECIDE_HEAD + gains, size, p->ask };
    p->ask[MEL_DECIDE_CLASSES] = (double)steps->n_classes;
    p->ask[MEL_DECIDE_DECISIONS] = (double)steps->n_decisions;
    p->ask[MEL_DECIDE_GROUPS] = (double)steps->n_groups;
    p->ask[MEL_DECIDE_EVIDENCE] = (double)p->rows.evidence;
    p->ask[MEL_DECIDE_ONE_BLOCK] = p->rows.one_block ? 1.0 : 0.0;
    p->ask[MEL_DECIDE_BLOCK] = (double)block;
    memcpy(p->ask + MEL_DECIDE_HEAD, rule, gains * sizeof *rule);
    if (steps->failure.code == MEL_OK)
        steps->failure.code = engine->run(p->sum, &ask, engine->user, &steps->failure);
    if (steps->failure.code != MEL_OK)
        memset(p->sum, 0, size * sizeof *p->sum);
}

static void measure_on_rows(double *shares, mel_steps *steps, size_t block, const double *rule)
{
    const pass *p = steps->self;
    const size_t size = mel_steps_block_size(steps);
    size_t n_slices = 1;
    if (p->rows.engine != NULL)
        ask_engine(steps, block, rule);
    else
        sum_rows(&n_slices, steps, block, rule);
    memset(shares, 0, size * sizeof *shares);
    for (size_t s = 0; s < n_slices; s++)
        for (size_t c = 0; c < size; c++) {
            const size_t each = steps->n_classes * steps->n_decisions, j = c % each / steps->n_classes;
            shares[c / each * each + c % steps->n_classes * steps->n_decisions + j] +=
                p->sum[s * size + c] / p->total;
        }
}

static void step_on_rows(double *shares, double *rule, mel_steps *steps, size_t block, const double *gain)
{
    const pass *p = steps->self;
    const size_t d = steps->n_decisions, rows = steps->n_classes, size = mel_steps_rule_size(steps);
    if (p->fold == NULL) {
        memcpy(rule, gain, size * sizeof *rule);
    } else {
        memset(rule, 0, size * sizeof *rule);
        for (size_t g = 0; g < steps->n_groups; g++)
            for (size_t c = 0; c < rows * d; c++)
                rule[c] += p->fold[g * rows + c / d] * gain[g * rows * d + c];
    }
    measure_on_rows(shares, steps, block, rule);
}

static const mel_steps_ops ops = { free_pass, step_on_rows, measure_on_rows };

double mel_step_total(const mel_step_rows *rows)
{
    double total = 0.0;
    for (size_t r = 0; r < rows->n_rows; r++)
        total += rows->weight != NULL ? rows->weight[r] : 1.0;
    return total;
}

static mel_status arrange(pass *p, size_t n_blocks, size_t size, size_t cells, mel_error *err)
{
    const mel_step_rows *rows = &p->rows;
    p->n_blocks = n_blocks;
    p->start = mel_alloc_zero(n_blocks + 1, sizeof *p->start);
    p->sum = mel_alloc(MOST_SLICES * size, sizeof *p->sum);
    p->order = n_blocks > 1 ? mel_alloc(rows->n_rows, sizeof *p->order) : NULL;
    p->fold = rows->one_block ? mel_alloc_zero(cells, sizeof *p->fold) : NULL;
    const bool in_blocks = !rows->refer, elsewhere = rows->engine != NULL;
    const size_t threads = (size_t)rows->threads, k = rows->n_classes;
    p->scratch = in_blocks ? mel_alloc(threads * mel_block_scratch(k), sizeof *p->scratch) : NULL;
    p->said = in_blocks ? mel_alloc(threads * mel_block_rows(k), sizeof *p->said) : NULL;
    p->ask = elsewhere ? mel_alloc(MEL_DECIDE_HEAD + size, sizeof *p->ask) : NULL;
    if (p->start == NULL || p->sum == NULL || (elsewhere && p->ask == NULL) ||
        (in_blocks && (p->scratch == NULL || p->said == NULL)) || (n_blocks > 1 && p->order == NULL) ||
        (rows->one_block && p->fold == NULL))
        return mel_fail_memory(err, "the rows of a rule");
    p->total = elsewhere ? 1.0 : mel_step_total(rows);
    p->start[1] = rows->n_rows;
    return n_blocks > 1 && !elsewhere
               ? mel_order_by_group(p->order, p->start, rows->n_rows, n_blocks, rows->group, err)
               : MEL_OK;
}

/* Masses are what "always the first decision" achieves. */
static mel_status weigh_masses(mel_steps *steps, mel_error *err)
{
    pass *p = steps->self;
    const size_t d = steps->n_decisions, size = mel_steps_block_size(steps), rows = steps->n_classes;
    const size_t n_mass = steps->n_blocks * size / d;
    MEL_AUTO_MEMORY double *room = mel_alloc_zero(size + mel_steps_rule_size(steps), sizeof *room);
    if (room == NULL)
        return mel_fail_memory(err, "the rows of a rule");
    for (size_t b = 0; b < steps->n_blocks; b++) {
        measure_on_rows(room, steps, b, room + size);
        for (size_t c = 0; c < size / d; c++)
            steps->mass[b * (size / d) + c] = room[c * d];
    }
    if (p->rows.engine != NULL) { /* how many rows there are is what was added up */
        p->total = mel_total(n_mass, steps->mass);
        if (steps->failure.code == MEL_OK && !(p->total > 0.0))
            return mel_fail(err, MEL_EDATA, "a rule needs rows of two or more classes");
        TRY(mel_steps_report(steps, err));
        mel_scale(n_mass, 1.0 / p->total, steps->mass);
    }
    for (size_t i = 0; p->fold != NULL && i < rows; i++) {
        double all = 0.0;
        for (size_t g = 0; g < steps->n_groups; g++)
            all += steps->mass[g * rows + i];
        for (size_t g = 0; g < steps->n_groups && all > 0.0; g++)
            p->fold[g * rows + i] = steps->mass[g * rows + i] / all;
    }
    return MEL_OK;
}

mel_status mel_steps_rows(mel_steps **out, const mel_step_rows *rows, mel_error *err)
{
    *out = NULL;
    pass *p = mel_alloc_zero(1, sizeof *p);
    if (p == NULL)
        return mel_fail_memory(err, "the rows of a rule");
    p->rows = *rows;
    p->rows.threads = mel_thread_count(rows->threads);
    p->rows.one_block = rows->one_block && rows->n_groups > 1;
    const size_t k = rows->n_classes, groups = rows->n_groups > 1 ? rows->n_groups : 1;
    const mel_steps shape = { .n_groups = groups,
                              .n_classes = k,
                              .n_decisions = k + (rows->refer ? 1 : 0),
                              .n_blocks = p->rows.one_block ? 1 : groups,
                              .n_evidence = k,
                              .exact = rows->evidence == MEL_BY_MODEL && !p->rows.one_block };
    mel_status status = arrange(p, shape.n_blocks, mel_steps_block_size(&shape),
                                mel_steps_size(&shape) / shape.n_decisions, err);
    if (status != MEL_OK) {
        free_pass(p);
        return status;
    }
    status = mel_steps_new(out, &ops, p, &shape, err);
    if (status == MEL_OK)
        status = weigh_masses(*out, err);
    if (status != MEL_OK) {
        mel_steps_free(*out);
        *out = NULL;
    }
    return status;
}

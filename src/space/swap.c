/* What a rule achieves on rows when only the boundary between two of its classes moves. */
#include "space/predict.h"
#include "space/sample.h"
#include "space/shared.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

typedef struct {
    const mel_space *space;
    const double *gain; /* of the group, k x k */
    size_t class[2];
    double factor;
    double *scratch;
    uint32_t *prediction;
} swap;

/* Which of the two classes a row is predicted as. */
static size_t decide(const swap *s, const double *p)
{
    const size_t k = s->space->n_classes;
    double score[2] = { 0.0, 0.0 };
    for (size_t c = 0; c < 2; c++)
        for (size_t i = 0; i < k; i++)
            score[c] += p[i] * s->gain[i * k + s->class[c]];
    return s->class[s->factor * score[0] > score[1] ? 0 : 1];
}

/* Moves row r, which the rule predicts as one class, to another. */
static void move(double *confusion, const swap *s, size_t r, size_t from, size_t to)
{
    const mel_sample *rows = &((const mel_class_rows *)s->space->self)->rows;
    const size_t k = s->space->n_classes;
    for (size_t i = 0; i < k; i++) {
        const double weight =
            s->space->evidence == MEL_BY_MODEL ? rows->probability[r * k + i] : rows->label[r] == i;
        confusion[i * k + from] -= weight / (double)s->space->n_rows;
        confusion[i * k + to] += weight / (double)s->space->n_rows;
    }
}

/* confusion: k x k of the group, of the rule itself before. */
static void move_slice(double *confusion, const swap *s, const mel_slice *slice)
{
    const mel_class_rows *rows = s->space->self;
    const size_t k = s->space->n_classes, block = mel_block_rows(k), end = slice->first + slice->n;
    const bool diagonal = mel_gain_diagonal(k, s->gain);
    for (size_t first = slice->first; first < end; first += block) {
        const size_t n = end - first < block ? end - first : block;
        const uint32_t *order = rows->order != NULL ? rows->order + first : NULL;
        const size_t shift = order != NULL ? 0 : first;
        mel_predict_block(s->prediction, n, k, rows->rows.probability + shift * k, order, s->gain, diagonal,
                          s->scratch);
        for (size_t b = 0; b < n; b++) {
            const size_t r = order != NULL ? order[b] : first + b, from = s->prediction[b];
            if (from != s->class[0] && from != s->class[1])
                continue;
            const size_t to = decide(s, rows->rows.probability + r * k);
            if (to != from)
                move(confusion, s, r, from, to);
        }
    }
}

mel_status mel_space_swap(double *statistics, const mel_space *space, const double *gain, size_t group,
                          size_t first, size_t second, double factor, mel_error *err)
{
    const size_t k = space->n_classes, cells = k * k;
    if (space->population)
        return mel_fail(err, MEL_EINVAL, "a population has no rows to decide");
    const mel_class_rows *rows = space->self;
    mel_workspace *ws = NULL;
    const swap s = { .space = space,
                     .gain = gain + group * cells,
                     .class = { first, second },
                     .factor = factor,
                     .scratch = mel_alloc(mel_block_scratch(k), sizeof *s.scratch),
                     .prediction = mel_alloc(mel_block_rows(k), sizeof *s.prediction) };
    const mel_status status = s.scratch != NULL && s.prediction != NULL
                                  ? mel_workspace_new(&ws, space, err)
                                  : mel_fail_memory(err, "a moved boundary");
    if (status == MEL_OK) {
        space->ops->confusion(ws->confusion, space, 0, space->n_groups, gain, ws->own);
        for (size_t i = rows->group_slice[group]; i < rows->group_slice[group + 1]; i++)
            move_slice(ws->confusion + group * cells, &s, &rows->slice[i]);
        mel_space_read(statistics, space, 0, space->n_groups, ws->confusion);
    }
    mel_workspace_free(ws);
    free(s.scratch);
    free(s.prediction);
    return status;
}

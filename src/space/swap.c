/* What a rule achieves on rows when only the boundary between two of its classes moves. */
#include "space/crew.h"
#include "space/predict.h"
#include "space/shared.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

typedef struct {
    const mel_space *space;
    const double *gain; /* of the group, k x k */
    size_t class[2];
    double factor;
    const double *before; /* confusion entries of the rule itself, which its first file starts with */
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

static void move_file(double *confusion, const mel_slice *slice, size_t thread, void *user)
{
    (void)thread;
    const swap *s = user;
    const mel_class_rows *rows = s->space->self;
    const size_t k = s->space->n_classes, block = mel_block_rows(k), end = slice->first + slice->n;
    const bool diagonal = mel_gain_diagonal(k, s->gain);
    const bool first_file = slice->file == rows->slice[rows->group_slice[slice->group]].file;
    memset(confusion, 0, k * k * sizeof *confusion);
    if (first_file)
        memcpy(confusion, s->before, k * k * sizeof *confusion);
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

/* confusion: k x k of the group. task->number: its gains, then what they achieve. */
static mel_status swap_rows(double *confusion, const mel_space *space, const mel_crew_task *task,
                            mel_error *err)
{
    const size_t k = space->n_classes;
    swap s = { .space = space,
               .gain = task->number,
               .class = { task->one, task->two },
               .factor = task->factor,
               .before = task->number + k * k,
               .scratch = mel_alloc(mel_block_scratch(k), sizeof *s.scratch),
               .prediction = mel_alloc(mel_block_rows(k), sizeof *s.prediction) };
    const mel_status status =
        s.scratch != NULL && s.prediction != NULL
            ? mel_files_sum(confusion, space->self, task->first,
                            &(mel_slice_sums){
                                .size = k * k, .threads = 1, .fill = move_file, .user = &s, .task = *task },
                            err)
            : mel_fail_memory(err, "a moved boundary");
    free(s.scratch);
    free(s.prediction);
    return status;
}

mel_status mel_space_swap_give(const mel_space *space, const mel_crew_task *task, mel_error *err)
{
    double *confusion = mel_alloc(space->n_classes * space->n_classes, sizeof *confusion);
    const mel_status status =
        confusion != NULL ? swap_rows(confusion, space, task, err) : mel_fail_memory(err, "a moved boundary");
    free(confusion);
    return status;
}

mel_status mel_space_swap(double *statistics, const mel_space *space, const double *gain, size_t group,
                          size_t first, size_t second, double factor, mel_error *err)
{
    const size_t cells = space->n_classes * space->n_classes;
    if (space->population)
        return mel_fail(err, MEL_EINVAL, "a population has no rows to decide");
    mel_workspace *ws = NULL;
    double *numbers = mel_alloc(2 * cells, sizeof *numbers);
    mel_status status =
        numbers != NULL ? mel_workspace_new(&ws, space, err) : mel_fail_memory(err, "a moved boundary");
    if (status == MEL_OK) {
        double *confusion = ws->confusion + group * cells;
        space->ops->confusion(ws->confusion, space, 0, space->n_groups, gain, ws->own);
        memcpy(numbers, gain + group * cells, cells * sizeof *numbers);
        memcpy(numbers + cells, confusion, cells * sizeof *numbers);
        const mel_crew_task task = { .what = MEL_CREW_SWAP,
                                     .first = group,
                                     .one = first,
                                     .two = second,
                                     .factor = factor,
                                     .number = numbers,
                                     .n_numbers = 2 * cells };
        status = swap_rows(confusion, space, &task, err);
    }
    if (status == MEL_OK)
        mel_space_read(statistics, space, 0, space->n_groups, ws->confusion);
    mel_workspace_free(ws);
    free(numbers);
    return status;
}

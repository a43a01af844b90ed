/* Rates as whole numbers of people. */
#include "oracle/counts.h"

#include <math.h>
#include <stdlib.h>

enum { MAX_ENTRIES = 1 << 20 };

void mel_round_to_total(int64_t *out, const double *share, size_t n, int64_t total)
{
    double sum = 0.0;
    for (size_t i = 0; i < n; i++)
        sum += fmax(share[i], 0.0);
    int64_t left = total;
    for (size_t i = 0; i < n; i++) {
        /* A hair above an integer is that integer: 0.29 * 100 must not become 28. */
        const double exact = sum > 0.0 ? fmax(share[i], 0.0) / sum * (double)total : 0.0;
        const double nearest = round(exact);
        out[i] = (int64_t)(fabs(exact - nearest) < 1e-6 ? nearest : floor(exact));
        left -= out[i];
    }
    /* At most n - 1 remain. */
    while (left > 0 && sum > 0.0) {
        size_t best = 0;
        double most = -(double)INFINITY;
        for (size_t i = 0; i < n; i++) {
            const double remainder = fmax(share[i], 0.0) / sum * (double)total - (double)out[i];
            if (remainder > most) {
                most = remainder;
                best = i;
            }
        }
        out[best]++;
        left--;
    }
}

void mel_shown_counts(int64_t *out, size_t n, const double *statistics, uint32_t people)
{
    for (size_t i = 0; i < n; i++)
        out[i] = llround(statistics[i] * (double)people);
}

void mel_shown_totals(int64_t *out, const mel_layout *layout, const double *class_share, uint32_t people)
{
    for (size_t i = 0; i < layout->n_classes; i++)
        out[i] = (int64_t)people;
    if (layout->kind != MEL_RATES && class_share != NULL)
        mel_round_to_total(out, class_share, layout->n_classes, (int64_t)people);
}

/* One group's matrix as shares, NaN where the statistics do not tell. class_share NULL: unknown. */
static void fill_matrix(double *m, const mel_layout *layout, const double *statistics,
                        const double *class_share)
{
    const size_t k = layout->n_classes;
    for (size_t i = 0; i < k * k; i++)
        m[i] = (double)NAN;
    if (layout->coordinates == MEL_BINARY) {
        m[3] = statistics[0];
        m[0] = statistics[1];
    }
    for (size_t i = 0, at = 0; i < k; i++) {
        for (size_t j = 0; j < k; j++) {
            if (layout->coordinates == MEL_DIAGONAL && i == j)
                m[i * k + i] = statistics[i];
            if (layout->coordinates == MEL_OFFDIAGONAL && i != j)
                m[i * k + j] = statistics[at++];
        }
    }
    /* What remains of a class goes to its only unknown entry. */
    for (size_t i = 0; i < k; i++) {
        const double whole = layout->kind == MEL_RATES ? 1.0
                             : class_share != NULL     ? class_share[i]
                                                       : (double)NAN;
        double rest = whole;
        size_t unknown = 0, where = 0;
        for (size_t j = 0; j < k; j++) {
            if (isnan(m[i * k + j])) {
                unknown++;
                where = j;
            } else {
                rest -= m[i * k + j];
            }
        }
        if (unknown == 1 && !isnan(whole))
            m[i * k + where] = fmax(rest, 0.0);
    }
}

typedef struct {
    double *a, *b; /* as in mel_counted, in shares */
} shares;

/* Every difference that 10,000 people can show is to be at least five people, if that many can show it. */
static int64_t choose_people(const shares *s, size_t n)
{
    const double visible = 0.5 / 10000.0, enough = 5.0 - 1e-9; /* 0.25 - 0.2 is five in 100 too */
    double smallest = (double)INFINITY;
    for (size_t i = 0; i < n; i++) {
        const double d = fabs(s->a[i] - s->b[i]);
        if (d >= visible) /* false for unknown entries too */
            smallest = fmin(smallest, d);
    }
    if (isinf(smallest))
        return 10000;
    if (100.0 * smallest >= enough)
        return 100;
    return 1000.0 * smallest >= enough ? 1000 : 10000;
}

static void round_row(int64_t *out, const double *row, size_t k, int64_t size, int64_t people)
{
    bool whole = size != MEL_UNKNOWN_COUNT;
    for (size_t j = 0; j < k; j++)
        whole = whole && !isnan(row[j]);
    if (whole) {
        mel_round_to_total(out, row, k, size);
        return;
    }
    for (size_t j = 0; j < k; j++) {
        out[j] = isnan(row[j]) ? MEL_UNKNOWN_COUNT : (int64_t)llround(fmax(row[j], 0.0) * (double)people);
        if (size != MEL_UNKNOWN_COUNT && out[j] > size)
            out[j] = size;
    }
}

static void fill_counts(mel_counted *out, const mel_question *question, const shares *s)
{
    const size_t k = out->k;
    const double *class_share = out->n_groups == 1 ? question->class_share : NULL;
    for (size_t g = 0; g < out->n_groups; g++) {
        int64_t *size = out->size + g * k;
        for (size_t i = 0; i < k; i++)
            size[i] = out->of_each_class ? out->people : MEL_UNKNOWN_COUNT;
        if (!out->of_each_class && class_share != NULL)
            mel_round_to_total(size, class_share, k, out->people);
        for (size_t i = 0; i < k; i++) {
            const size_t row = (g * k + i) * k;
            round_row(out->a + row, s->a + row, k, size[i], out->people);
            round_row(out->b + row, s->b + row, k, size[i], out->people);
        }
    }
}

/* The mistakes of one class as they are; the rest of it is right. */
static void keep_row(int64_t *row, size_t k, size_t i, const double *mistake, int64_t size, uint32_t people)
{
    int64_t right = size;
    for (size_t j = 0, at = 0; j < k; j++) {
        if (j == i)
            continue;
        row[j] = llround(mistake[at++] * (double)people);
        right -= row[j];
    }
    row[i] = size != MEL_UNKNOWN_COUNT && right >= 0 ? right : MEL_UNKNOWN_COUNT;
}

static void keep_mistakes(mel_counted *out, const mel_question *question)
{
    const size_t k = out->k, rows = out->n_groups * k;
    for (size_t r = 0; r < rows; r++) {
        keep_row(out->a + r * k, k, r % k, question->a + r * (k - 1), out->size[r], question->people);
        keep_row(out->b + r * k, k, r % k, question->b + r * (k - 1), out->size[r], question->people);
    }
}

/* Whole numbers stay as they are: what is right first, in a binary question the rest of each class follows.
 */
static void keep_shown(mel_counted *out, const mel_question *question)
{
    if (question->layout->coordinates == MEL_OFFDIAGONAL)
        keep_mistakes(out, question);
    if (question->layout->coordinates != MEL_BINARY)
        return;
    for (int side = 0; side < 2; side++) {
        int64_t right[2], *m = side == 0 ? out->a : out->b;
        mel_shown_counts(right, 2, side == 0 ? question->a : question->b, question->people);
        m[3] = right[0];
        m[2] = out->size[1] != MEL_UNKNOWN_COUNT ? out->size[1] - right[0] : MEL_UNKNOWN_COUNT;
        m[0] = right[1];
        m[1] = out->size[0] != MEL_UNKNOWN_COUNT ? out->size[0] - right[1] : MEL_UNKNOWN_COUNT;
    }
}

static mel_status check_share(const mel_question *question, mel_error *err)
{
    double sum = 0.0;
    for (size_t i = 0; question->class_share != NULL && i < question->layout->n_classes; i++) {
        const double share = question->class_share[i];
        if (!(share >= 0.0) || !(share <= 1.0))
            return mel_fail(err, MEL_EINVAL, "question %lu: the share of class %zu is %g",
                            (unsigned long)question->number, i + 1, share);
        sum += share;
    }
    if (question->class_share != NULL && !(sum > 0.0))
        return mel_fail(err, MEL_EINVAL, "question %lu: the shares of the classes are all zero",
                        (unsigned long)question->number);
    return MEL_OK;
}

mel_status mel_counted_make(mel_counted *out, const mel_question *question, uint32_t people, mel_error *err)
{
    const mel_layout *layout = question->layout;
    const size_t k = layout->n_classes, groups = layout->n_groups > 1 ? layout->n_groups : 1;
    const size_t per_group = mel_layout_size(layout) / groups, n = groups * k * k;
    *out = (mel_counted){ .k = k, .n_groups = groups, .of_each_class = layout->kind == MEL_RATES };
    const mel_status status = check_share(question, err);
    if (status != MEL_OK)
        return status;
    if (n > MAX_ENTRIES)
        return mel_fail(err, MEL_ELIMIT, "question %lu: %zu classes are too many to be shown",
                        (unsigned long)question->number, k);
    shares s = { mel_alloc(n, sizeof *s.a), mel_alloc(n, sizeof *s.b) };
    out->a = mel_alloc(n, sizeof *out->a);
    out->b = mel_alloc(n, sizeof *out->b);
    out->size = mel_alloc(groups * k, sizeof *out->size);
    const bool got = s.a != NULL && s.b != NULL && out->a != NULL && out->b != NULL && out->size != NULL;
    if (got) {
        const double *class_share = groups == 1 ? question->class_share : NULL;
        for (size_t g = 0; g < groups; g++) {
            fill_matrix(s.a + g * k * k, layout, question->a + g * per_group, class_share);
            fill_matrix(s.b + g * k * k, layout, question->b + g * per_group, class_share);
        }
        out->people = question->people != 0 ? (int64_t)question->people
                      : people != 0         ? (int64_t)people
                                            : choose_people(&s, n);
        fill_counts(out, question, &s);
        if (question->people != 0)
            keep_shown(out, question);
    }
    free(s.a);
    free(s.b);
    if (got)
        return MEL_OK;
    mel_counted_clear(out);
    return mel_fail_memory(err, "the counts of a question");
}

void mel_counted_clear(mel_counted *counted)
{
    free(counted->a);
    free(counted->b);
    free(counted->size);
    *counted = (mel_counted){ 0 };
}

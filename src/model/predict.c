/* What a model says of rows: scores, softmax, log-loss; and how well probabilities tell two classes apart. */
#include "base/stat.h"
#include "model/model.h"
#include "model/shared.h"

#include <float.h>
#include <math.h>
#include <omp.h>
#include <stdlib.h>
#include <string.h>

/* Scores that overflow are computed again with features and coefficients scaled by 2^-SHIFT each: no
 * product or sum of them can overflow, and what underflows is far below the rounding of the rest. */
enum { ROWS_AT_A_TIME = 256, SHIFT = 600 };

/* Coefficients with the classes of a feature side by side, padded; intercepts last. */
typedef struct {
    const mel_model *model;
    const mel_features *x;
    size_t ld;
    double *coef;    /* (n_features + 1) x ld */
    double *scratch; /* one row of ld per thread */
} predictor;

/* One order of summation for dense and sparse rows alike: a zero adds nothing, not even a rounding. */
MEL_VECTORISED
static void linear_scores(mel_feature_row row, size_t ld, const double *restrict coef, double *restrict score)
{
    for (size_t e = 0; e < row.n; e++) {
        const double *w = coef + (row.col != NULL ? row.col[e] : e) * ld;
        const double v = row.value[e];
        for (size_t c = 0; c < ld; c++)
            score[c] += v * w[c];
    }
}

static void linear_scores_scaled(mel_feature_row row, size_t ld, size_t n_features, const double *coef,
                                 double *score)
{
    for (size_t c = 0; c < ld; c++)
        score[c] = scalbn(coef[n_features * ld + c], -2 * SHIFT);
    for (size_t e = 0; e < row.n; e++) {
        const double *w = coef + (row.col != NULL ? row.col[e] : e) * ld;
        const double v = scalbn(row.value[e], -SHIFT);
        for (size_t c = 0; c < ld; c++)
            score[c] += v * scalbn(w[c], -SHIFT);
    }
}

/* score[0..n_outputs) to k differences from the largest; exponent undoes a scaling. */
static void spread(const mel_model *model, const double *score, int exponent, double *out)
{
    const size_t k = model->n_classes, m = model->n_outputs;
    double top = m == 1 ? fmax(score[0], 0.0) : score[0];
    for (size_t c = 1; c < m; c++)
        top = fmax(top, score[c]);
    for (size_t c = 0; c < k; c++) {
        const double own = m > 1 ? score[c] : (c == 0 ? 0.0 : score[0]);
        out[c] = fmax(scalbn(own - top, exponent), -DBL_MAX);
    }
}

static void score_row(const predictor *p, size_t i, double *score, double *out)
{
    const size_t ld = p->ld, d = p->model->n_features;
    const mel_feature_row row = mel_row_of(p->x, i);
    memcpy(score, p->coef + d * ld, ld * sizeof *score);
    linear_scores(row, ld, p->coef, score);
    bool finite = true;
    for (size_t c = 0; c < ld; c++)
        finite = finite && isfinite(score[c]);
    if (!finite)
        linear_scores_scaled(row, ld, d, p->coef, score);
    spread(p->model, score, finite ? 0 : 2 * SHIFT, out);
}

static bool prepare(predictor *p, int threads)
{
    const size_t m = p->model->n_outputs, d = p->model->n_features;
    p->ld = m == 1 ? 1 : (m + MEL_LANES - 1) / MEL_LANES * MEL_LANES;
    p->coef = d + 1 <= SIZE_MAX / p->ld ? mel_alloc_zero((d + 1) * p->ld, sizeof *p->coef) : NULL;
    p->scratch = mel_alloc_zero(p->ld * (size_t)threads, sizeof *p->scratch);
    if (p->coef == NULL || p->scratch == NULL)
        return false;
    for (size_t c = 0; c < m; c++) {
        for (size_t j = 0; j < d; j++)
            p->coef[j * p->ld + c] = p->model->weights[c * d + j];
        p->coef[d * p->ld + c] = p->model->intercepts[c];
    }
    return true;
}

/* scores: n_rows x n_classes, each row's linear scores minus its largest, so that the largest is 0, all
 * are finite and softmax of the row are the probabilities. x has been checked. */
static mel_status score_rows(double *scores, const mel_model *model, const mel_features *x, int threads,
                             mel_error *err)
{
    if (x->n_cols != model->n_features)
        return mel_fail(err, MEL_EINVAL, "rows have %zu features, the model has %zu", x->n_cols,
                        model->n_features);
    const size_t k = model->n_classes, n_blocks = (x->n_rows + ROWS_AT_A_TIME - 1) / ROWS_AT_A_TIME;
    const size_t wanted = (size_t)mel_thread_count(threads);
    const int team = (int)(wanted < n_blocks ? wanted : (n_blocks > 0 ? n_blocks : 1));
    predictor p = { .model = model, .x = x };
    const bool enough = prepare(&p, team);
    if (enough) {
#pragma omp parallel for schedule(static) num_threads(team)
        for (size_t block = 0; block < n_blocks; block++) {
            double *scratch = p.scratch + (size_t)omp_get_thread_num() * p.ld;
            const size_t first = block * ROWS_AT_A_TIME;
            for (size_t i = first; i < x->n_rows && i < first + ROWS_AT_A_TIME; i++)
                score_row(&p, i, scratch, scores + i * k);
        }
    }
    free(p.coef);
    free(p.scratch);
    return enough ? MEL_OK : mel_fail_memory(err, "predicting");
}

/* One row of scores as above, turned into probabilities in place. */
static void softmax_row(size_t k, double *row)
{
    mel_sum sum = { 0 };
    for (size_t c = 0; c < k; c++) {
        row[c] = exp(row[c]);
        mel_sum_add(&sum, row[c]);
    }
    const double total = mel_sum_value(&sum);
    for (size_t c = 0; c < k; c++)
        row[c] /= total;
}

mel_status mel_model_predict(double *probs, const mel_model *model, const mel_features *x, int threads,
                             mel_error *err)
{
    mel_status status = mel_features_check(x, DBL_MAX, "predicting", err);
    if (status == MEL_OK)
        status = score_rows(probs, model, x, threads, err);
    if (status != MEL_OK)
        return status;
    const size_t k = model->n_classes;
#pragma omp parallel for schedule(static)                                                                    \
    num_threads(mel_thread_count(threads)) if (x->n_rows > ROWS_AT_A_TIME)
    for (size_t i = 0; i < x->n_rows; i++)
        softmax_row(k, probs + i * k);
    return MEL_OK;
}

double mel_log_loss(size_t n, size_t k, const double *probs, const uint32_t *y, const double *weight)
{
    static const double smallest = 1e-15;
    mel_sum loss = { 0 }, total = { 0 };
    for (size_t i = 0; i < n; i++) {
        const double w = weight != NULL ? weight[i] : 1.0;
        mel_sum_add(&loss, -w * log(fmax(probs[i * k + y[i]], smallest)));
        mel_sum_add(&total, w);
    }
    return mel_sum_value(&loss) / mel_sum_value(&total);
}

/* --- two classes ---------------------------------------------------------------------------------------- */

/* Rows in ascending order of their probability: goes through the thresholds from above; rows of equal
 * probability are called alike. number: rows of the first and of the second class. */
static void walk(mel_separation *out, size_t n, const size_t *row, const double *score, const uint32_t *label,
                 const double *count, const double number[2], double most_alarms)
{
    double found = 0.0, alarms = 0.0, wins = 0.0;
    for (size_t left = n, next; left > 0; left = next) {
        double more[2] = { 0.0, 0.0 };
        for (next = left; next > 0 && score[row[next - 1]] == score[row[left - 1]]; next--)
            more[label[row[next - 1]] == 1] += count != NULL ? count[row[next - 1]] : 1.0;
        wins += more[0] * (found + more[1] / 2.0);
        found += more[1];
        alarms += more[0];
        if (alarms <= most_alarms * number[0]) {
            out->found = found / number[1];
            out->alarms = alarms / number[0];
        }
    }
    out->auc = wins / (number[0] * number[1]);
}

mel_status mel_separation_counted(mel_separation *out, double number[2], size_t n, const double *probability,
                                  const uint32_t *label, const double *count, double most_alarms,
                                  mel_error *err)
{
    *out = (mel_separation){ .auc = NAN, .found = NAN, .alarms = NAN };
    MEL_ARRAY(double, score, n + 1, "probabilities to sort", err);
    MEL_ARRAY(size_t, row, n + 1, "probabilities to sort", err);
    number[0] = number[1] = 0.0;
    for (size_t i = 0; i < n; i++) {
        score[i] = probability[2 * i + 1];
        number[label[i] == 1] += count != NULL ? count[i] : 1.0;
    }
    if (number[0] > 0.0 && number[1] > 0.0) {
        TRY(mel_argsort(n, score, row, err));
        out->found = out->alarms = 0.0;
        walk(out, n, row, score, label, count, number, most_alarms);
        out->wrong_way = mel_auc_wrong_way(out->auc, number[1], number[0]);
    }
    return MEL_OK;
}

mel_status mel_separation_of(mel_separation *out, size_t n, const double *probability, const uint32_t *label,
                             double most_alarms, mel_error *err)
{
    double number[2];
    return mel_separation_counted(out, number, n, probability, label, NULL, most_alarms, err);
}

bool mel_auc_wrong_way(double auc, double positives, double negatives)
{
    const double deviation = sqrt((positives + negatives + 1.0) / (12.0 * positives * negatives));
    return auc < 0.5 - 3.0 * deviation;
}

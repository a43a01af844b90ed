/* Training where no process sees all rows: sums over files, merged, and a Newton step on them. */
#include "model/moments.h"

#include "base/digest.h"
#include "data/quote.h"
#include "model/solver.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

size_t mel_moments_size(size_t n_classes, size_t n_features)
{
    enum { MOST_PARAMETERS = 20000 }; /* as Newton's method takes */
    const size_t k = n_classes, d = n_features + 1, outputs = k == 2 ? 1 : k;
    if (k < 2 || n_features >= MOST_PARAMETERS || k >= MOST_PARAMETERS || d * outputs > MOST_PARAMETERS)
        return 0;
    return 1 + d * outputs + d * (d + 1) / 2 * (k * (k - 1) / 2);
}

void mel_moments_part_clear(mel_moments_part *part)
{
    free(part->file);
    free(part->sum);
    *part = (mel_moments_part){ 0 };
}

void mel_moments_free(mel_moments *moments)
{
    if (moments == NULL)
        return;
    for (size_t i = 0; i < moments->n; i++)
        mel_moments_part_clear(&moments->part[i]);
    free(moments->part);
    free(moments);
}

mel_moments *mel_moments_new(size_t n_classes, size_t n_features)
{
    mel_moments *m = mel_alloc_zero(1, sizeof *m);
    if (m != NULL) {
        m->n_classes = n_classes;
        m->n_features = n_features;
    }
    return m;
}

size_t mel_moments_files(const mel_moments *moments)
{
    return moments->n;
}

size_t mel_moments_rows(const mel_moments *moments)
{
    size_t rows = 0;
    for (size_t i = 0; i < moments->n; i++)
        rows += moments->part[i].n_rows;
    return rows;
}

mel_status mel_moments_add(mel_moments *m, mel_moments_part *part, mel_error *err)
{
    size_t at = 0;
    while (at < m->n && strcmp(m->part[at].file, part->file) < 0)
        at++;
    mel_status status = MEL_OK;
    void *parts = m->part;
    if (at < m->n && strcmp(m->part[at].file, part->file) == 0)
        status = mel_fail(err, MEL_EDATA, "the rows of %s are there twice", mel_quote_file(part->file).text);
    else if (!mel_grow(&parts, m->n + 1, sizeof *m->part))
        status = mel_fail_memory(err, "moments");
    m->part = parts;
    if (status != MEL_OK) {
        mel_moments_part_clear(part);
        return status;
    }
    memmove(m->part + at + 1, m->part + at, (m->n - at) * sizeof *m->part);
    m->part[at] = *part;
    m->n++;
    *part = (mel_moments_part){ 0 };
    return MEL_OK;
}

/* --- sums at a model ---------------------------------------------------------------------------- */

/* What the coefficients are, for those who merge. */
static mel_status digest_model(char digest[MEL_DIGEST_HEX], const mel_model *model, mel_error *err)
{
    const size_t p = (model->n_features + 1) * model->n_outputs;
    double *theta = mel_alloc(p, sizeof *theta);
    if (theta == NULL)
        return mel_fail_memory(err, "the coefficients");
    mel_model_theta(model, theta);
    mel_digest(theta, p * sizeof *theta, digest);
    free(theta);
    return MEL_OK;
}

/* Between the sums of an objective and those of a file. */
static void copy_sums(mel_objective *obj, double *sum, bool into_objective)
{
    const size_t k = obj->n_classes, d = obj->n_features + 1, pairs = k * (k - 1) / 2;
    for (size_t i = 0; i < 1 + d * obj->n_outputs; i++) {
        double *of =
            i == 0 ? obj->sum : &obj->sum[1 + (i - 1) / obj->n_outputs * obj->ld + (i - 1) % obj->n_outputs];
        if (into_objective)
            *of += sum[i];
        else
            sum[i] = *of;
    }
    sum += 1 + d * obj->n_outputs;
    for (size_t a = 0; a < d; a++)
        for (size_t b = 0; b <= a; b++)
            for (size_t pair = 0; pair < pairs; pair++, sum++) {
                double *of = mel_objective_curvature(obj, a, b, pair);
                if (into_objective)
                    *of += *sum;
                else
                    *sum = *of;
            }
}

static mel_status check_model(const mel_model *at, mel_error *err)
{
    if (at->calibration != MEL_CALIBRATE_NONE)
        return mel_fail(err, MEL_EINVAL,
                        "the model is calibrated; moments are of models as they are trained");
    if (mel_moments_size(at->n_classes, at->n_features) == 0)
        return mel_fail(err, MEL_ELIMIT, "%zu features for %zu classes are too many for Newton's method",
                        at->n_features, at->n_classes);
    return MEL_OK;
}

static mel_status check_rows(double *total, const mel_model *at, const mel_features *x, const uint32_t *y,
                             const double *weight, mel_error *err)
{
    static const double largest = 1e100; /* its square must not be too large either */
    if (x->n_cols != at->n_features)
        return mel_fail(err, MEL_EINVAL, "%zu features, the model has %zu", x->n_cols, at->n_features);
    for (size_t i = 0; i < x->n_rows; i++)
        if (y[i] >= at->n_classes)
            return mel_fail(err, MEL_EINVAL, "row %zu: class code %u, but there are %zu classes", i + 1, y[i],
                            at->n_classes);
    const mel_status status = mel_weights_check(total, weight, x->n_rows, err);
    return status == MEL_OK ? mel_features_check(x, largest, "moments", err) : status;
}

static mel_status take_sums(mel_moments_part *part, const mel_model *at, mel_objective *obj, mel_error *err)
{
    part->sum = mel_alloc(mel_moments_size(at->n_classes, at->n_features), sizeof *part->sum);
    double *theta = mel_alloc((at->n_features + 1) * at->n_outputs, sizeof *theta);
    mel_status status = part->file != NULL && part->sum != NULL && theta != NULL
                            ? mel_objective_init(obj, true, err)
                            : mel_fail_memory(err, "moments");
    if (status == MEL_OK) {
        mel_model_theta(at, theta);
        mel_blas_hold();
        mel_objective_sums(obj, theta, true);
        mel_blas_release();
        copy_sums(obj, part->sum, false);
        mel_objective_clear(obj);
    }
    free(theta);
    return status;
}

mel_status mel_moments_take(mel_moments **out, const mel_model *at, const char *file, const mel_features *x,
                            const uint32_t *y, const double *weight, int threads, mel_error *err)
{
    *out = NULL;
    mel_objective obj = { .x = x, .y = y, .weight = weight, .n_classes = at->n_classes, .threads = threads };
    mel_status status = check_model(at, err);
    if (status == MEL_OK)
        status = check_rows(&obj.total, at, x, y, weight, err);
    if (status != MEL_OK)
        return status;
    mel_moments *m = mel_moments_new(at->n_classes, at->n_features);
    if (m == NULL)
        return mel_fail_memory(err, "moments");
    mel_moments_part part = { .file = mel_strdup(file), .n_rows = x->n_rows, .weight = obj.total };
    status = digest_model(m->at, at, err);
    if (status == MEL_OK)
        status = take_sums(&part, at, &obj, err);
    if (status == MEL_OK && !isfinite(part.sum[0]))
        status = mel_fail(err, MEL_ENUMERIC, "the log-loss is %g: the features are too large", part.sum[0]);
    if (status == MEL_OK)
        status = mel_moments_add(m, &part, err);
    mel_moments_part_clear(&part);
    if (status != MEL_OK) {
        mel_moments_free(m);
        return status;
    }
    *out = m;
    return MEL_OK;
}

/* --- merging ------------------------------------------------------------------------------------ */

static mel_status add_copies(mel_moments *to, const mel_moments *from, mel_error *err)
{
    const size_t size = mel_moments_size(from->n_classes, from->n_features);
    mel_status status = MEL_OK;
    for (size_t i = 0; i < from->n && status == MEL_OK; i++) {
        const mel_moments_part *old = &from->part[i];
        mel_moments_part part = { mel_strdup(old->file), old->n_rows, old->weight,
                                  mel_alloc(size, sizeof *part.sum) };
        if (part.file == NULL || part.sum == NULL) {
            mel_moments_part_clear(&part);
            return mel_fail_memory(err, "moments");
        }
        memcpy(part.sum, old->sum, size * sizeof *part.sum);
        status = mel_moments_add(to, &part, err);
    }
    return status;
}

mel_status mel_moments_merge(mel_moments **out, const mel_moments *a, const mel_moments *b, mel_error *err)
{
    *out = NULL;
    if (a->n_classes != b->n_classes || a->n_features != b->n_features || strcmp(a->at, b->at) != 0)
        return mel_fail(err, MEL_EDATA, "moments at different models do not add up");
    mel_moments *m = mel_moments_new(a->n_classes, a->n_features);
    if (m == NULL)
        return mel_fail_memory(err, "moments");
    memcpy(m->at, a->at, sizeof m->at);
    mel_status status = add_copies(m, a, err);
    if (status == MEL_OK)
        status = add_copies(m, b, err);
    if (status != MEL_OK) {
        mel_moments_free(m);
        return status;
    }
    *out = m;
    return MEL_OK;
}

/* --- a step ------------------------------------------------------------------------------------- */

static mel_status step_from(mel_model *model, mel_fit_report *report, mel_objective *obj, double tolerance,
                            mel_error *err)
{
    const size_t p = obj->n_params;
    double *theta = mel_alloc(3 * p, sizeof *theta);
    if (theta == NULL)
        return mel_fail_memory(err, "the coefficients");
    double *gradient = theta + p, *step = theta + 2 * p;
    mel_model_theta(model, theta);
    const double value = mel_objective_of_sums(obj, theta, gradient);
    *report = (mel_fit_report){ .reason = MEL_FIT_CONVERGED,
                                .solver = MEL_SOLVER_NEWTON,
                                .objective = value,
                                .log_loss = obj->sum[0] / obj->total,
                                .gradient_norm = mel_gradient_norm(obj, gradient) };
    mel_status status = MEL_OK;
    if (report->gradient_norm > tolerance) {
        report->reason = MEL_FIT_BUDGET;
        report->iterations = 1;
        mel_blas_hold();
        status = mel_newton_step(step, obj, gradient, err);
        mel_blas_release();
        for (size_t i = 0; i < p && status == MEL_OK; i++)
            theta[i] += step[i];
    }
    if (status == MEL_OK) {
        mel_objective_centre(obj, theta);
        mel_model_set_theta(model, theta);
        model->report = *report;
        model->fitted = true;
        model->l2 = obj->l2;
    }
    free(theta);
    return status;
}

static mel_status check_step(const mel_model *model, const mel_moments *m, mel_error *err)
{
    char at[MEL_DIGEST_HEX];
    mel_status status = check_model(model, err);
    if (status == MEL_OK)
        status = digest_model(at, model, err);
    if (status == MEL_OK &&
        (m->n_classes != model->n_classes || m->n_features != model->n_features || strcmp(at, m->at) != 0))
        status = mel_fail(err, MEL_EDATA, "the moments were taken at another model");
    return status;
}

mel_status mel_model_step(mel_model *model, mel_fit_report *report, const mel_moments *m,
                          const mel_fit_options *opt, mel_error *err)
{
    mel_fit_options options;
    mel_fit_options_init(&options);
    mel_status status = mel_options_take(&options, sizeof options, opt, "fit options", err);
    if (status == MEL_OK && !(options.l2 >= 0.0 && isfinite(options.l2)))
        status = mel_fail(err, MEL_EINVAL, "l2 is %g", options.l2);
    if (status == MEL_OK)
        status = check_step(model, m, err);
    if (status != MEL_OK)
        return status;
    const mel_features none = { .n_cols = m->n_features };
    mel_objective obj = { .x = &none, .n_classes = m->n_classes, .l2 = options.l2, .threads = 1 };
    mel_fit_report own;
    status = mel_objective_init(&obj, true, err);
    for (size_t i = 0; i < m->n && status == MEL_OK; i++) {
        copy_sums(&obj, m->part[i].sum, true);
        obj.total += m->part[i].weight;
    }
    if (status == MEL_OK)
        status = step_from(model, report != NULL ? report : &own, &obj, options.tolerance, err);
    mel_objective_clear(&obj);
    return status;
}

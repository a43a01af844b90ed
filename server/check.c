/* What a session of one's own would be about, before it starts: how much data there are, and how well the
 * model does on them. */
#include "app.h"

#include "json_helpers.h"

#include "base/internal.h"

#include <math.h>

static const double usual_alarms = 0.1; /* the false alarms at which the page says how many are found */

/* The rows of each class, and how many of them their most probable class is right about. */
static mel_status count_rows(json_t *classes, const mel_problem *problem, mel_error *err)
{
    const size_t k = problem->n_classes;
    size_t *rows = mel_alloc_zero(2 * k, sizeof *rows), *right = rows + k;
    if (rows == NULL)
        return mel_fail_memory(err, "rows of classes");
    for (size_t i = 0; i < problem->n_rows; i++) {
        const double *p = problem->probability + i * k;
        size_t best = 0;
        for (size_t c = 1; c < k; c++)
            best = p[c] > p[best] ? c : best;
        rows[problem->label[i]]++;
        right[problem->label[i]] += best == problem->label[i];
    }
    bool good = true;
    for (size_t c = 0; c < k && good; c++)
        good = mel_json_add(classes, json_pack("{s:s, s:I, s:I}", "name", problem->class_name[c], "rows",
                                               (json_int_t)rows[c], "right", (json_int_t)right[c]));
    free(rows);
    return good ? MEL_OK : mel_fail_memory(err, "rows of classes");
}

/* {"rows", "classes": [{"name", "rows", "right"}], "auc"?, "found"?, "alarms"?} */
static mel_status describe_rows(json_t *out, const mel_problem *problem, mel_error *err)
{
    json_t *classes = json_array();
    mel_status status = count_rows(classes, problem, err);
    if (!mel_json_put(out, "classes", classes) && status == MEL_OK)
        status = mel_fail_memory(err, "a check");
    mel_separation separation = { .auc = (double)NAN };
    if (status == MEL_OK && problem->n_classes == 2)
        status = mel_separation_of(&separation, problem->n_rows, problem->probability, problem->label,
                                   usual_alarms, err);
    bool good = mel_json_put(out, "rows", json_integer((json_int_t)problem->n_rows));
    if (isfinite(separation.auc))
        good = good && mel_json_put(out, "auc", json_real(separation.auc)) &&
               mel_json_put(out, "found", json_real(separation.found)) &&
               mel_json_put(out, "alarms", json_real(separation.alarms));
    return status != MEL_OK || good ? status : mel_fail_memory(err, "a check");
}

/* {"classifiers", "classes": [{"name"}]} */
static mel_status describe_pool(json_t *out, const mel_problem *problem, mel_error *err)
{
    json_t *classes = json_array();
    bool good = true;
    for (size_t c = 0; c < problem->n_classes && good; c++)
        good = mel_json_add(classes, json_pack("{s:s}", "name", problem->class_name[c]));
    good = mel_json_put(out, "classes", mel_json_if(good, classes)) &&
           mel_json_put(out, "classifiers", json_integer((json_int_t)problem->pool->n));
    return good ? MEL_OK : mel_fail_memory(err, "a check");
}

static void keep_warning(void *user, const char *file, mel_format format, const char *sentence,
                         bool is_warning)
{
    (void)file;
    (void)format;
    if (is_warning)
        (void)json_array_append_new(user, json_string(sentence));
}

static mel_status check_rows(json_t *out, mel_call *call, const mel_study *study)
{
    mel_problem *rows = NULL;
    MEL_HELD(held);
    TRY(mel_work_begin(&held, call->app->admission, &(mel_work){ .own = true, .shared = true }, &call->err));
    json_t *warnings = json_array();
    mel_status status = mel_cache_read_rows(&rows, call->app->cache, study,
                                            (mel_notice){ keep_warning, warnings }, &call->err);
    if (status == MEL_OK)
        status = describe_rows(out, rows, &call->err);
    mel_problem_free(rows);
    if (!mel_json_put(out, "warnings", warnings) && status == MEL_OK)
        status = mel_fail_memory(&call->err, "a check");
    return status;
}

static mel_status check(json_t *out, mel_call *call, const json_t *body)
{
    mel_open_study *open_study = NULL;
    mel_status status = mel_call_open_own(&open_study, call, body);
    if (status == MEL_OK && open_study->problem->n_rows > 0)
        status = check_rows(out, call, open_study->study);
    if (status == MEL_OK && open_study->problem->pool != NULL)
        status = describe_pool(out, open_study->problem, &call->err);
    mel_open_study_release(call->app->cache, open_study);
    return status;
}

void mel_api_check(mel_call *call)
{
    json_t *body = mel_call_is_open(call) ? mel_call_own_body(call, NULL) : NULL;
    if (body == NULL)
        return;
    json_t *out = json_object();
    const mel_status status = check(out, call, body);
    mel_call_finish(call, status, mel_json_if(status == MEL_OK, out));
    json_decref(body);
}

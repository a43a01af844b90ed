/* What is decided today: decisions in an uploaded table, counted against what was true. */
#include "app.h"

#include "json_helpers.h"

#include "base/internal.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

/* --- columns of names ---------------------------------------------------------------------------- */

/* Names that a column may have: those of the result, and what data files call them (NULL: the same). */
typedef struct {
    size_t n;
    const char *const *name, *const *label;
} names;

static bool is_called(const char *name, const char *text, double number)
{
    char *end = NULL;
    if (text != NULL)
        return strcmp(name, text) == 0;
    const double value = mel_to_double(name, &end);
    return end != name && *end == '\0' && value == number;
}

/* Which of the names it is, n: none; labels first, as everywhere where both are numbers. */
static size_t find_name(const names *of, const char *text, double number)
{
    const char *const *const lists[] = { of->label, of->name };
    for (size_t list = 0; list < 2; list++)
        for (size_t i = 0; lists[list] != NULL && i < of->n; i++)
            if (is_called(lists[list][i], text, number))
                return i;
    return of->n;
}

size_t mel_upload_column(const mel_table *table, const char *name)
{
    for (size_t i = 0; i < mel_table_columns(table); i++)
        if (strcmp(mel_table_column_name(table, i), name) == 0)
            return i;
    return SIZE_MAX;
}

/* The code of each row of the column that body[key] names. *out is for free(). Refusals are about the key. */
static mel_status take_codes(uint32_t **out, const mel_table *table, const json_t *body, const char *key,
                             const names *of, mel_error *err)
{
    const char *column = mel_json_string(body, key);
    const size_t at = column != NULL ? mel_upload_column(table, column) : SIZE_MAX,
                 rows = mel_table_rows(table);
    if (at == SIZE_MAX)
        return mel_fail(err, MEL_EINVAL, "%s: expected the name of a column", key);
    const double *number = mel_table_numbers(table, at);
    const uint32_t *code = mel_table_codes(table, at);
    *out = mel_alloc_zero(rows, sizeof **out);
    if (*out == NULL)
        return mel_fail_memory(err, "decisions");
    for (size_t i = 0; i < rows; i++) {
        const bool missing = number != NULL ? isnan(number[i]) : code[i] == MEL_MISSING;
        const char *text = number != NULL || missing ? NULL : mel_table_category(table, at, code[i]);
        const size_t found = missing ? of->n : find_name(of, text, number != NULL ? number[i] : 0.0);
        if (found == of->n)
            return mel_fail(err, MEL_EINVAL, "%s: row %zu of column \"%.80s\" is none of %s", key, i + 1,
                            column, strcmp(key, "group") == 0 ? "the groups" : "the classes");
        (*out)[i] = (uint32_t)found;
    }
    return MEL_OK;
}

mel_status mel_upload_groups(uint32_t **out, const mel_table *table, const json_t *body,
                             const mel_problem *problem, mel_error *err)
{
    const names groups = { .n = problem->n_groups, .name = problem->group_name };
    return problem->n_groups > 1 ? take_codes(out, table, body, "group", &groups, err) : MEL_OK;
}

/* --- counting ------------------------------------------------------------------------------------- */

/* {"counts": groups x true classes x decisions, "rows"}; a new reference. group NULL: there are none. */
static mel_status counts_json(json_t **out, size_t rows, const uint32_t *truth, const uint32_t *decision,
                              const uint32_t *group, const mel_problem *problem, mel_error *err)
{
    const size_t k = problem->n_classes, m = problem->n_groups > 1 ? problem->n_groups : 1, n = m * k * k;
    json_int_t *count = mel_alloc_zero(n, sizeof *count);
    json_t *list = json_array();
    bool good = count != NULL;
    for (size_t i = 0; good && i < rows; i++)
        count[((group != NULL ? group[i] : 0) * k + truth[i]) * k + decision[i]]++;
    for (size_t i = 0; good && i < n; i++)
        good = mel_json_add(list, json_integer(count[i]));
    free(count);
    *out = json_pack("{s:o, s:I}", "counts", mel_json_if(good, list), "rows", (json_int_t)rows);
    return *out != NULL ? MEL_OK : mel_fail_memory(err, "decisions");
}

static void count_decisions(mel_call *call, const mel_table *table, const json_t *body,
                            const mel_problem *problem)
{
    const names classes = { problem->n_classes, problem->class_name,
                            (const char *const *)problem->classes.label };
    uint32_t *truth = NULL, *decision = NULL, *group = NULL;
    json_t *out = NULL;
    mel_status status = take_codes(&truth, table, body, "truth", &classes, &call->err);
    if (status == MEL_OK)
        status = take_codes(&decision, table, body, "decision", &classes, &call->err);
    if (status == MEL_OK)
        status = mel_upload_groups(&group, table, body, problem, &call->err);
    if (status == MEL_OK)
        status = counts_json(&out, mel_table_rows(table), truth, decision, group, problem, &call->err);
    mel_call_finish(call, status, out);
    free(truth);
    free(decision);
    free(group);
}

void mel_api_today(mel_call *call)
{
    json_t *body = mel_call_own_body(call, call->cookie);
    mel_participant *participant = body != NULL ? mel_call_take_for_result(call) : NULL;
    mel_table *table = participant != NULL ? mel_upload_open(call, mel_json_string(body, "upload")) : NULL;
    if (participant != NULL && table != NULL)
        count_decisions(call, table, body, mel_flow_problem(participant->flow));
    mel_upload_close(call, table);
    mel_participant_release(call->app->cache, participant, true);
    json_decref(body);
}

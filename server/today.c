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

/* Which of the names a text is, n: none; labels first, as everywhere where both are numbers. */
static size_t find_text(const names *of, const char *text)
{
    const char *const *const lists[] = { of->label, of->name };
    for (size_t list = 0; list < 2; list++)
        for (size_t i = 0; lists[list] != NULL && i < of->n; i++)
            if (strcmp(lists[list][i], text) == 0)
                return i;
    return of->n;
}

/* The same for numbers: NaN where a name is none, labels first. */
static void read_names(double *value, const names *of)
{
    const char *const *const lists[] = { of->label, of->name };
    for (size_t list = 0; list < 2; list++)
        for (size_t i = 0; i < of->n; i++) {
            char *end = NULL;
            const char *name = lists[list] != NULL ? lists[list][i] : "";
            const double number = mel_to_double(name, &end);
            value[list * of->n + i] = end != name && *end == '\0' ? number : (double)NAN;
        }
}

static size_t find_number(const double *value, size_t n, double number)
{
    size_t i = 0;
    while (i < 2 * n && value[i] != number)
        i++;
    return i < 2 * n ? i % n : n;
}

size_t mel_upload_column(const mel_table *table, const char *name)
{
    for (size_t i = 0; i < mel_table_columns(table); i++)
        if (strcmp(mel_table_column_name(table, i), name) == 0)
            return i;
    return SIZE_MAX;
}

/* Which name the cells of a column have: each text, and each name as a number, is looked at once. */
typedef struct {
    const names *of;
    const mel_table *table;
    size_t column;
    double *value;   /* of the names; NULL: a column of texts */
    uint32_t *found; /* by the code of a text, one more than its name; 0: not looked at */
} finder;

static void finder_clear(finder *f)
{
    free(f->value);
    free(f->found);
}

static mel_status finder_new(finder *out, const mel_table *table, size_t column, const names *of,
                             mel_error *err)
{
    *out = (finder){ .of = of, .table = table, .column = column };
    const uint32_t *code = mel_table_codes(table, column);
    size_t codes = 1;
    for (size_t i = 0; code != NULL && i < mel_table_rows(table); i++)
        codes = code[i] != MEL_MISSING && code[i] >= codes ? (size_t)code[i] + 1 : codes;
    if (code != NULL)
        out->found = mel_alloc_zero(codes, sizeof *out->found);
    else
        out->value = mel_alloc(2 * of->n, sizeof *out->value);
    if (out->found == NULL && out->value == NULL)
        return mel_fail_memory(err, "decisions");
    if (out->value != NULL)
        read_names(out->value, of);
    return MEL_OK;
}

/* n: none of them. */
static size_t finder_name(finder *f, size_t row)
{
    if (f->value != NULL) {
        const double number = mel_table_numbers(f->table, f->column)[row];
        return isnan(number) ? f->of->n : find_number(f->value, f->of->n, number);
    }
    const uint32_t code = mel_table_codes(f->table, f->column)[row];
    if (code == MEL_MISSING)
        return f->of->n;
    if (f->found[code] == 0)
        f->found[code] = 1 + (uint32_t)find_text(f->of, mel_table_category(f->table, f->column, code));
    return f->found[code] - 1;
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
    finder f;
    mel_status status = finder_new(&f, table, at, of, err);
    *out = mel_alloc_zero(rows, sizeof **out);
    if (status == MEL_OK && *out == NULL)
        status = mel_fail_memory(err, "decisions");
    for (size_t i = 0; i < rows && status == MEL_OK; i++) {
        const size_t found = finder_name(&f, i);
        (*out)[i] = (uint32_t)found;
        if (found == of->n)
            status = mel_fail(err, MEL_EINVAL, "%s: row %zu of column \"%.80s\" is none of %s", key, i + 1,
                              column, strcmp(key, "group") == 0 ? "the groups" : "the classes");
        else
            status = mel_budget_check_row(i, err);
    }
    finder_clear(&f);
    return status;
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

static mel_status count_decisions(json_t **out, mel_call *call, const json_t *body,
                                  const mel_problem *problem)
{
    const names classes = { problem->n_classes, problem->class_name,
                            (const char *const *)problem->classes.label };
    MEL_AUTO_MEMORY uint32_t *truth = NULL, *decision = NULL, *group = NULL;
    MEL_HELD(held);
    MEL_AUTO(mel_table) *table = NULL;
    TRY(mel_upload_open(&table, &held, call, mel_json_string(body, "upload")));
    TRY(take_codes(&truth, table, body, "truth", &classes, &call->err));
    TRY(take_codes(&decision, table, body, "decision", &classes, &call->err));
    TRY(mel_upload_groups(&group, table, body, problem, &call->err));
    return counts_json(out, mel_table_rows(table), truth, decision, group, problem, &call->err);
}

mel_status mel_api_today(json_t **out, mel_call *call)
{
    json_auto_t *body = NULL;
    mel_participant *participant = NULL;
    TRY(mel_call_own_body(&body, call, call->cookie));
    TRY(mel_call_take_for_result(&participant, call));
    const mel_status status = count_decisions(out, call, body, mel_flow_problem(participant->flow));
    mel_participant_release(call->app->cache, participant, true);
    return status;
}

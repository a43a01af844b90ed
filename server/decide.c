/* Decisions: those of today in an uploaded table, counted against what was true; and those with what a
 * session found, about the rows it was measured on or uploaded probabilities, and which row each is about. */
#include "app.h"
#include "json_helpers.h"
#include "manage.h"

#include "base/buffer.h"
#include "base/internal.h"

#include <ctype.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>
#include <strings.h>

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

static mel_status groups_of_upload(uint32_t **out, const mel_table *table, const json_t *body,
                                   const mel_problem *problem, mel_error *err)
{
    const names groups = { .n = problem->n_groups, .name = problem->group_name };
    return problem->n_groups > 1 ? take_codes(out, table, body, "group", &groups, err) : MEL_OK;
}

/* --- what is decided today
 * ------------------------------------------------------------------------------------- */

/* {"counts": groups x true classes x decisions, "rows"}; a new reference. group NULL: there are none. */
static mel_status counts_json(json_t **out, size_t rows, const uint32_t *truth, const uint32_t *decision,
                              const uint32_t *group, const mel_problem *problem, mel_error *err)
{
    const size_t k = problem->n_classes, m = problem->n_groups > 1 ? problem->n_groups : 1, n = m * k * k;
    MEL_AUTO_MEMORY json_int_t *count = mel_alloc_zero(n, sizeof *count);
    if (count == NULL)
        return mel_fail_memory(err, "decisions");
    for (size_t i = 0; i < rows; i++)
        count[((group != NULL ? group[i] : 0) * k + truth[i]) * k + decision[i]]++;
    json_t *list = json_array();
    for (size_t i = 0; i < n; i++)
        mel_json_push(&list, json_integer(count[i]));
    *out = json_pack("{s:o, s:I}", "counts", list, "rows", (json_int_t)rows);
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
    TRY(groups_of_upload(&group, table, body, problem, &call->err));
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

/* --- decisions with the result -------------------------------------------------------------- */

/* The upload whose rows decisions are about. */
typedef struct {
    const char *upload;
    const mel_table *table;
} named_rows;

typedef struct {
    const mel_table *table;
    mel_table *again; /* the table, read once more for its ids; NULL: it has them */
    size_t column;    /* of texts; SIZE_MAX: rows have numbers only */
    bool numbers;     /* the texts are numbers: none is a formula, -7 neither */
} ids_of_rows;

/* --- which row a decision is about ------------------------------------------------------------------ */

/* Whether every row has a text of its own: texts are numbered in the order in which they appear. */
static bool tells_apart(const mel_table *table, size_t column)
{
    const size_t n = mel_table_rows(table);
    const uint32_t *code = mel_table_codes(table, column);
    size_t i = 0;
    while (code != NULL && i < n && code[i] == i)
        i++;
    return n > 0 && i == n;
}

/* "id", "customer_id", "Customer ID", "customerId": not "paid". */
static bool is_called_id(const char *name)
{
    const size_t n = strlen(name);
    if (n < 2 || strcasecmp(name + n - 2, "id") != 0)
        return false;
    return n == 2 || !isalpha((unsigned char)name[n - 3]) ||
           (name[n - 2] == 'I' && islower((unsigned char)name[n - 3]));
}

/* A column that is called so, else the first one of texts, in which no two rows are alike. */
static size_t find_ids(const mel_table *table)
{
    for (int texts = 0; texts < 2; texts++)
        for (size_t c = 0; c < mel_table_columns(table); c++)
            if ((texts || is_called_id(mel_table_column_name(table, c))) && tells_apart(table, c))
                return c;
    return SIZE_MAX;
}

/* Numbers do not keep leading zeros, nor more than 15 digits. */
mel_status mel_ids_as_texts(mel_columns_as *out, const mel_table *table, const char *name, mel_error *err)
{
    const size_t n = mel_table_columns(table);
    *out = (mel_columns_as){ .column = mel_alloc(n, sizeof *out->column) };
    if (out->column == NULL)
        return mel_fail_memory(err, "ids of rows");
    for (size_t c = 0; c < n; c++) {
        const char *own = mel_table_column_name(table, c);
        if (mel_table_numbers(table, c) != NULL &&
            (name != NULL ? strcmp(own, name) == 0 : is_called_id(own)))
            out->column[out->n++] = (mel_column_override){ own, MEL_COLUMN_TEXT };
    }
    return MEL_OK;
}

const char *mel_ids_name(const mel_table *table, const mel_table *texts)
{
    const size_t column = find_ids(texts), n = mel_table_rows(table);
    const double *number = column != SIZE_MAX ? mel_table_numbers(table, column) : NULL;
    size_t whole = 0;
    while (number != NULL && whole < n && number[whole] == floor(number[whole]))
        whole++;
    return column != SIZE_MAX && (number == NULL || whole == n) ? mel_table_column_name(table, column) : NULL;
}

static mel_status read_ids(ids_of_rows *ids, mel_call *call, const named_rows *named, const char *id)
{
    MEL_AUTO_CLEAR(mel_columns_as) as = { 0 };
    TRY(mel_ids_as_texts(&as, named->table, id, &call->err));
    if (as.n > 0)
        TRY(mel_upload_read(&ids->again, call, named->upload, &as));
    ids->table = ids->again != NULL ? ids->again : named->table;
    return MEL_OK;
}

/* The column that body["id"] names, else one in which no two rows are alike: called id, or of texts. What it
 * holds is written as the file has it: 007 is not 7. named: or NULL. out->again is the caller's, also after a
 * failure. */
static mel_status find_ids_of(ids_of_rows *out, mel_call *call, const named_rows *named, const json_t *body)
{
    const char *name = mel_json_string(body, "id");
    *out = (ids_of_rows){ .column = SIZE_MAX };
    if (named == NULL)
        return name == NULL ? MEL_OK : mel_fail(&call->err, MEL_EINVAL, "id: these rows have numbers only");
    if (name != NULL && mel_upload_column(named->table, name) == SIZE_MAX)
        return mel_fail(&call->err, MEL_EINVAL, "id: there is no column called \"%.80s\"", name);
    TRY(read_ids(out, call, named, name));
    out->column = name != NULL ? mel_upload_column(out->table, name) : find_ids(out->table);
    out->numbers = out->column != SIZE_MAX && mel_table_numbers(named->table, out->column) != NULL;
    return MEL_OK;
}

static void write_head(mel_buffer *out, const ids_of_rows *ids)
{
    mel_buffer_puts(out, "\"row\",");
    if (ids->column != SIZE_MAX)
        mel_csv_cell(out, mel_table_column_name(ids->table, ids->column), false);
}

/* row: of the file, counted from 1. */
static void write_ids(mel_buffer *out, const ids_of_rows *ids, size_t row)
{
    mel_buffer_printf(out, "%zu,", row);
    if (ids->column == SIZE_MAX)
        return;
    const uint32_t *code = mel_table_codes(ids->table, ids->column);
    const bool known = row >= 1 && row <= mel_table_rows(ids->table) && code[row - 1] != MEL_MISSING;
    const char *text = known ? mel_table_category(ids->table, ids->column, code[row - 1]) : NULL;
    if (text != NULL && !ids->numbers)
        mel_csv_cell(out, text, false);
    else if (text != NULL)
        mel_buffer_printf(out, "\"%s\",", text);
    else
        mel_buffer_puts(out, ",");
}

enum { MOST_TEXT = 16 << 20 }; /* bytes of decisions, which are in memory three times */

/* The rows to decide about. */
typedef struct {
    size_t n, k;
    double *probability;   /* n x k */
    const uint32_t *label; /* NULL: not known */
    const uint32_t *group; /* or NULL */
    const size_t *row;     /* where each is in its file, counted from 1; NULL: in its order */
    ids_of_rows ids;
    size_t n_training; /* the last so many trained the model: the others were held out */
} rows;

/* --- uploaded probabilities ---------------------------------------------------------------------- */

/* The place of a column of numbers; SIZE_MAX: none has this name. */
static size_t find_column(const mel_table *table, const char *name)
{
    const size_t at = mel_upload_column(table, name);
    return at != SIZE_MAX && mel_table_numbers(table, at) != NULL ? at : SIZE_MAX;
}

/* Which columns hold the probabilities: those that are named, else those that are called as the classes. Of
 * two classes the positive one's will do; *only then. */
static mel_status find_columns(size_t *place, bool *only, const mel_table *table, const json_t *named,
                               const mel_problem *problem, mel_error *err)
{
    const size_t k = problem->n_classes, n = json_array_size(named);
    *only = k == 2 && (n == 1 || (n == 0 && find_column(table, problem->class_name[0]) == SIZE_MAX));
    if (n > 0 && n != k && !*only)
        return mel_fail(err, MEL_EINVAL, "columns: %zu are named, there are %zu classes", n, k);
    for (size_t c = *only ? 1 : 0; c < k; c++) {
        const char *name = n > 0 ? json_string_value(json_array_get(named, *only ? 0 : c)) : NULL;
        name = name != NULL ? name : problem->class_name[c];
        place[c] = find_column(table, name);
        if (place[c] == SIZE_MAX)
            return mel_fail(err, MEL_EINVAL, "columns: there is no column of numbers called \"%.80s\"", name);
    }
    return MEL_OK;
}

static mel_status check_chance(double p, const char *column, size_t row, mel_error *err)
{
    return p >= 0.0 && p <= 1.0 ? MEL_OK
                                : mel_fail(err, MEL_EINVAL, "row %zu, column \"%.80s\": %s", row + 1, column,
                                           isnan(p) ? "there is no number" : "not a probability");
}

static mel_status read_uploaded(rows *out, const mel_table *table, const json_t *named,
                                const mel_problem *problem, mel_error *err)
{
    const size_t k = problem->n_classes, n = mel_table_rows(table);
    MEL_AUTO_MEMORY size_t *place = mel_alloc_zero(k, sizeof *place);
    bool only = false;
    out->n = n;
    out->probability = mel_alloc_zero(n, k * sizeof *out->probability);
    if (place == NULL || out->probability == NULL)
        return mel_fail_memory(err, "probabilities");
    TRY(find_columns(place, &only, table, named, problem, err));
    for (size_t i = 0; i < n; i++) {
        TRY(mel_budget_check_row(i, err));
        for (size_t c = only ? 1 : 0; c < k; c++) {
            const double p = mel_table_numbers(table, place[c])[i];
            TRY(check_chance(p, mel_table_column_name(table, place[c]), i, err));
            out->probability[i * k + c] = p;
            if (only)
                out->probability[i * k] = 1.0 - p;
        }
    }
    return MEL_OK;
}

/* --- deciding ------------------------------------------------------------------------------------ */

static mel_status decide(uint32_t *decision, const rows *r, const mel_outcome *found, bool calibrated,
                         mel_error *err)
{
    if (calibrated && !isfinite(found->threshold.value))
        return mel_fail(err, MEL_EINVAL, "calibrated: this metric has no threshold of its own");
    if (!calibrated && found->best == NULL)
        return mel_fail(err, MEL_EINVAL, "no best rule is known for this metric and these questions");
    if (!calibrated)
        return mel_classifier_decide(
            decision, found->best,
            &(mel_undecided){ .n = r->n, .probability = r->probability, .group = r->group, .seed = 1 }, err);
    for (size_t i = 0; i < r->n; i++)
        decision[i] = r->probability[i * r->k + 1] >= found->threshold.value;
    return MEL_OK;
}

static void write_row(mel_buffer *out, const rows *r, size_t i, uint32_t decision, const mel_problem *problem)
{
    write_ids(out, &r->ids, r->row != NULL ? r->row[i] : i + 1);
    if (r->n_training > 0)
        mel_csv_cell(out, i < r->n - r->n_training ? "measure" : "train", false);
    for (size_t c = r->k == 2 ? 1 : 0; c < r->k; c++) {
        char number[MEL_NUMBER_TEXT];
        mel_number_print(number, r->probability[i * r->k + c]);
        mel_buffer_printf(out, "%s,", number);
    }
    if (r->label != NULL)
        mel_csv_cell(out, problem->class_name[r->label[i]], false);
    mel_csv_cell(out, problem->class_name[decision], true);
}

/* {"csv", "rows", "decided": [{"name", "rows"}]}; a new reference. */
static mel_status write_decisions(json_t **out, const rows *r, const uint32_t *decision,
                                  const mel_problem *problem, mel_error *err)
{
    __attribute__((cleanup(mel_buffer_free))) mel_buffer text;
    mel_buffer_init(&text, MOST_TEXT);
    write_head(&text, &r->ids);
    if (r->n_training > 0)
        mel_csv_cell(&text, "used to", false);
    for (size_t c = r->k == 2 ? 1 : 0; c < r->k; c++) {
        char name[200];
        (void)snprintf(name, sizeof name, "probability of %.150s", problem->class_name[c]);
        mel_csv_cell(&text, name, false);
    }
    mel_buffer_puts(&text, r->label != NULL ? "\"truth\",\"decision\"\r\n" : "\"decision\"\r\n");
    for (size_t i = 0; i < r->n; i++) {
        write_row(&text, r, i, decision[i], problem);
        TRY(mel_budget_check_row(i, err));
    }
    if (text.status == MEL_ELIMIT)
        return mel_fail(err, MEL_ELIMIT, "decisions: these are more than 16 MB; use the command line");
    json_t *decided = json_array();
    for (size_t c = 0; c < r->k; c++) {
        json_int_t n = 0;
        for (size_t i = 0; i < r->n; i++)
            n += decision[i] == c;
        mel_json_push(&decided, json_pack("{s:s, s:I}", "name", problem->class_name[c], "rows", n));
    }
    mel_buffer_puts(&text, "");
    MEL_AUTO_MEMORY char *csv = mel_buffer_take(&text);
    *out = json_pack("{s:s, s:I, s:o}", "csv", csv != NULL ? csv : "", "rows", (json_int_t)r->n, "decided",
                     mel_json_if(csv != NULL, decided));
    return *out != NULL ? MEL_OK : mel_fail_memory(err, "decisions");
}

static mel_status decide_rows(json_t **out, const rows *r, mel_participant *participant, bool calibrated,
                              mel_error *err)
{
    const mel_problem *problem = mel_flow_problem(participant->flow);
    mel_outcome_options opt = mel_result_options(mel_flow_study(participant->flow), problem);
    MEL_AUTO(mel_outcome) *found = NULL;
    opt.treatments = true; /* the best rule of any metric */
    MEL_AUTO_MEMORY uint32_t *decision = mel_alloc_zero(r->n + 1, sizeof *decision);
    if (decision == NULL)
        return mel_fail_memory(err, "decisions");
    TRY(mel_outcome_of_session(&found, mel_flow_session(participant->flow), &opt, err));
    TRY(decide(decision, r, found, calibrated, err));
    return write_decisions(out, r, decision, problem, err);
}

/* About the table, or without one about all rows of the session's file, those that train and those that
 * measure, which only a session of one's own gives away; `named`: the upload that says what rows are called,
 * or NULL. */
static mel_status answer(json_t **out, mel_call *call, mel_participant *participant, const mel_table *table,
                         const named_rows *named, const json_t *body)
{
    const mel_problem *problem = mel_flow_problem(participant->flow);
    MEL_AUTO(mel_problem) *measured = NULL;
    MEL_AUTO_MEMORY double *uploaded = NULL;
    MEL_AUTO_MEMORY uint32_t *group = NULL;
    MEL_AUTO(mel_table) *again = NULL;
    const bool calibrated = mel_json_is_true(body, "calibrated");
    rows r = { .k = problem->n_classes };
    if (table != NULL && !calibrated && mel_space_is_example(mel_flow_study(participant->flow)->space))
        return mel_fail(&call->err, MEL_EINVAL,
                        "upload: the setting is that of the example's test and fits no other file; say that "
                        "the probabilities are calibrated, or start with your own file");
    if (table != NULL) {
        const mel_status read =
            read_uploaded(&r, table, json_object_get(body, "columns"), problem, &call->err);
        uploaded = r.probability;
        TRY(read);
        TRY(groups_of_upload(&group, table, body, problem, &call->err));
        r.group = group;
    } else if (!mel_is_own(participant) || problem->n_rows == 0) {
        return mel_fail(&call->err, MEL_EINVAL, "upload: expected a table of probabilities");
    } else {
        TRY(mel_cache_read_rows(&measured, call->app->cache, mel_flow_study(participant->flow), true,
                                (mel_notice){ 0 }, &call->err));
        r = (rows){ measured->n_rows, r.k,   measured->probability, measured->label, measured->group,
                    measured->row,    { 0 }, measured->n_training };
    }
    const mel_status found = find_ids_of(&r.ids, call, named, body);
    again = r.ids.again;
    TRY(found);
    return decide_rows(out, &r, participant, calibrated, &call->err);
}

/* As heavy work that has begun. */
static mel_status decide_for(json_t **out, mel_call *call, mel_participant *participant,
                             const mel_table *table, const named_rows *named, const json_t *body)
{
    TRY(mel_work_grow(call->app->admission, true, 3 * (size_t)MOST_TEXT, &call->err));
    const mel_status status = answer(out, call, participant, table, named, body);
    return status == MEL_ELIMIT /* which is about what they asked for */
               ? mel_call_refuse(call, 413, "too-large", call->err.text)
               : status;
}

/* About an upload, or else about the rows of the session, of which an upload says what they are called. */
static mel_status decide_rows_of(json_t **out, mel_call *call, mel_participant *participant,
                                 const json_t *body)
{
    const char *id = mel_json_string(body, "upload");
    const char *file = mel_json_string(mel_flow_study(participant->flow)->space, "data");
    const bool given = id != NULL;
    MEL_HELD(held);
    MEL_AUTO(mel_table) *table = NULL;
    if (!given && mel_is_own(participant) && mel_is_upload(file))
        id = file + sizeof MEL_UPLOAD - 1;
    if (id == NULL) {
        TRY(mel_work_begin(&held, call->app->admission, &(mel_work){ .own = true, .shared = true },
                           &call->err));
        return decide_for(out, call, participant, NULL, NULL, body);
    }
    TRY(mel_upload_open(&table, &held, call, id));
    return decide_for(out, call, participant, given ? table : NULL, &(named_rows){ id, table }, body);
}

/* Nothing is read before it is known who asks, and that they may see a result. */
mel_status mel_api_decide(json_t **out, mel_call *call)
{
    json_auto_t *body = NULL;
    mel_participant *participant = NULL;
    TRY(mel_call_own_body(&body, call, call->cookie));
    TRY(mel_call_take_for_result(&participant, call));
    const mel_status status = decide_rows_of(out, call, participant, body);
    mel_call_finish(call, status, *out); /* before others can take the participant */
    *out = NULL;
    mel_participant_release(call->app->cache, participant, true);
    return status;
}

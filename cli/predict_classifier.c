/* melicit predict --classifier: a stored classifier applied to class probabilities, file by file. */
#include "predict.h"

#include "base/team.h"
#include "output.h"

#include <stdlib.h>
#include <string.h>

/* Files that belong together row by row; the first are those of probabilities, or of the model's table. */
enum { ROWS, GROUPS, FEATURES, IDS, KINDS };

/* One run; cleared in one place. */
typedef struct {
    const cli_run *run;
    const cli_classifier_job *job;
    cli_decider decider;
    mel_reader reader;
    char *data;               /* where the table is */
    const char *given[KINDS]; /* files and patterns; NULL: none */
    mel_matches files[KINDS]; /* where all that is given are patterns */
    cli_classified_rows rows; /* of the file that was read */
    predict_file all;
    prediction_file file;
    size_t *decided; /* rows per decision */
    /* What decisions are called, and what the data call them: the classes, and "refer" where there is such a
     * one. */
    size_t n_decisions;
    const char **name, **label;
} work;

static void work_clear(work *w)
{
    cli_decider_clear(&w->decider);
    mel_reader_clear(&w->reader);
    free(w->data);
    for (size_t f = 0; f < KINDS; f++)
        mel_matches_clear(&w->files[f]);
    cli_classified_clear(&w->rows);
    prediction_file_abandon(&w->file);
    free(w->decided);
    free(w->name);
    free(w->label);
}

/* What the decision is called that is none of the classes. */
static const char refer[] = "refer";

static mel_status load(work *w, mel_error *err)
{
    TRY(cli_decider_load(&w->decider, w->job, err));
    const mel_classifier_parts *of = &w->decider.of;
    const size_t k = of->n_classes;
    w->n_decisions = of->n_decisions > k ? of->n_decisions : k;
    w->decided = cli_alloc_zero(w->n_decisions, sizeof *w->decided);
    w->name = cli_alloc_zero(w->n_decisions, sizeof *w->name);
    w->label = cli_alloc_zero(w->n_decisions, sizeof *w->label);
    for (size_t j = 0; j < w->n_decisions; j++) {
        w->name[j] = j < k ? of->class_name[j] : refer;
        w->label[j] = j < k ? w->decider.classes.label[j] : refer;
    }
    return MEL_OK;
}

/* --- which files ---------------------------------------------------------------------------------- */

/* Whether ids are numbers in some files and texts in others: what a number is called is then its text. A file
 * that cannot be read is refused later. */
static bool ids_are_mixed(const work *w)
{
    const mel_team *team = mel_team_get();
    size_t found[2] = { 0, 0 };
    mel_read_options read = w->reader.options;
    read.notice.call = NULL;
    read.shards = NULL; /* files of other rows */
    for (size_t i = team->rank; i < w->files[IDS].n; i += team->size) {
        mel_table *table = NULL;
        const char *column = NULL;
        if (cli_read_column(&table, &column, w->files[IDS].file[i].name, "id", "", &read, NULL) == MEL_OK)
            found[mel_table_codes(table, mel_table_find(table, column)) != NULL]++;
        mel_table_free(table);
    }
    if (!mel_team_count(found, 2))
        cli_out_of_memory();
    return found[0] > 0 && found[1] > 0;
}

/* n: how many of each kind belong together; 0: rows are in files of which others do not know. */
static mel_status find_files(size_t *n, work *w, mel_error *err)
{
    size_t patterns = 0, others = 0;
    for (size_t f = 0; f < KINDS; f++) {
        patterns += w->given[f] != NULL && mel_is_pattern(w->given[f]);
        others += w->given[f] != NULL && !mel_is_pattern(w->given[f]);
    }
    *n = patterns == 0;
    if (patterns == 0 || others > 0)
        return MEL_OK;
    const mel_status status = mel_patterns_find(w->files, KINDS, w->given, err);
    *n = w->given[IDS] == NULL || !ids_are_mixed(w) ? w->files[ROWS].n : 0;
    return status;
}

static mel_status prepare(work *w, mel_error *err)
{
    const cli_classifier_job *job = w->job;
    TRY(cli_reader_init(&w->reader, job->reading, w->run, err));
    if (job->model != NULL)
        TRY(cli_find_data(&w->data, job->data, err));
    if (job->model != NULL)
        TRY(cli_reader_expect(&w->reader, mel_model_encoder(w->decider.model), w->data, err));
    const char *const given[KINDS] = { job->model != NULL ? w->data : job->probs, job->groups, job->features,
                                       job->ids };
    memcpy(w->given, given, sizeof given);
    return mel_reader_share(&w->reader, err);
}

static const char *file_name(const void *user, size_t i)
{
    const work *w = user;
    return w->files[ROWS].n > 0 ? w->files[ROWS].file[i].name : w->given[ROWS];
}

/* --- file by file --------------------------------------------------------------------------------- */

static mel_status read_file(predict_file *out, void *user, size_t i, mel_notice notice, mel_error *err)
{
    work *w = user;
    const char *path[KINDS];
    for (size_t f = 0; f < KINDS; f++)
        path[f] = w->files[f].n > 0 ? w->files[f].file[i].name : w->given[f];
    cli_classifier_job one = *w->job;
    one.probs = one.model != NULL ? NULL : path[ROWS];
    one.data = one.model != NULL ? path[ROWS] : NULL;
    one.groups = path[GROUPS];
    one.features = path[FEATURES];
    one.ids = path[IDS];
    w->reader.options.notice = notice;
    mel_shards_clear(&w->reader.shards); /* of the file before */
    cli_classified_clear(&w->rows);
    const mel_status status =
        cli_classified_read(&w->rows, &w->decider, w->run, &one, &w->reader.options, err);
    *out = (predict_file){ .rows = w->rows.proba.n_rows,
                           .unseen = w->rows.unseen,
                           .columns = one.model != NULL ? 0 : w->rows.proba.n_columns,
                           .named = one.model == NULL && w->rows.proba.name != NULL };
    return status;
}

/* Columns of which the type is given may be in files of other ranks. */
static void share_found(work *w)
{
    const size_t n = w->reader.options.n_overrides;
    size_t *found = cli_alloc_zero(n, sizeof *found);
    for (size_t i = 0; i < n; i++)
        found[i] = w->reader.found[i];
    if (n > 0 && !mel_team_count(found, n))
        cli_out_of_memory();
    for (size_t i = 0; i < n; i++)
        w->reader.found[i] = found[i] > 0;
    free(found);
}

static mel_status open_out(void *user, mel_error *err)
{
    work *w = user;
    const cli_classifier_job *job = w->job;
    share_found(w);
    TRY(cli_reader_check(&w->reader, job->reading, w->run, err));
    const prediction_shape shape = { .csv = job->csv,
                                     .decisions = !job->chances,
                                     .classes = w->n_decisions,
                                     .names = w->name,
                                     .labels = w->label,
                                     .number_texts = w->decider.of.number_texts };
    if (!job->csv && !job->chances && w->n_decisions > w->decider.of.n_classes)
        return cli_fail(err, MEL_EINVAL, "%s refers cases, which has no number in an NPY file: write CSV",
                        job->classifier);
    return mel_team_leads() ? prediction_file_open(&w->file, job->out, &shape, err) : MEL_OK;
}

static mel_status say_rows(void *said, void *user, size_t before, mel_error *err)
{
    const work *w = user;
    const cli_classified_rows *r = &w->rows;
    const cli_decider *d = &w->decider;
    const size_t n = r->proba.n_rows;
    const mel_undecided rows = { .n = n,
                                 .probability = r->proba.value,
                                 .group = r->groups.code,
                                 .row_cost = r->row_cost,
                                 .features = &r->features.view,
                                 .row_name = r->row_name,
                                 .seed = w->job->chances ? 0 : w->run->seed,
                                 .before = before };
    return w->job->chances ? mel_classifier_chances(said, d->classifier, &rows, err)
                           : mel_classifier_decide(said, d->classifier, &rows, err);
}

static mel_status write_rows(void *user, const void *said, size_t n, mel_error *err)
{
    work *w = user;
    const double *chance = said;
    const uint32_t *prediction = said;
    for (size_t i = 0; i < n; i++) {
        if (w->job->chances) {
            TRY(prediction_file_probabilities(&w->file, chance + i * w->n_decisions, err));
        } else {
            w->decided[prediction[i]]++;
            TRY(prediction_file_decision(&w->file, prediction[i], err));
        }
    }
    return MEL_OK;
}

static mel_status decide_all(work *w, mel_error *err)
{
    predict_files files = { .run = w->run,
                            .name = file_name,
                            .row_bytes = w->job->chances ? w->n_decisions * sizeof(double) : sizeof(uint32_t),
                            .read = read_file,
                            .begin = open_out,
                            .say = say_rows,
                            .write = write_rows,
                            .user = w };
    TRY(find_files(&files.n, w, err));
    for (size_t f = 0; f < KINDS && files.n == 0; f++)
        mel_matches_clear(&w->files[f]);
    TRY(cli_predict_files(&w->all, &files, err));
    if (w->all.unseen > 0)
        cli_warn(
            w->run,
            "%zu cells hold a category that the training rows did not have: taken as none of the known ones",
            w->all.unseen);
    return mel_team_leads() ? prediction_file_commit(&w->file, err) : MEL_OK;
}

static void report(cli_run *run, const work *w)
{
    const cli_classifier_job *job = w->job;
    char number[CLI_COUNT_SIZE];
    json_t *classes = json_array(), *decided = json_array();
    for (size_t c = 0; c < w->n_decisions; c++) {
        cli_push(classes, cli_json_text(w->name[c]));
        cli_push(decided, cli_json_count(w->decided[c]));
    }
    cli_put(run->result, "classifier", cli_json_text(job->classifier));
    cli_put(run->result, job->probs != NULL ? "probs" : "model",
            cli_json_text(job->probs != NULL ? job->probs : job->model));
    cli_put(run->result, "rows", cli_json_count(w->all.rows));
    cli_put(run->result, "classes", classes);
    cli_put(run->result, "decisions", job->chances ? json_null() : decided);
    if (job->chances)
        json_decref(decided);
    cli_put(run->result, "out", cli_json_text(job->out));
    if (run->json || strcmp(job->out, "-") == 0)
        return;
    cli_print("%s rows of %s: %s in %s\n", cli_count(number, w->all.rows),
              job->probs != NULL ? job->probs : job->data,
              job->chances ? "chances of each decision" : "decisions", job->out);
    for (size_t c = 0; !job->chances && c < w->n_decisions; c++) {
        char *name = cli_short(w->name[c], 40);
        cli_print("  %s rows are called \"%s\"\n", cli_count(number, w->decided[c]), name);
        free(name);
    }
}

mel_status cli_predict_classifier(cli_run *run, const cli_classifier_job *job, mel_error *err)
{
    MEL_AUTO_CLEAR(work) w = { .run = run, .job = job };
    TRY(load(&w, err));
    TRY(prepare(&w, err));
    TRY(decide_all(&w, err));
    report(run, &w);
    return MEL_OK;
}

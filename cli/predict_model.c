/* melicit predict --model: a stored model applied to new rows, file by file. */
#include "predict.h"

#include "base/team.h"
#include "output.h"
#include "progress.h"
#include "train_report.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

/* One run; cleared in one place. */
typedef struct {
    const cli_run *run;
    const cli_model_job *args;
    mel_model *model;
    size_t k;
    char *path;
    mel_matches files; /* of a pattern; n 0: there is one file, of that path */
    mel_reader reader;
    prediction_file file;
    predict_file all; /* what was predicted so far */
    double *probs;    /* of the rows of a file, where rows go file by file */
    size_t n_probs;
    size_t *decided; /* rows per class, with --decisions */
} prediction;

static void prediction_clear(prediction *p)
{
    mel_model_free(p->model);
    free(p->path);
    mel_matches_clear(&p->files);
    mel_reader_clear(&p->reader);
    prediction_file_abandon(&p->file);
    free(p->probs);
    free(p->decided);
    *p = (prediction){ 0 };
}

static mel_status load(prediction *p, mel_error *err)
{
    const cli_model_job *args = p->args;
    TRY(mel_model_load(&p->model, args->model, err));
    p->k = mel_model_classes(p->model);
    if (mel_model_encoder(p->model) == NULL)
        return cli_fail(err, MEL_EDATA, "%s: the model does not say how a table becomes features",
                        args->model);
    if (isfinite(args->threshold) && p->k != 2)
        return cli_fail(err, MEL_EINVAL, "--threshold is for two classes; %s has %zu", args->model, p->k);
    p->decided = cli_alloc_zero(p->k, sizeof *p->decided);
    return MEL_OK;
}

static uint32_t decide(const cli_model_job *args, size_t k, const double *probs)
{
    return isfinite(args->threshold) ? probs[1] >= args->threshold : cli_most_probable(k, probs);
}

static mel_status write_rows(void *user, const void *said, size_t n, mel_error *err)
{
    prediction *p = user;
    const double *probs = said;
    for (size_t i = 0; i < n; i++) {
        if (p->args->decisions) {
            const uint32_t code = decide(p->args, p->k, probs + i * p->k);
            p->decided[code]++;
            TRY(prediction_file_decision(&p->file, code, err));
        } else {
            TRY(prediction_file_probabilities(&p->file, probs + i * p->k, err));
        }
    }
    return MEL_OK;
}

/* Probabilities of rows that were read come behind those that are there. */
static mel_status predict_rows(predict_file *of, prediction *p, const mel_table *rows, mel_error *err)
{
    MEL_AUTO_CLEAR(mel_encoded) x = { 0 };
    TRY(mel_encode(&x, mel_model_encoder(p->model), rows, err));
    p->probs = cli_regrow(p->probs, p->n_probs + x.view.n_rows, p->k * sizeof *p->probs);
    TRY(mel_model_predict(p->probs + p->n_probs * p->k, p->model, &x.view, p->run->threads, err));
    p->n_probs += x.view.n_rows;
    of->rows += x.view.n_rows;
    of->unseen += x.unseen;
    of->imputed += x.imputed;
    return cli_check_stop(err);
}

static mel_status open_out(void *user, mel_error *err)
{
    prediction *p = user;
    mel_status status = cli_reader_check(&p->reader, p->args->reading, p->run, err);
    if (status != MEL_OK || !mel_team_leads())
        return status;
    const char **names = cli_alloc_zero(p->k, sizeof *names);
    for (size_t c = 0; c < p->k; c++)
        names[c] = mel_model_class_name(p->model, c);
    const prediction_shape shape = { .csv = p->args->csv,
                                     .decisions = p->args->decisions,
                                     .classes = p->k,
                                     .names = names,
                                     .labels = names,
                                     .number_texts = mel_model_number_texts(p->model) };
    status = prediction_file_open(&p->file, p->args->out, &shape, err);
    free(names);
    return status;
}

static const char *file_name(const void *user, size_t i)
{
    const prediction *p = user;
    return p->files.n > 0 ? p->files.file[i].name : p->path;
}

static mel_status read_file(predict_file *out, void *user, size_t i, mel_notice notice, mel_error *err)
{
    prediction *p = user;
    MEL_AUTO(mel_table) *table = NULL;
    p->reader.options.notice = notice;
    p->n_probs = 0;
    TRY(mel_table_read(&table, file_name(p, i), &p->reader.options, err));
    return predict_rows(out, p, table, err);
}

static mel_status say_file(void *said, void *user, size_t before, mel_error *err)
{
    (void)before;
    (void)err;
    prediction *p = user;
    memcpy(said, p->probs, p->n_probs * p->k * sizeof *p->probs);
    return MEL_OK;
}

static mel_status predict_by_file(prediction *p, mel_error *err)
{
    const predict_files files = { .run = p->run,
                                  .n = p->files.n > 0 ? p->files.n : 1,
                                  .name = file_name,
                                  .row_bytes = p->k * sizeof *p->probs,
                                  .read = read_file,
                                  .begin = open_out,
                                  .say = say_file,
                                  .write = write_rows,
                                  .user = p };
    return cli_predict_files(&p->all, &files, err);
}

static mel_status predict_all(prediction *p, mel_error *err)
{
    TRY(cli_reader_init(&p->reader, p->args->reading, p->run, err));
    TRY(cli_find_data(&p->path, p->args->data, err));
    if (mel_is_pattern(p->path))
        TRY(mel_pattern_find(&p->files, p->path, err));
    TRY(cli_reader_expect(&p->reader, mel_model_encoder(p->model), p->path, err));
    TRY(predict_by_file(p, err));
    return mel_team_leads() ? prediction_file_commit(&p->file, err) : MEL_OK;
}

/* --- what was done ------------------------------------------------------------------------------- */

static void report_json(cli_run *run, const prediction *p)
{
    const cli_model_job *args = p->args;
    json_t *classes = json_array(), *decided = args->decisions ? json_array() : json_null();
    for (size_t c = 0; c < p->k; c++) {
        cli_push(classes, cli_json_text(mel_model_class_name(p->model, c)));
        if (args->decisions)
            cli_push(decided, cli_json_count(p->decided[c]));
    }
    cli_put(run->result, "model", cli_json_text(args->model));
    cli_put(run->result, "data", cli_json_text(args->data));
    cli_put(run->result, "rows", cli_json_count(p->all.rows));
    cli_put(run->result, "classes", classes);
    cli_put(run->result, "decisions", decided);
    cli_put(run->result, "threshold", cli_json_number(args->threshold));
    cli_put(run->result, "unseen", cli_json_count(p->all.unseen));
    cli_put(run->result, "imputed", cli_json_count(p->all.imputed));
    cli_put(run->result, "out", cli_json_text(args->out));
}

static void report_text(const prediction *p)
{
    const cli_model_job *args = p->args;
    char number[CLI_COUNT_SIZE];
    cli_print("%s row%s of %s: %s in %s\n", cli_count(number, p->all.rows), p->all.rows == 1 ? "" : "s",
              args->data, args->decisions ? "decisions" : "probabilities", args->out);
    if (p->all.imputed != 0)
        cli_print("  %s missing cell%s filled in as learned in training\n", cli_count(number, p->all.imputed),
                  p->all.imputed == 1 ? " was" : "s were");
    for (size_t c = 0; args->decisions && c < p->k; c++) {
        char *name = cli_short(mel_model_class_name(p->model, c), 40);
        cli_print("  %s row%s called \"%s\"\n", cli_count(number, p->decided[c]),
                  p->decided[c] == 1 ? " is" : "s are", name);
        free(name);
    }
}

static void warn_unseen(const prediction *p)
{
    char number[CLI_COUNT_SIZE];
    const size_t n = p->all.unseen;
    if (n > 0)
        cli_warn(p->run, "%s cell%s of %s hold%s a %s", cli_count(number, n), n == 1 ? "" : "s",
                 p->args->data, n == 1 ? "s" : "",
                 mel_encoder_columns(mel_model_encoder(p->model)) == 0
                     ? "feature that the training rows did not have: left out"
                     : "category that the training rows did not have: taken as none of the known ones");
}

mel_status cli_predict_model(cli_run *run, const cli_model_job *args, mel_error *err)
{
    MEL_AUTO_CLEAR(prediction) p = { .run = run, .args = args };
    TRY(load(&p, err));
    TRY(predict_all(&p, err));

    warn_unseen(&p);
    if (run->json)
        report_json(run, &p);
    else if (strcmp(args->out, "-") != 0)
        report_text(&p);
    return MEL_OK;
}

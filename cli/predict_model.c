/* melicit predict --model: a stored model applied to new rows, block by block for CSV files of any size, or
 * by several ranks. */
#include "predict_model.h"

#include "base/team.h"
#include "data/shared.h"
#include "files.h"
#include "measure.h"
#include "output.h"
#include "prediction_file.h"
#include "progress.h"
#include "ranks.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

/* One run; cleared in one place. */
typedef struct {
    mel_model *model;
    size_t k;
    char *path;
    mel_reader reader;
    prediction_file file;
    size_t rows, unseen, imputed;
    size_t *decided; /* rows per class, with --decisions */
} prediction;

static void prediction_clear(prediction *p)
{
    mel_model_free(p->model);
    free(p->path);
    mel_reader_clear(&p->reader);
    prediction_file_abandon(&p->file);
    free(p->decided);
    *p = (prediction){ 0 };
}

static mel_status load(prediction *p, const cli_model_job *args, mel_error *err)
{
    const mel_status status = mel_model_load(&p->model, args->model, err);
    if (status != MEL_OK)
        return status;
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

static mel_status write_rows(prediction *p, const cli_model_job *args, size_t n, const double *probs,
                             mel_error *err)
{
    mel_status status = MEL_OK;
    for (size_t i = 0; status == MEL_OK && i < n; i++) {
        if (args->decisions) {
            const uint32_t code = decide(args, p->k, probs + i * p->k);
            p->decided[code]++;
            status = prediction_file_decision(&p->file, code, err);
        } else {
            status = prediction_file_probabilities(&p->file, probs + i * p->k, err);
        }
    }
    return status;
}

/* Probabilities of rows that were read; freed by the caller. */
static mel_status predict_rows(double **probs, prediction *p, const cli_run *run, const mel_table *rows,
                               mel_error *err)
{
    mel_encoded x = { 0 };
    mel_status status = mel_encode(&x, mel_model_encoder(p->model), rows, err);
    if (status != MEL_OK)
        return status;
    *probs = cli_alloc_zero(x.view.n_rows, p->k * sizeof **probs);
    status = mel_model_predict(*probs, p->model, &x.view, run->threads, err);
    p->rows += x.view.n_rows;
    p->unseen += x.unseen;
    p->imputed += x.imputed;
    mel_encoded_clear(&x);
    return status;
}

static mel_status predict_block(prediction *p, const cli_run *run, const cli_model_job *args,
                                const mel_table *block, mel_error *err)
{
    double *probs = NULL;
    mel_status status = predict_rows(&probs, p, run, block, err);
    if (status == MEL_OK)
        status = write_rows(p, args, mel_table_rows(block), probs, err);
    free(probs);
    return status != MEL_OK ? status : cli_check_stop(err);
}

static mel_status open_out(prediction *p, const cli_model_job *args, size_t rows, mel_error *err)
{
    const char **names = cli_alloc_zero(p->k, sizeof *names);
    for (size_t c = 0; c < p->k; c++)
        names[c] = mel_model_class_name(p->model, c);
    const prediction_shape shape = { .csv = args->csv,
                                     .decisions = args->decisions,
                                     .rows = rows,
                                     .classes = p->k,
                                     .names = names,
                                     .labels = names,
                                     .number_texts = mel_model_number_texts(p->model) };
    const mel_status status = prediction_file_open(&p->file, args->out, &shape, err);
    free(names);
    return status;
}

/* Ranks have the rows of every so many files: they exchange what they say of one file each, and so on, so
 * that no rank ever has more than that of other files. */
static mel_status write_rounds(prediction *p, const cli_model_job *args, const double *own, mel_error *err)
{
    const mel_team *team = mel_team_get();
    const mel_shards *files = &p->reader.shards;
    size_t *sizes = cli_alloc_zero(team->size, sizeof *sizes), counts[] = { p->unseen, p->imputed };
    mel_status status = mel_team_count(counts, 2) ? MEL_OK : cli_fail(err, MEL_ENOMEM, "out of memory");
    for (size_t first = 0; first < files->n && status == MEL_OK; first += team->size) {
        const size_t end = first + team->size < files->n ? first + team->size : files->n;
        const size_t mine = first + team->rank < end ? first + team->rank : end;
        const size_t from = files->here[mine], to = files->here[mine < end ? mine + 1 : end];
        double *all = mel_team_collect(sizes, own + from * p->k, (to - from) * p->k * sizeof *own);
        status = all != NULL ? write_rows(p, args, files->start[end] - files->start[first], all, err)
                             : cli_fail(err, MEL_ENOMEM, "out of memory for what other ranks say");
        free(all);
    }
    p->rows = files->start[files->n];
    p->unseen = counts[0];
    p->imputed = counts[1];
    free(sizes);
    return status;
}

static mel_status predict_divided(prediction *p, const cli_run *run, const cli_model_job *args,
                                  const mel_table *rows, mel_error *err)
{
    double *own = NULL;
    mel_status status = predict_rows(&own, p, run, rows, err);
    if (status == MEL_OK)
        status = write_rounds(p, args, own, err);
    free(own);
    return status;
}

/* As several ranks, each has the rows of its own files of a pattern. */
static mel_status predict_whole(prediction *p, const cli_run *run, const cli_model_job *args, mel_error *err)
{
    mel_table *table = NULL;
    p->reader.options.shards = &p->reader.shards;
    p->reader.options.divided = true;
    mel_status status = mel_table_read(&table, p->path, &p->reader.options, err);
    const bool divided = status == MEL_OK && mel_table_is_divided(table);
    if (status == MEL_OK)
        status = cli_reader_check(&p->reader, args->reading, run, err);
    if (status == MEL_OK)
        status = open_out(p, args,
                          divided ? p->reader.shards.start[p->reader.shards.n] : mel_table_rows(table), err);
    if (status == MEL_OK)
        status =
            divided ? predict_divided(p, run, args, table, err) : predict_block(p, run, args, table, err);
    mel_table_free(table);
    return status;
}

static mel_status predict_blocks(prediction *p, const cli_run *run, const cli_model_job *args,
                                 mel_stream *stream, mel_error *err)
{
    enum { BLOCK_ROWS = 65536 };
    mel_status status = MEL_OK;
    mel_table *block = NULL;
    do {
        mel_table_free(block);
        block = NULL;
        if (status == MEL_OK)
            status = mel_stream_next(&block, stream, BLOCK_ROWS, err);
        if (status == MEL_OK && block != NULL)
            status = predict_block(p, run, args, block, err);
    } while (status == MEL_OK && block != NULL);
    mel_table_free(block);
    return status;
}

/* The rows of one CSV file, behind those of the files before it. */
static mel_status predict_file(prediction *p, const cli_run *run, const cli_model_job *args, const char *path,
                               size_t all_rows, mel_error *err)
{
    mel_stream *stream = NULL;
    mel_status status = mel_stream_open(&stream, path, &p->reader.options, err);
    if (status == MEL_OK && p->file.out.stream == NULL)
        status = cli_reader_check(&p->reader, args->reading, run, err);
    if (status == MEL_OK && p->file.out.stream == NULL)
        status = open_out(p, args, all_rows > 0 ? all_rows : mel_stream_rows(stream), err);
    if (status == MEL_OK)
        status = predict_blocks(p, run, args, stream, err);
    mel_stream_free(stream);
    return status;
}

/* An NPY file begins with the number of its rows. */
static mel_status count_rows(size_t *rows, const prediction *p, const mel_matches *files, mel_error *err)
{
    mel_status status = MEL_OK;
    mel_read_options read = p->reader.options;
    read.notice.call = NULL;
    for (size_t i = 0; i < files->n && status == MEL_OK; i++) {
        mel_stream *stream = NULL;
        status = mel_stream_open(&stream, files->file[i].name, &read, err);
        *rows += status == MEL_OK ? mel_stream_rows(stream) : 0;
        mel_stream_free(stream);
    }
    return status;
}

static mel_status predict_stream(prediction *p, const cli_run *run, const cli_model_job *args, mel_error *err)
{
    if (!mel_is_pattern(p->path))
        return predict_file(p, run, args, p->path, 0, err);
    mel_matches files;
    size_t rows = 0;
    mel_status status = mel_pattern_find(&files, p->path, err);
    if (status == MEL_OK && !args->csv)
        status = count_rows(&rows, p, &files, err);
    for (size_t i = 0; i < files.n && status == MEL_OK; i++)
        status = predict_file(p, run, args, files.file[i].name, rows, err);
    mel_matches_clear(&files);
    return status;
}

static void report_json(cli_run *run, const prediction *p, const cli_model_job *args)
{
    json_t *classes = json_array(), *decided = args->decisions ? json_array() : json_null();
    for (size_t c = 0; c < p->k; c++) {
        cli_push(classes, cli_json_text(mel_model_class_name(p->model, c)));
        if (args->decisions)
            cli_push(decided, cli_json_count(p->decided[c]));
    }
    cli_put(run->result, "model", cli_json_text(args->model));
    cli_put(run->result, "data", cli_json_text(args->data));
    cli_put(run->result, "rows", cli_json_count(p->rows));
    cli_put(run->result, "classes", classes);
    cli_put(run->result, "decisions", decided);
    cli_put(run->result, "threshold", cli_json_number(args->threshold));
    cli_put(run->result, "unseen", cli_json_count(p->unseen));
    cli_put(run->result, "imputed", cli_json_count(p->imputed));
    cli_put(run->result, "out", cli_json_text(args->out));
}

static void report_text(const prediction *p, const cli_model_job *args)
{
    char number[CLI_COUNT_SIZE];
    cli_print("%s row%s of %s: %s in %s\n", cli_count(number, p->rows), p->rows == 1 ? "" : "s", args->data,
              args->decisions ? "decisions" : "probabilities", args->out);
    if (p->imputed != 0)
        cli_print("  %s missing cell%s filled in as learned in training\n", cli_count(number, p->imputed),
                  p->imputed == 1 ? " was" : "s were");
    for (size_t c = 0; args->decisions && c < p->k; c++) {
        char *name = cli_short(mel_model_class_name(p->model, c), 40);
        cli_print("  %s row%s called \"%s\"\n", cli_count(number, p->decided[c]),
                  p->decided[c] == 1 ? " is" : "s are", name);
        free(name);
    }
}

mel_status cli_predict_model(cli_run *run, const cli_model_job *args, mel_error *err)
{
    prediction p = { 0 };
    mel_status status = load(&p, args, err);
    if (status == MEL_OK)
        status = cli_reader_init(&p.reader, args->reading, run, err);
    if (status == MEL_OK)
        status = cli_find_data(&p.path, args->data, err);
    if (status == MEL_OK)
        status = cli_reader_expect(&p.reader, mel_model_encoder(p.model), p.path, err);
    if (status == MEL_OK)
        status = cli_is_csv_file(p.path, args->reading->format) && !cli_ranks_many()
                     ? predict_stream(&p, run, args, err)
                     : predict_whole(&p, run, args, err);
    if (status == MEL_OK)
        status = prediction_file_commit(&p.file, err);
    if (status == MEL_OK) {
        char number[CLI_COUNT_SIZE];
        if (p.unseen != 0)
            cli_warn(run, "%s cell%s of %s hold%s a %s", cli_count(number, p.unseen),
                     p.unseen == 1 ? "" : "s", args->data, p.unseen == 1 ? "s" : "",
                     mel_encoder_columns(mel_model_encoder(p.model)) == 0
                         ? "feature that the training rows did not have: left out"
                         : "category that the training rows did not have: taken as none of the known ones");
        if (run->json)
            report_json(run, &p, args);
        else if (strcmp(args->out, "-") != 0)
            report_text(&p, args);
    }
    prediction_clear(&p);
    return status;
}

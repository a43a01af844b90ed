/* melicit predict --classifier: a stored classifier applied to class probabilities. */
#include "predict_classifier.h"
#include "classify/shared.h"
#include "data/shared.h"
#include "features.h"
#include "files.h"
#include "optimise/shared.h"
#include "output.h"
#include "prediction_file.h"
#include "row_costs.h"

#include <stdlib.h>
#include <string.h>

/* One run; cleared in one place. */
typedef struct {
    mel_classifier *classifier;
    mel_weighted *weighted;  /* instead: one with basis functions */
    cli_features features;   /* that these read */
    mel_classifier_parts of; /* lent by either */
    mel_classes classes;     /* its classes; without "labels" their names stand for them */
    mel_classes joined;      /* groups and classes, where it sees probabilities of both; n 0: it does not */
    mel_proba proba;
    mel_table *table; /* the rows that a model sees; NULL: probabilities are given */
    double *row_cost; /* n_rows x classes; NULL: rows count alike */
    mel_labels groups;
    prediction_file file;
    size_t *decided; /* rows per decision */
    /* What decisions are called, and what the data call them: the classes, and "refer" where there is such a
     * one. */
    size_t n_decisions;
    const char **name, **label;
    mel_labels ids;        /* of the rows, by which mixtures are drawn; n_rows 0: none */
    const char **row_name; /* those of each row; NULL: none */
} work;

static void work_clear(work *w)
{
    mel_classifier_free(w->classifier);
    mel_weighted_free(w->weighted);
    cli_features_clear(&w->features);
    mel_classes_clear(&w->classes);
    mel_classes_clear(&w->joined);
    mel_proba_clear(&w->proba);
    mel_table_free(w->table);
    free(w->row_cost);
    mel_labels_clear(&w->groups);
    prediction_file_abandon(&w->file);
    free(w->decided);
    free(w->name);
    free(w->label);
    mel_labels_clear(&w->ids);
    free(w->row_name);
}

static mel_status read_groups(work *w, const cli_classifier_job *job, const mel_read_options *read,
                              mel_error *err)
{
    const mel_classifier_parts *c = &w->of;
    const bool given = job->groups != NULL || job->group != NULL, needed = c->n_groups > 1 && !c->joint;
    if (given != needed)
        return needed
                   ? cli_fail(err, MEL_EINVAL, "%s decides by groups: give --groups FILE%s", job->classifier,
                              job->data != NULL ? ", or --group COLUMN of the data" : "")
                   : cli_fail(err, MEL_EINVAL, "--group%s: %s does not %s groups",
                              job->groups != NULL ? "s" : "", job->classifier, c->joint ? "look at" : "know");
    if (job->group != NULL) {
        const mel_status found = mel_need_column(w->table, job->group, "--group", err);
        return found == MEL_OK
                   ? mel_take_groups(&w->groups, w->table, job->group, c->n_groups, c->group_name, err)
                   : found;
    }
    if (job->groups == NULL)
        return MEL_OK;
    mel_table *table = NULL;
    const char *column = NULL;
    mel_status status = mel_table_read(&table, job->groups, read, err);
    if (status == MEL_OK)
        status = mel_only_column(&column, table, "group", "the name \"group\"", err);
    if (status == MEL_OK)
        status = mel_take_groups(&w->groups, table, column, c->n_groups, c->group_name, err);
    mel_table_free(table);
    if (status == MEL_OK && w->groups.n_rows != w->proba.n_rows)
        status = cli_fail(err, MEL_EDATA, "%s has %zu rows, %s has %zu: expected one group per row",
                          job->probs != NULL ? job->probs : job->data, w->proba.n_rows, job->groups,
                          w->groups.n_rows);
    return status;
}

/* The ids of the rows, texts or numbers. */
static mel_status read_ids(work *w, const cli_classifier_job *job, const mel_read_options *read,
                           mel_error *err)
{
    if (job->ids == NULL)
        return MEL_OK;
    if (w->classifier == NULL)
        return cli_fail(err, MEL_EINVAL, "--ids: %s has basis functions, whose mixtures are drawn by --seed",
                        job->classifier);
    mel_table *table = NULL;
    const char *column = NULL;
    mel_status status = mel_table_read(&table, job->ids, read, err);
    if (status == MEL_OK)
        status = mel_only_column(&column, table, "id", "the name \"id\"", err);
    if (status == MEL_OK)
        status = mel_table_groups(&w->ids, table, column, err);
    mel_table_free(table);
    if (status == MEL_OK && w->ids.n_rows != w->proba.n_rows)
        status =
            cli_fail(err, MEL_EDATA, "%s has %zu rows, %s has %zu: expected one id per row",
                     job->probs != NULL ? job->probs : job->data, w->proba.n_rows, job->ids, w->ids.n_rows);
    if (status != MEL_OK)
        return status;
    w->row_name = cli_alloc_zero(w->ids.n_rows, sizeof *w->row_name);
    for (size_t i = 0; i < w->ids.n_rows; i++)
        w->row_name[i] = w->ids.name[w->ids.code[i]];
    return MEL_OK;
}

/* A file without "labels" may have renamed its classes: what their sorted order was is then not known. */
static mel_status check_order(const work *w, const cli_classifier_job *job, mel_error *err)
{
    bool sorted = true;
    for (size_t i = 0; i < w->classes.n; i++)
        sorted = sorted && w->classes.place[i] == i;
    if (sorted || w->of.label != NULL)
        return MEL_OK;
    if (w->proba.name == NULL && w->proba.n_columns > 1 && job->columns == NULL)
        return cli_fail(err, MEL_EINVAL,
                        "%s does not say what the labels of its classes were (no \"labels\"), nor %s which "
                        "column is whose: --columns says it",
                        job->classifier, job->probs);
    return job->csv
               ? MEL_OK
               : cli_fail(err, MEL_EINVAL,
                          "%s does not say what the labels of its classes were (no \"labels\"), by which "
                          "NPY files are sorted: write CSV, or apply the metric again",
                          job->classifier);
}

/* What the decision is called that is none of the classes. */
static const char refer[] = "refer";

/* Either kind of classifier. */
static mel_status load_file(work *w, const char *path, mel_error *err)
{
    if (!mel_weighted_recognise(path)) {
        const mel_status status = mel_classifier_load(&w->classifier, path, err);
        if (status == MEL_OK)
            w->of = mel_classifier_get(w->classifier);
        return status;
    }
    const mel_status status = mel_weighted_load(&w->weighted, path, err);
    if (status == MEL_OK) {
        const mel_weighted_parts parts = mel_weighted_get(w->weighted);
        w->of = (mel_classifier_parts){ .n_classes = parts.mixture->n_classes,
                                        .n_decisions = parts.mixture->n_classes,
                                        .class_name = parts.class_name,
                                        .label = parts.label,
                                        .number_texts = parts.number_texts };
    }
    return status;
}

static mel_status read_features(work *w, const cli_classifier_job *job, const mel_read_options *read,
                                mel_error *err)
{
    const mel_weight_basis *basis = w->weighted != NULL ? mel_weighted_get(w->weighted).basis : NULL;
    const bool reads = basis != NULL && mel_weight_basis_reads_features(basis);
    if (reads != (job->features != NULL))
        return reads ? cli_fail(err, MEL_EINVAL, "%s decides by features: give --features FILE",
                                job->classifier)
                     : cli_fail(err, MEL_EINVAL, "--features: %s does not read features", job->classifier);
    return reads ? cli_features_of_basis(&w->features, job->features, basis, w->proba.n_rows, job->probs,
                                         read, err)
                 : MEL_OK;
}

/* --- rows that a model sees --------------------------------------------------------------------- */

static mel_status predict_table(work *w, const mel_model *model, const cli_run *run, mel_error *err)
{
    const size_t k = mel_model_classes(model);
    mel_encoded x = { 0 };
    mel_status status = mel_encode(&x, mel_model_encoder(model), w->table, err);
    if (status != MEL_OK)
        return status;
    w->proba = (mel_proba){ .n_rows = x.view.n_rows, .n_classes = k, .n_columns = k };
    w->proba.value = cli_alloc_zero(x.view.n_rows, k * sizeof *w->proba.value);
    w->proba.name = cli_alloc_zero(k, sizeof *w->proba.name);
    for (size_t c = 0; c < k; c++)
        w->proba.name[c] = cli_format("%s", mel_model_class_name(model, c));
    status = mel_model_predict(w->proba.value, model, &x.view, run->threads, err);
    if (status == MEL_OK && x.unseen > 0)
        cli_warn(run,
                 "%zu cells hold a category that the training rows did not have: taken as none of the "
                 "known ones",
                 x.unseen);
    mel_encoded_clear(&x);
    return status;
}

static mel_status read_through_model(work *w, const cli_run *run, const cli_classifier_job *job,
                                     mel_reader *reader, mel_error *err)
{
    mel_model *model = NULL;
    char *path = NULL;
    mel_status status = mel_model_load(&model, job->model, err);
    if (status == MEL_OK && mel_model_encoder(model) == NULL)
        status =
            cli_fail(err, MEL_EDATA, "%s: the model does not say how a table becomes features", job->model);
    if (status == MEL_OK)
        status = cli_find_data(&path, job->data, err);
    if (status == MEL_OK)
        status = cli_reader_expect(reader, mel_model_encoder(model), path, err);
    if (status == MEL_OK)
        status = mel_table_read(&w->table, path, &reader->options, err);
    if (status == MEL_OK)
        status = predict_table(w, model, run, err);
    mel_model_free(model);
    free(path);
    return status;
}

/* Columns of the table, or of a file of their own. */
static mel_status read_costs(work *w, const cli_classifier_job *job, const mel_read_options *read,
                             mel_error *err)
{
    const char *const *column = w->of.cost_column;
    const size_t k = w->of.n_classes, n = w->proba.n_rows;
    if (column == NULL)
        return job->costs == NULL
                   ? MEL_OK
                   : cli_fail(err, MEL_EINVAL, "--costs: %s does not know costs of rows", job->classifier);
    const char *file = job->costs != NULL ? job->costs : job->data;
    mel_text_list names = { .item = cli_alloc_zero(k, sizeof *names.item) };
    for (size_t c = 0; c < k; c++)
        if (column[c][0] != '\0' && mel_name_place(column[c], names.n, names.item) == names.n)
            names.item[names.n++] = column[c];
    mel_table *table = NULL;
    double *numbers = NULL;
    char *path = NULL;
    mel_status status = file != NULL ? cli_find_data(&path, file, err)
                                     : cli_fail(err, MEL_EINVAL,
                                                "%s weighs rows by their costs: give --costs FILE with %s %s",
                                                job->classifier, names.n == 1 ? "the column" : "the columns",
                                                mel_name_list(names.n, names.item).text);
    if (status == MEL_OK)
        status = mel_table_read(&table, path, read, err);
    if (status == MEL_OK && mel_table_rows(table) != n)
        status = cli_fail(err, MEL_EDATA, "%s has %zu rows, %s has %zu: expected the costs of each row", path,
                          mel_table_rows(table), job->probs != NULL ? job->probs : job->data, n);
    if (status == MEL_OK)
        status = mel_row_costs_read(&numbers, table, &names, job->costs != NULL ? "--costs" : "--data", err);
    if (status == MEL_OK)
        cli_row_costs(&w->row_cost, n, k, column, &names, numbers);
    mel_table_free(table);
    free(numbers);
    free(names.item);
    free(path);
    return status;
}

static mel_status load(work *w, const char *path, mel_error *err)
{
    mel_status status = load_file(w, path, err);
    if (status != MEL_OK)
        return status;
    const size_t k = w->of.n_classes;
    w->n_decisions = w->of.n_decisions > k ? w->of.n_decisions : k;
    w->decided = cli_alloc_zero(w->n_decisions, sizeof *w->decided);
    status =
        mel_classes_of_names(&w->classes, k, w->of.class_name,
                             w->of.label != NULL ? w->of.label : w->of.class_name, w->of.number_texts, err);
    if (status == MEL_OK && w->of.joint)
        status = mel_classes_join(&w->joined, &w->classes, w->of.n_groups, w->of.group_name, err);
    w->name = cli_alloc_zero(w->n_decisions, sizeof *w->name);
    w->label = cli_alloc_zero(w->n_decisions, sizeof *w->label);
    for (size_t j = 0; j < w->n_decisions && status == MEL_OK; j++) {
        w->name[j] = j < k ? w->of.class_name[j] : refer;
        w->label[j] = j < k ? w->classes.label[j] : refer;
    }
    return status;
}

/* What the columns of probabilities are. */
static const mel_classes *columns_are(const work *w)
{
    return w->of.joint ? &w->joined : &w->classes;
}

/* What the probabilities come from. */
static const char *rows_of(const cli_classifier_job *job)
{
    return job->probs != NULL ? job->probs : job->model;
}

static mel_status read_all(work *w, const cli_run *run, const cli_classifier_job *job, mel_error *err)
{
    mel_reader reader = { 0 };
    mel_status status = load(w, job->classifier, err);
    if (status == MEL_OK)
        status = cli_reader_init(&reader, job->reading, run, err);
    if (status == MEL_OK)
        status = mel_reader_share(&reader, err);
    if (status == MEL_OK)
        status = job->model != NULL
                     ? read_through_model(w, run, job, &reader, err)
                     : mel_proba_read_classes(&w->proba, job->probs, columns_are(w), &reader.options, err);
    if (status == MEL_OK && w->proba.n_classes != columns_are(w)->n)
        status =
            cli_fail(err, MEL_EDATA,
                     w->of.joint ? "%s has probabilities of %zu classes, %s looks at %zu, GROUP:CLASS each"
                                 : "%s has probabilities of %zu classes, %s decides between %zu",
                     rows_of(job), w->proba.n_classes, job->classifier, columns_are(w)->n);
    if (status == MEL_OK)
        status = check_order(w, job, err);
    if (status == MEL_OK)
        status = mel_proba_order(&w->proba, rows_of(job), job->columns, columns_are(w), err);
    if (status == MEL_OK)
        status = read_groups(w, job, &reader.options, err);
    if (status == MEL_OK)
        status = read_features(w, job, &reader.options, err);
    if (status == MEL_OK)
        status = read_ids(w, job, &reader.options, err);
    if (status == MEL_OK)
        status = read_costs(w, job, &reader.options, err);
    if (status == MEL_OK)
        status = cli_reader_check(&reader, job->reading, run, err);
    mel_reader_clear(&reader);
    return status;
}

static mel_undecided undecided(const work *w, uint64_t seed)
{
    return (mel_undecided){ .n = w->proba.n_rows,
                            .probability = w->proba.value,
                            .group = w->groups.code,
                            .row_cost = w->row_cost,
                            .row_name = w->row_name,
                            .seed = seed };
}

static mel_status write_chances(work *w, mel_error *err)
{
    const size_t n = w->proba.n_rows, k = w->n_decisions;
    const mel_undecided rows = undecided(w, 0);
    double *chance = cli_alloc_zero(n * k, sizeof *chance);
    mel_status status = w->weighted != NULL ? mel_weighted_apply(chance, w->weighted, n, w->proba.value,
                                                                 &w->features.view, err)
                                            : mel_classifier_chances_of(chance, w->classifier, &rows, err);
    for (size_t i = 0; i < n && status == MEL_OK; i++)
        status = prediction_file_probabilities(&w->file, chance + i * k, err);
    free(chance);
    return status;
}

static mel_status write_draws(work *w, uint64_t seed, mel_error *err)
{
    const size_t n = w->proba.n_rows;
    const mel_undecided rows = undecided(w, seed);
    uint32_t *prediction = cli_alloc_zero(n, sizeof *prediction);
    mel_status status = w->weighted != NULL ? mel_weighted_decide(prediction, w->weighted, n, w->proba.value,
                                                                  &w->features.view, seed, err)
                                            : mel_classifier_decide_of(prediction, w->classifier, &rows, err);
    for (size_t i = 0; i < n && status == MEL_OK; i++) {
        w->decided[prediction[i]]++;
        status = prediction_file_decision(&w->file, prediction[i], err);
    }
    free(prediction);
    return status;
}

static mel_status write_all(work *w, const cli_run *run, const cli_classifier_job *job, mel_error *err)
{
    const prediction_shape shape = { .csv = job->csv,
                                     .decisions = !job->chances,
                                     .rows = w->proba.n_rows,
                                     .classes = w->n_decisions,
                                     .names = w->name,
                                     .labels = w->label,
                                     .number_texts = w->of.number_texts };
    if (!job->csv && !job->chances && w->n_decisions > w->of.n_classes)
        return cli_fail(err, MEL_EINVAL, "%s refers cases, which has no number in an NPY file: write CSV",
                        job->classifier);
    mel_status status = prediction_file_open(&w->file, job->out, &shape, err);
    if (status == MEL_OK)
        status = job->chances ? write_chances(w, err) : write_draws(w, run->seed, err);
    return status == MEL_OK ? prediction_file_commit(&w->file, err) : status;
}

static void report(cli_run *run, const work *w, const cli_classifier_job *job)
{
    char number[CLI_COUNT_SIZE];
    json_t *classes = json_array(), *decided = json_array();
    for (size_t c = 0; c < w->n_decisions; c++) {
        cli_push(classes, cli_json_text(w->name[c]));
        cli_push(decided, cli_json_count(w->decided[c]));
    }
    cli_put(run->result, "classifier", cli_json_text(job->classifier));
    cli_put(run->result, job->probs != NULL ? "probs" : "model", cli_json_text(rows_of(job)));
    cli_put(run->result, "rows", cli_json_count(w->proba.n_rows));
    cli_put(run->result, "classes", classes);
    cli_put(run->result, "decisions", job->chances ? json_null() : decided);
    if (job->chances)
        json_decref(decided);
    cli_put(run->result, "out", cli_json_text(job->out));
    if (run->json || strcmp(job->out, "-") == 0)
        return;
    cli_print("%s rows of %s: %s in %s\n", cli_count(number, w->proba.n_rows),
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
    work w = { 0 };
    mel_status status = read_all(&w, run, job, err);
    if (status == MEL_OK)
        status = write_all(&w, run, job, err);
    if (status == MEL_OK)
        report(run, &w, job);
    work_clear(&w);
    return status;
}

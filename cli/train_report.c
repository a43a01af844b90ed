/* What melicit train has to say, for people and for programs. */
#include "train_report.h"
#include "base/names.h"
#include "model/shared.h"
#include "output.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

/* --- counting --- */

/* Two classes. What calling a row positive from a threshold of P(second class) on leads to. */
typedef struct {
    double ratio;     /* cost of a missed positive, a false alarm being 1 */
    double threshold; /* 1 / (1 + ratio): where both kinds of error are equally dear on average */
    size_t found, missed, false_alarms, cleared;
} operating_point;

/* Some labels and how much each counts. */
typedef struct {
    size_t n;
    const uint32_t *y;
    const double *weight; /* NULL: ones */
} labelled;

uint32_t cli_most_probable(size_t k, const double *probs)
{
    size_t best = 0;
    for (size_t c = 1; c < k; c++)
        if (probs[c] > probs[best])
            best = c;
    return (uint32_t)best;
}

static void count_confusion(size_t *confusion, size_t n, size_t k, const double *probs, const uint32_t *y)
{
    for (size_t i = 0; i < n; i++)
        confusion[y[i] * k + cli_most_probable(k, probs + i * k)]++;
}

static void count_point(operating_point *point, double ratio, size_t n, const double *probs,
                        const uint32_t *y)
{
    *point = (operating_point){ .ratio = ratio, .threshold = 1 / (1 + ratio) };
    for (size_t i = 0; i < n; i++) {
        const bool called = probs[2 * i + 1] >= point->threshold;
        if (y[i] == 1)
            *(called ? &point->found : &point->missed) += 1;
        else
            *(called ? &point->false_alarms : &point->cleared) += 1;
    }
}

static double weight_of(const labelled *rows, size_t i)
{
    return rows->weight != NULL ? rows->weight[i] : 1;
}

static double share_log_loss(size_t k, const labelled *train, const labelled *test)
{
    double *share = cli_alloc_zero(k, sizeof *share);
    double loss = 0, train_total = 0, test_total = 0;
    for (size_t i = 0; i < train->n; i++) {
        share[train->y[i]] += weight_of(train, i);
        train_total += weight_of(train, i);
    }
    for (size_t i = 0; i < test->n; i++) {
        loss -= weight_of(test, i) * log(share[test->y[i]] / train_total);
        test_total += weight_of(test, i);
    }
    free(share);
    return loss / test_total;
}

/* --- what is said --- */

/* How many times as bad as a false alarm a missed positive is. */
static const double ratios[] = { 0.2, 0.5, 1, 2, 5, 10, 20, 50 };
#define N_RATIOS (sizeof ratios / sizeof *ratios)
#define NAME_COLUMNS 24  /* longest name of a class in a table */
#define WIDEST_MATRIX 12 /* classes that fit next to each other on a terminal */

/* What is counted on the test part. */
typedef struct {
    size_t n, k;
    double log_loss, share_log_loss, auc;
    size_t correct, most_frequent; /* class with most training rows */
    size_t most_frequent_rows;     /* its rows in the test part */
    size_t *confusion;
    operating_point points[N_RATIOS];
} counts;

static double share(size_t some, size_t all)
{
    return all != 0 ? (double)some / (double)all : NAN;
}

static void count(counts *out, const train_report *r)
{
    const mel_dataset_part *train = &r->parts[MEL_PART_TRAIN], *test = &r->parts[MEL_PART_TEST];
    const size_t k = r->dataset->labels.n_classes;
    *out = (counts){ .n = test->n, .k = k, .auc = NAN };
    out->log_loss = mel_log_loss(test->n, k, r->probs, test->y, test->weight);
    out->share_log_loss = share_log_loss(k, &(labelled){ train->n, train->y, train->weight },
                                         &(labelled){ test->n, test->y, test->weight });
    out->confusion = cli_alloc_zero(k * k, sizeof *out->confusion);
    count_confusion(out->confusion, test->n, k, r->probs, test->y);
    size_t *rows = cli_alloc_zero(k, sizeof *rows);
    for (size_t i = 0; i < train->n; i++)
        rows[train->y[i]]++;
    for (size_t c = 0; c < k; c++) {
        out->correct += out->confusion[c * k + c];
        if (rows[c] > rows[out->most_frequent])
            out->most_frequent = c;
    }
    for (size_t c = 0; c < k; c++)
        out->most_frequent_rows += out->confusion[out->most_frequent * k + c];
    free(rows);
    if (k != 2)
        return;
    mel_separation separation;
    mel_error err;
    if (mel_separation_of(&separation, test->n, r->probs, test->y, 0, &err) != MEL_OK)
        cli_out_of_memory();
    out->auc = separation.auc;
    for (size_t i = 0; i < N_RATIOS; i++)
        count_point(&out->points[i], ratios[i], test->n, r->probs, test->y);
}

static size_t class_rows(const mel_labels *labels, size_t class)
{
    size_t n = 0;
    for (size_t i = 0; i < labels->n_rows; i++)
        n += labels->code[i] == class;
    return n;
}

static size_t true_rows(const counts *c, size_t class)
{
    size_t n = 0;
    for (size_t j = 0; j < c->k; j++)
        n += c->confusion[class * c->k + j];
    return n;
}

/* The rows of one group in the test part, counted at the most probable class. */
static size_t *group_confusion(const train_report *r, uint32_t group)
{
    const mel_dataset_part *test = &r->parts[MEL_PART_TEST];
    const size_t k = r->dataset->labels.n_classes;
    size_t *confusion = cli_alloc_zero(k * k, sizeof *confusion);
    for (size_t i = 0; i < test->n; i++)
        if (test->group[i] == group)
            count_confusion(confusion, 1, k, r->probs + i * k, test->y + i);
    return confusion;
}

/* ---- JSON ---- */

static json_t *confusion_as_json(const size_t *confusion, size_t k)
{
    json_t *rows = json_array();
    for (size_t i = 0; i < k; i++) {
        json_t *row = json_array();
        for (size_t j = 0; j < k; j++)
            cli_push(row, cli_json_count(confusion[i * k + j]));
        cli_push(rows, row);
    }
    return rows;
}

static json_t *points_as_json(const counts *c)
{
    json_t *list = json_array();
    for (size_t i = 0; i < N_RATIOS; i++) {
        const operating_point *p = &c->points[i];
        json_t *point = json_object();
        cli_put(point, "cost_ratio", cli_json_number(p->ratio));
        cli_put(point, "threshold", cli_json_number(p->threshold));
        cli_put(point, "missed", cli_json_count(p->missed));
        cli_put(point, "false_alarms", cli_json_count(p->false_alarms));
        cli_put(point, "missed_per_1000", cli_json_number(1000 * share(p->missed, c->n)));
        cli_put(point, "false_alarms_per_1000", cli_json_number(1000 * share(p->false_alarms, c->n)));
        cli_put(point, "recall", cli_json_number(share(p->found, p->found + p->missed)));
        cli_put(point, "specificity", cli_json_number(share(p->cleared, p->cleared + p->false_alarms)));
        cli_push(list, point);
    }
    return list;
}

static json_t *groups_as_json(const train_report *r)
{
    const size_t k = r->dataset->labels.n_classes;
    json_t *list = json_array();
    for (size_t g = 0; g < r->dataset->groups.n_classes; g++) {
        size_t *confusion = group_confusion(r, (uint32_t)g);
        json_t *group = json_object();
        cli_put(group, "name", cli_json_text(r->dataset->groups.name[g]));
        cli_put(group, "confusion", confusion_as_json(confusion, k));
        cli_push(list, group);
        free(confusion);
    }
    return list;
}

static json_t *test_as_json(const train_report *r)
{
    counts c;
    count(&c, r);
    json_t *test = json_object(), *recall = json_array();
    for (size_t i = 0; i < c.k; i++)
        cli_push(recall, cli_json_number(share(c.confusion[i * c.k + i], true_rows(&c, i))));
    cli_put(test, "rows", cli_json_count(c.n));
    cli_put(test, "log_loss", cli_json_number(c.log_loss));
    cli_put(test, "log_loss_of_shares", cli_json_number(c.share_log_loss));
    cli_put(test, "accuracy", cli_json_number(share(c.correct, c.n)));
    cli_put(test, "accuracy_of_most_frequent", cli_json_number(share(c.most_frequent_rows, c.n)));
    cli_put(test, "confusion", confusion_as_json(c.confusion, c.k));
    cli_put(test, "recall", recall);
    if (c.k == 2) {
        cli_put(test, "auc", cli_json_number(c.auc));
        cli_put(test, "operating_points", points_as_json(&c));
    }
    if (r->dataset->groups.n_classes != 0)
        cli_put(test, "groups", groups_as_json(r));
    free(c.confusion);
    return test;
}

static json_t *classes_as_json(const train_report *r)
{
    const mel_labels *labels = &r->dataset->labels;
    json_t *classes = json_array();
    for (size_t c = 0; c < labels->n_classes; c++) {
        json_t *one = json_object();
        cli_put(one, "name", cli_json_text(labels->name[c]));
        cli_put(one, "rows", cli_json_count(class_rows(labels, c)));
        cli_push(classes, one);
    }
    return classes;
}

static json_t *fit_as_json(const mel_fit_report *fit)
{
    json_t *object = json_object();
    cli_put(object, "reason", cli_json_text(mel_reason_words[fit->reason]));
    cli_put(object, "solver", cli_json_text(mel_solver_words[fit->solver]));
    cli_put(object, "iterations", cli_json_count(fit->iterations));
    cli_put(object, "gradient_norm", cli_json_number(fit->gradient_norm));
    cli_put(object, "objective", cli_json_number(fit->objective));
    return object;
}

void train_report_json(json_t *result, const train_report *r)
{
    const mel_dataset_part *train = &r->parts[MEL_PART_TRAIN], *test = &r->parts[MEL_PART_TEST];
    const mel_labels *labels = &r->dataset->labels;
    json_t *training = json_object();
    cli_put(training, "rows", cli_json_count(train->n));
    cli_put(training, "log_loss", cli_json_number(r->fit->log_loss));
    cli_put(training, "imputed", cli_json_count(train->x.imputed));
    cli_put(result, "data", cli_json_text(r->args->data));
    cli_put(result, "rows", cli_json_count(r->dataset->n_rows));
    cli_put(result, "features", cli_json_count(mel_model_features(r->model)));
    cli_put(result, "label", cli_json_text(r->args->label));
    cli_put(result, "classes", classes_as_json(r));
    if (labels->n_classes == 2)
        cli_put(result, "positive", cli_json_text(labels->name[1]));
    cli_put(result, "fit", fit_as_json(r->fit));
    cli_put(result, "train", training);
    cli_put(result, "test", test->n != 0 ? test_as_json(r) : json_null());
    cli_put(result, "model", r->out != NULL ? cli_json_text(r->out) : json_null());
}

/* ---- text ---- */

/* Names of classes and groups come from the data: one short line each. For mel_names_free. */
static char **short_names(const mel_labels *labels)
{
    char **name = cli_alloc_zero(labels->n_classes + 1, sizeof *name);
    for (size_t c = 0; c < labels->n_classes; c++)
        name[c] = cli_short(labels->name[c], NAME_COLUMNS);
    return name;
}

static void print_parts(const train_report *r)
{
    char n[CLI_COUNT_SIZE];
    cli_print("  %s rows train", cli_count(n, r->parts[MEL_PART_TRAIN].n));
    if (r->parts[MEL_PART_TEST].n != 0)
        cli_print(", %s are held out and measure", cli_count(n, r->parts[MEL_PART_TEST].n));
    cli_print("\n\n");
}

static void print_data(const train_report *r, char **name)
{
    static const char *const headers[] = { "class", "rows", "share" };
    char rows[CLI_COUNT_SIZE], features[CLI_COUNT_SIZE];
    const mel_labels *labels = &r->dataset->labels;
    cli_heading("The data");
    cli_print("  %s: %s row%s, %s feature%s, label \"%s\"\n", r->args->data,
              cli_count(rows, r->dataset->n_rows), r->dataset->n_rows == 1 ? "" : "s",
              cli_count(features, mel_model_features(r->model)), mel_model_features(r->model) == 1 ? "" : "s",
              r->args->label);
    print_parts(r);
    cli_table *table = cli_table_new("lrr", headers);
    for (size_t c = 0; c < labels->n_classes; c++) {
        const size_t n = class_rows(labels, c);
        cli_table_cell(table, "%s", name[c]);
        cli_table_cell(table, "%s", cli_count(rows, n));
        cli_table_cell(table, "%.1f %%", 100 * share(n, labels->n_rows));
    }
    cli_table_print(table);
}

static void print_fit(const train_report *r)
{
    static const char *const ends[] = { "converged", "can get no lower in floating point",
                                        "used up its iterations before it converged" };
    const mel_fit_report *fit = r->fit;
    const char *unit = fit->solver == MEL_SOLVER_NEWTON ? "Newton step" : "gradient evaluation";
    cli_print("\n");
    cli_heading("The fit");
    cli_print("  %s after %u %s%s; largest gradient entry %.1e\n", ends[fit->reason], fit->iterations, unit,
              fit->iterations == 1 ? "" : "s", fit->gradient_norm);
    cli_print("  log-loss  %.4f on the training rows\n", fit->log_loss);
}

static void print_test(const counts *c, char **name)
{
    cli_print("  log-loss  %.4f on the held-out rows (%.4f for the class shares alone)\n", c->log_loss,
              c->share_log_loss);
    cli_print("  accuracy  %.1f %% of the held-out rows (%.1f %% by always answering \"%s\")\n",
              100 * share(c->correct, c->n), 100 * share(c->most_frequent_rows, c->n),
              name[c->most_frequent]);
    if (c->k == 2)
        cli_print("  AUC       %.4f: the chance that a \"%s\" is ranked above a \"%s\"\n", c->auc, name[1],
                  name[0]);
}

/* "5 : 1", "1 : 5" */
static void ratio_cell(cli_table *table, double ratio)
{
    if (ratio >= 1)
        cli_table_cell(table, "%g : 1", ratio);
    else
        cli_table_cell(table, "1 : %g", 1 / ratio);
}

static void print_point_rows(const counts *c, const char *found, const char *cleared)
{
    const char *const headers[] = { "a miss costs :\na false alarm",
                                    "say yes\nfrom P =",
                                    "missed\nper 1000",
                                    "false alarms\nper 1000",
                                    found,
                                    cleared };
    cli_table *table = cli_table_new("rrrrrr", headers);
    for (size_t i = 0; i < N_RATIOS; i++) {
        const operating_point *p = &c->points[i];
        ratio_cell(table, p->ratio);
        cli_table_cell(table, "%.3f", p->threshold);
        cli_table_cell(table, "%.1f", 1000 * share(p->missed, c->n));
        cli_table_cell(table, "%.1f", 1000 * share(p->false_alarms, c->n));
        cli_table_cell(table, "%.1f %%", 100 * share(p->found, p->found + p->missed));
        cli_table_cell(table, "%.1f %%", 100 * share(p->cleared, p->cleared + p->false_alarms));
    }
    cli_table_print(table);
}

static void print_points(const counts *c, char **name)
{
    char *text =
        cli_format("The model gives every row a probability P of being \"%s\". Saying yes from a lower P on "
                   "misses fewer of them but raises more false alarms; what a miss costs, compared with a "
                   "false alarm, decides where to draw the line. On the held-out rows:",
                   name[1]);
    char *found = cli_format("\"%s\" found\n(recall)", name[1]);
    char *cleared = cli_format("\"%s\" cleared\n(specificity)", name[0]);
    cli_print("\n");
    cli_heading("What is achievable");
    cli_wrap(stdout, text, 0, 2, cli_width(stdout));
    cli_print("\n");
    print_point_rows(c, found, cleared);
    free(text);
    free(found);
    free(cleared);
}

static void print_recalls(const counts *c, char **name)
{
    static const char *const headers[] = { "class", "rows", "found (recall)" };
    char rows[CLI_COUNT_SIZE];
    cli_table *table = cli_table_new("lrr", headers);
    for (size_t i = 0; i < c->k; i++) {
        cli_table_cell(table, "%s", name[i]);
        cli_table_cell(table, "%s", cli_count(rows, true_rows(c, i)));
        cli_table_cell(table, "%.1f %%", 100 * share(c->confusion[i * c->k + i], true_rows(c, i)));
    }
    cli_table_print(table);
}

static void print_matrix(const counts *c, char **name)
{
    char align[WIDEST_MATRIX + 3] = "l", number[CLI_COUNT_SIZE];
    const char *headers[WIDEST_MATRIX + 2] = { "true class" };
    for (size_t j = 0; j < c->k; j++)
        headers[j + 1] = name[j];
    headers[c->k + 1] = "recall";
    memset(align + 1, 'r', c->k + 1);
    cli_table *table = cli_table_new(align, headers);
    for (size_t i = 0; i < c->k; i++) {
        cli_table_cell(table, "%s", name[i]);
        for (size_t j = 0; j < c->k; j++)
            cli_table_cell(table, "%s", cli_count(number, c->confusion[i * c->k + j]));
        cli_table_cell(table, "%.1f %%", 100 * share(c->confusion[i * c->k + i], true_rows(c, i)));
    }
    cli_table_print(table);
}

static void print_confusion(const counts *c, char **name)
{
    cli_print("\n");
    cli_heading("Which classes are told apart");
    if (c->k > WIDEST_MATRIX) {
        cli_print("  Held-out rows given to their own class (--json has the whole confusion matrix):\n\n");
        print_recalls(c, name);
        return;
    }
    cli_print("  Held-out rows by true class (down) and most probable class (across):\n\n");
    print_matrix(c, name);
}

static void print_groups(const train_report *r)
{
    static const char *const headers[] = { "group", "rows", "accuracy", "recall", "specificity" };
    const size_t k = r->dataset->labels.n_classes;
    char **name = short_names(&r->dataset->groups), rows[CLI_COUNT_SIZE];
    cli_print("\n");
    cli_heading("By group");
    cli_table *table = cli_table_new(k == 2 ? "lrrrr" : "lrr", headers);
    for (size_t g = 0; g < r->dataset->groups.n_classes; g++) {
        size_t *confusion = group_confusion(r, (uint32_t)g);
        const counts c = { .k = k, .confusion = confusion };
        size_t n = 0, correct = 0;
        for (size_t i = 0; i < k; i++) {
            n += true_rows(&c, i);
            correct += confusion[i * k + i];
        }
        cli_table_cell(table, "%s", name[g]);
        cli_table_cell(table, "%s", cli_count(rows, n));
        cli_table_cell(table, "%.1f %%", 100 * share(correct, n));
        for (size_t i = k; k == 2 && i-- > 0;)
            cli_table_cell(table, "%.1f %%", 100 * share(confusion[i * k + i], true_rows(&c, i)));
        free(confusion);
    }
    cli_table_print(table);
    mel_names_free(name, r->dataset->groups.n_classes);
}

void train_report_text(const train_report *r)
{
    char **name = short_names(&r->dataset->labels);
    print_data(r, name);
    print_fit(r);
    if (r->parts[MEL_PART_TEST].n != 0) {
        counts c;
        count(&c, r);
        print_test(&c, name);
        if (c.k == 2)
            print_points(&c, name);
        else
            print_confusion(&c, name);
        if (r->dataset->groups.n_classes != 0)
            print_groups(r);
        free(c.confusion);
    }
    if (r->out != NULL)
        cli_print("\nThe model is in %s; melicit predict --model %s applies it.\n", r->out, r->out);
    mel_names_free(name, r->dataset->labels.n_classes);
}

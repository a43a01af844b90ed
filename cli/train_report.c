/* What melicit train has to say, for people and for programs. */
#include "train_report.h"
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

/* --- the result --- */

enum { WIDEST_MATRIX = 12 }; /* classes that fit next to each other on a terminal */

static double share(size_t some, size_t all)
{
    return all != 0 ? (double)some / (double)all : NAN;
}

static json_t *confusion_json(const size_t *confusion, size_t k)
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

/* A miss as so many times as bad as a false alarm, and what follows. */
static json_t *points_json(const mel_dataset_part *test, const double *probs)
{
    static const double ratios[] = { 0.2, 0.5, 1, 2, 5, 10, 20, 50 };
    json_t *list = json_array();
    for (size_t i = 0; i < sizeof ratios / sizeof *ratios; i++) {
        const double ratio = ratios[i];
        operating_point p;
        count_point(&p, ratio, test->n, probs, test->y);
        char *costs = ratio >= 1 ? cli_format("%g : 1", ratio) : cli_format("1 : %g", 1 / ratio);
        json_t *point = json_object();
        cli_put(point, "costs", cli_json_text(costs));
        cli_put(point, "cost_ratio", cli_json_number(ratio));
        cli_put(point, "threshold", cli_json_number(p.threshold));
        cli_put(point, "missed", cli_json_count(p.missed));
        cli_put(point, "false_alarms", cli_json_count(p.false_alarms));
        cli_put(point, "missed_per_1000", cli_json_number(1000 * share(p.missed, test->n)));
        cli_put(point, "false_alarms_per_1000", cli_json_number(1000 * share(p.false_alarms, test->n)));
        cli_put(point, "recall", cli_json_number(share(p.found, p.found + p.missed)));
        cli_put(point, "specificity", cli_json_number(share(p.cleared, p.cleared + p.false_alarms)));
        cli_push(list, point);
        free(costs);
    }
    return list;
}

/* Counts of the most probable class: all that follows from them. */
static void put_counts(json_t *to, const size_t *confusion, size_t k, bool rates)
{
    json_t *recall = json_array();
    size_t all = 0, correct = 0;
    for (size_t i = 0; i < k; i++) {
        size_t n = 0;
        for (size_t j = 0; j < k; j++)
            n += confusion[i * k + j];
        all += n;
        correct += confusion[i * k + i];
        cli_push(recall, cli_json_number(share(confusion[i * k + i], n)));
    }
    cli_put(to, "rows", cli_json_count(all));
    cli_put(to, "accuracy", cli_json_number(share(correct, all)));
    cli_put(to, "confusion", confusion_json(confusion, k));
    if (!rates) {
        cli_put(to, "recall", recall);
        return;
    }
    cli_put(to, "recall", json_incref(json_array_get(recall, 1)));
    cli_put(to, "specificity", json_incref(json_array_get(recall, 0)));
    json_decref(recall);
}

static json_t *groups_json(const train_report *r)
{
    const mel_dataset_part *test = &r->parts[MEL_PART_TEST];
    const size_t k = r->dataset->labels.n_classes;
    json_t *list = json_array();
    for (size_t g = 0; g < r->dataset->groups.n_classes; g++) {
        MEL_AUTO_MEMORY size_t *confusion = cli_alloc_zero(k * k, sizeof *confusion);
        for (size_t i = 0; i < test->n; i++)
            if (test->group[i] == g)
                count_confusion(confusion, 1, k, r->probs + i * k, test->y + i);
        json_t *group = json_object();
        cli_put(group, "name", cli_json_text(r->dataset->groups.name[g]));
        put_counts(group, confusion, k, k == 2);
        cli_push(list, group);
    }
    return list;
}

static json_t *test_json(const train_report *r)
{
    const mel_dataset_part *train = &r->parts[MEL_PART_TRAIN], *test = &r->parts[MEL_PART_TEST];
    const mel_labels *labels = &r->dataset->labels;
    const size_t k = labels->n_classes;
    MEL_AUTO_MEMORY size_t *confusion = cli_alloc_zero(k * k, sizeof *confusion);
    MEL_AUTO_MEMORY size_t *rows = cli_alloc_zero(2 * k, sizeof *rows);
    size_t usual = 0; /* the class with most training rows */
    json_t *out = json_object();
    for (size_t i = 0; i < train->n; i++)
        rows[train->y[i]]++;
    for (size_t i = 0; i < test->n; i++)
        rows[k + test->y[i]]++;
    for (size_t c = 1; c < k; c++)
        usual = rows[c] > rows[usual] ? c : usual;
    count_confusion(confusion, test->n, k, r->probs, test->y);
    put_counts(out, confusion, k, false);
    cli_put(out, "log_loss", cli_json_number(mel_log_loss(test->n, k, r->probs, test->y, test->weight)));
    cli_put(out, "log_loss_of_shares",
            cli_json_number(share_log_loss(k, &(labelled){ train->n, train->y, train->weight },
                                           &(labelled){ test->n, test->y, test->weight })));
    cli_put(out, "most_frequent", cli_json_text(labels->name[usual]));
    cli_put(out, "accuracy_of_most_frequent", cli_json_number(share(rows[k + usual], test->n)));
    if (k == 2) {
        mel_separation separation;
        mel_error err;
        if (mel_separation_of(&separation, test->n, r->probs, test->y, 0, &err) != MEL_OK)
            cli_out_of_memory();
        cli_put(out, "auc", cli_json_number(separation.auc));
        cli_put(out, "operating_points", points_json(test, r->probs));
    }
    if (r->dataset->groups.n_classes != 0)
        cli_put(out, "groups", groups_json(r));
    return out;
}

static json_t *classes_json(const mel_labels *labels)
{
    json_t *classes = json_array();
    for (size_t c = 0; c < labels->n_classes; c++) {
        json_t *one = json_object();
        size_t n = 0;
        for (size_t i = 0; i < labels->n_rows; i++)
            n += labels->code[i] == c;
        cli_put(one, "name", cli_json_text(labels->name[c]));
        cli_put(one, "rows", cli_json_count(n));
        cli_put(one, "share", cli_json_number(share(n, labels->n_rows)));
        cli_push(classes, one);
    }
    return classes;
}

static json_t *fit_json(const mel_fit_report *fit)
{
    json_t *object = json_object();
    cli_put(object, "reason", cli_json_text(mel_reason_words[fit->reason]));
    cli_put(object, "solver", cli_json_text(mel_solver_words[fit->solver]));
    cli_put(object, "iterations", cli_json_count(fit->iterations));
    cli_put(object, "gradient_norm", cli_json_number(fit->gradient_norm));
    cli_put(object, "objective", cli_json_number(fit->objective));
    return object;
}

void train_report_fill(json_t *result, const train_report *r)
{
    const mel_dataset_part *train = &r->parts[MEL_PART_TRAIN];
    const mel_labels *labels = &r->dataset->labels;
    json_t *training = json_object();
    cli_put(training, "rows", cli_json_count(train->n));
    cli_put(training, "log_loss", cli_json_number(r->fit->log_loss));
    cli_put(training, "imputed", cli_json_count(train->x.imputed));
    cli_put(result, "data", cli_json_text(r->args->data));
    cli_put(result, "rows", cli_json_count(r->dataset->n_rows));
    cli_put(result, "features", cli_json_count(mel_model_features(r->model)));
    cli_put(result, "label", cli_json_text(r->args->label));
    cli_put(result, "classes", classes_json(labels));
    if (labels->n_classes == 2)
        cli_put(result, "positive", cli_json_text(labels->name[1]));
    cli_put(result, "fit", fit_json(r->fit));
    cli_put(result, "train", training);
    cli_put(result, "test", r->parts[MEL_PART_TEST].n != 0 ? test_json(r) : json_null());
    cli_put(result, "model", r->out != NULL ? cli_json_text(r->out) : json_null());
}

/* --- the same as a text --- */

static void say_data_and_fit(const json_t *result, const mel_fit_report *fit)
{
    static const char *const ends[] = { "converged", "can get no lower in floating point",
                                        "used up its iterations before it converged" };
    static const cli_column classes[] = { { "class", 'l', "{name:%.24s}" },
                                          { "rows", 'r', "{rows:%'d}" },
                                          { "share", 'r', "{share:100*%.1f} %" },
                                          { 0 } };
    cli_heading("The data");
    cli_say(result, "  {data:%s}: {rows:%'d} row{rows:s}, {features:%'d} feature{features:s}, label "
                    "\"{label:%s}\"\n  {train.rows:%'d} rows train");
    cli_say(result, ", {test.rows:%'d} are held out and measure");
    cli_print("\n\n");
    cli_say_rows(json_object_get(result, "classes"), classes);
    cli_print("\n");
    cli_heading("The fit");
    cli_print("  %s", ends[fit->reason]);
    cli_say(result, fit->solver == MEL_SOLVER_NEWTON
                        ? " after {fit.iterations:%d} Newton step{fit.iterations:s}"
                        : " after {fit.iterations:%d} gradient evaluation{fit.iterations:s}");
    cli_say(result, "; largest gradient entry {fit.gradient_norm:%.1e}\n  log-loss  {train.log_loss:%.4f} on "
                    "the training rows\n");
}

static void say_points(const json_t *result)
{
    MEL_AUTO_MEMORY char *text = cli_fill(
        result, "The model gives every row a probability P of being \"{classes.1.name:%.24s}\". Saying yes "
                "from a lower P on misses fewer of them but raises more false alarms; what a miss costs, "
                "compared with a false alarm, decides where to draw the line. On the held-out rows:");
    MEL_AUTO_MEMORY char *found = cli_fill(result, "\"{classes.1.name:%.24s}\" found\n(recall)");
    MEL_AUTO_MEMORY char *cleared = cli_fill(result, "\"{classes.0.name:%.24s}\" cleared\n(specificity)");
    const cli_column columns[] = { { "a miss costs :\na false alarm", 'r', "{costs:%s}" },
                                   { "say yes\nfrom P =", 'r', "{threshold:%.3f}" },
                                   { "missed\nper 1000", 'r', "{missed_per_1000:%.1f}" },
                                   { "false alarms\nper 1000", 'r', "{false_alarms_per_1000:%.1f}" },
                                   { found, 'r', "{recall:100*%.1f} %" },
                                   { cleared, 'r', "{specificity:100*%.1f} %" },
                                   { 0 } };
    cli_print("\n");
    cli_heading("What is achievable");
    cli_wrap(stdout, text, 0, 2, cli_width(stdout));
    cli_print("\n");
    cli_say_rows(json_object_get(json_object_get(result, "test"), "operating_points"), columns);
}

/* A row for each true class: how many are given to each class, or only to their own where there are many. */
static void say_confusion(const json_t *test, const json_t *classes)
{
    const json_t *confusion = json_object_get(test, "confusion"), *recall = json_object_get(test, "recall");
    const size_t k = json_array_size(classes), wide = k <= WIDEST_MATRIX ? k : 1;
    const char *headers[WIDEST_MATRIX + 2] = { k <= WIDEST_MATRIX ? "true class" : "class", "rows" };
    char align[WIDEST_MATRIX + 3] = "l", number[CLI_COUNT_SIZE], *name[WIDEST_MATRIX + 1] = { NULL };
    cli_print("\n");
    cli_heading("Which classes are told apart");
    cli_print(k <= WIDEST_MATRIX
                  ? "  Held-out rows by true class (down) and most probable class (across):\n\n"
                  : "  Held-out rows given to their own class (--json has the whole confusion matrix):\n\n");
    for (size_t j = 0; j < k && k <= WIDEST_MATRIX; j++)
        headers[j + 1] = name[j] = cli_fill(json_array_get(classes, j), "{name:%.24s}");
    headers[wide + 1] = k <= WIDEST_MATRIX ? "recall" : "found (recall)";
    memset(align + 1, 'r', wide + 1);
    cli_table *table = cli_table_new(align, headers);
    for (size_t i = 0; i < k; i++) {
        const json_t *row = json_array_get(confusion, i);
        uint64_t all = 0;
        MEL_AUTO_MEMORY char *own = cli_fill(json_array_get(classes, i), "{name:%.24s}");
        cli_table_cell(table, "%s", own);
        for (size_t j = 0; j < k; j++) {
            const uint64_t n = (uint64_t)json_integer_value(json_array_get(row, j));
            all += n;
            if (k <= WIDEST_MATRIX)
                cli_table_cell(table, "%s", cli_count(number, n));
        }
        if (k > WIDEST_MATRIX)
            cli_table_cell(table, "%s", cli_count(number, all));
        const json_t *found = json_array_get(recall, i);
        MEL_AUTO_MEMORY char *shown = json_is_number(found)
                                          ? cli_format("%.1f %%", 100 * json_number_value(found))
                                          : cli_format("%s", "");
        cli_table_cell(table, "%s", shown);
    }
    cli_table_print(table);
    for (size_t j = 0; j < WIDEST_MATRIX; j++)
        free(name[j]);
}

void train_report_say(const json_t *result, const train_report *r)
{
    static const char *const measured[] = {
        "  log-loss  {test.log_loss:%.4f} on the held-out rows ({test.log_loss_of_shares:%.4f} for the class "
        "shares alone)\n",
        "  accuracy  {test.accuracy:100*%.1f} % of the held-out rows "
        "({test.accuracy_of_most_frequent:100*%.1f} % by always answering \"{test.most_frequent:%.24s}\")\n",
        "  AUC       {test.auc:%.4f}: the chance that a \"{classes.1.name:%.24s}\" is ranked above a "
        "\"{classes.0.name:%.24s}\"\n",
        NULL
    };
    static const cli_column groups[] = { { "group", 'l', "{name:%.24s}" },
                                         { "rows", 'r', "{rows:%'d}" },
                                         { "accuracy", 'r', "{accuracy:100*%.1f} %" },
                                         { "recall", 'r', "{recall:100*%.1f} %" },
                                         { "specificity", 'r', "{specificity:100*%.1f} %" },
                                         { 0 } };
    const json_t *test = json_object_get(result, "test"), *by_group = json_object_get(test, "groups");
    say_data_and_fit(result, r->fit);
    cli_say_lines(result, measured);
    if (json_is_object(test) && r->dataset->labels.n_classes == 2)
        say_points(result);
    else if (json_is_object(test))
        say_confusion(test, json_object_get(result, "classes"));
    if (by_group != NULL) {
        cli_print("\n");
        cli_heading("By group");
        cli_say_rows(by_group, groups);
    }
    cli_say(result, "\nThe model is in {model:%s}; melicit predict --model {model:%s} applies it.\n");
}

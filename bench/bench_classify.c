/* Finds best rules on class probabilities and prints what it took as JSON: the half of bench/classify.py that
 * is ours.
 *
 *     bench_classify FOLDER WHAT ROWS CLASSES GROUPS REPEATS THREADS
 *
 * FOLDER holds probability (float64, ROWS x CLASSES), label and group (uint32) as plain bytes. WHAT is fair
 * (a fair-linear metric), odds (accuracy, equalised odds within 0.02), macro-f1, macro-f1-few (one start, six
 * passes), or predict (decisions of a rule with gains). Processor time is of the fastest repeat, memory that
 * of the first: its peak above the data. */
#include "base/rng.h"
#include "classify/shared.h"
#include "metric/shared.h"

#include "measure.h"

#include <math.h>

/* Of one thread, so that other programs do not count. */
static double cpu_seconds(void)
{
    struct timespec now;
    (void)clock_gettime(CLOCK_PROCESS_CPUTIME_ID, &now);
    return (double)now.tv_sec + 1e-9 * (double)now.tv_nsec;
}

enum { FEW_STEPS = 6 };

typedef struct {
    const char *what;
    mel_rule_rows rows;
    mel_rule_options opt;
    mel_metric *metric;
    mel_limit limit;
} job;

/* Two classes: what each mistake costs, and every difference between groups. */
static mel_metric *fair_metric(const mel_rule_rows *rows)
{
    const size_t m = rows->n_groups, pairs = m * (m - 1) / 2;
    const mel_layout layout = { MEL_RATES, MEL_OFFDIAGONAL, 2, m };
    const double a[] = { 0.5, 0.5 };
    double *b = calloc(2 * pairs, sizeof *b), *share = calloc(2 * m, sizeof *share), total[2] = { 0.0, 0.0 };
    mel_metric *metric = NULL;
    mel_error err;
    if (b == NULL || share == NULL)
        die("memory");
    for (size_t i = 0; i < 2 * pairs; i++)
        b[i] = 1.0 / (double)(2 * pairs);
    for (size_t r = 0; r < rows->n_rows; r++)
        for (size_t i = 0; i < 2; i++) {
            share[(size_t)2 * rows->group[r] + i] += rows->probability[2 * r + i];
            total[i] += rows->probability[2 * r + i];
        }
    for (size_t i = 0; i < 2 * m; i++)
        share[i] /= total[i % 2];
    if (mel_metric_fair_linear(&metric, &layout, NULL, NULL, a, b, 0.5, share, &err) != MEL_OK)
        die(err.text);
    free(b);
    free(share);
    return metric;
}

static mel_classifier *find(mel_rule_report *report, const job *j, mel_rule_form form)
{
    mel_rule_options opt = j->opt;
    mel_classifier *c = NULL;
    mel_error err;
    opt.form = form;
    if (mel_rule_find(&c, report, &j->rows, j->metric,
                      j->metric != NULL              ? NULL
                      : strcmp(j->what, "odds") == 0 ? "accuracy"
                                                     : "macro-f1",
                      &opt, &err) != MEL_OK)
        die(err.text);
    return c;
}

/* Accuracy and the largest difference of a rate between groups, by the model, of decisions or of chances. */
static void print_decided(const char *key, const job *j, const double *chance)
{
    const size_t m = j->rows.n_groups;
    double *sum = calloc(4 * m, sizeof *sum), right = 0.0, most = 0.0;
    if (sum == NULL)
        die("memory");
    for (size_t r = 0; r < j->rows.n_rows; r++)
        for (size_t c = 0; c < 4; c++)
            sum[(size_t)4 * j->rows.group[r] + c] +=
                j->rows.probability[2 * r + c / 2] * chance[2 * r + c % 2];
    for (size_t i = 0; i < 2; i++) {
        double low = INFINITY, high = -INFINITY;
        for (size_t g = 0; g < m; g++) {
            const double *row = sum + 4 * g + 2 * i, rate = row[1] / (row[0] + row[1]);
            right += row[i] / (double)j->rows.n_rows;
            low = fmin(low, rate);
            high = fmax(high, rate);
        }
        most = fmax(most, high - low);
    }
    printf(", \"%s\": [%.9f, %.9f]", key, right, most);
    free(sum);
}

/* The mixture, or the same by a hash. */
static void print_mixture(const char *key, const job *j, const mel_classifier *c)
{
    const size_t n = j->rows.n_rows;
    double *chance = calloc(2 * n, sizeof *chance);
    mel_error err;
    if (chance == NULL)
        die("memory");
    if (mel_classifier_chances(
            chance, c, &(mel_undecided){ .n = n, .probability = j->rows.probability, .group = j->rows.group },
            &err) != MEL_OK)
        die(err.text);
    print_decided(key, j, chance);
    free(chance);
}

static void solve(const job *j, size_t repeats)
{
    const bool grouped = strncmp(j->what, "macro-f1", 8) != 0;
    double best = INFINITY;
    long peak = 0;
    mel_rule_report report = { 0 };
    mel_classifier *c = NULL;
    const long before = status_kb("VmRSS:");
    reset_peak();
    for (size_t i = 0; i < repeats; i++) {
        mel_classifier_free(c);
        mel_rule_report_clear(&report);
        const double from = cpu_seconds();
        c = find(&report, j, grouped ? MEL_RULE_MIXTURE : MEL_RULE_BEST);
        best = fmin(best, cpu_seconds() - from);
        peak = i == 0 ? status_kb("VmHWM:") : peak;
    }
    printf("{\"seconds\": %.6f, \"extra_kb\": %ld, \"value\": %.12f, \"bound\": %.12f, \"steps\": %llu", best,
           peak - before, report.value, report.certified ? report.bound : 0.0,
           (unsigned long long)report.steps);
    if (grouped) {
        print_mixture("mixture", j, c);
        mel_classifier_free(c);
        mel_rule_report_clear(&report);
        const double from = cpu_seconds();
        c = find(&report, j, MEL_RULE_BEST);
        printf(", \"single_seconds\": %.6f, \"single\": %.12f, \"single_mixed\": %s", cpu_seconds() - from,
               report.value, report.mixed ? "true" : "false");
    }
    printf("}\n");
    mel_classifier_free(c);
    mel_rule_report_clear(&report);
}

static void predict(const job *j, size_t repeats)
{
    const size_t n = j->rows.n_rows;
    uint32_t *said = calloc(n, sizeof *said);
    mel_rule_report report = { 0 };
    mel_error err;
    mel_rule_options few = j->opt;
    few.starts = 1;
    job small = *j;
    small.opt = few;
    small.rows.n_rows = n < 20000 ? n : 20000;
    mel_classifier *c = find(&report, &small, MEL_RULE_BEST);
    const mel_undecided rows = { .n = n, .probability = j->rows.probability, .seed = 1 };
    double best = INFINITY;
    if (said == NULL)
        die("memory");
    for (size_t i = 0; i < repeats; i++) {
        const double from = cpu_seconds();
        if (mel_classifier_decide(said, c, &rows, &err) != MEL_OK)
            die(err.text);
        best = fmin(best, cpu_seconds() - from);
    }
    printf("{\"seconds\": %.6f}\n", best);
    free(said);
    mel_classifier_free(c);
    mel_rule_report_clear(&report);
}

int main(int argc, char **argv)
{
    if (argc < 8)
        die("usage: bench_classify FOLDER fair|odds|macro-f1|macro-f1-few|predict ROWS CLASSES GROUPS "
            "REPEATS THREADS");
    const size_t n = strtoul(argv[3], NULL, 10), k = strtoul(argv[4], NULL, 10),
                 m = strtoul(argv[5], NULL, 10);
    const size_t repeats = strtoul(argv[6], NULL, 10);
    double *probability = load(argv[1], "probability", n * k * sizeof *probability);
    uint32_t *label = load(argv[1], "label", n * sizeof *label);
    uint32_t *group = m > 1 ? load(argv[1], "group", n * sizeof *group) : NULL;
    job j = { .what = argv[2],
              .rows = { .n_rows = n,
                        .n_classes = k,
                        .n_groups = m > 1 ? m : 0,
                        .probability = probability,
                        .label = label,
                        .group = group },
              .limit = { .kind = MEL_LIMIT_ODDS, .bound = 0.02, .group = SIZE_MAX } };
    mel_rule_options_init(&j.opt);
    j.opt.threads = (int)strtol(argv[7], NULL, 10);
    if (repeats < 1 || ((strcmp(j.what, "fair") == 0 || strcmp(j.what, "odds") == 0) && (k != 2 || m < 2)))
        die("1 or more repeats; fair and odds are for two classes and groups");
    if (strcmp(j.what, "fair") == 0)
        j.metric = fair_metric(&j.rows);
    if (strcmp(j.what, "odds") == 0) {
        j.opt.limit = &j.limit;
        j.opt.n_limits = 1;
    }
    if (strcmp(j.what, "macro-f1-few") == 0) {
        j.opt.starts = 1;
        j.opt.most_steps = FEW_STEPS;
    }
    if (strcmp(j.what, "predict") == 0)
        predict(&j, repeats);
    else
        solve(&j, repeats);
    mel_metric_free(j.metric);
    free(probability);
    free(label);
    free(group);
    return 0;
}

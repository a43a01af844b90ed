/* Questions about more than two classes that people can take seriously, and what the classifier that is tuned
 * to the answers loses.
 *
 *     bench_people_k DATA linear|diagonal-linear far|weights|rule RESPONDENT QUESTIONS METRICS [FIRST_SEED
 *                    [ASSUME]]
 *
 * DATA: a data set, with its model's probabilities on the held-out half. METRICS hidden metrics that reward
 * right decisions are drawn uniformly from unit vectors, but for those by which the best classifier is hardly
 * better than the best trivial one (by less than a tenth of what that is better than the uniform one), and
 * asked about in sessions of at most QUESTIONS that assume people, or ASSUME: about pairs of a ball, until a
 * tolerance that is never reached; about pairs near the best, chosen for the weights, likewise; or until the
 * rule is settled, about pairs near the best, chosen for the rule. RESPONDENT: a noise as in mel_noise_parse.
 * QUESTIONS: a number, or several in ascending order and with commas, after each of which the regret is
 * looked at (5,10,20,40); a session that ends earlier keeps its last.
 * Prints, over the metrics: the share of questions in which both classifiers keep at least half of what the
 * best one adds to the best trivial one, by the hidden metric; numbers in which A and B differ, on average;
 * regret of the classifier that is best for the metric found, as a share of the same (median, mean, 90th
 * percentile, at every checkpoint); the largest error of a coefficient (median); the share of 95% intervals
 * that hold; processor milliseconds from an answer to the next question (95th percentile). */
#include "elicit/active/family.h"
#include "elicit/shared.h"
#include "melicit/melicit.h"
#include "metric/shared.h"
#include "space/shared.h"

#include "measure.h"

#include <math.h>

enum { MOST = 64, MOST_CHECKPOINTS = 8 };

typedef struct {
    mel_problem *problem;
    const mel_space *space;
    mel_session_options opt;
    mel_noise noise;
    size_t metrics, size;
    double trivial[MOST][MOST * MOST];
    size_t plausible, asked, differing, held, intervals, n_times, n_checkpoints;
    uint32_t checkpoint[MOST_CHECKPOINTS];
    double *regret[MOST_CHECKPOINTS], *error, *time;
} study;

static mel_error err;

static void must(mel_status status)
{
    if (status != MEL_OK)
        die(err.text);
}

static double processor_seconds(void)
{
    struct timespec now;
    (void)clock_gettime(CLOCK_PROCESS_CPUTIME_ID, &now);
    return (double)now.tv_sec + 1e-9 * (double)now.tv_nsec;
}

static int ascending(const void *a, const void *b)
{
    const double x = *(const double *)a, y = *(const double *)b;
    return (x > y) - (x < y);
}

static double quantile(size_t n, double *x, double q)
{
    qsort(x, n, sizeof *x, ascending);
    const size_t at = (size_t)ceil(q * (double)n);
    return x[at > 0 ? at - 1 : 0];
}

static double value(const study *s, const double *w, const double *point)
{
    double sum = 0.0;
    for (size_t i = 0; i < s->size; i++)
        sum += w[i] * point[i];
    return sum;
}

static double best_value(const study *s, const double *truth, const double *w)
{
    double point[MOST * MOST];
    must(mel_space_linear(point, s->space, w, &err));
    return value(s, truth, point);
}

static double best_trivial(const study *s, const double *truth)
{
    double best = -INFINITY;
    for (size_t j = 0; j < s->problem->n_classes; j++)
        best = fmax(best, value(s, truth, s->trivial[j]));
    return best;
}

static void find_trivial(study *s)
{
    const size_t k = s->problem->n_classes;
    double gain[MOST * MOST];
    for (size_t j = 0; j < k; j++) {
        for (size_t i = 0; i < k * k; i++)
            gain[i] = i % k == j ? 1.0 : 0.0;
        must(mel_space_rule(s->trivial[j], s->space, gain, &err));
    }
}

static mel_metric *draw_any(const study *s, mel_rng *rng)
{
    mel_basis *f = NULL;
    mel_metric *metric = NULL;
    double w[MOST * MOST], coefficient[MOST * MOST];
    must(mel_basis_new(&f, &s->problem->domain, &s->opt, &err));
    mel_rng_sphere(rng, f->dimension, w);
    for (size_t j = 0; j < f->n_cone; j++)
        for (size_t i = 0; i < f->dimension; i++)
            if (f->cone[j * f->dimension + i] * w[i] < 0.0)
                w[i] = -w[i];
    f->ops->coefficients(f, w, coefficient);
    must(f->ops->metric(&metric, f, &s->opt, coefficient, &err));
    mel_basis_free(f);
    return metric;
}

/* Whether the data can add something by this metric. */
static bool matters(const study *s, const double *w)
{
    double centre[MOST * MOST];
    mel_space_centre(centre, s->space);
    const double plain = best_trivial(s, w);
    return best_value(s, w, w) - plain >= 0.1 * (plain - value(s, w, centre));
}

static mel_metric *draw(const study *s, mel_rng *rng)
{
    mel_metric *metric = draw_any(s, rng);
    while (!matters(s, mel_metric_coefficient(metric))) {
        mel_metric_free(metric);
        metric = draw_any(s, rng);
    }
    return metric;
}

static void look_at_question(study *s, const double *truth, const mel_question *q)
{
    const double plain = best_trivial(s, truth), half = plain + 0.5 * (best_value(s, truth, truth) - plain);
    s->asked++;
    s->plausible += value(s, truth, q->a) >= half && value(s, truth, q->b) >= half;
    for (size_t i = 0; i < s->size; i++)
        s->differing += fabs(q->a[i] - q->b[i]) > 1e-9;
}

/* Of the classifier that is best for what is known now. */
static double regret_of(const study *s, mel_session *session, const double *truth)
{
    mel_metric *found = NULL;
    must(mel_session_result(&found, NULL, session, &err));
    const double best = best_value(s, truth, truth), plain = best_trivial(s, truth);
    const double regret = (best - best_value(s, truth, mel_metric_coefficient(found))) / (best - plain);
    mel_metric_free(found);
    return regret;
}

static void converse(study *s, size_t index, mel_session *session, mel_oracle *oracle, const double *truth)
{
    size_t next = 0;
    for (double told = NAN;;) {
        const mel_question *question = NULL;
        bool done = false;
        must(mel_session_ask(&question, &done, session, &err));
        if (!isnan(told))
            s->time[s->n_times++] = processor_seconds() - told;
        for (; next < s->n_checkpoints && (done || mel_session_answers(session) == s->checkpoint[next]);
             next++)
            s->regret[next][index] = regret_of(s, session, truth);
        if (done)
            return;
        look_at_question(s, truth, question);
        mel_reply reply = MEL_REPLY_QUIT;
        must(mel_oracle_ask(&reply, oracle, question, &err));
        told = processor_seconds();
        must(mel_session_tell(session, question->number, (mel_answer)reply, NAN, &err));
    }
}

static void run(study *s, size_t index, uint64_t seed)
{
    mel_rng rng;
    mel_rng_seed_stream(&rng, seed, 12345);
    mel_metric *truth = draw(s, &rng), *found = NULL;
    mel_simulated_options simulated;
    mel_simulated_options_init(&simulated);
    simulated.noise = s->noise;
    simulated.seed = seed;
    mel_oracle *oracle = NULL;
    must(mel_oracle_simulated(&oracle, truth, &simulated, &err));
    mel_session_options opt = s->opt;
    opt.seed = seed;
    mel_session *session = NULL;
    must(mel_session_new(&session, &s->problem->domain, &opt, &err));
    const double *w = mel_metric_coefficient(truth);
    converse(s, index, session, oracle, w);
    must(mel_session_result(&found, NULL, session, &err));
    for (size_t i = 0; i < s->size; i++) {
        double low = 0.0, high = 0.0;
        s->error[index] = fmax(s->error[index], fabs(mel_metric_coefficient(found)[i] - w[i]));
        s->held += mel_metric_interval(found, i, &low, &high) && w[i] >= low && w[i] <= high;
        s->intervals++;
    }
    mel_metric_free(found);
    mel_session_free(session);
    mel_oracle_free(oracle);
    mel_metric_free(truth);
}

static void print_regret(const study *s, size_t checkpoint)
{
    double *regret = s->regret[checkpoint], mean = 0.0;
    for (size_t i = 0; i < s->metrics; i++)
        mean += regret[i] / (double)s->metrics;
    printf("%s\"%u\": [%.4f, %.4f, %.4f]", checkpoint > 0 ? ", " : "", s->checkpoint[checkpoint],
           quantile(s->metrics, regret, 0.5), mean, quantile(s->metrics, regret, 0.9));
}

static void print(study *s)
{
    printf("{\"regret\": {");
    for (size_t i = 0; i < s->n_checkpoints; i++)
        print_regret(s, i);
    printf("}, \"plausible\": %.3f, \"differing\": %.2f, \"error\": %.3f, \"held\": %.3f, "
           "\"questions\": %.1f, \"ms\": %.1f}\n",
           (double)s->plausible / (double)s->asked, (double)s->differing / (double)s->asked,
           quantile(s->metrics, s->error, 0.5), (double)s->held / (double)s->intervals,
           (double)s->asked / (double)s->metrics, 1e3 * quantile(s->n_times, s->time, 0.95));
}

static void read_checkpoints(study *s, const char *text)
{
    char *end = NULL;
    for (const char *at = text; s->n_checkpoints < MOST_CHECKPOINTS; at = end + 1) {
        s->checkpoint[s->n_checkpoints++] = (uint32_t)strtoul(at, &end, 10);
        if (*end != ',')
            break;
    }
    s->opt.max_questions = s->checkpoint[s->n_checkpoints - 1];
}

int main(int argc, char **argv)
{
    if (argc < 7)
        die("usage: bench_people_k DATA FAMILY far|weights|rule RESPONDENT QUESTIONS METRICS [FIRST_SEED "
            "[ASSUME]]");
    static study s;
    mel_session_options_init(&s.opt);
    mel_problem_options problem;
    mel_problem_options_init(&problem);
    problem.dataset.data = argv[1];
    problem.resources.threads = 1;
    must(mel_session_options_set(&s.opt, "family", argv[2], &err));
    if (strcmp(argv[3], "rule") == 0)
        must(mel_session_options_set(&s.opt, "until", "rule", &err));
    else
        must(mel_session_options_set(&s.opt, "questions",
                                     strcmp(argv[3], "weights") == 0 ? "realistic" : argv[3], &err));
    must(mel_assumption_parse(&s.opt.assume, argc > 8 ? argv[8] : "person", &err));
    must(mel_noise_parse(&s.noise, argv[4], &err));
    read_checkpoints(&s, argv[5]);
    s.opt.tolerance = 1e-9;
    s.opt.decisions = mel_decisions_usual();
    s.metrics = strtoul(argv[6], NULL, 10);
    const uint64_t first = argc > 7 ? strtoull(argv[7], NULL, 10) : 1;
    const mel_problem_want want = mel_want_of_family(s.opt.family);
    must(mel_problem_make(&s.problem, &problem, &want, &err));
    s.space = s.problem->space;
    s.size = mel_space_size(s.space);
    if (s.problem->n_classes > MOST || s.metrics == 0)
        die("too many classes, or no metrics");
    find_trivial(&s);
    for (size_t i = 0; i < s.n_checkpoints; i++)
        if ((s.regret[i] = calloc(s.metrics, sizeof **s.regret)) == NULL)
            die("memory");
    s.error = calloc(s.metrics, sizeof *s.error);
    s.time = calloc(s.metrics * (s.opt.max_questions + 1), sizeof *s.time);
    if (s.error == NULL || s.time == NULL)
        die("memory");
    for (size_t i = 0; i < s.metrics; i++)
        run(&s, i, first + i);
    print(&s);
    for (size_t i = 0; i < s.n_checkpoints; i++)
        free(s.regret[i]);
    free(s.error);
    free(s.time);
    mel_problem_free(s.problem);
    return 0;
}

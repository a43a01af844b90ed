/* Sessions whose respondents err: the half of bench/noise.py that measures.
 *
 *     bench_noise DOMAIN active|search ASSUME RESPONDENT QUESTIONS METRICS [REPEAT_EVERY [FIRST_SEED]]
 *
 * DOMAIN: face (two classes, X uniform, P(Y = 1 | x) logistic with slope 5), ball:K:RADIUS,
 * quadratic:K:RADIUS or fair:K:RADIUS (off-diagonal rates of K classes; fair: of two groups). METRICS hidden
 * linear (quadratic, fair linear) metrics are drawn uniformly from the unit vectors of the family's cone and
 * asked about in sessions of at most QUESTIONS, one seed after the other from FIRST_SEED (1). ASSUME as in
 * mel_assumption_parse. RESPONDENT: right; wrong:N, one answer among the first N, any of them alike, is
 * wrong; random, a coin; other, a metric one degree higher; prior, flips at a rate drawn for each metric from
 * the prior that the engine has; else a noise as in mel_noise_parse, or such a noise and +P, with the share P
 * of the answers tossed.
 *
 * Prints a JSON object with a list per metric: error, the largest error of any coefficient of the unit vector
 * after each answer (searches: at the end only); covered, how many of the 95% intervals hold at five
 * checkpoints (20, 40, ..., 100% of QUESTIONS); radius and consistency at these; then coefficients, and one
 * entry per metric of end, questions and slow (95th percentile of the seconds from an answer to the next
 * question). A session that ends early keeps its last state. One thread. */
#include "elicit/active/family.h"
#include "elicit/assumption.h"
#include "melicit/melicit.h"

#include "elicit/shared.h"
#include "measure.h"
#include "space/shared.h"

#include <math.h>

enum { CHECKPOINTS = 5 };

typedef enum { RIGHT, ONE_WRONG, RANDOM, OTHER, PRIOR, NOISE } respondent;

typedef struct {
    mel_face *face;
    mel_ball *ball;
    mel_session_options opt;
    respondent who;
    uint64_t wrong_among;
    mel_noise noise;
    double lapses; /* NOISE: share of the answers that are tossed */
    size_t metrics;
} study;

typedef struct {
    double *error; /* questions */
    size_t covered[CHECKPOINTS], coefficients;
    double radius[CHECKPOINTS], consistency[CHECKPOINTS];
    mel_end end;
    uint32_t questions;
    double slow;
} outcome;

static mel_error err;

static void must(mel_status status)
{
    if (status != MEL_OK)
        die(err.text);
}

static double *array(size_t n)
{
    double *x = calloc(n > 0 ? n : 1, sizeof *x);
    if (x == NULL)
        die("memory");
    return x;
}

/* --- hidden metrics --------------------------------------------------------------------------------- */

static mel_metric *draw_on_face(mel_rng *rng)
{
    static const mel_layout binary = { .kind = MEL_CONFUSION, .coordinates = MEL_BINARY, .n_classes = 2 };
    double w[2];
    mel_rng_sphere(rng, 2, w);
    w[0] = fabs(w[0]);
    w[1] = fabs(w[1]);
    mel_metric *metric = NULL;
    must(mel_metric_linear(&metric, MEL_FAMILY_LINEAR, &binary, NULL, MEL_UTILITY, w, &err));
    return metric;
}

static mel_metric *draw_of_family(mel_rng *rng, const study *s, mel_family family)
{
    const mel_domain domain = { .ball = s->ball };
    mel_session_options opt = s->opt;
    opt.family = family;
    mel_basis *f = NULL;
    must(mel_basis_new(&f, &domain, &opt, &err));
    double *w = array(f->dimension), *coefficient = array(f->n_reported);
    mel_rng_sphere(rng, f->dimension, w);
    for (size_t j = 0; j < f->n_cone; j++) /* all rows are signs */
        for (size_t i = 0; i < f->dimension; i++)
            if (f->cone[j * f->dimension + i] * w[i] < 0.0)
                w[i] = -w[i];
    f->ops->coefficients(f, w, coefficient);
    mel_metric *metric = NULL;
    must(f->ops->metric(&metric, f, &opt, coefficient, &err));
    free(w);
    free(coefficient);
    mel_basis_free(f);
    return metric;
}

static mel_metric *draw(const study *s, mel_rng *rng)
{
    if (s->face != NULL)
        return draw_on_face(rng);
    if (s->who != OTHER)
        return draw_of_family(rng, s, s->opt.family);
    return draw_of_family(rng, s,
                          s->opt.family == MEL_FAMILY_LINEAR ? MEL_FAMILY_QUADRATIC : MEL_FAMILY_POLYNOMIAL);
}

/* --- answers ---------------------------------------------------------------------------------------- */

typedef struct {
    const study *study;
    const mel_metric *metric;
    mel_oracle *oracle; /* NOISE and PRIOR */
    uint32_t wrong_at;  /* ONE_WRONG */
    mel_rng rng;
} person;

static mel_answer answer(person *p, const mel_question *question)
{
    if (p->oracle != NULL && mel_rng_uniform(&p->rng) < p->study->lapses)
        return mel_rng_next(&p->rng) >> 63 != 0 ? MEL_ANSWER_A : MEL_ANSWER_B;
    if (p->oracle != NULL) {
        mel_reply reply = MEL_REPLY_QUIT;
        must(mel_oracle_ask(&reply, p->oracle, question, &err));
        return (mel_answer)reply;
    }
    double better = 0.0;
    must(mel_metric_compare(&better, p->metric, question->a, question->b, &err));
    const bool coin = mel_rng_next(&p->rng) >> 63 != 0;
    const bool wrong = p->study->who == ONE_WRONG && question->number == p->wrong_at;
    const bool a = p->study->who == RANDOM ? coin : (better > 0.0) != wrong;
    return a ? MEL_ANSWER_A : MEL_ANSWER_B;
}

/* Of the prior of a learned rate: Beta(1, 9). */
static double drawn_rate(mel_rng *rng)
{
    const double wrong = mel_rng_gamma(rng, 1.0), right = mel_rng_gamma(rng, 9.0);
    return fmin(wrong / (wrong + right), 0.49);
}

/* --- sessions --------------------------------------------------------------------------------------- */

static void look(outcome *out, mel_session *session, const mel_metric *truth, uint32_t after, uint32_t most)
{
    mel_metric *found = NULL;
    mel_summary summary;
    must(mel_session_result(&found, &summary, session, &err));
    const double *x = mel_metric_coefficient(found), *y = mel_metric_coefficient(truth);
    const size_t n = mel_metric_coefficients(found);
    const bool alike = n == mel_metric_coefficients(truth);
    double largest = 0.0;
    size_t covered = 0;
    for (size_t i = 0; i < n && alike; i++) {
        double low = 0.0, high = 0.0;
        largest = fmax(largest, fabs(x[i] - y[i]));
        covered += mel_metric_interval(found, i, &low, &high) && y[i] >= low && y[i] <= high;
    }
    out->error[after - 1] = largest;
    out->coefficients = n;
    for (uint32_t c = 0; c < CHECKPOINTS; c++) {
        if (after > (c + 1) * most / CHECKPOINTS) /* past it; else it may become the last state */
            continue;
        out->covered[c] = covered;
        out->radius[c] = summary.radius;
        out->consistency[c] = summary.consistency;
    }
    out->end = summary.end;
    out->questions = summary.questions;
    mel_metric_free(found);
}

static int ascending(const void *a, const void *b)
{
    const double x = *(const double *)a, y = *(const double *)b;
    return (x > y) - (x < y);
}

static void converse(outcome *out, const study *s, mel_session *session, person *p)
{
    const uint32_t most = s->opt.max_questions;
    const bool search = s->opt.strategy == MEL_STRATEGY_SEARCH;
    double *took = array(most), told = seconds();
    uint32_t n = 0;
    while (n < most) {
        const mel_question *question = NULL;
        bool done = false;
        must(mel_session_ask(&question, &done, session, &err));
        took[n] += seconds() - told;
        if (done)
            break;
        const mel_answer given = answer(p, question);
        told = seconds();
        must(mel_session_tell(session, question->number, given, NAN, &err));
        if (++n < most)
            took[n] = seconds() - told;
        if (!search)
            look(out, session, p->metric, n, most);
        told = seconds();
    }
    if (n == 0)
        die("a session without questions");
    qsort(took, n, sizeof *took, ascending);
    out->slow = took[(95 * n + 99) / 100 - 1];
    free(took);
    look(out, session, p->metric, n, most);
    for (; n < most; n++)
        out->error[n] = out->error[n - 1];
}

static void run(outcome *out, const study *s, uint64_t seed)
{
    person p = { .study = s };
    mel_rng_seed_stream(&p.rng, seed, 12345);
    mel_metric *truth = draw(s, &p.rng);
    p.metric = truth;
    p.wrong_at = s->wrong_among > 0 ? (uint32_t)mel_rng_below(&p.rng, s->wrong_among) + 1 : 0;
    mel_simulated_options simulated;
    mel_simulated_options_init(&simulated);
    simulated.noise = s->noise;
    simulated.seed = seed;
    if (s->who == PRIOR)
        simulated.noise = (mel_noise){ .kind = MEL_NOISE_FLIP, .size = drawn_rate(&p.rng) };
    if (s->who == NOISE || s->who == PRIOR)
        must(mel_oracle_simulated(&p.oracle, truth, &simulated, &err));
    mel_session_options opt = s->opt;
    opt.seed = seed;
    const mel_domain domain = { .face = s->face, .ball = s->ball };
    mel_session *session = NULL;
    must(mel_session_new(&session, &domain, &opt, &err));
    converse(out, s, session, &p);
    mel_session_free(session);
    mel_oracle_free(p.oracle);
    mel_metric_free(truth);
}

/* --- in and out ------------------------------------------------------------------------------------- */

static void read_domain(study *s, const char *text)
{
    if (strcmp(text, "face") == 0) {
        must(mel_face_from_logistic(&s->face, 5.0, 0.0, &err));
        return;
    }
    const char *classes = strchr(text, ':');
    char *radius = NULL;
    if (classes == NULL)
        die("no such domain");
    s->opt.family = text[0] == 'q'   ? MEL_FAMILY_QUADRATIC
                    : text[0] == 'f' ? MEL_FAMILY_FAIR_LINEAR
                                     : MEL_FAMILY_LINEAR;
    const mel_layout layout = {
        .kind = MEL_RATES,
        .coordinates = MEL_OFFDIAGONAL,
        .n_groups = text[0] == 'f' ? 2 : 0,
        .n_classes = strtoul(classes + 1, &radius, 10),
    };
    must(mel_ball_new(&s->ball, &layout, strtod(radius + 1, NULL), NULL, NULL, &err));
}

static void read_respondent(study *s, const char *text)
{
    static const char *const names[] = {
        [RIGHT] = "right", [RANDOM] = "random", [OTHER] = "other", [PRIOR] = "prior"
    };
    for (size_t i = 0; i < sizeof names / sizeof *names; i++)
        if (names[i] != NULL && strcmp(text, names[i]) == 0) {
            s->who = (respondent)i;
            return;
        }
    s->who = ONE_WRONG;
    if (strncmp(text, "wrong:", 6) == 0) {
        s->wrong_among = strtoul(text + 6, NULL, 10);
        return;
    }
    s->who = NOISE;
    char noise[64];
    (void)snprintf(noise, sizeof noise, "%s", text);
    char *plus = strchr(noise, '+');
    if (plus != NULL) {
        *plus = '\0';
        s->lapses = strtod(plus + 1, NULL);
    }
    must(mel_noise_parse(&s->noise, noise, &err));
}

static void print_number(size_t i, double x)
{
    printf(isfinite(x) ? "%s%.6g" : "%snull", i > 0 ? ", " : "", x);
}

static void print_checkpoints(const char *name, size_t n, const outcome *out, int which)
{
    printf("\"%s\": [", name);
    for (size_t i = 0; i < n; i++) {
        printf("%s", i > 0 ? ", [" : "[");
        for (size_t c = 0; c < CHECKPOINTS; c++)
            print_number(c, which == 0   ? (double)out[i].covered[c]
                            : which == 1 ? out[i].radius[c]
                                         : out[i].consistency[c]);
        printf("]");
    }
    printf("], ");
}

static void print(const study *s, const outcome *out)
{
    const size_t n = s->metrics;
    printf("{\"error\": [");
    for (size_t i = 0; i < n; i++) {
        printf("%s", i > 0 ? ", [" : "[");
        for (size_t j = 0; j < s->opt.max_questions; j++)
            print_number(j, out[i].error[j]);
        printf("]");
    }
    printf("], ");
    print_checkpoints("covered", n, out, 0);
    print_checkpoints("radius", n, out, 1);
    print_checkpoints("consistency", n, out, 2);
    printf("\"end\": [");
    for (size_t i = 0; i < n; i++)
        print_number(i, (double)out[i].end);
    printf("], \"questions\": [");
    for (size_t i = 0; i < n; i++)
        print_number(i, (double)out[i].questions);
    printf("], \"slow\": [");
    for (size_t i = 0; i < n; i++)
        print_number(i, out[i].slow);
    printf("], \"coefficients\": %zu}\n", out[0].coefficients);
}

int main(int argc, char **argv)
{
    if (argc < 7)
        die("usage: bench_noise DOMAIN active|search ASSUME RESPONDENT QUESTIONS METRICS [REPEAT_EVERY "
            "[FIRST_SEED]]");
    study s = { .metrics = strtoul(argv[6], NULL, 10) };
    mel_session_options_init(&s.opt);
    read_domain(&s, argv[1]);
    must(mel_session_options_set(&s.opt, "strategy", argv[2], &err));
    if (s.opt.strategy == MEL_STRATEGY_ACTIVE)
        must(mel_assumption_parse(&s.opt.assume, argv[3], &err));
    read_respondent(&s, argv[4]);
    s.opt.max_questions = (uint32_t)strtoul(argv[5], NULL, 10);
    s.opt.repeat_every = argc > 7 ? (uint32_t)strtoul(argv[7], NULL, 10) : 0;
    const uint64_t first = argc > 8 ? strtoull(argv[8], NULL, 10) : 1;
    /* Searches end where the thesis' do; the active engine goes on as long as there is something to learn. */
    s.opt.tolerance = s.opt.strategy == MEL_STRATEGY_SEARCH ? s.face != NULL ? 0.02 : 0.01 : 1e-9;
    if (s.metrics == 0 || s.opt.max_questions < CHECKPOINTS)
        die("no metrics, or fewer questions than checkpoints");
    outcome *out = calloc(s.metrics, sizeof *out);
    if (out == NULL)
        die("memory");
    for (size_t i = 0; i < s.metrics; i++) {
        out[i].error = array(s.opt.max_questions);
        run(&out[i], &s, first + i);
    }
    print(&s, out);
    for (size_t i = 0; i < s.metrics; i++)
        free(out[i].error);
    free(out);
    mel_face_free(s.face);
    mel_ball_free(s.ball);
    return 0;
}

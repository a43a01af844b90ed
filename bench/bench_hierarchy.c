/* What a population tells about each of its people: the half of bench/hierarchy.py that measures.
 *
 *     bench_hierarchy random|active ASSUMED PEOPLE QUESTIONS SPREAD SCALE SEED [ANSWERS.csv TRUTH.csv]
 *
 * People's six costs lie around common ones (SPREAD: root mean square angle, radians); they answer with
 * logistic errors of this SCALE, questions about random pairs of a ball or those that sessions ask. ASSUMED:
 * as --assume. Prints the median angle, in degrees, between each one's costs and what was found of them alone
 * and within the population; the files get each answer as person, A - B, 1 for A, and the costs. One thread.
 */
#include "base/la.h"
#include "base/rng.h"
#include "base/stat.h"
#include "elicit/session.h"
#include "elicit/shared.h"
#include "melicit/melicit.h"

#include "measure.h"

#include <math.h>
#include <string.h>

enum { SIZE = 6, MOST = 1000, FIRST = 10, WAVE = 10 }; /* after so many people the prior is learned anew */
static const double radius = 0.2;
static mel_error err;

static void must(mel_status status)
{
    if (status != MEL_OK)
        die(err.text);
}

typedef struct {
    mel_ball *ball;
    mel_layout layout;
    const char *assumed;
    bool random;
    uint32_t questions;
    double scale;
    uint64_t seed;
    FILE *answers;
} study;

/* Costs: nobody is better off with more mistakes. */
static void draw_person(double *out, const double *common, double spread, mel_rng *rng)
{
    for (size_t j = 0; j < SIZE; j++)
        out[j] = -fabs(common[j] + spread * mel_rng_normal(rng) / sqrt(SIZE - 1.0));
    mel_scale(SIZE, 1.0 / mel_norm2(SIZE, out), out);
}

static double degrees(const double *x, const double *y)
{
    const double cosine = mel_dot(SIZE, x, y) / (mel_norm2(SIZE, x) * mel_norm2(SIZE, y));
    return acos(fmax(-1.0, fmin(1.0, cosine))) * 180.0 / acos(-1.0);
}

/* prior: what is known of people who came before; NULL: nothing. */
static mel_session *new_session(const study *s, size_t person, const mel_pooled *prior)
{
    mel_session_options opt;
    mel_session_options_init(&opt);
    char text[200];
    (void)snprintf(text, sizeof text,
                   "{\"assume\": \"%s\", \"max_questions\": %u, \"repeat_every\": 0, \"tolerance\": 0.001}",
                   s->assumed, (unsigned)s->questions);
    must(mel_session_options_from_json(&opt, text, &err));
    opt.seed = 1000 * s->seed + person + 1;
    if (prior != NULL) {
        opt.prior = prior->likely;
        opt.prior_strength = prior->strength;
    }
    mel_session *session = NULL;
    const mel_domain domain = { .ball = s->ball };
    must(mel_session_new(&session, &domain, &opt, &err));
    return session;
}

/* The answer of a person to the pair, written down. */
static mel_answer answer(const study *s, size_t person, const double *truth, const double *a, const double *b,
                         mel_rng *rng)
{
    double x[SIZE];
    for (size_t j = 0; j < SIZE; j++)
        x[j] = a[j] - b[j];
    const bool left = mel_rng_uniform(rng) < 1.0 / (1.0 + exp(-mel_dot(SIZE, truth, x) / s->scale));
    if (s->answers != NULL) {
        (void)fprintf(s->answers, "%zu", person + 1);
        for (size_t j = 0; j < SIZE; j++)
            (void)fprintf(s->answers, ",%.9g", x[j]);
        (void)fprintf(s->answers, ",%d\n", left);
    }
    return left ? MEL_ANSWER_A : MEL_ANSWER_B;
}

static void ask_random(const study *s, mel_session *session, size_t person, const double *truth, mel_rng *rng)
{
    double side[2][SIZE];
    for (uint32_t q = 0; q < s->questions; q++) {
        for (size_t i = 0; i < 2; i++) {
            mel_rng_sphere(rng, SIZE, side[i]);
            mel_scale(SIZE, radius, side[i]);
            mel_axpy(SIZE, 1.0, mel_ball_centre(s->ball), side[i]);
        }
        const mel_record said = { .a = side[0],
                                  .b = side[1],
                                  .answer = answer(s, person, truth, side[0], side[1], rng),
                                  .seconds = NAN };
        must(mel_session_replay(session, &said, &err));
    }
}

static void ask_active(const study *s, mel_session *session, size_t person, const double *truth, mel_rng *rng)
{
    for (;;) {
        const mel_question *question = NULL;
        bool done = false;
        must(mel_session_ask(&question, &done, session, &err));
        if (done)
            return;
        must(mel_session_tell(session, question->number,
                              answer(s, person, truth, question->a, question->b, rng), NAN, &err));
    }
}

int main(int argc, char **argv)
{
    if (argc != 8 && argc != 10)
        die("usage: bench_hierarchy random|active ASSUMED PEOPLE QUESTIONS SPREAD SCALE SEED [ANSWERS.csv "
            "TRUTH.csv]");
    study s = { .layout = { MEL_RATES, MEL_OFFDIAGONAL, 3, 0 },
                .assumed = argv[2],
                .random = strcmp(argv[1], "random") == 0,
                .questions = (uint32_t)strtoul(argv[4], NULL, 10),
                .scale = strtod(argv[6], NULL),
                .seed = strtoul(argv[7], NULL, 10),
                .answers = argc == 10 ? fopen(argv[8], "w") : NULL };
    FILE *costs = argc == 10 ? fopen(argv[9], "w") : NULL;
    const size_t n = strtoul(argv[3], NULL, 10);
    if (n < 2 || n > MOST)
        die("2 to 1000 people");
    static mel_session *session[MOST];
    static double truth[MOST][SIZE], alone[MOST], within[MOST];
    double common[SIZE];
    mel_rng rng;
    mel_rng_seed(&rng, s.seed);
    mel_rng_sphere(&rng, SIZE, common);
    must(mel_ball_new(&s.ball, &s.layout, radius, NULL, NULL, &err));
    mel_pooled *found = NULL;
    for (size_t i = 0; i < n; i++) {
        if (!s.random && i >= FIRST && i % WAVE == 0) {
            mel_pooled_free(found);
            must(mel_respondents_join(&found, i, session, &err));
        }
        draw_person(truth[i], common, strtod(argv[5], NULL), &rng);
        session[i] = new_session(&s, i, found);
        (s.random ? ask_random : ask_active)(&s, session[i], i, truth[i], &rng);
        for (size_t j = 0; j < SIZE && costs != NULL; j++)
            (void)fprintf(costs, "%.9g%s", truth[i][j], j + 1 < SIZE ? "," : "\n");
    }
    mel_pooled_free(found);
    must(mel_respondents_join(&found, n, session, &err));
    for (size_t i = 0; i < n; i++) {
        mel_metric *own = NULL, *among = NULL;
        must(mel_session_result(&own, NULL, session[i], &err));
        must(mel_pooled_person(&among, found, session[i], &err));
        const double side = mel_metric_orientation(own) == MEL_COST ? -1.0 : 1.0;
        mel_scale(SIZE, side, truth[i]);
        alone[i] = degrees(mel_metric_coefficient(own), truth[i]);
        within[i] = degrees(mel_metric_coefficient(among), truth[i]);
        mel_metric_free(among);
        mel_metric_free(own);
        mel_session_free(session[i]);
    }
    for (size_t j = 0; j < SIZE; j++)
        common[j] = fabs(common[j]) * (mel_metric_orientation(found->common) == MEL_COST ? 1.0 : -1.0);
    printf("{\"alone\": %.2f, \"within\": %.2f, \"common\": %.2f, \"spread\": %.3f}\n",
           mel_quantile_sort(n, alone, 0.5), mel_quantile_sort(n, within, 0.5),
           degrees(mel_metric_coefficient(found->common), common), found->apart);
    mel_pooled_free(found);
    mel_ball_free(s.ball);
    if (s.answers != NULL && costs != NULL)
        return fclose(s.answers) != 0 || fclose(costs) != 0;
    return 0;
}

/* Questions that active elicitation asks until every coefficient is known: the half of bench/active.py that
 * measures.
 *
 *     bench_active FAMILY CLASSES GROUPS RADIUS simple|any METRICS QUESTIONS [TOLERANCE]
 *
 * FAMILY as in metric files (polynomial:3 too). METRICS hidden metrics are drawn (seeds 1, 2, ...) uniformly
 * from the family's cone (diagonal: Dirichlet; fair quadratic: B = G G', G Gaussian) and asked about, at most
 * QUESTIONS each, on a ball of rates; they answer by mel_metric_compare. The parts of the engine are driven
 * here, not a session, so that the mean can be looked at after every answer. Prints a JSON object: questions
 * until the mean is within TOLERANCE (0.01) for the first time and from when on it stays there, for each
 * metric; processor milliseconds from each answer to the next question (p50, p95); how often 95% radii hold
 * at five checkpoints. One thread. */
#include "elicit/active/question.h"
#include "melicit/melicit.h"

#include "base/la.h"
#include "base/stat.h"

#include "measure.h"

#include <math.h>

enum { CHECKPOINTS = 5 };

typedef struct {
    mel_family family;
    uint32_t degree, questions;
    size_t classes, groups, metrics;
    double radius, tolerance;
    bool simple;
    mel_ball *ball;
    /* results */
    uint32_t *first, *stays; /* metrics; 0: never */
    double *time;            /* questions x metrics */
    size_t n_times;
    uint32_t covered[CHECKPOINTS], checked[CHECKPOINTS];
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

/* --- hidden metrics --------------------------------------------------------------------------------- */

/* Every B^uv of w becomes G G' at its norm. */
static void draw_definite(const mel_basis *f, mel_rng *rng, double *w)
{
    const size_t q = f->per_group, packed = mel_pack_size(q);
    double *g = malloc(q * q * sizeof *g), *b = malloc(q * q * sizeof *b);
    if (g == NULL || b == NULL)
        die("memory");
    for (size_t p = 0; p < f->pairs; p++) {
        double *block = w + q + p * packed;
        const double norm = mel_norm2(packed, block);
        for (size_t i = 0; i < q * q; i++)
            g[i] = mel_rng_normal(rng);
        for (size_t i = 0; i < q; i++)
            for (size_t j = 0; j < q; j++)
                b[i * q + j] = mel_dot(q, g + i * q, g + j * q);
        mel_pack(q, b, block);
        mel_scale(packed, norm / mel_norm2(packed, block), block);
    }
    free(g);
    free(b);
}

/* At the norm at which the family is judged. */
static void draw(const study *s, const mel_basis *f, uint64_t seed, double *w)
{
    mel_rng rng;
    mel_rng_seed_stream(&rng, seed, 12345);
    if (s->family == MEL_FAMILY_DIAGONAL_LINEAR) {
        mel_rng_dirichlet(&rng, f->dimension, NULL, w);
        return;
    }
    mel_rng_sphere(&rng, f->dimension, w);
    for (size_t i = 0; i < f->dimension; i++) {
        if (s->family == MEL_FAMILY_LINEAR)
            w[i] = -fabs(w[i]);
        else if (s->family == MEL_FAMILY_FAIR_LINEAR ||
                 (s->family == MEL_FAMILY_FAIR_QUADRATIC && i < f->per_group))
            w[i] = fabs(w[i]);
    }
    if (s->family == MEL_FAMILY_FAIR_QUADRATIC)
        draw_definite(f, &rng, w);
    mel_scale(f->dimension, 1.0 / mel_norm2(f->dimension, w), w);
}

static mel_metric *make_metric(const mel_basis *f, const mel_session_options *opt, const double *w)
{
    double *coefficient = calloc(f->n_reported, sizeof *coefficient);
    if (coefficient == NULL)
        die("memory");
    f->ops->coefficients(f, w, coefficient);
    mel_metric *metric = NULL;
    must(f->ops->metric(&metric, f, opt, coefficient, &err));
    free(coefficient);
    return metric;
}

/* --- one session ------------------------------------------------------------------------------------ */

typedef struct {
    mel_basis *f;
    mel_sampler *sampler;
    mel_chooser *chooser;
    mel_metric *metric;
    double *w, *a, *b, *row;
} session;

static session open_session(const study *s, uint64_t seed)
{
    mel_session_options opt;
    mel_session_options_init(&opt);
    opt.family = s->family;
    opt.degree = s->degree;
    const mel_domain domain = { .ball = s->ball };
    session it = { 0 };
    must(mel_basis_new(&it.f, &domain, &opt, &err));
    const mel_sampler_options sampling = {
        .dimension = it.f->dimension,
        .n_cone = it.f->n_cone,
        .cone = it.f->cone,
        .start = it.f->start,
        .seed = seed,
    };
    must(mel_sampler_new(&it.sampler, &sampling, &err));
    must(mel_chooser_new(&it.chooser, it.f, mel_sampler_samples(it.sampler)->count, &err));
    it.w = calloc(2 * it.f->dimension + 2 * it.f->size, sizeof(double));
    if (it.w == NULL)
        die("memory");
    it.row = it.w + it.f->dimension;
    it.a = it.row + it.f->dimension;
    it.b = it.a + it.f->size;
    draw(s, it.f, seed, it.w);
    it.metric = make_metric(it.f, &opt, it.w);
    mel_chooser_look(it.chooser, it.sampler);
    return it;
}

static void close_session(session *it)
{
    mel_metric_free(it->metric);
    mel_chooser_free(it->chooser);
    mel_sampler_free(it->sampler);
    mel_basis_free(it->f);
    free(it->w);
}

static double error_of(const session *it)
{
    const double *mean = mel_chooser_mean(it->chooser);
    double most = 0.0;
    for (size_t i = 0; i < it->f->dimension; i++)
        most = fmax(most, fabs(mean[i] - it->w[i]));
    return most;
}

/* Tells the answer to the pending question and finds the next one; false when there is none. */
static bool step(study *s, session *it, uint64_t seed, uint32_t n)
{
    double better = 0.0;
    must(mel_metric_compare(&better, it->metric, it->a, it->b, &err));
    const double start = processor_seconds();
    it->f->ops->row(it->f, it->a, it->b, it->row);
    must(mel_sampler_tell(it->sampler, it->row, 1.0, better > 0.0 ? MEL_ANSWER_A : MEL_ANSWER_B, &err));
    mel_chooser_look(it->chooser, it->sampler);
    mel_rng rng;
    mel_outlook outlook;
    mel_rng_seed_stream(&rng, seed, UINT64_C(3) << 62 | n);
    must(mel_chooser_choose(it->a, it->b, &outlook, it->chooser, it->sampler, s->simple, NULL, &rng, &err));
    s->time[s->n_times++] = 1e3 * (processor_seconds() - start);
    return outlook.reduction > 0.0;
}

static void run(study *s, size_t index)
{
    const uint64_t seed = (uint64_t)index + 1;
    const uint32_t every = s->questions / CHECKPOINTS > 0 ? s->questions / CHECKPOINTS : 1;
    session it = open_session(s, seed);
    mel_rng rng;
    mel_outlook outlook;
    mel_rng_seed_stream(&rng, seed, UINT64_C(3) << 62);
    must(mel_chooser_choose(it.a, it.b, &outlook, it.chooser, it.sampler, s->simple, NULL, &rng, &err));
    bool more = true;
    for (uint32_t n = 1; n <= s->questions && more; n++) {
        more = step(s, &it, seed, n);
        const double error = error_of(&it), radius = mel_chooser_radius(it.chooser);
        if (error > s->tolerance)
            s->stays[index] = 0;
        else if (s->stays[index] == 0)
            s->stays[index] = n;
        if (error <= s->tolerance && s->first[index] == 0)
            s->first[index] = n;
        if (n % every == 0 && n / every <= CHECKPOINTS) {
            s->checked[n / every - 1]++;
            s->covered[n / every - 1] += error <= radius;
        }
        more = more && radius > 0.5 * s->tolerance; /* from here on nothing changes */
    }
    close_session(&it);
}

/* --- output ----------------------------------------------------------------------------------------- */

static void print_counts(const char *name, size_t n, const uint32_t *count)
{
    printf("\"%s\": [", name);
    for (size_t i = 0; i < n; i++)
        printf("%s%u", i == 0 ? "" : ", ", count[i]);
    printf("], ");
}

static void print_study(study *s)
{
    printf("{");
    print_counts("first", s->metrics, s->first);
    print_counts("stays", s->metrics, s->stays);
    print_counts("covered", CHECKPOINTS, s->covered);
    print_counts("checked", CHECKPOINTS, s->checked);
    printf("\"ms_p50\": %.3f, \"ms_p95\": %.3f}\n", mel_quantile_sort(s->n_times, s->time, 0.5),
           mel_quantile_sort(s->n_times, s->time, 0.95));
}

int main(int argc, char **argv)
{
    if (argc < 8)
        die("usage: bench_active FAMILY CLASSES GROUPS RADIUS simple|any METRICS QUESTIONS [TOLERANCE]");
    study s = {
        .classes = strtoul(argv[2], NULL, 10),
        .groups = strtoul(argv[3], NULL, 10),
        .radius = strtod(argv[4], NULL),
        .simple = strcmp(argv[5], "simple") == 0,
        .metrics = strtoul(argv[6], NULL, 10),
        .questions = (uint32_t)strtoul(argv[7], NULL, 10),
        .tolerance = argc > 8 ? strtod(argv[8], NULL) : 0.01,
    };
    must(mel_family_parse_degree(&s.family, &s.degree, argv[1], &err));
    const mel_layout layout = {
        .kind = MEL_RATES,
        .coordinates = s.family == MEL_FAMILY_DIAGONAL_LINEAR ? MEL_DIAGONAL : MEL_OFFDIAGONAL,
        .n_classes = s.classes,
        .n_groups = s.groups,
    };
    must(mel_ball_new(&s.ball, &layout, s.radius, NULL, NULL, &err));
    s.first = calloc(s.metrics + 1, sizeof *s.first);
    s.stays = calloc(s.metrics + 1, sizeof *s.stays);
    s.time = calloc(s.metrics * s.questions + 1, sizeof *s.time);
    if (s.first == NULL || s.stays == NULL || s.time == NULL)
        die("memory");
    for (size_t i = 0; i < s.metrics; i++)
        run(&s, i);
    print_study(&s);
    mel_ball_free(s.ball);
    free(s.first);
    free(s.stays);
    free(s.time);
    return 0;
}

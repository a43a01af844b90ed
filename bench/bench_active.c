/* Questions that active elicitation asks until every coefficient is known, and what `search` does on the same
 * metrics: the half of bench/active.py that measures.
 *
 *     bench_active FAMILY CLASSES GROUPS RADIUS simple|any METRICS QUESTIONS LAST [SEED [TOLERANCE]]
 *
 * FAMILY as in metric files (polynomial:3 too). METRICS hidden metrics are drawn (seeds SEED, SEED + 1, ...;
 * SEED is 1 unless given) from the family's prior, that is uniformly from the unit vectors that it allows,
 * and asked about, at most QUESTIONS each, on a ball of rates; they answer by mel_metric_compare. The parts
 * of the engine are driven here, not a session, so that the mean can be looked at after every answer. Prints
 * a JSON object: questions until the mean is within TOLERANCE (0.01) for the first time and from when on it
 * stays there, for each metric; processor milliseconds from each answer to the next question (p50, p95); at
 * five checkpoints, evenly up to LAST questions, how often the 95% radius holds and which share of the
 * coefficients is in its 95% interval; the questions of `search`, which is a session, and its error at the
 * end (null where there is none). One thread. */
#include "elicit/active/ask/pair.h"
#include "elicit/active/select.h"
#include "melicit/melicit.h"

#include "base/la.h"
#include "base/stat.h"

#include "measure.h"
#include "metric/shared.h"

#include <math.h>

enum { CHECKPOINTS = 5 };

typedef struct {
    mel_family family;
    uint32_t degree, questions, last;
    size_t classes, groups, metrics;
    uint64_t seed; /* of the first metric */
    double radius, tolerance;
    bool simple;
    mel_ball *ball;
    /* results */
    uint32_t *first, *stays; /* metrics; 0: never */
    double *time;            /* questions x metrics */
    size_t n_times;
    uint32_t covered[CHECKPOINTS], inside[CHECKPOINTS], checked[CHECKPOINTS], dimension;
    bool searched;
    uint32_t *asked;      /* metrics: questions of the search */
    double *search_error; /* metrics */
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

/* Whether a symmetric matrix (q x q, overwritten) is positive definite, by Cholesky. */
static bool is_definite(size_t q, double *b)
{
    for (size_t i = 0; i < q; i++)
        for (size_t j = 0; j <= i; j++) {
            const double left = b[i * q + j] - mel_dot(j, b + i * q, b + j * q);
            if (i == j && !(left > 0.0))
                return false;
            b[i * q + j] = i == j ? sqrt(left) : left / b[j * q + j];
        }
    return true;
}

/* Every B^uv of w is drawn again until it is positive definite: normal numbers under that condition.
 * Diagonals are positive from the start, which the condition asks for anyway. */
static void draw_definite(const mel_basis *f, mel_rng *rng, double *w)
{
    const size_t q = f->per_group, packed = mel_pack_size(q);
    double *b = calloc(q * q + 1, sizeof *b);
    if (b == NULL)
        die("memory");
    for (size_t p = 0; p < f->pairs; p++) {
        double *block = w + q + p * packed;
        bool found = false;
        while (!found) {
            size_t at = 0;
            for (size_t i = 0; i < q; i++)
                for (size_t j = i; j < q; j++, at++)
                    block[at] = i == j ? fabs(mel_rng_normal(rng)) : mel_rng_normal(rng);
            mel_unpack(q, block, b);
            found = is_definite(q, b);
        }
    }
    free(b);
}

static void scale_to_norm(const mel_basis *f, double *w)
{
    double norm = 0.0;
    for (size_t i = 0; i < f->dimension && f->l1; i++)
        norm += fabs(w[i]);
    mel_scale(f->dimension, 1.0 / (f->l1 ? norm : mel_norm2(f->dimension, w)), w);
}

/* At the norm at which the family is judged. */
static void draw(const study *s, const mel_basis *f, uint64_t seed, double *w)
{
    mel_rng rng;
    mel_rng_seed_stream(&rng, seed, 12345);
    for (size_t i = 0; i < f->dimension; i++) {
        w[i] = mel_rng_normal(&rng);
        if (s->family == MEL_FAMILY_LINEAR)
            w[i] = -fabs(w[i]);
        else if (s->family == MEL_FAMILY_FAIR_LINEAR || s->family == MEL_FAMILY_DIAGONAL_LINEAR ||
                 (s->family == MEL_FAMILY_FAIR_QUADRATIC && i < f->per_group))
            w[i] = fabs(w[i]);
    }
    if (s->family == MEL_FAMILY_FAIR_QUADRATIC)
        draw_definite(f, &rng, w);
    scale_to_norm(f, w);
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
    double *low, *high, *column; /* D, D, samples */
} session;

static mel_session_options options_of(const study *s)
{
    mel_session_options opt;
    mel_session_options_init(&opt);
    opt.family = s->family;
    opt.degree = s->degree;
    return opt;
}

static session open_session(const study *s, uint64_t seed)
{
    const mel_session_options opt = options_of(s);
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
    const size_t count = mel_sampler_samples(it.sampler)->count;
    it.w = calloc(4 * it.f->dimension + 2 * it.f->size + count, sizeof(double));
    if (it.w == NULL)
        die("memory");
    it.row = it.w + it.f->dimension;
    it.a = it.row + it.f->dimension;
    it.b = it.a + it.f->size;
    it.low = it.b + it.f->size;
    it.high = it.low + it.f->dimension;
    it.column = it.high + it.f->dimension;
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

static double error_of(const session *it, const double *w)
{
    double most = 0.0;
    for (size_t i = 0; i < it->f->dimension; i++)
        most = fmax(most, fabs(w[i] - it->w[i]));
    return most;
}

/* Coefficients in their 95% intervals, made as the engine reports them. */
static uint32_t count_inside(const session *it)
{
    const mel_samples *samples = mel_sampler_samples(it->sampler);
    mel_column_intervals(samples->count, it->f->dimension, mel_chooser_samples(it->chooser),
                         mel_chooser_mean(it->chooser), mel_samples_level(samples, 0.975), it->column,
                         it->low, it->high);
    uint32_t n = 0;
    for (size_t i = 0; i < it->f->dimension; i++)
        n += it->w[i] >= it->low[i] && it->w[i] <= it->high[i];
    return n;
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

static void check(study *s, const session *it, uint32_t n, bool holds)
{
    for (uint32_t k = 0; k < CHECKPOINTS; k++) {
        if (n != (s->last * (k + 1) + CHECKPOINTS - 1) / CHECKPOINTS)
            continue;
        s->checked[k]++;
        s->covered[k] += holds;
        s->inside[k] += count_inside(it);
    }
}

static void ask_all(study *s, session *it, size_t index)
{
    const uint64_t seed = s->seed + index;
    mel_rng rng;
    mel_outlook outlook;
    mel_rng_seed_stream(&rng, seed, UINT64_C(3) << 62);
    must(mel_chooser_choose(it->a, it->b, &outlook, it->chooser, it->sampler, s->simple, NULL, &rng, &err));
    bool more = true;
    for (uint32_t n = 1; n <= s->questions && more; n++) {
        more = step(s, it, seed, n);
        const double error = error_of(it, mel_chooser_mean(it->chooser));
        const double radius = mel_chooser_radius(it->chooser);
        if (error > s->tolerance)
            s->stays[index] = 0;
        else if (s->stays[index] == 0)
            s->stays[index] = n;
        if (error <= s->tolerance && s->first[index] == 0)
            s->first[index] = n;
        check(s, it, n, error <= radius);
        /* Later nothing changes. */
        more = more && (n < s->last || radius > 0.5 * s->tolerance);
    }
}

/* The same metric by `search`. False when it has no procedure for the family. */
static bool search(study *s, const session *it, size_t index)
{
    mel_session_options opt = options_of(s);
    opt.strategy = MEL_STRATEGY_SEARCH;
    opt.tolerance = s->tolerance;
    opt.max_questions = 1000000;
    const mel_domain domain = { .ball = s->ball };
    mel_session *by_search = NULL;
    if (mel_session_new(&by_search, &domain, &opt, &err) != MEL_OK)
        return false;
    for (uint32_t number = 1;; number++) {
        const mel_question *question = NULL;
        bool done = false;
        double better = 0.0;
        must(mel_session_ask(&question, &done, by_search, &err));
        if (done)
            break;
        must(mel_metric_compare(&better, it->metric, question->a, question->b, &err));
        must(mel_session_tell(by_search, number, better > 0.0 ? MEL_ANSWER_A : MEL_ANSWER_B, NAN, &err));
    }
    mel_metric *found = NULL;
    double *w = NULL;
    s->asked[index] = mel_session_answers(by_search);
    s->search_error[index] = INFINITY;
    if (mel_session_result(&found, NULL, by_search, &err) == MEL_OK &&
        mel_basis_vector(&w, it->f, &opt, found, &err) == MEL_OK) {
        scale_to_norm(it->f, w);
        s->search_error[index] = error_of(it, w);
    }
    free(w);
    mel_metric_free(found);
    mel_session_free(by_search);
    return true;
}

static void run(study *s, size_t index)
{
    session it = open_session(s, s->seed + index);
    s->dimension = (uint32_t)it.f->dimension;
    ask_all(s, &it, index);
    s->searched = search(s, &it, index);
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
    print_counts("inside", CHECKPOINTS, s->inside);
    printf("\"dimension\": %u, ", s->dimension);
    if (s->searched)
        print_counts("search", s->metrics, s->asked);
    else
        printf("\"search\": null, ");
    printf("\"search_error\": [");
    for (size_t i = 0; i < s->metrics; i++)
        printf("%s%.6g", i == 0 ? "" : ", ", isfinite(s->search_error[i]) ? s->search_error[i] : 9.0);
    printf("], ");
    printf("\"ms_p50\": %.3f, \"ms_p95\": %.3f}\n", mel_quantile_sort(s->n_times, s->time, 0.5),
           mel_quantile_sort(s->n_times, s->time, 0.95));
}

static void free_study(study *s)
{
    mel_ball_free(s->ball);
    free(s->first);
    free(s->stays);
    free(s->time);
    free(s->asked);
    free(s->search_error);
}

static study read_study(int argc, char **argv)
{
    study s = {
        .classes = strtoul(argv[2], NULL, 10),
        .groups = strtoul(argv[3], NULL, 10),
        .radius = strtod(argv[4], NULL),
        .simple = strcmp(argv[5], "simple") == 0,
        .metrics = strtoul(argv[6], NULL, 10),
        .questions = (uint32_t)strtoul(argv[7], NULL, 10),
        .last = (uint32_t)strtoul(argv[8], NULL, 10),
        .seed = argc > 9 ? strtoull(argv[9], NULL, 10) : 1,
        .tolerance = argc > 10 ? strtod(argv[10], NULL) : 0.01,
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
    s.asked = calloc(s.metrics + 1, sizeof *s.asked);
    s.search_error = calloc(s.metrics + 1, sizeof *s.search_error);
    if (s.first == NULL || s.stays == NULL || s.time == NULL || s.asked == NULL || s.search_error == NULL)
        die("memory");
    return s;
}

int main(int argc, char **argv)
{
    if (argc < 9)
        die("usage: bench_active FAMILY CLASSES GROUPS RADIUS simple|any METRICS QUESTIONS LAST [SEED "
            "[TOLERANCE]]");
    study s = read_study(argc, argv);
    for (size_t i = 0; i < s.metrics; i++)
        run(&s, i);
    print_study(&s);
    free_study(&s);
    return 0;
}

/* Cost ratios from people: the posterior against an integral, pairs as whole numbers, sessions of many kinds
 * of respondents, and that each of them ends with a true sentence. */
#include "base/stat.h"
#include "elicit/active/ask/levels.h"
#include "elicit/active/posterior/exchange.h"
#include "elicit/shared.h"
#include "outcome/shared.h"
#include "space/shared.h"
#include "support/binary.h"
#include "support/test.h"

#include <math.h>
#include <pthread.h>
#include <stdlib.h>
#include <string.h>

static mel_face *face; /* logistic:a=3,b=0.7, as in docs/measurements.md */

static int set_up(void **state)
{
    (void)state;
    face = test_logistic_face(3.0, 0.7);
    return 0;
}

static int tear_down(void **state)
{
    (void)state;
    mel_face_free(face);
    test_cleanup();
    return 0;
}

/* --- the posterior -------------------------------------------------------------------------------- */

/* P(answer) of one way, written down once more. */
static double likely(const mel_noise_way *way, double rho, mel_trade t, mel_trade_answer answer, double width,
                     double outcomes)
{
    const double r = exp(rho), margin = (r * t.tp - t.tn) / sqrt(1.0 + r * r), x = rho - log(t.tn / t.tp);
    const double absolute = outcomes > 2.5 ? fmax(way->absolute, 0.002) : way->absolute;
    const double z =
        x / sqrt(way->relative * way->relative + absolute * absolute * (x / margin) * (x / margin));
    const double first = 1.0 / (1.0 + exp(width - z)), second = 1.0 / (1.0 + exp(width + z));
    const double looks = answer == MEL_TRADE_FIRST    ? first
                         : answer == MEL_TRADE_SECOND ? second
                                                      : 1.0 - first - second;
    return way->lapse / outcomes + (1.0 - way->lapse) * looks;
}

static void test_posterior(void **state)
{
    (void)state;
    enum { ANSWERS = 9 };
    static const char *const assumed[] = { "person", "logistic:50", "logistic", "flip:0.1" };
    static const double widths[] = { 0.4, 1.2, 3.5 };
    mel_rng rng;
    mel_rng_seed(&rng, 5);
    for (size_t k = 0; k < 2 * COUNT(assumed); k++) {
        const bool ties = k % 2 == 1;
        mel_assumption assume;
        assert_int_equal(mel_assumption_parse(&assume, assumed[k / 2], NULL), MEL_OK);
        mel_exchange x;
        assert_int_equal(mel_exchange_init(&x, &assume, 0.0, 0.0, NULL), MEL_OK);
        mel_trade trade[ANSWERS];
        mel_trade_answer answer[ANSWERS];
        for (size_t i = 0; i < ANSWERS; i++) {
            trade[i] = (mel_trade){ 0.01 + 0.1 * mel_rng_uniform(&rng), 0.01 + 0.2 * mel_rng_uniform(&rng) };
            answer[i] = ties && i % 4 == 2            ? MEL_TRADE_SAME
                        : mel_rng_uniform(&rng) < 0.5 ? MEL_TRADE_FIRST
                                                      : MEL_TRADE_SECOND;
            assert_int_equal(mel_exchange_tell(&x, trade[i], answer[i], NULL), MEL_OK);
        }
        double want[MEL_EXCHANGE_CELLS], sum = 0.0;
        for (size_t c = 0; c < MEL_EXCHANGE_CELLS; c++) {
            const double rho = mel_exchange_cell(c);
            want[c] = 0.0;
            for (size_t w = 0; w < x.n_ways; w++)
                for (size_t t = 0; t < (ties ? 3U : 1U); t++) {
                    double product = x.way[w].weight * pow(1.0 + rho * rho / 12.0, -2.0);
                    for (size_t i = 0; i < ANSWERS; i++)
                        product *= likely(&x.way[w], rho, trade[i], answer[i], ties ? widths[t] : 0.0,
                                          ties ? 3.0 : 2.0);
                    want[c] += product;
                }
            sum += want[c];
        }
        for (size_t c = 0; c < MEL_EXCHANGE_CELLS; c++)
            assert_close(x.mass[c], want[c] / sum, 1e-7);
        mel_exchange_free(&x);
    }
}

/* A question tells what it is expected to tell: the mean fall of the entropy over its answers. */
static void test_information(void **state)
{
    (void)state;
    const mel_assumption assume = { .kind = MEL_NOISE_PERSON };
    const mel_trade told = { 0.02, 0.05 }, asked = { 0.03, 0.1 };
    for (int ties = 0; ties < 2; ties++) {
        double entropy[4] = { 0.0 }, p[3] = { 0.0 };
        for (int k = 0; k < 4; k++) { /* 0 to 2: after an answer; 3: before it */
            mel_exchange x;
            assert_int_equal(mel_exchange_init(&x, &assume, 0.0, 0.0, NULL), MEL_OK);
            assert_int_equal(mel_exchange_tell(&x, told, ties ? MEL_TRADE_SAME : MEL_TRADE_FIRST, NULL),
                             MEL_OK);
            if (k < 3)
                p[k] = mel_exchange_foresee(&x, asked, (mel_trade_answer)k);
            if (k < 3 && (k < 2 || ties))
                assert_int_equal(mel_exchange_tell(&x, asked, (mel_trade_answer)k, NULL), MEL_OK);
            for (size_t c = 0; c < MEL_EXCHANGE_CELLS; c++)
                entropy[k] -= x.mass[c] > 0.0 ? x.mass[c] * log2(x.mass[c]) : 0.0;
            if (k == 3) {
                double *work = calloc(mel_exchange_work_size(), sizeof *work);
                assert_non_null(work);
                mel_exchange_prepare(&x, false, work);
                const double fall =
                    entropy[3] - p[0] * entropy[0] - p[1] * entropy[1] - (ties ? p[2] * entropy[2] : 0.0);
                assert_close(mel_exchange_information(&x, work, asked), fall, 1e-6);
                free(work);
            }
            mel_exchange_free(&x);
        }
        assert_close(p[0] + p[1] + (ties ? p[2] : 0.0), 1.0, 1e-9);
    }
}

/* For somebody who errs more a question is judged by what the cautious interval is made of. */
static void test_cautious_questions(void **state)
{
    (void)state;
    const mel_assumption assume = { .kind = MEL_NOISE_PERSON };
    const mel_trade near = { 0.03, 0.06 }, beyond = { 0.03, 0.12 };
    mel_exchange x;
    assert_int_equal(mel_exchange_init(&x, &assume, 0.0, 0.0, NULL), MEL_OK);
    for (size_t i = 0; i < 12; i++) { /* a ratio of 2, without a mistake */
        const double by = 1.0 + 0.5 / (double)(i + 1);
        const mel_trade t = { 0.03, 0.06 * (i % 2 == 0 ? by : 1.0 / by) };
        assert_int_equal(mel_exchange_tell(&x, t, i % 2 == 0 ? MEL_TRADE_SECOND : MEL_TRADE_FIRST, NULL),
                         MEL_OK);
    }
    double *work = calloc(2 * mel_exchange_work_size(), sizeof *work), low = 0.0, high = 0.0;
    assert_non_null(work);
    double *cautious = work + mel_exchange_work_size();
    mel_exchange_prepare(&x, false, work);
    mel_exchange_prepare(&x, true, cautious);
    for (size_t i = 1; i < 20; i++)
        assert_close(mel_exchange_prepared_quantile(work, 0.05 * (double)i),
                     mel_exchange_quantile(&x, 0.05 * (double)i), 1e-9);
    mel_exchange_cautious(&x, 0.01, &low, &high);
    assert_close(mel_exchange_prepared_quantile(cautious, 0.01), low, 1e-9);
    assert_close(mel_exchange_prepared_quantile(cautious, 0.99), high, 1e-9);
    const double now = mel_exchange_information(&x, work, beyond) / mel_exchange_information(&x, work, near);
    const double then =
        mel_exchange_information(&x, cautious, beyond) / mel_exchange_information(&x, cautious, near);
    print_message("  farther off the balance: %.2f of what is told there, for somebody who errs more %.2f\n",
                  now, then);
    assert_true(then > now);
    free(work);
    mel_exchange_free(&x);
}

/* --- pairs ---------------------------------------------------------------------------------------- */

static void test_levels(void **state)
{
    (void)state;
    const double slopes[] = { 0.8, 3.0, 12.0 }, offsets[] = { -3.0, 0.0, 0.7 };
    for (size_t k = 0; k < 18; k++) {
        mel_face *one = test_logistic_face(slopes[k % 3], offsets[k / 3 % 3]);
        const double p = mel_face_positives(one), n = mel_face_negatives(one);
        mel_levels l;
        const bool imagined = k >= 9;
        assert_int_equal((imagined ? mel_levels_imagined : mel_levels_real)(&l, one, 1000, NULL), MEL_OK);
        assert_true(l.n > 10);
        assert_close(l.positives, 1000.0 * p, 1.0);
        for (size_t i = 0; i < l.n; i++) {
            const mel_level *v = &l.level[i];
            assert_true(v->tp[0] >= v->tp[1] + 3 && v->tn[1] >= v->tn[0] + 3);
            assert_true(v->tp[0] <= l.positives && v->tn[1] <= 1000 - l.positives);
            assert_close(v->rate, log((double)(v->tn[1] - v->tn[0]) / (v->tp[0] - v->tp[1])), 1e-12);
            assert_true(v->plausible > 0.0 && v->plausible <= 1.0);
            assert_true(i == 0 || v->rate >= v[-1].rate);
            for (int side = 0; side < 2; side++) { /* next to the boundary, and better than chance */
                const mel_point at = { v->tp[side] / 1000.0, v->tn[side] / 1000.0 };
                assert_true(imagined || mel_face_contains(one, at, 0.0008));
                assert_true(at.tp / p + at.tn / n > 1.0 - 0.001 / fmin(p, n));
            }
        }
        mel_levels_free(&l);
        mel_face_free(one);
    }
    assert_int_equal(mel_levels_people(0.4, 0.6), 1000);
    assert_int_equal(mel_levels_people(0.99, 0.01), 10000);
}

static void *ask_for_levels(void *context)
{
    mel_levels *out = context;
    mel_face *one = (mel_face *)out->level; /* lent in this way */
    (void)mel_levels_real(out, one, 1000, NULL);
    return NULL;
}

/* A face keeps its pairs: whoever asks gets the same ones, however many people were asked about before, by
 * whom at the same moment, and whatever became of them. */
static void test_levels_are_kept(void **state)
{
    (void)state;
    enum { THREADS = 4 };
    mel_face *one = test_logistic_face(3.0, 0.7), *same = test_logistic_face(3.0, 0.7);
    mel_levels few, expected, found[THREADS];
    pthread_t thread[THREADS];
    for (size_t i = 0; i < THREADS; i++) {
        found[i] = (mel_levels){ .level = (mel_level *)one };
        assert_int_equal(pthread_create(&thread[i], NULL, ask_for_levels, &found[i]), 0);
    }
    assert_int_equal(mel_levels_real(&few, same, 200, NULL), MEL_OK);
    assert_int_equal(mel_levels_real(&expected, same, 1000, NULL), MEL_OK);
    assert_true(few.people == 200 && expected.people == 1000 && few.n != expected.n);
    for (size_t i = 0; i < THREADS; i++) {
        assert_int_equal(pthread_join(thread[i], NULL), 0);
        assert_int_equal(found[i].n, expected.n);
        for (size_t j = 0; j < expected.n; j++) {
            assert_true(found[i].level[j].rate == expected.level[j].rate && !found[i].level[j].used);
            assert_memory_equal(found[i].level[j].tp, expected.level[j].tp, sizeof expected.level[j].tp);
        }
        found[i].level[0].used = true;
        mel_levels_free(&found[i]);
    }
    assert_int_equal(mel_levels_real(&found[0], one, 1000, NULL), MEL_OK);
    assert_false(found[0].level[0].used);
    mel_levels_free(&found[0]);
    mel_levels_free(&few);
    mel_levels_free(&expected);
    mel_face_free(one);
    mel_face_free(same);
}

/* --- sessions ------------------------------------------------------------------------------------- */

typedef enum {
    EXACT,
    WEBER,
    HARDLY_SEES,
    SAYS_SAME,
    LEXICOGRAPHIC,
    ALWAYS_SAME,
    ALWAYS_A,
    RANDOM,
    ADVERSARY,
    MOVES
} who;
typedef struct {
    who kind;
    double rate; /* ln r */
    uint64_t seed;
} person;

static double normal(mel_rng *rng)
{
    const double u = 1.0 - mel_rng_uniform(rng);
    return sqrt(-2.0 * log(u)) * cos(6.283185307179586 * mel_rng_uniform(rng));
}

static mel_answer answer_of(const person *p, const mel_question *q)
{
    mel_rng rng;
    mel_rng_seed_stream(&rng, p->seed, q->number);
    const double tp = fabs(q->a[0] - q->b[0]), tn = fabs(q->a[1] - q->b[1]), x = p->rate - log(tn / tp);
    const double margin = (exp(p->rate) * tp - tn) / hypot(1.0, exp(p->rate));
    bool more = x > 0.0;
    switch (p->kind) {
    case WEBER:
        more = x + 0.15 * normal(&rng) > 0.0;
        break;
    case HARDLY_SEES:
        more = margin + 0.05 * normal(&rng) > 0.0;
        break;
    case SAYS_SAME:
        if (fabs(x) < 0.15)
            return MEL_ANSWER_SAME;
        break;
    case LEXICOGRAPHIC:
        more = true;
        break;
    case ALWAYS_SAME:
        return MEL_ANSWER_SAME;
    case ALWAYS_A:
        return MEL_ANSWER_A;
    case RANDOM:
        more = mel_rng_uniform(&rng) < 0.5;
        break;
    case ADVERSARY:
        more = fabs(margin) < 0.02 ? x < 0.0 : x > 0.0;
        break;
    case MOVES:
        more = x + 0.15 * ((double)q->number - 10.5) > 0.0;
        break;
    default:
        break;
    }
    return more == (q->a[0] > q->b[0]) ? MEL_ANSWER_A : MEL_ANSWER_B;
}

static mel_session_options for_people(void)
{
    mel_session_options opt;
    mel_session_options_init(&opt);
    assert_ok(mel_session_options_suit(&opt, NULL, MEL_BY_PERSON, NULL, 1, NULL), NULL);
    return opt;
}

static void check_question(const mel_question *q)
{
    assert_int_equal(q->people, 1000);
    for (size_t i = 0; i < 2; i++) {
        assert_true(q->a[i] * 1000.0 == round(q->a[i] * 1000.0) ||
                    fabs(q->a[i] * 1000.0 - round(q->a[i] * 1000.0)) < 1e-9);
        assert_true(fabs(q->b[i] * 1000.0 - round(q->b[i] * 1000.0)) < 1e-9);
    }
}

static mel_session *answer_all(const mel_session_options *opt, const person *p)
{
    const mel_domain domain = { .face = face };
    mel_session *session = NULL;
    mel_error err;
    assert_ok(mel_session_new(&session, &domain, opt, &err), &err);
    for (;;) {
        const mel_question *q = NULL;
        bool done = false;
        assert_ok(mel_session_ask(&q, &done, session, &err), &err);
        if (done)
            return session;
        check_question(q);
        assert_ok(mel_session_tell(session, q->number, answer_of(p, q), NAN, &err), &err);
    }
}

static mel_summary summary_of(mel_session *session)
{
    mel_metric *metric = NULL;
    mel_summary summary;
    mel_error err;
    assert_ok(mel_session_result(&metric, &summary, session, &err), &err);
    mel_metric_free(metric);
    return summary;
}

static bool holds(const mel_summary *s, double rate)
{
    return exp(rate) >= s->ratio_low && exp(rate) <= s->ratio_high;
}

static bool same_point(const double *a, const double *b)
{
    return a[0] == b[0] && a[1] == b[1];
}

static void check_no_pair_twice(const mel_session *session)
{
    for (uint32_t i = 0; i < mel_session_answers(session); i++)
        for (uint32_t j = 0; j < i; j++) {
            const mel_record a = mel_session_record(session, i), b = mel_session_record(session, j);
            const bool same = (same_point(a.a, b.a) && same_point(a.b, b.b)) ||
                              (same_point(a.a, b.b) && same_point(a.b, b.a));
            assert_true(!same || a.repeated);
        }
}

/* Random ratios that the test can ask about. */
static void test_recovers(void **state)
{
    (void)state;
    enum { PEOPLE = 24 };
    static const struct {
        const char *name;
        who kind;
        double error; /* median */
    } rows[] = { { "exact", EXACT, 0.06 }, { "weber", WEBER, 0.15 }, { "same", SAYS_SAME, 0.06 } };
    const mel_session_options opt = for_people();
    mel_rng rng;
    mel_rng_seed(&rng, 3);
    for (size_t k = 0; k < COUNT(rows); k++) {
        double error[PEOPLE];
        size_t held = 0;
        for (size_t i = 0; i < PEOPLE; i++) {
            const person p = { rows[k].kind, log(0.2) + log(75.0) * mel_rng_uniform(&rng), i };
            mel_session *session = answer_all(&opt, &p);
            const mel_summary s = summary_of(session);
            error[i] = fabs(log(s.ratio) - p.rate);
            held += holds(&s, p.rate);
            check_no_pair_twice(session);
            assert_true(s.end != MEL_END_TOLERANCE || s.ratio_high / s.ratio_low <= 1.6);
            mel_session_free(session);
        }
        const double median = mel_quantile_sort(PEOPLE, error, 0.5);
        print_message("  %s: median error %.3f, %zu of %d held\n", rows[k].name, median, held, PEOPLE);
        assert_true(median <= rows[k].error && held >= PEOPLE - 2);
    }
}

/* Careful people show that they are: many of their sessions end by the tolerance. Hardly any ends with what
 * does not hold, also of people who hardly see what they are asked. What is narrower than asked for is not
 * claimed: somebody who errs more might miss it. */
static void test_ends(void **state)
{
    (void)state;
    enum { PEOPLE = 24 };
    static const struct {
        const char *name;
        who kind;
        size_t least;
    } rows[] = { { "exact", EXACT, 16 }, { "weber", WEBER, 7 }, { "hardly sees", HARDLY_SEES, 0 } };
    const mel_session_options opt = for_people();
    mel_rng rng;
    mel_rng_seed(&rng, 5);
    for (size_t k = 0; k < COUNT(rows); k++) {
        size_t ended = 0, held = 0, questions = 0, as_asked = 0;
        for (size_t i = 0; i < PEOPLE; i++) {
            const person p = { rows[k].kind, log(0.2) + log(75.0) * mel_rng_uniform(&rng), i };
            mel_session *session = answer_all(&opt, &p);
            const mel_summary s = summary_of(session);
            if (s.end == MEL_END_TOLERANCE) {
                ended++;
                held += holds(&s, p.rate);
                questions += s.questions;
                as_asked += s.ratio_high / s.ratio_low > 1.599;
                assert_true(s.ratio_high / s.ratio_low <= 1.6);
            }
            mel_session_free(session);
        }
        print_message("  %s: %zu of %d end by the tolerance, after %.1f questions, %zu hold\n", rows[k].name,
                      ended, PEOPLE, (double)questions / fmax(1.0, (double)ended), held);
        assert_true(ended >= rows[k].least && ended <= held + 1);
        assert_true(4 * as_asked >= 3 * ended);
    }
}

/* Only a band that is stated covers somebody who uses it against us. */
static void test_stated_band(void **state)
{
    (void)state;
    enum { PEOPLE = 12 };
    mel_session_options opt = for_people();
    opt.active.assume = (mel_assumption){ .kind = MEL_NOISE_BAND, .size = 0.02 };
    mel_rng rng;
    mel_rng_seed(&rng, 4);
    for (size_t i = 0; i < PEOPLE; i++) {
        const person p = { ADVERSARY, log(0.2) + log(75.0) * mel_rng_uniform(&rng), i };
        mel_session *session = answer_all(&opt, &p);
        const mel_summary s = summary_of(session);
        assert_true(holds(&s, p.rate));
        mel_session_free(session);
    }
}

/* --- true sentences ------------------------------------------------------------------------------- */

/* The words of the metric, then all statements. */
static void read_outcome(char *out, size_t size, mel_session *session)
{
    mel_outcome_options about;
    mel_outcome_options_init(&about);
    about.missed = "missed cancer";
    about.missed_plural = "missed cancers";
    mel_outcome *found = NULL;
    mel_error err;
    assert_ok(mel_outcome_of_session(&found, session, &about, &err), &err);
    size_t used = 0;
    for (size_t i = 0; i < found->n_statements; i++)
        used += (size_t)snprintf(out + used, size - used, "%s ", found->statements[i].text);
    mel_outcome_free(found);
}

static void check_says(const char *text, const char *says)
{
    if (strstr(text, says) == NULL)
        fail_msg("\"%s\" is not in: %s", says, text);
}

static void test_true_sentences(void **state)
{
    (void)state;
    char text[8192];
    const mel_session_options opt = for_people();
    for (uint64_t seed = 1; seed <= 3; seed++) {
        mel_session_options use = opt;
        use.seed = seed;
        mel_session *s = answer_all(&use, &(person){ LEXICOGRAPHIC, 0.0, seed });
        mel_summary found = summary_of(s);
        read_outcome(text, sizeof text, s);
        check_says(text, "One missed cancer counts more than ");
        check_says(text, "you never accepted a missed cancer for what this test can offer");
        assert_true(isinf(found.ratio_high) && found.ratio_low > 15.0 &&
                    found.ratio_low <= found.askable_high);
        assert_true(found.end == MEL_END_BEYOND || found.end == MEL_END_EXHAUSTED);
        mel_session_free(s);

        s = answer_all(&use, &(person){ EXACT, log(300.0), seed });
        found = summary_of(s);
        assert_true(isinf(found.ratio_high) && holds(&found, log(300.0)));
        mel_session_free(s);

        s = answer_all(&use, &(person){ ALWAYS_SAME, 0.0, seed });
        found = summary_of(s);
        read_outcome(text, sizeof text, s);
        check_says(text, "pairs were called about the same");
        assert_true(found.ratio_high / found.ratio_low > 5.0); /* nothing narrow was learned */
        mel_session_free(s);

        s = answer_all(&use, &(person){ ALWAYS_A, 0.0, seed });
        read_outcome(text, sizeof text, s);
        check_says(text, "answers were A, whatever was shown on that side");
        mel_session_free(s);
    }
}

/* Somebody who tosses coins is told nothing that sounds precise, and mostly what it looks like. */
static void test_random_person(void **state)
{
    (void)state;
    enum { PEOPLE = 20 };
    size_t narrow = 0, called = 0;
    for (uint64_t seed = 0; seed < PEOPLE; seed++) {
        mel_session_options opt = for_people();
        opt.seed = seed;
        mel_session *session = answer_all(&opt, &(person){ RANDOM, 0.0, seed });
        const mel_summary s = summary_of(session);
        const char *label = mel_consistency_label(&s);
        narrow += s.ratio_high / s.ratio_low < 2.0;
        called += label != NULL && strcmp(label, "consistent") != 0;
        mel_session_free(session);
    }
    print_message("  random: %zu of %d narrow, %zu not called consistent\n", narrow, PEOPLE, called);
    assert_true(narrow <= 2 && called >= PEOPLE / 2);
}

/* --- the course of a session ------------------------------------------------------------------------ */

static void test_cannot_say(void **state)
{
    (void)state;
    const mel_session_options opt = for_people();
    const mel_domain domain = { .face = face };
    static const mel_answer answers[] = { MEL_ANSWER_SKIP, MEL_ANSWER_SAME };
    for (size_t k = 0; k < 2; k++) {
        mel_session *session = NULL;
        mel_error err;
        assert_ok(mel_session_new(&session, &domain, &opt, &err), &err);
        const double before = summary_of(session).ratio;
        for (uint32_t n = 1; n <= 20; n++) {
            const mel_question *q = NULL;
            bool done = false;
            assert_ok(mel_session_ask(&q, &done, session, &err), &err);
            if (done)
                break;
            assert_ok(mel_session_tell(session, n, answers[k], NAN, &err), &err);
        }
        check_no_pair_twice(session);
        if (answers[k] == MEL_ANSWER_SKIP)
            assert_close(summary_of(session).ratio, before, 0.0);
        mel_session_free(session);
    }
}

/* A ratio beyond what the test can ask is found with an imagined one, which is said. */
static void test_goes_on_imagined(void **state)
{
    (void)state;
    char text[8192];
    mel_session_options opt = for_people();
    opt.active.imagined_beyond = true;
    opt.max_questions = 40;
    mel_session *session = answer_all(&opt, &(person){ EXACT, log(60.0), 1 });
    const mel_summary s = summary_of(session);
    assert_true(s.imagined && isfinite(s.ratio_high) && holds(&s, log(60.0)));
    assert_false(mel_session_record(session, 0).imagined);
    assert_true(mel_session_record(session, mel_session_answers(session) - 1).imagined);
    read_outcome(text, sizeof text, session);
    check_says(text, "The last questions were about an imagined better test");
    mel_session_free(session);
}

/* A session is its log: read back, undone and answered again it asks the same. */
static void test_replays(void **state)
{
    (void)state;
    mel_session_options opt = for_people();
    opt.active.imagined_beyond = true;
    opt.max_questions = 24;
    const mel_domain domain = { .face = face };
    const char *path = test_path("people.jsonl");
    const person p = { WEBER, log(40.0), 7 };
    mel_session *whole = answer_all(&opt, &p), *session = NULL;
    mel_error err;
    for (uint32_t i = 0; i < mel_session_answers(whole); i++) {
        assert_ok(mel_session_open(&session, &domain, &opt, NULL, path, &err), &err);
        for (int round = 0; round < 2; round++) { /* answered, taken back, answered again */
            const mel_question *q = NULL;
            bool done = false;
            assert_ok(mel_session_ask(&q, &done, session, &err), &err);
            const mel_record r = mel_session_record(whole, i);
            assert_false(done);
            assert_memory_equal(q->a, r.a, 2 * sizeof *r.a);
            assert_memory_equal(q->b, r.b, 2 * sizeof *r.b);
            assert_int_equal(q->imagined, r.imagined);
            assert_ok(mel_session_tell(session, q->number, answer_of(&p, q), NAN, &err), &err);
            if (round == 0)
                assert_ok(mel_session_undo(session, &err), &err);
        }
        mel_session_free(session);
    }
    mel_session_free(whole);
}

static void test_drift(void **state)
{
    (void)state;
    size_t moved = 0, stayed = 0;
    mel_session_options opt = for_people();
    opt.tolerance_factor = 1.001;
    for (uint64_t seed = 1; seed <= 10; seed++) {
        opt.seed = seed;
        const double rate = log(2.0) + 0.1 * (double)seed;
        mel_session *a = answer_all(&opt, &(person){ MOVES, rate, seed }),
                    *b = answer_all(&opt, &(person){ WEBER, rate, seed });
        moved += summary_of(a).drift == 1;
        stayed += summary_of(b).drift == 0;
        mel_session_free(a);
        mel_session_free(b);
    }
    print_message("  %zu of 10 moved, %zu of 10 stayed\n", moved, stayed);
    assert_true(moved >= 7 && stayed >= 9);
}

static void test_options(void **state)
{
    (void)state;
    mel_session_options opt;
    mel_error err;
    mel_session_options_init(&opt);
    assert_ok(mel_session_options_set(&opt, "tolerance", "1.6x", &err), &err);
    assert_close(opt.tolerance_factor, 1.6, 0.0);
    assert_ok(mel_session_options_set(&opt, "tolerance", "0.01", &err), &err);
    assert_close(opt.tolerance_factor, 0.0, 0.0);
    static const char *const bad[] = { "1x", "x", "-2x", "1.6 x", "nanx", "1e9x" };
    for (size_t i = 0; i < COUNT(bad); i++)
        assert_int_equal(mel_session_options_set(&opt, "tolerance", bad[i], &err), MEL_EINVAL);
    assert_ok(mel_session_options_from_json(&opt, "{\"tolerance\": \"2x\"}", &err), &err);
    assert_close(opt.tolerance_factor, 2.0, 0.0);
    /* Without realistic pairs: far ones. */
    opt = for_people();
    opt.direction = MEL_DIRECTION_UNKNOWN;
    mel_session *session = NULL;
    assert_ok(mel_session_new(&session, &(mel_domain){ .face = face }, &opt, &err), &err);
    assert_int_equal(mel_session_questions(session), MEL_QUESTIONS_FAR);
    mel_session_free(session);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_posterior),
        cmocka_unit_test(test_information),
        cmocka_unit_test(test_cautious_questions),
        cmocka_unit_test(test_levels),
        cmocka_unit_test(test_levels_are_kept),
        cmocka_unit_test(test_recovers),
        cmocka_unit_test(test_ends),
        cmocka_unit_test(test_stated_band),
        cmocka_unit_test(test_true_sentences),
        cmocka_unit_test(test_random_person),
        cmocka_unit_test(test_cannot_say),
        cmocka_unit_test(test_goes_on_imagined),
        cmocka_unit_test(test_replays),
        cmocka_unit_test(test_drift),
        cmocka_unit_test(test_options),
    };
    return cmocka_run_group_tests(tests, set_up, tear_down);
}

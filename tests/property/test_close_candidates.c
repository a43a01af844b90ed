/* Given classifiers that differ little, and somebody who is sure of an order: the one that was preferred
 * throughout comes first, or it is said why not. */
#include "support/test.h"

#include "base/rng.h"
#include "melicit/outcome.h"
#include "melicit/rank.h"

#include <math.h>
#include <stdio.h>
#include <string.h>

enum { MOST = 8 };

typedef struct {
    size_t n;
    double value[2 * MOST], rows[2 * MOST], share[2];
    double liked[MOST]; /* the more, the better */
    char name[MOST][24], *names[MOST];
    mel_pool pool;
    mel_session *session;
    mel_outcome *outcome;
} study;

/* Counts of 100 positives and 900 negatives: more found, and more false alarms, by a few each. */
static void draw_pool(study *s, size_t n, mel_rng *rng)
{
    double tp = 60.0 + (double)mel_rng_below(rng, 20), fp = 60.0 + (double)mel_rng_below(rng, 90);
    for (size_t c = 0; c < n; c++) {
        tp += 1.0 + (double)mel_rng_below(rng, 3);
        fp += 2.0 + (double)mel_rng_below(rng, 40);
        s->value[2 * c] = tp / 1000.0;
        s->value[2 * c + 1] = (900.0 - fp) / 1000.0;
        s->rows[2 * c] = 900.0;
        s->rows[2 * c + 1] = 100.0;
        (void)snprintf(s->name[c], sizeof s->name[c], "c%zu", c + 1);
        s->names[c] = s->name[c];
    }
    s->n = n;
    s->share[0] = 0.9;
    s->share[1] = 0.1;
    s->pool = (mel_pool){ .layout = { MEL_CONFUSION, MEL_BINARY, 2, 0 },
                          .n = n,
                          .size = 2,
                          .name = s->names,
                          .value = s->value,
                          .class_rows = s->rows };
}

/* By a ratio of up to 30, or in any order at all. */
static void draw_liking(study *s, bool any, mel_rng *rng)
{
    const double ratio = exp(3.4 * mel_rng_uniform(rng));
    for (size_t c = 0; c < s->n; c++)
        s->liked[c] = any ? mel_rng_uniform(rng) : ratio * s->value[2 * c] + s->value[2 * c + 1];
}

static void answer_all(study *s)
{
    mel_error err = { 0 };
    for (;;) {
        const mel_question *q = NULL;
        bool done = false;
        assert_ok(mel_session_ask(&q, &done, s->session, &err), &err);
        if (done)
            return;
        const size_t a = mel_pool_place(&s->pool, q->a), b = mel_pool_place(&s->pool, q->b);
        const mel_answer answer = s->liked[a] > s->liked[b] ? MEL_ANSWER_A : MEL_ANSWER_B;
        assert_ok(mel_session_tell(s->session, q->number, answer, NAN, &err), &err);
    }
}

static void study_run(study *s, size_t n, bool any, uint64_t seed)
{
    mel_error err = { 0 };
    mel_rng rng;
    mel_session_options opt;
    *s = (study){ .n = 0 };
    mel_rng_seed(&rng, seed);
    draw_pool(s, n, &rng);
    draw_liking(s, any, &rng);
    mel_session_options_init(&opt);
    opt.seed = seed;
    opt.assume = (mel_assumption){ .kind = MEL_NOISE_PERSON };
    opt.until = MEL_UNTIL_RANK;
    opt.decisions = mel_decisions_usual();
    const mel_domain domain = { .pool = &s->pool, .class_share = s->share };
    assert_ok(mel_session_new(&s->session, &domain, &opt, &err), &err);
    answer_all(s);
    assert_ok(mel_outcome_of_session(&s->outcome, s->session, NULL, &err), &err);
}

static void study_clear(study *s)
{
    mel_outcome_free(s->outcome);
    mel_session_free(s->session);
}

/* Whether a statement whose key begins so holds this text. */
static bool says(const mel_outcome *outcome, const char *key, const char *text)
{
    for (size_t i = 0; i < outcome->n_statements; i++)
        if (strncmp(outcome->statements[i].key, key, strlen(key)) == 0 &&
            strstr(outcome->statements[i].text, text) != NULL)
            return true;
    return false;
}

/* Every answer against the one that comes first is spoken of, once, with a reason. */
static void check_words(const study *s)
{
    const mel_outcome *o = s->outcome;
    const size_t first = o->order[0].place;
    bool refused = false;
    for (uint32_t i = 0; i < mel_session_answers(s->session); i++) {
        const mel_record r = mel_session_record(s->session, i);
        const bool a = r.answer == MEL_ANSWER_A;
        const size_t won = mel_pool_place(&s->pool, a ? r.a : r.b);
        if (mel_pool_place(&s->pool, a ? r.b : r.a) != first)
            continue;
        refused = true;
        assert_true(says(o, "despite", s->name[won]) || says(o, "despite", "more to"));
    }
    assert_true(refused == says(o, "despite", "comes first: "));
    for (size_t i = 1; i < o->n_order; i++)
        assert_true(o->order[i].first <= o->order[0].first || says(o, "likeliest", "best by most of it"));
    assert_true(says(o, "preferred", s->name[first]) && says(o, "preferred", "by the numbers shown"));
    assert_true(says(o, "rows", s->name[first]) && says(o, "rows", "in truth"));
}

static bool is_favourite_first(const study *s)
{
    size_t favourite = 0;
    for (size_t c = 1; c < s->n; c++)
        favourite = s->liked[c] > s->liked[favourite] ? c : favourite;
    return s->outcome->order[0].place == favourite;
}

static void test_favourite_first(void **state)
{
    (void)state;
    const size_t sessions = test_repeats(400, 48, 6);
    size_t first = 0;
    for (size_t i = 0; i < sessions; i++) {
        study s;
        study_run(&s, 3 + i % 6, false, 100 + i);
        check_words(&s);
        first += is_favourite_first(&s);
        study_clear(&s);
    }
    print_message("3 to 8 classifiers that differ little: the favourite comes first in %zu of %zu\n", first,
                  sessions);
    assert_true(10 * first >= 8 * sessions);
}

/* Orders that no metric may have. */
static void test_any_order(void **state)
{
    (void)state;
    const size_t sessions = test_repeats(400, 24, 6);
    for (size_t i = 0; i < sessions; i++) {
        study s;
        study_run(&s, 3 + i % 6, true, 700 + i);
        check_words(&s);
        study_clear(&s);
    }
}

static size_t preferring(const study *s)
{
    size_t n = 0;
    for (uint32_t i = 0; i < mel_session_answers(s->session); i++) {
        const mel_answer answer = mel_session_record(s->session, i).answer;
        n += answer == MEL_ANSWER_A || answer == MEL_ANSWER_B;
    }
    return n;
}

/* No order is called settled by what weights are usual alone, be it probable. */
static void test_settled_by_answers(void **state)
{
    (void)state;
    const size_t sessions = test_repeats(400, 40, 6);
    size_t settled = 0, questions = 0;
    for (size_t i = 0; i < sessions; i++) {
        study s;
        study_run(&s, 3 + i % 3, false, 300 + i);
        const size_t least = s.n - 1 < 3 ? s.n - 1 : 3;
        const bool called = says(s.outcome, "order", "is settled") || says(s.outcome, "end", "is settled");
        assert_true(!called || preferring(&s) >= least);
        settled += called;
        questions += preferring(&s);
        study_clear(&s);
    }
    print_message("3 to 5 classifiers: the order settled in %zu of %zu, %.2f questions each\n", settled,
                  sessions, (double)questions / (double)sessions);
    assert_true(settled > 0);
}

int main(void)
{
    const struct CMUnitTest tests[] = { cmocka_unit_test(test_favourite_first),
                                        cmocka_unit_test(test_any_order),
                                        cmocka_unit_test(test_settled_by_answers) };
    return cmocka_run_group_tests(tests, NULL, NULL);
}

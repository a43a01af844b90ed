/* What the best rule does with each class in each group, and what is done today: next to counts of the rows
 * themselves, on random samples. And what close calls were about. */
#include "support/test.h"

#include "base/rng.h"
#include "outcome/outcome.h"
#include "space/shared.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

enum { ROWS = 400, MOST = 4 };

typedef struct {
    size_t k, m; /* groups: 0 without */
    double probability[ROWS * MOST];
    uint32_t label[ROWS], group[ROWS];
    mel_space *space;
    mel_ball *ball;
    mel_session *session;
} world;

/* Rows whose label is drawn by their probabilities. */
static void draw_rows(world *w, uint64_t seed)
{
    mel_rng rng;
    mel_rng_seed(&rng, seed);
    for (size_t r = 0; r < ROWS; r++) {
        double *p = w->probability + r * w->k, sum = 0.0;
        for (size_t i = 0; i < w->k; i++)
            sum += p[i] = -log(1.0 - mel_rng_uniform(&rng)) * (i == 0 ? 2.0 : 1.0);
        for (size_t i = 0; i < w->k; i++)
            p[i] /= sum;
        double u = mel_rng_uniform(&rng);
        w->label[r] = 0;
        while (w->label[r] + 1 < w->k && u >= p[w->label[r]])
            u -= p[w->label[r]++];
        w->group[r] = (uint32_t)(w->m > 0 ? mel_rng_below(&rng, (uint32_t)w->m) : 0);
    }
}

static void open_world(world *w, mel_family family, size_t k, size_t m, uint64_t seed)
{
    const mel_family_facts *is = mel_family_about(family);
    mel_space_options so;
    mel_session_options opt;
    mel_error err;
    *w = (world){ .k = k, .m = m };
    draw_rows(w, seed);
    mel_space_options_init(&so);
    so.kind = is->rates ? MEL_RATES : MEL_CONFUSION;
    so.coordinates = is->diagonal ? MEL_DIAGONAL : MEL_OFFDIAGONAL;
    so.threads = 1;
    const mel_rows sample = { ROWS, k, m, w->probability, w->label, m > 0 ? w->group : NULL, NULL, NULL };
    assert_ok(mel_space_from_sample(&w->space, &sample, &so, &err), &err);
    mel_session_options_init(&opt);
    opt.family = family;
    opt.max_questions = 4;
    mel_domain domain = { .space = w->space };
    if (!is->diagonal) {
        assert_ok(mel_ball_of_space(&w->ball, NULL, w->space, NULL, &err), &err);
        domain = (mel_domain){ .ball = w->ball, .frontier = w->space };
    }
    assert_ok(mel_session_new(&w->session, &domain, &opt, &err), &err);
    for (int i = 0; i < 4; i++) {
        const mel_question *question = NULL;
        bool done = false;
        assert_ok(mel_session_ask(&question, &done, w->session, &err), &err);
        assert_ok(mel_session_tell(w->session, question->number, i % 2 == 0 ? MEL_ANSWER_A : MEL_ANSWER_B,
                                   NAN, &err),
                  &err);
    }
}

static void close_world(world *w)
{
    mel_session_free(w->session);
    mel_ball_free(w->ball);
    mel_space_free(w->space);
}

/* The shares are those of the decisions; of right decisions alone nothing else is known. */
static void check_shares(const world *w, const mel_treatment *t, const uint32_t *decision, bool diagonal)
{
    const size_t m = w->m > 0 ? w->m : 1, k = w->k;
    for (size_t g = 0; g < m; g++)
        for (size_t i = 0; i < k; i++)
            for (size_t j = 0; j < k; j++) {
                double all = 0.0, these = 0.0;
                for (size_t r = 0; r < ROWS; r++)
                    if (w->group[r] == g && w->label[r] == i) {
                        all += 1.0;
                        these += decision[r] == j;
                    }
                const mel_estimate *share = &t->share[(g * k + i) * k + j];
                if (diagonal && i != j) {
                    assert_true(isnan(share->value));
                    continue;
                }
                assert_close(share->value, these / all, 1e-9);
                assert_true(share->low <= share->value && share->high >= share->value &&
                            share->high - share->low < 4.0 / sqrt(all));
            }
}

static void decide_probable(uint32_t *decision, const world *w)
{
    for (size_t r = 0; r < ROWS; r++) {
        decision[r] = 0;
        for (uint32_t j = 1; j < w->k; j++)
            if (w->probability[r * w->k + j] > w->probability[r * w->k + decision[r]])
                decision[r] = j;
    }
}

static mel_outcome *outcome_of(world *w, double threshold, const double *counts)
{
    mel_outcome_options about;
    mel_outcome *o = NULL;
    mel_error err;
    mel_outcome_options_init(&about);
    about.rows = ROWS;
    about.treatments = true;
    about.today_threshold = threshold;
    about.today_counts = counts;
    assert_ok(mel_outcome_of_session(&o, w->session, &about, &err), &err);
    return o;
}

static void test_best_and_probable(void **state)
{
    (void)state;
    static const struct {
        mel_family family;
        size_t k, m;
    } rows[] = {
        { MEL_FAMILY_DIAGONAL_LINEAR, 3, 0 }, { MEL_FAMILY_LINEAR, 3, 0 },
        { MEL_FAMILY_LINEAR, 4, 0 },          { MEL_FAMILY_FAIR_LINEAR, 2, 2 },
        { MEL_FAMILY_FAIR_LINEAR, 3, 2 },     { MEL_FAMILY_FAIR_QUADRATIC, 2, 3 },
        { MEL_FAMILY_QUADRATIC, 2, 0 },
    };
    for (size_t i = 0; i < COUNT(rows); i++) {
        world *w = malloc(sizeof *w);
        uint32_t decision[ROWS];
        mel_error err;
        print_message("  %s of %zu classes\n", mel_family_name(rows[i].family), rows[i].k);
        open_world(w, rows[i].family, rows[i].k, rows[i].m, 100 + i);
        mel_outcome *o = outcome_of(w, NAN, NULL);
        const bool diagonal = rows[i].family == MEL_FAMILY_DIAGONAL_LINEAR;
        assert_int_equal(o->n_treatments, 2);
        assert_ok(mel_classifier_decide(decision, o->best,
                                        &(mel_undecided){ .n = ROWS,
                                                          .probability = w->probability,
                                                          .group = w->m > 0 ? w->group : NULL,
                                                          .seed = 1 },
                                        &err),
                  &err);
        check_shares(w, &o->treatments[0], decision, diagonal);
        decide_probable(decision, w);
        check_shares(w, &o->treatments[1], decision, diagonal);
        assert_string_equal(o->treatments[1].name, "the most probable class");
        double all = 0.0;
        for (size_t c = 0; c < rows[i].k * (rows[i].m > 0 ? rows[i].m : 1); c++)
            all += o->treated[c];
        assert_close(all, 1.0, 1e-9);
        for (size_t c = 0; c < o->n_calls; c++)
            assert_true(strstr(o->calls[c].text, " more ") != NULL ||
                        strstr(o->calls[c].text, " fewer ") != NULL);
        assert_true(o->n_calls > 0);
        mel_outcome_free(o);
        close_world(w);
        free(w);
    }
}

static void test_today(void **state)
{
    (void)state;
    static const double counts[] = { 90, 10, 20, 30, 70, 30, 0, 50 };
    world *w = malloc(sizeof *w);
    uint32_t decision[ROWS];
    open_world(w, MEL_FAMILY_FAIR_LINEAR, 2, 2, 7);
    mel_outcome *o = outcome_of(w, 0.3, NULL);
    for (size_t r = 0; r < ROWS; r++)
        decision[r] = w->probability[2 * r + 1] >= 0.3;
    check_shares(w, &o->treatments[1], decision, false);
    mel_outcome_free(o);
    o = outcome_of(w, NAN, counts);
    assert_string_equal(o->treatments[1].name, "decided today");
    for (size_t i = 0; i < 8; i++)
        assert_close(o->treatments[1].share[i].value, counts[i] / (counts[i] + counts[i ^ 1]), 1e-12);
    mel_outcome_free(o);
    close_world(w);
    free(w);
}

/* What it takes is asked for. */
static void test_not_asked_for(void **state)
{
    (void)state;
    world *w = malloc(sizeof *w);
    mel_outcome *o = NULL;
    mel_error err;
    open_world(w, MEL_FAMILY_LINEAR, 3, 0, 3);
    assert_ok(mel_outcome_of_session(&o, w->session, NULL, &err), &err);
    assert_int_equal(o->n_treatments, 0);
    assert_null(o->best);
    mel_outcome_free(o);
    close_world(w);
    free(w);
}

/* Two classes: today's setting is where it is said to be, or what was counted, with the shares of these
 * people. */
static void test_settings_of_today(void **state)
{
    (void)state;
    static const double score[] = { 0.1, 0.2, 0.3, 0.4, 0.5, 0.6, 0.7, 0.8, 0.9 };
    static const uint8_t role[] = { 0, 0, 0, 1, 0, 0, 1, 1, 1 };
    static const double counts[] = { 75, 25, 10, 30 };
    mel_face *face = NULL;
    mel_session_options opt;
    world w = { .k = 2 };
    mel_error err;
    assert_ok(mel_face_from_scores(&face, COUNT(score), score, role, NULL, &err), &err);
    mel_session_options_init(&opt);
    assert_ok(mel_session_new(&w.session, &(mel_domain){ .face = face }, &opt, &err), &err);
    mel_outcome *o = outcome_of(&w, 0.65, NULL);
    assert_close(o->usual_setting.threshold, 0.65, 0.0);
    assert_close(o->usual_setting.missed, 111.0, 0.0); /* of 1,000 people, as questions count them */
    assert_close(o->usual_setting.false_alarms, 0.0, 1e-9);
    mel_outcome_free(o);
    o = outcome_of(&w, NAN, counts);
    assert_true(isnan(o->usual_setting.threshold));
    assert_close(o->usual_setting.missed, 1000.0 * 4.0 / 9.0 * 0.25, 1e-9);
    assert_close(o->usual_setting.false_alarms, 1000.0 * 5.0 / 9.0 * 0.25, 1e-9);
    assert_true(o->usual_setting.missed_low < o->usual_setting.missed);
    mel_outcome_free(o);
    mel_session_free(w.session);
    mel_face_free(face);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_best_and_probable),
        cmocka_unit_test(test_today),
        cmocka_unit_test(test_not_asked_for),
        cmocka_unit_test(test_settings_of_today),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}

/* What changes from A to B is worded once: what is found first, for one and for several, with the names that
 * somebody gave. */
#include "oracle/oracle.h"
#include "support/test.h"

#include <string.h>

static const mel_layout binary = { MEL_CONFUSION, MEL_BINARY, 2, 0 };
static const char *const classes[] = { "healthy", "cancer" };

/* A and B miss and alarm so many out of 10,000. */
static mel_changes *changes_of(const mel_change_words *words, const int missed[2], const int alarms[2],
                               const char *const names[2], bool swapped)
{
    enum { PEOPLE = 10000, EACH = 5000 };
    double side[2][2];
    for (int i = 0; i < 2; i++) {
        side[i][0] = (double)(EACH - missed[i]) / PEOPLE;
        side[i][1] = (double)(EACH - alarms[i]) / PEOPLE;
    }
    const double share[] = { 0.5, 0.5 };
    const mel_question q = { .number = 1,
                             .layout = &binary,
                             .a = side[0],
                             .b = side[1],
                             .class_names = classes,
                             .class_share = share,
                             .classifier_a = names[0],
                             .classifier_b = names[1],
                             .named = names[0] != NULL,
                             .people = PEOPLE };
    mel_counted counted;
    mel_changes *changes = NULL;
    mel_error err;
    assert_ok(mel_counted_make(&counted, &q, 0, &err), &err);
    assert_ok(mel_changes_make(&changes, &counted, &q, words, swapped, &err), &err);
    mel_counted_clear(&counted);
    return changes;
}

static void test_sentences(void **state)
{
    (void)state;
    static const mel_change_words cancer = { "missed cancer",
                                             "missed cancers",
                                             "false alarm",
                                             "false alarms",
                                             NULL,
                                             NULL,
                                             NULL,
                                             NULL,
                                             NULL },
                                  biopsy = { "missed cancer",
                                             "missed cancers",
                                             "false alarm",
                                             "false alarms",
                                             NULL,
                                             NULL,
                                             "healthy person gets a biopsy",
                                             "healthy people get a biopsy",
                                             NULL },
                                  tumour = { "missed cancer", NULL, NULL, NULL, "tumour",
                                             "tumours",       NULL, NULL, NULL },
                                  loans = { "loan that is lost",
                                            "loans that are lost",
                                            "good applicant refused",
                                            "good applicants refused",
                                            NULL,
                                            NULL,
                                            NULL,
                                            NULL,
                                            NULL };
    static const struct {
        const mel_change_words *words;
        int missed[2], alarms[2];
        const char *names[2];
        bool swapped;
        const char *want;
    } rows[] = {
        { &biopsy,
          { 10, 7 },
          { 20, 49 },
          { 0 },
          false,
          "B finds 3 more cancers; 29 more healthy people get a biopsy." },
        { &cancer, { 10, 7 }, { 20, 49 }, { 0 }, false, "B finds 3 more cancers; 29 more false alarms." },
        { &cancer, { 10, 7 }, { 20, 49 }, { 0 }, true, "B finds 3 fewer cancers; 29 fewer false alarms." },
        { &biopsy,
          { 7, 8 },
          { 21, 20 },
          { 0 },
          false,
          "B finds 1 fewer cancer; 1 fewer healthy person gets a biopsy." },
        { &cancer,
          { 0, 1200 },
          { 1200, 0 },
          { 0 },
          false,
          "B finds 1,200 fewer cancers; 1,200 fewer false alarms." },
        { &biopsy, { 10, 7 }, { 20, 20 }, { 0 }, false, "B finds 3 more cancers." },
        { &biopsy, { 7, 7 }, { 20, 49 }, { 0 }, false, "With B, 29 more healthy people get a biopsy." },
        { &cancer, { 7, 7 }, { 20, 49 }, { 0 }, false, "B has 29 more false alarms." },
        { NULL, { 10, 7 }, { 20, 49 }, { 0 }, false, "B finds 3 more cancer cases; 29 more false alarms." },
        { &tumour, { 10, 9 }, { 20, 49 }, { 0 }, false, "B finds 1 more tumour; 29 more false alarms." },
        { &loans,
          { 10, 9 },
          { 20, 49 },
          { 0 },
          false,
          "B has 1 fewer loan that is lost; 29 more good applicants refused." },
        { &cancer,
          { 10, 7 },
          { 20, 49 },
          { "old", "new" },
          false,
          "B (new) finds 3 more cancers than A (old); 29 more false alarms." },
        { &biopsy,
          { 7, 7 },
          { 20, 49 },
          { "old", "new" },
          false,
          "With B (new) instead of A (old), 29 more healthy people get a biopsy." },
        { &cancer, { 7, 7 }, { 20, 20 }, { 0 }, false, "A and B look the same at this scale." },
    };
    for (size_t i = 0; i < COUNT(rows); i++) {
        mel_changes *c =
            changes_of(rows[i].words, rows[i].missed, rows[i].alarms, rows[i].names, rows[i].swapped);
        assert_string_equal(c->sentence, rows[i].want);
        size_t longest = 0, told = 0;
        for (size_t j = 0; j < 2; j++) {
            longest += c->longest.n_parts > j ? strlen(c->longest.part[j].text) : 0;
            told += c->told.n_parts > j ? strlen(c->told.part[j].text) : 0;
        }
        assert_int_equal(c->longest.n_parts, 2);
        assert_true(longest >= told);
        mel_changes_free(c);
    }
}

int main(void)
{
    const struct CMUnitTest tests[] = { cmocka_unit_test(test_sentences) };
    return cmocka_run_group_tests(tests, NULL, NULL);
}

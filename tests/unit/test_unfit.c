/* Columns that cannot be features. */
#include "data/shared.h"
#include "support/test.h"

#include <stdio.h>
#include <string.h>

typedef struct {
    const char *before, *behind; /* what stands around the number of a row */
    size_t from, step, modulo;   /* the number: (from + step * row) % modulo */
    size_t n_rows;
    mel_column_type type;
    const char *want; /* part of the sentence; NULL: none */
} values;

static void judge(mel_unfit *why, const values *v)
{
    char text[4096] = "v,y\n";
    size_t n = strlen(text);
    for (size_t i = 0; i < v->n_rows; i++)
        n += (size_t)snprintf(text + n, sizeof text - n, "%s%zu%s,%s\n", v->before,
                              (v->from + v->step * i) % v->modulo, v->behind, i % 2 == 0 ? "no" : "yes");
    assert_true(n < sizeof text);
    mel_table *table;
    mel_labels labels;
    mel_error err;
    mel_read_options opt;
    mel_read_options_init(&opt);
    const mel_column_override column = { "v", v->type };
    opt.overrides = &column;
    opt.n_overrides = 1;
    assert_ok(mel_table_read_memory(&table, text, n, "t.csv", &opt, &err), &err);
    assert_ok(mel_table_labels(&labels, table, "y", &err), &err);
    assert_ok(mel_column_unfit(why, table, 0, &labels, &err), &err);
    mel_labels_clear(&labels);
    mel_table_free(table);
}

static void test_judged(void **state)
{
    (void)state;
    static const values rows[] = {
        { "\"1,", ".50 $\"", 100, 7, 1000, 40, MEL_COLUMN_AUTO, "looks like money (\"1,100.50 $\")" },
        { "€ ", "", 100, 7, 1000, 40, MEL_COLUMN_AUTO, "looks like money" },
        { "$€ ", "", 100, 7, 1000, 40, MEL_COLUMN_AUTO, "looks like names or ids" },
        { "2024-01-", "", 1, 1, 1000, 40, MEL_COLUMN_AUTO, "looks like dates" },
        { "", "/3/2024 10:30", 1, 1, 1000, 40, MEL_COLUMN_AUTO, "looks like dates" },
        { "Ann ", "", 1, 1, 1000, 40, MEL_COLUMN_AUTO,
          "looks like names or ids (\"Ann 1\"): 40 different texts" },
        { "Ann ", "", 1, 1, 1000, 40, MEL_COLUMN_TEXT, NULL },
        { "Ann ", "", 1, 1, 1000, 19, MEL_COLUMN_AUTO, NULL },
        { "Ann ", "", 1, 1, 30, 40, MEL_COLUMN_AUTO, NULL },
        { "", "", 1, 1, 1000, 40, MEL_COLUMN_AUTO, "counts the rows (1, 2, 3, ...)" },
        { "", "", 0, 1, 1000, 40, MEL_COLUMN_AUTO, "counts the rows (0, 1, 2, ...)" },
        { "", "", 1, 1, 1000, 40, MEL_COLUMN_NUMBER, NULL },
        { "", "", 2, 1, 1000, 40, MEL_COLUMN_AUTO, NULL },
        { "", "", 1, 2, 1000, 40, MEL_COLUMN_AUTO, NULL },
        { "", "", 0, 1, 2, 40, MEL_COLUMN_AUTO, "is a copy of the label" },
        { "c", "", 0, 1, 2, 40, MEL_COLUMN_AUTO, "is a copy of the label" },
        { "c", "", 0, 1, 3, 40, MEL_COLUMN_AUTO, NULL },
        { "", "", 0, 1, 4, 40, MEL_COLUMN_AUTO, NULL },
        { "", "", 5, 0, 9, 40, MEL_COLUMN_AUTO, NULL },
    };
    for (size_t i = 0; i < COUNT(rows); i++) {
        mel_unfit why;
        judge(&why, &rows[i]);
        print_message("  %s%zu%s: %s\n", rows[i].before, rows[i].from, rows[i].behind, why.text);
        if (rows[i].want == NULL)
            assert_string_equal(why.text, "");
        else
            assert_non_null(strstr(why.text, rows[i].want));
    }
}

/* Every column of the tables that come with the program is fit. */
static void test_bundled(void **state)
{
    (void)state;
    static const char *const files[] = { "adult_test",
                                         "adult_train",
                                         "covtype",
                                         "digits_8x8",
                                         "breast_cancer_diagnostic",
                                         "breast_cancer_original",
                                         "credit_default",
                                         "communities_crime",
                                         "digits",
                                         "dna_splice",
                                         "german_credit",
                                         "letter",
                                         "magic04",
                                         "satellite",
                                         "shuttle",
                                         "spambase",
                                         "vehicle",
                                         "wine_quality" };
    for (size_t i = 0; i < COUNT(files); i++) {
        char name[64];
        (void)snprintf(name, sizeof name, "%s.csv.gz", files[i]);
        const char *path = test_data(name);
        mel_table *table;
        mel_labels labels;
        mel_error err;
        mel_unfit why;
        assert_ok(mel_table_read(&table, path, NULL, &err), &err);
        assert_ok(mel_table_labels(&labels, table, "label", &err), &err);
        for (size_t j = 0; j < mel_table_columns(table); j++) {
            const char *column = mel_table_column_name(table, j);
            if (strcmp(column, "label") == 0 || strncmp(column, "meta_", 5) == 0)
                continue;
            assert_ok(mel_column_unfit(&why, table, j, &labels, &err), &err);
            assert_string_equal(why.text, "");
        }
        mel_labels_clear(&labels);
        mel_table_free(table);
    }
}

int main(void)
{
    const struct CMUnitTest tests[] = { cmocka_unit_test(test_judged), cmocka_unit_test(test_bundled) };
    return cmocka_run_group_tests(tests, NULL, NULL);
}

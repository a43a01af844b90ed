/* Every malformed table is refused with a sentence that has the file and the place; nothing leaks. */
#include "data/shared.h"
#include "support/bad_inputs.h"
#include "support/test.h"

#include <stdio.h>
#include <string.h>

/* As far as training goes with a table before it meets the model. */
static mel_status prepare(const char *path, const char *label, const mel_read_options *opt, mel_error *err)
{
    mel_table *table;
    mel_labels labels = { 0 };
    mel_encoder *encoder = NULL;
    mel_status status = mel_table_read(&table, path, opt, err);
    if (status != MEL_OK) {
        assert_null(table);
        return status;
    }
    status = mel_table_labels(&labels, table, label, err);
    if (status == MEL_OK) {
        mel_encoder_options options;
        mel_encoder_options_init(&options);
        options.skip = &label;
        options.n_skip = 1;
        status = mel_encoder_fit(&encoder, table, &options, err);
    } else {
        assert_null(labels.code);
        assert_null(labels.name);
    }
    mel_encoder_free(encoder);
    mel_labels_clear(&labels);
    mel_table_free(table);
    return status;
}

static void test_refusals(void **state)
{
    (void)state;
    for (size_t i = 0; i < COUNT(bad_inputs); i++) {
        const bad_input *bad = &bad_inputs[i];
        char name[32];
        (void)snprintf(name, sizeof name, "bad%zu.%s", i, bad->ending);
        const char *path = test_file(name, bad->bytes, bad->size);
        for (int threads = 1; threads <= 2; threads++) {
            mel_read_options opt;
            mel_read_options_init(&opt);
            opt.threads = threads;
            mel_error err = { 0 };
            const mel_status status = prepare(path, bad->label, &opt, &err);
            if ((status != MEL_EDATA && status != MEL_ELIMIT) || err.code != status)
                fail_msg("%s %s: %s", bad->ending, bad->name, mel_status_name(status));
            if (strstr(err.text, path) == NULL || strstr(err.text, bad->part) == NULL)
                fail_msg("%s %s: \"%s\" lacks \"%s\"", bad->ending, bad->name, err.text, bad->part);
            assert_int_equal(prepare(path, bad->label, &opt, NULL), status); /* nobody need listen */
        }
    }
    print_message("  %zu malformed tables\n", COUNT(bad_inputs));
}

int main(void)
{
    const struct CMUnitTest tests[] = { cmocka_unit_test(test_refusals) };
    return cmocka_run_group_tests(tests, NULL, test_teardown);
}

/* Every allocation of the data room fails once: the call says so and nothing leaks. */
#include "support/test.h"

#include "data/encoder_json.h"
#include "data/shared.h"

#include <stdio.h>
#include <string.h>
#include <zlib.h>

/* Large enough for several chunks, with quotes, a text that comes late and a column of categories. */
enum { ROWS = 9000, ROW_BYTES = 96, SMALL_ROWS = 12 };
static char csv[ROWS * ROW_BYTES];
static const char *small_path, *packed_path;

static size_t make_csv(size_t rows)
{
    size_t n = (size_t)snprintf(csv, sizeof csv, "a,t,late,y\n");
    for (size_t i = 0; i < rows; i++)
        n += (size_t)snprintf(csv + n, sizeof csv - n, "%zu.5,\"%s %zu\"\"q\",%s%zu,%zu%s\n", i, "some text",
                              i % 20, i == rows - 1 ? "x" : "", i % 9, i % 2,
                              rows == ROWS ? "                                             " : "");
    return n;
}

typedef struct {
    const char *bytes;
    size_t n;
    const char *name;
    int threads;
} input;

static mel_status read_input(void *context)
{
    const input *in = context;
    mel_read_options opt;
    mel_read_options_init(&opt);
    opt.threads = in->threads;
    mel_table *table;
    mel_error err;
    const mel_status status = in->bytes != NULL
                                  ? mel_table_read_memory(&table, in->bytes, in->n, in->name, &opt, &err)
                                  : mel_table_read(&table, in->name, &opt, &err);
    assert_true((table != NULL) == (status == MEL_OK));
    mel_table_free(table);
    return status;
}

static void test_readers(void **state)
{
    (void)state;
    static const char svm[] = "1 1:1 2:2\n0 3:1\n";
    static const char npy[] = "\x93NUMPY\x01\0\x39\0{'descr': '<f4', 'fortran_order': False, 'shape': (2, 1)}"
                              "\0\0\0\0\0\0\0\0";
    static const char texts[] =
        "\x93NUMPY\x01\0\x39\0{'descr': '<U1', 'fortran_order': False, 'shape': (2, 1)}"
        "a\0\0\0b\0\0\0";
    static const char european[] = "\xFC;b;c\n1,5;x;45%\n2,5;\xE9;z\n3;y;7%\n",
                      names_rows[] = "a b\nr 1 x\ns 2 y\n",
                      utf_16[] = "\xFF\xFE"
                                 "a\0,\0b\0\n\0"
                                 "1\0,\0x\0\n\0";
    const size_t small = make_csv(SMALL_ROWS);
    char copy[4096];
    assert_true(small < sizeof copy);
    memcpy(copy, csv, small);
    const size_t large = make_csv(ROWS);
    input inputs[] = {
        { copy, small, "small.csv", 1 },
        { copy, small, "small.csv", 2 },
        { csv, large, "large.csv", 1 },
        { csv, large, "large.csv", 2 },
        { NULL, 0, small_path, 1 },
        { NULL, 0, packed_path, 1 },
        { svm, sizeof svm - 1, "t.svm", 1 },
        { npy, sizeof npy - 1, "t.npy", 1 },
        { texts, sizeof texts - 1, "texts.npy", 1 },
        { european, sizeof european - 1, "european.csv", 1 },
        { names_rows, sizeof names_rows - 1, "names.csv", 1 },
        { utf_16, sizeof utf_16 - 1, "utf-16.csv", 1 },
    };
    for (size_t i = 0; i < COUNT(inputs); i++)
        test_each_allocation(inputs[i].name, read_input, &inputs[i]);
}

/* Two files of a pattern, twice: the second pattern belongs to the first. */
static mel_status read_shards(void *context)
{
    const input *in = context;
    mel_read_options opt;
    mel_read_options_init(&opt);
    opt.threads = 1;
    mel_shards shards = { 0 };
    opt.shards = &shards;
    mel_status status = MEL_OK;
    for (int i = 0; i < 2 && status == MEL_OK; i++) {
        mel_table *table;
        mel_error err;
        status = mel_table_read(&table, in->name, &opt, &err);
        mel_table_free(table);
    }
    mel_shards_clear(&shards);
    return status;
}

static void test_patterns(void **state)
{
    (void)state;
    static const char numbers[] = "x,t\n1,2\n3,4\n", texts[] = "t,x\na,1\nb,\n", svm[] = "1 1:1 2:2\n0 3:1\n";
    test_file("m-1.csv", numbers, sizeof numbers - 1);
    test_file("m-2.csv", texts, sizeof texts - 1);
    test_file("v-1.svm", svm, sizeof svm - 1);
    test_file("v-2.svm", svm, sizeof svm - 1);
    input inputs[] = { { NULL, 0, test_path("m-*.csv"), 1 }, { NULL, 0, test_path("v-*.svm"), 1 } };
    for (size_t i = 0; i < COUNT(inputs); i++)
        test_each_allocation("pattern", read_shards, &inputs[i]);
}

static mel_status take_rows(void *context)
{
    static const size_t rows[] = { 1, 0 };
    mel_table *taken;
    mel_error err;
    const mel_status status = mel_table_take(&taken, context, rows, 2, &err);
    mel_table_free(taken);
    return status;
}

static mel_status label_rows(void *context)
{
    static const char *const known[] = { "0", "1" };
    mel_labels labels;
    mel_error err;
    mel_status status = mel_table_labels(&labels, context, "y", &err);
    mel_labels_clear(&labels);
    if (status == MEL_OK)
        status = mel_table_groups(&labels, context, "t", &err);
    mel_labels_clear(&labels);
    if (status == MEL_OK)
        status = mel_table_labels_as(&labels, context, "y", 2, known, &err);
    mel_labels_clear(&labels);
    if (status == MEL_OK)
        status = mel_table_quantile_labels(&labels, context, "a", 3, &err);
    mel_labels_clear(&labels);
    return status;
}

static mel_status label_texts(void *context)
{
    mel_labels groups, labels;
    mel_error err;
    mel_status status = mel_table_groups(&groups, context, "t", &err);
    if (status != MEL_OK)
        return status;
    status =
        mel_table_labels_as(&labels, context, "t", groups.n_classes, (const char *const *)groups.name, &err);
    mel_labels_clear(&labels);
    mel_labels_clear(&groups);
    return status;
}

static mel_status encode_rows(void *context)
{
    mel_encoder *encoder;
    mel_error err;
    mel_encoded encoded;
    mel_status status = mel_encoder_fit(&encoder, context, NULL, &err);
    if (status == MEL_OK)
        status = mel_encode(&encoded, encoder, context, &err);
    if (status == MEL_OK)
        mel_encoded_clear(&encoded);
    json_t *json = NULL;
    if (status == MEL_OK)
        status = mel_encoder_to_json(&json, encoder, &err);
    mel_encoder_free(encoder);
    encoder = NULL;
    if (status == MEL_OK)
        status = mel_encoder_from_json(&encoder, json, &err);
    json_decref(json);
    mel_encoder_free(encoder);
    return status;
}

static mel_status split_rows(void *context)
{
    static const uint32_t label[] = { 0, 1, 0, 1 };
    bool first[4];
    mel_error err;
    (void)context;
    return mel_split(first, 4, label, NULL, 0.5, 1, &err);
}

static mel_status write_numbers(void *context)
{
    const double values[] = { 1, 2 };
    mel_error err;
    return mel_npy_write(context, 2, 1, values, &err);
}

static void test_tables(void **state)
{
    (void)state;
    static const char *const texts[] = { "a,t,e,y\n1,x,,0\n2,y,,1\n?,x,,0\n4,?,,1\n5,z,,1\n",
                                         "1 1:1 2:2\n0 3:1\n" };
    const size_t n = make_csv(SMALL_ROWS);
    for (int k = 0; k < 3; k++) {
        mel_table *table;
        mel_error err;
        const char *text = k < 2 ? texts[k] : csv;
        assert_ok(mel_table_read_memory(&table, text, k < 2 ? strlen(text) : n, k == 1 ? "t.svm" : "t.csv",
                                        NULL, &err),
                  &err);
        test_each_allocation("take", take_rows, table);
        test_each_allocation("encode", encode_rows, table);
        if (k == 2) {
            test_each_allocation("labels", label_rows, table);
            test_each_allocation("labels of text", label_texts, table);
        }
        mel_table_free(table);
    }
    test_each_allocation("split", split_rows, NULL);
    test_each_allocation("write", write_numbers, (void *)(uintptr_t)test_path("out.npy"));
}

static int prepare(void **state)
{
    (void)state;
    const size_t n = make_csv(SMALL_ROWS);
    small_path = test_file("small.csv", csv, n);
    packed_path = test_path("packed.csv.gz");
    gzFile file = gzopen(packed_path, "wb");
    if (file == NULL || gzwrite(file, csv, (unsigned)n) != (int)n || gzclose(file) != Z_OK)
        return -1;
    return 0;
}

int main(void)
{
    const struct CMUnitTest tests[] = { cmocka_unit_test(test_readers), cmocka_unit_test(test_patterns),
                                        cmocka_unit_test(test_tables) };
    return cmocka_run_group_tests(tests, prepare, test_teardown);
}

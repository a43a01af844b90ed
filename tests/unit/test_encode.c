/* Encoding tables as features: what columns become, medians, refused tables, JSON and back. */
#include "support/test.h"

#include "base/rng.h"
#include "data/encoder.h"
#include "data/shared.h"

#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

static mel_table *read_text(const char *text, const char *name)
{
    mel_table *table;
    mel_error err;
    assert_ok(mel_table_read_memory(&table, text, strlen(text), name, NULL, &err), &err);
    return table;
}

static mel_encoder *fit(const mel_table *table, const mel_encoder_options *opt)
{
    mel_encoder *encoder;
    mel_error err;
    assert_ok(mel_encoder_fit(&encoder, table, opt, &err), &err);
    return encoder;
}

static double at(const mel_features *x, size_t row, size_t col)
{
    if (x->dense != NULL)
        return x->dense[row * x->stride + col];
    for (size_t k = x->row_start[row]; k < x->row_start[row + 1]; k++)
        if (x->col[k] == col)
            return x->value[k];
    return 0.0;
}

static void check_form(const mel_features *x)
{
    for (size_t i = 0; x->dense == NULL && i < x->n_rows; i++)
        for (size_t k = x->row_start[i]; k < x->row_start[i + 1]; k++) {
            assert_true(x->col[k] < x->n_cols);
            assert_true(k == x->row_start[i] || x->col[k - 1] < x->col[k]);
        }
}

/* Rows as text: "1,0;0,1". */
static void describe(const mel_features *x, char *out, size_t size)
{
    size_t n = 0;
    check_form(x);
    for (size_t i = 0; i < x->n_rows; i++)
        for (size_t j = 0; j < x->n_cols; j++)
            n += (size_t)snprintf(out + n, size - n, "%s%.4g", j != 0 ? "," : i != 0 ? ";" : "", at(x, i, j));
    assert_true(n < size);
}

static void describe_names(const mel_encoder *encoder, char *out, size_t size)
{
    size_t n = 0;
    for (size_t j = 0; j < mel_encoder_features(encoder); j++)
        n += (size_t)snprintf(out + n, size - n, "%s%s", j == 0 ? "" : " ",
                              mel_encoder_feature_name(encoder, j));
    assert_true(n < size);
}

typedef struct {
    bool keep_scale, dense, missing_category;
} how;

static mel_encoder_options options(how h)
{
    mel_encoder_options opt;
    mel_encoder_options_init(&opt);
    opt.keep_scale = h.keep_scale;
    opt.dense = h.dense;
    opt.missing_category = h.missing_category;
    return opt;
}

static void test_encodings(void **state)
{
    (void)state;
    static const struct {
        const char *name, *file, *train, *other, *names, *want;
        size_t unseen, imputed;
        how h;
    } rows[] = {
        { "standardised", "t.csv", "a,b\n1,10\n3,30\n", "a,b\n2,20\n5,10\n", "a b", "0,0;3,-1", 0, 0, { 0 } },
        { "scale kept",
          "t.csv",
          "a,b\n1,10\n3,30\n",
          "a,b\n2,20\n5,10\n",
          "a b",
          "2,20;5,10",
          0,
          0,
          { true, 0, 0 } },
        { "columns in another order",
          "t.csv",
          "a,b\n1,10\n3,30\n",
          "b,z,a\n20,x,2\n10,y,5\n",
          "a b",
          "0,0;3,-1",
          0,
          0,
          { 0 } },
        { "constant column", "t.csv", "a,b\n7,1\n7,3\n", "a,b\n7,1\n9,3\n", "a b", "0,-1;2,1", 0, 0, { 0 } },
        { "median for missing numbers",
          "t.csv",
          "a,b\n1,0\n2,0\n9,0\n?,1\n",
          "a,b\n?,0\n1,?\n",
          "a b",
          "2,0;1,0",
          0,
          2,
          { true, 0, 0 } },
        { "median of an even number of values",
          "t.csv",
          "a\n1\n2\n5\n9\n?\n",
          "a\n?\n",
          "a",
          "3.5",
          0,
          1,
          { true, 0, 0 } },
        { "mean and deviation of the filled column",
          "t.csv",
          "a\n0\n0\n?\n3\n",
          "a\n0\n3\n",
          "a",
          "-0.5774;1.732",
          0,
          0,
          { 0 } },
        { "one-hot in the order of classes",
          "t.csv",
          "t\nb\na\nc\n",
          "t\na\nb\nc\n",
          "t=a t=b t=c",
          "1,0,0;0,1,0;0,0,1",
          0,
          0,
          { 0 } },
        { "numbers as categories",
          "t.csv",
          "t,u\n10,x\n9,y\n9,x\nz,y\n",
          "t,u\n9,x\n10,x\nw,y\n",
          "t=10 t=9 t=z u=x u=y",
          "0,1,0,1,0;1,0,0,1,0;0,0,0,0,1",
          1,
          0,
          { 0 } },
        { "mode for missing texts",
          "t.csv",
          "t\nb\na\nb\n?\n",
          "t\n?\nb\na\n",
          "t=a t=b",
          "0,1;0,1;1,0",
          0,
          1,
          { 0 } },
        { "first of the modes that tie",
          "t.csv",
          "t\nb\na\nb\na\n?\n",
          "t\n?\nb\n",
          "t=a t=b",
          "1,0;0,1",
          0,
          1,
          { 0 } },
        { "missing texts as a category",
          "t.csv",
          "t\nb\na\nb\n?\n",
          "t\n?\nb\n",
          "t=a t=b t=?",
          "0,0,1;0,1,0",
          0,
          0,
          { 0, 0, true } },
        { "a category of its own only where cells are missing",
          "t.csv",
          "t\nb\na\n",
          "t\n?\nb\n",
          "t=a t=b",
          "1,0;0,1",
          0,
          1,
          { 0, 0, true } },
        { "unseen categories",
          "t.csv",
          "t\na\nb\n",
          "t\nc\na\nd\nc\n",
          "t=a t=b",
          "0,0;1,0;0,0;0,0",
          3,
          0,
          { 0 } },
        { "sparse rows with numbers",
          "t.csv",
          "t,a\nx,1\ny,3\nz,1\nw,3\nv,2\n",
          "t,a\ny,2\nz,3\n",
          "t=v t=w t=x t=y t=z a",
          "0,0,0,1,0,0;0,0,0,0,1,1.118",
          0,
          0,
          { 0 } },
        { "the same, dense",
          "t.csv",
          "t,a\nx,1\ny,3\nz,1\nw,3\nv,2\n",
          "t,a\ny,2\nz,3\n",
          "t=v t=w t=x t=y t=z a",
          "0,0,0,1,0,0;0,0,0,0,1,1.118",
          0,
          0,
          { 0, true, 0 } },
        { "a column of text without a value",
          "t.csv",
          "t,a\nx,1\ny,2\n",
          "t,a\n?,1\n?,2\n",
          "t=x t=y a",
          "1,0,-1;1,0,1",
          0,
          2,
          { 0 } },
        { "meta columns", "t.csv", "meta_id,a\n1,1\n2,3\n", "a\n2\n", "a", "0", 0, 0, { 0 } },
        { "columns without a value", "t.csv", "e,a\n,1\n?,3\n", "a\n2\n", "a", "0", 0, 0, { 0 } },
        { "LIBSVM: scaled, not centred",
          "t.svm",
          "0 1:2 3:1\n1 2:3\n0 1:2\n1 3:1\n",
          "0 1:4 2:1\n1 3:2\n",
          "f1 f2 f3",
          "4,0.7698,0;0,0,4",
          0,
          0,
          { 0 } },
        { "LIBSVM: scale kept",
          "t.svm",
          "0 1:2 3:1\n1 2:3\n",
          "0 1:4 2:1\n1 3:2\n",
          "f1 f2 f3",
          "4,1,0;0,0,2",
          0,
          0,
          { true, 0, 0 } },
        { "LIBSVM: new indices",
          "t.svm",
          "0 1:2\n1 2:3\n",
          "0 1:4 3:1 9:1\n1\n",
          "f1 f2",
          "4,0;0,0",
          2,
          0,
          { true, 0, 0 } },
        { "LIBSVM: fewer indices",
          "t.svm",
          "0 1:2 3:1\n1 2:3\n",
          "0 1:4\n",
          "f1 f2 f3",
          "4,0,0",
          0,
          0,
          { true, true, 0 } },
        { "LIBSVM: a constant feature",
          "t.svm",
          "0 1:5 2:1\n1 1:5\n",
          "0 1:5 2:1\n",
          "f1 f2",
          "5,2",
          0,
          0,
          { 0 } },
    };
    for (size_t i = 0; i < COUNT(rows); i++) {
        print_message("  %s\n", rows[i].name);
        mel_table *train = read_text(rows[i].train, rows[i].file),
                  *other = read_text(rows[i].other, rows[i].file);
        const mel_encoder_options opt = options(rows[i].h);
        mel_encoder *encoder = fit(train, &opt);
        mel_encoded encoded;
        mel_error err;
        char got[256];
        describe_names(encoder, got, sizeof got);
        assert_string_equal(got, rows[i].names);
        assert_ok(mel_encode(&encoded, encoder, other, &err), &err);
        describe(&encoded.view, got, sizeof got);
        assert_string_equal(got, rows[i].want);
        assert_int_equal(encoded.unseen, rows[i].unseen);
        assert_int_equal(encoded.imputed, rows[i].imputed);
        assert_true(!rows[i].h.dense || encoded.view.dense != NULL);
        mel_encoded_clear(&encoded);
        mel_encoder_free(encoder);
        mel_table_free(train);
        mel_table_free(other);
    }
}

static void test_skip_and_dropped(void **state)
{
    (void)state;
    mel_table *table = read_text("id,a,empty,t,y\n1,5,,x,0\n2,6,?,y,1\n3,7,NA,x,0\n", "t.csv");
    static const char *const skip[] = { "y", "id" }, *const typo[] = { "Y" };
    mel_encoder_options opt;
    mel_encoder_options_init(&opt);
    opt.skip = skip;
    opt.n_skip = 2;
    mel_encoder *encoder = fit(table, &opt);
    assert_int_equal(mel_encoder_columns(encoder), 2);
    assert_string_equal(mel_encoder_column_name(encoder, 0), "a");
    assert_int_equal(mel_encoder_column_type(encoder, 0), MEL_COLUMN_NUMBER);
    assert_string_equal(mel_encoder_column_name(encoder, 1), "t");
    assert_int_equal(mel_encoder_column_type(encoder, 1), MEL_COLUMN_TEXT);
    assert_int_equal(mel_encoder_dropped(encoder), 1);
    assert_string_equal(mel_encoder_dropped_name(encoder, 0), "empty");
    mel_encoder_free(encoder);
    opt.skip = typo;
    opt.n_skip = 1;
    mel_error err;
    assert_int_equal(mel_encoder_fit(&encoder, table, &opt, &err), MEL_EDATA);
    assert_null(encoder);
    assert_non_null(strstr(err.text, "t.csv: there is no column \"Y\""));
    opt.struct_size = 0;
    assert_int_equal(mel_encoder_fit(&encoder, table, &opt, &err), MEL_EINVAL);
    mel_table_free(table);
}

static void test_refused_tables(void **state)
{
    (void)state;
    static const struct {
        const char *name, *file, *train, *other_file, *other, *part;
    } rows[] = {
        { "column missing", "t.csv", "a,b\n1,2\n2,3\n", "n.csv", "a\n1\n",
          "n.csv: there is no column \"b\"" },
        { "text for numbers", "t.csv", "a\n1\n2\n", "n.csv", "a\n1\nx\n",
          "n.csv: row 3, column \"a\": \"x\" is not a number" },
        { "numbers for text", "t.csv", "a\nx\ny\n", "n.csv", "a\n1\n2\n",
          "n.csv: column \"a\" has numbers where training had text" },
        { "far out", "t.csv", "a\n0.001\n0.002\n", "n.csv", "a\n1\n1.7e308\n",
          "n.csv: row 3, column \"a\": 1.7e+308 is too far from the values in training" },
        { "LIBSVM for CSV", "t.csv", "a\n1\n2\n", "n.svm", "1 1:1\n",
          "n.svm: numbered features where training had named" },
        { "CSV for LIBSVM", "t.svm", "1 1:1\n0 1:2\n", "n.csv", "a\n1\n",
          "n.csv: named columns where training had numbered features" },
        { "LIBSVM, far out", "t.svm", "1 1:1e-5\n0 1:2e-5\n", "n.svm", "1 1:1\n1 1:1.7e308\n",
          "n.svm: row 2, index 1: 1.7e+308 is too far" },
    };
    for (size_t i = 0; i < COUNT(rows); i++) {
        print_message("  %s\n", rows[i].name);
        mel_table *train = read_text(rows[i].train, rows[i].file),
                  *other = read_text(rows[i].other, rows[i].other_file);
        mel_encoder *encoder = fit(train, NULL);
        mel_encoded encoded;
        mel_error err;
        assert_int_equal(mel_encode(&encoded, encoder, other, &err), MEL_EDATA);
        assert_null(encoded.memory);
        if (strstr(err.text, rows[i].part) == NULL)
            fail_msg("%s", err.text);
        mel_encoder_free(encoder);
        mel_table_free(train);
        mel_table_free(other);
    }
}

/* Sums and squares beyond the range of double, values at its lower end, and differences too small for
 * the usual formula: features have mean 0 and deviation 1 all the same. */
static void test_extreme_numbers(void **state)
{
    (void)state;
    static const char *const columns[] = {
        "a\n1e308\n-1e308\n1.7e308\n",        "a\n1e-308\n3e-308\n2e-308\n",
        "a\n1e200\n2e200\n4e200\n",           "a\n1000000000000000\n1000000000000001\n1000000000000002\n",
        "a\n0.1\n0.1\n0.30000000000000004\n", "a\n1e-200\n-1e-200\n0\n",
    };
    for (size_t k = 0; k < COUNT(columns); k++) {
        mel_table *table = read_text(columns[k], "t.csv");
        mel_encoder *encoder = fit(table, NULL);
        mel_encoded encoded;
        mel_error err;
        assert_ok(mel_encode(&encoded, encoder, table, &err), &err);
        double sum = 0, squares = 0;
        for (size_t i = 0; i < 3; i++) {
            const double z = at(&encoded.view, i, 0);
            sum += z;
            squares += z * z;
        }
        assert_close(sum, 0.0, 1e-9);
        assert_close(squares, 3.0, 1e-9);
        mel_encoded_clear(&encoded);
        mel_encoder_free(encoder);
        mel_table_free(table);
    }
}

/* Against a naive median on random columns of every small size, ties included. */
static void test_medians(void **state)
{
    (void)state;
    mel_rng rng;
    mel_rng_seed(&rng, 1);
    for (int run = 0; run < 2000; run++) {
        char text[4096] = "a,b\n";
        double x[100] = { 0 };
        const size_t n = 1 + (size_t)mel_rng_below(&rng, 100);
        const uint64_t range = 1 + mel_rng_below(&rng, 200);
        for (size_t i = 0; i < n; i++) {
            x[i] = (double)mel_rng_below(&rng, range);
            const size_t used = strlen(text);
            (void)snprintf(text + used, sizeof text - used, "%g,%zu\n", x[i], i);
        }
        const size_t used = strlen(text);
        (void)snprintf(text + used, sizeof text - used, "?,-1\n");
        for (size_t i = 0; i < n; i++) /* insertion sort */
            for (size_t k = i; k > 0 && x[k] < x[k - 1]; k--) {
                const double swap = x[k];
                x[k] = x[k - 1];
                x[k - 1] = swap;
            }
        mel_table *table = read_text(text, "t.csv");
        const mel_encoder_options opt = options((how){ .keep_scale = true });
        mel_encoder *encoder = fit(table, &opt);
        mel_encoded encoded;
        mel_error err;
        assert_ok(mel_encode(&encoded, encoder, table, &err), &err);
        assert_true(at(&encoded.view, n, 0) == (x[(n - 1) / 2] + x[n / 2]) / 2);
        mel_encoded_clear(&encoded);
        mel_encoder_free(encoder);
        mel_table_free(table);
    }
}

/* Written and read again, an encoder does the same, bit for bit. */
static void check_round_trip(const char *text, const char *file, how h)
{
    mel_table *table = read_text(text, file);
    const mel_encoder_options opt = options(h);
    mel_encoder *encoder = fit(table, &opt), *again;
    mel_error err;
    json_t *json;
    assert_ok(mel_encoder_to_json(&json, encoder, &err), &err);
    char *dumped = json_dumps(json, JSON_REAL_PRECISION(17));
    json_decref(json);
    json = json_loads(dumped, JSON_REJECT_DUPLICATES, NULL);
    assert_non_null(json);
    assert_ok(mel_encoder_from_json(&again, json, &err), &err);
    assert_int_equal(mel_encoder_features(again), mel_encoder_features(encoder));
    assert_int_equal(mel_encoder_dropped(again), mel_encoder_dropped(encoder));
    for (size_t j = 0; j < mel_encoder_features(again); j++)
        assert_string_equal(mel_encoder_feature_name(again, j), mel_encoder_feature_name(encoder, j));
    mel_encoded one, two;
    assert_ok(mel_encode(&one, encoder, table, &err), &err);
    assert_ok(mel_encode(&two, again, table, &err), &err);
    assert_true((one.view.dense != NULL) == (two.view.dense != NULL));
    for (size_t i = 0; i < one.view.n_rows; i++)
        for (size_t j = 0; j < one.view.n_cols; j++)
            assert_true(at(&one.view, i, j) == at(&two.view, i, j));
    mel_encoded_clear(&one);
    mel_encoded_clear(&two);
    free(dumped);
    json_decref(json);
    mel_encoder_free(encoder);
    mel_encoder_free(again);
    mel_table_free(table);
}

static void test_round_trips(void **state)
{
    (void)state;
    static const char csv[] = "e,a,t,b\n,0.1,x y,1\n,0.2,?,2\n,?,\"q\"\"\",3.3\n,0.7,é,1e-300\n";
    check_round_trip(csv, "t.csv", (how){ 0 });
    check_round_trip(csv, "t.csv", (how){ .keep_scale = true, .dense = true });
    check_round_trip(csv, "t.csv", (how){ .missing_category = true });
    check_round_trip("0 1:0.1 2:3\n1 7:2\n0 1:5\n", "t.svm", (how){ 0 });
    check_round_trip("0 1:0.1 2:3\n1 1:2\n", "t.svm", (how){ .dense = true });
}

#define NUMBER "{\"name\":\"a\",\"type\":\"number\",\"median\":1,\"mean\":2.5,\"deviation\":0.5}"
#define TEXT                                                                                                 \
    "{\"name\":\"t\",\"type\":\"text\",\"categories\":[\"p\",\"q\"],\"mode\":\"q\",\"missing_category\":"    \
    "false}"
#define ENCODER(columns) "{\"layout\":\"dense\",\"dropped\":[],\"columns\":[" columns "]}"

static void test_json(void **state)
{
    (void)state;
    static const struct {
        const char *name, *text, *part; /* part NULL: accepted */
    } rows[] = {
        { "both kinds", ENCODER(NUMBER "," TEXT), NULL },
        { "LIBSVM", "{\"layout\":\"sparse\",\"deviations\":[1,0.5]}", NULL },
        { "LIBSVM from 0", "{\"layout\":\"sparse\",\"deviations\":[1,0.5],\"zero_based\":true}", NULL },
        { "a base that is none", "{\"layout\":\"sparse\",\"deviations\":[1],\"zero_based\":0}",
          "\"zero_based\" must be true or false" },
        { "not an object", "[]", "encoder: not an object" },
        { "no layout", "{\"columns\":[]}", "encoder: \"layout\" must be a text" },
        { "layout a number", "{\"layout\":1}", "encoder: \"layout\" must be a text" },
        { "unknown layout", "{\"layout\":\"tall\"}", "layout \"tall\" is not known" },
        { "no columns", "{\"layout\":\"dense\",\"dropped\":[]}", "\"columns\" is missing" },
        { "columns an object", "{\"layout\":\"dense\",\"dropped\":[],\"columns\":{}}",
          "\"columns\" must be an array" },
        { "nothing in columns", ENCODER(""), "no column is left" },
        { "unknown member", "{\"layout\":\"dense\",\"dropped\":[],\"columns\":[" NUMBER "],\"x\":1}",
          "encoder: unknown key \"x\"" },
        { "dropped no array", "{\"layout\":\"dense\",\"dropped\":1,\"columns\":[" NUMBER "]}",
          "\"dropped\" must be an array" },
        { "dropped twice", "{\"layout\":\"dense\",\"dropped\":[\"d\",\"d\"],\"columns\":[" NUMBER "]}",
          "\"dropped\": \"d\" is given twice" },
        { "column no object", ENCODER("1"), "column 1: \"name\" must be a text" },
        { "name empty",
          ENCODER("{\"name\":\"\",\"type\":\"number\",\"median\":1,\"mean\":2,\"deviation\":1}"),
          "column 1: the name is empty" },
        { "name twice", ENCODER(NUMBER "," TEXT "," NUMBER), "column 3: \"name\": \"a\" is given twice" },
        { "name a number",
          ENCODER("{\"name\":1,\"type\":\"number\",\"median\":1,\"mean\":2,\"deviation\":1}"),
          "column 1: \"name\" must be a text" },
        { "unknown type", ENCODER("{\"name\":\"a\",\"type\":\"date\"}"),
          "column 1: type \"date\" is not known" },
        { "no type", ENCODER("{\"name\":\"a\"}"), "column 1: \"type\" must be a text" },
        { "no median", ENCODER("{\"name\":\"a\",\"type\":\"number\",\"mean\":2,\"deviation\":1}"),
          "column 1: \"median\" is missing" },
        { "mean a text",
          ENCODER("{\"name\":\"a\",\"type\":\"number\",\"median\":1,\"mean\":\"2\",\"deviation\":1}"),
          "column 1: \"mean\" must be a finite number" },
        { "deviation 0",
          ENCODER("{\"name\":\"a\",\"type\":\"number\",\"median\":1,\"mean\":2,\"deviation\":0}"),
          "column 1: a deviation of 0" },
        { "deviation negative",
          ENCODER("{\"name\":\"a\",\"type\":\"number\",\"median\":1,\"mean\":2,\"deviation\":-1}"),
          "column 1: a deviation of -1" },
        { "unknown member of a column",
          ENCODER("{\"name\":\"a\",\"type\":\"number\",\"median\":1,\"mean\":2,\"deviation\":1,\"z\":0}"),
          "column 1: unknown key \"z\"" },
        { "categories no array",
          ENCODER("{\"name\":\"t\",\"type\":\"text\",\"categories\":\"p\",\"mode\":\"p\",\"missing_"
                  "category\":false}"),
          "column 1: \"categories\" must be an array" },
        { "category twice",
          ENCODER("{\"name\":\"t\",\"type\":\"text\",\"categories\":[\"p\",\"p\"],\"mode\":\"p\",\"missing_"
                  "category\":false}"),
          "column 1: \"categories\": \"p\" is given twice" },
        { "category a number",
          ENCODER("{\"name\":\"t\",\"type\":\"text\",\"categories\":[1],\"mode\":\"p\",\"missing_category\":"
                  "false}"),
          "column 1: \"categories\" must be a text" },
        { "mode unknown",
          ENCODER("{\"name\":\"t\",\"type\":\"text\",\"categories\":[\"p\"],\"mode\":\"q\",\"missing_"
                  "category\":false}"),
          "column 1: the mode \"q\" is not one of the categories" },
        { "no categories",
          ENCODER("{\"name\":\"t\",\"type\":\"text\",\"categories\":[],\"mode\":\"q\",\"missing_category\":"
                  "false}"),
          "column 1: the mode \"q\"" },
        { "missing_category no bool",
          ENCODER("{\"name\":\"t\",\"type\":\"text\",\"categories\":[\"p\"],\"mode\":\"p\",\"missing_"
                  "category\":0}"),
          "column 1: \"missing_category\" must be true or false" },
        { "no deviations", "{\"layout\":\"sparse\",\"deviations\":[]}", "no column is left" },
        { "deviations no array", "{\"layout\":\"sparse\",\"deviations\":1}",
          "\"deviations\" must be an array" },
        { "a deviation that is none", "{\"layout\":\"sparse\",\"deviations\":[1,\"x\"]}",
          "feature 2: a deviation of 0" },
        { "deviations and columns", "{\"layout\":\"sparse\",\"deviations\":[1],\"columns\":[]}",
          "encoder: unknown key \"columns\"" },
    };
    for (size_t i = 0; i < COUNT(rows); i++) {
        print_message("  %s\n", rows[i].name);
        json_error_t where;
        json_t *json = json_loads(rows[i].text, JSON_REJECT_DUPLICATES, &where);
        if (json == NULL)
            fail_msg("%s", where.text);
        mel_encoder *encoder;
        mel_error err = { 0 };
        const mel_status status = mel_encoder_from_json(&encoder, json, &err);
        assert_int_equal(status, rows[i].part == NULL ? MEL_OK : MEL_EDATA);
        assert_true((encoder != NULL) == (status == MEL_OK));
        if (rows[i].part != NULL && strstr(err.text, rows[i].part) == NULL)
            fail_msg("%s", err.text);
        mel_encoder_free(encoder);
        json_decref(json);
    }
}

static void test_adult(void **state)
{
    (void)state;
    const char *path = test_data("adult_train.csv.gz");
    mel_table *table;
    mel_error err;
    assert_ok(mel_table_read(&table, path, NULL, &err), &err);
    static const char *const skip_label[] = { "label" };
    mel_encoder_options opt;
    mel_encoder_options_init(&opt);
    opt.skip = skip_label;
    opt.n_skip = 1;
    mel_encoder *encoder = fit(table, &opt);
    mel_encoded encoded;
    assert_int_equal(mel_encoder_features(encoder), 105); /* 6 numbers and 99 categories */
    assert_ok(mel_encode(&encoded, encoder, table, &err), &err);
    assert_null(encoded.view.dense);
    assert_int_equal(encoded.imputed, 4262);
    assert_int_equal(encoded.unseen, 0);
    check_form(&encoded.view);
    mel_encoded_clear(&encoded);
    mel_encoder_free(encoder);
    mel_table_free(table);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_encodings),      cmocka_unit_test(test_skip_and_dropped),
        cmocka_unit_test(test_refused_tables), cmocka_unit_test(test_extreme_numbers),
        cmocka_unit_test(test_medians),        cmocka_unit_test(test_round_trips),
        cmocka_unit_test(test_json),           cmocka_unit_test(test_adult),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}

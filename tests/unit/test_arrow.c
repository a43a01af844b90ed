/* Tables through the Arrow C data interface: every format, offsets, chunks, dictionaries, damaged arrays. */
#include "support/tables.h"
#include "support/test.h"

#include "melicit/arrow.h"

#include <math.h>
#include <stdio.h>
#include <string.h>

enum { MOST_COLUMNS = 12, MOST_CHUNKS = 3, MOST_BUFFERS = 5 };

/* A producer: columns of static buffers, in chunks. */
typedef struct {
    const char *format, *name;
    const char *dictionary; /* format of its values; NULL: none */
} made_column;

typedef struct {
    int64_t length, offset;
    int64_t n_buffers;
    const void *buffers[MOST_BUFFERS];
} made_array;

typedef struct {
    size_t n_columns, n_chunks;
    const made_column *columns;
    int64_t length[MOST_CHUNKS], offset[MOST_CHUNKS];
    made_array array[MOST_CHUNKS][MOST_COLUMNS], dictionary[MOST_CHUNKS][MOST_COLUMNS];
    const void *row_bits;
    const char *failure; /* of get_next */
    size_t at;
    int released; /* schemas and arrays */
    struct ArrowSchema child_schema[MOST_COLUMNS], value_schema[MOST_COLUMNS], *child_schemas[MOST_COLUMNS];
    struct ArrowArray child[MOST_COLUMNS], values[MOST_COLUMNS], *children[MOST_COLUMNS];
    const void *own_buffers[1];
} producer;

static void release_schema(struct ArrowSchema *schema)
{
    ((producer *)schema->private_data)->released++;
    schema->release = NULL;
}

static void release_array(struct ArrowArray *array)
{
    ((producer *)array->private_data)->released++;
    array->release = NULL;
}

static int get_schema(struct ArrowArrayStream *stream, struct ArrowSchema *out)
{
    producer *p = stream->private_data;
    for (size_t j = 0; j < p->n_columns; j++) {
        p->value_schema[j] = (struct ArrowSchema){ .format = p->columns[j].dictionary };
        p->child_schema[j] = (struct ArrowSchema){
            .format = p->columns[j].format,
            .name = p->columns[j].name,
            .dictionary = p->columns[j].dictionary != NULL ? &p->value_schema[j] : NULL,
        };
        p->child_schemas[j] = &p->child_schema[j];
    }
    *out = (struct ArrowSchema){ .format = "+s",
                                 .n_children = (int64_t)p->n_columns,
                                 .children = p->child_schemas,
                                 .release = release_schema,
                                 .private_data = p };
    return 0;
}

static struct ArrowArray array_of(producer *p, const made_array *a)
{
    return (struct ArrowArray){ .length = a->length,
                                .null_count = -1,
                                .offset = a->offset,
                                .n_buffers = a->n_buffers,
                                .buffers = (const void **)(uintptr_t)a->buffers,
                                .release = release_array,
                                .private_data = p };
}

static int get_next(struct ArrowArrayStream *stream, struct ArrowArray *out)
{
    producer *p = stream->private_data;
    if (p->failure != NULL)
        return 5;
    if (p->at == p->n_chunks)
        return 0;
    for (size_t j = 0; j < p->n_columns; j++) {
        p->child[j] = array_of(p, &p->array[p->at][j]);
        p->values[j] = array_of(p, &p->dictionary[p->at][j]);
        p->child[j].dictionary = p->dictionary[p->at][j].n_buffers != 0 ? &p->values[j] : NULL;
        p->children[j] = &p->child[j];
    }
    p->own_buffers[0] = p->row_bits;
    *out = (struct ArrowArray){ .length = p->length[p->at],
                                .offset = p->offset[p->at],
                                .n_buffers = 1,
                                .buffers = p->own_buffers,
                                .n_children = (int64_t)p->n_columns,
                                .children = p->children,
                                .release = release_array,
                                .private_data = p };
    p->at++;
    return 0;
}

static const char *get_last_error(struct ArrowArrayStream *stream)
{
    return ((producer *)stream->private_data)->failure;
}

static void release_stream(struct ArrowArrayStream *stream)
{
    stream->release = NULL;
}

static mel_status read_made(mel_table **table, producer *p, const mel_read_options *opt, mel_error *err)
{
    struct ArrowArrayStream stream = { get_schema, get_next, get_last_error, release_stream, p };
    p->at = 0;
    p->released = 0;
    const mel_status status = mel_table_from_arrow(table, &stream, "frame", opt, err);
    assert_non_null(stream.release); /* the stream stays the caller's */
    assert_int_equal(p->released, 1 + p->at);
    return status;
}

/* Three rows of each kind, the second of them missing. */
static const unsigned char bits_101[] = { 0x05 };
static const signed char bytes[] = { 1, 0, -3 };
static const short shorts[] = { 300, 0, -300 };
static const int ints[] = { 70000, 0, -70000 };
static const long long longs[] = { 1, 0, -1 };
static const unsigned long long big[] = { 1, 0, 1ULL << 60 };
static const unsigned short halves[] = { 0x3C00, 0, 0xC000 };
static const float floats[] = { 0.5F, 0, -2 };
static const double doubles[] = { 0.1, 0, 7 };
static const char letters[] = "xyyé";
static const int offsets[] = { 0, 1, 1, 5 };
static const long long large_offsets[] = { 0, 1, 1, 5 };

static void test_formats(void **state)
{
    (void)state;
    static const made_column columns[] = {
        { "c", "c", NULL }, { "s", "s", NULL }, { "i", "i", NULL }, { "l", "l", NULL },
        { "L", "L", NULL }, { "e", "e", NULL }, { "f", "f", NULL }, { "g", "g", NULL },
        { "u", "u", NULL }, { "U", "U", NULL }, { "b", "b", NULL }, { "n", "n", NULL },
    };
    producer p = {
        .n_columns = COUNT(columns),
        .n_chunks = 1,
        .columns = columns,
        .length = { 3 },
        .array = { { { 3, 0, 2, { bits_101, bytes } },
                     { 3, 0, 2, { bits_101, shorts } },
                     { 3, 0, 2, { bits_101, ints } },
                     { 3, 0, 2, { bits_101, longs } },
                     { 3, 0, 2, { NULL, big } },
                     { 3, 0, 2, { bits_101, halves } },
                     { 3, 0, 2, { bits_101, floats } },
                     { 3, 0, 2, { bits_101, doubles } },
                     { 3, 0, 3, { NULL, offsets, letters } },
                     { 3, 0, 3, { bits_101, large_offsets, letters } },
                     { 3, 0, 2, { bits_101, (const unsigned char[]){ 0x04 } } },
                     { 3, 0, 0, { NULL } } } },
    };
    mel_table *table;
    mel_error err = { 0 };
    char got[1024];
    assert_ok(read_made(&table, &p, NULL, &err), &err);
    test_describe(table, got, sizeof got);
    assert_string_equal(got,
                        "c:n=1,_,-3 s:n=300,_,-300 i:n=70000,_,-70000 l:n=1,_,-1 "
                        "L:n=1,0,1.152921504606847e+18 e:n=1,_,-2 f:n=0.5,_,-2 "
                        "g:n=0.10000000000000001,_,7 u:t=x,_,yyé U:t=x,_,yyé b:t=False,_,True n:n=_,_,_");
    assert_string_equal(mel_table_how(table), "Arrow, 3 rows, 12 columns");
    mel_table_free(table);
}

/* Chunks with offsets of the rows and of the columns, and rows that are not there at all. */
static void test_chunks(void **state)
{
    (void)state;
    static const made_column columns[] = { { "i", "a", NULL }, { "u", "t", NULL }, { "c", "d", "u" } };
    static const int numbers[] = { 9, 1, 2, 3, 4, 5, 6, 7 };
    static const int ends[] = { 0, 1, 2, 3, 4, 5, 6, 7, 8 };
    static const signed char codes[] = { 1, 1, 0, 0, 1, 0, 0, 0 };
    const made_array a = { 7, 1, 2, { NULL, numbers } };
    const made_array t = { 7, 1, 3, { NULL, ends, "zabcdefg" } };
    const made_array d = { 7, 1, 2, { NULL, codes } };
    producer p = {
        .n_columns = 3,
        .n_chunks = 2,
        .columns = columns,
        .length = { 2, 3 },
        .offset = { 1, 4 },
        .array = { { a, t, d }, { a, t, d } },
        .dictionary = { { { 0 }, { 0 }, { 2, 0, 3, { NULL, offsets, "xy" } } },
                        { { 0 }, { 0 }, { 2, 0, 3, { NULL, (const int[]){ 0, 1, 3 }, "zyy" } } } },
    };
    mel_table *table;
    mel_error err = { 0 };
    char got[256];
    assert_ok(read_made(&table, &p, NULL, &err), &err);
    test_describe(table, got, sizeof got);
    assert_string_equal(got, "a:n=2,3,5,6,7 t:t=b,c,e,f,g d:t=x,x,z,z,z");
    mel_table_free(table);
    p.row_bits = (const unsigned char[]){ 0xB3 }; /* row 2 of the struct is null, and row 6 */
    assert_ok(read_made(&table, &p, NULL, &err), &err);
    test_describe(table, got, sizeof got);
    assert_string_equal(got, "a:n=2,_,5,6,_ t:t=b,_,e,f,_ d:t=x,_,z,z,_");
    mel_table_free(table);
}

/* Views keep up to 12 bytes in place. */
static void test_views(void **state)
{
    (void)state;
    static const made_column columns[] = { { "vu", "t", NULL } };
    static const char data[] = "..a text of more than twelve bytes";
    struct {
        int n;
        char start[4];
        int buffer, at;
    } views[2] = { { 5, "shor", 't', 0 }, { 32, "a te", 0, 2 } };
    const long long sizes[] = { 34 };
    producer p = { .n_columns = 1,
                   .n_chunks = 1,
                   .columns = columns,
                   .length = { 2 },
                   .array = { { { 2, 0, 4, { NULL, views, data, sizes } } } } };
    mel_table *table;
    mel_error err = { 0 };
    char got[256];
    assert_ok(read_made(&table, &p, NULL, &err), &err);
    test_describe(table, got, sizeof got);
    assert_string_equal(got, "t:t=short,a text of more than twelve bytes");
    mel_table_free(table);
    views[1].at = 3;
    assert_int_equal(read_made(&table, &p, NULL, &err), MEL_EDATA);
    assert_non_null(strstr(err.text, "frame: row 2, column \"t\": the text is not valid UTF-8"));
    views[1].at = 2;
    views[1].buffer = 1;
    assert_int_equal(read_made(&table, &p, NULL, &err), MEL_EDATA);
}

static void test_refusals(void **state)
{
    (void)state;
    static const double infinite[] = { 1, HUGE_VAL, 3 };
    static const int backwards[] = { 0, 3, 1, 5 };
    static const signed char beyond[] = { 0, 2, 0 }, below[] = { 0, -1, 0 };
    static const made_array two_words = { 2, 0, 3, { NULL, offsets, "xy" } };
    const struct {
        const char *name;
        made_column column;
        made_array array, dictionary;
        const char *part;
    } rows[] = {
        { "a date", { "tdD", "a", NULL }, { 3, 0, 2, { NULL, ints } }, { 0 }, "format \"tdD\" cannot be" },
        { "no name", { "i", "", NULL }, { 3, 0, 2, { NULL, ints } }, { 0 }, "column 2 has no name" },
        { "the name of another",
          { "i", "other", NULL },
          { 3, 0, 2, { NULL, ints } },
          { 0 },
          "two columns are called \"other\"" },
        { "infinite",
          { "g", "a", NULL },
          { 3, 0, 2, { NULL, infinite } },
          { 0 },
          "row 2, column \"a\": inf is" },
        { "too short", { "i", "a", NULL }, { 2, 0, 2, { NULL, ints } }, { 0 }, "is shorter than the table" },
        { "offset below 0", { "i", "a", NULL }, { 3, -1, 2, { NULL, ints } }, { 0 }, "below 0" },
        { "too few buffers", { "u", "a", NULL }, { 3, 0, 2, { NULL, offsets } }, { 0 }, "too few buffers" },
        { "no values", { "i", "a", NULL }, { 3, 0, 2, { NULL, NULL } }, { 0 }, "has no values" },
        { "offsets that go back",
          { "u", "a", NULL },
          { 3, 0, 3, { NULL, backwards, letters } },
          { 0 },
          "row 2, column \"a\": the text is not valid UTF-8, or its offsets are damaged" },
        { "half a character",
          { "u", "a", NULL },
          { 3, 0, 3, { NULL, (const int[]){ 0, 1, 4, 5 }, letters } },
          { 0 },
          "row 2, column \"a\": the text" },
        { "a code beyond",
          { "c", "a", "u" },
          { 3, 0, 2, { NULL, beyond } },
          two_words,
          "row 2, column \"a\": its code" },
        { "a code below 0",
          { "c", "a", "u" },
          { 3, 0, 2, { NULL, below } },
          two_words,
          "row 2, column \"a\": its code" },
        { "codes alone",
          { "c", "a", "u" },
          { 3, 0, 2, { NULL, bytes } },
          { 0 },
          "has codes without a dictionary" },
        { "codes that are texts",
          { "u", "a", "u" },
          { 3, 0, 3, { NULL, offsets, letters } },
          two_words,
          "whole numbers" },
    };
    for (size_t i = 0; i < COUNT(rows); i++) {
        print_message("  %s\n", rows[i].name);
        const made_column columns[] = { { "i", "other", NULL }, rows[i].column };
        producer p = { .n_columns = 2,
                       .n_chunks = 1,
                       .columns = columns,
                       .length = { 3 },
                       .array = { { { 3, 0, 2, { NULL, ints } }, rows[i].array } },
                       .dictionary = { { { 0 }, rows[i].dictionary } } };
        mel_table *table;
        mel_error err = { 0 };
        assert_int_equal(read_made(&table, &p, NULL, &err), MEL_EDATA);
        assert_null(table);
        if (strncmp(err.text, "frame: ", 7) != 0 || strstr(err.text, rows[i].part) == NULL)
            fail_msg("\"%s\" lacks \"%s\"", err.text, rows[i].part);
    }
}

static void test_limits(void **state)
{
    (void)state;
    static const made_column columns[] = { { "u", "t", NULL } };
    producer p = { .n_columns = 1,
                   .n_chunks = 1,
                   .columns = columns,
                   .length = { 3 },
                   .array = { { { 3, 0, 3, { NULL, offsets, letters } } } } };
    mel_table *table;
    mel_error err = { 0 };
    mel_read_options opt;
    mel_read_options_init(&opt);
    opt.max_rows = 2;
    assert_int_equal(read_made(&table, &p, &opt, &err), MEL_ELIMIT);
    mel_read_options_init(&opt);
    opt.max_categories = 1;
    assert_int_equal(read_made(&table, &p, &opt, &err), MEL_ELIMIT);
    assert_non_null(strstr(err.text, "column \"t\": more than 1 different texts (\"yyé\" is one too many)"));
    mel_read_options_init(&opt);
    opt.max_columns = 0;
    assert_int_equal(read_made(&table, &p, &opt, &err), MEL_ELIMIT);
    p.failure = "the disk is full";
    assert_int_equal(read_made(&table, &p, NULL, &err), MEL_EDATA);
    assert_non_null(strstr(err.text, "failed: the disk is full"));
    p.failure = NULL;
    p.n_chunks = 0;
    assert_int_equal(read_made(&table, &p, NULL, &err), MEL_EDATA);
    assert_non_null(strstr(err.text, "frame: no rows"));
    struct ArrowArrayStream released = { 0 };
    assert_int_equal(mel_table_from_arrow(&table, &released, "frame", NULL, &err), MEL_EINVAL);
}

int main(void)
{
    const struct CMUnitTest tests[] = { cmocka_unit_test(test_formats), cmocka_unit_test(test_chunks),
                                        cmocka_unit_test(test_views), cmocka_unit_test(test_refusals),
                                        cmocka_unit_test(test_limits) };
    return cmocka_run_group_tests(tests, NULL, test_teardown);
}

/* Reading and writing NPY files: types, headers, shapes that cannot be. */
#include "support/tables.h"
#include "support/test.h"

#include "base/buffer.h"
#include "data/shared.h"
#include "data/source.h"

#include <math.h>
#include <stdio.h>
#include <string.h>
#include <unistd.h>

/* A file of the given version and dictionary, followed by n items of `width` bytes, each the low bytes
 * of a value, in the byte order asked for. */
static void make_file(mel_buffer *out, unsigned version, const char *dictionary, size_t n,
                      const uint64_t *bits, size_t width, bool big)
{
    mel_buffer_init(out, 1 << 20);
    const size_t length = strlen(dictionary);
    const unsigned char prefix[12] = { 0x93,
                                       'N',
                                       'U',
                                       'M',
                                       'P',
                                       'Y',
                                       (unsigned char)version,
                                       0,
                                       (unsigned char)(length & 255),
                                       (unsigned char)(length >> 8),
                                       0,
                                       0 };
    mel_buffer_add(out, prefix, version == 1 ? 10 : 12);
    mel_buffer_puts(out, dictionary);
    for (size_t i = 0; i < n; i++)
        for (size_t k = 0; k < width; k++) {
            const char byte = (char)(bits[i] >> (8 * (big ? width - 1 - k : k)));
            mel_buffer_add(out, &byte, 1);
        }
}

static uint64_t bits_of(double x, char kind, size_t width)
{
    uint64_t bits = 0;
    if (kind == 'f' && width == 8) {
        memcpy(&bits, &x, 8);
    } else if (kind == 'f') {
        const float f = (float)x;
        uint32_t low;
        memcpy(&low, &f, 4);
        bits = low;
    } else {
        bits = (uint64_t)(int64_t)x;
    }
    return bits;
}

static void test_types(void **state)
{
    (void)state;
    static const struct {
        char kind;
        size_t width;
        double value[6];
    } types[] = {
        { 'f', 8, { 1.5, -2.25, 0.1, 1e300, -0.0, 5e-324 } },
        { 'f', 4, { 1.5, -2.25, 0.5, 0x1p100, -0.0, 0x1p-149 } },
        { 'i', 8, { 1, -2, 9007199254740992.0, -9007199254740992.0, 0, 7 } },
        { 'i', 4, { 1, -2, 2147483647, -2147483648.0, 0, 7 } },
        { 'i', 2, { 1, -2, 32767, -32768, 0, 7 } },
        { 'i', 1, { 1, -2, 127, -128, 0, 7 } },
        { 'u', 8, { 1, 2, 9007199254740992.0, 3, 0, 7 } },
        { 'u', 4, { 1, 2, 4294967295.0, 3, 0, 7 } },
        { 'u', 2, { 1, 2, 65535, 3, 0, 7 } },
        { 'u', 1, { 1, 2, 255, 3, 0, 7 } },
        { 'b', 1, { 1, 0, 1, 1, 0, 0 } },
    };
    for (size_t t = 0; t < COUNT(types); t++)
        for (unsigned form = 0; form < 12; form++) {
            const bool fortran = form & 1, big = form & 2 && types[t].width > 1;
            const unsigned version = 1 + form / 4;
            uint64_t bits[6];
            for (size_t i = 0; i < 6; i++) /* 3 rows, 2 columns */
                bits[fortran ? i % 2 * 3 + i / 2 : i] =
                    bits_of(types[t].value[i], types[t].kind, types[t].width);
            char dictionary[128];
            const char order = types[t].width == 1 ? '|' : big ? '>' : '<';
            (void)snprintf(dictionary, sizeof dictionary,
                           "{'descr': '%c%c%zu', 'fortran_order': %s, 'shape': (3, 2), }          \n", order,
                           types[t].kind, types[t].width, fortran ? "True" : "False");
            mel_buffer file;
            make_file(&file, version, dictionary, 6, bits, types[t].width, big);
            mel_table *table;
            mel_error err;
            assert_ok(mel_table_read_memory(&table, file.data, file.size, "t.npy", NULL, &err), &err);
            assert_int_equal(mel_table_rows(table), 3);
            assert_int_equal(mel_table_columns(table), 2);
            assert_string_equal(mel_table_column_name(table, 1), "c2");
            for (size_t i = 0; i < 6; i++)
                assert_memory_equal(&mel_table_numbers(table, i % 2)[i / 2], &types[t].value[i],
                                    sizeof(double));
            assert_int_equal(mel_table_row_number(table, 2), 3);
            mel_table_free(table);
            mel_buffer_free(&file);
        }
}

/* Dictionaries that NumPy writes, wrote once, or might write. */
static void test_headers(void **state)
{
    (void)state;
    static const struct {
        const char *dictionary;
        size_t rows, columns;
    } rows[] = {
        { "{'descr': '<f8', 'fortran_order': False, 'shape': (6,), }", 6, 1 },
        { "{'descr': '<f8', 'fortran_order': False, 'shape': (6,)}", 6, 1 },
        { "{'descr': '<f8', 'fortran_order': True, 'shape': (6), }", 6, 1 },
        { "{\"shape\": (2, 3), \"fortran_order\": False, \"descr\": \"<f8\"}\n", 2, 3 },
        { "  { 'descr' : '=f8' , 'fortran_order':False,'shape':(1,6,)}  \n", 1, 6 },
        { "{'descr': '<f8', 'fortran_order': False, 'shape': (3 , 2), }            \n", 3, 2 },
    };
    const uint64_t zeros[6] = { 0 };
    for (size_t i = 0; i < COUNT(rows); i++) {
        mel_buffer file;
        make_file(&file, 1, rows[i].dictionary, 6, zeros, 8, false);
        mel_table *table;
        mel_error err;
        mel_read_options opt;
        mel_read_options_init(&opt);
        opt.format = i % 2 == 0 ? MEL_FORMAT_NPY : MEL_FORMAT_AUTO; /* by its magic */
        assert_ok(mel_table_read_memory(&table, file.data, file.size, "unnamed", &opt, &err), &err);
        assert_int_equal(mel_table_rows(table), rows[i].rows);
        assert_int_equal(mel_table_columns(table), rows[i].columns);
        mel_table_free(table);
        mel_buffer_free(&file);
    }
}

static void test_limits(void **state)
{
    (void)state;
    const uint64_t zeros[6] = { 0 };
    mel_buffer file;
    make_file(&file, 1, "{'descr': '<f8', 'fortran_order': False, 'shape': (3, 2)}", 6, zeros, 8, false);
    for (int which = 0; which < 4; which++) {
        mel_read_options opt;
        mel_read_options_init(&opt);
        opt.max_rows = which == 0 ? 2 : 3;
        opt.max_columns = which == 1 ? 1 : 2;
        opt.max_bytes = which == 2 ? file.size - 1 : file.size;
        mel_table *table;
        mel_error err;
        const mel_status status = mel_table_read_memory(&table, file.data, file.size, "t.npy", &opt, &err);
        assert_int_equal(status, which == 3 ? MEL_OK : MEL_ELIMIT);
        mel_table_free(table);
    }
    mel_read_options opt;
    mel_read_options_init(&opt);
    opt.overrides = &(mel_column_override){ "c1", MEL_COLUMN_TEXT };
    opt.n_overrides = 1;
    mel_table *table;
    assert_int_equal(mel_table_read_memory(&table, file.data, file.size, "t.npy", &opt, NULL), MEL_EINVAL);
    opt.overrides = &(mel_column_override){ "colour", MEL_COLUMN_TEXT };
    mel_error err;
    assert_int_equal(mel_table_read_memory(&table, file.data, file.size, "t.npy", &opt, &err), MEL_EDATA);
    assert_string_equal(err.text, "t.npy: there is no column \"colour\"; there are c1, c2");
    mel_buffer_free(&file);
}

/* Shapes whose size in bytes wraps around, with every limit lifted. */
static void test_huge_shapes(void **state)
{
    (void)state;
    static const char *const shapes[] = {
        "(2, 2305843009213693952)", "(2305843009213693952, 2)",
        "(1, 2305843009213693953)", "(4294967296, 4294967296)",
        "(1152921504606846977, 2)", "(18446744073709551615, 18446744073709551615)",
    };
    const uint64_t zeros[6] = { 0 };
    for (size_t i = 0; i < COUNT(shapes); i++) {
        char dictionary[160];
        (void)snprintf(dictionary, sizeof dictionary, "{'descr': '<f8', 'fortran_order': False, 'shape': %s}",
                       shapes[i]);
        mel_buffer file;
        make_file(&file, 1, dictionary, 6, zeros, 8, false);
        mel_read_options opt;
        mel_read_options_init(&opt);
        opt.max_rows = opt.max_columns = SIZE_MAX;
        mel_table *table;
        mel_error err;
        print_message("  %s\n", shapes[i]);
        assert_int_equal(mel_table_read_memory(&table, file.data, file.size, "t.npy", &opt, &err), MEL_EDATA);
        assert_null(table);
        mel_buffer_free(&file);
    }
}

/* A byte order that is a NUL byte is not one of the four. */
static void test_nul_byte_order(void **state)
{
    (void)state;
    const uint64_t zeros[6] = { 0 };
    mel_buffer file;
    make_file(&file, 1, "{'descr': '<f8', 'fortran_order': False, 'shape': (3, 2)}", 6, zeros, 8, false);
    char *order = memchr(file.data, '<', file.size);
    assert_non_null(order);
    *order = '\0';
    mel_table *table;
    mel_error err;
    assert_int_equal(mel_table_read_memory(&table, file.data, file.size, "t.npy", NULL, &err), MEL_EDATA);
    assert_non_null(strstr(err.text, "items of type"));
    mel_buffer_free(&file);
}

static void test_write_and_read(void **state)
{
    (void)state;
    const double values[6] = { 1.5, -2.25, 0.1, 1e300, -0.0, 5e-324 };
    static const size_t shapes[][2] = { { 3, 2 }, { 2, 3 }, { 6, 1 }, { 1, 6 }, { 1, 1 } };
    for (size_t k = 0; k < COUNT(shapes); k++) {
        const char *path = test_path("written.npy");
        mel_error err;
        mel_table *table;
        test_write_npy(path, shapes[k][0], shapes[k][1], values);
        assert_ok(mel_table_read(&table, path, NULL, &err), &err);
        assert_int_equal(mel_table_rows(table), shapes[k][0]);
        assert_int_equal(mel_table_columns(table), shapes[k][1]);
        for (size_t i = 0; i < shapes[k][0] * shapes[k][1]; i++)
            assert_memory_equal(&mel_table_numbers(table, i % shapes[k][1])[i / shapes[k][1]], &values[i],
                                sizeof(double));
        mel_table_free(table);
        /* NumPy maps the items in place: they start at a multiple of 64 bytes */
        FILE *file = fopen(path, "rb");
        assert_non_null(file);
        assert_int_equal(fseek(file, 0, SEEK_END), 0);
        assert_int_equal((size_t)ftell(file) % 64, shapes[k][0] * shapes[k][1] * 8 % 64);
        fclose(file);
    }
}

/* A file that is cut off or written to after it was opened is refused, before its bytes are looked at and
 * after; what cannot be mapped is read. */
static void test_changed_files(void **state)
{
    (void)state;
    const double values[2000] = { 0 };
    const char *path = test_path("changed.npy");
    for (int when = 0; when < 3; when++) {
        mel_error err;
        mel_source *source;
        const char *bytes;
        size_t n;
        test_write_npy(path, 1000, 2, values);
        assert_ok(mel_source_open(&source, path, 1 << 20, &err), &err);
        if (when == 0)
            assert_int_equal(truncate(path, 200), 0);
        mel_status status = mel_source_map(&bytes, &n, source, UINT64_MAX, &err);
        if (when > 0) {
            assert_ok(status, &err);
            assert_ok(mel_source_unchanged(source, &err), &err);
            assert_memory_equal(bytes, "\x93NUMPY", 6);
            assert_int_equal(n % 64, sizeof values % 64);
            assert_int_equal(truncate(path, when == 1 ? 200 : (off_t)n + 1), 0);
            status = mel_source_unchanged(source, &err);
        }
        assert_int_equal(status, MEL_EDATA);
        assert_non_null(strstr(err.text, "changed while it was read"));
        mel_source_free(source);
    }
}

/* As NumPy itself writes it. */
static void test_written_header(void **state)
{
    (void)state;
    const size_t none = 0, two = 2, most = SIZE_MAX;
    const struct {
        const char *item;
        size_t rows;
        const size_t *columns;
        const char *text;
        size_t bytes;
    } rows[] = {
        { "<f8", 3, &two, "{'descr': '<f8', 'fortran_order': False, 'shape': (3, 2), }", 128 },
        { "<i8", 3, NULL, "{'descr': '<i8', 'fortran_order': False, 'shape': (3,), }", 128 },
        { ">f8", 4, &none, "{'descr': '>f8', 'fortran_order': False, 'shape': (4, 0), }", 128 },
        { "<f8", most, &most,
          "{'descr': '<f8', 'fortran_order': False, 'shape': (18446744073709551615, 18446744073709551615), }",
          128 },
    };
    for (size_t i = 0; i < COUNT(rows); i++) {
        char header[MEL_NPY_START_BYTES];
        const size_t n = strlen(rows[i].text);
        assert_int_equal(mel_npy_start(header, rows[i].item, rows[i].rows, rows[i].columns), rows[i].bytes);
        assert_memory_equal(header, "\x93NUMPY\x01\x00\x76\x00", 10);
        assert_memory_equal(header + 10, rows[i].text, n);
        for (size_t at = 10 + n; at + 1 < rows[i].bytes; at++)
            assert_int_equal(header[at], ' ');
        assert_int_equal(header[rows[i].bytes - 1], '\n');
    }
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_types),          cmocka_unit_test(test_changed_files),
        cmocka_unit_test(test_headers),        cmocka_unit_test(test_limits),
        cmocka_unit_test(test_huge_shapes),    cmocka_unit_test(test_nul_byte_order),
        cmocka_unit_test(test_write_and_read), cmocka_unit_test(test_written_header),
    };
    return cmocka_run_group_tests(tests, NULL, test_teardown);
}

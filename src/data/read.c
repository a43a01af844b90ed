#include "data/read.h"

#include "data/csv.h"
#include "data/show.h"

#include <ctype.h>
#include <stdlib.h>
#include <string.h>
#include <strings.h>

void mel_read_options_init(mel_read_options *opt)
{
    *opt = (mel_read_options){ .struct_size = sizeof *opt,
                               .delimiter = ',',
                               .max_rows = 100000000,
                               .max_columns = 100000,
                               .max_bytes = (uint64_t)8 << 30,
                               .max_categories = 1000000 };
}

static mel_status check_options(const mel_read_options *opt, mel_error *err)
{
    const unsigned char d = (unsigned char)opt->delimiter;
    const bool part_of_cells = d >= 0x80 || isalnum(d) || strchr("\"+-. _?", d) != NULL;
    if (part_of_cells || (iscntrl(d) && d != '\t'))
        return mel_fail(err, MEL_EINVAL, "%s cannot separate cells; a comma, semicolon, tab or bar can",
                        mel_show(&opt->delimiter, 1).text);
    if (opt->format < MEL_FORMAT_AUTO || opt->format > MEL_FORMAT_LIBSVM)
        return mel_fail(err, MEL_EINVAL, "%d is not a file format", (int)opt->format);
    if (opt->threads < 0)
        return mel_fail(err, MEL_EINVAL, "%d threads", opt->threads);
    for (size_t i = 0; i < opt->n_overrides; i++)
        if (opt->overrides[i].name == NULL || opt->overrides[i].type < MEL_COLUMN_AUTO ||
            opt->overrides[i].type > MEL_COLUMN_TEXT)
            return mel_fail(err, MEL_EINVAL, "column type %zu has no name or is none", i + 1);
    return MEL_OK;
}

mel_status mel_read_options_take(mel_read_options *out, const mel_read_options *opt, mel_error *err)
{
    mel_read_options_init(out);
    const mel_status status = mel_options_take(out, sizeof *out, opt, "read options", err);
    return status == MEL_OK && opt != NULL ? check_options(out, err) : status;
}

mel_status mel_refuse_overrides(const mel_table *table, const mel_read_options *opt, mel_error *err)
{
    for (size_t i = 0; i < opt->n_overrides; i++)
        if (mel_table_find(table, opt->overrides[i].name) == SIZE_MAX)
            return mel_fail(err, MEL_EDATA, "there is no column %s",
                            mel_show_text(opt->overrides[i].name).text);
    return opt->n_overrides == 0 ? MEL_OK : mel_fail(err, MEL_EINVAL, "column types can be set for CSV only");
}

static bool ends_with(const char *name, size_t n, const char *ending)
{
    const size_t k = strlen(ending);
    return n >= k && strncasecmp(name + n - k, ending, k) == 0;
}

mel_format mel_format_of_name(const char *name)
{
    static const struct {
        const char *ending;
        mel_format format;
    } known[] = { { ".csv", MEL_FORMAT_CSV },
                  { ".npy", MEL_FORMAT_NPY },
                  { ".svm", MEL_FORMAT_LIBSVM },
                  { ".libsvm", MEL_FORMAT_LIBSVM },
                  { ".svmlight", MEL_FORMAT_LIBSVM } };
    size_t n = strlen(name);
    if (ends_with(name, n, ".gz"))
        n -= 3;
    for (size_t i = 0; i < sizeof known / sizeof *known; i++)
        if (ends_with(name, n, known[i].ending))
            return known[i].format;
    return MEL_FORMAT_AUTO;
}

/* "1 3:0.5 ...": a word, blanks, digits, a colon. */
static bool looks_like_libsvm(const char *p)
{
    while (*p != '\0' && !isspace((unsigned char)*p))
        p++;
    while (*p == ' ' || *p == '\t')
        p++;
    const char *const digits = p;
    while (isdigit((unsigned char)*p))
        p++;
    return p > digits && *p == ':';
}

static mel_status format_of_content(mel_format *format, mel_source *source, mel_error *err)
{
    char start[256];
    size_t got = 0;
    mel_status status = mel_source_read(source, start, sizeof start - 1, &got, err);
    if (status == MEL_OK)
        status = mel_source_rewind(source, err);
    start[got] = '\0';
    *format = got >= 6 && memcmp(start, "\x93NUMPY", 6) == 0 ? MEL_FORMAT_NPY
              : looks_like_libsvm(start)                     ? MEL_FORMAT_LIBSVM
                                                             : MEL_FORMAT_CSV;
    return status;
}

mel_status mel_read_csv(mel_table **out, mel_source *source, const char *name, const mel_read_options *opt,
                        mel_error *err)
{
    mel_csv csv;
    mel_table *table = NULL;
    mel_status status = mel_csv_open(&csv, source, name, opt, err);
    if (status == MEL_OK && (table = mel_csv_new_table(&csv)) == NULL)
        status = mel_fail_memory(err, "a table");
    size_t n_rows;
    if (status == MEL_OK)
        status = mel_csv_rows(&csv, table, SIZE_MAX, &n_rows, err);
    if (status == MEL_OK)
        status = mel_csv_settle(&csv, table, err);
    if (status == MEL_OK)
        mel_csv_finish_table(&csv, table);
    mel_csv_close(&csv);
    if (status != MEL_OK) {
        mel_table_free(table);
        return status;
    }
    *out = table;
    return MEL_OK;
}

/* Uses up the source. */
static mel_status read_source(mel_table **out, mel_source *source, const char *name,
                              const mel_read_options *opt, mel_error *err)
{
    mel_format format = opt->format != MEL_FORMAT_AUTO ? opt->format : mel_format_of_name(name);
    mel_status status = format == MEL_FORMAT_AUTO ? format_of_content(&format, source, err) : MEL_OK;
    if (status == MEL_OK && format == MEL_FORMAT_CSV) {
        status = mel_read_csv(out, source, name, opt, err);
        if (status == MEL_OK)
            (*out)->format = format;
        return status;
    }
    char *bytes = NULL;
    size_t n = 0;
    if (status == MEL_OK)
        status = mel_source_all(&bytes, &n, source, 1, err);
    mel_source_free(source);
    if (status == MEL_OK)
        status = format == MEL_FORMAT_NPY ? mel_read_npy(out, bytes, n, name, opt, err)
                                          : mel_read_libsvm(out, bytes, n, name, opt, err);
    if (status == MEL_OK)
        (*out)->format = format;
    free(bytes);
    return status;
}

mel_status mel_table_read(mel_table **out, const char *path, const mel_read_options *opt, mel_error *err)
{
    *out = NULL;
    mel_read_options options;
    mel_status status = mel_read_options_take(&options, opt, err);
    if (status != MEL_OK)
        return status;
    mel_source *source;
    status = mel_source_open(&source, path, options.max_bytes, err);
    if (status == MEL_OK)
        status = read_source(out, source, path, &options, err);
    return status == MEL_OK ? MEL_OK : mel_fail_in(err, status, "%s", mel_show_file(path).text);
}

mel_status mel_table_read_memory(mel_table **out, const void *bytes, size_t n, const char *name,
                                 const mel_read_options *opt, mel_error *err)
{
    *out = NULL;
    mel_read_options options;
    mel_status status = mel_read_options_take(&options, opt, err);
    if (status != MEL_OK)
        return status;
    mel_source *source;
    status = mel_source_memory(&source, bytes, n, options.max_bytes, err);
    if (status == MEL_OK)
        status = read_source(out, source, name, &options, err);
    return status == MEL_OK ? MEL_OK : mel_fail_in(err, status, "%s", mel_show_file(name).text);
}

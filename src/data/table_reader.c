/* Options, formats and the way into the readers. */
#include "data/table_reader.h"

#include "data/csv.h"
#include "data/quote.h"
#include "data/shared.h"

#include <ctype.h>
#include <stdlib.h>
#include <string.h>
#include <strings.h>

void mel_read_options_init(mel_read_options *opt)
{
    *opt = (mel_read_options){ .struct_size = sizeof *opt,
                               .max_rows = 100000000,
                               .max_columns = 100000,
                               .max_bytes = (uint64_t)8 << 30,
                               .max_categories = 1000000 };
}

static mel_status check_options(const mel_read_options *opt, mel_error *err)
{
    mel_encoding encoding;
    if (opt->delimiter != 0 && !mel_delimiter_is_possible(opt->delimiter))
        return mel_fail(err, MEL_EINVAL,
                        "%s cannot separate cells; a comma, semicolon, tab, bar or blank can",
                        mel_quote(&opt->delimiter, 1).text);
    if (opt->decimal != 0 && opt->decimal != '.' && opt->decimal != ',')
        return mel_fail(err, MEL_EINVAL, "%s cannot mark decimals; a point or a comma can",
                        mel_quote(&opt->decimal, 1).text);
    if (!mel_encoding_named(&encoding, opt->encoding))
        return mel_fail(err, MEL_EINVAL,
                        "%s is not a known encoding; there are utf-8, utf-16, latin-1 and windows-1252",
                        mel_quote_text(opt->encoding).text);
    if (opt->header < MEL_HEADER_AUTO || opt->header > MEL_HEADER_NO)
        return mel_fail(err, MEL_EINVAL, "%d does not say whether there is a header", (int)opt->header);
    if (opt->format < MEL_FORMAT_AUTO || opt->format > MEL_FORMAT_NPZ)
        return mel_fail(err, MEL_EINVAL, "%d is not a file format", (int)opt->format);
    if (opt->threads < 0)
        return mel_fail(err, MEL_EINVAL, "%d threads", opt->threads);
    for (size_t i = 0; i < opt->n_overrides; i++)
        if (opt->overrides[i].name == NULL || opt->overrides[i].type < MEL_COLUMN_AUTO ||
            opt->overrides[i].type > MEL_COLUMN_TEXT)
            return mel_fail(err, MEL_EINVAL,
                            "column type %zu has no column name, or is not a type of columns", i + 1);
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
    if (opt->overrides_found != NULL) /* they are for other files */
        return MEL_OK;
    for (size_t i = 0; i < opt->n_overrides; i++)
        if (mel_table_find(table, opt->overrides[i].name) == SIZE_MAX)
            return mel_fail_no_column(table->names, opt->overrides[i].name, NULL, err);
    return opt->n_overrides == 0 ? MEL_OK : mel_fail(err, MEL_EINVAL, "column types can be set for CSV only");
}

/* ---- what a file is ---- */

#define BYTES(text) (text), sizeof(text) - 1
#define HTML                                                                                                 \
    "a web page (HTML); download the table itself, in Python: pandas.read_html(FILE)[0].to_csv(NEW, "        \
    "index=False)"
#define JSON "JSON; in Python: pandas.read_json(FILE).to_csv(NEW, index=False)"
#define EXCEL "an Excel workbook; in Excel or LibreOffice use \"Save as\" and choose \"CSV UTF-8\""

static const struct {
    const char *bytes;
    size_t n;
    const char *what;
} foreign[] = {
    { BYTES("\xD0\xCF\x11\xE0\xA1\xB1\x1A\xE1"),
      "an old Excel file (.xls); in Excel or LibreOffice use \"Save as\" and choose \"CSV UTF-8\"" },
    { BYTES("PAR1"), "a Parquet file; in Python: pandas.read_parquet(FILE).to_csv(NEW, index=False)" },
    { BYTES("ARROW1"), "a Feather file; in Python: pandas.read_feather(FILE).to_csv(NEW, index=False)" },
    { BYTES("FEA1"), "a Feather file; in Python: pandas.read_feather(FILE).to_csv(NEW, index=False)" },
    { BYTES("\x89HDF\r\n\x1A\n"), "an HDF5 file; in Python: pandas.read_hdf(FILE).to_csv(NEW, index=False)" },
    { BYTES("SQLite format 3"), "an SQLite database; sqlite3 -header -csv FILE \"select * from TABLE\"" },
    { BYTES("MATLAB 5.0 MAT-file"), "a MATLAB file; in MATLAB: writetable(T, \"NEW.csv\")" },
    { BYTES("RDX2\n"), "an R data file; in R: write.csv(TABLE, \"NEW.csv\", row.names = FALSE)" },
    { BYTES("RDX3\n"), "an R data file; in R: write.csv(TABLE, \"NEW.csv\", row.names = FALSE)" },
    { BYTES("X\n\0\0\0"),
      "an R object (.rds); in R: write.csv(readRDS(FILE), \"NEW.csv\", row.names = FALSE)" },
    { BYTES("\x80\x02"), "a Python pickle; in Python: pandas.read_pickle(FILE).to_csv(NEW, index=False)" },
    { BYTES("\x80\x03"), "a Python pickle; in Python: pandas.read_pickle(FILE).to_csv(NEW, index=False)" },
    { BYTES("\x80\x04\x95"),
      "a Python pickle; in Python: pandas.read_pickle(FILE).to_csv(NEW, index=False)" },
    { BYTES("\x80\x05\x95"),
      "a Python pickle; in Python: pandas.read_pickle(FILE).to_csv(NEW, index=False)" },
    { BYTES("BZh"), "packed with bzip2; unpack it with bunzip2, or pack it with gzip" },
    { BYTES("\xFD"
            "7zXZ"),
      "packed with xz; unpack it with unxz, or pack it with gzip" },
    { BYTES("\x28\xB5\x2F\xFD"), "packed with zstd; unpack it with unzstd, or pack it with gzip" },
};

/* Text that no table starts with. */
#define OWN(format, what)                                                                                    \
    {                                                                                                        \
        "{\"format\":\"melicit-" format "\"", what "; expected a table"                                      \
    }
static const struct {
    const char *start; /* in small letters, behind blanks */
    const char *what;
} texts[] = {
    OWN("metric", "a metric"),
    OWN("model", "a model"),
    OWN("classifier", "a classifier"),
    OWN("session", "a session of questions"),
    OWN("comparisons", "a session of comparisons"),
    { "<!doctype html", HTML },
    { "<html", HTML },
    { "{\"", JSON },
    { "[{", JSON },
    { "[[", JSON },
};

/* The first member of these archives says what they are. */
static const struct {
    const char *start; /* of its name, or of its name and content */
    const char *what;
} archives[] = {
    { "[Content_Types].xml", EXCEL },
    { "_rels/", EXCEL },
    { "docProps/", EXCEL },
    { "xl/", EXCEL },
    { "mimetypeapplication/vnd.oasis.opendocument.",
      "an OpenDocument file (.ods); in LibreOffice use \"Save as\" and choose \"Text CSV\"" },
};

bool mel_magic_is_zip(const char *bytes, size_t n)
{
    return n >= 4 && memcmp(bytes, "PK\3\4", 4) == 0;
}

static const char *name_archive(const char *bytes, size_t n)
{
    enum { NAME = 30 }; /* where the name of the first member stands */
    for (size_t i = 0; i < sizeof archives / sizeof *archives; i++) {
        const size_t length = strlen(archives[i].start);
        if (n >= NAME + length && memcmp(bytes + NAME, archives[i].start, length) == 0)
            return archives[i].what;
    }
    return "a zip archive; unpack it and give the table that is in it";
}

/* Does the text start so, blanks and line ends at its start and within aside? */
static bool starts_with(const char *bytes, size_t n, const char *start)
{
    for (size_t i = 0; *start != '\0'; i++) {
        if (i == n)
            return false;
        if (tolower((unsigned char)bytes[i]) == *start)
            start++;
        else if (!isspace((unsigned char)bytes[i]))
            return false;
    }
    return true;
}

/* A sentence on what the file is and how to get a table out of it; MEL_OK when its first n bytes (128 are
 * enough) are nothing known. */
static mel_status refuse_foreign(const char *bytes, size_t n, mel_error *err)
{
    if (mel_magic_is_zip(bytes, n))
        return mel_fail(err, MEL_EDATA, "the file is %s", name_archive(bytes, n));
    for (size_t i = 0; i < sizeof foreign / sizeof *foreign; i++)
        if (n >= foreign[i].n && memcmp(bytes, foreign[i].bytes, foreign[i].n) == 0)
            return mel_fail(err, MEL_EDATA, "the file is %s", foreign[i].what);
    for (size_t i = 0; i < sizeof texts / sizeof *texts; i++)
        if (starts_with(bytes, n, texts[i].start))
            return mel_fail(err, MEL_EDATA, "the file is %s", texts[i].what);
    return MEL_OK;
}

static bool ends_with(const char *name, size_t n, const char *ending)
{
    const size_t k = strlen(ending);
    return n >= k && strncasecmp(name + n - k, ending, k) == 0;
}

/* What the ending of a file's name says; MEL_FORMAT_AUTO: nothing. */
static mel_format format_of_name(const char *name)
{
    static const struct {
        const char *ending;
        mel_format format;
    } known[] = { { ".csv", MEL_FORMAT_CSV },        { ".tsv", MEL_FORMAT_CSV },
                  { ".npy", MEL_FORMAT_NPY },        { ".npz", MEL_FORMAT_NPZ },
                  { ".svm", MEL_FORMAT_LIBSVM },     { ".libsvm", MEL_FORMAT_LIBSVM },
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

/* An archive whose first member is an array, as NumPy writes it. */
static bool looks_like_npz(const char *start, size_t n)
{
    enum { LENGTH = 26, NAME = 30, ENDING = 4 };
    if (!mel_magic_is_zip(start, n) || n < NAME)
        return false;
    const size_t length = (size_t)(unsigned char)start[LENGTH] | (size_t)(unsigned char)start[LENGTH + 1]
                                                                     << 8;
    return length >= ENDING && NAME + length <= n &&
           memcmp(start + NAME + length - ENDING, ".npy", ENDING) == 0;
}

/* The format of a file: what the caller says, else the ending of its name, else its first bytes. Refuses what
 * other programs write, with how to get a table out of it. */
static mel_status find_format(mel_format *format, mel_source *source, const char *name,
                              const mel_read_options *opt, mel_error *err)
{
    char start[512];
    size_t got = 0;
    TRY(mel_source_read(source, start, sizeof start - 1, &got, err));
    TRY(mel_source_rewind(source, err));
    start[got] = '\0';
    const bool npz = looks_like_npz(start, got);
    *format = opt->format != MEL_FORMAT_AUTO ? opt->format : format_of_name(name);
    if (*format == MEL_FORMAT_AUTO)
        *format = got >= 6 && memcmp(start, "\x93NUMPY", 6) == 0 ? MEL_FORMAT_NPY
                  : npz                                          ? MEL_FORMAT_NPZ
                  : looks_like_libsvm(start)                     ? MEL_FORMAT_LIBSVM
                                                                 : MEL_FORMAT_CSV;
    return npz || *format == MEL_FORMAT_NPZ ? MEL_OK : refuse_foreign(start, got, err);
}

/* How many bytes a packed array takes, by its header; its first bytes are unpacked for that, and no more
 * where it cannot be read. */
static mel_status size_of_packed_npy(uint64_t *out, mel_source *source, const mel_read_options *opt,
                                     mel_error *err)
{
    size_t n = 0;
    MEL_AUTO_MEMORY char *start = mel_alloc(MEL_NPY_START, 1);
    *out = UINT64_MAX;
    TRY(MEL_NEED(start, "the header of an array", err));
    TRY(mel_source_read(source, start, MEL_NPY_START, &n, err));
    return n == MEL_NPY_START ? mel_npy_size(out, start, n, opt, err) : MEL_OK; /* a shorter one is small */
}

static mel_status read_npy(mel_table **out, mel_source *source, const char *name, const mel_read_options *opt,
                           mel_error *err)
{
    const char *bytes = NULL;
    size_t n = 0;
    uint64_t size = UINT64_MAX;
    if (mel_source_packed(source) != 0)
        TRY(size_of_packed_npy(&size, source, opt, err));
    TRY(mel_source_map(&bytes, &n, source, size != UINT64_MAX ? size + 1 : size, err));
    if (n > size)
        return mel_fail(err, MEL_EDATA, "bytes follow the last of the items that the header promises");
    TRY(mel_read_npy(out, bytes, n, name, opt, err));
    const mel_status status = mel_source_unchanged(source, err);
    if (status != MEL_OK) {
        mel_table_free(*out);
        *out = NULL;
    }
    return status;
}

/* An archive is packed already: what makes much more of it has other things in mind. */
static mel_status read_npz(mel_table **out, mel_source *source, const char *name, const mel_read_options *opt,
                           mel_error *err)
{
    enum { ALWAYS = 64 << 20, TIMES = 16 };
    const uint64_t packed = mel_source_packed(source), most = ALWAYS + TIMES * packed;
    const char *bytes = NULL;
    size_t n = 0;
    TRY(mel_source_map(&bytes, &n, source, packed != 0 ? most + 1 : UINT64_MAX, err));
    if (packed != 0 && n > most)
        return mel_fail(err, MEL_ELIMIT,
                        "%llu bytes of gzip unpack to more than %llu bytes; unpack the archive first",
                        (unsigned long long)packed, (unsigned long long)most);
    return mel_read_npz(out, bytes, n, name, opt, err);
}

static mel_status read_source(mel_table **out, mel_source *source, const char *name,
                              const mel_read_options *opt, mel_error *err)
{
    mel_format format = MEL_FORMAT_AUTO;
    TRY(find_format(&format, source, name, opt, err));
    TRY(format == MEL_FORMAT_CSV   ? mel_read_csv(out, source, name, opt, err)
        : format == MEL_FORMAT_NPY ? read_npy(out, source, name, opt, err)
        : format == MEL_FORMAT_NPZ ? read_npz(out, source, name, opt, err)
                                   : mel_read_libsvm(out, source, name, opt, err));
    (*out)->format = format;
    return MEL_OK;
}

mel_status mel_read_file(mel_table **out, const char *path, const mel_read_options *opt, mel_error *err)
{
    MEL_AUTO(mel_source) *source = NULL;
    mel_status status = mel_source_open(&source, path, opt->max_bytes, err);
    if (status == MEL_OK)
        status = read_source(out, source, path, opt, err);
    return status == MEL_OK ? MEL_OK : mel_fail_in(err, status, "%s", mel_quote_file(path).text);
}

/* Fits the rows to those of files that were read before, and tells the caller how the file was read. */
static mel_status match_and_say(mel_table **table, const char *path, const mel_read_options *opt,
                                mel_error *err)
{
    const size_t n_files = opt->shards != NULL && mel_is_pattern(path) ? opt->shards->n : 1;
    const mel_status status = mel_match_rows(table, opt->shards, n_files, path, err);
    if (status == MEL_OK) {
        mel_notes_say(&(*table)->notes, path, (*table)->format, &opt->notice);
        return MEL_OK;
    }
    mel_table_free(*table);
    *table = NULL;
    return status;
}

mel_status mel_table_read(mel_table **out, const char *path, const mel_read_options *opt, mel_error *err)
{
    *out = NULL;
    mel_read_options options;
    TRY(mel_read_options_take(&options, opt, err));
    TRY(mel_is_pattern(path) ? mel_read_pattern(out, path, &options, err)
                             : mel_read_file(out, path, &options, err));
    return match_and_say(out, path, &options, err);
}

mel_status mel_table_read_memory(mel_table **out, const void *bytes, size_t n, const char *name,
                                 const mel_read_options *opt, mel_error *err)
{
    *out = NULL;
    mel_read_options options;
    TRY(mel_read_options_take(&options, opt, err));
    MEL_AUTO(mel_source) *source = NULL;
    mel_status status = mel_source_memory(&source, bytes, n, options.max_bytes, err);
    if (status == MEL_OK)
        status = read_source(out, source, name, &options, err);
    return status == MEL_OK ? match_and_say(out, name, &options, err)
                            : mel_fail_in(err, status, "%s", mel_quote_file(name).text);
}

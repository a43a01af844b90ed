/* The files that options name: found on the disk, among uploads and frames, read as the options say,
 * digested. */
#include "problem/problem.h"

#include "base/digest.h"
#include "base/names.h"
#include "data/shared.h"

#include <dirent.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>

/* Public data sets that are not bundled, under the names that the documentation gives them. */
static const struct {
    const char *file, *source;
} known[] = {
    { "cifar10_features_train", "features of CIFAR-10" },
    { "cifar10_features_test", "features of CIFAR-10" },
    { "compas_two_years", "ProPublica, compas-scores-two-years.csv" },
    { "covtype_sample", "UCI \"Covertype\"" },
    { "law_school", "LSAC National Longitudinal Bar Passage Study" },
    { "mnist_usps_16x16", "MNIST and USPS digits at 16 x 16" },
    { "office_caltech10_surf", "Office-Caltech10 SURF features" },
    { "sensit_vehicle_part", "SensIT vehicle data" },
};

static bool is_file(const char *path)
{
    struct stat info;
    return stat(path, &info) == 0 && !S_ISDIR(info.st_mode);
}

/* The file called `name` in a folder, with or without its ending; *path stays NULL when there is none. */
static mel_status find_in(char **path, const char *folder, const char *name, mel_error *err)
{
    static const char *const endings[] = { "", ".csv.gz", ".csv" };
    const size_t size = strlen(folder) + strlen(name) + sizeof "/.csv.gz";
    MEL_AUTO_MEMORY char *tried = mel_alloc(size, 1);
    TRY(MEL_NEED(tried, "a path", err));
    for (size_t i = 0; i < sizeof endings / sizeof *endings; i++) {
        (void)snprintf(tried, size, "%s/%s%s", folder, name, endings[i]);
        if (is_file(tried)) {
            return MEL_GIVE(path, tried);
        }
    }
    return MEL_OK;
}

/* Names of the data sets in folders; more than fit are left out. */
typedef struct {
    size_t n;
    char name[128][64];
} set_names;

static const char *set_name_at(const void *user, size_t i)
{
    const set_names *sets = user;
    return i < sets->n ? sets->name[i] : NULL;
}

static int compare_names(const void *a, const void *b)
{
    return strcmp(a, b);
}

static void list_sets(set_names *out, const char *const *folders)
{
    out->n = 0;
    for (size_t i = 0; folders != NULL && folders[i] != NULL; i++) {
        DIR *folder = opendir(folders[i]);
        const struct dirent *entry;
        while (folder != NULL && (entry = readdir(folder)) != NULL) {
            const char *ending = strstr(entry->d_name, ".csv");
            const size_t length = ending != NULL ? (size_t)(ending - entry->d_name) : 0;
            if (length > 0 && length < sizeof *out->name && out->n < sizeof out->name / sizeof *out->name)
                (void)snprintf(out->name[out->n++], sizeof *out->name, "%.*s", (int)length, entry->d_name);
        }
        if (folder != NULL)
            (void)closedir(folder);
    }
    qsort(out->name, out->n, sizeof *out->name, compare_names); /* folders have no order of their own */
}

static mel_status suggest_set(const char *given, const char *const *folders, mel_error *err)
{
    enum { MOST = 4 };
    set_names sets;
    list_sets(&sets, folders);
    const char *longer[MOST];
    size_t n = 0;
    for (size_t i = 0; i < sets.n && n < MOST; i++)
        if (strncmp(sets.name[i], given, strlen(given)) == 0 && sets.name[i][strlen(given)] == '_')
            longer[n++] = sets.name[i];
    if (n > 0)
        return mel_fail(err, MEL_EDATA, "%s: no such file; %s %s", given,
                        n == 1 ? "there is the data set" : "there are the data sets",
                        mel_name_list(n, longer).text);
    const char *near = mel_nearest(given, set_name_at, &sets);
    return near != NULL
               ? mel_fail(err, MEL_EDATA, "%s: no such file; did you mean the data set \"%s\"?", given, near)
               : mel_fail(err, MEL_EDATA, "%s: no such file", given);
}

static mel_status refuse_missing(const char *given, const char *const *folders, mel_error *err)
{
    for (size_t i = 0; i < sizeof known / sizeof *known; i++) {
        const size_t n = strlen(known[i].file);
        const char *ending = strncmp(given, known[i].file, n) == 0 ? given + n : "x";
        if (*ending == '\0' || strcmp(ending, ".csv") == 0 || strcmp(ending, ".csv.gz") == 0)
            return mel_fail(
                err, MEL_EDATA,
                "%s: this public data set is not bundled; put %s.csv.gz (source: %s) into a folder and "
                "set MELICIT_DATA to that folder",
                given, known[i].file, known[i].source);
    }
    return suggest_set(given, folders, err);
}

mel_status mel_find_table(char **path, const char *given, const char *const *folders, mel_error *err)
{
    struct stat info;
    *path = NULL;
    if (strcmp(given, "-") == 0 || stat(given, &info) == 0 || mel_is_pattern(given)) {
        *path = mel_strdup(given);
        return *path != NULL ? MEL_OK : mel_fail_memory(err, "a path");
    }
    const bool bare = strchr(given, '/') == NULL;
    for (size_t i = 0; bare && folders != NULL && folders[i] != NULL && *path == NULL; i++)
        TRY(find_in(path, folders[i], given, err));
    return *path != NULL ? MEL_OK : refuse_missing(given, folders, err);
}

static bool is_upload(const char *given, const mel_resources *resources)
{
    return given != NULL && resources->fetch != NULL && strncmp(given, "upload:", 7) == 0;
}

static bool is_frame(const char *given, const mel_resources *resources)
{
    return given != NULL && resources->frame != NULL && strncmp(given, "frame:", 6) == 0;
}

const char *mel_input_name(char memory[MEL_UPLOAD_NAME], const char *key, const char *given,
                           const mel_resources *resources)
{
    const bool upload = is_upload(given, resources);
    if (!upload && !is_frame(given, resources))
        return given;
    (void)snprintf(memory, MEL_UPLOAD_NAME, "%s%s", key, upload ? ".csv" : "");
    return memory;
}

/* A file that was found: on the disk, an upload in memory, or a frame. */
typedef struct {
    char *path;  /* of an upload or a frame what to call it: "data.csv" */
    void *bytes; /* of an upload */
    size_t n;
    const char *frame; /* the name of a frame; lent */
} mel_input;

static void mel_input_clear(mel_input *input)
{
    free(input->path);
    free(input->bytes);
}

static mel_status fetch(mel_input *out, const char *key, const char *given, const mel_resources *resources,
                        mel_error *err)
{
    const mel_status status = resources->fetch(&out->bytes, &out->n, resources->fetch_user, given, err);
    if (status == MEL_EINVAL)
        return mel_fail(err, MEL_EDATA, "%s: %.60s is not stored (any more); upload it again", key, given);
    if (status == MEL_OK && out->bytes == NULL) /* nothing is in it, but it is there */
        out->bytes = mel_alloc(1, 1);
    return status != MEL_OK || out->bytes != NULL ? status : mel_fail_memory(err, "an upload");
}

static mel_status find_input(mel_input *out, const char *key, const char *given,
                             const mel_resources *resources, mel_error *err)
{
    char name[MEL_UPLOAD_NAME];
    if (is_upload(given, resources))
        TRY(fetch(out, key, given, resources, err));
    else if (is_frame(given, resources))
        out->frame = given;
    else if (strcmp(key, "data") == 0)
        return mel_find_table(&out->path, given, resources->folders, err);
    out->path = mel_strdup(mel_input_name(name, key, given, resources));
    return out->path != NULL ? MEL_OK : mel_fail_memory(err, "a path");
}

static mel_status read_frame(mel_table **out, const mel_input *input, const mel_resources *resources,
                             const mel_read_options *opt, mel_error *err)
{
    struct ArrowArrayStream stream = { 0 };
    TRY(resources->frame(&stream, resources->frame_user, input->frame, err));
    const mel_status status = mel_table_from_arrow(out, &stream, input->path, opt, err);
    if (stream.release != NULL)
        stream.release(&stream);
    return status;
}

mel_status mel_input_table(mel_table **out, const char *key, const char *given,
                           const mel_resources *resources, const mel_read_options *read, mel_error *err)
{
    *out = NULL;
    MEL_AUTO_CLEAR(mel_input) input = { 0 };
    TRY(find_input(&input, key, given, resources, err));
    return input.frame != NULL   ? read_frame(out, &input, resources, read, err)
           : input.bytes != NULL ? mel_table_read_memory(out, input.bytes, input.n, input.path, read, err)
                                 : mel_table_read(out, input.path, read, err);
}

mel_status mel_input_table_named(mel_table **out, const char *key, const char *given,
                                 const mel_resources *resources, size_t n, const char *const *name,
                                 const mel_read_options *read, mel_error *err)
{
    mel_read_options expecting = *read;
    expecting.expected_names = name;
    expecting.n_expected_names = n;
    return mel_input_table(out, key, given, resources, &expecting, err);
}

/* "" for standard input. */
static mel_status digest_input(char digest[MEL_DIGEST_HEX], const char *key, const char *given,
                               const mel_resources *resources, mel_error *err)
{
    MEL_AUTO_CLEAR(mel_input) input = { 0 };
    digest[0] = '\0';
    TRY(find_input(&input, key, given, resources, err));
    if (input.frame != NULL) {
        MEL_AUTO(mel_table) *table = NULL;
        TRY(read_frame(&table, &input, resources, NULL, err));
        mel_table_digest(digest, table);
    } else if (input.bytes != NULL)
        mel_digest(input.bytes, input.n, digest);
    else if (strcmp(input.path, "-") != 0)
        return mel_digest_path(digest, input.path, err);
    return MEL_OK;
}

/* One digest of all files of a problem; those of probabilities together, others are alone. */
mel_status mel_problem_digest(char digest[MEL_DIGEST_HEX], const mel_problem_options *opt, mel_error *err)
{
    const struct {
        const char *key, *given;
    } files[] = { { "data", opt->dataset.data },     { "candidates", opt->candidates },
                  { "prevalence", opt->prevalence }, { "probs", opt->probs },
                  { "labels", opt->labels },         { "groups", opt->groups } };
    enum { FILES = sizeof files / sizeof *files };
    char all[FILES][MEL_DIGEST_HEX];
    size_t n = 0;
    digest[0] = '\0';
    for (size_t i = 0; i < FILES; i++) {
        if (files[i].given == NULL)
            continue;
        TRY(digest_input(all[n], files[i].key, files[i].given, &opt->resources, err));
        if (all[n++][0] == '\0')
            return MEL_OK;
    }
    if (opt->probs != NULL)
        mel_digest(all, n * MEL_DIGEST_HEX, digest);
    else if (n > 0)
        memcpy(digest, all[0], MEL_DIGEST_HEX);
    return MEL_OK;
}

/* In the order of mel_format and of mel_header; "auto" comes first. */
const char *const mel_formats[] = { "auto", "csv", "npy", "libsvm", "npz", NULL };
const char *const mel_headers[] = { "auto", "yes", "no", NULL };
const char *const mel_decimals[] = { "auto", ".", ",", NULL };
const char *const mel_encodings[] = { "auto", "utf-8", "utf-16", "latin-1", "windows-1252", NULL };

static mel_status set_delimiter(char *delimiter, const char *text, mel_error *err)
{
    static const struct {
        const char *word;
        char delimiter;
    } words[] = { { "auto", 0 }, { "tab", '\t' }, { "\\t", '\t' }, { "space", ' ' } };
    if (text == NULL)
        return MEL_OK;
    for (size_t i = 0; i < sizeof words / sizeof *words; i++)
        if (strcmp(words[i].word, text) == 0) {
            *delimiter = words[i].delimiter;
            return MEL_OK;
        }
    if (text[0] == '\0' || text[1] != '\0' || strchr("\"\r\n", text[0]) != NULL ||
        (unsigned char)text[0] >= 0x80)
        return mel_fail(err, MEL_EINVAL,
                        "delimiter=%s: expected one character other than a quote, \"tab\", \"space\" or "
                        "\"auto\"",
                        text);
    *delimiter = text[0];
    return MEL_OK;
}

/* The name is the first `length` bytes of a text. */
static mel_status add_override(mel_reader *reader, const char *text, size_t length, mel_column_type type,
                               mel_error *err)
{
    const size_t n = reader->options.n_overrides;
    char *name = MEL_GROW(reader->overrides, n + 1) ? mel_strdup(text) : NULL;
    reader->options.overrides = reader->overrides;
    TRY(MEL_NEED(name, "types of columns", err));
    name[length] = '\0';
    reader->overrides[n] = (mel_column_override){ .name = name, .type = type };
    reader->options.n_overrides++;
    return MEL_OK;
}

mel_status mel_reader_expect(mel_reader *reader, const char *column, mel_column_type type, mel_error *err)
{
    return add_override(reader, column, strlen(column), type, err);
}

/* "zip:text" */
static mel_status parse_override(mel_reader *reader, const char *text, mel_error *err)
{
    const char *colon = strrchr(text, ':');
    const char *type = colon != NULL ? colon + 1 : "";
    const bool number = strcmp(type, "number") == 0;
    if (colon == text || (!number && strcmp(type, "text") != 0))
        return mel_fail(err, MEL_EINVAL, "column=%s: expected NAME:number or NAME:text", text);
    return add_override(reader, text, (size_t)(colon - text), number ? MEL_COLUMN_NUMBER : MEL_COLUMN_TEXT,
                        err);
}

static void set_limits(mel_read_options *options, const mel_reading *reading)
{
    options->max_rows = reading->max_rows != 0 ? reading->max_rows : options->max_rows;
    options->max_columns = reading->max_columns != 0 ? reading->max_columns : options->max_columns;
    options->max_bytes = reading->max_bytes != 0 ? reading->max_bytes : options->max_bytes;
    options->max_categories =
        reading->max_categories != 0 ? reading->max_categories : options->max_categories;
}

mel_status mel_reader_init(mel_reader *out, const mel_reading *reading, const mel_resources *resources,
                           mel_error *err)
{
    *out = (mel_reader){ 0 };
    mel_read_options_init(&out->options);
    out->options.format = (mel_format)reading->format;
    out->options.decimal = reading->decimal == 0 ? 0 : mel_decimals[reading->decimal][0];
    out->options.header = (mel_header)reading->header;
    out->options.encoding = mel_encodings[reading->encoding];
    out->options.member = reading->member;
    out->options.strict = reading->strict;
    out->options.zero_based = reading->zero_based;
    out->options.threads = resources->threads;
    out->options.progress = resources->progress;
    out->options.max_cells = resources->max_cells;
    out->options.notice = resources->notice;
    set_limits(&out->options, reading);
    mel_status status = set_delimiter(&out->options.delimiter, reading->delimiter, err);
    for (size_t i = 0; status == MEL_OK && i < reading->columns.n; i++)
        status = parse_override(out, reading->columns.item[i], err);
    if (status != MEL_OK)
        mel_reader_clear(out);
    return status;
}

mel_status mel_reader_share(mel_reader *reader, mel_error *err)
{
    reader->found = mel_alloc_zero(reader->options.n_overrides + 1, sizeof *reader->found);
    reader->options.overrides_found = reader->found;
    reader->options.shards = &reader->shards;
    return reader->found != NULL ? MEL_OK : mel_fail_memory(err, "types of columns");
}

/* Refuses an option that not all formats read where the one that does was not read. */
static mel_status check_formats(const mel_reading *reading, unsigned were_read, mel_error *err)
{
#define GIVEN_TEXT(value) ((value) != NULL)
#define GIVEN_CHOICE(value) ((value) != 0)
#define GIVEN_WHOLE(value) ((value) != 0)
#define GIVEN_FLAG(value) (value)
#define GIVEN_LIST(value) ((value).n > 0)
#define ROW(said, key, option, type, field, argument, words, only, low, high, help)                          \
    { option, GIVEN_##type(reading->field), MEL_FORMAT_##only },
    const struct {
        const char *option;
        bool given;
        mel_format format;
    } table[] = { MEL_READING_ROWS(ROW) };
#undef ROW
    static const char *const called[] = {
        [MEL_FORMAT_CSV] = "CSV", [MEL_FORMAT_LIBSVM] = "LIBSVM", [MEL_FORMAT_NPZ] = "NPZ"
    };
    for (size_t i = 0; i < sizeof table / sizeof *table; i++)
        if (table[i].given && table[i].format != MEL_FORMAT_AUTO && (were_read & 1U << table[i].format) == 0)
            return mel_fail(err, MEL_EINVAL, "%s is for %s files, and none was read", table[i].option,
                            called[table[i].format]);
    return MEL_OK;
}

mel_status mel_reader_check(const mel_reader *reader, const mel_reading *reading,
                            const mel_resources *resources, mel_error *err)
{
    if (resources->formats == NULL || reading->more_files)
        return MEL_OK;
    const unsigned formats = *resources->formats;
    for (size_t i = 0; i < reading->columns.n && reader->found != NULL; i++)
        if (!reader->found[i] && (formats & 1U << MEL_FORMAT_CSV) != 0)
            return mel_fail(err, MEL_EINVAL, "column=%s: none of the CSV files has such a column",
                            reading->columns.item[i]);
    return check_formats(reading, formats, err);
}

void mel_reader_clear(mel_reader *reader)
{
    for (size_t i = 0; i < reader->options.n_overrides; i++)
        free((char *)(uintptr_t)reader->overrides[i].name);
    free(reader->overrides);
    free(reader->found);
    mel_shards_clear(&reader->shards);
    *reader = (mel_reader){ 0 };
}

/* Finding the files that options name, and reading them from the disk or out of uploads. */
#include "problem/files.h"
#include "base/digest.h"
#include "base/names.h"
#include "data/shared.h"
#include "problem/names.h"

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
    char *tried = mel_alloc(size, 1);
    if (tried == NULL)
        return mel_fail_memory(err, "a path");
    for (size_t i = 0; i < sizeof endings / sizeof *endings; i++) {
        (void)snprintf(tried, size, "%s/%s%s", folder, name, endings[i]);
        if (is_file(tried)) {
            *path = tried;
            return MEL_OK;
        }
    }
    free(tried);
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
    mel_status status = MEL_OK;
    if (strchr(given, '/') == NULL)
        for (size_t i = 0; folders != NULL && folders[i] != NULL && *path == NULL && status == MEL_OK; i++)
            status = find_in(path, folders[i], given, err);
    return status != MEL_OK || *path != NULL ? status : refuse_missing(given, folders, err);
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

static mel_status fetch(mel_input *out, const char *key, const char *given, const mel_resources *resources,
                        mel_error *err)
{
    const mel_status status = resources->fetch(&out->bytes, &out->n, resources->fetch_user, given, err);
    if (status == MEL_EINVAL)
        return mel_fail(err, MEL_EDATA, "%s: %.60s is not stored (any more); upload it again", key, given);
    if (status != MEL_OK)
        return status;
    if (out->bytes == NULL) /* nothing is in it, but it is there */
        out->bytes = mel_alloc(1, 1);
    char name[MEL_UPLOAD_NAME];
    out->path = mel_strdup(mel_input_name(name, key, given, resources));
    return out->bytes != NULL && out->path != NULL ? MEL_OK : mel_fail_memory(err, "an upload");
}

mel_status mel_input_find(mel_input *out, const char *key, const char *given, const mel_resources *resources,
                          mel_error *err)
{
    *out = (mel_input){ .path = NULL };
    if (is_upload(given, resources))
        return fetch(out, key, given, resources, err);
    if (is_frame(given, resources)) {
        out->resources = resources;
        out->frame = mel_strdup(given);
        out->path = mel_strdup(key);
        return out->frame != NULL && out->path != NULL ? MEL_OK : mel_fail_memory(err, "a frame");
    }
    if (strcmp(key, "data") == 0)
        return mel_find_table(&out->path, given, resources->folders, err);
    out->path = mel_strdup(given);
    return out->path != NULL ? MEL_OK : mel_fail_memory(err, "a path");
}

void mel_input_clear(mel_input *input)
{
    free(input->path);
    free(input->bytes);
    free(input->frame);
    *input = (mel_input){ .path = NULL };
}

static mel_status read_frame(mel_table **out, const mel_input *input, const mel_read_options *opt,
                             mel_error *err)
{
    struct ArrowArrayStream stream = { 0 };
    *out = NULL;
    TRY(input->resources->frame(&stream, input->resources->frame_user, input->frame, err));
    const mel_status status = mel_table_from_arrow(out, &stream, input->path, opt, err);
    if (stream.release != NULL)
        stream.release(&stream);
    return status;
}

mel_status mel_input_read(mel_table **out, const mel_input *input, const mel_read_options *opt,
                          mel_error *err)
{
    if (input->frame != NULL)
        return read_frame(out, input, opt, err);
    return input->bytes != NULL ? mel_table_read_memory(out, input->bytes, input->n, input->path, opt, err)
                                : mel_table_read(out, input->path, opt, err);
}

mel_status mel_input_read_named(mel_table **out, const mel_input *input, size_t n, const char *const *name,
                                const mel_read_options *opt, mel_error *err)
{
    mel_read_options expecting = *opt;
    expecting.expected_names = name;
    expecting.n_expected_names = n;
    return mel_input_read(out, input, &expecting, err);
}

mel_status mel_input_digest(char digest[MEL_DIGEST_HEX], const mel_input *input, mel_error *err)
{
    digest[0] = '\0';
    if (input->frame != NULL) {
        mel_table *table;
        TRY(read_frame(&table, input, NULL, err));
        mel_table_digest(digest, table);
        mel_table_free(table);
    } else if (input->bytes != NULL)
        mel_digest(input->bytes, input->n, digest);
    else if (strcmp(input->path, "-") != 0)
        return mel_digest_path(digest, input->path, err);
    return MEL_OK;
}

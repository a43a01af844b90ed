/* Patterns of file names: the files that they stand for, by the name of the part that varies. */
#include "data/pattern.h"

#include "base/buffer.h"
#include "base/digest.h"
#include "base/internal.h"
#include "base/team.h"
#include "data/quote.h"

#include <errno.h>
#include <glob.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>

bool mel_is_pattern(const char *path)
{
    struct stat info;
    return strpbrk(path, "*?[") != NULL && stat(path, &info) != 0;
}

void mel_matches_clear(mel_matches *matches)
{
    for (size_t i = 0; i < matches->n; i++) {
        free(matches->file[i].name);
        free(matches->file[i].key);
    }
    free(matches->file);
    *matches = (mel_matches){ 0 };
}

int mel_key_order(const char *a, const char *b)
{
    static const char digits[] = "0123456789";
    const char *x = a, *y = b;
    while (*x != '\0' && *y != '\0') {
        size_t m = strspn(x, digits), n = strspn(y, digits);
        if (m == 0 || n == 0) {
            if (*x != *y)
                break;
            x++;
            y++;
            continue;
        }
        for (; m > 1 && *x == '0'; m--)
            x++;
        for (; n > 1 && *y == '0'; n--)
            y++;
        const int order = m != n ? (m < n ? -1 : 1) : strncmp(x, y, n);
        if (order != 0)
            return order;
        x += m;
        y += n;
    }
    const int order = strcmp(x, y);
    return order != 0 ? order : strcmp(a, b);
}

static int by_key(const void *a, const void *b)
{
    return mel_key_order(((const mel_matched *)a)->key, ((const mel_matched *)b)->key);
}

/* What the only * stands for, for free(). */
static char *key_of(const char *name, const char *pattern)
{
    const char *star = strpbrk(pattern, "*?[");
    const bool only = *star == '*' && strpbrk(star + 1, "*?[") == NULL;
    char *key = mel_strdup(only ? name + (star - pattern) : name);
    if (key != NULL && only)
        key[strlen(key) - strlen(star + 1)] = '\0';
    return key;
}

static mel_status take_matches(mel_matches *out, const glob_t *found, const char *pattern, mel_error *err)
{
    out->file = mel_alloc_zero(found->gl_pathc, sizeof *out->file);
    if (out->file == NULL)
        return mel_fail_memory(err, "the names of files");
    for (out->n = 0; out->n < found->gl_pathc; out->n++) {
        mel_matched *file = &out->file[out->n];
        file->name = mel_strdup(found->gl_pathv[out->n]);
        file->key = key_of(found->gl_pathv[out->n], pattern);
        if (file->name == NULL || file->key == NULL) {
            out->n++;
            return mel_fail_memory(err, "the names of files");
        }
    }
    qsort(out->file, out->n, sizeof *out->file, by_key); /* not by the locale, as glob() sorts */
    return MEL_OK;
}

static mel_status find(mel_matches *out, const char *pattern, mel_error *err)
{
    *out = (mel_matches){ 0 };
    glob_t found;
    const int code = glob(pattern, GLOB_NOSORT | GLOB_NOESCAPE | GLOB_ERR, NULL, &found);
    mel_status status;
    if (code == GLOB_NOMATCH)
        status = mel_fail(err, MEL_EDATA, "%s: no file matches", mel_quote_file(pattern).text);
    else if (code == GLOB_NOSPACE)
        status = mel_fail_memory(err, "the names of files");
    else if (code != 0)
        status = mel_fail(err, MEL_EIO, "%s: a folder cannot be read: %s", mel_quote_file(pattern).text,
                          strerror(errno));
    else
        status = take_matches(out, &found, pattern, err);
    if (code == 0)
        globfree(&found);
    if (status != MEL_OK)
        mel_matches_clear(out);
    return status;
}

static void digest_names(char digest[MEL_DIGEST_HEX], const mel_matches *files)
{
    mel_buffer names;
    mel_buffer_init(&names, SIZE_MAX / 2);
    for (size_t i = 0; i < files->n; i++)
        mel_buffer_add(&names, files->file[i].name, strlen(files->file[i].name) + 1);
    mel_digest(names.data, names.size, digest);
    mel_buffer_free(&names);
}

/* Ranks read the same files: one that a rank does not see would be another one for it. */
static mel_status check_seen_by_all(const mel_matches *files, const char *pattern, mel_error *err)
{
    const mel_team *team = mel_team_get();
    mel_status status = MEL_OK;
    if (team->size == 1)
        return MEL_OK;
    char(*all)[MEL_DIGEST_HEX] = mel_alloc_zero(team->size, sizeof *all);
    if (all == NULL)
        return mel_fail_memory(err, "the names of files");
    digest_names(all[team->rank], files);
    mel_team_gather(all, team->size, sizeof *all);
    for (size_t r = 1; r < team->size && status == MEL_OK; r++)
        if (memcmp(all[r], all[0], sizeof *all) != 0)
            status = mel_fail(err, MEL_EDATA, "%s: ranks 0 and %zu do not see the same files",
                              mel_quote_file(pattern).text, r);
    free(all);
    return status;
}

mel_status mel_pattern_find(mel_matches *out, const char *pattern, mel_error *err)
{
    mel_status status = find(out, pattern, err);
    if (status == MEL_OK)
        status = check_seen_by_all(out, pattern, err);
    if (status != MEL_OK)
        mel_matches_clear(out);
    return status;
}

static mel_status check_together(const mel_matches *a, const mel_matches *b, mel_error *err)
{
    size_t i = 0;
    while (i < a->n && i < b->n && strcmp(a->file[i].key, b->file[i].key) == 0)
        i++;
    if (i == a->n && i == b->n)
        return MEL_OK;
    const bool first = i == b->n || (i < a->n && mel_key_order(a->file[i].key, b->file[i].key) < 0);
    return mel_fail(err, MEL_EDATA,
                    "files that belong together have the same text in place of the *; %s has no other one",
                    mel_quote_file((first ? a : b)->file[i].name).text);
}

mel_status mel_patterns_find(mel_matches *out, size_t n, const char *const *pattern, mel_error *err)
{
    mel_status status = MEL_OK;
    for (size_t p = 0; p < n && status == MEL_OK; p++)
        if (pattern[p] != NULL)
            status = mel_is_pattern(pattern[p]) ? mel_pattern_find(&out[p], pattern[p], err)
                                                : mel_fail(err, MEL_EINVAL, "%s is one file, %s are several",
                                                           pattern[p], pattern[0]);
    for (size_t p = 1; p < n && status == MEL_OK; p++)
        if (pattern[p] != NULL) {
            status = check_together(&out[0], &out[p], err);
            status =
                status == MEL_OK ? status : mel_fail_in(err, status, "%s and %s", pattern[0], pattern[p]);
        }
    return status;
}

bool mel_pattern_is_files(const char *pattern)
{
    mel_matches files;
    bool all = find(&files, pattern, NULL) == MEL_OK;
    struct stat info;
    for (size_t i = 0; i < files.n; i++)
        all = all && stat(files.file[i].name, &info) == 0 && S_ISREG(info.st_mode);
    mel_matches_clear(&files);
    return all;
}

mel_status mel_digest_path(char digest[MEL_DIGEST_HEX], const char *path, mel_error *err)
{
    if (!mel_is_pattern(path))
        return mel_digest_file(digest, path, err);
    mel_matches files;
    mel_status status = find(&files, path, err);
    char(*each)[MEL_DIGEST_HEX] = status == MEL_OK ? mel_alloc(files.n, sizeof *each) : NULL;
    if (status == MEL_OK && each == NULL)
        status = mel_fail_memory(err, "the digests of files");
    for (size_t i = 0; i < files.n && status == MEL_OK; i++)
        status = mel_digest_file(each[i], files.file[i].name, err);
    if (status == MEL_OK)
        mel_digest(each, files.n * sizeof *each, digest);
    free(each);
    mel_matches_clear(&files);
    return status;
}

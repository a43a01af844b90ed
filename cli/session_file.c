/* Session files for the verbs: what their header says about the space, opening them on it, reporting on them.
 */
#define _XOPEN_SOURCE 700 /* realpath */
#include "session_file.h"
#include "files.h"
#include "output.h"

#include "elicit/shared.h"
#include "metric/shared.h"

#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>

/* --- paths of data, from the folder of the session -------------------------------------------------------
 */

static const char *name_in(const char *path)
{
    const char *slash = strrchr(path, '/');
    return slash != NULL ? slash + 1 : path;
}

/* The folder that a file is in, as typed, with a slash at its end; "" for the working folder. */
static char *folder_of(const char *path)
{
    return cli_format("%.*s", (int)(name_in(path) - path), path);
}

static char *real_folder(const char *path)
{
    char *folder = folder_of(path);
    char *real = realpath(folder[0] != '\0' ? folder : ".", NULL);
    free(folder);
    return real;
}

/* What the two folders have in common, up to a whole name. */
static size_t shared_length(const char *a, const char *b)
{
    size_t shared = 0, i = 0;
    for (; a[i] != '\0' && a[i] == b[i]; i++)
        if (a[i] == '/')
            shared = i;
    const bool whole_a = a[i] == '\0' && (b[i] == '\0' || b[i] == '/');
    return whole_a || (b[i] == '\0' && a[i] == '/') ? i : shared;
}

/* The way from one real folder to another: "", "data/", "../data/"; freed by the caller. */
static char *way(const char *from, const char *to)
{
    const size_t shared = shared_length(from, to);
    char *path = cli_format("%s", "");
    for (const char *at = from + shared; *at != '\0'; at++) {
        if (*at != '/' || at[1] == '\0')
            continue;
        char *longer = cli_format("%s../", path);
        free(path);
        path = longer;
    }
    const char *down = to + shared + (to[shared] == '/');
    char *whole = cli_format("%s%s%s", path, down, down[0] != '\0' ? "/" : "");
    free(path);
    return whole;
}

static json_t *paths_for_session(const char *description, const char *session)
{
    json_t *copy = cli_json_made(cli_format("%s", description));
    char *home = real_folder(session);
    const char *key = NULL;
    for (size_t i = 0; home != NULL && (key = mel_problem_file_key(i)) != NULL; i++) {
        const char *path = json_string_value(json_object_get(copy, key));
        if (path == NULL || path[0] == '/' || !cli_exists(path))
            continue;
        char *folder = real_folder(path);
        char *up = folder != NULL ? way(home, folder) : NULL;
        char *from_home = up != NULL ? cli_format("%s%s", up, name_in(path)) : NULL;
        if (from_home != NULL)
            cli_put(copy, key, cli_json_text(from_home));
        free(from_home);
        free(up);
        free(folder);
    }
    free(home);
    return copy;
}

static void paths_from_session(json_t *description, const char *session)
{
    char *folder = folder_of(session);
    const char *key = NULL;
    for (size_t i = 0; (key = mel_problem_file_key(i)) != NULL; i++) {
        const char *path = json_string_value(json_object_get(description, key));
        if (path == NULL || path[0] == '/')
            continue;
        char *here = cli_format("%s%s", folder, path);
        if (cli_exists(here))
            cli_put(description, key, cli_json_text(here));
        free(here);
    }
    free(folder);
}

/* --- the header --- */

mel_status cli_session_header(json_t **out, const char *path, mel_error *err)
{
    char *text = NULL;
    const mel_status status = mel_session_header(&text, path, err);
    if (status == MEL_EDATA && !cli_exists(path)) {
        char *why = cli_format("%s", err->text);
        (void)cli_fail(err, status,
                       "%s; a new session needs --data, --probs, --candidates, --population or --ball", why);
        free(why);
    }
    if (status != MEL_OK)
        return status;
    *out = cli_json_made(text);
    paths_from_session(json_object_get(*out, "space"), path);
    return MEL_OK;
}

mel_status cli_header_family(mel_family *out, const json_t *header, mel_error *err)
{
    const char *name = json_string_value(json_object_get(header, "family"));
    if (name == NULL || mel_family_parse(out, name, err) != MEL_OK)
        return cli_fail(err, MEL_EDATA, "the session's header names no family of metrics");
    return MEL_OK;
}

void cli_session_names(mel_session_options *opt, const mel_problem *space)
{
    opt->class_names = space->class_name;
    opt->decisions = mel_decisions_usual();
    opt->group_names = space->n_groups > 1 ? space->group_name : NULL;
}

mel_status cli_session_refuse_data(mel_error *err, mel_status status, const char *path)
{
    char *why = cli_format("%s", err->text);
    (void)cli_fail(err, status,
                   "%s is about data that cannot be read: %s; if it was moved, say where it is (--data, ...)",
                   path, why);
    free(why);
    return status;
}

void cli_opened_clear(cli_opened *opened)
{
    mel_session_free(opened->session);
    mel_problem_free(opened->space);
    json_decref(opened->header);
    *opened = (cli_opened){ .header = NULL };
}

/* Whether the path, without links, is in the folder of the file, or in one inside it. */
static bool is_beside(const char *path, const char *file)
{
    char *real = real_folder(file);
    const size_t n = real != NULL ? strlen(real) : 0;
    const bool inside = n > 0 && strncmp(path, real, n) == 0 && (path[n] == '/' || real[n - 1] == '/');
    free(real);
    return inside;
}

/* Whether the file is there, is no device or pipe, and, where *near stays set, is bundled or in the folder of
 * the session or the current one. */
static mel_status look_at_file(bool *near, const char *name, const char *session, mel_error *err)
{
    char *found = NULL;
    if (name == NULL || cli_find_data(&found, name, err) != MEL_OK)
        return name == NULL ? MEL_OK : err->code;
    struct stat what;
    char *real = realpath(found, NULL);
    const bool pattern = mel_is_pattern(found),
               file = pattern ? mel_pattern_is_files(found)
                              : real != NULL && stat(real, &what) == 0 && S_ISREG(what.st_mode);
    const bool bundled = strchr(name, '/') == NULL && strcmp(found, name) != 0;
    *near = *near && file && !pattern && (bundled || is_beside(real, session) || is_beside(real, "."));
    free(found);
    free(real);
    return file ? MEL_OK : cli_fail(err, MEL_EDATA, "%s is not a file", name);
}

/* Anybody may have written the header. Of what it names only files are opened; those elsewhere only if their
 * bytes have the digest that the header gives, so that nobody who does not know a file has it read. */
static mel_status check_header_files(const mel_problem_options *args, const json_t *header,
                                     const char *session, const cli_run *run, mel_error *err)
{
    const json_t *space = json_object_get(header, "space");
    const char *key = NULL;
    mel_status status = MEL_OK;
    bool near = true;
    for (size_t i = 0; status == MEL_OK && (key = mel_problem_file_key(i)) != NULL; i++)
        status = look_at_file(&near, json_string_value(json_object_get(space, key)), session, err);
    if (status != MEL_OK || near)
        return status;
    char digest[MEL_DIGEST_HEX] = "";
    mel_problem_options opt = *args;
    opt.resources = cli_resources(run);
    status = mel_problem_digest(digest, &opt, err);
    const char *given = json_string_value(json_object_get(header, "data"));
    given = given == NULL ? "" : strncmp(given, "sha256:", 7) == 0 ? given + 7 : given;
    return status == MEL_OK && strcmp(given, digest) != 0
               ? cli_fail(err, MEL_EDATA, "what is there is not what the session is about")
               : status;
}

mel_status cli_header_space(mel_problem_options *out, const json_t *header, const cli_run *run,
                            mel_error *err)
{
    const json_t *space = json_object_get(header, "space");
    char *text = space != NULL ? cli_json_written(space) : cli_format("null");
    const mel_status status = mel_problem_from_json(out, text, err);
    free(text);
    if (json_object_get(space, "seed") == NULL)
        out->seed = run->seed;
    return status;
}

mel_status cli_opened_make(cli_opened *out, const char *path, const mel_problem_options *given, cli_run *run,
                           mel_error *err)
{
    *out = (cli_opened){ .header = NULL };
    mel_status status = cli_session_header(&out->header, path, err);
    if (status != MEL_OK)
        return status;
    const json_t *seed = json_object_get(out->header, "seed");
    if (json_is_integer(seed)) /* the split of the data depends on it */
        run->seed = (uint64_t)json_integer_value(seed);
    mel_problem_options from_file, other = MEL_PROBLEM_DEFAULTS;
    status = cli_header_space(&from_file, out->header, run, err);
    if (given != NULL) {
        other = *given;
        other.found_radius = from_file.found_radius;
    }
    mel_family family = MEL_FAMILY_LINEAR;
    if (status == MEL_OK)
        status = cli_header_family(&family, out->header, err);
    const mel_problem_want want = mel_want_of_family(family);
    const bool replaced = given != NULL && mel_problem_inputs(given) != 0;
    if (status == MEL_OK && !replaced)
        status = check_header_files(&from_file, out->header, path, run, err);
    const uint64_t own = run->seed;
    run->seed = from_file.seed; /* other files are split by the same one */
    if (status == MEL_OK)
        status = cli_space_make(&out->space, replaced ? &other : &from_file, &want, run, err);
    run->seed = own;
    mel_problem_options_clear(&from_file);
    if (status == MEL_EDATA && !replaced)
        return cli_session_refuse_data(err, status, path);
    mel_session_options *opt = NULL;
    if (status == MEL_OK)
        status = mel_session_options_read(&opt, path, &out->space->domain, err);
    if (status == MEL_OK) {
        cli_session_names(opt, out->space);
        status = cli_session_open(&out->session, out->space, opt, path, true, err);
    }
    mel_session_options_free(opt);
    return status;
}

mel_status cli_session_open(mel_session **out, const mel_problem *space, const mel_session_options *opt,
                            const char *path, bool read_only, mel_error *err)
{
    json_t *object = paths_for_session(space->description, path);
    char *description = cli_json_written(object);
    json_decref(object);
    const mel_identity identity = {
        .space_json = description,
        .digest = space->digest[0] != '\0' ? space->digest : NULL,
        .read_only = read_only,
    };
    const mel_status status = mel_session_open(out, &space->domain, opt, &identity, path, err);
    free(description);
    return status;
}

mel_status cli_session_report(mel_session *session, const mel_problem *space, mel_report_options *opt,
                              const char *path, mel_error *err)
{
    json_t *description = cli_json_made(cli_format("%s", space->description));
    const char *table = json_string_value(json_object_get(description, "table"));
    char *data =
        table != NULL
            ? cli_format("%s: part of the rows trained a logistic regression, the others measured it.", table)
            : NULL;
    opt->space_options = space->typed;
    opt->data = data;
    char *html = NULL;
    mel_status status = mel_report_session(&html, session, opt, err);
    if (status == MEL_OK)
        status = cli_store_text(path, html, err);
    free(html);
    free(data);
    json_decref(description);
    return status;
}

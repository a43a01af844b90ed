/* Paths of data files between the working folder and the folder of a session file. */
#define _XOPEN_SOURCE 700 /* realpath */
#include "session_paths.h"
#include "files.h"
#include "output.h"

#include "melicit/problem.h"

#include <stdlib.h>
#include <string.h>

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

char *cli_real_folder(const char *path)
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

json_t *cli_paths_for_session(const char *description, const char *session)
{
    json_t *copy = cli_json_made(cli_format("%s", description));
    char *home = cli_real_folder(session);
    const char *key = NULL;
    for (size_t i = 0; home != NULL && (key = mel_problem_file_key(i)) != NULL; i++) {
        const char *path = json_string_value(json_object_get(copy, key));
        if (path == NULL || path[0] == '/' || !cli_exists(path))
            continue;
        char *folder = cli_real_folder(path);
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

void cli_paths_from_session(json_t *description, const char *session)
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

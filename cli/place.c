#include "place.h"
#include "files.h"
#include "output.h"
#include "space_parts.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

typedef struct {
    mel_problem place; /* first: a place is its room */
    cli_space space;
} room;

/* --- the options -------------------------------------------------------------------------------- */

static const char *const files[] = { "data", "probs", "labels", "groups" };

typedef struct {
    json_t *space;                               /* as cli_space_args_from_json takes it */
    char folder[64];                             /* of the uploads; "": none was needed */
    char path[sizeof files / sizeof *files][96]; /* of each upload, or "" */
} wanted_space;

static void wanted_clear(wanted_space *w)
{
    for (size_t i = 0; i < sizeof files / sizeof *files; i++)
        if (w->path[i][0] != '\0')
            (void)unlink(w->path[i]);
    if (w->folder[0] != '\0')
        (void)rmdir(w->folder);
    json_decref(w->space);
}

static mel_status make_folder(wanted_space *w, mel_error *err)
{
    if (w->folder[0] != '\0')
        return MEL_OK;
    char name[sizeof w->folder] = "/tmp/melicit-XXXXXX";
    if (mkdtemp(name) == NULL)
        return cli_fail(err, MEL_EIO, "no temporary folder can be made for an upload");
    memcpy(w->folder, name, sizeof name);
    return MEL_OK;
}

/* Brings an upload into a file. */
static mel_status fetch(wanted_space *w, size_t i, const char *upload, mel_store *store, mel_error *err)
{
    void *bytes = NULL;
    size_t n = 0;
    mel_status status = store != NULL ? mel_store_get(&bytes, &n, store, upload, err) : MEL_EINVAL;
    if (status == MEL_EINVAL)
        return cli_fail(err, MEL_EDATA, "%s: %.60s is not there (any more); upload it again", files[i],
                        upload);
    if (status == MEL_OK)
        status = make_folder(w, err);
    if (status == MEL_OK) {
        (void)snprintf(w->path[i], sizeof w->path[i], "%s/%s.csv", w->folder, files[i]);
        FILE *file = fopen(w->path[i], "wb");
        const bool written = file != NULL && fwrite(bytes, 1, n, file) == n;
        if (file == NULL || fclose(file) != 0 || !written)
            status = cli_fail(err, MEL_EIO, "an upload cannot be written to a temporary file");
    }
    free(bytes);
    return status;
}

/* Every key that a space may have: what is misspelt is refused rather than ignored. */
static mel_status check_keys(const json_t *space, mel_error *err)
{
    static const char *const known[] = {
        "data",       "probs",         "labels",   "groups",     "population",    "ball",
        "radius",     "positive",      "classes",  "smooth",     "label",         "group",
        "weights",    "skip",          "columns",  "delimiter",  "header",        "l2",
        "test_share", "kind",          "evidence", "prevalence", "radius_method", "found_radius",
        "rename",     "probs_columns", "decimal",  "encoding",   "member",        "zero_based"
    };
    const char *key;
    json_t *value;
    json_object_foreach((json_t *)space, key, value)
    {
        bool found = false;
        for (size_t i = 0; i < sizeof known / sizeof *known && !found; i++)
            found = strcmp(known[i], key) == 0;
        if (!found)
            return cli_fail(err, MEL_EDATA, "space.%.40s: there is no such field", key);
    }
    return MEL_OK;
}

/* Fields that the given kind of data does not read are refused, as the options of the same names are. */
static mel_status check_read(const json_t *space, const cli_space_args *args, mel_error *err)
{
    const unsigned given = cli_space_inputs(args);
    for (const cli_option *o = cli_space_options; o->name != NULL && given != 0; o++) {
        char *key = cli_format("%s", strcmp(o->name, "columns") == 0 ? "probs_columns" : o->name);
        for (char *at = key; *at != '\0'; at++)
            *at = *at == '-' ? '_' : *at;
        const bool stray = json_object_get(space, key) != NULL && o->reads != 0 && (o->reads & given) == 0;
        free(key);
        if (stray)
            return cli_fail(err, MEL_EDATA,
                            "space.%s: nothing here reads it; it goes with another kind of space", o->name);
    }
    return MEL_OK;
}

static mel_status read_wanted(wanted_space *w, const json_t *space, mel_store *store, mel_error *err)
{
    mel_status status = check_keys(space, err);
    w->space = json_copy((json_t *)space);
    if (status == MEL_OK && w->space == NULL)
        status = cli_fail(err, MEL_ENOMEM, "not enough memory for a space");
    for (size_t i = 0; i < sizeof files / sizeof *files && status == MEL_OK; i++) {
        const char *name = json_string_value(json_object_get(space, files[i]));
        if (name == NULL)
            continue;
        const bool upload = strncmp(name, "upload:", 7) == 0;
        if (upload)
            status = fetch(w, i, name, store, err);
        if (status == MEL_OK)
            cli_put(w->space, i == 0 ? "table" : files[i], json_string(upload ? w->path[i] : name));
    }
    return status;
}

/* Sentences are for people who do not know the temporary folder. */
static void hide_folder(mel_error *err, const char *folder)
{
    const size_t n = strlen(folder);
    if (err == NULL || n == 0)
        return;
    for (char *at = strstr(err->text, folder); at != NULL; at = strstr(at, folder))
        memmove(at, at + n + (at[n] == '/'), strlen(at + n + (at[n] == '/')) + 1);
}

/* --- the place ---------------------------------------------------------------------------------- */

static void room_free(mel_problem *place)
{
    room *r = (room *)place;
    cli_space_clear(&r->space);
    json_decref(r->place.description);
    free(r->place.class_share);
    free(r->place.typed);
    free(r);
}

static double *class_share(const cli_space *space)
{
    const double *known = space->ball != NULL    ? mel_ball_class_share(space->ball)
                          : space->space != NULL ? mel_space_class_share(space->space)
                                                 : NULL;
    if (known == NULL && space->face == NULL)
        return NULL;
    double *share = cli_alloc_zero(space->n_classes, sizeof *share);
    for (size_t i = 0; i < space->n_classes; i++)
        share[i] = known != NULL ? known[i]
                   : i == 0      ? mel_face_negatives(space->face)
                                 : mel_face_positives(space->face);
    return share;
}

/* Names as the command line would give them: "a,b" for a list, "old=new,.." for an object. */
static void put_joined(json_t *description, const char *key, json_t *names)
{
    if (!json_is_array(names) && !json_is_object(names))
        return;
    char *joined = cli_format("%s", "");
    const size_t n = json_is_array(names) ? json_array_size(names) : json_object_size(names);
    void *at = json_object_iter(names);
    for (size_t i = 0; i < n; i++) {
        const bool pair = at != NULL;
        const char *text = json_string_value(pair ? json_object_iter_value(at) : json_array_get(names, i));
        char *longer =
            cli_format("%s%s%s%s%s", joined, i > 0 ? "," : "", pair ? json_object_iter_key(at) : "",
                       pair ? "=" : "", text != NULL ? text : "");
        free(joined);
        joined = longer;
        at = pair ? json_object_iter_next(names, at) : NULL;
    }
    cli_put(description, key, json_string(joined));
    free(joined);
}

/* The header's description, with names instead of temporary files. */
static void describe(room *r, const wanted_space *w, const json_t *given)
{
    json_t *description = r->place.description = json_deep_copy(r->space.description);
    for (size_t i = 0; i < sizeof files / sizeof *files; i++)
        if (w->path[i][0] != '\0')
            cli_put(description, i == 0 ? "table" : files[i],
                    json_string(w->path[i] + strlen(w->folder) + 1));
    put_joined(description, "classes", json_object_get(given, "classes"));
    put_joined(description, "rename", json_object_get(given, "rename"));
    r->place.typed = cli_space_typed(description);
}

static mel_status make_space(cli_space *out, const wanted_space *w, mel_family family, uint64_t seed,
                             mel_error *err)
{
    cli_space_args args;
    const char **held = NULL;
    const cli_want want = cli_want_of_family(family);
    cli_run run = { .quiet = true, .json = true, .seed = seed, .threads = 1 };
    mel_status status = cli_space_args_from_json(&args, &held, w->space, err);
    if (status == MEL_OK)
        status = check_read(w->space, &args, err);
    if (status == MEL_OK)
        status = cli_space_make(out, &args, &want, &run, err);
    free(held);
    return status;
}

/* One place that is being made. */
typedef struct {
    mel_store *store;
    const json_t *given;
    mel_family family;
    uint64_t seed;
    wanted_space wanted;
    room *room;
} making;

static mel_status make_room(void *user, mel_error *err)
{
    making *m = user;
    cli_space *space = &m->room->space;
    mel_problem *place = &m->room->place;
    mel_status status = read_wanted(&m->wanted, m->given, m->store, err);
    if (status == MEL_OK)
        status = make_space(space, &m->wanted, m->family, m->seed, err);
    if (status != MEL_OK)
        return status;
    place->domain = space->domain;
    place->measured = space->sample;
    place->n_classes = space->n_classes;
    place->n_groups = space->n_groups;
    place->class_name = (const char *const *)space->class_name;
    place->group_name = space->n_groups > 0 ? (const char *const *)space->group_name : NULL;
    place->class_share = class_share(space);
    place->rows = space->n_rows;
    place->digest = space->digest;
    describe(m->room, &m->wanted, m->given);
    return MEL_OK;
}

mel_status cli_make_place(mel_problem **out, void *user, const json_t *space, mel_family family,
                          uint64_t seed, mel_error *err)
{
    *out = NULL;
    mel_error ignored;
    err = err != NULL ? err : &ignored; /* the program's own functions always want one */
    const cli_places *places = user;
    making m = { .store = places->store, .given = space, .family = family, .seed = seed };
    m.room = calloc(1, sizeof *m.room);
    if (m.room == NULL)
        return cli_fail(err, MEL_ENOMEM, "not enough memory for a space");
    m.room->place.free = room_free;
    const mel_status status = cli_survive(make_room, &m, err);
    if (status == MEL_OK) {
        *out = &m.room->place;
    } else {
        hide_folder(err, m.wanted.folder);
        room_free(&m.room->place);
    }
    wanted_clear(&m.wanted);
    return status;
}

/* --- what is bundled ---------------------------------------------------------------------------- */

json_t *cli_datasets(void)
{
    static const struct {
        const char *name, *title, *negative, *positive, *source;
        int rows;
    } known[] = {
        { "breast_cancer_original", "Breast cancer: 699 samples seen under a microscope", "0", "1",
          "UCI Machine Learning Repository, Breast Cancer Wisconsin (Original)", 699 },
        { "breast_cancer_diagnostic", "Breast cancer: 569 samples measured from images", "0", "1",
          "UCI Machine Learning Repository, Breast Cancer Wisconsin (Diagnostic)", 569 },
        { "german_credit", "Credit: 1,000 loans, who paid back", "0", "1",
          "UCI Machine Learning Repository, Statlog (German Credit Data)", 1000 },
    };
    json_t *list = json_array();
    for (size_t i = 0; i < sizeof known / sizeof *known; i++) {
        char *path = NULL;
        mel_error missing;
        if (cli_find_data(&path, known[i].name, &missing) == MEL_OK)
            cli_push(list, json_pack("{s:s, s:s, s:i, s:[s, s], s:s}", "name", known[i].name, "title",
                                     known[i].title, "rows", known[i].rows, "classes", known[i].negative,
                                     known[i].positive, "source", known[i].source));
        free(path);
    }
    return list;
}

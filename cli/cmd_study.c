/* melicit study: what researchers do with studies, on the command line. */
#include "base/json.h"
#include "files.h"
#include "output.h"
#include "study_desk.h"

#include <math.h>
#include <stddef.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

/* At the address that is given, else at that of the server which used the store last. */
static char *link_of(const cli_study_desk *d, const char *id)
{
    void *known = NULL;
    size_t n = 0;
    const char *given = d->args->public_url;
    const bool found =
        given == NULL && mel_store_get(&known, &n, d->app.store, MEL_URL_BLOB, NULL) == MEL_OK && n > 0;
    char *url = found ? cli_format("%.*s", (int)n, (const char *)known)
                      : cli_format("%s", given != NULL ? given : "http://127.0.0.1:8080");
    char *link = cli_format("%s/s/%s", url, id);
    if (given == NULL && !found)
        cli_note(d->run, "no server has used this store yet: the links are those of `melicit serve` without "
                         "--port; --public-url says another address");
    free(url);
    free(known);
    return link;
}

/* A file, or one of the studies that come with the program, by its name. */
static mel_status read_study(char **out, const char *given, mel_error *err)
{
    static const char *const folders[] = { "studies", "../studies" }; /* where installed, in the source */
    if (strchr(given, '/') != NULL || cli_ends_with(given, ".json") || strcmp(given, "-") == 0)
        return cli_study_read(out, given, err);
    for (size_t i = 0; i < sizeof folders / sizeof *folders; i++) {
        MEL_AUTO_MEMORY char *path = cli_format("%s/%s/%s.json", cli_data_folders()[0], folders[i], given);
        if (cli_study_read(out, path, err) == MEL_OK)
            return MEL_OK;
    }
    return cli_fail(err, MEL_EDATA, "%s: neither a file (NAME.json) nor a study that comes with melicit",
                    given);
}

/* --- making ------------------------------------------------------------------------------------- */

static mel_status create(cli_study_desk *d, mel_error *err)
{
    char *text = NULL, id[MEL_ID_TEXT];
    mel_status status = read_study(&text, d->what, err);
    if (text == NULL)
        return status;
    status = mel_manage_create(id, d->app.store, d->app.cache, text, err);
    free(text);
    if (status != MEL_OK)
        return cli_fail_in(err, status, d->what);
    char *link = link_of(d, id);
    cli_put(d->run->result, "id", cli_json_text(id));
    cli_put(d->run->result, "link", cli_json_text(link));
    if (!d->run->json)
        cli_print("study %s, open for participants at %s\n", id, link);
    free(link);
    return MEL_OK;
}

static mel_status check(cli_study_desk *d, mel_error *err)
{
    char *text = NULL;
    mel_study *study = NULL;
    mel_status status = read_study(&text, d->what, err);
    if (text == NULL)
        return status;
    status = mel_study_parse(&study, text, strlen(text), err);
    free(text);
    const size_t phases = study != NULL ? study->n_phases : 0;
    if (status == MEL_OK)
        status = mel_manage_check(NULL, d->app.cache, study, err);
    if (status != MEL_OK)
        return cli_fail_in(err, status, d->what);
    cli_put(d->run->result, "phases", cli_json_count(phases));
    if (!d->run->json)
        cli_print("%s: a study of %zu phases; a simulated participant got through\n", d->what, phases);
    return MEL_OK;
}

static mel_status set_state(cli_study_desk *d, const char *state, mel_error *err)
{
    TRY(mel_store_set_state(d->app.store, d->what, state, err));
    cli_put(d->run->result, "id", cli_json_text(d->what));
    cli_put(d->run->result, "state", cli_json_text(state));
    if (!d->run->json)
        cli_print("study %s is %s\n", d->what, state);
    return MEL_OK;
}

static mel_status open_study(cli_study_desk *d, mel_error *err)
{
    return set_state(d, "open", err);
}

static mel_status close_study(cli_study_desk *d, mel_error *err)
{
    return set_state(d, "closed", err);
}

/* --- looking ------------------------------------------------------------------------------------ */

static mel_status list(cli_study_desk *d, mel_error *err)
{
    json_t *studies = mel_studies_json(d->app.store, err);
    if (studies == NULL)
        return err->code;
    if (!d->run->json && json_array_size(studies) == 0)
        cli_print("there are no studies in %s\n", d->args->store);
    else if (!d->run->json)
        cli_study_print_list(studies);
    cli_put(d->run->result, "studies", studies);
    return MEL_OK;
}

static mel_status show(cli_study_desk *d, mel_error *err)
{
    mel_study_row row;
    mel_status status = mel_store_study(&row, d->app.store, d->what, err);
    if (status != MEL_OK)
        return status;
    json_t *seen = NULL;
    status = mel_manage_monitor(&seen, d->app.store, d->app.cache, d->what, NULL, INFINITY, err);
    json_t *file = NULL;
    if (status == MEL_OK)
        status = mel_json_parse(&file, row.file, strlen(row.file), err);
    if (status == MEL_OK) {
        cli_put(d->run->result, "id", cli_json_text(row.id));
        cli_put(d->run->result, "state", cli_json_text(row.state));
        cli_json_update(d->run->result, seen);
    }
    if (status == MEL_OK && !d->run->json) {
        const json_t *pooled = json_object_get(seen, "pooled");
        const char *title = json_string_value(json_object_get(file, "title"));
        cli_print("%s (%s)\n", title != NULL ? title : "", row.state);
        cli_study_print_people(json_object_get(seen, "live"));
        if (json_is_object(pooled))
            cli_study_print_together(pooled);
        if (json_is_object(json_object_get(seen, "times")))
            cli_study_print_times(json_object_get(seen, "times"));
        cli_study_print_forms(json_object_get(seen, "forms"));
    }
    json_decref(file);
    json_decref(seen);
    mel_study_row_clear(&row);
    return status;
}

/* The words after the study. */
static json_t *labels_given(const cli_study_desk *d)
{
    json_t *labels = json_array();
    for (size_t i = 2; i < d->run->n_operands; i++)
        cli_push(labels, cli_json_text(d->run->operand[i]));
    return labels;
}

static mel_status links(cli_study_desk *d, mel_error *err)
{
    mel_study_row row;
    mel_status status = mel_store_study(&row, d->app.store, d->what, err);
    if (status != MEL_OK)
        return status;
    mel_study_row_clear(&row);
    char *plain = link_of(d, d->what);
    json_t *made = json_array(), *labels = labels_given(d);
    cli_put(d->run->result, "anonymous", cli_json_text(plain));
    if (!d->run->json && json_array_size(labels) == 0)
        cli_print("%s\n", plain);
    if (json_array_size(labels) > 0)
        status = mel_links_note(&d->app, d->what, labels, err);
    for (size_t i = 0; i < json_array_size(labels) && status == MEL_OK; i++) {
        const char *label = json_string_value(json_array_get(labels, i));
        char *query = NULL;
        status = mel_link_query(&query, d->what, label, &d->app, err);
        if (status != MEL_OK)
            break;
        char *url = cli_format("%s%s", plain, query);
        cli_push(made, json_pack("{s:s, s:s}", "label", label, "url", url));
        if (!d->run->json)
            cli_print("%s  %s\n", label, url);
        free(url);
        free(query);
    }
    cli_put(d->run->result, "links", made);
    json_decref(labels);
    free(plain);
    return status;
}

static mel_status revoke(cli_study_desk *d, mel_error *err)
{
    mel_study_row row;
    TRY(mel_store_study(&row, d->app.store, d->what, err));
    mel_study_row_clear(&row);
    json_t *labels = labels_given(d);
    const size_t n = json_array_size(labels);
    const mel_status status =
        n > 0 ? mel_links_revoke(&d->app, d->what, labels, err)
              : cli_fail(err, MEL_EINVAL, "whose links? melicit study revoke STUDY LABEL ...");
    cli_put(d->run->result, "revoked", labels);
    if (status == MEL_OK && !d->run->json)
        cli_print("%zu link%s of study %s will open nothing any more\n", n, n == 1 ? "" : "s", d->what);
    return status;
}

static mel_status export_study(cli_study_desk *d, mel_error *err)
{
    int file = -1;
    size_t n = 0;
    const char *path = d->args->out != NULL ? d->args->out : "-";
    mel_status status = cli_out_check(path, err);
    if (status == MEL_OK && d->run->json && strcmp(path, "-") == 0)
        status = cli_fail(err, MEL_EINVAL, "--json needs standard output for itself: give --out FILE");
    if (status == MEL_OK)
        status = mel_export(&file, &n, d->app.store, d->what, (mel_export_format)d->args->format, err);
    cli_out out = { 0 };
    if (status == MEL_OK)
        status = cli_out_open(&out, path, err);
    if (status == MEL_OK)
        status = cli_out_private(&out, err); /* it has what participants said */
    if (status == MEL_OK)
        status = cli_out_copy(&out, file, err);
    if (status == MEL_OK)
        status = cli_out_commit(&out, err);
    else if (out.stream != NULL)
        cli_out_clear(&out);
    if (file >= 0)
        (void)close(file);
    if (status == MEL_OK) {
        cli_put(d->run->result, "out", cli_json_text(path));
        cli_put(d->run->result, "bytes", cli_json_count(n));
    }
    return status;
}

/* --- participants ------------------------------------------------------------------------------- */

static mel_status delete_whole(cli_study_desk *d, mel_error *err)
{
    if (strcmp(d->what, MEL_NO_STUDY) == 0)
        return cli_fail(err, MEL_EINVAL, "%s is not one study: it has the sessions without one", d->what);
    TRY(mel_manage_delete(d->app.store, d->app.cache, d->what, err));
    TRY(mel_manage_delete_all(d->app.store, d->app.cache, d->app.audit, err));
    cli_put(d->run->result, "deleted", cli_json_text(d->what));
    if (!d->run->json)
        cli_print("study %s and all its participants and answers are erased\n", d->what);
    return MEL_OK;
}

static mel_status delete_one(cli_study_desk *d, mel_error *err)
{
    mel_participant_row row;
    if (d->args->all && d->who == NULL)
        return delete_whole(d, err);
    if (d->args->all)
        return cli_fail(err, MEL_EINVAL, "--all deletes the whole study: leave out %s", d->who);
    if (d->who == NULL)
        return cli_fail(err, MEL_EINVAL, "study delete: which participant? --all deletes the whole study");
    mel_status status = mel_store_participant(&row, d->app.store, d->who, err);
    if (status != MEL_OK)
        return status;
    status = strcmp(row.study, d->what) == 0
                 ? mel_manage_erase(d->app.store, d->app.cache, d->app.audit, &row, "command", err)
                 : cli_fail(err, MEL_EINVAL, "study %s has no participant %s", d->what, d->who);
    mel_participant_row_clear(&row);
    if (status != MEL_OK)
        return status;
    cli_put(d->run->result, "deleted", cli_json_text(d->who));
    if (!d->run->json)
        cli_print("participant %s and all answers are erased\n", d->who);
    return MEL_OK;
}

static mel_status token(cli_study_desk *d, mel_error *err)
{
    char text[MEL_TOKEN_TEXT];
    bool mine = false;
    TRY(mel_admin_token_new(text, &mine, true, &d->app, err));
    cli_put(d->run->result, "token", cli_json_text(text));
    if (!d->run->json)
        cli_print("%s\n", text);
    return MEL_OK;
}

static mel_status logout_all(cli_study_desk *d, mel_error *err)
{
    TRY(mel_admin_logout_all(&d->app, err));
    if (!d->run->json)
        cli_print("all researchers are logged out; the token is the same\n");
    return MEL_OK;
}

/* --- the verb ----------------------------------------------------------------------------------- */

enum { MOST_LABELS = 10000 };
static const struct {
    const char *name;
    mel_status (*run)(cli_study_desk *d, mel_error *err);
    size_t operands, most;
} actions[] = {
    { "create", create, 1, 1 },
    { "check", check, 1, 1 },
    { "list", list, 0, 0 },
    { "show", show, 1, 1 },
    { "links", links, 1, MOST_LABELS },
    { "export", export_study, 1, 1 },
    { "open", open_study, 1, 1 },
    { "close", close_study, 1, 1 },
    { "delete", delete_one, 1, 2 },
    { "rehearse", cli_study_rehearse, 1, 1 },
    { "plan", cli_study_plan, 1, 1 },
    { "token", token, 0, 0 },
    { "revoke", revoke, 1, MOST_LABELS },
    { "logout-all", logout_all, 0, 0 },
};
enum { ACTIONS = sizeof actions / sizeof *actions };

static const char *action_name(const void *user, size_t i)
{
    (void)user;
    return i < ACTIONS ? actions[i].name : NULL;
}

static mel_status find_action(size_t *out, const cli_run *run, mel_error *err)
{
    if (run->n_operands == 0)
        return cli_fail(err, MEL_EINVAL,
                        "what about it? melicit study create, check, list, show, links, revoke, export, "
                        "open, close, delete, rehearse, plan, token or logout-all");
    const char *word = run->operand[0];
    for (*out = 0; *out < ACTIONS && strcmp(actions[*out].name, word) != 0;)
        ++*out;
    if (*out == ACTIONS) {
        const char *near = mel_nearest(word, action_name, NULL);
        return cli_fail(err, MEL_EINVAL, "study %s: there is no such action%s%s%s", word,
                        near != NULL ? "; did you mean \"" : "", near != NULL ? near : "",
                        near != NULL ? "\"?" : "");
    }
    const size_t n = run->n_operands - 1;
    if (n < actions[*out].operands)
        return cli_fail(err, MEL_EINVAL, "study %s: %s", word,
                        actions[*out].run == create || actions[*out].run == check ? "which file?"
                                                                                  : "which study?");
    if (n > actions[*out].most)
        return cli_fail(err, MEL_EINVAL, "study %s: %s is one word too many", word,
                        run->operand[actions[*out].most + 1]);
    return MEL_OK;
}

static mel_status run_study(cli_run *run, const void *arguments, mel_error *err)
{
    size_t action = 0;
    cli_study_desk d = { .run = run, .args = arguments };
    mel_status status = find_action(&action, run, err);
    if (status != MEL_OK)
        return status;
    d.what = run->n_operands > 1 ? run->operand[1] : NULL;
    d.who = run->n_operands > 2 ? run->operand[2] : NULL;
    status = mel_store_open(&d.store, d.args->store, err);
    if (status != MEL_OK)
        return status;
    status = mel_app_init_with_key(&d.app, d.store, d.args->key, cli_data_folders(), err);
    if (status == MEL_OK)
        status = mel_journal_open(&d.app.audit, d.args->audit, err);
    if (status == MEL_OK)
        status = actions[action].run(&d, err);
    mel_app_clear(&d.app);
    mel_store_close(d.store);
    return status;
}

static const char *const formats[] = { "csv", "jsonl", "sqlite", NULL }; /* as mel_export_format */
static const cli_option own_options[] = {
    CLI_COMMON(cli_study_args, "store", TEXT, store, .argument = "FILE.db",
               .help = "the store of melicit serve, which may be running: a file or postgres://..."),
    CLI_ROW(cli_study_args, "key", TEXT, key, .argument = "FILE",
            .help = "the key of all tokens and links, where melicit serve has it in a file of its own"),
    CLI_ROW(cli_study_args, "audit", TEXT, audit, .under = "log", .argument = "FILE",
            .help = "delete: the audit log of melicit serve, which then says who was erased"),
    CLI_COMMON(cli_study_args, "all", FLAG, all, .help = "delete: the whole study, with everybody"),
    CLI_COMMON(cli_study_args, "public-url", TEXT, public_url, .argument = "URL",
               .help = "create, links: where melicit serve is seen (default: where the last server on this "
                       "store was, else http://127.0.0.1:8080)"),
    CLI_COMMON(cli_study_args, "as", CHOICE, format, .choices = formats,
               .help = "export: a row per answer, a JSON object per answer, or a copy of the tables"),
    CLI_COMMON(cli_study_args, "out", OUTPUT, out, .argument = "FILE",
               .help = "export: where it goes; standard output unless given"),
    CLI_COMMON(cli_study_args, "participants", WHOLE, participants, .argument = "N", .low = 1,
               .high = MEL_MOST_REHEARSED, .help = "rehearse, plan: how many"),
    CLI_COMMON(cli_study_args, "metric", TEXT, metric, .argument = "M.json",
               .help = "rehearse, plan: what they want: a metric file or, with two classes, how many false "
                       "alarms a miss is worth; without it they want as few mistakes as possible"),
    CLI_ROW(cli_study_args, "noise", TEXT, noise, .argument = "KIND",
            .help = "rehearse, plan: how they err, as --noise of melicit elicit"),
    CLI_ROW(cli_study_args, "spread", NUMBER, spread, .under = "plan", .argument = "S", .low = 0.0,
            .high = 5.0,
            .help = "how far people differ: standard deviation of the natural logarithm of --metric NUMBER"),
    CLI_ROW(cli_study_args, "width", NUMBER, width, .under = "plan", .argument = "W", .low = 0.0, .high = 1e6,
            .help = "how narrow the interval should be: for a cost ratio the larger end over the smaller "
                    "one, else the radius"),
    { 0 }
};
static const cli_group groups[] = { { "Studies", own_options, 0 }, { 0 } };
static const cli_example examples[] = {
    { "make the study of chapter 8 of the thesis, which comes with the program",
      "melicit study create cancer" },
    { "see what there is", "melicit study list" },
    { "send two simulated participants through it, and look at all",
      "study=$(melicit study list --json | sed -n 's/.*\"id\": \"\\(.*\\)\".*/\\1/p'); melicit study "
      "rehearse $study --participants 2 --metric 7 --noise flip:0.05; melicit study show $study; melicit "
      "study export $study --out answers.csv" },
    { 0 },
};
static const cli_study_args defaults = { .store = "melicit.db",
                                         .participants = 10,
                                         .width = MEL_USUAL_WIDTH };

const cli_command cli_study = {
    .name = "study",
    .summary = "create, inspect, rehearse and export studies",
    .operands = "ACTION [FILE | STUDY [PARTICIPANT | LABEL ...]]",
    .max_operands = 1 + MOST_LABELS,
    .description = "Does on the command line what the researcher's pages do, on the same store, also while "
                   "melicit serve is running: create FILE, check FILE, list, show STUDY, links STUDY [LABEL "
                   "...], revoke STUDY LABEL ..., export STUDY, open STUDY, close STUDY, delete STUDY "
                   "PARTICIPANT, delete STUDY --all, rehearse STUDY, plan STUDY, token, logout-all.\n\n"
                   "create and check send a simulated participant through the study; rehearse sends as many "
                   "as you like, who are stored and marked as simulated. token replaces the researcher's "
                   "token by a new one and, as logout-all does, ends all logins. revoke ends links one by "
                   "one; `links` then makes others for the same labels.",
    .groups = groups,
    .examples = examples,
    .notes = "docs/study-file.md says what is in a study file. Reading the data of a study file needs the "
             "folder in which its files are; bundled data are found anywhere.",
    .args_size = sizeof(cli_study_args),
    .defaults = &defaults,
    .run = run_study,
};

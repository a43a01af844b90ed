/* melicit serve: the web app and the study server. */
#include "browser_oracle.h"
#include "files.h"
#include "output.h"
#include "progress.h"
#include "server/server.h"

#include <signal.h>
#include <spawn.h>
#include <stddef.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>
#include <unistd.h>

extern char **environ;

typedef struct {
    const char *store, *listen, *public_url, *proxy, *key, *log, *audit, *limits;
    uint64_t port, workers, connections, per_address;
    uint64_t joins;
    double deadline, stop_after, store_room, keep_free, upload_room, compute, memory, drain;
    bool open, public, strangers, metrics, questions;
} serve_args;

/* Opens the page in the user's browser; it is no failure when that does not work. */
static void open_browser(const char *url)
{
    char name[] = "xdg-open", *const words[] = { name, (char *)url, NULL };
    pid_t child;
    posix_spawnattr_t attributes;
    sigset_t defaults;
    (void)sigemptyset(&defaults);
    (void)sigaddset(&defaults, SIGPIPE);
    (void)sigaddset(&defaults, SIGXFSZ);
    (void)sigaddset(&defaults, SIGUSR1);
    (void)sigaddset(&defaults, SIGUSR2);
    if (posix_spawnattr_init(&attributes) != 0)
        return;
    (void)posix_spawnattr_setsigdefault(&attributes, &defaults);
    (void)posix_spawnattr_setflags(&attributes, POSIX_SPAWN_SETSIGDEF);
    (void)posix_spawnp(&child, name, NULL, &attributes, words, environ);
    (void)posix_spawnattr_destroy(&attributes);
}

/* With --json the result is printed at once: at the end nobody would want it any more. */
static void announce(cli_run *run, const serve_args *args, const mel_server *server)
{
    const char *url = mel_server_url(server);
    const char *token = mel_server_token(server);
    if (run->json) {
        cli_put(run->result, "url", cli_json_text(url));
        cli_put(run->result, "port", cli_json_count(mel_server_port(server)));
        cli_put(run->result, "store", cli_json_text(args->store));
        cli_put(run->result, "token", token != NULL ? cli_json_text(token) : json_null());
        cli_print_json(run->result);
        run->json = false;
    } else {
        cli_print("melicit is at %s\n", url);
        if (strncmp(args->store, "postgres", 8) != 0)
            cli_print("answers are kept in %s\n", args->store);
        if (token != NULL)
            cli_print("researchers log in at %s/admin with this token, which is shown only now:\n  %s\n", url,
                      token);
        else
            cli_print("researchers log in at %s/admin; `melicit study token` makes a new token\n", url);
        cli_print("Ctrl-C ends it\n");
    }
    (void)fflush(stdout);
    if (args->open)
        open_browser(url);
}

/* --- limits that can be changed while it runs ---------------------------------------------------- */

static const cli_option limit_options[] = {
    CLI_ROW(serve_args, "store-room", NUMBER, store_room, .under = "limits", .argument = "MIB", .high = 1e9,
            .help = "the most that the store may take; beyond nine tenths of it nobody new is let in, beyond "
                    "all of it answers are refused. Unless given: what it takes at the start, and 80% of "
                    "what its disk has free then"),
    CLI_ROW(serve_args, "keep-free", NUMBER, keep_free, .under = "limits", .argument = "MIB", .high = 1e9,
            .help = "room on the store's disk that stays free: nobody new is let in when there is less, "
                    "answers are refused when there is half of it; 0: none. Not for postgres://"),
    CLI_ROW(serve_args, "upload-room", NUMBER, upload_room, .under = "limits", .argument = "MIB", .high = 1e6,
            .help = "the most room that all uploaded tables together may take in the store"),
    CLI_ROW(serve_args, "joins", WHOLE, joins, .under = "limits", .argument = "N", .high = 1000000,
            .help = "how often people at one address may join a study within a minute; sessions of one's own "
                    "half as often, uploads a quarter, answers a hundred times as often, joins of one study "
                    "ten times; beyond that, requests are told when to try again; 0: no limits"),
    CLI_ROW(serve_args, "compute", NUMBER, compute, .under = "limits", .argument = "SECONDS", .high = 1e6,
            .help =
                "processor time that one request may take, a researcher's six times as much; 0: no limit"),
    CLI_ROW(serve_args, "memory", NUMBER, memory, .under = "limits", .argument = "MIB", .high = 1e6,
            .help = "how much the program should take: above it, what nobody needs now is dropped and, if "
                    "that is not enough, further data are refused for the moment; 0: no limit"),
    { 0 }
};

static mel_status set_limit(serve_args *args, const char *path, const char *name, const json_t *value,
                            mel_error *err)
{
    const cli_option *option = limit_options;
    while (option->name != NULL && strcmp(option->name, name) != 0)
        option++;
    if (option->name == NULL)
        return cli_fail(err, MEL_EDATA, "%s: \"%.40s\" is no limit that can be changed while the server runs",
                        path, name);
    const double number = json_number_value(value);
    const bool whole = option->kind == CLI_WHOLE;
    if (!json_is_number(value) || number < option->low || number > option->high ||
        (whole && !json_is_integer(value)))
        return cli_fail(err, MEL_EDATA, "%s: \"%s\" must be a %snumber from %g to %g", path, name,
                        whole ? "whole " : "", option->low, option->high);
    char *field = (char *)args + option->at;
    if (whole)
        *(uint64_t *)field = (uint64_t)number;
    else
        *(double *)field = number;
    return MEL_OK;
}

/* Those of the command line, and in their place those that the file of --limits names. */
static mel_status find_limits(mel_limits *out, const serve_args *given, mel_error *err)
{
    serve_args args = *given;
    if (args.limits != NULL) {
        json_error_t why;
        json_t *file = json_load_file(args.limits, JSON_REJECT_DUPLICATES, &why);
        mel_status status = json_is_object(file)
                                ? MEL_OK
                                : cli_fail(err, MEL_EDATA, "%s: expected a JSON object of limits: %s",
                                           args.limits, file != NULL ? "another value" : why.text);
        const char *name;
        json_t *value;
        json_object_foreach(file, name, value)
        {
            if (status == MEL_OK)
                status = set_limit(&args, args.limits, name, value, err);
        }
        json_decref(file);
        if (status != MEL_OK)
            return status;
    }
    *out = (mel_limits){ .store_room = (int64_t)(args.store_room * 1048576.0),
                         .keep_free = (int64_t)(args.keep_free * 1048576.0),
                         .upload_room = (int64_t)(args.upload_room * 1048576.0),
                         .joins = (unsigned)args.joins,
                         .processor = args.compute,
                         .memory = (size_t)(args.memory * 1048576.0) };
    return MEL_OK;
}

static void reload(const cli_run *run, const serve_args *args, mel_server *server)
{
    mel_limits limits;
    mel_error err;
    mel_status status = find_limits(&limits, args, &err);
    if (status == MEL_OK)
        status = mel_server_reload(server, &limits, &err);
    if (status != MEL_OK)
        cli_warn(run, "nothing is changed: %s", err.text);
}

/* --- running -------------------------------------------------------------------------------------- */

static double now(void)
{
    struct timespec t;
    return clock_gettime(CLOCK_MONOTONIC, &t) == 0 ? (double)t.tv_sec + 1e-9 * (double)t.tv_nsec : 0.0;
}

static const struct timespec moment = { .tv_nsec = 50000000 };

static void wait_for_the_end(const cli_run *run, const serve_args *args, mel_server *server)
{
    const double end = now() + args->stop_after;
    while (!cli_stop_wanted() && (args->stop_after == 0.0 || now() < end)) {
        if (cli_reload_wanted())
            reload(run, args, server);
        (void)nanosleep(&moment, NULL);
    }
}

/* The proxy notices meanwhile that it should send nobody here any more. */
static void drain(mel_server *server, double seconds)
{
    const double end = now() + seconds;
    if (seconds > 0.0)
        mel_server_drain(server);
    while (now() < end)
        (void)nanosleep(&moment, NULL);
}

typedef struct {
    const char *name, *title, *source;
    const char *classes; /* the labels, in one line */
    const char *groups;  /* columns by which rows can be grouped, likewise */
    int rows;
} bundled;

static json_t *words_of(const char *line)
{
    json_t *list = json_array();
    for (const char *at = line + strspn(line, " "); *at != '\0'; at += strspn(at, " ")) {
        const size_t n = strcspn(at, " ");
        cli_push(list, json_stringn(at, n));
        at += n;
    }
    return list;
}

/* The data sets that are there: [{"name", "title", "rows", "classes", "groups", "source"}]. */
static json_t *bundled_datasets(void)
{
    static const bundled known[] = {
        { "mammographic_mass", "Mammography: 961 masses, cancer or not by biopsy",
          "UCI Machine Learning Repository, Mammographic Mass", "benign malignant", "", 961 },
        { "breast_cancer_original", "Breast cancer: 699 samples seen under a microscope",
          "UCI Machine Learning Repository, Breast Cancer Wisconsin (Original)", "0 1", "", 699 },
        { "breast_cancer_diagnostic", "Breast cancer: 569 samples measured from images",
          "UCI Machine Learning Repository, Breast Cancer Wisconsin (Diagnostic)", "0 1", "", 569 },
        { "german_credit", "Credit: 1,000 loans, who paid back",
          "UCI Machine Learning Repository, Statlog (German Credit Data)", "0 1", "sex", 1000 },
        { "vehicle", "Vehicles: 846 outlines, four kinds",
          "UCI Machine Learning Repository, Statlog (Vehicle Silhouettes)", "0 1 2 3", "", 846 },
    };
    json_t *list = json_array();
    for (size_t i = 0; i < sizeof known / sizeof *known; i++) {
        char *path = NULL;
        mel_error missing;
        if (cli_or_exit(cli_find_data(&path, known[i].name, &missing)) == MEL_OK)
            cli_push(list,
                     json_pack("{s:s, s:s, s:i, s:o, s:o, s:s}", "name", known[i].name, "title",
                               known[i].title, "rows", known[i].rows, "classes", words_of(known[i].classes),
                               "groups", words_of(known[i].groups), "source", known[i].source));
        free(path);
    }
    return list;
}

static void end_now(int number)
{
    (void)number;
    _exit(0);
}

/* What is under way gets a moment to end by itself. Nothing that was acknowledged is lost by not waiting for
 * the rest: it is on disk already. */
static void end_soon(void)
{
    enum { SECONDS = 3 };
    const struct sigaction action = { .sa_handler = end_now };
    (void)sigaction(SIGALRM, &action, NULL);
    (void)alarm(SECONDS);
}

static bool is_loopback(const char *address)
{
    return strncmp(address, "127.", 4) == 0 || strcmp(address, "::1") == 0;
}

/* Other machines are let in only by somebody who says so, with TLS in front. */
static mel_status check_public(const cli_run *run, const serve_args *args, mel_error *err)
{
    if (!args->public && !is_loopback(args->listen))
        return cli_fail(err, MEL_EINVAL,
                        "--listen %s lets other machines in: say --public and --public-url https://..., with "
                        "a proxy that does TLS in front (docs/security.md)",
                        args->listen);
    if (args->public && (args->public_url == NULL || strncmp(args->public_url, "https://", 8) != 0))
        return cli_fail(err, MEL_EINVAL,
                        "--public needs --public-url https://HOST: cookies are for TLS only");
    if (args->strangers && !args->public)
        return cli_fail(err, MEL_EINVAL,
                        "--strangers goes with --public; otherwise everybody who reaches the server may");
    if (args->public && args->proxy == NULL)
        cli_warn(run, "without --trust-proxy all participants behind the proxy share the limits of its one "
                      "address; say --trust-proxy and the address of the proxy");
    return MEL_OK;
}

static mel_status run_serve(cli_run *run, const void *arguments, mel_error *err)
{
    const serve_args *args = arguments;
    if (args->questions)
        return cli_serve_questions(run, (uint16_t)args->port, err);
    mel_store *store = NULL;
    mel_server_options opt;
    mel_server_options_init(&opt);
    cli_catch_reload(); /* from now on: opening the store may take a while */
    mel_status status = check_public(run, args, err);
    if (status == MEL_OK)
        status = find_limits(&opt.limits, args, err);
    if (status == MEL_OK)
        status = mel_store_open(&store, args->store, err);
    if (status != MEL_OK)
        return status;
    json_t *datasets = bundled_datasets();
    opt.http.address = args->listen;
    opt.http.port = (uint16_t)args->port;
    opt.http.workers = (unsigned)args->workers;
    opt.http.connections = (unsigned)args->connections;
    opt.http.per_address = (unsigned)args->per_address;
    opt.http.deadline = args->deadline;
    opt.http.proxy = args->proxy;
    opt.public_url = args->public_url;
    opt.closed = args->public && !args->strangers;
    opt.metrics = args->metrics;
    opt.key_path = args->key;
    opt.request_log = args->log;
    opt.audit_log = args->audit;
    opt.store = store;
    opt.folders = cli_data_folders();
    opt.datasets = datasets;
    mel_server *server = NULL;
    status = mel_server_start(&server, &opt, err);
    if (status == MEL_OK) {
        announce(run, args, server);
        if (mel_server_is_full(server))
            cli_warn(run, "there is so little room for the store that nobody new can take part (--limits "
                          "keep-free, store-room)");
        wait_for_the_end(run, args, server);
        drain(server, args->drain);
        end_soon();
    }
    mel_server_stop(server);
    mel_store_close(store);
    (void)alarm(0);
    json_decref(datasets);
    return status;
}

static const cli_option own_options[] = {
    CLI_COMMON(serve_args, "port", WHOLE, port, .argument = "N", .high = 65535,
               .help = "where to listen; 0 takes any that is free"),
    CLI_COMMON(
        serve_args, "listen", TEXT, listen, .argument = "ADDRESS",
        .help =
            "the numeric address to listen on; 0.0.0.0 or :: lets other machines in, which needs --public"),
    CLI_COMMON(
        serve_args, "store", TEXT, store, .argument = "FILE.db",
        .help = "where studies and answers are kept: a file, made when it is not there, or postgres://..."),
    CLI_COMMON(serve_args, "public-url", TEXT, public_url, .argument = "URL",
               .help = "what browsers see when there is a proxy in front, e.g. https://study.example.org; "
                       "with https cookies are for TLS only"),
    CLI_ROW(
        serve_args, "trust-proxy", TEXT, proxy, .argument = "ADDRESS",
        .help =
            "the numeric address of the proxy in front: wrong tokens are then counted for the last address "
            "of its X-Forwarded-For, not for the proxy; from anybody else that header is not believed"),
    CLI_COMMON(serve_args, "public", FLAG, public,
               .help = "for people elsewhere, behind a proxy that does TLS: needs --public-url https://...; "
                       "only researchers start sessions of their own and upload tables. Needed for --listen "
                       "beyond this machine"),
    CLI_ROW(serve_args, "strangers", FLAG, strangers,
            .help = "with --public: everybody may start sessions of their own and upload tables"),
    CLI_ROW(serve_args, "key", TEXT, key, .argument = "FILE",
            .help = "the key of all tokens and links in a file of its own, made where it is missing, instead "
                    "of in the store; all servers on one store share it"),
    CLI_COMMON(serve_args, "log", TEXT, log, .argument = "FILE",
               .help = "append a line of JSON per request of /api: time, client, method, path, status, "
                       "milliseconds; no tokens, no answers"),
    CLI_ROW(serve_args, "audit", TEXT, audit, .under = "log", .argument = "FILE",
            .help = "the same, for the actions of researchers only"),
    CLI_ROW(serve_args, "prometheus", FLAG, metrics, .under = "log",
            .help = "answer GET /metrics for Prometheus: requests, how long they took, memory; not to those "
                    "who come through a proxy"),
    CLI_COMMON(serve_args, "limits", TEXT, limits, .argument = "FILE.json",
               .help = "an object of JSON, {\"joins\": 240}, with those of these limits that can be changed: "
                       "SIGHUP reads it again while the server runs, and opens the logs anew. Beside it "
                       "--limits NAME=VALUE,.. sets them and those from the start"),
    CLI_COMMON(serve_args, "open", FLAG, open, .help = "open the page in a browser"),
    CLI_COMMON(serve_args, "relay", FLAG, questions,
               .help = "only show the questions of another program, as melicit.ask of the Python package "
                       "does: a line of JSON each on standard input (docs/formats.md), answers on standard "
                       "output; the first line has the page's address, which only this machine sees"),
    { 0 }
};
static const cli_option start_options[] = {
    CLI_ROW(serve_args, "workers", WHOLE, workers, .under = "limits", .argument = "N", .low = 1, .high = 256,
            .help = "requests that are answered at the same time; others wait"),
    CLI_ROW(serve_args, "connections", WHOLE, connections, .under = "limits", .argument = "N", .low = 8,
            .high = 60000, .help = "the most at a time, or fewer when the limit of open files is lower"),
    CLI_ROW(serve_args, "per-address", WHOLE, per_address, .under = "limits", .argument = "N", .high = 60000,
            .help = "connections from one address (of IPv6 a /64); a trusted proxy may have all; 0, the "
                    "default: a quarter of all connections"),
    CLI_ROW(serve_args, "deadline", NUMBER, deadline, .under = "limits", .argument = "SECONDS", .low = 1,
            .high = 3600,
            .help =
                "cut off a request that has not arrived, or an answer that was not fetched, after so long"),
    CLI_ROW(serve_args, "drain", NUMBER, drain, .under = "limits", .argument = "SECONDS", .high = 600,
            .help = "when told to stop, answer GET /healthz with 503 for so long and keep serving, so that a "
                    "proxy with several servers first sends everybody to the others"),
    CLI_ROW(serve_args, "stop-after", NUMBER, stop_after, .under = "limits", .argument = "SECONDS",
            .high = 1e9, .help = "end by itself, for trying things out; 0: never"),
    { 0 }
};
static const cli_group groups[] = { { "Server", own_options, 0 },
                                    { "Limits that can be changed", limit_options, 0 },
                                    { "Limits from the start", start_options, 0 },
                                    { 0 } };
static const cli_example examples[] = {
    { "the web app on this machine, for a moment", "melicit serve --port 0 --limits stop-after=0.2" },
    { "behind a proxy that does TLS, with another store",
      "melicit serve --port 0 --public-url https://study.example.org --store studies.db --limits "
      "stop-after=0.2" },
    { "for a program with nothing to ask", "melicit serve --relay --port 0 < /dev/null" },
    { 0 },
};
static const serve_args defaults = { .store = "melicit.db",
                                     .listen = "127.0.0.1",
                                     .port = 8080,
                                     .workers = 16,
                                     .connections = 1024,
                                     .deadline = 10,
                                     .keep_free = 1024,
                                     .upload_room = 2048,
                                     .joins = 120,
                                     .compute = 10,
                                     .memory = 120 };

const cli_command cli_serve = {
    .name = "serve",
    .summary = "the web app: answer questions in a browser, run studies",
    .description = "Serves the web app until Ctrl-C: questions in pictures, results, and studies with many "
                   "participants. Everything is in the program; nothing is fetched from other hosts. Every "
                   "answer is on disk before it is acknowledged, so that killing the program loses none.\n\n"
                   "The first start on a store prints the researcher's token. It is not kept anywhere, only "
                   "a hash of it; `melicit study token` makes a new one.",
    .groups = groups,
    .examples = examples,
    .notes = "With --json one object with url, port, store and token is printed at the start; with --relay, "
             "one that counts them at the end.",
    .args_size = sizeof(serve_args),
    .defaults = &defaults,
    .run = run_serve,
};

/* A person in a browser answers: a page of this machine alone, served while the program waits. */
#include "browser_oracle.h"
#include "base/json.h"
#include "output.h"
#include "progress.h"
#include "server/assets.h"
#include "server/clock.h"
#include "server/http.h"

#include <pthread.h>
#include <sodium.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

enum { TOKEN_BYTES = 16, TOKEN_TEXT = 2 * TOKEN_BYTES + 1 };
static const double last_look = 10.0; /* seconds that a page has to hear that it was the last question */

/* What handlers of requests and the waiting program share. */
struct cli_browser {
    pthread_mutex_t lock;
    pthread_cond_t changed;
    mel_http *http;
    mel_admission *admission;
    char prefix[TOKEN_TEXT + 2]; /* "/TOKEN/": only who was told the address gets in */
    char *url;
    const char *question; /* JSON; NULL: none is open */
    uint32_t number;
    bool replied, ended;
    bool watched, end_seen; /* a page asks for questions; it was told that there are no more */
    mel_reply reply;
};

/* --- requests ----------------------------------------------------------------------------------- */

static void say(mel_response *response, unsigned status, const char *json)
{
    response->status = status;
    response->body = cli_format("%s", json);
    response->n = strlen(json);
}

static bool send_asset(mel_response *response, const char *path)
{
    for (size_t i = 0; i < mel_n_assets; i++)
        if (strcmp(mel_assets[i].path, path) == 0) {
            response->type = mel_assets[i].type;
            response->lent = mel_assets[i].bytes;
            response->n = mel_assets[i].n;
            response->gzipped = mel_assets[i].gzipped;
            return true;
        }
    return false;
}

static void send_question(cli_browser *b, mel_response *response)
{
    b->watched = true;
    b->end_seen = b->end_seen || b->ended;
    say(response, 200,
        b->ended                            ? "{\"ended\":true}"
        : b->question == NULL || b->replied ? "{\"waiting\":true}"
                                            : b->question);
    (void)pthread_cond_broadcast(&b->changed);
}

static const char word_undo[] = "undo", word_stop[] = "stop";

const char *cli_browser_word(mel_reply reply)
{
    return reply == MEL_REPLY_UNDO   ? word_undo
           : reply == MEL_REPLY_QUIT ? word_stop
                                     : mel_answer_name((mel_answer)reply);
}

static bool parse_reply(mel_reply *out, const char *word)
{
    mel_answer answer = MEL_ANSWER_SAME;
    if (word == NULL)
        return false;
    if (strcmp(word, word_undo) == 0)
        *out = MEL_REPLY_UNDO;
    else if (strcmp(word, word_stop) == 0)
        *out = MEL_REPLY_QUIT;
    else if (mel_answer_parse(&answer, word, NULL) == MEL_OK)
        *out = (mel_reply)answer;
    else
        return false;
    return true;
}

/* An answer to another question than the open one changes nothing: a page was reloaded, or there are two. */
static void take_answer(cli_browser *b, mel_response *response, const mel_request *request)
{
    json_t *sent = NULL;
    (void)mel_json_parse(&sent, request->body, request->n, NULL); /* what cannot be read is no answer */
    mel_reply reply = MEL_REPLY_SAME;
    const json_int_t number = json_integer_value(json_object_get(sent, "question"));
    const bool good = parse_reply(&reply, json_string_value(json_object_get(sent, "answer")));
    json_decref(sent);
    if (!good) {
        say(response, 400,
            "{\"error\":{\"code\":\"bad-request\",\"message\":\"expected a question's number and an "
            "answer\"}}");
        return;
    }
    const bool open = b->question != NULL && !b->replied && number == (json_int_t)b->number;
    if (open) {
        b->reply = reply;
        b->replied = true;
        (void)pthread_cond_broadcast(&b->changed);
    }
    say(response, open ? 200 : 409, open ? "{\"ok\":true}" : "{\"ok\":false}");
}

static void handle(mel_response *response, const mel_request *request, void *user)
{
    cli_browser *b = user;
    const size_t n = strlen(b->prefix);
    const char *rest = strncmp(request->path, b->prefix, n) == 0 ? request->path + n : NULL;
    const bool get = strcmp(request->method, "GET") == 0;
    (void)pthread_mutex_lock(&b->lock);
    if (rest != NULL && get && strcmp(rest, "question") == 0)
        send_question(b, response);
    else if (rest != NULL && strcmp(request->method, "POST") == 0 && strcmp(rest, "answer") == 0)
        take_answer(b, response, request);
    else if (!(rest != NULL && get &&
               ((*rest == '\0' && send_asset(response, "/compare.html")) ||
                (strcmp(rest, "compare.js") == 0 && send_asset(response, "/compare.js")) ||
                (strcmp(rest, "compare.css") == 0 && send_asset(response, "/compare.css")))))
        say(response, 404, "{\"error\":{\"code\":\"not-found\",\"message\":\"there is nothing here\"}}");
    (void)pthread_mutex_unlock(&b->lock);
}

/* --- questions ---------------------------------------------------------------------------------- */

static json_t *names_json(size_t n, const char *const *name)
{
    json_t *out = json_array();
    for (size_t i = 0; i < n; i++) {
        char number[24];
        (void)snprintf(number, sizeof number, "%zu", i);
        cli_push(out, cli_json_text(name != NULL ? name[i] : number));
    }
    return out;
}

/* [group][true class][predicted class]. */
static json_t *counts_json(const mel_counted *counted, const int64_t *side)
{
    json_t *out = json_array();
    for (size_t g = 0; g < counted->n_groups; g++) {
        json_t *group = json_array();
        for (size_t i = 0; i < counted->k; i++) {
            json_t *row = json_array();
            for (size_t j = 0; j < counted->k; j++) {
                const int64_t count = side[(g * counted->k + i) * counted->k + j];
                cli_push(row, count == MEL_UNKNOWN_COUNT ? json_null() : json_integer((json_int_t)count));
            }
            cli_push(group, row);
        }
        cli_push(out, group);
    }
    return out;
}

static mel_status question_text(char **out, const mel_question *q, mel_error *err)
{
    MEL_AUTO_CLEAR(mel_counted) counted = { 0 };
    TRY(mel_counted_make(&counted, q, 0, err));
    json_t *made = json_object();
    cli_put(made, "number", json_integer(q->number));
    cli_put(made, "title", json_sprintf("Question %u, at most %u", q->number, q->expected));
    cli_put(made, "people", json_integer((json_int_t)counted.people));
    cli_put(made, "of_each_class", json_boolean(counted.of_each_class));
    cli_put(made, "classes", names_json(counted.k, q->class_names));
    cli_put(made, "groups", names_json(q->layout->n_groups > 1 ? q->layout->n_groups : 0, q->group_names));
    cli_put(made, "a", counts_json(&counted, counted.a));
    cli_put(made, "b", counts_json(&counted, counted.b));
    *out = cli_json_written(made);
    json_decref(made);
    return MEL_OK;
}

/* Waits a moment for something to change. */
static void wait_a_little(cli_browser *b)
{
    mel_wait(&b->changed, &b->lock, 0.2);
}

mel_reply cli_browser_ask(cli_browser *b, uint32_t number, const char *question, bool (*given_up)(void))
{
    (void)pthread_mutex_lock(&b->lock);
    b->question = question;
    b->number = number;
    b->replied = false;
    while (!b->replied && !given_up())
        wait_a_little(b);
    const mel_reply reply = b->replied ? b->reply : MEL_REPLY_QUIT;
    b->question = NULL;
    (void)pthread_mutex_unlock(&b->lock);
    return reply;
}

static mel_status ask(mel_reply *reply, void *user, const mel_question *question, mel_error *err)
{
    MEL_AUTO_MEMORY char *text = NULL;
    TRY(question_text(&text, question, err));
    *reply = cli_browser_ask(user, question->number, text, cli_stop_wanted);
    return MEL_OK;
}

/* --- start and end ------------------------------------------------------------------------------ */

void cli_browser_close(cli_browser *b)
{
    if (b == NULL)
        return;
    (void)pthread_mutex_lock(&b->lock);
    b->ended = true;
    for (double waited = 0.0; b->watched && !b->end_seen && waited < last_look && !cli_stop_wanted();
         waited += 0.2)
        wait_a_little(b);
    (void)pthread_mutex_unlock(&b->lock);
    if (b->http != NULL)
        mel_http_stop(b->http);
    mel_admission_free(b->admission);
    (void)pthread_cond_destroy(&b->changed);
    (void)pthread_mutex_destroy(&b->lock);
    free(b->url);
    free(b);
}

mel_status cli_browser_open(cli_browser **out, uint16_t port, mel_error *err)
{
    cli_browser *b = cli_alloc_zero(1, sizeof *b);
    unsigned char bytes[TOKEN_BYTES];
    char token[TOKEN_TEXT];
    mel_http_options opt;
    *out = NULL;
    (void)pthread_mutex_init(&b->lock, NULL);
    mel_cond_init(&b->changed);
    mel_status status =
        sodium_init() >= 0 ? MEL_OK : cli_fail(err, MEL_EIO, "there are no random numbers for the page");
    if (status == MEL_OK) {
        randombytes_buf(bytes, sizeof bytes);
        (void)sodium_bin2hex(token, sizeof token, bytes, sizeof bytes);
        (void)snprintf(b->prefix, sizeof b->prefix, "/%s/", token);
        mel_http_options_init(&opt);
        opt.port = port;
        opt.workers = 2;
        opt.connections = 64;
        opt.per_address = 64;
        opt.admission = b->admission = mel_admission_new();
        status = b->admission != NULL ? mel_http_start(&b->http, &opt, handle, b, err)
                                      : mel_fail_memory(err, "the page");
    }
    if (status != MEL_OK) {
        cli_browser_close(b);
        return status;
    }
    b->url = cli_format("http://127.0.0.1:%u%s", mel_http_port(b->http), b->prefix);
    *out = b;
    return MEL_OK;
}

const char *cli_browser_url(const cli_browser *b)
{
    return b->url;
}

static void release(void *user)
{
    cli_browser_close(user);
}

mel_status cli_oracle_browser(mel_oracle **out, uint16_t port, mel_error *err)
{
    cli_browser *b = NULL;
    *out = NULL;
    TRY(cli_browser_open(&b, port, err));
    (void)fprintf(stderr, "The questions are at %s\n", b->url);
    return mel_oracle_callback(out, ask, b, release, err);
}

/* melicit serve --relay: shows the questions of another program at a page of this machine and hands it
 * the answers. */
#include "base/json.h"
#include "browser_oracle.h"
#include "output.h"
#include "progress.h"

#include <errno.h>
#include <poll.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

/* Whoever asked is gone. */
static bool nobody_reads(void)
{
    struct pollfd out = { .fd = STDOUT_FILENO };
    return poll(&out, 1, 0) > 0 && (out.revents & (POLLERR | POLLHUP | POLLNVAL)) != 0;
}

static bool given_up(void)
{
    return cli_stop_wanted() || nobody_reads();
}

static bool are_texts(const json_t *list, size_t least, size_t most)
{
    const size_t n = json_array_size(list);
    bool good = json_is_array(list) && n >= least && n <= most;
    for (size_t i = 0; i < n && good; i++)
        good = json_is_string(json_array_get(list, i));
    return good;
}

/* [group][true class][predicted class]: whole numbers, null where nobody knows. */
static bool are_counts(const json_t *side, size_t groups, size_t k)
{
    bool good = json_is_array(side) && json_array_size(side) == groups;
    for (size_t g = 0; g < groups && good; g++) {
        const json_t *matrix = json_array_get(side, g);
        good = json_is_array(matrix) && json_array_size(matrix) == k;
        for (size_t i = 0; i < k * k && good; i++) {
            const json_t *row = json_array_get(matrix, i / k), *count = json_array_get(row, i % k);
            good = json_array_size(row) == k &&
                   (json_is_null(count) || (json_is_integer(count) && json_integer_value(count) >= 0));
        }
    }
    return good;
}

static bool is_optional(const json_t *question, const char *key, bool good)
{
    return json_object_get(question, key) == NULL || good;
}

/* What the page needs to draw it; the number, or 0. */
static uint32_t checked(const json_t *question)
{
    const json_int_t number = json_integer_value(json_object_get(question, "number"));
    const json_t *classes = json_object_get(question, "classes"),
                 *groups = json_object_get(question, "groups");
    const size_t k = json_array_size(classes), m = json_array_size(groups) > 0 ? json_array_size(groups) : 1;
    const bool good =
        number > 0 && number <= UINT32_MAX && json_is_string(json_object_get(question, "title")) &&
        json_integer_value(json_object_get(question, "people")) > 0 && are_texts(classes, 2, SIZE_MAX) &&
        is_optional(question, "groups", are_texts(groups, 0, SIZE_MAX)) &&
        is_optional(question, "names", are_texts(json_object_get(question, "names"), 2, 2)) &&
        is_optional(question, "remark", json_is_string(json_object_get(question, "remark"))) &&
        is_optional(question, "of_each_class", json_is_boolean(json_object_get(question, "of_each_class"))) &&
        are_counts(json_object_get(question, "a"), m, k) && are_counts(json_object_get(question, "b"), m, k);
    return good ? (uint32_t)number : 0;
}

static void say(json_t *line)
{
    /* A failed write is found when standard output is closed. */
    (void)json_dumpf(line, stdout, JSON_COMPACT);
    (void)putchar('\n');
    (void)fflush(stdout);
    json_decref(line);
}

static mel_status take_line(cli_browser *browser, const char *line, size_t n, size_t at, mel_error *err)
{
    json_t *question = NULL;
    (void)cli_or_exit(mel_json_parse(&question, line, n, NULL));
    const uint32_t number = checked(question);
    char *text = number > 0 ? mel_json_text(question, JSON_COMPACT) : NULL;
    json_decref(question);
    if (number == 0)
        return cli_fail(err, MEL_EDATA, "standard input, line %zu: not a question as docs/formats.md says",
                        at);
    text = cli_made(text);
    const mel_reply reply = cli_browser_ask(browser, number, text, given_up);
    free(text);
    if (nobody_reads())
        return MEL_EIO; /* without a sentence: nobody wants to know */
    say(json_pack("{s:I, s:s}", "number", (json_int_t)number, "answer", cli_browser_word(reply)));
    return cli_check_stop(err);
}

mel_status cli_serve_questions(cli_run *run, uint16_t port, mel_error *err)
{
    cli_browser *browser = NULL;
    mel_status status = cli_browser_open(&browser, port, err);
    if (status != MEL_OK)
        return status;
    say(json_pack("{s:s}", "url", cli_browser_url(browser)));
    char *line = NULL;
    size_t room = 0, asked = 0;
    ssize_t n = 0;
    while (status == MEL_OK && (n = getline(&line, &room, stdin)) > 0)
        status = take_line(browser, line, (size_t)n, ++asked, err);
    if (status == MEL_OK && ferror(stdin))
        status = cli_fail(err, MEL_EIO, "cannot read standard input: %s", strerror(errno));
    free(line);
    cli_browser_close(browser);
    cli_put(run->result, "questions", cli_json_count(asked));
    return status;
}

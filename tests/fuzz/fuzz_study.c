/* Study files, and what a browser may send for their pages. The input is a study file; behind a NUL byte
 * follow values of events, one per line. */
#include "server/flow.h"
#include "support/server/problem.h"

#include <math.h>
#include <string.h>

enum { MOST_VALUES = 20 };

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

static void send(mel_flow *flow, const char *text, size_t n)
{
    json_t *value = json_loadb(text, n, JSON_REJECT_DUPLICATES, NULL), *page = NULL;
    mel_error err;
    if (value == NULL)
        return;
    json_decref(mel_flow_event(flow, value, (double)NAN));
    (void)mel_flow_tell(flow, value, (double)NAN, &err);
    (void)mel_flow_page(&page, flow, &err);
    json_decref(page);
    json_decref(value);
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
    const char *text = (const char *)data, *end = size > 0 ? memchr(text, '\0', size) : NULL;
    const size_t n = end != NULL ? (size_t)(end - text) : size;
    mel_study *study = NULL;
    mel_problem *problem = NULL;
    mel_flow *flow = NULL;
    mel_error err;
    if (mel_study_parse(&study, text, n, &err) != MEL_OK)
        return 0;
    study->options.max_questions = study->options.max_questions < 8 ? study->options.max_questions : 8;
    if (test_make_problem(&problem, study, &err) == MEL_OK &&
        mel_flow_new(&flow, study, problem, 1, NULL, &err) == MEL_OK)
        for (size_t sent = 0; end != NULL && sent < MOST_VALUES && end < text + size; sent++) {
            const char *line = end + 1, *next = memchr(line, '\n', (size_t)(text + size - line));
            end = next;
            send(flow, line, next != NULL ? (size_t)(next - line) : (size_t)(text + size - line));
        }
    mel_flow_free(flow);
    mel_problem_free(problem);
    mel_study_free(study);
    return 0;
}

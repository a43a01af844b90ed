/* Session files of any bytes: refused with a sentence, or resumed into a session that can be asked, told,
 * summed up and reported on, and whose own text is that of a session file. */
#include "elicit/shared.h"
#include "melicit/melicit.h"
#include "space/shared.h"

#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

/* A file that only this process has; its name is the same each time. */
static const char *write_input(const uint8_t *data, size_t size)
{
    static char path[64];
    static FILE *file;
    if (file == NULL) {
        file = tmpfile();
        if (file == NULL)
            abort();
        (void)snprintf(path, sizeof path, "/proc/self/fd/%d", fileno(file));
    }
    rewind(file);
    if (ftruncate(fileno(file), 0) != 0 || fwrite(data, 1, size, file) != size || fflush(file) != 0)
        abort();
    return path;
}

static void use(mel_session *session)
{
    const mel_question *question = NULL;
    bool done = false;
    mel_metric *metric = NULL;
    mel_summary summary;
    char *text = NULL;
    for (int i = 0; i < 3 && !done && mel_session_ask(&question, &done, session, NULL) == MEL_OK && !done;
         i++)
        (void)mel_session_tell(session, question->number, MEL_ANSWER_SAME, 1.0, NULL);
    (void)mel_session_undo(session, NULL);
    (void)mel_session_result(&metric, &summary, session, NULL);
    mel_metric_free(metric);
    if (mel_session_to_text(&text, session, NULL, NULL) == MEL_OK && strchr(text, '\n') == NULL)
        abort();
    free(text);
}

/* As `melicit report` and a resumed `melicit elicit` do: the options are those of the file. */
static void resume(const char *path, const mel_domain *domain, const char *space)
{
    enum { MOST = 40 }; /* questions: inputs are to be quick */
    const mel_identity identity = { .space_json = space };
    mel_session *session = NULL;
    mel_session_options *opt = NULL;
    mel_error err = { .code = MEL_OK };
    if (mel_session_options_read(&opt, path, domain, &err) != MEL_OK) {
        if (err.text[0] == '\0')
            abort();
        return;
    }
    if (opt->max_questions > MOST)
        opt->max_questions = MOST;
    if (mel_session_open(&session, domain, opt, &identity, path, &err) == MEL_OK)
        use(session);
    else if (err.text[0] == '\0')
        abort();
    mel_session_free(session);
    mel_session_options_free(opt);
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
    static mel_face *face;
    static mel_ball *ball;
    static const mel_layout three = { MEL_RATES, MEL_OFFDIAGONAL, 3, 0 };
    char *header = NULL;
    if (face == NULL && (mel_face_from_logistic(&face, 5.0, 0.0, NULL) != MEL_OK ||
                         mel_ball_new(&ball, &three, 0.1, NULL, NULL, NULL) != MEL_OK))
        abort();
    (void)mel_session_header(&header, write_input(data, size), NULL);
    free(header);
    resume(write_input(data, size), &(mel_domain){ .face = face }, "{\"population\":\"logistic:a=5,b=0\"}");
    resume(write_input(data, size), &(mel_domain){ .ball = ball }, "{\"ball\":\"3\",\"radius\":0.1}");
    return 0;
}

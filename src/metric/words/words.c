/* A metric in plain words: who speaks for it. */
#include "metric/words/words.h"

enum { MAX_BYTES = 1 << 16 };

mel_status mel_metric_words(char **out, const mel_metric *metric, mel_error *err)
{
    *out = NULL;
    mel_buffer text;
    mel_buffer_init(&text, MAX_BYTES);
    const mel_status status = metric->ops->words(&text, metric, err);
    if (status != MEL_OK) {
        mel_buffer_free(&text);
        return status;
    }
    return mel_text_take(out, &text, "the words for a metric", err);
}

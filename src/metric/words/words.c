/* A metric in plain words: who speaks for it. */
#include "metric/words/words.h"

enum { MAX_BYTES = 1 << 16 };

mel_status mel_metric_words(char **out, const mel_metric *metric, mel_error *err)
{
    *out = NULL;
    mel_buffer text;
    mel_buffer_init(&text, MAX_BYTES);
    const bool binary =
        metric->layout.coordinates == MEL_BINARY && metric->layout.kind == MEL_CONFUSION && metric->size == 2;
    mel_status status = MEL_OK;
    if (mel_family_is_fair(metric->family))
        status = mel_words_fair(&text, metric, err);
    else if (mel_family_is_tensor(metric->family))
        mel_words_polynomial(&text, metric);
    else if (binary && metric->family == MEL_FAMILY_LINEAR)
        mel_words_binary_linear(&text, metric);
    else if (binary && metric->family == MEL_FAMILY_LINEAR_FRACTIONAL)
        mel_words_binary_fractional(&text, metric);
    else
        mel_words_sums(&text, metric);
    if (status != MEL_OK) {
        mel_buffer_free(&text);
        return status;
    }
    return mel_text_take(out, &text, "the words for a metric", err);
}

/* A question as the line of JSON that a command gets. */

#include "metric/text.h"
#include "oracle/counts.h"
#include "oracle/oracle.h"

#include <stdio.h>
#include <stdlib.h>

static void add_numbers(mel_buffer *out, const double *x, size_t n)
{
    mel_buffer_puts(out, "[");
    for (size_t i = 0; i < n; i++) {
        mel_buffer_puts(out, i > 0 ? ", " : "");
        mel_text_add_number(out, x[i]);
    }
    mel_buffer_puts(out, "]");
}

static void add_side(mel_buffer *out, const char *key, const double *statistics, size_t n,
                     const char *classifier)
{
    mel_buffer_printf(out, ", \"%s\": {\"statistics\": ", key);
    add_numbers(out, statistics, n);
    if (classifier != NULL) {
        mel_buffer_puts(out, ", \"classifier\": ");
        mel_text_add_json_string(out, classifier);
    }
    mel_buffer_puts(out, "}");
}

static void add_layout(mel_buffer *out, const mel_question *question)
{
    const mel_layout *layout = question->layout;
    char number[MEL_NUMBER_NAME];
    mel_buffer_printf(out, ", \"layout\": {\"kind\": \"%s\", \"coordinates\": \"%s\", \"classes\": [",
                      mel_kind_name(layout->kind), mel_coordinates_name(layout->coordinates));
    for (size_t i = 0; i < layout->n_classes; i++) {
        mel_buffer_puts(out, i > 0 ? ", " : "");
        mel_text_add_json_string(out, mel_question_class(number, question, i));
    }
    mel_buffer_puts(out, "], \"groups\": [");
    for (size_t i = 0; layout->n_groups > 1 && i < layout->n_groups; i++) {
        (void)snprintf(number, sizeof number, "%zu", i + 1);
        mel_buffer_puts(out, i > 0 ? ", " : "");
        mel_text_add_json_string(out, question->group_names != NULL ? question->group_names[i] : number);
    }
    mel_buffer_puts(out, "]}");
}

static void add_counts(mel_buffer *out, const char *key, size_t n, const int64_t *count)
{
    mel_buffer_printf(out, "\"%s\": [", key);
    for (size_t i = 0; i < n; i++)
        mel_buffer_printf(out, "%s%lld", i > 0 ? ", " : "", (long long)count[i]);
    mel_buffer_puts(out, "]");
}

/* The whole numbers that a person would see. */
static void add_shown(mel_buffer *out, const mel_question *question)
{
    const size_t n = mel_layout_size(question->layout), k = question->layout->n_classes;
    int64_t *count = mel_alloc(n + k, sizeof *count);
    if (count == NULL) {
        out->status = MEL_ENOMEM;
        return;
    }
    mel_buffer_puts(out, ", \"shown\": {");
    for (int side = 0; side < 2; side++) {
        mel_shown_counts(count, n, side == 0 ? question->a : question->b, question->people);
        add_counts(out, side == 0 ? "a" : "b", n, count);
        mel_buffer_puts(out, ", ");
    }
    mel_buffer_printf(out, "\"people\": %lu, ", (unsigned long)question->people);
    mel_shown_totals(count, question->layout, question->class_share, question->people);
    if (question->layout->coordinates == MEL_BINARY)
        mel_buffer_printf(out, "\"positives\": %lld", (long long)count[1]);
    else
        add_counts(out, "totals", k, count);
    mel_buffer_puts(out, question->imagined ? ", \"imagined\": true}" : "}");
    free(count);
}

void mel_question_json(mel_buffer *out, const mel_question *question)
{
    const size_t n = mel_layout_size(question->layout);
    mel_buffer_printf(out, "{\"question\": %lu", (unsigned long)question->number);
    if (question->repetition > 0)
        mel_buffer_printf(out, ", \"repetition\": %lu", (unsigned long)question->repetition);
    add_side(out, "a", question->a, n, question->classifier_a);
    add_side(out, "b", question->b, n, question->classifier_b);
    add_layout(out, question);
    if (question->class_share != NULL) {
        mel_buffer_puts(out, ", \"class_share\": ");
        add_numbers(out, question->class_share, question->layout->n_classes);
    }
    if (question->repeated)
        mel_buffer_puts(out, ", \"repeated\": true");
    if (question->people != 0)
        add_shown(out, question);
    mel_buffer_puts(out, "}\n");
}

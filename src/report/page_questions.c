/* The questions that were asked: as segments in the picture and as a table. */
#include "report/page_parts.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

static mel_point point_of(const double *statistics)
{
    return (mel_point){ .tp = statistics[0], .tn = statistics[1] };
}

static void write_picture(mel_page *page)
{
    const mel_page_data *d = page->data;
    mel_asked *asked = mel_alloc(d->n_questions, sizeof *asked);
    if (asked == NULL) {
        mel_page_note(page, mel_fail_memory(&page->last, "questions"));
        return;
    }
    for (size_t i = 0; i < d->n_questions; i++)
        asked[i] =
            (mel_asked){ point_of(d->questions[i].a), point_of(d->questions[i].b), d->questions[i].answer };
    mel_buffer_puts(&page->out, "<figure>\n");
    mel_page_feasible(page, "asked", "The questions asked", d->n_questions, asked);
    mel_buffer_puts(&page->out,
                    "<figcaption>Each question is a line between two achievable points. The answers "
                    "turn the lines towards the metric.</figcaption>\n</figure>\n");
    free(asked);
}

/* Decimals that tell A from B in every question where they differ, at most two. */
static int decimals_needed(const mel_page_data *d)
{
    for (int decimals = 0; decimals < 2; decimals++) {
        bool enough = true;
        for (size_t i = 0; i < d->n_questions && enough; i++) {
            const mel_page_question *q = &d->questions[i];
            const mel_digits ma = mel_digits_fixed(mel_page_missed(d, point_of(q->a)), decimals);
            const mel_digits mb = mel_digits_fixed(mel_page_missed(d, point_of(q->b)), decimals);
            const mel_digits fa = mel_digits_fixed(mel_page_alarms(d, point_of(q->a)), decimals);
            const mel_digits fb = mel_digits_fixed(mel_page_alarms(d, point_of(q->b)), decimals);
            enough = strcmp(ma.text, mb.text) != 0 || strcmp(fa.text, fb.text) != 0 ||
                     (q->a[0] == q->b[0] && q->a[1] == q->b[1]);
        }
        if (enough)
            return decimals;
    }
    return 2;
}

static void write_cell(mel_page *page, double count, double largest, bool picked, int decimals,
                       const char *kind)
{
    mel_write(&page->out, "<td class=\"n %s%s\">%s<span class=\"bar\" style=\"width:%s%%\"></span></td>",
              kind, picked ? " picked" : "", mel_digits_shown(count, decimals).text,
              mel_digits_short(largest > 0.0 ? 100.0 * count / largest : 0.0, 1).text);
}

typedef struct {
    int decimals;
    double missed, alarms; /* the largest of all questions */
    bool seconds, notes;   /* columns that are there */
} columns;

static columns plan_columns(const mel_page_data *d)
{
    columns c = { .decimals = decimals_needed(d) };
    for (size_t i = 0; i < d->n_questions; i++) {
        const mel_page_question *q = &d->questions[i];
        c.missed =
            fmax(c.missed, fmax(mel_page_missed(d, point_of(q->a)), mel_page_missed(d, point_of(q->b))));
        c.alarms =
            fmax(c.alarms, fmax(mel_page_alarms(d, point_of(q->a)), mel_page_alarms(d, point_of(q->b))));
    }
    mel_page_columns(&c.seconds, &c.notes, d);
    return c;
}

static void write_row(mel_page *page, size_t i, const columns *c)
{
    const mel_page_data *d = page->data;
    const mel_page_question *q = &d->questions[i];
    const bool a = q->answer == MEL_ANSWER_A, b = q->answer == MEL_ANSWER_B;
    mel_write(&page->out, "<tr><th scope=\"row\" class=\"n\">%s</th>", mel_digits_count(i + 1).text);
    write_cell(page, mel_page_missed(d, point_of(q->a)), c->missed, a, c->decimals, "miss");
    write_cell(page, mel_page_alarms(d, point_of(q->a)), c->alarms, a, c->decimals, "alarm");
    write_cell(page, mel_page_missed(d, point_of(q->b)), c->missed, b, c->decimals, "miss gap");
    write_cell(page, mel_page_alarms(d, point_of(q->b)), c->alarms, b, c->decimals, "alarm");
    mel_page_answer(page, q, c->seconds, c->notes, 1);
    mel_buffer_puts(&page->out, "</tr>\n");
}

void mel_page_columns(bool *seconds, bool *notes, const mel_page_data *data)
{
    *seconds = *notes = false;
    for (size_t i = 0; i < data->n_questions; i++) {
        const mel_page_question *q = &data->questions[i];
        *seconds = *seconds || q->seconds >= 0.05; /* a program answers at once */
        *notes = *notes || q->repeated || q->disagrees;
    }
}

void mel_page_answer(mel_page *page, const mel_page_question *q, bool seconds, bool notes, size_t rows)
{
    static const char *const says[] = { [MEL_ANSWER_A] = "A",
                                        [MEL_ANSWER_B] = "B",
                                        [MEL_ANSWER_SAME] = "same",
                                        [MEL_ANSWER_SKIP] = "can't say" };
    const mel_digits n = mel_digits_count(rows);
    mel_write(&page->out, "<td class=\"answer\" rowspan=\"%s\">%s</td>", n.text, says[q->answer]);
    if (seconds)
        mel_write(&page->out, "<td class=\"n\" rowspan=\"%s\">%s</td>", n.text,
                  isfinite(q->seconds) ? mel_digits_shown(q->seconds, 1).text : "\xE2\x80\x93");
    if (notes)
        mel_write(&page->out, "<td class=\"note\" rowspan=\"%s\">%s%s%s</td>", n.text,
                  q->repeated ? "asked before" : "", q->repeated && q->disagrees ? "; " : "",
                  q->disagrees ? "the metric disagrees" : "");
}

static void write_table(mel_page *page)
{
    const mel_page_data *d = page->data;
    const columns c = plan_columns(d);
    mel_write(&page->out,
              "<div class=\"scroll\" role=\"region\" tabindex=\"0\" aria-label=\"The questions\"><table "
              "class=\"asked\">\n<caption><span>What A and B would do to 1,000 %s; the preferred side is "
              "bold</span></caption>\n<thead>\n<tr><th rowspan=\"2\" scope=\"col\" class=\"n\">No.</th>"
              "<th colspan=\"2\" scope=\"colgroup\">A</th><th colspan=\"2\" scope=\"colgroup\" "
              "class=\"gap\">B</th><th rowspan=\"2\" scope=\"col\">Answer</th>",
              d->outcome->people);
    if (c.seconds)
        mel_buffer_puts(&page->out, "<th rowspan=\"2\" scope=\"col\" class=\"n\">Seconds</th>");
    if (c.notes)
        mel_buffer_puts(&page->out, "<th rowspan=\"2\" scope=\"col\">Note</th>");
    mel_write(
        &page->out,
        "</tr>\n<tr><th scope=\"col\" class=\"n\">%s</th><th scope=\"col\" class=\"n\">%s</th>"
        "<th scope=\"col\" class=\"n gap\">%s</th><th scope=\"col\" class=\"n\">%s</th></tr>\n</thead>\n"
        "<tbody>\n",
        d->outcome->missed_plural, d->outcome->false_alarms, d->outcome->missed_plural,
        d->outcome->false_alarms);
    for (size_t i = 0; i < d->n_questions; i++)
        write_row(page, i, &c);
    mel_buffer_puts(&page->out, "</tbody>\n</table></div>\n");
}

void mel_page_questions(mel_page *page)
{
    mel_page_section(page, "questions", "The questions");
    if (page->data->n_questions == 0) {
        mel_buffer_puts(&page->out, "<p>No question has been answered yet.</p>\n</section>\n");
        return;
    }
    mel_buffer_puts(&page->out, "<div class=\"beside wide\">\n");
    write_picture(page);
    mel_buffer_puts(&page->out, "<div>\n");
    write_table(page);
    mel_buffer_puts(&page->out, "</div>\n</div>\n</section>\n");
}

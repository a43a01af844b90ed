/* What changes from A to B, in words: the two mistakes of two classes as what is found and who is alarmed,
 * the largest changes elsewhere. */
#include "base/digits.h"
#include "base/sentences.h"
#include "metric/text.h"
#include "oracle/oracle.h"

#include <stdlib.h>
#include <string.h>
#include <strings.h>

enum { MOST_TOLD = 4, MOST_TEXT = 1 << 16 };

/* --- the catalogue -------------------------------------------------------------------------------- */

#define SENTENCES(X)                                                                                         \
    X(alike, "A and B look the same at this scale.")                                                         \
    X(from_to, "From {a} to {b}: {list}.")                                                                   \
    X(told, "{start} {first}{after}[; {second}].")                                                           \
    X(more, "{n} more {name}[ in group {group}]")                                                            \
    X(fewer, "{n} fewer {name}[ in group {group}]")                                                          \
    X(taken_for, "{truth} taken for {said}")                                                                 \
    X(recognised, "{truth} recognised")                                                                      \
    X(finds, "finds {change}")                                                                               \
    X(has, "has {change}")                                                                                   \
    X(side, "{side}[ ({name})]")                                                                             \
    X(with, "With {b}[ instead of {a}],")                                                                    \
    X(than, " than {a}")
#define ROW(name, english) SAY_##name,
typedef enum { SENTENCES(ROW) } saying;
#undef ROW
#define ROW(name, english) { #name, english },
static const mel_template rows[] = { SENTENCES(ROW) };
#undef ROW
#define PUT(w, name, ...) mel_phrase(&(w)->texts, &rows[SAY_##name], __VA_ARGS__)

typedef struct {
    mel_changes out; /* first: one is the other */
    mel_sentences texts;
    const mel_question *question;
    const mel_change_words *words;
    const char *side_a, *side_b; /* "A", or "A (model 3)" of a system that exists */
    bool named;
} work;

/* --- names ---------------------------------------------------------------------------------------- */

/* "flu"; "class 3" when the name is but a number. */
static const char *class_words(work *w, size_t code)
{
    char number[MEL_NUMBER_NAME];
    const char *name = mel_question_class(number, w->question, code);
    const bool bare = strspn(name, "0123456789.-+") == strlen(name);
    return mel_sentences_format(&w->texts, "%s%s", bare ? "class " : "", name);
}

void mel_question_add_mistake(mel_buffer *out, const mel_question *question, const mel_change_words *words,
                              bool missed, bool plural)
{
    char number[MEL_NUMBER_NAME];
    const char *given = words == NULL ? NULL : missed ? words->missed : words->false_alarm;
    const char *many = words == NULL ? NULL : missed ? words->missed_plural : words->false_alarms;
    if (given == NULL)
        mel_text_add_mistake(out, mel_question_class(number, question, 1), missed, plural);
    else if (plural && many == NULL)
        mel_text_add_plural(out, given);
    else
        mel_buffer_puts(out, plural ? many : given);
}

static const char *mistake_words(work *w, bool missed, bool one)
{
    mel_buffer text;
    mel_buffer_init(&text, MOST_TEXT);
    mel_question_add_mistake(&text, w->question, w->words, missed, !one);
    return mel_sentences_keep(&w->texts, &text);
}

/* What so many that are not missed are called: "cancers", of "missed cancers"; NULL where nothing says so. */
static const char *found_words(work *w, bool one)
{
    static const char prefix[] = "missed ";
    const char *own = one ? w->words->found : w->words->found_plural;
    if (own != NULL)
        return own;
    const char *name = mistake_words(w, true, one);
    return strncasecmp(name, prefix, strlen(prefix)) == 0 ? name + strlen(prefix) : NULL;
}

/* --- one change ------------------------------------------------------------------------------------- */

static const char *amount_words(work *w, int64_t change, const char *name, const char *group)
{
    const mel_digits n = mel_digits_count((uint64_t)llabs(change));
    return change > 0 ? PUT(w, more, "n", n.text, "name", name, "group", group, NULL)
                      : PUT(w, fewer, "n", n.text, "name", name, "group", group, NULL);
}

static void word_change(work *w, mel_change *c, const mel_counted *counted)
{
    const bool right = c->truth == c->predicted;
    int64_t change = c->b - c->a;
    char number[MEL_NUMBER_NAME];
    const char *group = NULL;
    if (counted->n_groups > 1) {
        (void)mel_print(number, sizeof number, "%zu", c->group + 1);
        group = w->question->group_names != NULL ? w->question->group_names[c->group] : number;
    }
    if (counted->k == 2 && right)
        change = -change; /* who is not right is the other kind */
    if (counted->k == 2)
        c->name = mistake_words(w, c->truth == 1, llabs(change) == 1);
    else if (right)
        c->name = PUT(w, recognised, "truth", class_words(w, c->truth), NULL);
    else
        c->name =
            PUT(w, taken_for, "truth", class_words(w, c->truth), "said", class_words(w, c->predicted), NULL);
    c->text = amount_words(w, change, c->name, group);
}

static void find_changes(work *w, const mel_counted *c, bool swapped)
{
    const size_t k = c->k;
    mel_change *found = mel_sentences_room(&w->texts, c->n_groups * k * k + 1, sizeof *found);
    for (size_t i = 0; found != NULL && i < c->n_groups * k * k; i++) {
        const size_t row = i - i % k, truth = i / k % k, predicted = i % k;
        const bool known = c->a[row + (truth == 0 ? 1 : 0)] >= 0; /* its mistakes, one by one */
        const int64_t a = swapped ? c->b[i] : c->a[i], b = swapped ? c->a[i] : c->b[i];
        if (a < 0 || b < 0 || a == b || (truth == predicted && known))
            continue;
        mel_change *one = &found[w->out.n++];
        *one = (mel_change){ .group = i / (k * k), .truth = truth, .predicted = predicted, .a = a, .b = b };
        word_change(w, one, c);
    }
    w->out.change = found;
}

/* --- in one sentence --------------------------------------------------------------------------------- */

/* Two classes: how many more are missed, and how many more false alarms there are; what is found first. */
static void tell(work *w, mel_told *told, int64_t missed, int64_t alarms)
{
    const bool one = llabs(alarms) == 1;
    const char *found = found_words(w, llabs(missed) == 1);
    const char *alarmed = one ? w->words->alarmed : w->words->alarmed_plural;
    const char *first = "";
    if (missed != 0 && found != NULL)
        first = PUT(w, finds, "change", amount_words(w, -missed, found, NULL), NULL);
    else if (missed != 0)
        first = PUT(w, has, "change",
                    amount_words(w, missed, mistake_words(w, true, llabs(missed) == 1), NULL), NULL);
    if (missed != 0) {
        told->part[told->n_parts].missed = true;
        told->part[told->n_parts++].text = first;
    }
    const bool somebody = alarmed != NULL && alarmed[0] != '\0';
    if (alarms != 0) {
        const char *text = amount_words(w, alarms, somebody ? alarmed : mistake_words(w, false, one), NULL);
        told->part[told->n_parts++].text =
            missed == 0 && !somebody ? PUT(w, has, "change", text, NULL) : text;
    }
    if (missed == 0 && somebody) {
        told->start = PUT(w, with, "b", w->side_b, "a", w->named ? w->side_a : NULL, NULL);
        told->after = "";
    } else {
        told->start = w->side_b;
        told->after = w->named ? PUT(w, than, "a", w->side_a, NULL) : "";
    }
}

/* The largest changes, largest first. */
static const char *list_changes(work *w)
{
    size_t shown[MOST_TOLD], n = 0;
    for (size_t i = 0; i < w->out.n; i++) {
        const mel_change *one = &w->out.change[i];
        size_t at = n < MOST_TOLD ? n++ : MOST_TOLD;
        for (; at > 0; at--) {
            const mel_change *other = &w->out.change[shown[at - 1]];
            if (llabs(other->b - other->a) >= llabs(one->b - one->a))
                break;
            if (at < MOST_TOLD)
                shown[at] = shown[at - 1];
        }
        if (at < MOST_TOLD)
            shown[at] = i;
    }
    mel_buffer list;
    mel_buffer_init(&list, MOST_TEXT);
    for (size_t i = 0; i < n; i++) {
        mel_buffer_puts(&list, i > 0 ? ", " : "");
        mel_buffer_puts(&list, w->out.change[shown[i]].text);
    }
    return mel_sentences_keep(&w->texts, &list);
}

static void word_all(work *w, const mel_counted *c)
{
    const bool binary = c->k == 2 && c->n_groups == 1;
    int64_t missed = 0, alarms = 0;
    for (size_t i = 0; i < w->out.n; i++) {
        const mel_change *one = &w->out.change[i];
        *(one->truth == 1 ? &missed : &alarms) =
            one->truth == one->predicted ? one->a - one->b : one->b - one->a;
    }
    if (binary) {
        const bool found = found_words(w, false) != NULL;
        if (w->out.n > 0)
            tell(w, &w->out.told, missed, alarms);
        tell(w, &w->out.longest, found ? c->people : -c->people, -c->people); /* "fewer" is longer */
    }
    const mel_told *told = &w->out.told;
    if (w->out.n == 0)
        w->out.sentence = PUT(w, alike, NULL);
    else if (told->n_parts > 0)
        w->out.sentence = PUT(w, told, "start", told->start, "first", told->part[0].text, "after",
                              told->after, "second", told->n_parts > 1 ? told->part[1].text : NULL, NULL);
    else
        w->out.sentence = PUT(w, from_to, "a", w->side_a, "b", w->side_b, "list", list_changes(w), NULL);
}

mel_status mel_changes_make(mel_changes **out, const mel_counted *counted, const mel_question *question,
                            const mel_change_words *words, bool swapped, mel_error *err)
{
    static const mel_change_words none = { .missed = NULL };
    const char *a = swapped ? question->classifier_b : question->classifier_a;
    const char *b = swapped ? question->classifier_a : question->classifier_b;
    work *w = mel_alloc_zero(1, sizeof *w);
    *out = NULL;
    if (w == NULL)
        return mel_fail_memory(err, "a question");
    w->texts.err = err;
    w->question = question;
    w->words = words != NULL ? words : &none;
    w->texts.language = w->words->language;
    w->named = question->named;
    w->side_a = PUT(w, side, "side", "A", "name", w->named ? a : NULL, NULL);
    w->side_b = PUT(w, side, "side", "B", "name", w->named ? b : NULL, NULL);
    find_changes(w, counted, swapped);
    if (w->texts.status == MEL_OK)
        word_all(w, counted);
    const mel_status status = w->texts.status;
    w->texts.err = NULL; /* the caller's, until here */
    if (status == MEL_OK)
        *out = &w->out;
    else
        mel_changes_free(&w->out);
    return status;
}

void mel_changes_free(mel_changes *changes)
{
    work *w = (work *)changes;
    if (w != NULL)
        mel_sentences_clear(&w->texts);
    free(w);
}

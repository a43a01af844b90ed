/* What the sections of the page share. */
#ifndef MEL_REPORT_PAGE_PARTS_H
#define MEL_REPORT_PAGE_PARTS_H

#include "outcome/outcome.h"
#include "report/page.h"
#include "report/write.h"

typedef struct {
    mel_buffer out;
    const mel_page_data *data;
    mel_error failure; /* the first one of a plot or an allocation, which counts; the text's own is in out */
    mel_error last;    /* where plots and others put their sentence */
} mel_page;

/* Keeps the sentence in last when status is the first failure. */
void mel_page_note(mel_page *page, mel_status status);

/* Takes the plot over. */
void mel_page_plot(mel_page *page, mel_status status, char *svg);
mel_plot_options mel_page_embedded(const char *id, const char *title);
/* "<section ...><h2>"; closed with "</section>". */
void mel_page_section(mel_page *page, const char *id, const char *heading);

/* The four texts as one for the caller to free(); NULL, with the page failed, when memory runs out. */
char *mel_page_join(mel_page *page, const char *a, const char *b, const char *c, const char *d);

/* Out of 1,000. */
double mel_page_missed(const mel_page_data *data, mel_point at);
double mel_page_alarms(const mel_page_data *data, mel_point at);
/* "; 95% between 3 and 4.1%", or what a search may say of its interval; nothing where an end is unknown. */
void mel_page_between(mel_page *page, double low, double high, const char *unit);
/* The best threshold on true probabilities, or the one bound on it that is known: it is below (-1), at (0) or
 * above (1). */
typedef struct {
    int side;
    mel_digits at;
} mel_page_cut;
mel_page_cut mel_page_ideal_cut(const mel_estimate *threshold);
/* Whether anything is said about it. */
bool mel_page_has(const mel_page_data *data, mel_topic topic);
/* What is said about it, as one paragraph's sentences or as items of a list. */
void mel_page_say(mel_page *page, mel_topic topic);
void mel_page_list(mel_page *page, mel_topic topic);
/* What stands beside a question: the answer and, where the columns are there, seconds and a note. rows: of
 * the table. */
void mel_page_answer(mel_page *page, const mel_page_question *q, bool seconds, bool notes, size_t rows);
/* Which of these columns are there. */
void mel_page_columns(bool *seconds, bool *notes, const mel_page_data *data);
const char *mel_page_plural(uint64_t n, const char *one, const char *many);

/* The picture of what is achievable, with the best points or, when there are any, with questions. */
void mel_page_feasible(mel_page *page, const char *id, const char *title, size_t n_asked,
                       const mel_asked *asked);

/* Key figures. */
void mel_page_tile_questions(mel_page *page);
void mel_page_class_tiles(mel_page *page);

/* Sections in the order of the page. */
void mel_page_weights(mel_page *page);    /* several classes */
void mel_page_recognised(mel_page *page); /* several classes */
void mel_page_treatments(mel_page *page); /* several classes or groups, where the outcome has them */
void mel_page_practice(mel_page *page);
void mel_page_achievable(mel_page *page);
void mel_page_worth(mel_page *page); /* two classes that both cost something */
void mel_page_sureness(mel_page *page);
void mel_page_unknown(mel_page *page);
void mel_page_questions(mel_page *page);
void mel_page_pairs(mel_page *page); /* questions about several classes */
void mel_page_consistency(mel_page *page);
void mel_page_neighbours(mel_page *page);
void mel_page_equivalents(mel_page *page); /* what others call the preference, with lines of code */
void mel_page_use(mel_page *page);
void mel_page_method(mel_page *page);

#endif

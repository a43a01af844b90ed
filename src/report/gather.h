/* What a page is made from, gathered from a session, its domain and its metric. */
#ifndef MEL_REPORT_GATHER_H
#define MEL_REPORT_GATHER_H

#include "outcome/outcome.h"
#include "report/page.h"
#include "report/write.h"

/* What every page has; page lends from the rest. */
typedef struct {
    mel_page_data page;
    mel_session *session;
    mel_outcome *outcome;
    char *truth_words;
    mel_page_question *questions;
    double *radius;
} mel_gathered;

/* The questions, with the answers that the metric disagrees with. */
mel_status mel_gather_questions(mel_gathered *g, mel_error *err);
/* How sure the session was after each of its questions, by answering them again. */
mel_status mel_gather_radius(mel_gathered *g, mel_error *err);
/* The share of n pairs, size numbers to a point, that both metrics order alike; NaN when they are defined at
 * none. */
double mel_gather_agreement(const mel_metric *x, const mel_metric *y, size_t n, size_t size, const double *a,
                            const double *b);

/* The page of a session on a planar face, and on spaces and balls of several classes. */
mel_status mel_report_face(char **html, mel_gathered *g, const mel_report_options *opt, mel_error *err);
mel_status mel_report_classes(char **html, mel_gathered *g, const mel_report_options *opt, mel_error *err);

#endif

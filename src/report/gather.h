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
    mel_truth truth;
    mel_page_question *questions;
    double *radius;
} mel_gathered;

/* The questions with the answers that the metric disagrees with, how precise the session was after each, and
 * what the true metric (may be NULL) says. */
mel_status mel_gather_common(mel_gathered *g, const mel_metric *truth, mel_error *err);

/* The page of a session on a planar face, and on spaces and balls of several classes. */
mel_status mel_report_face(char **html, mel_gathered *g, const mel_report_options *opt, mel_error *err);
mel_status mel_report_classes(char **html, mel_gathered *g, const mel_report_options *opt, mel_error *err);

#endif

/* Study files: read, checked, and taken apart. docs/study-file.md says what is in them. */
#ifndef MEL_SERVER_STUDY_H
#define MEL_SERVER_STUDY_H

#include "melicit/elicit.h"

#include <jansson.h>

typedef enum {
    MEL_PHASE_CONSENT,
    MEL_PHASE_FORM,
    MEL_PHASE_TEXT,
    MEL_PHASE_TRAINING,
    MEL_PHASE_GUESS,
    MEL_PHASE_ELICITATION,
    MEL_PHASE_EVALUATION,
    MEL_PHASE_RESULT,
    MEL_PHASE_DONE
} mel_phase_kind;
const char *mel_phase_name(mel_phase_kind kind); /* as in study files: "consent" */
typedef struct {
    mel_phase_kind kind;
    const json_t *json; /* lent by the study */
} mel_phase;

enum { MEL_MOST_QUESTIONS = 1000 }; /* of an elicitation */
typedef enum { MEL_RESUME = 0, MEL_RESTART = 1, MEL_BLOCK = 2 } mel_resume;

typedef struct {
    json_t *file; /* owns all that follows */
    const char *title;
    const char *language; /* NULL: the one that the browser asks for */
    const json_t *space, *words, *show;
    mel_session_options options; /* mel_study_options before the domain is known */
    mel_resume resume;
    double resume_hours;
    uint32_t quota; /* 0: none */
    bool learns;    /* new participants start from what others want */
    bool own;       /* no study of researchers: a session of somebody's own */
    size_t n_phases;
    mel_phase *phase;
} mel_study;

/* Reads a file; MEL_EDATA names the field that is wrong ("phases[2].fields[0].type: ..."). */
mel_status mel_study_parse(mel_study **out, const char *text, size_t n, mel_error *err);
/* The same from an object, whose reference is taken over, on failure too. */
mel_status mel_study_take(mel_study **out, json_t *file, mel_error *err);
/* Refuses (MEL_EDATA) what new studies and sessions must not ask for; stored ones go on as they began. */
mel_status mel_study_check_new(const mel_study *study, mel_error *err);
void mel_study_free(mel_study *study);
/* What a session of the study is asked with: what its file says, over what suits people and the domain (NULL:
 * not known yet). */
mel_status mel_study_options(mel_session_options *out, const mel_study *study, const mel_domain *domain,
                             mel_error *err);

/* A study for a session without one: elicitation, then the result. start: {"space", "words", "family",
 * "options"}. */
mel_status mel_study_for_session(mel_study **out, const json_t *start, mel_error *err);

/* Refuses (MEL_EDATA, beginning with `where`) what is no object, unknown fields, other types and missing
 * ones. fields: names separated by blanks, each followed by its type unless it is a text (":number",
 * ":boolean", ":object", ":list", ":any"), then by "!" when it is required: "kind! title! code:boolean". */
mel_status mel_check_fields(const json_t *object, const char *where, const char *fields, mel_error *err);

#endif

/* What researchers do with studies, over HTTP and on the command line alike. */
#ifndef MEL_SERVER_MANAGE_H
#define MEL_SERVER_MANAGE_H

#include "base/buffer.h"
#include "cache.h"
#include "journal.h"
#include "store.h"
#include "study.h"

/* Sessions without a study belong to this row, which is never listed. */
#define MEL_NO_STUDY "alone"
mel_status mel_manage_prepare(mel_store *store, mel_error *err);

/* Checks a study file: its problem can be made, and somebody who agrees to everything reaches the end. The
 * study is taken over, on failure too. pages (or NULL) receives the first page of each phase. */
mel_status mel_manage_check(json_t *pages, mel_cache *cache, mel_study *study, mel_error *err);
/* Checks and stores a study, open for participants; id receives its id. text ends with a NUL. */
mel_status mel_manage_create(char id[MEL_ID_TEXT], mel_store *store, mel_cache *cache, const char *text,
                             mel_error *err);

/* "open", "closed", or "archived": closed, and out of the way. */
mel_status mel_manage_set_state(mel_store *store, const char *study, const char *state, mel_error *err);
bool mel_manage_is_archived(mel_store *store, const mel_study_row *row);
/* Deletes a study: it is out of sight at once, and housekeeping erases its participants. */
mel_status mel_manage_delete(mel_store *store, mel_cache *cache, const char *study, mel_error *err);
/* What housekeeping would do about deleted studies, now and to the end. */
mel_status mel_manage_delete_all(mel_store *store, mel_cache *cache, mel_journal *audit, mel_error *err);

/* Deletes a participant, and the tables of a session of their own that nobody else uses. The audit log (or
 * NULL) says whom, and by whom. */
mel_status mel_manage_erase(mel_store *store, mel_cache *cache, mel_journal *audit,
                            const mel_participant_row *row, const char *by, mel_error *err);
/* Housekeeping: removes what expired, the participants of deleted studies, those of studies with a retention
 * period who were not seen for that long, and sessions of people's own that were not for MEL_OWN_DAYS. The
 * audit log (or NULL) says who. Piece by piece, each of which takes little time and memory whatever the store
 * holds, until nothing is left, or *stop; with a stop (a server's) it rests in between. */
enum { MEL_OWN_DAYS = 90 };
mel_status mel_manage_tidy_all(mel_store *store, mel_cache *cache, mel_journal *audit, int64_t now,
                               const _Atomic bool *stop, mel_error *err);

/* How simulated participants answer. metric: a metric file, or a number: how many false alarms a miss is
 * worth (two classes); NULL: the system with fewer mistakes is preferred. noise: as mel_noise_parse; NULL:
 * none. */
typedef struct {
    uint32_t participants;
    const json_t *metric;
    const char *noise;
    uint64_t seed; /* what they answer depends on it and on how many participants came before; 0: on chance */
} mel_rehearsal;
enum { MEL_MOST_REHEARSED = 1000 };
/* Simulated participants go through the study and are stored, marked as simulated. *done (may be NULL): how
 * many did. */
mel_status mel_manage_rehearse(uint32_t *done, mel_store *store, mel_cache *cache, const char *study,
                               const mel_rehearsal *how, mel_error *err);

/* Who answers for such a participant, and the ratio that they would guess (NaN: none). */
mel_status mel_rehearsal_oracle(mel_oracle **out, double *guess, const mel_rehearsal *how,
                                const mel_flow *flow, const mel_problem *problem, uint64_t seed,
                                mel_error *err);

/* How many questions and people it takes to know what they want so well. */
typedef struct {
    mel_rehearsal how; /* of simulated participants, at most MEL_MOST_PLANNED */
    double spread;     /* of a number of false alarms: natural logarithm, standard deviation between people */
    /* Wanted: of a cost ratio the larger end of its interval over the smaller one, else the radius of a
     * result. */
    double width;
} mel_plan;
enum { MEL_MOST_PLANNED = 200 };
#define MEL_USUAL_WIDTH 2.0
/* PLAN of docs/http-api.md; nothing is stored. */
mel_status mel_manage_plan(json_t **out, mel_cache *cache, const char *study, const mel_plan *plan,
                           mel_error *err);

/* {"person": PERSON, "events": [lines of the log], "about": how they came} of docs/http-api.md. */
mel_status mel_manage_person(json_t **out, mel_store *store, mel_cache *cache, const mel_participant_row *row,
                             mel_error *err);

/* Where a study learns from others: finds out what those who are through want, which may take a while. */
mel_status mel_manage_learn(mel_store *store, mel_cache *cache, const char *study, mel_error *err);
/* The same for all open studies in the store, until *stop. */
mel_status mel_manage_learn_all(mel_store *store, mel_cache *cache, const _Atomic bool *stop, mel_error *err);
/* Puts what was found out last into `about`, if anything was (mel_prior_json, under "prior"): the next
 * participant's session of a study that learns starts from it. Nobody waits for more. */
mel_status mel_manage_put_prior(json_t *about, mel_cache *cache, const char *study, mel_error *err);

/* {"live": [PERSON], "pages": [..], "pooled": POOLED or null, "complete": bool, ..} of docs/http-api.md: the
 * first page of participants, or the one that `after` (the text "next" of the page before) says. Findings
 * about people are remembered until they say more. Replaying the others ends after so many seconds, or when
 * the server has no room for heavy work; the rest have no metric then, and complete is false: the next call
 * goes on. */
mel_status mel_manage_monitor(json_t **out, mel_store *store, mel_cache *cache, const char *study,
                              const char *after, double seconds, mel_error *err);

typedef enum { MEL_EXPORT_CSV, MEL_EXPORT_JSONL, MEL_EXPORT_SQLITE } mel_export_format;
/* "csv", "jsonl", "sqlite". */
mel_status mel_export_parse(mel_export_format *out, const char *name, mel_error *err);
/* The file, at its beginning, for the caller to close(), and its bytes. MEL_EINVAL when there is no such
 * study. It ends early when the budget of the thread is spent. */
mel_status mel_export(int *file, size_t *n, mel_store *store, const char *study, mel_export_format format,
                      mel_error *err);
/* A cell of CSV with its comma, or with the end of the line; a formula gets an apostrophe before it. */
void mel_csv_cell(mel_buffer *out, const char *text, bool last);

#endif

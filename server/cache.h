/* Studies and participants in memory: everything here can be made again from the store. */
#ifndef MEL_SERVER_CACHE_H
#define MEL_SERVER_CACHE_H

#include "admission.h"
#include "flow.h"

typedef struct mel_cache mel_cache;
/* store, folders (where data sets are, as in mel_resources) and admission must outlive the cache, which
 * forgets when the latter says so. */
mel_status mel_cache_new(mel_cache **out, mel_store *store, const char *const *folders,
                         mel_admission *admission, mel_error *err);
mel_admission *mel_cache_admission(const mel_cache *cache);
void mel_cache_free(mel_cache *cache);
/* Forgets some of the participants, and all problems, that nobody needs now; false: there is none. */
bool mel_cache_forget_idle(void *cache);
/* For tests: participants that nobody has taken, problems that were ever made. */
typedef struct {
    size_t idle, made;
} mel_cache_counts;
mel_cache_counts mel_cache_count(mel_cache *cache);

/* A study with the problem that it is about, borrowed until mel_open_study_free. Making one problem does
 * not hold up callers who need another. */
typedef struct mel_open_study mel_open_study;
struct mel_open_study {
    const mel_study *study;
    const mel_problem *problem;
    char state[12];
    mel_cache *cache; /* where problem and study are kept */
    void *own, *read;
};
/* Opens a stored study; MEL_EINVAL when there is none. */
mel_status mel_open_study_by_id(mel_open_study **out, mel_cache *cache, const char *study, mel_error *err);
/* Opens a study that is not stored: a check of a file, or a participant's own session. Takes ownership of the
 * study, on failure too. */
mel_status mel_open_study_of(mel_open_study **out, mel_cache *cache, mel_study *study, mel_error *err);
void mel_open_study_free(mel_open_study *open_study);
MEL_CLEANUP(mel_open_study)
/* The rows that a study is measured on, with their probabilities: for mel_problem_free. notice: who hears
 * what was left out or is odd. Heavy work, which the caller has begun. */
mel_status mel_cache_read_rows(mel_problem **out, mel_cache *cache, const mel_study *study, bool training,
                               mel_notice notice, mel_error *err);
/* Begins heavy work where this of a flow of the study takes long to compute, unless this thread does such
 * work already. What is a study's waits for a place; its answers are not shared out among clients. */
mel_status mel_cache_begin_flow(mel_admission **held, mel_cache *cache, const mel_open_study *open_study,
                                mel_flow_work what, mel_error *err);

/* One participant, for one caller at a time. */
typedef struct {
    mel_participant_row row;
    mel_open_study *open_study;
    mel_flow *flow;
    uint32_t seq;   /* events so far; a caller who adds one counts it and sets row.seen */
    double seconds; /* sent with all events; a caller who adds one adds its seconds ... */
    size_t bytes;   /* of all events' bodies; ... and its bytes */
    bool behind;    /* its log is not replayed to the end: no caller sees that */
    bool fresh;     /* made for this caller: one who only looks does not keep it in memory */
} mel_participant;
/* Waits until no other caller has this one. seen: when the store saw the participant last; if memory says
 * otherwise, another process has answered meanwhile, and the participant is made again (0: memory is good
 * enough). MEL_EINVAL when there is no such participant, MEL_ESTATE when the study's data are not available.
 */
mel_status mel_participant_take(mel_participant **out, mel_cache *cache, const char *participant,
                                int64_t seen, mel_error *err);
/* For callers who only look, and whose list may be older than memory: what is in memory is newer, and stays.
 */
mel_status mel_participant_look(mel_participant **out, mel_cache *cache, const char *participant,
                                int64_t seen, mel_error *err);
/* keep: memory agrees with the store; otherwise the participant is forgotten. */
void mel_participant_release(mel_cache *cache, mel_participant *participant, bool keep);
/* As the participant was after event `seq`: heavy work. A copy of the caller's own, for
 * mel_past_free. */
mel_status mel_participant_past(mel_participant **out, mel_cache *cache, const char *participant,
                                uint32_t seq, mel_error *err);
typedef mel_participant mel_past;
void mel_past_free(mel_participant *past);
MEL_CLEANUP(mel_past)
/* Forgets a participant who was deleted, and the findings about them. */
void mel_cache_forget(mel_cache *cache, const char *participant);

/* Findings about a participant or a study that took long to compute: one per subject, with a mark that says
 * what it was computed from; for some 10,000 subjects. */
enum { MEL_MEMO_TEXT = 64 };
/* mark NULL: any. A new reference; NULL: not known. */
json_t *mel_cache_recall(mel_cache *cache, const char *subject, const char *mark);
void mel_cache_remember(mel_cache *cache, const char *subject, const char *mark, json_t *value);

#endif

/* What is in memory of studies and participants: everything here can be made again from the store. */
#ifndef MEL_SERVER_CACHE_H
#define MEL_SERVER_CACHE_H

#include "flow.h"
#include "store.h"

size_t mel_text_hash(const char *text);

typedef struct mel_cache mel_cache;
/* store and the maker's user are lent. */
mel_status mel_cache_new(mel_cache **out, mel_store *store, mel_problem_maker maker, void *user,
                         mel_error *err);
void mel_cache_free(mel_cache *cache);

/* Too many do what takes long: the same will do in a moment. Nothing else here stops before its end. */
#define MEL_BUSY MEL_ESTOPPED
/* How many callers there may be at a time. From then on what takes long (making a problem, waiting for one or
 * for a participant, whatever is between begin and end) is refused with MEL_BUSY where too many do it, so
 * that others' answers always find a worker. */
void mel_cache_limit(mel_cache *cache, size_t workers);
mel_status mel_cache_begin_work(mel_cache *cache, mel_error *err);
void mel_cache_end_work(mel_cache *cache);

/* A study with the problem that it is about; lent until mel_open_study_release. Nobody waits for another
 * study's problem. */
typedef struct mel_open_study mel_open_study;
struct mel_open_study {
    mel_study *study;
    const mel_problem *problem;
    char state[12];
    void *own;
};
/* Of a stored study; MEL_EINVAL when there is none. */
mel_status mel_open_study_by_id(mel_open_study **out, mel_cache *cache, const char *study, mel_error *err);
/* Of a study that is not stored: a check of a file, or a session of somebody's own. The study is taken over,
 * on failure too. */
mel_status mel_open_study_of(mel_open_study **out, mel_cache *cache, mel_study *study, mel_error *err);
void mel_open_study_release(mel_cache *cache, mel_open_study *open_study);

/* One participant, for one caller at a time. */
typedef struct {
    mel_participant_row row;
    mel_open_study *open_study;
    mel_flow *flow;
    uint32_t seq;   /* events so far; the caller counts those that it adds, and sets row.seen */
    double seconds; /* that were sent with them, in all; the caller adds */
    bool fresh;     /* made for this caller: who only looks does not keep it from those who answer */
} mel_participant;
/* Waits until no other caller has this one. seen: when the store saw the participant last; what is in memory
 * is from another time when another process has answered meanwhile, and is made again (0: it will do).
 * MEL_EINVAL when there is no such participant, MEL_ESTATE when the study's data cannot be had. */
mel_status mel_participant_take(mel_participant **out, mel_cache *cache, const char *participant,
                                int64_t seen, mel_error *err);
/* For those who only look, and whose list may be older than what is in memory: that is newer, and stays. */
mel_status mel_participant_look(mel_participant **out, mel_cache *cache, const char *participant,
                                int64_t seen, mel_error *err);
/* keep: what is in memory is what is stored; otherwise it is forgotten. */
void mel_participant_release(mel_cache *cache, mel_participant *participant, bool keep);
/* Of somebody who was deleted: the participant, and what was remembered. */
void mel_cache_forget(mel_cache *cache, const char *participant);

/* Something that took long to find out about a participant or a study, one finding per subject, under a mark
 * that says what it was found out from; for some 10,000 subjects. */
enum { MEL_MEMO_TEXT = 64 };
/* mark NULL: whatever it was found out from. A new reference; NULL: not known. */
json_t *mel_cache_recall(mel_cache *cache, const char *subject, const char *mark);
void mel_cache_remember(mel_cache *cache, const char *subject, const char *mark, json_t *value);

#endif

/* What is in memory of studies and participants: everything here can be made again from the store. */
#ifndef MEL_SERVER_LIVE_H
#define MEL_SERVER_LIVE_H

#include "flow.h"
#include "store.h"

typedef struct mel_live mel_live;
/* store and the maker's user are lent. */
mel_status mel_live_new(mel_live **out, mel_store *store, mel_place_maker maker, void *user, mel_error *err);
void mel_live_free(mel_live *live);

/* Too many do what takes long: the same will do in a moment. Nothing else here stops before its end. */
#define MEL_BUSY MEL_ESTOPPED
/* How many callers there may be at a time. From then on what takes long (making a place, waiting for one or
 * for a seat, whatever is between begin and end) is refused with MEL_BUSY where too many do it, so that
 * others' answers always find a worker. */
void mel_live_limit(mel_live *live, size_t workers);
mel_status mel_live_begin(mel_live *live, mel_error *err);
void mel_live_end(mel_live *live);

/* A study with the place that it is about; lent until mel_hall_release. Nobody waits for another study's
 * place. */
typedef struct mel_hall mel_hall;
struct mel_hall {
    mel_study *study;
    const mel_place *place;
    char state[12];
    void *own;
};
/* Of a stored study; MEL_EINVAL when there is none. */
mel_status mel_hall_of_study(mel_hall **out, mel_live *live, const char *study, mel_error *err);
/* Of a study that is not stored: a check of a file, or a session of somebody's own. The study is taken over,
 * on failure too. */
mel_status mel_hall_of(mel_hall **out, mel_live *live, mel_study *study, mel_error *err);
void mel_hall_release(mel_live *live, mel_hall *hall);

/* One participant, for one caller at a time. */
typedef struct {
    mel_participant_row row;
    mel_hall *hall;
    mel_flow *flow;
    uint32_t seq;   /* events so far; the caller counts those that it adds, and sets row.seen */
    double seconds; /* that were sent with them, in all; the caller adds */
    bool fresh;     /* made for this caller: who only looks does not keep it from those who answer */
} mel_seat;
/* Waits until no other caller has this one. seen: when the store saw the participant last; what is in memory
 * is from another time when another process has answered meanwhile, and is made again (0: it will do).
 * MEL_EINVAL when there is no such participant, MEL_ESTATE when the study's data cannot be had. */
mel_status mel_seat_take(mel_seat **out, mel_live *live, const char *participant, int64_t seen,
                         mel_error *err);
/* For those who only look, and whose list may be older than what is in memory: that is newer, and stays. */
mel_status mel_seat_look(mel_seat **out, mel_live *live, const char *participant, int64_t seen,
                         mel_error *err);
/* keep: what is in memory is what is stored; otherwise it is forgotten. */
void mel_seat_release(mel_live *live, mel_seat *seat, bool keep);
/* Of somebody who was deleted: the seat, and what was remembered. */
void mel_live_forget(mel_live *live, const char *participant);

/* Something that took long to find out about a participant or a study, one thing per subject, under a mark
 * that says what it was found out from; for some 10,000 subjects. */
enum { MEL_MEMO_TEXT = 64 };
/* mark NULL: whatever it was found out from. A new reference; NULL: not known. */
json_t *mel_live_recall(mel_live *live, const char *subject, const char *mark);
void mel_live_remember(mel_live *live, const char *subject, const char *mark, json_t *value);

#endif

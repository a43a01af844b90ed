/* Where studies, participants and their events are kept. One interface, two stores: an SQLite file (WAL,
 * synchronous=FULL) and a PostgreSQL database. Every call may come from any thread; each is one transaction;
 * what a call that writes has returned MEL_OK for is on disk. Nothing is ever "locked" for a caller: writes
 * wait their turn (a minute at most, when another program holds the store).
 *
 * MEL_EIO: the store cannot read or write now (disk full, read-only, server away): nothing was stored, and
 * the same call works again once the cause is gone. (When a PostgreSQL server goes away in the middle of a
 * commit, it may have been stored; an append sent again with its key is then MEL_REPLAYED.)
 * MEL_EINVAL: there is no such study, participant or blob. MEL_ECONFLICT: it is there already. */
#ifndef MEL_SERVER_STORE_H
#define MEL_SERVER_STORE_H

#include "melicit/base.h"

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

typedef struct mel_store mel_store;

/* "FILE.db", "sqlite:FILE.db" or "postgres://..." (libpq's URLs; the tables are in the schema melicit).
 * Creates what is missing, brings an older schema up to date. MEL_EDATA: a newer schema, or another program's
 * file. */
mel_status mel_store_open(mel_store **out, const char *url, mel_error *err);
void mel_store_close(mel_store *store);
/* Whether it is a file that cannot be written: everything can be read, and whatever writes fails. */
bool mel_store_is_read_only(const mel_store *store);
/* Whether this program was built with PostgreSQL. */
bool mel_store_has_postgres(void);

enum { MEL_ID_TEXT = 24, MEL_HASH_BYTES = 32, MEL_KEY_TEXT = 64 };

typedef struct {
    char id[MEL_ID_TEXT];
    char *file;      /* the study file, JSON */
    char state[12];  /* "open", "closed" */
    int64_t created; /* milliseconds since 1970, UTC */
} mel_study_row;
/* Rows that a call gives are for the caller to clear: one with ..._clear, an array with ..._free. On failure
 * a row is empty and an array NULL. Arrays are in the order of creation. MEL_ROW(type): a row that is cleared
 * on every way out of its block. */
#define MEL_ROW(type) __attribute__((cleanup(type##_clear))) type
void mel_study_row_clear(void *row);
void mel_study_rows_free(mel_study_row *rows, size_t n);
mel_status mel_store_add_study(mel_store *store, const mel_study_row *study, mel_error *err);
mel_status mel_store_study(mel_study_row *out, mel_store *store, const char *id, mel_error *err);
mel_status mel_store_studies(mel_study_row **out, size_t *n, mel_store *store, mel_error *err);
mel_status mel_store_set_state(mel_store *store, const char *study, const char *state, mel_error *err);
/* Deleting a study has three steps, so that each transaction is short. Marked, it is out of sight at once,
 * with its participants, also for other processes and after a restart; then its participants are erased one
 * by one; then the rest goes, with the notes about it: blobs of these names, and of all that go on with a
 * colon. */
typedef struct {
    char text[80];
} mel_name;
mel_status mel_store_mark_study_deleted(mel_store *store, const char *study, mel_error *err);
/* A study that is marked; MEL_EINVAL when there is none. */
mel_status mel_store_deleted_study(char study[MEL_ID_TEXT], mel_store *store, mel_error *err);
mel_status mel_store_delete_study(mel_store *store, const char *study, const mel_name *note, size_t n_notes,
                                  mel_error *err);
/* The blob of this name, and all whose names go on with a colon. */
mel_status mel_store_remove_notes(mel_store *store, const mel_name *note, mel_error *err);
/* How many people a study has in each state, how many simulated participants besides, and when anybody who is
 * complete was last seen. */
typedef struct {
    size_t active, complete, left, simulated;
    int64_t completed;
} mel_study_counts;
mel_status mel_store_counts(mel_study_counts *out, mel_store *store, const char *study, mel_error *err);

typedef struct {
    char id[MEL_ID_TEXT]; /* public, no secret */
    char study[MEL_ID_TEXT];
    unsigned char token[MEL_HASH_BYTES]; /* keyed hash of the token in the cookie, unique; all zero: none */
    char *label;                         /* NULL: anonymous; unique within a study */
    char *about;    /* JSON: Prolific parameters, the start of a session without a study, simulated */
    char state[12]; /* "active", "complete", "left" */
    int64_t created, seen;
    uint64_t seed;
} mel_participant_row;
void mel_participant_row_clear(void *row);
void mel_participant_rows_free(mel_participant_row *rows, size_t n);
/* MEL_ECONFLICT when the label is taken (or the id, or the token). */
mel_status mel_store_add_participant(mel_store *store, const mel_participant_row *participant,
                                     mel_error *err);
/* The same unless the study is *full: those who are through and those who are active and were seen after
 * `since` count, simulated participants do not. Counting and adding is one step, however many come at
 * the same moment. */
typedef struct {
    uint32_t most; /* 0: no limit */
    int64_t since;
} mel_quota;
mel_status mel_store_admit_participant(bool *full, mel_store *store, const mel_participant_row *participant,
                                       const mel_quota *quota, mel_error *err);
mel_status mel_store_participant(mel_participant_row *out, mel_store *store, const char *id, mel_error *err);
mel_status mel_store_participant_by_token(mel_participant_row *out, mel_store *store,
                                          const unsigned char token[MEL_HASH_BYTES], mel_error *err);
mel_status mel_store_participant_by_label(mel_participant_row *out, mel_store *store, const char *study,
                                          const char *label, mel_error *err);
/* At most `most` participants of a study (marked ones too) after a place in the order in which they joined;
 * the place then is that of the last one. */
typedef struct {
    int64_t created;
    char id[MEL_ID_TEXT];
} mel_place;
#define MEL_FIRST_PLACE ((mel_place){ .created = INT64_MIN })
mel_status mel_store_participants(mel_participant_row **out, size_t *n, mel_store *store, const char *study,
                                  mel_place *place, size_t most, mel_error *err);
/* At most `most` participants of a study who were last seen before then, the longest unseen first. */
mel_status mel_store_unseen(mel_participant_row **out, size_t *n, mel_store *store, const char *study,
                            int64_t before, size_t most, mel_error *err);
/* When anybody was last seen; 0: there is nobody. */
mel_status mel_store_newest(int64_t *out, mel_store *store, mel_error *err);
mel_status mel_store_set_token(mel_store *store, const char *participant,
                               const unsigned char token[MEL_HASH_BYTES], mel_error *err);
/* The same, with another text about them. */
mel_status mel_store_revoke(mel_store *store, const char *participant,
                            const unsigned char token[MEL_HASH_BYTES], const char *about, mel_error *err);
/* Erases participants with all events, from the last to the first, and with those of the named uploads that
 * expire and that nobody else uses (no other participant's `about` names them, in quotation marks). Each
 * transaction deletes few rows; somebody who is gone already is no failure. An SQLite file keeps no trace,
 * once no snapshot from before is being read and mel_store_forget_traces was called. */
typedef struct {
    char id[MEL_ID_TEXT];
    size_t n_uploads;
    const char *upload[16];
} mel_erasure;
mel_status mel_store_erase(mel_store *store, const mel_erasure *who, size_t n, mel_error *err);
/* Overwrites what was erased also in the log of an SQLite file. */
mel_status mel_store_forget_traces(mel_store *store, mel_error *err);

/* One line of a participant's log. */
typedef struct {
    uint32_t seq;           /* 1, 2, ... without gaps */
    char key[MEL_KEY_TEXT]; /* of the request; unique per participant */
    char *body; /* JSON: {"page": kind, "value": .., "seconds": .., "shown": ..} or {"undo": seq} */
    int64_t time;
} mel_event_row;
void mel_event_row_clear(void *row);
void mel_event_rows_free(mel_event_row *rows, size_t n);
typedef enum { MEL_APPENDED = 0, MEL_REPLAYED = 1, MEL_STALE = 2, MEL_KEY_REUSED = 3 } mel_append;
/* Appends when seq is the next one; the participant was then last seen at the event's time. REPLAYED: the key
 * is there with the same body, and *stored (unless NULL) is that event, for the caller to clear; KEY_REUSED:
 * with another body; STALE: seq is not the next one. *stored is empty unless REPLAYED. state: the
 * participant's afterwards, or NULL to leave it. Safe against other processes on the same store. */
mel_status mel_store_append(mel_append *outcome, mel_event_row *stored, mel_store *store,
                            const char *participant, const mel_event_row *event, const char *state,
                            mel_error *err);
/* The event with this key; MEL_EINVAL when there is none. */
mel_status mel_store_event(mel_event_row *out, mel_store *store, const char *participant, const char *key,
                           mel_error *err);
mel_status mel_store_events(mel_event_row **out, size_t *n, mel_store *store, const char *participant,
                            mel_error *err);

/* Blobs by name: the server's hash key, hashes of researchers' tokens, uploads. A blob with the same name is
 * replaced. expires: milliseconds since 1970, after which it is not found any more; 0: never. */
mel_status mel_store_put(mel_store *store, const char *name, const void *bytes, size_t n, int64_t expires,
                         mel_error *err);
/* The same unless it would be *full: all blobs whose names begin with a prefix (which has no '%' or '_') have
 * at most so many bytes, each of them counted as 32 KiB at least. Counting and storing is one step, however
 * many come at the same moment. */
typedef struct {
    const char *prefix;
    int64_t most;
} mel_room;
mel_status mel_store_put_within(bool *full, mel_store *store, const char *name, const void *bytes, size_t n,
                                int64_t expires, const mel_room *room, size_t n_rooms, mel_error *err);
/* Stores blobs of one byte, which only say that they exist, for ever: all of them or none. */
mel_status mel_store_put_names(mel_store *store, const mel_name *name, size_t n, mel_error *err);
mel_status mel_store_get(void **bytes, size_t *n, mel_store *store, const char *name, mel_error *err);
/* The stored bytes, which never expire: what another process put first wins. */
mel_status mel_store_put_once(void **bytes, size_t *n_stored, mel_store *store, const char *name,
                              const void *mine, size_t n, mel_error *err);
/* Keeps a blob until then (0: for ever) or, where that is later, until it would expire anyway. MEL_EINVAL:
 * there is none of this name. */
mel_status mel_store_keep(mel_store *store, const char *name, int64_t expires, mel_error *err);
/* The blobs whose name begins with prefix, which has no '%' or '_'; visit must not call the store. */
typedef mel_status (*mel_visit_blob)(void *user, const char *name, int64_t bytes, int64_t expires,
                                     mel_error *err);
mel_status mel_store_blobs(mel_store *store, const char *prefix, mel_visit_blob visit, void *user,
                           mel_error *err);
/* Removing nothing is no failure. */
mel_status mel_store_remove(mel_store *store, const char *name, mel_error *err);
/* Removes the pieces of a blob that was erased with a participant, if it was; mel_store_expire does so later.
 */
mel_status mel_store_remove_lost(mel_store *store, const char *name, mel_error *err);
/* Removes what expired at `now` or before, a bounded piece of it; *more: call again. */
mel_status mel_store_expire(bool *more, mel_store *store, int64_t now, mel_error *err);

/* All rows of a study in one consistent snapshot, while writers go on: visit is called for each participant
 * with event NULL, then for each of their events. Rows are borrowed for the call. A failure of visit ends the
 * reading. visit must not call the store. */
typedef mel_status (*mel_visit)(void *user, const mel_participant_row *participant,
                                const mel_event_row *event, mel_error *err);
mel_status mel_store_visit(mel_store *store, const char *study, mel_visit visit, void *user, mel_error *err);
/* A new file without a name, next to the store's or in the folder for temporary files (TMPDIR, or /var/tmp),
 * for the caller to close(): whatever happens, nothing is left of it. */
mel_status mel_store_scratch(int *file, const mel_store *store, mel_error *err);
/* Such a file with one study (NULL: all) as SQLite has it, readable by any tool and as a store; tokens'
 * hashes and blobs are left out. */
mel_status mel_store_image(int *file, mel_store *store, const char *study, const mel_progress *progress,
                           mel_error *err);
/* What the rows of a store take, not counting what deleted ones left behind for others, and what there is
 * left for more: on its disk, and of that. -1: not known (the disk of a database server). */
typedef struct {
    int64_t used, free;
} mel_disk;
mel_status mel_store_measure(mel_disk *out, mel_store *store, mel_error *err);
#endif

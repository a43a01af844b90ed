/* How much the store may take, and how much of its disk is to stay free. */
#ifndef MEL_SERVER_DISK_H
#define MEL_SERVER_DISK_H

#include "store.h"

typedef struct {
    mel_store *store;
    _Atomic int64_t most, keep; /* bytes of the store, and of the disk; 0: no limit */
    _Atomic int64_t used, free; /* when they were last measured; -1: not known */
    _Atomic int64_t measured;   /* on the monotonic clock, milliseconds */
} mel_disk_guard;

void mel_disk_init(mel_disk_guard *guard, mel_store *store);
/* 80% of what is free, besides what the store takes already; 0: not known. */
int64_t mel_disk_usual_room(const mel_disk_guard *guard);
/* Measures anew, if the last time was more than a second ago. */
void mel_disk_look(mel_disk_guard *guard);
/* What is stored: something new stops before answers of people who are under way, who may use the last tenth
 * of the store's room and half of what is to stay free. Deleting always goes on. */
typedef enum { MEL_STORES_NOTHING, MEL_STORES_ANSWERS, MEL_STORES_NEW } mel_storing;
bool mel_disk_has_room(mel_disk_guard *guard, mel_storing what);

#endif

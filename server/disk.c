/* Refusing what would fill the disk before it is full. */
#include "disk.h"

#include "clock.h"

#include <stdatomic.h>

enum { LOOK_EVERY = 1000 }; /* milliseconds */

static void look(mel_disk_guard *guard)
{
    mel_disk disk;
    if (mel_store_measure(&disk, guard->store, NULL) != MEL_OK)
        return; /* it is as it was; writing will fail with a sentence of its own */
    guard->used = disk.used;
    guard->free = disk.free;
}

void mel_disk_init(mel_disk_guard *guard, mel_store *store)
{
    *guard = (mel_disk_guard){ .store = store, .used = -1, .free = -1 };
    guard->measured = mel_clock_ms(CLOCK_MONOTONIC);
    look(guard);
}

int64_t mel_disk_usual_room(const mel_disk_guard *guard)
{
    return guard->used >= 0 && guard->free >= 0 ? guard->used + guard->free / 5 * 4 : 0;
}

/* One thread measures; the others go by what was found before. */
void mel_disk_look(mel_disk_guard *guard)
{
    int64_t last = guard->measured;
    const int64_t now = mel_clock_ms(CLOCK_MONOTONIC);
    if (now - last >= LOOK_EVERY && atomic_compare_exchange_strong(&guard->measured, &last, now))
        look(guard);
}

bool mel_disk_has_room(mel_disk_guard *guard, mel_storing what)
{
    const int64_t most = guard->most, keep = guard->keep;
    if (what == MEL_STORES_NOTHING)
        return true;
    mel_disk_look(guard);
    const int64_t used = guard->used, left = guard->free;
    const bool new = what == MEL_STORES_NEW;
    return (most == 0 || used < (new ? most / 10 * 9 : most)) &&
           (keep == 0 || left < 0 || left >= (new ? keep : keep / 2));
}

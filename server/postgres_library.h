/* libpq, which is loaded for the first connection: it and what it needs would be a third of the time that
 * every start of the program takes. */
#ifndef MEL_SERVER_POSTGRES_LIBRARY_H
#define MEL_SERVER_POSTGRES_LIBRARY_H

#include "base/internal.h"

#include <libpq-fe.h>

/* What is used of it, without PQ. */
#define MEL_LIBPQ_FUNCTIONS(row)                                                                             \
    row(clear) row(cmdStatus) row(connectdbParams) row(db) row(errorMessage) row(exec) row(execParams)       \
        row(finish) row(ftype) row(getisnull) row(getlength) row(getvalue) row(nfields) row(ntuples)         \
            row(resultErrorField) row(resultStatus) row(setNoticeProcessor) row(status)

typedef struct {
#define MEL_LIBPQ_MEMBER(name) __typeof__(PQ##name) *name;
    MEL_LIBPQ_FUNCTIONS(MEL_LIBPQ_MEMBER)
#undef MEL_LIBPQ_MEMBER
} mel_libpq;

/* Filled by mel_libpq_load, which any number of threads may call; it stays loaded. */
extern mel_libpq mel_pq;
mel_status mel_libpq_load(mel_error *err);

#endif

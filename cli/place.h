/* What a study or a session in the browser is about, made from the `space` of its file. */
#ifndef MEL_CLI_PLACE_H
#define MEL_CLI_PLACE_H

#include "server/problem.h"
#include "server/store.h"
#include "space_args.h"

/* The maker's own: where uploads are. */
typedef struct {
    mel_store *store;
} cli_places;
/* A mel_problem_maker; user is a cli_places. May run in several threads at once; prints nothing. */
mel_status cli_make_place(mel_problem **out, void *user, const json_t *space, mel_family family,
                          uint64_t seed, mel_error *err);

/* The bundled data sets that are there: [{"name", "title", "rows", "classes", "source"}]. */
json_t *cli_datasets(void);

#endif

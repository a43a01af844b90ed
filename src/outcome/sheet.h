/* JSON of outcomes, piece by piece: what the files that write it share. */
#ifndef MEL_OUTCOME_SHEET_H
#define MEL_OUTCOME_SHEET_H

#include "base/json.h"
#include "outcome/outcome.h"

/* Values; NULL without memory. A number that is not known is null. */
json_t *mel_sheet_text(const char *words);
json_t *mel_sheet_number(double x);
json_t *mel_sheet_count(uint64_t n);
json_t *mel_sheet_pair(double first, double second);
json_t *mel_sheet_estimate(mel_estimate e);

/* An object that is written into; whole turns false when a value is missing. */
typedef struct {
    json_t *object;
    bool whole;
} mel_sheet;
mel_sheet mel_sheet_new(void);
void mel_sheet_put(mel_sheet *s, const char *key, json_t *value);
/* Adds a sheet to a list that will be part of s. */
void mel_sheet_add(mel_sheet *s, json_t *list, const mel_sheet *one);
/* The object as a text for the caller to free(); the object is freed. */
mel_status mel_sheet_take(char **out, mel_sheet *s, mel_error *err);
/* equivalents.c: under "equivalents", where there are any. */
void mel_sheet_put_equivalents(mel_sheet *s, const mel_outcome *o);

#endif

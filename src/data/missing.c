/* Words that stand for a missing cell. */
#include "data/missing.h"

#include "data/shared.h"

#include <string.h>
#include <strings.h>

typedef enum { ANYWHERE, AMONG_NUMBERS } place;

/* ANYWHERE: nothing, "?" and what pandas takes as missing. */
static const struct {
    const char *word;
    place where;
} words[] = { { "NA", ANYWHERE },           { "N/A", ANYWHERE },        { "n/a", ANYWHERE },
              { "#N/A", ANYWHERE },         { "#NA", ANYWHERE },        { "#N/A N/A", ANYWHERE },
              { "<NA>", ANYWHERE },         { "NULL", ANYWHERE },       { "null", ANYWHERE },
              { "NaN", ANYWHERE },          { "nan", ANYWHERE },        { "-NaN", ANYWHERE },
              { "-nan", ANYWHERE },         { "1.#QNAN", ANYWHERE },    { "-1.#QNAN", ANYWHERE },
              { "1.#IND", ANYWHERE },       { "-1.#IND", ANYWHERE },    { "None", AMONG_NUMBERS },
              { "NaT", AMONG_NUMBERS },     { "-", AMONG_NUMBERS },     { "--", AMONG_NUMBERS },
              { ".", AMONG_NUMBERS },       { "..", AMONG_NUMBERS },    { "#DIV/0!", AMONG_NUMBERS },
              { "#VALUE!", AMONG_NUMBERS }, { "#REF!", AMONG_NUMBERS }, { "#NAME?", AMONG_NUMBERS },
              { "#NUM!", AMONG_NUMBERS },   { "#NULL!", AMONG_NUMBERS } };

enum { LONGEST = 8 };

bool mel_missing_declared(const char *text, size_t n)
{
    return n == 0 || (n == 1 && text[0] == '?');
}

bool mel_missing_number(const char *text, size_t n)
{
    for (size_t i = 0; n <= LONGEST && i < sizeof words / sizeof *words; i++)
        if (n == strlen(words[i].word) && strncasecmp(words[i].word, text, n) == 0)
            return true;
    return mel_missing_declared(text, n);
}

bool mel_is_missing_word(const char *text)
{
    return mel_missing_number(text, strlen(text));
}

bool mel_missing_text(const char *text, size_t n)
{
    for (size_t i = 0; n <= LONGEST && i < sizeof words / sizeof *words; i++)
        if (words[i].where == ANYWHERE && n == strlen(words[i].word) && memcmp(words[i].word, text, n) == 0)
            return true;
    return mel_missing_declared(text, n);
}

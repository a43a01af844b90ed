/* A question on a terminal: what is known of it, how wide its parts are. */
#ifndef MEL_ORACLE_SCREEN_H
#define MEL_ORACLE_SCREEN_H

#include "oracle/canvas.h"
#include "oracle/counts.h"
#include "oracle/oracle.h"
#include "oracle/shared.h"

enum { MEL_SCREEN_FRAME = 4, MEL_SCREEN_GAP = 2, MEL_SCREEN_PHRASE = 1 << 14 /* most bytes */ };

typedef struct {
    const mel_question *question;
    const mel_show_options *opt;
    mel_change_words words;
    mel_counted counted;
    size_t width;
    size_t panel;  /* columns of one side, frame included */
    bool stacked;  /* B below A instead of beside it */
    bool tables;   /* there is room for them */
    bool whole;    /* every entry of the matrices is known */
    bool mistakes; /* the number of mistakes per class is known */
    size_t classifier_lines;
    size_t columns;                 /* of a table: k, or right and wrong */
    size_t name, size, cell, apart; /* widths of names, class sizes, counts, and gaps before counts */
    size_t lead;                    /* blanks before the first gap: tables end at the right edge */
    int64_t longest;                /* the count that fills a bar */
} mel_screen;

static inline const char *mel_screen_class(char number[MEL_NUMBER_NAME], const mel_screen *s, size_t code)
{
    return mel_question_class(number, s->question, code);
}

static inline bool mel_screen_is_binary(const mel_screen *s)
{
    return s->counted.k == 2;
}

/* People of a class that a side gets wrong; unknown when the class size is. */
int64_t mel_screen_wrong(const mel_screen *s, bool side_b, size_t group, size_t row);
/* What a bar shows: mistakes where they are known, right answers otherwise. */
int64_t mel_screen_bar(const mel_screen *s, bool side_b, size_t group, size_t row);
/* Fills everything after `width` but classifier_lines, from what was counted. */
void mel_screen_lay_out(mel_screen *s);

#endif

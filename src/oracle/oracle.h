/* What the files of the oracle room share. */
#ifndef MEL_ORACLE_ORACLE_H
#define MEL_ORACLE_ORACLE_H

#include "base/buffer.h"
#include "base/internal.h"
#include "melicit/oracle.h"

/* First member of every kind of oracle. */
struct mel_oracle {
    mel_oracle_fn answer; /* user: the oracle itself */
    void (*destroy)(mel_oracle *oracle);
};

/* MEL_EINVAL unless the question has a layout and finite statistics. */
mel_status mel_question_check(const mel_question *question, mel_error *err);
/* The name of a class ("1" for the second when there are none); number needs room for one. */
enum { MEL_NUMBER_NAME = 24 };
const char *mel_question_class(char number[MEL_NUMBER_NAME], const mel_question *question, size_t class_code);

/* One of the two mistakes of a question about two classes by name; given names win. words may be NULL. */
void mel_question_add_mistake(mel_buffer *out, const mel_question *question, const mel_change_words *words,
                              bool missed, bool plural);

MEL_CLEANUP(mel_changes)

#endif

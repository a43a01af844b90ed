/* A question as the line of JSON that a program is asked with. */
#ifndef MEL_ORACLE_QUESTION_JSON_H
#define MEL_ORACLE_QUESTION_JSON_H

#include "base/buffer.h"
#include "melicit/oracle.h"

/* One line, its newline included. */
void mel_question_json(mel_buffer *out, const mel_question *question);

#endif

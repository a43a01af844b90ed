/* A person in a browser answers: a page of this machine alone, served while the program waits. */
#ifndef MEL_CLI_BROWSER_ORACLE_H
#define MEL_CLI_BROWSER_ORACLE_H

#include "command.h"

/* A page that shows one question at a time. port 0: any free one. */
typedef struct cli_browser cli_browser;
mel_status cli_browser_open(cli_browser **out, uint16_t port, mel_error *err);
/* Lent. It has a token that nobody can guess: only who was told the address gets in. */
const char *cli_browser_url(const cli_browser *browser);
/* Shows a question (JSON as docs/formats.md says, lent) until it is answered. given_up is asked now and then;
 * after it said true the reply is MEL_REPLY_QUIT. */
mel_reply cli_browser_ask(cli_browser *browser, uint32_t number, const char *question,
                          bool (*given_up)(void));
/* The word for a reply: "A", "B", "=", "?", "undo" or "stop". */
const char *cli_browser_word(mel_reply reply);
/* A page that is open is told that there are no more questions. */
void cli_browser_close(cli_browser *browser);

/* Questions of the library at such a page; its address goes to standard error. A stop that is wished for
 * (Ctrl-C) answers "quit". */
mel_status cli_oracle_browser(mel_oracle **out, uint16_t port, mel_error *err);

/* melicit serve --relay: lines of standard input are asked at such a page, answers go to standard output.
 */
mel_status cli_serve_questions(cli_run *run, uint16_t port, mel_error *err);

#endif

/* A person in a browser answers: a page of this machine alone, served while the program waits. */
#ifndef MEL_CLI_BROWSER_ORACLE_H
#define MEL_CLI_BROWSER_ORACLE_H

#include "command.h"
#include "melicit/oracle.h"

/* The address of the page goes to standard error. port 0: any free one. A stop that is wished for (Ctrl-C)
 * answers "quit". */
mel_status cli_oracle_browser(mel_oracle **out, uint16_t port, mel_error *err);

#endif

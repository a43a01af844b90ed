/* The program's own main() under another name, so that it can be called. */
#define main melicit_main
#include "torture.h"

#include "../../cli/main.c" /* NOLINT(bugprone-suspicious-include) */

/* What is tortured: each case runs once for each of its allocations with that one failing. */
#ifndef MEL_TORTURE_H
#define MEL_TORTURE_H

typedef struct {
    const char *name;                /* of a verb: its arguments, separated by blanks */
    int (*script)(const char *name); /* NULL: a verb. Returns an exit code and says on stderr what failed */
    int code;                        /* the exit code without a failure */
    int most; /* of a case that runs anew for each allocation: how often in make test; else 0 */
} torture_case;

/* Ends with a row without a name. Each case finds the files that those before it made. */
extern const torture_case torture_cases[];

/* Writes the files that the first cases read. */
void torture_write_inputs(void);

int melicit_main(int argc, char **argv); /* main of cli/main.c */

/* Runs the program with the words of a line; returns its exit code. */
int torture_verb(const char *line);

#endif

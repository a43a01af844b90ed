/* A verb of the program is a row of tables: what it is called, which options it takes and where
 * their values go, examples, and one function that does the work. Parsing, checking of values, help,
 * manual page, completion and documentation are made from these tables (options.c, help_*.c). */
#ifndef MEL_CLI_COMMAND_H
#define MEL_CLI_COMMAND_H

#include "base/internal.h"
#include "melicit/elicit.h"

#include <jansson.h>

/* What an option's value is, and the C type of its field in the verb's arguments. */
typedef enum {
    CLI_FLAG,   /* bool; takes no value */
    CLI_TEXT,   /* const char * (lent by argv) */
    CLI_INPUT,  /* const char *: a file to read, "-" for standard input */
    CLI_OUTPUT, /* const char *: a file to write, "-" for standard output */
    CLI_NUMBER, /* double: finite, within the range */
    CLI_WHOLE,  /* uint64_t: within the range */
    CLI_CHOICE, /* int: index of the value in `choices` */
    CLI_LIST    /* mel_text_list: text; the only kind that may be given more than once */
} cli_kind;

/* Kinds of input besides those of problems (MEL_OF_...). */
enum {
    CLI_OF_POINT = 64,   /* --point or --direction */
    CLI_OF_SESSION = 128 /* --session, which says the rest itself */
};

/* One option. A table of options ends with a row without a name. */
typedef struct {
    const char *name;           /* without the dashes */
    const char *argument;       /* placeholder of the value in help texts; NULL for a flag and a choice */
    const char *help;           /* a clause without full stop; the default is added from `defaults` */
    const char *const *choices; /* CLI_CHOICE: ends with NULL */
    double low, high;           /* CLI_NUMBER, CLI_WHOLE: the range, ends included ... */
    size_t at;                  /* offset of the field in the struct that the option's group fills */
    unsigned reads; /* kinds of input (..._OF_...) that read it, any of them; 0: it does not matter */
    cli_kind kind;
    bool above_low, below_high; /* ... unless these exclude them (CLI_NUMBER) */
    bool required;
    mel_option_level level;
    const char *under; /* "read": a setting that is given as --read NAME=VALUE; NULL: as --NAME VALUE */
    const mel_option *session; /* an option of sessions: the field is const char *, its text or NULL */
} cli_option;

/* A row of such a table: CLI_ROW(train_args, "l2", NUMBER, l2, .argument = "X", ...). */
#define CLI_ROW(args, option, type, field, ...)                                                              \
    {                                                                                                        \
        .name = (option), .kind = CLI_##type, .at = offsetof(args, field), __VA_ARGS__                       \
    }

/* The same for one that the short help shows. */
#define CLI_COMMON(args, option, type, field, ...)                                                           \
    CLI_ROW(args, option, type, field, .level = MEL_LEVEL_COMMON, __VA_ARGS__)

/* Options under one heading. A group may be shared by several verbs: it then fills a struct of its
 * own that sits at offset `base` of the verb's arguments. A table of groups ends with a NULL heading. */
typedef struct {
    const char *heading;
    const cli_option *options;
    size_t base;
} cli_group;

typedef struct {
    const char *purpose;
    const char *line; /* runs in a shell; the tests run all of them in the order of the verb table */
} cli_example;

/* The options that every verb has. */
typedef struct {
    bool json, quiet, verbose, help;
    bool has_seed; /* --seed was given */
    uint64_t seed, threads;
} cli_common;

/* One call of a verb, as its run function sees it. */
typedef struct {
    const struct cli_command *command;
    bool json;     /* print nothing on standard output: fill `result` instead */
    bool quiet;    /* no talk, no warnings on standard error */
    bool verbose;  /* say how files were read */
    bool has_seed; /* --seed was given: a session's own gives way */
    uint64_t seed;
    int threads; /* 0: all cores */
    size_t n_operands;
    char *const *operand;
    json_t *result;        /* an object, printed after a success with --json */
    unsigned *formats;     /* what files have been read: bits 1 << mel_format; NULL: nobody asks */
    mel_status outcome;    /* the exit code of a run whose result is good as far as it goes: MEL_ESTOPPED */
    mel_progress progress; /* draws the bar and carries Ctrl-C into the library */
} cli_run;

typedef struct cli_command {
    const char *name;
    const char *summary;  /* a clause for the list of verbs */
    const char *operands; /* usage of what is not an option, e.g. "[VERB]"; NULL when there is none */
    size_t max_operands;
    const char *bare;        /* the option that a single word without dashes is the value of; NULL: none */
    const char *list;        /* the list that further words belong to; NULL: none */
    const char *description; /* paragraphs separated by an empty line */
    const cli_group *groups; /* without the common options */
    const cli_example *examples; /* ends with a NULL line */
    const char *notes;           /* as description, after the options; may be NULL */
    size_t args_size;
    const void *defaults; /* args_size bytes: what the arguments are before parsing */
    /* The kinds of input that were given; options that none of them reads are refused. 0 while that cannot be
     * said, NULL where every option is always read. */
    unsigned (*inputs)(const void *args);
    mel_status (*run)(cli_run *run, const void *args, mel_error *err);
    bool ranks; /* may be started as several, by mpirun */
} cli_command;

/* The table of verbs (main.c), ending with NULL, and the verb of that name or NULL. */
extern const cli_command *const cli_commands[];
const cli_command *cli_find_command(const char *name);

extern const cli_command cli_elicit, cli_serve, cli_study, cli_space_verb, cli_metric, cli_score, cli_rank,
    cli_apply, cli_optimise, cli_report, cli_train, cli_predict, cli_help, cli_version;

/* Fills in the options of elicit that the library's table has; before anything is parsed or printed. */
void cli_elicit_fill(void);

/* options.c: parsing. --name=value and --name value, unique prefixes, "--" ends the options; a scalar
 * option given twice is refused (MEL_EINVAL), as is every value outside its range or list. */
typedef struct {
    void *args;
    cli_common common;
    size_t n_operands;
    char **operand; /* what is no option; lent by argv */
    size_t n_kept;
    char **kept; /* values of settings, which arguments point to */
} cli_parsed;
mel_status cli_parse(cli_parsed *out, const cli_command *command, int argc, char **argv, mel_error *err);
void cli_parsed_clear(cli_parsed *parsed, const cli_command *command);

/* Group number i of a verb, the common options last; NULL beyond. *defaults receives what its options
 * are before parsing. */
const cli_group *cli_group_at(const cli_command *command, size_t i, const void **defaults);
/* The common options alone. */
const cli_group *cli_common_group(const void **defaults);
/* The default of an option as text; false when there is none worth showing (unset, false, 0). */
bool cli_option_default(char *text, size_t size, const cli_option *option, const void *defaults);

/* Errors of the program itself, as the library raises them. */
#define cli_fail(...) mel_fail(__VA_ARGS__)
/* Puts "place: " before the sentence that err already holds. */
mel_status cli_fail_in(mel_error *err, mel_status code, const char *place);

#endif

/* The cases: every verb, in the order of a day's work, and scripts of API calls for what verbs do not reach.
 */
#include "torture.h"

#include "base/internal.h"
#include "base/json.h"
#include "melicit/melicit.h"
#include "support/server/problem.h"

#include <fcntl.h>
#include <netinet/in.h>
#include <poll.h>
#include <pthread.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/socket.h>
#include <unistd.h>

#define COUNT(array) (sizeof(array) / sizeof *(array))

static FILE *create(const char *name)
{
    FILE *file = fopen(name, "w");
    if (file == NULL)
        abort();
    return file;
}

/* Tables of two and of three classes; probabilities, labels, groups and two classifiers' predictions of their
 * rows. */
static void write_rows(void)
{
    static const struct {
        const char *name, *columns;
    } files[] = { { "two.csv", "age,paid,town,sex,label" },
                  { "three.csv", "age,weight,town,label" },
                  { "new.csv", "age,paid,town,sex" },
                  { "p.csv", "well,ill" },
                  { "q.csv", "a,b,c" },
                  { "y.csv", "label" },
                  { "z.csv", "label" },
                  { "g.csv", "group" },
                  { "predicted.csv", "first,second" } };
    FILE *to[COUNT(files)];
    for (size_t i = 0; i < COUNT(files); i++) {
        to[i] = create(files[i].name);
        (void)fprintf(to[i], "%s\n", files[i].columns);
    }
    for (int i = 0; i < 48; i++) {
        const double age = 20 + i * 37 % 48, weight = 1.5 * (i * 29 % 31);
        const double ill = 0.05 + 0.9 * (i * 7 % 48) / 48, b = 0.1 + 0.3 * (i * 3 % 10) / 10;
        const bool sick = age + weight + i * 13 % 17 > 70, is_ill = ill > 0.2 + 0.1 * (i % 6);
        const char *town = i % 3 == 0 ? "Ulm" : "Bonn, old", *sex = i % 2 == 0 ? "f" : "m";
        (void)fprintf(to[0], "%g,%.2f $,\"%s\",%s,%s\n", age, weight, town, sex, sick ? "ill" : "well");
        (void)fprintf(to[1], "%g,%.2f,\"%s\",%c\n", age, weight, town, 'a' + (int)(age + i * 13 % 17) / 28);
        (void)fprintf(to[2], "%g,%.2f $,\"%s\",%s\n", age + 1, weight, town, sex);
        (void)fprintf(to[3], "%.4f,%.4f\n", 1 - ill, ill);
        (void)fprintf(to[4], "%.4f,%.4f,%.4f\n", (1 - b) * ill, b, (1 - b) * (1 - ill));
        (void)fprintf(to[5], "%s\n", is_ill ? "ill" : "well");
        (void)fprintf(to[6], "%s\n", i % 5 == 0 ? "b" : is_ill ? "a" : "c");
        (void)fprintf(to[7], "%s\n", i % 3 == 0 ? "north" : "south");
        (void)fprintf(to[8], "%s,%s\n", ill > 0.3 ? "ill" : "well", ill > 0.6 ? "ill" : "well");
    }
    for (size_t i = 0; i < COUNT(files); i++)
        (void)fclose(to[i]);
}

void torture_write_inputs(void)
{
    static const struct {
        const char *name, *text;
    } files[] = {
        { "study.json", test_study_text },
        { "pool.csv", "name,tp,tn,fp,fn\nA,40,45,5,10\nB,45,38,12,5\nC,30,49,1,20\n" },
        { "votes.csv", "a,b,winner\nA,B,B\nB,C,tie\n" },
        { "costs.csv", ",a,b,c\na,0,1,2\nb,3,0,1\nc,5,1,0\n" },
        { "parts-1.csv", "x,label\n1,0\n2,1\n3,0\n4,1\n2.5,1\n0,0\n" },
        { "parts-2.csv", "x,label\n5,1\n1.5,0\n3.5,1\n0.5,0\n4.5,1\n2,0\n" },
        { "rows.svm", "1 1:0.5 2:1\n-1 1:0.25\n1 2:3 3:1\n-1 1:2 3:0.5\n1 1:1 2:2\n-1 3:4\n" },
    };
    write_rows();
    for (size_t i = 0; i < COUNT(files); i++) {
        FILE *file = create(files[i].name);
        (void)fputs(files[i].text, file);
        (void)fclose(file);
    }
}

static int fail_script(mel_status status, const mel_error *err)
{
    if (status != MEL_OK)
        (void)fprintf(stderr, "%s\n", err->text);
    return mel_status_exit_code(status);
}

/* --- a session in memory: "session OPTIONS | PROBLEM", both as JSON -------------------------------- */

typedef struct {
    mel_problem_options about;
    mel_problem *problem;
    mel_session *session;
    mel_metric *metric;
    mel_outcome *outcome;
    char *json, *html, *log;
    double *draw;
} session_parts;

static mel_status answer_all(mel_session *session, mel_error *err)
{
    for (bool done = false; !done;) {
        const mel_question *question = NULL;
        TRY(mel_session_ask(&question, &done, session, err));
        if (!done)
            TRY(mel_session_tell(session, question->number,
                                 question->number % 3 == 0 ? MEL_ANSWER_B : MEL_ANSWER_A, 1.0, err));
    }
    return MEL_OK;
}

static mel_status use_session(session_parts *s, const char *options, const char *problem, mel_error *err)
{
    mel_session_options opt;
    mel_session_options_init(&opt);
    TRY(mel_session_options_from_json(&opt, options, err));
    TRY(mel_problem_from_json(&s->about, problem, err));
    const mel_problem_want want = mel_want_of_family(opt.family);
    TRY(mel_problem_make(&s->problem, &s->about, &want, err));
    opt.class_names = s->problem->class_name;
    opt.group_names = s->problem->group_name;
    opt.decisions = mel_decisions_usual();
    TRY(mel_session_new(&s->session, &s->problem->domain, &opt, err));
    TRY(answer_all(s->session, err));
    TRY(mel_session_undo(s->session, err));
    TRY(answer_all(s->session, err));
    TRY(mel_session_result(&s->metric, NULL, s->session, err));
    TRY(mel_outcome_of_session(&s->outcome, s->session, NULL, err));
    TRY(mel_outcome_to_json(&s->json, s->outcome, err));
    TRY(mel_session_to_text(&s->log, s->session, NULL, err));
    TRY(mel_report_session(&s->html, s->session, NULL, err));
    size_t n = 0, size = 0;
    if (opt.strategy == MEL_STRATEGY_ACTIVE)
        TRY(mel_session_draws(&n, &size, &s->draw, s->session, err));
    (void)printf("%s\n%s\n%zu\n%s\n", s->json, s->log, n, s->html);
    return MEL_OK;
}

static int run_session(const char *name)
{
    char options[1024];
    const char *problem = strchr(name, '|');
    (void)snprintf(options, sizeof options, "%.*s", (int)(problem - strchr(name, '{')), strchr(name, '{'));
    session_parts s = { .problem = NULL };
    mel_error err = { 0 };
    const mel_status status = use_session(&s, options, problem + 2, &err);
    free(s.draw);
    free(s.html);
    free(s.log);
    free(s.json);
    mel_outcome_free(s.outcome);
    mel_metric_free(s.metric);
    mel_session_free(s.session);
    mel_problem_free(s.problem);
    mel_problem_options_clear(&s.about);
    return fail_script(status, &err);
}

/* --- studies ------------------------------------------------------------------------------------ */

/* The id of the study, which is random, is kept in a file. */
static int create_study(const char *name)
{
    const int code = torture_verb(name);
    (void)fflush(stdout);
    char text[4096];
    FILE *said = fopen("stdout", "r"), *id = create("id");
    text[said != NULL ? fread(text, 1, sizeof text - 1, said) : 0] = '\0';
    const char *at = strstr(text, "\"id\": \"");
    if (at != NULL)
        (void)fprintf(id, "%.*s", (int)strcspn(at + 7, "\""), at + 7);
    (void)fclose(id);
    (void)fclose(said);
    return code;
}

/* "study ACTION ID ...", with the id of the file for ID. */
static int use_study(const char *name)
{
    char id[64] = "", line[512];
    FILE *file = fopen("id", "r");
    if (file == NULL || fscanf(file, "%63s", id) != 1)
        abort();
    (void)fclose(file);
    const char *place = strstr(name, "ID");
    (void)snprintf(line, sizeof line, "%.*s%s%s", (int)(place - name), name, id, place + 2);
    return torture_verb(line);
}

/* --- the server --------------------------------------------------------------------------------- */

/* Sends a request to the port and fails the process when there is no reply, or an error without a sentence.
 */
static void request_one(int port, const char *text)
{
    static char reply[1 << 20];
    const struct sockaddr_in there = { .sin_family = AF_INET,
                                       .sin_port = htons((uint16_t)port),
                                       .sin_addr = { htonl(INADDR_LOOPBACK) } };
    const int link = socket(AF_INET, SOCK_STREAM, 0);
    size_t n = 0;
    if (connect(link, (const struct sockaddr *)&there, sizeof there) == 0 &&
        send(link, text, strlen(text), 0) > 0)
        for (ssize_t more; (more = recv(link, reply + n, sizeof reply - 1 - n, 0)) > 0;)
            n += (size_t)more;
    (void)close(link);
    reply[n] = '\0';
    const bool refused = strncmp(reply, "HTTP/1.1 4", 10) == 0 || strncmp(reply, "HTTP/1.1 5", 10) == 0;
    if (strncmp(reply, "HTTP/1.1 ", 9) != 0 ? n > 0 : refused && strstr(reply, "\"error\"") == NULL) {
        (void)fprintf(stderr, "%s\ngot the reply\n%s\n", text, reply);
        _exit(70);
    }
}

/* Waits for the address on standard output, sends requests, ends the server. */
static void *send_requests(void *unused)
{
    static const char *const requests[] = { "GET / HTTP/1.1\r\n", "GET /api/page HTTP/1.1\r\n",
                                            "GET /api/demos HTTP/1.1\r\n",
                                            "POST /api/start HTTP/1.1\r\nContent-Length: 2\r\n",
                                            "POST /api/event HTTP/1.1\r\nContent-Length: 2\r\n" };
    char text[4096];
    int port = 0;
    for (int i = 0; i < 2000 && port == 0; i++) {
        (void)poll(NULL, 0, 5);
        const int said = open("stdout", O_RDONLY);
        const ssize_t n = read(said, text, sizeof text - 1);
        (void)close(said);
        text[n > 0 ? n : 0] = '\0';
        const char *at = strstr(text, "http://127.0.0.1:");
        port = at != NULL ? (int)strtol(at + 17, NULL, 10) : 0;
    }
    for (size_t i = 0; i < COUNT(requests) && port != 0; i++) {
        const char *body = strncmp(requests[i], "POST", 4) == 0 ? "{}" : "";
        (void)snprintf(text, sizeof text, "%sHost: 127.0.0.1:%d\r\nConnection: close\r\n\r\n%s", requests[i],
                       port, body);
        request_one(port, text);
    }
    (void)kill(getpid(), SIGTERM);
    return unused;
}

static int serve(const char *name)
{
    pthread_t client;
    if (pthread_create(&client, NULL, send_requests, NULL) != 0)
        abort();
    (void)pthread_detach(client); /* ends with the process */
    return torture_verb(name);
}

#define ROWS "--probs p.csv --labels y.csv --positive ill "
#define ELICIT "elicit " ROWS "--oracle sim:seven.json --quiet "

#define SESSION(family, strategy)                                                                            \
    "session {\"family\": \"" family "\", \"strategy\": \"" strategy "\", \"max_questions\": 3} | "
#define LOGISTIC_SPACE "{\"population\": \"logistic:a=5,b=0.7\"}"

const torture_case torture_cases[] = {
    { .name = "help" },
    { .name = "help elicit --json" },
    { .name = "help --as man" },
    { .name = "--version --json" },
    { .name = "elicti", .code = 2 },
    { .name = "metric --cost missed=7,false-alarm=1 --classes well,ill --out seven.json" },
    { .name = "metric --cost missed=1,false-alarm=1 --classes well,ill --out even.json" },
    { .name = "metric --costs costs.csv --out costs.json" },
    { .name = "metric --show costs.json --json" },
    { .name = "metric --named f1 --shares 0.4 --classes well,ill --out f1.json" },
    { .name = "train --data two.csv --positive ill --out two.json" },
    { .name = "train --data three.csv --out three.json --json" },
    { .name = "train --data parts-*.csv --out parts.json" },
    { .name = "train --data rows.svm --out svm.json" },
    { .name = "predict --model two.json --data new.csv --out probabilities.npy" },
    { .name = "space --data two.csv --positive ill --plot space.svg" },
    { .name = "space --probs q.csv --labels z.csv --json" },
    { .name = "elicit " ROWS "--oracle sim:seven.json --quiet --max-questions 2 --session s.jsonl --out "
              "found.json --report s.html" },
    { .name = "elicit --session s.jsonl --max-questions 3 --oracle sim:seven.json" },
    { .name = ELICIT
      "--max-questions 3 --assume flip --known prior=found.json:4 --until rank:pool.csv --session t.jsonl" },
    { .name = "elicit --respondents s.jsonl t.jsonl --out together.json" },
    { .name = "elicit --candidates pool.csv --classes well,ill --oracle sim:seven.json" },
    { .name = "elicit --candidates pool.csv --classes well,ill --comparisons votes.csv" },
    { .name = ELICIT "--max-questions 3 --strategy search --json" },
    { .name = "report --session s.jsonl --out report.html" },
    { .name = "rank --session s.jsonl --pool pool.csv --plot rank.svg" },
    { .name = "rank --named f1 --labels y.csv --predictions predicted.csv --positive ill --json" },
    { .name =
          "rank --named min-recall:every-group --labels y.csv --predictions predicted.csv --groups g.csv" },
    { .name =
          "score --metric seven.json --named f1 --labels y.csv --predictions predicted.csv --groups g.csv" },
    { .name = "score --named equalised-odds --labels y.csv --predictions predicted.csv --groups g.csv "
              "--positive ill" },
    { .name = "apply --metric seven.json " ROWS "--out classifier.json" },
    { .name = "apply --named g-mean --at-most flagged=40% " ROWS "--json" },
    { .name = "apply --metric seven.json --at-least recall[ill]=0.5 --confidence 0.6 " ROWS },
    { .name = "apply --metric seven.json --at-least accuracy=0.3 --confidence 0.6 " ROWS "--json" },
    { .name = "apply --compromise " ROWS "--metrics seven.json even.json" },
    { .name = "metric --show seven.json --json" },
    { .name = "predict --classifier classifier.json --probs p.csv --out decisions.csv" },
    { .name = "apply --metric costs.json --probs q.csv --labels z.csv" },
    { .name = "optimise --data two.csv --validation two.csv --metric g-mean --positive ill --iterations 2 "
              "--out w.json" },
    { .name =
          "optimise --data two.csv --validation two.csv --oracle sim:g-mean --session c.jsonl --out c.json" },
    { .name = SESSION("linear", "active") LOGISTIC_SPACE, run_session },
    { .name = SESSION("linear-fractional", "active") LOGISTIC_SPACE, run_session },
    { .name = SESSION("linear-fractional", "search") LOGISTIC_SPACE, run_session },
    { .name = SESSION("monotone", "search") "{\"population\": \"softmax:1,3,5\"}", run_session },
    { .name = SESSION("diagonal-linear", "active") "{\"population\": \"softmax:1,3,5\"}", run_session },
    { .name = SESSION("diagonal-linear", "search") "{\"population\": \"softmax:1,3,5\"}", run_session },
    { .name = SESSION("diagonal-linear-fractional", "search") "{\"population\": \"softmax:1,3,5\"}",
      run_session },
    { .name = SESSION("linear", "active") "{\"ball\": \"3\", \"radius\": 0.1}", run_session },
    { .name = SESSION("linear", "search") "{\"ball\": \"3\", \"radius\": 0.1}", run_session },
    { .name = SESSION("quadratic", "active") "{\"ball\": \"3\", \"radius\": 0.1}", run_session },
    { .name = SESSION("quadratic", "search") "{\"ball\": \"3\", \"radius\": 0.1}", run_session },
    { .name = SESSION("polynomial:3", "search") "{\"ball\": \"2\", \"radius\": 0.1}", run_session },
    { .name = SESSION("fair-linear", "active") "{\"ball\": \"2,2\", \"radius\": 0.1}", run_session },
    { .name = SESSION("fair-linear", "search") "{\"ball\": \"2,2\", \"radius\": 0.1}", run_session },
    { .name = SESSION("fair-quadratic", "active") "{\"ball\": \"2,2\", \"radius\": 0.1}", run_session },
    { .name = SESSION("fair-quadratic", "search") "{\"ball\": \"2,2\", \"radius\": 0.1}", run_session },
    { .name = "study check study.json", .most = 60 },
    { .name = "study create study.json --json --store s.db", .script = create_study, .most = 60 },
    { .name = "study rehearse ID --participants 1 --metric 7 --store s.db", .script = use_study, .most = 60 },
    { .name = "study show ID --json --store s.db", .script = use_study, .most = 40 },
    { .name = "study export ID --out answers.csv --store s.db", .script = use_study, .most = 40 },
    { .name = "study links ID p1 p2 --store s.db", .script = use_study, .most = 40 },
    { .name = "study plan ID --participants 2 --metric 7 --plan spread=0.3 --store s.db",
      .script = use_study,
      .most = 40 },
    { .name = "study delete ID --all --store s.db", .script = use_study, .most = 40 },
    { .name = "serve --port 0 --store served.db", .script = serve, .most = 60 },
    { .name = NULL },
};

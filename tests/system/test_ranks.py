"""Several ranks under mpirun: the bits of one process, for each verb that reads rows."""
import gzip
import json
import os
import re
import shutil
import subprocess

import numpy
import pytest
from classes import layout, metric_text
from conftest import PROGRAM, Outcome, environment

ROWS = 5000

pytestmark = [
    pytest.mark.skipif(shutil.which("mpirun") is None, reason="mpirun is not there"),
    pytest.mark.plain("Open MPI leaves memory behind, which a sanitizer reports"),
]


def mpirun(melicit, ranks, *command, few=2200, timeout=400, answers=""):
    """Standard output and error of all ranks, and mpirun's exit code; rank 0 reads the answers."""
    # Without ssh, as root, with more ranks than cores: whatever the machine is, it is one machine.
    env = environment(OMPI_ALLOW_RUN_AS_ROOT="1", OMPI_ALLOW_RUN_AS_ROOT_CONFIRM="1", OMPI_MCA_plm="isolated",
                      OMPI_MCA_rmaps_base_oversubscribe="1", OMPI_MCA_hwloc_base_binding_policy="none",
                      OMPI_MCA_btl="self,vader", OMPI_MCA_btl_vader_single_copy_mechanism="none", OMP_WAIT_POLICY="passive",
                      MELICIT_RANK_ROWS=str(few))  # passes over all rows are divided, those over folds are not
    done = subprocess.run(["mpirun", "-n", str(ranks), *map(str, command)], input=answers.encode(), capture_output=True,
                          cwd=melicit.folder, env=env, timeout=timeout)
    return Outcome(done.returncode, done.stdout.decode(), done.stderr.decode())


@pytest.fixture(scope="module")
def folder(tmp_path_factory):
    """Probabilities, labels and groups, a score of two classes, and a table with texts: in five files each, and whole."""
    at = tmp_path_factory.mktemp("ranks")
    rng = numpy.random.default_rng(11)
    x = rng.normal(size=(ROWS, 3))
    z = x @ rng.normal(size=(3, 3)) + rng.gumbel(size=(ROWS, 3))
    y = z.argmax(axis=1)
    p = numpy.exp(x @ rng.normal(size=(3, 3)))
    p /= p.sum(axis=1, keepdims=True)
    score = 1 / (1 + numpy.exp(-x[:, 0] - x[:, 1]))
    two = (rng.random(ROWS) < score).astype(int)
    g = (x[:, 2] > 0.2).astype(int)
    lines = [f"{a:.5f},{b:.5f},{'uvw'[int(c > 0) + int(c > 1)]},{'abc'[d]}" for (a, b, c), d in zip(x, y)]
    cuts = [0, 900, 1000, 2500, 4000, ROWS]
    for i, (low, high) in [("all", (0, ROWS)), *enumerate(zip(cuts, cuts[1:]))]:
        for name, of in (("p", p), ("y", y), ("s", score), ("t", two), ("g", g)):
            numpy.save(at / f"{name}{'' if i == 'all' else '-'}{i}.npy", of[low:high])
        with gzip.open(at / f"d{'' if i == 'all' else '-'}{i}.csv.gz", "wt", compresslevel=1) as file:
            file.write("\n".join(["a,b,c,label", *lines[low:high]]) + "\n")
        (at / f"l{'' if i == 'all' else '-'}{i}.svm").write_text(
            "".join(f"{d} 1:{a:.5f} {2 + d}:{b:.5f}\n" for (a, b, _), d in zip(x[low:high], y[low:high])))
    for i, (low, high) in enumerate(((0, 300), (300, 400), (400, 700))):
        for name, of in (("p", p), ("y", y)):
            numpy.save(at / f"few-{name}-{i}.npy", of[low:high])
    (at / "w.json").write_text(metric_text("diagonal-linear", layout("confusion", "diagonal", 3), a=[0.5, 0.3, 0.2]))
    return at


@pytest.fixture(scope="module")
def classes(folder):
    """So many rows of three classes that rules are not found again on draws of them; one of the files has one class and one group."""
    rng = numpy.random.default_rng(5)
    cuts = [0, 9000, 9100, 15000, 21000]
    s = rng.normal(size=(cuts[-1], 3))
    y = (1.3 * s + rng.gumbel(size=s.shape)).argmax(axis=1)
    g = (s[:, 0] + rng.normal(size=len(s)) > 0.3).astype(int)
    y[9000:9100] = g[9000:9100] = 1
    p = numpy.exp(s)
    p /= p.sum(axis=1, keepdims=True)
    for i, (low, high) in enumerate(zip(cuts, cuts[1:])):
        for name, of in (("p", p), ("y", y), ("g", g)):
            numpy.save(folder / f"three-{name}-{i}.npy", of[low:high])
        (folder / f"three-c-{i}.csv").write_text("".join(["label,cost\n", *(f"{c},{1 + abs(a):.4f}\n" for c, a in zip(y[low:high], s[low:high, 1]))]))
        (folder / f"two-{i}.csv").write_text("".join(["a,b,cost,label\n", *(f"{a:.4f},{b:.4f},{1 + abs(c):.4f},{'ny'[int(a + c > 0)]}\n"
                                                                           for a, b, c in s[low:low + 90])]))


@pytest.fixture
def rows(melicit, folder):
    for file in folder.iterdir():
        (melicit.folder / file.name).symlink_to(file)
    return melicit


PROBS = ("--probs", "p-*.npy", "--labels", "y-*.npy")
GROUPED = ("--probs", "s-*.npy", "--labels", "t-*.npy", "--groups", "g-*.npy")
VERBS = {
    "train": ("train", "--data", "d-*.csv.gz", "--out", "out.json"),
    "train_sparse": ("train", "--data", "l-*.svm", "--out", "out.json"),
    "space": ("space", "--direction", "1,0,1", "--coordinates", "diagonal", *PROBS),
    "apply": ("apply", "--named", "g-mean", *GROUPED, "--out", "out.json"),
    "apply_classes": ("apply", "--named", "accuracy", "--probs", "few-p-*.npy", "--labels", "few-y-*.npy", "--folds", "2",
                      "--out", "out.json"),
    "apply_counted": ("apply", "--named", "g-mean", *GROUPED, "--count-scores", "--out", "out.json"),
    "apply_point": ("apply", "--point", "0.15,0.1,0.1", "--coordinates", "diagonal", *PROBS, "--out", "out.json"),
    "optimise": ("optimise", "--metric", "g-mean", "--iterations", "5", *PROBS, "--validation-probs", "p-*.npy",
                 "--validation-labels", "y-*.npy", "--out", "out.json"),
    "elicit": ("elicit", "--family", "diagonal-linear", "--oracle", "sim:w.json", "--max-questions", "8", *PROBS, "--out", "out.json"),
}


def results(melicit, ran):
    """What it printed, but for the time it took, and the file that it wrote."""
    out = melicit.folder / "out.json"
    said = ran.done().json
    said.pop("seconds", None)
    text = out.read_bytes() if out.exists() else None
    out.unlink(missing_ok=True)
    return said, text


@pytest.mark.parametrize("verb", VERBS)
def test_bits(rows, verb):
    """1 to 4 ranks, 1 and 2 threads: the same bits, and one voice."""
    command = (*VERBS[verb], "--json")
    one = results(rows, rows(*command, "--threads", "2"))
    for ranks, threads in ((2, 1),) if verb in ("elicit", "apply_classes", "apply_counted", "train_sparse") else ((2, 1), (3, 2), (4, 1)):
        several = mpirun(rows, ranks, PROGRAM, *command, "--threads", threads, few=600 if verb == "apply_classes" else 2200)
        assert results(rows, several) == one, ranks


THREE = ("--probs", "three-p-*.npy", "--labels", "three-y-*.npy")
THREE_GROUPS = (*THREE, "--groups", "three-g-*.npy", "--at-most", "demographic-parity=0.1")
RULES = {  # more ranks than files, too
    "curved": (("--named", "g-mean", *THREE), ((2, 1), (3, 2), (4, 1), (6, 1))),
    "linear": (("--metric", "w.json", "--evidence", "model", *THREE), ((3, 1),)),
    "groups": (("--named", "q-mean", *THREE_GROUPS), ((4, 2),)),
    "groups_unseen": (("--named", "accuracy", "--use-group", "no", *THREE_GROUPS), ((2, 1),)),
    "folds": (("--named", "q-mean", "--evidence", "labels", "--folds", "3", *THREE), ((3, 1),)),
    "folds_of_groups": (("--named", "accuracy", "--folds", "2", "--class-prior", "0=0.2,1=0.5,2=0.3", *THREE_GROUPS), ((2, 2),)),
    "reject": (("--metric", "w.json", "--reject", "0.4", "--at-most", "referred=20%", *THREE), ((4, 1),)),
    "hash": (("--named", "accuracy", "--rule", "hash", *THREE_GROUPS), ((3, 1),)),
    "mixture": (("--named", "g-mean", "--rule", "mixture", "--at-most", "share[1]=0.2", "--class-prior", "0=0.2,1=0.5,2=0.3", *THREE),
                ((2, 1),)),
    "costs": (("--named", "accuracy", "--row-cost", "cost", "--probs", "three-p-*.npy", "--labels", "three-c-*.csv", "--at-most", "share[1]=0.2"),
              ((3, 1),)),
    "costs_hash": (("--metric", "w.json", "--row-cost", "cost", "--probs", "three-p-*.npy", "--labels", "three-c-*.csv", "--at-most",
                    "share[1]=0.2", "--rule", "hash"), ((2, 1),)),
    "costs_two_classes": (("--named", "accuracy", "--row-cost", "cost", "--data", "two-*.csv"), ((3, 1),)),
    "prior_from": (("--named", "g-mean", "--class-prior-from", "pall.npy", *THREE), ((2, 1),)),
    "table": (("--named", "accuracy", "--data", "d-*.csv.gz", "--test-share", "0.2"), ((3, 1),)),
}


@pytest.mark.parametrize("rule", RULES)
def test_rules(classes, rows, rule):
    """Of three classes each rank holds the rows of its own files; sums, folds and salts are of all."""
    options, as_ranks = RULES[rule]
    command = ("apply", *options, "--out", "out.json", "--json")
    one = results(rows, rows(*command, "--threads", "2"))
    for ranks, threads in as_ranks:
        assert results(rows, mpirun(rows, ranks, PROGRAM, *command, "--threads", threads)) == one, ranks


ANSWER = "cmd:while read question; do echo a; done"
SPACES = {  # ANSWER: rank 0 asks, the others measure what it needs
    # The search for the radius has thousands of exchanges, each of which waits for all ranks on a busy machine.
    "inscribed": (("space", *PROBS), ((2, 1), (3, 2), (4, 1)) if os.environ.get("MELICIT_SOAK") else ((2, 1),)),
    "groups": (("space", "--kind", "rates", "--radius-method", "thesis", *THREE, "--groups", "three-g-*.npy"), ((2, 2),)),
    "model": (("space", "--evidence", "model", "--radius-method", "thesis", "--coordinates", "diagonal", *THREE, "--plot", "out.json"), ((2, 1),)),
    "point": (("space", "--point", "0.5,0.2,0.2", "--coordinates", "diagonal", *THREE), ((4, 2),)),  # that is searched for by labels
    "direction": (("space", "--direction", "1,0,1", "--coordinates", "diagonal", "--kind", "rates", "--data", "d-*.csv.gz"), ((3, 1),)),
    "scores": (("space", "--probs", "s-*.npy", "--labels", "t-*.npy", "--plot", "out.json"), ((3, 1),)),  # one number of each row is exchanged
    "counted": (("elicit", "--count-scores", "--oracle", ANSWER, "--max-questions", "3", "--probs", "s-*.npy", "--labels", "t-*.npy",
                 "--out", "out.json"), ((3, 1),)),
    "two_classes": (("elicit", "--family", "fair-linear", "--evidence", "model", "--oracle", ANSWER, "--max-questions", "3", *GROUPED,
                     "--report", "out.json"), ((2, 1),)),
    "radius": (("space", "--radius-method", "thesis", *THREE), ((2, 2),)),
    "many_rows": (("space", "--probs", "many-p-*.npy", "--labels", "many-y-*.npy"), ((3, 1),)),  # of which a sample is searched
    "elicit_fair": (("elicit", "--family", "fair-linear", "--evidence", "model", "--oracle", ANSWER, "--max-questions", "3", *THREE, "--groups", "three-g-*.npy",
                     "--out", "out.json"), ((3, 1),)),
    "elicit_near": (("elicit", "--family", "linear", "--questions", "realistic", "--oracle", ANSWER, "--max-questions", "3",
                     "--probs", "few-p-*.npy", "--labels", "few-y-*.npy", "--report", "out.json"), ((2, 1), (4, 2))),
    "elicit_search": (("elicit", "--family", "diagonal-linear", "--strategy", "search", "--oracle", "sim:w.json", *THREE, "--out", "out.json"),
                      ((2, 1),)),
}


@pytest.mark.parametrize("space", SPACES)
def test_spaces(classes, rows, space):
    """Each rank holds the rows of its own files; one of them has rows of one class and group only."""
    command, as_ranks = SPACES[space]
    if space == "many_rows":
        for i in range(2):
            for name in ("p", "y"):
                numpy.save(rows.folder / f"many-{name}-{i}.npy", numpy.concatenate([rows.load(f"three-{name}-{j}.npy") for j in range(4)]))
    one = results(rows, rows(*command, "--threads", "2", "--json"))
    for ranks, threads in as_ranks:
        several = mpirun(rows, ranks, PROGRAM, *command, "--threads", threads, "--json", few=100)
        assert results(rows, several) == one, ranks


def test_memory_of_ranks(rows):
    """What a rank takes falls with the number of ranks."""
    rng = numpy.random.default_rng(7)
    for i in range(6):
        numpy.save(rows.folder / f"large-p-{i}.npy", rng.dirichlet(numpy.full(9, 0.5), 60000))
        numpy.save(rows.folder / f"large-y-{i}.npy", rng.integers(0, 9, 60000))
    for command in (("space", "--coordinates", "diagonal", "--direction", "1,0,0,0,0,0,0,0,0"), ("apply", "--named", "accuracy")):
        taken = [int(re.search(r"([0-9]+) MB in rank 0", mpirun(rows, ranks, PROGRAM, *command, "--probs", "large-p-*.npy", "--labels", "large-y-*.npy",
                                                                "--evidence", "model", "--verbose", few=1000).done().err)[1]) for ranks in (2, 6)]
        assert taken[0] - taken[1] > 360000 * 9 * 8 / 3 / 1e6  # a sixth of the rows instead of a half


def test_the_others_leave_when_rank_0_fails(rows):
    """A program that answers nonsense ends all of them, with its sentence."""
    command = ("elicit", "--family", "linear", "--oracle", "cmd:read question; echo nonsense", *PROBS)
    alone = rows(*command)
    several = mpirun(rows, 3, PROGRAM, *command, few=100)
    assert alone.code != 0 and several.code == alone.code
    assert [line for line in several.err.splitlines() if line.startswith("melicit")] == alone.err.splitlines()


def test_questions_about_referred_cases(classes, rows):
    """Rank 0 asks, all go by the answers."""
    command = ("apply", "--metric", "w.json", "--reject", "ask", *THREE, "--out", "out.json", "--json")
    one = results(rows, rows(*command, stdin="1\n2\n=\n"))
    several = mpirun(rows, 2, PROGRAM, *command, answers="1\n2\n=\n")
    assert results(rows, several) == one and several.err.count("Question 2") == 1
    ended = mpirun(rows, 2, PROGRAM, *command, answers="1\n")
    assert ended.code == 2 and ended.err.count("standard input ended") + ended.out.count("standard input ended") == 1


def test_rows_are_divided(rows):
    """A rank keeps its own files: classes that only one file has, ranks without a file, and several slices of a file are the same to all."""
    for name, code in (("k-0", [2, 0]), ("k-1", [1, 1]), ("k-2", [0, 0])):
        rng = numpy.random.default_rng(code)
        numpy.save(rows.folder / f"{name}.npy", rng.permutation(numpy.repeat(code, 70000)))
        numpy.save(rows.folder / f"q{name}.npy", rng.dirichlet([1, 1, 1], 140000))
    command = ("optimise", "--metric", "g-mean", "--iterations", "2", "--probs", "qk-*.npy", "--labels", "k-*.npy", "--validation-probs", "qk-*.npy",
               "--validation-labels", "k-*.npy", "--out", "out.json", "--json")
    one = results(rows, rows(*command, "--threads", "2"))
    assert results(rows, mpirun(rows, 4, PROGRAM, *command)) == one
    assert results(rows, mpirun(rows, 4, PROGRAM, *command, "--memory", "64M")) == one


@pytest.mark.parametrize("verb, at", [("optimise", 0), ("optimise", 3), ("apply_curved", 3), ("space", 3)])
def test_a_row_that_is_wrong(rows, verb, at):
    """Whoever has it, its number is that of a single process."""
    values = rows.load(f"p-{at}.npy")
    values[-1] *= 0.9
    (rows.folder / f"p-{at}.npy").unlink()
    numpy.save(rows.folder / f"p-{at}.npy", values)
    command = VERBS[verb] if verb in VERBS else ("apply", "--named", "g-mean", *PROBS)
    alone = rows(*command)
    several = mpirun(rows, 3, PROGRAM, *command)
    assert alone.code == 3 and several.code == 3 and "sum to" in alone.err
    assert [line for line in several.err.splitlines() if line.startswith("melicit")] == alone.err.splitlines()


@pytest.mark.parametrize("wrong, words", [
    ({1: "0.2,x,0.3", 2: "0.2,0.1,y"}, 'row 3, column "1": "x" is not a number'),  # all ranks see texts, one has this one
    ({1: "0.2,0.5,-1", 2: "0.2,-1,0.3"}, 'row 5, column "1": -1 is not within 0 and 1'),  # columns come before rows
    ({1: "0.2,0.1,0.3", 2: "0.2,0.1,0.4"}, "row 3: 3 probabilities sum to 0.6, not 1"),
])
def test_the_first_of_wrong_rows(rows, wrong, words):
    """Files 0 and 2 are the first rank's: what it would refuse is not what one process comes to first."""
    for i in range(3):
        rows.write(f"w-{i}.csv", f"0,1,2\n{wrong.get(i, '0.2,0.5,0.3')}\n0.1,0.1,0.8\n")
        rows.write(f"v-{i}.csv", f"label\n{i}\n{2 - i}\n")
    command = ("apply", "--named", "accuracy", "--probs", "w-*.csv", "--labels", "v-*.csv")
    alone, several = rows(*command).refused(3, words), mpirun(rows, 2, PROGRAM, *command)
    assert several.code == 3 and [line for line in several.err.splitlines() if line.startswith("melicit")] == alone.err.splitlines()


def test_warnings_of_counted_scores(rows):
    """Each rank counts some files; what reading them has to say is that of one process, up to one that is refused."""
    for i in range(5):
        rows.write(f"w-{i}.csv", "0,1\n0.3,0.7\n0.2,0.8\n" + (f"0.3,0.699{i}\n" if i > 0 else ""))
        rows.write(f"v-{i}.csv", "label\n0\n1\n" + ("1\n" if i > 0 else ""))
    command = ("apply", "--named", "accuracy", "--evidence", "labels", "--count-scores", "--probs", "w-*.csv", "--labels", "v-*.csv", "--json")
    one = results(rows, rows(*command))
    assert sum("rescaled" in warning for warning in one[0]["warnings"]) == 4
    assert results(rows, mpirun(rows, 2, PROGRAM, *command)) == one
    for i in (2, 3):
        rows.write(f"w-{i}.csv", "0,1\n0.3,0.7\n0.2,0.9\n0.5,0.5\n")
    alone, several = rows(*command[:-1]).refused(3, "w-2.csv: row 3"), mpirun(rows, 2, PROGRAM, *command[:-1])
    assert several.code == 3 and [line for line in several.err.splitlines() if line.startswith("melicit")] == alone.err.splitlines()


def test_predict(rows):
    """Ranks have rows of their own, more ranks than files in one of the rounds; what is written and counted is of all."""
    rows("train", "--data", "d-*.csv.gz", "--out", "m.json").done()
    (rows.folder / "d-9.csv").write_text("c,a,b,label\nnew,1,,a\nu,,2,b\n")  # a text that is not known, and cells that are missing
    for out, ranks, more in (("npy", 3, ()), ("csv", 4, ("--decisions",))):
        command = ("predict", "--model", "m.json", "--data", "d-*.csv*", *more, "--json", "--out")
        one = rows(*command, f"one.{out}").done()
        several = mpirun(rows, ranks, PROGRAM, *command, f"several.{out}").done()
        assert (rows.folder / f"one.{out}").read_bytes() == (rows.folder / f"several.{out}").read_bytes()
        assert one.json | {"out": "", "seconds": 0} == several.json | {"out": "", "seconds": 0}
        assert one.json["unseen"] == 1 and one.json["imputed"] == 2 and one.json["rows"] == ROWS + 2


def halves(*gains, **more):
    """A classifier that tosses a coin between rules that say the opposite."""
    return json.dumps({"format": "melicit-classifier", "version": 1, "classes": ["0", "1"], "labels": ["0", "1"], "groups": [], **more,
                       "rules": [{"gain": gain, "share": 0.5} for gain in gains]})


KEEP, TURN = [[1, 0], [0, 1]], [[0, 1], [1, 0]]
TWO = ("--probs", "s*.npy")
DECIDERS = {  # classifier, files, ranks
    "coins": (halves(KEEP, TURN), TWO, 2),
    "groups": (halves([KEEP, TURN], [TURN, KEEP], groups=["0", "1"]), (*TWO, "--groups", "g*.npy"), 3),
    "hash": (halves(KEEP, TURN, salts=[5]), TWO, 2),
    "costs": (halves(KEEP, TURN, row_cost=["", "amount"]), (*TWO, "--costs", "c*.csv"), 7),
    "ids": (halves(KEEP, TURN), (*TWO, "--ids", "i*.csv"), 2),
    "ids_of_all_kinds": (halves(KEEP, TURN), (*TWO, "--ids", "j*.csv"), 2),
    "chances": (halves(KEEP, TURN), (*TWO, "--chances"), 4),
    "model": (None, ("--data", "d*.csv.gz", "--model", "m.json"), 3),
    "one_file_of_groups": (halves([KEEP, TURN], [TURN, KEEP], groups=["0", "1"]), (*TWO, "--groups", "gall.npy"), 2),
}


def companions(rows):
    """Costs, ids that are numbers, and ids that are numbers in some of the files only."""
    sizes = {i: len(rows.load(f"s{i}.npy")) for i in ("all", "-0", "-1", "-2", "-3", "-4")}
    first = {"all": 0, **dict(zip(list(sizes)[1:], numpy.cumsum([0, *list(sizes.values())[1:]]).tolist()))}
    for i, n in sizes.items():
        at = range(first[i], first[i] + n)
        rows.write(f"c{i}.csv", "amount\n" + "".join(f"{(a * 7919) % 13 + 0.5}\n" for a in at))
        rows.write(f"i{i}.csv", "id\n" + "".join(f"{a}\n" for a in at))
        rows.write(f"j{i}.csv", "id\n" + "".join(f"{a}\n" if a > 2500 else f"0{a}.0\n" if a > 0 else "first\n" for a in at))


@pytest.mark.parametrize("kind", DECIDERS)
def test_decisions_file_by_file(rows, kind):
    """A classifier sees some files in each rank, or one after the other: coins fall as they do for all rows at once."""
    classifier, files, ranks = DECIDERS[kind]
    companions(rows)
    if kind == "model":
        rows("train", "--data", "dall.csv.gz", "--out", "m.json").done()
        classifier = json.dumps({**json.loads(halves()), "classes": list("abc"), "labels": list("abc"),
                                 "rules": [{"gain": numpy.roll(numpy.eye(3), r, 1).tolist(), "share": 1 / 3} for r in range(3)]})
    rows.write("half.json", classifier)
    command = ("predict", "--classifier", "half.json", "--seed", "5", "--json", "--out")

    def named(sign):
        return [f.replace("*", sign) for f in files]

    whole = rows(*command, "whole.npy", *named("all")).done().json
    parts = rows(*command, "parts.npy", *named("-*")).done().json
    several = mpirun(rows, ranks, PROGRAM, *command, "several.npy", *named("-*")).done().json
    alike = {"out": "", "seconds": 0, "probs": "", "model": "", "warnings": []}
    assert whole | alike == parts | alike and several | {"out": "", "seconds": 0} == parts | {"out": "", "seconds": 0}
    bytes_of = {name: (rows.folder / f"{name}.npy").read_bytes() for name in ("whole", "parts", "several")}
    assert bytes_of["parts"] == bytes_of["several"] and whole["rows"] == ROWS
    if kind == "ids_of_all_kinds":  # "03.0" is a text where other files have texts
        assert "numbers in some files" in parts["warnings"][0]
    assert bytes_of["whole"] == bytes_of["parts"]


def test_basis_functions_file_by_file(rows):
    """The same for a classifier that reads features."""
    rows("optimise", "--metric", "g-mean", "--iterations", "4", "--probs", "pall.npy", "--labels", "yall.npy", "--validation-probs", "pall.npy",
         "--validation-labels", "yall.npy", "--validation-features", "dall.csv.gz", "--features", "dall.csv.gz", "--basis", "default+columns:c=u,c=v",
         "--out", "basis.json").done()
    command = ("predict", "--classifier", "basis.json", "--out")
    rows(*command, "whole.npy", "--probs", "pall.npy", "--features", "dall.csv.gz").done()
    rows(*command, "parts.npy", "--probs", "p-*.npy", "--features", "d-*.csv.gz").done()
    mpirun(rows, 3, PROGRAM, *command, "several.npy", "--probs", "p-*.npy", "--features", "d-*.csv.gz").done()
    whole, parts, several = (rows.load(f"{name}.npy") for name in ("whole", "parts", "several"))
    assert (whole == parts).all() and (parts == several).all() and len(set(whole.tolist())) == 3


def megabytes(melicit, *command):
    """The most memory that one process had."""
    process = subprocess.Popen([PROGRAM, *command], cwd=melicit.folder, env=environment(), stdout=subprocess.DEVNULL)
    _, status, used = os.wait4(process.pid, 0)
    process.returncode = os.waitstatus_to_exitcode(status)
    assert process.returncode == 0
    return used.ru_maxrss / 1024


def test_memory_is_that_of_a_file(rows):
    """Four times the files take no more memory, as one process and as two."""
    rows.write("three.json", json.dumps({**json.loads(halves()), "classes": list("012"), "labels": list("012"),
                                         "rules": [{"gain": numpy.eye(3).tolist(), "share": 1}]}))
    values = numpy.random.default_rng(1).dirichlet([1, 1, 1], 100000)
    for i in range(16):
        numpy.save(rows.folder / f"{'few' if i < 4 else 'many'}-{i:02}.npy", values)
        (rows.folder / f"many-{i:02}.npy").exists() or (rows.folder / f"many-{i:02}.npy").symlink_to(f"few-{i:02}.npy")

    def used(pattern):
        command = ("predict", "--classifier", "three.json", "--probs", pattern, "--out", "out.npy")
        told = mpirun(rows, 2, PROGRAM, *command, "--json", "--verbose").done().json
        return megabytes(rows, *command), float(re.search(r"([0-9]+) MB in rank 0", " ".join(told["notes"])).group(1))

    few, many = used("few-??.npy"), used("many-??.npy")  # 10 MB and 38 MB of numbers
    assert many[0] < few[0] + 4 and many[1] < few[1] + 4


def test_files_that_are_not_alike(rows):
    """Columns without names are in sorted order, those with names in theirs; warnings are of all ranks."""
    rows.write("half.json", halves(KEEP, TURN))
    rows.write("q-0.csv", "1,0\n0.3,0.7\n0.3,0.699\n")
    rows.write("q-1.csv", "1,0\n0.2,0.801\n")
    command = ("predict", "--classifier", "half.json", "--probs", "q-*.csv", "--out", "out.csv", "--json")
    one, several = rows(*command).done().json, mpirun(rows, 3, PROGRAM, *command).done().json
    assert one["warnings"] == several["warnings"] and len(one["warnings"]) == 2 and "q-1.csv" in one["warnings"][1]
    for text, words in (("0.2,0.8\n", "has not a header, and q-0.csv has"), ("p\n0.2\n", "has 1 column, and q-0.csv has 2"),
                        ("1,0\n0.2,0.9\n", "q-1.csv: row 2: 2 probabilities sum to 1.1, not 1")):
        rows.write("q-1.csv", text)
        alone, together = rows(*command[:-1]).refused(3, words), mpirun(rows, 2, PROGRAM, *command[:-1])
        assert together.code == 3 and [line for line in together.err.splitlines() if line.startswith("melicit")] == alone.err.splitlines()


def test_other_files(rows):
    """The same rows as one file: to the last digits."""
    for name in ("parts", "whole"):
        rows("train", "--data", "d-*.csv.gz" if name == "parts" else "dall.csv.gz", "--test-share", "0", "--out", f"{name}.json").done()
        rows("predict", "--model", f"{name}.json", "--data", "dall.csv.gz", "--out", f"{name}.npy").done()
    assert rows.load("parts.npy") == pytest.approx(rows.load("whole.npy"), abs=1e-12, rel=0)


JUDGE = """
import json, os, signal, sys
for line in sys.stdin:
    chances = json.loads(line)["chances"]
    open("asked", "a").write("x")
    print(1 - abs(sum(c[1] for c in chances) / len(chances) - 0.4), flush=True)
"""


def test_program(rows):
    """A program that judges is started and asked once, by rank 0."""
    rows.write("judge.py", JUDGE)
    for name in ("p", "y"):
        numpy.save(rows.folder / f"v{name}.npy", rows.load(f"{name}all.npy")[:200])
    command = ("optimise", "--metric", "cmd:exec /usr/bin/python3 judge.py", "--iterations", "2", *PROBS, "--validation-probs",
               "vp.npy", "--out", "out.json", "--json")
    one = results(rows, rows(*command))
    asked = (rows.folder / "asked").read_text()
    (rows.folder / "asked").unlink()
    assert results(rows, mpirun(rows, 2, PROGRAM, *command)) == one
    assert (rows.folder / "asked").read_text() == asked


def test_tasks_without_mpi(rows):
    """What srun without --mpi=pmix starts is no ranks: a warning, of the first of them."""
    for task, warned in (("0", True), ("1", False)):
        ran = rows("version", env={"SLURM_STEP_NUM_TASKS": "2", "SLURM_PROCID": task})
        assert ran.code == 0 and ("--mpi=pmix" in ran.err) == warned

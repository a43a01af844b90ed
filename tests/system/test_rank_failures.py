"""Several ranks under mpirun: what happens when one of them fails or dies, and runs that go on where they were."""
import json
import subprocess

import numpy
import pytest
from conftest import PROGRAM
from test_ranks import KEEP, PROBS, TURN, TWO, VERBS, folder, halves, mpirun, pytestmark, results, rows  # noqa: F401 (fixtures among them)


def test_a_file_that_cannot_be_read(rows):
    """Whoever reads it, all ranks end, with the sentence of a single process, once."""
    (rows.folder / "p-3.npy").unlink()
    rows.write("p-3.npy", b"\x93NUMPY damaged")
    alone = rows("space", *PROBS)
    several = mpirun(rows, 3, PROGRAM, "space", *PROBS)
    assert alone.code == 3 and several.code == 3 and several.out == ""
    assert [line for line in several.err.splitlines() if line.startswith("melicit")] == alone.err.splitlines()


def test_one_rank_fails(rows):
    """The others, which wait for it, end with it."""
    ran = mpirun(rows, 3, "sh", "-c", f"exec {PROGRAM} space --probs 'p-*.npy' --labels 'y-*.npy' "
                                      "$([ $OMPI_COMM_WORLD_RANK = 1 ] && echo --bogus)")
    assert ran.code != 0 and ran.out == "" and "melicit space: " in ran.err and "--bogus" in ran.err


def test_different_files(rows):
    """Ranks that do not read the same are stopped."""
    ran = mpirun(rows, 2, "sh", "-c", "case $OMPI_COMM_WORLD_RANK in 0) a='-*' ;; *) a=all ;; esac; "
                                      f'exec {PROGRAM} space --probs "p$a.npy" --labels "y$a.npy"')
    assert ran.code != 0 and "went different ways" in ran.err


@pytest.mark.parametrize("command", [("space", *PROBS), ("predict", "--classifier", "half.json", *TWO, "--out", "out.csv"),
                                     ("apply", "--named", "g-mean", "--probs", "s-*.npy", "--labels", "t-*.npy", "--count-scores")])
def test_a_file_that_a_rank_does_not_see(rows, command):
    """Ranks take files by their number: with one less, a rank would take the one behind it, and nobody would know."""
    (rows.folder / "other").mkdir()
    rows.write("half.json", halves(KEEP, TURN))
    for file in rows.folder.iterdir():
        if file.name not in ("other", "p-3.npy", "s-3.npy"):
            (rows.folder / "other" / file.name).symlink_to(file)
    (rows.folder / "sall.npy").unlink()
    words = " ".join(f"'{word}'" for word in command)
    ran = mpirun(rows, 3, "sh", "-c", f"[ $OMPI_COMM_WORLD_RANK = 1 ] && cd other; exec {PROGRAM} {words}")
    assert ran.code == 3 and "ranks 0 and 1 do not see the same files" in ran.err and ran.out == "" and not (rows.folder / "out.csv").exists()


def test_standard_input_is_that_of_one_rank(rows):
    ran = mpirun(rows, 2, PROGRAM, "train", "--data", "-", "--out", "out.json")
    assert ran.code == 2 and "--data -: of several ranks one has standard input" in ran.err and not (rows.folder / "out.json").exists()


def test_no_colours(rows):
    """mpirun lends a terminal of its own, whatever its output goes to."""
    assert "\x1b" not in mpirun(rows, 2, PROGRAM, *VERBS["train"]).done().out


LITTLE_MEMORY = """
#include <dlfcn.h>
#include <errno.h>
#include <stdlib.h>
#include <string.h>
void *calloc(size_t n, size_t size)
{
    static void *(*real)(size_t, size_t);
    static char early[4096];
    if (real == NULL && early[0]++ == 0)
        real = (void *(*)(size_t, size_t))dlsym(RTLD_NEXT, "calloc");
    const char *rank = getenv("OMPI_COMM_WORLD_RANK");
    if (n * size > 20000 && size == 24 && rank != NULL && strcmp(rank, "1") == 0) {
        errno = ENOMEM;
        return NULL;
    }
    return real != NULL ? real(n, size) : memset(early + 16, 0, sizeof early - 16);
}
"""


def test_a_rank_without_memory(rows):
    """It says so though it is not rank 0, and leaves nothing behind."""
    rows.write("little.c", LITTLE_MEMORY)
    subprocess.run(["cc", "-D_GNU_SOURCE", "-shared", "-fPIC", "-o", "little.so", "little.c"], cwd=rows.folder, check=True)
    rows.write("three.json", json.dumps({**json.loads(halves()), "classes": list("012"), "labels": list("012"),
                                         "rules": [{"gain": numpy.eye(3).tolist(), "share": 1}]}))
    ran = mpirun(rows, 2, "env", f"LD_PRELOAD={rows.folder}/little.so", PROGRAM, "predict", "--classifier", "three.json", "--probs", "p-*.npy", "--chances",
                 "--out", "out.csv")
    assert ran.code == 1 and ran.err.count("melicit: out of memory") == 1 and not list(rows.folder.glob("out.csv*"))


def test_killed_while_writing(rows, kill_at_sync):
    """What was written so far has no name."""
    rows.write("half.json", halves(KEEP, TURN))
    command = ("predict", "--classifier", "half.json", "--probs", "s-*.npy", "--out", "out.csv")
    ran = mpirun(rows, 2, "env", f"LD_PRELOAD={kill_at_sync}", "KILL_AT_SYNC=1", PROGRAM, *command)
    assert ran.code != 0 and "signal 9" in ran.err and not list(rows.folder.glob("out.csv*"))


ANSWERING = """
import json, os, signal, sys
for line in sys.stdin:
    asked = json.loads(line)
    open("asked", "a").write("x")
    if len(open("asked").read()) == int(sys.argv[1]):
        os.kill(os.getppid(), signal.SIGKILL)
    a, b = (sum(w * x for w, x in zip((0.5, 0.3, 0.2), asked[side]["statistics"])) for side in "ab")
    print("A" if a > b else "B", flush=True)
"""


def test_elicit_goes_on(rows):
    """A session that is killed as three ranks is ended by two, and by one process, as if nothing had happened."""
    rows.write("answering.py", ANSWERING)

    def command(die):
        return ("elicit", "--family", "diagonal-linear", "--oracle", f"cmd:exec /usr/bin/python3 answering.py {die}", "--max-questions", "9", *PROBS,
                "--session", "s.jsonl", "--out", "out.json", "--json")

    whole = results(rows, rows(*command(0)))
    for ranks in (1, 2):
        for name in ("asked", "s.jsonl"):
            (rows.folder / name).unlink()
        ran = mpirun(rows, 3, PROGRAM, *command(5))
        assert ran.code != 0 and "signal 9" in ran.err and not (rows.folder / "out.json").exists()
        again = rows(*command(0)) if ranks == 1 else mpirun(rows, ranks, PROGRAM, *command(0))
        assert results(rows, again) == whole
        assert len((rows.folder / "asked").read_text()) == 10  # nine, and the one that was not answered


def test_an_oracle_that_dies(rows):
    rows.write("quit.py", "import sys\nsys.stdin.readline()\nsys.exit(7)\n")
    ran = mpirun(rows, 2, PROGRAM, *VERBS["elicit"][:3], "--oracle", "cmd:exec /usr/bin/python3 quit.py", *PROBS, "--out", "out.json")
    assert ran.code == 3 and "the program gave no answer (exit status 7)" in ran.err and not (rows.folder / "out.json").exists()


KILLER = """
import os, signal, sys
parent = lambda pid: int(open(f"/proc/{pid}/stat").read().rpartition(")")[2].split()[1])
sys.stdin.readline()
rank = os.getppid()  # of sh -c, which exec replaced
others = [int(p) for p in os.listdir("/proc") if p.isdigit() and int(p) != rank and os.path.exists(f"/proc/{p}/stat")
          and parent(p) == parent(rank)]
os.kill(others[0], signal.SIGKILL)
sys.stdin.readline()
"""


def test_a_rank_is_killed(rows):
    """mpirun says so and ends the rest."""
    rows.write("killer.py", KILLER)
    ran = mpirun(rows, 3, PROGRAM, "optimise", "--metric", "cmd:exec /usr/bin/python3 killer.py", *PROBS, "--validation-probs",
                 "p-0.npy", "--out", "out.json")
    assert ran.code != 0 and "signal 9" in ran.err and not (rows.folder / "out.json").exists()


def test_verbs_of_one_process(rows):
    ran = mpirun(rows, 2, PROGRAM, "metric", "--help-me")
    assert ran.code == 2 and ran.err.count("melicit metric:") == 1


STOPPING = """
import json, os, signal, sys
asked = 0
for line in sys.stdin:
    chances = json.loads(line)["chances"]
    asked += 1
    open("asked", "a").write("x")
    if asked == int(sys.argv[1]):
        os.kill(os.getppid(), signal.SIGKILL)
    print(1 - abs(sum(c[1] for c in chances) / len(chances) - 0.4), flush=True)
"""


KILL_AT_SYNC = """
#include <signal.h>
#include <stdlib.h>
#include <sys/syscall.h>
#include <unistd.h>
int fsync(int file)
{
    static int left = -1;
    if (left < 0)
        left = atoi(getenv("KILL_AT_SYNC"));
    const long done = syscall(SYS_fsync, file);
    if (--left == 0)
        kill(getpid(), SIGKILL);
    return (int)done;
}
"""


@pytest.fixture(scope="module")
def kill_at_sync(tmp_path_factory):
    at = tmp_path_factory.mktemp("kill")
    (at / "kill.c").write_text(KILL_AT_SYNC)
    subprocess.run(["cc", "-D_GNU_SOURCE", "-shared", "-fPIC", "-o", at / "kill.so", at / "kill.c"], check=True)
    return at / "kill.so"


@pytest.mark.parametrize("solver, after", [("newton", 3), ("lbfgs", 9)])
def test_training_goes_on(rows, kill_at_sync, solver, after):
    """A rank is killed after some passes over the rows; the same command goes on, also as other ranks, to the same bits."""
    command = (*VERBS["train"], "--solver", solver, "--json")
    whole = results(rows, rows(*command))
    kept = (*command, "--checkpoint", "kept")
    ran = mpirun(rows, 2, "env", f"LD_PRELOAD={kill_at_sync}", f"KILL_AT_SYNC={after}", PROGRAM, *kept)
    assert ran.code != 0 and "signal 9" in ran.err and not (rows.folder / "out.json").exists()
    file = rows.folder / "kept"
    stored = file.read_bytes()
    for ranks, cut in ((3, 0), (1, 100)):  # cut: what a kill in the middle of writing leaves
        file.write_bytes(stored[: len(stored) - cut])
        again = rows(*kept) if ranks == 1 else mpirun(rows, ranks, PROGRAM, *kept)
        assert results(rows, again) == whole and not file.exists()
    # It does go on: nothing is stored for evaluations that are known, so that the next kill comes later.
    file.write_bytes(stored)
    assert mpirun(rows, 1, "env", f"LD_PRELOAD={kill_at_sync}", "KILL_AT_SYNC=2", PROGRAM, *kept).code != 0
    assert file.read_bytes().startswith(stored) and len(file.read_bytes()) > len(stored)
    for other in (("--l2", "2"), ("--test-share", "0.4")):
        file.write_bytes(stored)
        assert rows(*kept, *other).code == 6 and file.read_bytes() == stored
    rows.write("kept", "something else")
    assert rows(*kept).code == 3


@pytest.mark.parametrize("ranks", [1, 2])
def test_checkpoint(rows, ranks):
    """A run that is killed goes on with the same command, to the same bits, also as other ranks; the file of another run is refused."""
    rows.write("judge.py", STOPPING)
    numpy.save(rows.folder / "vp.npy", rows.load("pall.npy")[:100])

    def command(die, *more):
        return ("optimise", "--metric", f"cmd:exec /usr/bin/python3 judge.py {die}", "--iterations", "4", *PROBS, "--validation-probs", "vp.npy",
                "--out", "out.json", "--json", *more)

    def asked():
        n = len((rows.folder / "asked").read_text())
        (rows.folder / "asked").unlink()
        return n

    whole = results(rows, rows(*command(0)))
    all_of_it = asked()
    kept = ("--checkpoint", "kept")
    killed = rows(*command(10, *kept)) if ranks == 1 else mpirun(rows, ranks, PROGRAM, *command(10, *kept))
    assert killed.code != 0 and (rows.folder / "kept").exists() and not (rows.folder / "out.json").exists()
    assert rows(*command(0, *kept, "--epsilon", "0.01")).code == 6
    asked()
    assert results(rows, rows(*command(0, *kept))) == whole
    assert asked() < all_of_it - 5  # it went on, after two iterations
    assert not (rows.folder / "kept").exists()
    rows.write("kept", "something else")
    assert rows(*command(0, *kept)).code == 3

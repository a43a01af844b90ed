"""Several ranks under mpirun: each verb that reads rows finds what one process finds, and all ranks end when one of them fails."""
import gzip
import json
import re
import shutil
import subprocess

import numpy
import pytest
from classes import layout, metric_text
from conftest import PROGRAM, Outcome, alike, environment

MPI = PROGRAM.with_name("melicit-mpi")

pytestmark = [pytest.mark.plain("Open MPI leaves memory behind, which a sanitizer reports"),
              pytest.mark.skipif(shutil.which("mpirun") is None or not MPI.exists(), reason="mpirun or melicit-mpi is not there")]

# Without ssh, as root, with more ranks than cores: whatever the machine is, it is one machine. Version 5 has other names.
COMMON = {"OMPI_ALLOW_RUN_AS_ROOT": "1", "OMPI_ALLOW_RUN_AS_ROOT_CONFIRM": "1", "OMP_WAIT_POLICY": "passive", "OMP_NUM_THREADS": "1"}
SETTINGS = {
    4: {"OMPI_MCA_plm_rsh_agent": "true", "OMPI_MCA_rmaps_base_oversubscribe": "1", "OMPI_MCA_hwloc_base_binding_policy": "none",
        "OMPI_MCA_btl": "self,vader", "OMPI_MCA_btl_vader_single_copy_mechanism": "none"},
    5: {"PRTE_MCA_plm_ssh_agent": "true", "PRTE_MCA_rmaps_default_mapping_policy": ":oversubscribe", "PRTE_MCA_hwloc_default_binding_policy": "none",
        "OMPI_MCA_btl": "self,sm", "OMPI_MCA_btl_sm_single_copy_mechanism": "none"},
}


@pytest.fixture(scope="module")
def settings():
    said = subprocess.run(["mpirun", "--version"], capture_output=True, text=True).stdout
    return COMMON | SETTINGS[4 if re.search(r"\) [0-4]\.", said) else 5]


@pytest.fixture(scope="module")
def folder(tmp_path_factory):
    """Probabilities of three classes and of two, labels, groups, a table with texts and a LIBSVM file, of 1,500 rows in four files. The second
    has rows of one class and group only; that class is not in the first."""
    at = tmp_path_factory.mktemp("ranks")
    rng = numpy.random.default_rng(11)
    n, cuts = 1500, (0, 300, 330, 900, 1500)
    x = rng.normal(size=(n, 3))
    y = (1.3 * x + rng.gumbel(size=(n, 3))).argmax(axis=1)
    y[:300] %= 2
    p = numpy.exp(x)
    p /= p.sum(axis=1, keepdims=True)
    score = 1 / (1 + numpy.exp(-x[:, 0] - x[:, 1]))
    two = (rng.random(n) < score).astype(int)
    g = (x[:, 2] > 0.2).astype(int)
    y[300:330], g[300:330] = 2, 1
    lines = [f"{a:.5f},{b:.5f},{'uvw'[int(c > 0) + int(c > 1)]},{'abc'[d]}" for (a, b, c), d in zip(x, y)]
    for i, (low, high) in enumerate(zip(cuts, cuts[1:])):
        for name, of in (("p", p), ("y", y), ("s", score), ("t", two), ("g", g)):
            numpy.save(at / f"{name}-{i}.npy", of[low:high])
        with gzip.open(at / f"d-{i}.csv.gz", "wt", compresslevel=1) as file:
            file.write("\n".join(["a,b,c,label", *lines[low:high]]) + "\n")
        (at / f"l-{i}.svm").write_text("".join(f"{d} 1:{a:.5f} {2 + d}:{b:.5f}\n" for (a, b, _), d in zip(x[low:high], y[low:high])))
        (at / f"i-{i}.csv").write_text("id\n" + "".join(f"row {j}\n" for j in range(low, high)))
    (at / "w.json").write_text(metric_text("diagonal-linear", layout("confusion", "diagonal", 3), a=[0.5, 0.3, 0.2]))
    (at / "half.json").write_text(json.dumps({
        "format": "melicit-classifier", "version": 1, "classes": ["0", "1"], "labels": ["0", "1"], "groups": [],
        "rules": [{"gain": [[1, 0], [0, 1]], "share": 0.5}, {"gain": [[0, 1], [1, 0]], "share": 0.5}]}))
    return at


@pytest.fixture
def rows(melicit, folder):
    for file in folder.iterdir():
        (melicit.folder / file.name).symlink_to(file)
    return melicit


@pytest.fixture
def mpirun(rows, settings):
    def run(ranks, *command, **more):
        """Standard output and error of all ranks, and mpirun's exit code. Passes over 100 rows are divided already."""
        done = subprocess.run(["mpirun", "-n", str(ranks), *map(str, command)], capture_output=True, cwd=rows.folder,
                              env=environment(**settings, MELICIT_RANK_ROWS="100", **more), timeout=900)
        return Outcome(done.returncode, done.stdout.decode(), done.stderr.decode())

    return run


THREE = ("--probs", "p-*.npy", "--labels", "y-*.npy")
TWO = ("--probs", "s-*.npy", "--labels", "t-*.npy")
GROUPS = ("--groups", "g-*.npy")
ANSWER = "cmd:while read question; do echo a; done"  # rank 0 asks, the others measure what it needs
VERBS = {  # ranks, command
    "train": ((1, 2, 3), "train", "--data", "d-*.csv.gz", "--out", "out.json"),
    "train_sparse": (2, "train", "--data", "l-*.svm", "--out", "out.json"),
    "space": (3, "space", "--thesis", "kind=rates", "--thesis", "radius-method=thesis", "--thesis", "coordinates=diagonal", *THREE, *GROUPS),
    "space_table": (2, "space", "--thesis", "direction=1,0,1", "--thesis", "coordinates=diagonal", "--data", "d-*.csv.gz"),
    "apply": ((1, 2, 3), "apply", "--named", "g-mean", *TWO, *GROUPS, "--out", "out.json"),
    "apply_classes": (3, "apply", "--named", "q-mean", "--at-most", "demographic-parity=0.1", "--folds", "2", *THREE, *GROUPS, "--out", "out.json"),
    "score": ((1, 2, 3), "score", "--named", "f1", "--labels", "t-*.npy", "--predictions", "g-*.npy"),
    "optimise": ((1, 2, 3, 5), "optimise", "--metric", "g-mean", "--iterations", "4", *THREE, "--validation-probs", "p-*.npy", "--validation-labels", "y-*.npy",
                 "--out", "out.json"),
    "elicit": (2, "elicit", "--family", "diagonal-linear", "--oracle", "sim:w.json", "--max-questions", "6", *THREE, "--out", "out.json"),
    "elicit_scores": (3, "elicit", "--oracle", ANSWER, "--max-questions", "3", *TWO, "--out", "out.json"),
    "predict": (3, "predict", "--classifier", "half.json", "--probs", "s-*.npy", "--ids", "i-*.csv", "--out", "out.json", "--as", "csv"),
    "predict_model": (2, "predict", "--model", "m.json", "--data", "d-*.csv.gz", "--out", "out.json", "--as", "npy"),
}


def results(melicit, ran):
    """What it printed and the file that it wrote."""
    said, out = ran.done().json, melicit.folder / "out.json"
    text = out.read_bytes() if out.exists() else b"null"
    out.unlink(missing_ok=True)
    if text.startswith(b"{") or text == b"null":
        return said, json.loads(text)
    return said, numpy.frombuffer(text[128:]).tolist() if text.startswith(b"\x93NUMPY") else text.decode()


@pytest.mark.parametrize("verb", VERBS)
def test_verbs(rows, mpirun, verb):
    """As one process, to 1e-9, with one voice; passes over rows are divided among the ranks, of which there may be more than files."""
    counts, *command = VERBS[verb]
    if verb == "predict_model":
        rows("train", "--data", "d-*.csv.gz", "--out", "m.json").done()
    one = results(rows, rows(*command, "--json"))
    for ranks in counts if isinstance(counts, tuple) else (counts,):
        alike(one, results(rows, mpirun(ranks, MPI, *command, "--json")))


# ---- failures ----


def said(ran):
    """What the program itself said: mpirun has a few words of its own."""
    return [line for line in ran.err.splitlines() if line.startswith("melicit")]


@pytest.mark.parametrize("wrong, words", [
    ({1: "0.2,0.5,-1", 2: "0.2,-1,0.3"}, 'row 5, column "1": -1 is not within 0 and 1'),  # columns come before rows
    ({1: "0.2,0.1,0.3", 2: "0.2,0.1,0.4"}, "row 3: 3 probabilities sum to 0.6, not 1"),
])
def test_the_first_of_wrong_rows(rows, mpirun, wrong, words):
    """Several ranks refuse what one process refuses."""
    for i in range(3):
        rows.write(f"w-{i}.csv", f"0,1,2\n{wrong.get(i, '0.2,0.5,0.3')}\n0.1,0.1,0.8\n")
        rows.write(f"v-{i}.csv", f"label\n{i}\n{2 - i}\n")
    command = ("apply", "--named", "accuracy", "--probs", "w-*.csv", "--labels", "v-*.csv")
    alone, several = rows(*command).refused(3, words), mpirun(2, MPI, *command)
    assert several.code == 3 and said(several) == alone.err.splitlines()


def test_rank_0_fails(rows, mpirun):
    """A program that answers nonsense ends all of them, with its sentence."""
    command = ("elicit", "--family", "linear", "--oracle", "cmd:read question; echo nonsense", *THREE)
    alone, several = rows(*command), mpirun(3, MPI, *command)
    assert alone.code != 0 and several.code == alone.code and said(several) == alone.err.splitlines()


def test_another_rank_fails(rows, mpirun):
    """The others, which wait for it, end with it."""
    ran = mpirun(3, "sh", "-c", f"exec {MPI} space --probs 'p-*.npy' --labels 'y-*.npy' $([ $OMPI_COMM_WORLD_RANK = 1 ] && echo --bogus)")
    assert ran.code != 0 and ran.out == "" and "melicit space: " in ran.err and "--bogus" in ran.err


def test_a_file_that_a_rank_does_not_see(rows, mpirun):
    """Ranks that read other files would add up other rows."""
    (rows.folder / "other").mkdir()
    for file in rows.folder.iterdir():
        if file.name not in ("other", "s-2.npy"):
            (rows.folder / "other" / file.name).symlink_to(file)
    ran = mpirun(3, "sh", "-c", f"[ $OMPI_COMM_WORLD_RANK = 1 ] && cd other; exec {MPI} predict --classifier half.json --probs 's-*.npy' --out out.csv")
    assert ran.code == 3 and "ranks 0 and 1 do not see the same files" in ran.err and ran.out == "" and not (rows.folder / "out.csv").exists()


KILL_AT_SYNC = """
#include <signal.h>
#include <unistd.h>
int fsync(int file)
{
    (void)file;
    return kill(getpid(), SIGKILL);
}
"""


def test_killed_while_writing(rows, mpirun):
    """mpirun says so and ends the rest; what was written so far has no name."""
    rows.write("kill.c", KILL_AT_SYNC)
    subprocess.run(["cc", "-shared", "-fPIC", "-o", "kill.so", "kill.c"], cwd=rows.folder, check=True)
    ran = mpirun(2, "env", f"LD_PRELOAD={rows.folder}/kill.so", MPI, "predict", "--classifier", "half.json", "--probs", "s-*.npy", "--out", "out.csv")
    assert ran.code != 0 and "signal 9" in ran.err and not list(rows.folder.glob("out.csv*"))


def test_what_ranks_cannot_do(rows, mpirun):
    ran = mpirun(2, MPI, "train", "--data", "-", "--out", "out.json")
    assert ran.code == 2 and "--data -: of several ranks one has standard input" in ran.err and not (rows.folder / "out.json").exists()
    ran = mpirun(2, MPI, "metric", "--named", "f1", "--out", "w.json")
    assert ran.code == 2 and ran.err.count("melicit metric: does not run as several ranks") == 1


def test_the_program_that_works_alone(rows, mpirun):
    """Two of melicit would do the same twice and write the same files; melicit-mpi is an ordinary program where mpirun did not start it."""
    ran = mpirun(2, PROGRAM, "metric", "--named", "f1", "--out", "v.json")
    assert ran.code == 2 and "started as one of 2 ranks" in ran.err and "melicit-mpi" in ran.err and not (rows.folder / "v.json").exists()
    alone = subprocess.run([MPI, "--version"], capture_output=True, text=True)
    assert (alone.returncode, alone.stdout) == (0, rows("--version").done().out)


def test_tasks_without_mpi(rows):
    """What srun without --mpi=pmix starts is no ranks: a warning, of the first of them."""
    for task, warned in (("0", True), ("1", False)):
        ran = rows("--version", env={"SLURM_STEP_NUM_TASKS": "2", "SLURM_PROCID": task})
        assert ran.code == 0 and ("--mpi=pmix" in ran.err) == warned

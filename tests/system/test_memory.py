"""--memory: more rows than the kernel allows the process to hold, in files instead; the same results."""
import io
import os
import pathlib
import subprocess
import time

import numpy
import pytest
from conftest import PROGRAM, environment

pytestmark = pytest.mark.plain("a sanitizer has memory of its own, which the limit would be about")

ROWS, CLASSES = 600_000, 8  # 38 MB of probabilities, held twice at times, and labels


@pytest.fixture
def rows(melicit):
    rng = numpy.random.default_rng(5)
    p = rng.random((ROWS, CLASSES))
    p /= p.sum(axis=1, keepdims=True)
    for i in range(3):
        part = slice(i * ROWS // 3, (i + 1) * ROWS // 3)
        numpy.save(melicit.folder / f"p-{i}.npy", p[part])
        numpy.save(melicit.folder / f"y-{i}.npy", (p[part].argmax(axis=1) + rng.integers(0, 2, ROWS // 3)) % CLASSES)
    numpy.save(melicit.folder / "v.npy", p[:1000])
    numpy.save(melicit.folder / "w.npy", p[:1000].argmax(axis=1))
    return melicit


COMMAND = ("optimise", "--metric", "g-mean", "--iterations", "2", "--probs", "p-*.npy", "--labels", "y-*.npy",
           "--validation-probs", "v.npy", "--validation-labels", "w.npy", "--threads", "1", "--out", "out.json")


def test_more_rows_than_memory(rows):
    rows(*COMMAND).done()
    held = (rows.folder / "out.json").read_bytes()
    rows(*COMMAND, "--memory", "64M").done()
    assert (rows.folder / "out.json").read_bytes() == held
    assert not list(rows.folder.glob("melicit-*"))
    rows(*[word if word != "1" else "2" for word in COMMAND], "--memory", "64M").done()
    assert (rows.folder / "out.json").read_bytes() == held
    # Files that are not read in blocks are held as a whole.
    (rows.folder / "p-1.npy").write_bytes(fortran(rows.folder / "p-1.npy"))
    rows(*COMMAND, "--memory", "64M").done()
    assert (rows.folder / "out.json").read_bytes() == held
    rows(*COMMAND, "--memory", "64M", env={"TMPDIR": "/nowhere"}).refused(4, "/nowhere", "TMPDIR", "No such file")


def fortran(path):
    stored = io.BytesIO()
    numpy.save(stored, numpy.asfortranarray(numpy.load(path)))
    return stored.getvalue()


def test_rows_that_are_wrong(rows):
    """The same sentences as without the option, which reads files as a whole."""
    p = numpy.load(rows.folder / "p-2.npy")
    rescaled = p.copy()
    rescaled[70_000:70_003] *= 1.0005
    negative, infinite = p.copy(), p.copy()
    negative[150_000, 3], infinite[150_000, 3] = -0.5, numpy.inf
    for array, words in ((rescaled, ["3 of 600,000 rows", "row 470001"]), (negative, ["row 550001", "-0.5"]),
                         (infinite, ["p-2.npy", "row 150001", "inf"]), (p[:-1], ["p-2.npy", "199999"])):
        numpy.save(rows.folder / "p-2.npy", array)
        said = [rows(*COMMAND, *more).err for more in ((), ("--memory", "64M"))]
        assert said[0] == said[1]
        assert all(word in said[1] for word in words), said[1]


def test_a_full_disk(rows):
    """A file system in memory: it has no way past the page cache, and it fills up."""
    def within(size, command=COMMAND):
        script = f"mount -t tmpfs -o size={size} tmpfs {folder} && TMPDIR={folder} exec {PROGRAM} {' '.join(command)} --memory 64M"
        return subprocess.run(["unshare", "-rm", "sh", "-f", "-c", script], capture_output=True, text=True, timeout=60, cwd=rows.folder, env=environment())
    folder = rows.folder / "small"
    folder.mkdir()
    if subprocess.run(["unshare", "-rm", "true"], capture_output=True).returncode != 0:
        pytest.skip("no file systems of one's own here")
    rows(*COMMAND).done()
    held = (rows.folder / "out.json").read_bytes()
    assert within("400m").returncode == 0
    assert (rows.folder / "out.json").read_bytes() == held
    full = within("20m")
    assert full.returncode == 4 and "No space left on device" in full.stderr and "TMPDIR" in full.stderr, full.stderr
    full = within("2m", ("apply", "--named", "accuracy", "--probs", "p-*.npy", "--labels", "y-*.npy"))
    assert full.returncode != 0 and "No space left on device" in full.stderr and "TMPDIR" in full.stderr, full.stderr


def test_a_killed_process_leaves_no_file(rows):
    folder = rows.folder / "scratch"
    folder.mkdir()
    command = [PROGRAM, *(word if word != "2" else "100000" for word in COMMAND), "--memory", "64M"]
    running = subprocess.Popen(command, cwd=rows.folder, env={**environment(), "TMPDIR": str(folder)}, stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL)
    try:
        while running.poll() is None and not any(str(folder) in at for at in opened(running.pid)):
            time.sleep(0.01)
        assert running.poll() is None
    finally:
        running.kill()
        running.wait()
    assert list(folder.iterdir()) == []


def opened(pid):
    """Where the files of a process are; some are closed while one looks."""
    found = []
    for at in pathlib.Path(f"/proc/{pid}/fd").iterdir():
        try:
            found.append(os.readlink(at))
        except FileNotFoundError:
            continue
    return found


@pytest.mark.parametrize("option", [("--memory", "64M"), ("--memo=64M",)])
def test_many_at_once_on_a_busy_machine(melicit, option):
    """Threads of OpenBLAS that first ran after the limit was set waited for ever; most of so many processes never ended."""
    command = [PROGRAM, "space", "--population", "logistic:a=5,b=0", "--threads", "1", *option]
    running = [subprocess.Popen(command, stdout=subprocess.DEVNULL, stderr=subprocess.PIPE, cwd=melicit.folder, env=environment()) for _ in range(24)]
    try:
        for process in running:
            assert process.wait(timeout=60) == 0, process.stderr.read()
    finally:
        for process in running:
            process.kill()
            process.stderr.close()


def test_training(melicit):
    """OpenBLAS took no address space for small products before the limit was set, and waited for ever for that of larger ones."""
    rng = numpy.random.default_rng(8)
    x = rng.normal(size=(40_000, 10))
    y = (x @ rng.normal(size=(10, 7)) + rng.gumbel(size=(40_000, 7))).argmax(axis=1)
    numpy.save(melicit.folder / "x.npy", numpy.column_stack([x, y]))
    command = ("train", "--data", "x.npy", "--label", "c11", "--threads", "2", "--out", "model.json")
    melicit(*command).done()
    held = (melicit.folder / "model.json").read_bytes()
    melicit(*command, "--memory", "64M").done()
    assert (melicit.folder / "model.json").read_bytes() == held


def test_sizes(melicit):
    for size in ("12", "5M", "M", "3X", "-1G", "1GB"):
        melicit("version", "--memory", size).refused(2, f"--memory {size}", "512M")


@pytest.mark.parametrize("limit", ["v", "d"])
def test_limits_of_the_shell(melicit, limit):
    """OpenBLAS waits for ever for address space that it does not get: a sentence instead."""
    script = f"ulimit -{limit} 120000; exec {PROGRAM} version"
    ran = subprocess.run(["sh", "-c", script], capture_output=True, text=True, timeout=60, cwd=melicit.folder, env=environment())
    assert ran.returncode == 1 and f"ulimit -{limit}" in ran.stderr and "--memory" in ran.stderr

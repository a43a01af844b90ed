"""--memory: more rows than the kernel allows the process to hold, in files instead; the same results."""
import subprocess

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
    # Nowhere to put rows: they would have to fit, and the kernel sees to it that they do not.
    rows(*COMMAND, "--memory", "64M", env={"TMPDIR": "/nowhere"}).refused(1, "not enough memory")


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


def test_sizes(melicit):
    for size in ("12", "5M", "M", "3X", "-1G", "1GB"):
        melicit("version", "--memory", size).refused(2, f"--memory {size}", "512M")


@pytest.mark.parametrize("limit", ["v", "d"])
def test_limits_of_the_shell(melicit, limit):
    """OpenBLAS waits for ever for address space that it does not get: a sentence instead."""
    script = f"ulimit -{limit} 120000; exec {PROGRAM} version"
    ran = subprocess.run(["sh", "-c", script], capture_output=True, text=True, timeout=60, cwd=melicit.folder, env=environment())
    assert ran.returncode == 1 and f"ulimit -{limit}" in ran.stderr and "--memory" in ran.stderr

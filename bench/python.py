"""What the Python package costs on top of the library: time, memory and import, as ratios measured in one run.

Targets: less than 5% beyond the library's calls, memory below 1.05 times, import less than 150 ms beyond NumPy's.

usage: python3 bench/python.py [ROWS]
"""
import os
import subprocess
import sys
import time

os.environ.update(OMP_NUM_THREADS="1", OPENBLAS_NUM_THREADS="1")  # times are the processor's, of one thread
import numpy as np

SITE = os.path.abspath(os.path.join(os.environ.get("MELICIT_BUILD", "build"), "python", "site"))
sys.path.insert(0, SITE)
os.environ["PYTHONPATH"] = SITE
from figures import record
from melicit import Metric, Problem, _core, metric, problem, ranking, rule

REPEATS = 5
COMPILED = {k: v for k, v in os.environ.items() if k != "PYTHONDONTWRITEBYTECODE"}
inside = [0.0]
found = {}


def timed(function, *args):
    """Calls of the library with their time added up."""
    err = _core.ffi.new("mel_error *")
    begin = time.process_time()
    status = function(*args, err)
    inside[0] += time.process_time() - begin
    if status != _core.lib.MEL_OK:
        raise RuntimeError(_core.ffi.string(err.text).decode())


def overhead(name, work):
    """Time of the package beyond that of the library's calls, median of the repeats."""
    shares = []
    for _ in range(REPEATS):
        inside[0] = 0.0
        begin = time.process_time()
        work()
        total = time.process_time() - begin
        shares.append((total / inside[0] - 1.0, inside[0]))
    share, seconds = sorted(shares)[REPEATS // 2]
    found[name] = share
    print(f"{name}: {1000 * seconds:.1f} ms in the library, {100 * share:.1f}% more in Python")


def import_time(name):
    runs = [
        float(subprocess.run(  # from compiled files, as where it is installed
            [sys.executable, "-c", f"import time; b = time.process_time(); import {name}; print(time.process_time() - b)"],
            capture_output=True, text=True, check=True, env=COMPILED,
        ).stdout)
        for _ in range(REPEATS + 1)
    ]
    return sorted(runs[1:])[REPEATS // 2]


ROWS = """
import sys, numpy as np, melicit
from melicit._core import ffi, lib, made, pointer
n = int(sys.argv[1])
y = (np.arange(n) % 2).astype(np.uint32)
p = np.empty((n, 2))
p[:, 1] = (np.arange(n) * 7919 % n) / n
p[:, 0] = 1 - p[:, 1]
def most():
    return next(int(line.split()[1]) for line in open("/proc/self/status") if line.startswith("VmHWM"))
open("/proc/self/clear_refs", "w").write("5")  # what making the rows took does not count
if sys.argv[2] == "package":
    face = melicit.Problem.from_proba(y, p, classes=[0, 1]).ground("linear")
else:
    role = y.astype(np.uint8)
    face = made("mel_face", lib.mel_face_free, lib.mel_face_from_probabilities, n, pointer(p), pointer(role, "uint8_t"), ffi.NULL)
print(most())
"""


def most_memory(n, package):
    """In a process of its own: KiB at the most."""
    command = [sys.executable, "-c", ROWS, str(n), "package" if package else "library"]
    return int(subprocess.run(command, capture_output=True, text=True, check=True).stdout)


def main():
    n = int(sys.argv[1]) if len(sys.argv) > 1 else 1_000_000
    rng = np.random.default_rng(1)
    y = rng.integers(0, 2, n, dtype=np.uint32)
    score = 1 / (1 + np.exp(-2 * (y - 0.5) - rng.normal(size=n)))
    p = np.column_stack([1 - score, score])
    costs = Metric.from_costs({(1, 0): 5, (0, 1): 1})
    for module in (_core, metric, problem, ranking, rule):
        if hasattr(module, "call"):
            module.call = timed
    overhead("planar face", lambda: Problem.from_proba(y, p, classes=[0, 1]).ground("linear"))
    kept = Problem.from_proba(y, p, classes=[0, 1])
    overhead("best rule", lambda: kept.best(costs, threads=1))
    best = kept.best(costs, threads=1)
    overhead("decisions", lambda: best.decide_codes(p))
    with_package, alone = most_memory(n, True), most_memory(n, False)
    print(f"most memory, face of the rows: {with_package} KiB, of the library's call alone {alone} KiB: {with_package / alone:.3f} times")
    numpy, both = import_time("numpy"), import_time("melicit")
    print(f"import: numpy {1000 * numpy:.0f} ms, melicit with numpy {1000 * both:.0f} ms: {1000 * (both - numpy):.0f} ms more")
    beyond = [100 * share for share in found.values()]
    met = max(found.values()) < 0.05 and with_package < 1.05 * alone and both - numpy < 0.15
    record("Python package: time beyond the library, memory, import beyond NumPy's",
           f"{min(beyond):.1f} to {max(beyond):.1f}%, {with_package / alone:.3f} times, {1000 * (both - numpy):.0f} ms", met)
    sys.exit(0 if met else 1)


if __name__ == "__main__":
    main()

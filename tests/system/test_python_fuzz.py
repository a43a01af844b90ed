"""Random calls of the Python package: no crash, no finding of a sanitizer, no leak of the library's."""
import os
import re
import subprocess

from python_package import SOURCE, environment

SANITIZED = os.environ.get("MELICIT_SANITIZE", "OFF") == "ON"
CALLS = "20000" if os.environ.get("MELICIT_SOAK") else "2000"


def sanitizers():
    """The interpreter is not sanitized: it must load the sanitizers first. Its memory is malloc's, so that what objects
    still hold is found by who looks for leaks."""
    if not SANITIZED:
        return {}
    library = [
        subprocess.run(["gcc", f"-print-file-name={name}"], capture_output=True, text=True, check=True).stdout.strip()
        for name in ("libasan.so", "libubsan.so")
    ]
    return {
        "LD_PRELOAD": " ".join(library),
        "PYTHONMALLOC": "malloc",
        "ASAN_OPTIONS": "exitcode=99:detect_leaks=1:allocator_may_return_null=1",
        "UBSAN_OPTIONS": "halt_on_error=1:print_stacktrace=1",
        "LSAN_OPTIONS": "exitcode=0:max_leaks=0",  # the interpreter has leaks of its own; the library's are looked for below
        "OMP_NUM_THREADS": "1",
        "OPENBLAS_NUM_THREADS": "1",
    }


def leaks_of_the_library(report):
    return [block for block in report.split("\n\n") if "leak of" in block and re.search(r" in mel_|libmelicit", block)]


def test_random_calls():
    done = subprocess.run(
        ["/usr/bin/python3", SOURCE / "tests" / "fuzz" / "python_calls.py", CALLS, "1"],
        capture_output=True, text=True, errors="replace", env=environment(**sanitizers()),
    )
    assert done.returncode == 0, f"{done.returncode}\n{done.stderr[-6000:]}"
    calls, refused = map(int, re.match(r"(\d+) calls, (\d+) refused", done.stdout).groups())
    assert calls == int(CALLS) and calls // 4 < refused < calls
    assert "runtime error" not in done.stderr and "ERROR: AddressSanitizer" not in done.stderr, done.stderr[-6000:]
    assert not leaks_of_the_library(done.stderr), leaks_of_the_library(done.stderr)[:3]


def a_leak_is_seen():
    script = (
        "import numpy, melicit._native as n\n"
        "out, cost = n.ffi.new('mel_metric **'), n.ffi.new('double[]', [0.0, 1.0, 5.0, 0.0])\n"
        "n.lib.mel_metric_costs(out, 2, cost, n.ffi.NULL, n.ffi.NULL)\n"
    )
    done = subprocess.run(
        ["/usr/bin/python3", "-c", script], capture_output=True, text=True, errors="replace", env=environment(**sanitizers())
    )
    assert done.returncode == 0 and leaks_of_the_library(done.stderr), done.stderr[-2000:]


if SANITIZED:  # nobody else sees leaks
    test_a_leak_is_seen = a_leak_is_seen

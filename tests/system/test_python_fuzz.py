"""Random calls of the Python package: no crash, no finding of a sanitizer, no leak of the library's."""
import os
import re
import subprocess

import pytest
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


@pytest.mark.skipif(not os.path.exists("/usr/bin/gcc"), reason="gcc says where the sanitizers are")
def test_random_calls():
    done = subprocess.run(
        ["/usr/bin/python3", SOURCE / "tests" / "fuzz" / "python_calls.py", CALLS, "1"],
        capture_output=True, text=True, errors="replace", env=environment(**sanitizers()),
    )
    assert done.returncode == 0, f"{done.returncode}\n{done.stderr[-6000:]}"
    calls, refused = map(int, re.match(r"(\d+) calls, (\d+) refused", done.stdout).groups())
    assert calls == int(CALLS) and calls // 4 < refused < calls
    assert "runtime error" not in done.stderr and "ERROR: AddressSanitizer" not in done.stderr, done.stderr[-6000:]
    leaks = [block for block in done.stderr.split("\n\n") if "leak of" in block and "libmelicit" in block]
    assert not leaks, leaks[:3]

"""The declarations of the public headers as cffi reads them: the compiler then checks each of them."""
import os
import re
import subprocess
import sys
import tempfile
from pathlib import Path

STANDARD = ("stdbool.h", "stddef.h", "stdint.h")  # cffi knows their types
CALLBACKS = """
extern "Python" mel_status melicit_box_value(double *, void *, const double *, mel_error *);
extern "Python" mel_status melicit_box_judge(double *, void *, const double *, mel_error *);
extern "Python" mel_status melicit_engine(double *, const mel_pass *, void *, mel_error *);
extern "Python" int melicit_progress(void *, const char *, double);
extern "Python" mel_status melicit_fetch(void **, size_t *, void *, const char *, mel_error *);
extern "Python" mel_status melicit_frame(struct ArrowArrayStream *, void *, const char *, mel_error *);
int melicit_frame_stream(struct ArrowArrayStream *, struct ArrowSchema *, struct ArrowArray *);
void free(void *);
void *malloc(size_t);
"""


def without_bodies(text: str) -> str:
    """Without the functions that headers define themselves: there is nothing in the library to call."""
    out, at = [], 0
    for found in re.finditer(r"static inline [^{;]*\{", text):
        if found.start() < at:
            continue
        out.append(text[at : found.start()])
        depth, at = 1, found.end()
        while depth:
            depth += {"{": 1, "}": -1}.get(text[at], 0)
            at += 1
    return "".join(out) + text[at:]


def declarations(include: Path) -> str:
    with tempfile.TemporaryDirectory() as empty:
        for name in STANDARD:
            Path(empty, name).touch()
        command = [os.environ.get("CC", "cc").split()[-1], "-E", "-P", "-nostdinc", "-U__GNUC__", "-D__STDC_HOSTED__=0"]
        command += ["-I", empty, "-I", str(include), str(include / "melicit" / "melicit.h")]
        text = subprocess.run(command, check=True, capture_output=True, text=True).stdout
    return without_bodies(text) + CALLBACKS


if __name__ == "__main__":
    print(declarations(Path(sys.argv[1])))

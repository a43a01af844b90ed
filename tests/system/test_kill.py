"""A session killed at any moment keeps every answer that was acknowledged, and goes on with the same question."""

import json
import os
import pathlib
import random
import signal
import subprocess
import time

ROOT = pathlib.Path(__file__).resolve().parent.parent.parent
PROGRAM = pathlib.Path(os.environ.get("MELICIT_BUILD", ROOT / "build")).resolve() / "melicit"
SANITIZED = os.environ.get("MELICIT_SANITIZE", "OFF") == "ON"
KILLS = 400 if os.environ.get("MELICIT_SOAK") else 25 if SANITIZED else 100

# Answers by a hidden metric, slowly enough to be killed between any two steps, and notes what it answered.
RESPONDENT = """
import json, sys
log = open(sys.argv[1], "a", buffering=1)
for line in sys.stdin:
    q = json.loads(line)
    value = [0.9 * s["statistics"][0] + 0.435889894 * s["statistics"][1] for s in (q["a"], q["b"])]
    answer = "A" if value[0] > value[1] else "B"
    log.write(json.dumps([q["question"], q["a"]["statistics"], q["b"]["statistics"], answer]) + "\\n")
    print(answer, flush=True)
"""


def command(folder, threads):
    respondent = folder / "respondent.py"
    respondent.write_text(RESPONDENT)
    return [str(PROGRAM), "elicit", "--data", "breast_cancer_diagnostic", "--session", str(folder / "s.jsonl"),
            "--oracle", f"cmd:exec /usr/bin/python3 {respondent} {folder / 'asked.jsonl'}", "--tolerance", "1e-9",
            "--assume", "none", "--max-questions", "40", "--threads", str(threads), "--quiet", "--json"]


def answered(path):
    """Whole answer lines of a session file."""
    if not path.exists():
        return []
    lines = path.read_bytes().split(b"\n")[:-1]
    return [json.loads(line) for line in lines[1:]]


def questions_shown(folder):
    """The numbers of the questions that the respondent saw, whole lines only."""
    path = folder / "asked.jsonl"
    lines = path.read_bytes().split(b"\n")[:-1] if path.exists() else []
    return [json.loads(line)[0] for line in lines if line]


def test_killed_sessions_resume(tmp_path):
    rng = random.Random(7)
    session = tmp_path / "s.jsonl"
    reference = tmp_path / "reference"
    reference.mkdir()
    start = time.monotonic()
    done = subprocess.run(command(reference, 2), capture_output=True, text=True, timeout=600)
    startup = time.monotonic() - start
    assert done.returncode == 0, done.stderr
    want = answered(reference / "s.jsonl")
    kept = []
    kills = resumed = 0
    while kills < KILLS:
        process = subprocess.Popen(command(tmp_path, 1 + kills % 2), stdout=subprocess.PIPE, stderr=subprocess.PIPE,
                                   start_new_session=True)
        shown = questions_shown(tmp_path)
        time.sleep(rng.uniform(0.0, 2.0 * startup))
        os.killpg(process.pid, signal.SIGKILL)
        out, err = process.communicate()
        kills += 1
        now = answered(session)
        assert now[:len(kept)] == kept, "an acknowledged answer was lost or changed"
        # Once question n + 1 was shown, answer n had been acknowledged.
        new = questions_shown(tmp_path)[len(shown):]
        assert not new or len(now) >= max(new) - 1, "an acknowledged answer was lost"
        resumed += len(now) > len(kept)
        kept = now
        assert all(a["a"] == b["a"] and a["b"] == b["b"] and a["answer"] == b["answer"] for a, b in zip(kept, want))
        if len(kept) >= len(want) - 2:  # start over so that all kills hit a living session
            session.unlink()
            kept = []
    assert resumed >= KILLS // 5, f"only {resumed} of {KILLS} kills hit a session that had gone on"
    done = subprocess.run(command(tmp_path, 1), capture_output=True, text=True, timeout=600)
    assert done.returncode == 0, done.stdout + done.stderr
    final = answered(session)
    assert [(x["a"], x["b"], x["answer"]) for x in final] == [(x["a"], x["b"], x["answer"]) for x in want]
    # Every question that was recorded was really put to the respondent.
    lines = (tmp_path / "asked.jsonl").read_text().splitlines()
    asked = {(tuple(a), tuple(b)) for _, a, b, _ in map(json.loads, filter(None, lines))}
    assert all((tuple(x["a"]), tuple(x["b"])) in asked for x in final)


def test_threads_do_not_matter(tmp_path):
    metrics = []
    for threads in (1, 2):
        folder = tmp_path / str(threads)
        folder.mkdir()
        done = subprocess.run(command(folder, threads), capture_output=True, text=True, timeout=600)
        assert done.returncode == 0, done.stdout
        metrics.append(json.dumps(json.loads(done.stdout)["metric"], sort_keys=True))
    assert metrics[0] == metrics[1]

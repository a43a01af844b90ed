"""Running melicit serve: signals, logs, logins, links, a full disk, clocks, backups; and what programs that melicit starts
get from it."""
import json
import subprocess

from conftest import PROGRAM, environment

# children -----------------------------------------------------------------------------------------

WATCH = """import json, os, resource, sys
limits = {name: resource.getrlimit(getattr(resource, name)) for name in dir(resource) if name.startswith("RLIMIT_")}
files = sorted(int(name) for name in os.listdir("/proc/self/fd"))[:-1]
json.dump({"limits": limits, "files": files, "environment": dict(os.environ)}, open(sys.argv[1], "w"))
"""
COMMAND = "grep -E 'Sig(Ign|Blk)' /proc/self/status > signals; exec /usr/bin/python3 -IS watch.py seen.json"  # Python ignores some itself


def watch(folder, words, **more):
    """Limits, files, environment, and ignored and blocked signals of COMMAND, which these words start."""
    (folder / "watch.py").write_text(WATCH)
    subprocess.run(words, cwd=folder, env=environment(OMP_NUM_THREADS="3"), stdin=subprocess.DEVNULL, capture_output=True, timeout=120, **more)
    seen = json.loads((folder / "seen.json").read_text())
    (folder / "seen.json").unlink()
    own = 1 << 31 | 1 << 32  # signals of the C library, which posix_spawn ignores
    seen["signals"] = [int(line.split()[1], 16) & ~own for line in (folder / "signals").read_text().splitlines()]
    return seen


def test_children_get_nothing_of_the_program(melicit):
    """A program that answers gets the limits, environment and signals that melicit was started with, and no open file."""
    expected = watch(melicit.folder, ["sh", "-c", COMMAND])
    with open(melicit.write("other", "text")) as other:
        for words in (["elicit", "--population", "logistic:a=5,b=0.7", "--oracle", f"cmd:{COMMAND}", "--session", "s.jsonl"],
                      ["optimise", "--data", "breast_cancer_original", "--validation", "breast_cancer_original",
                       "--metric", f"cmd:{COMMAND}", "--out", "c.json", "--checkpoint", "c.log"]):
            seen = watch(melicit.folder, [PROGRAM, *words], pass_fds=[other.fileno()])
            assert seen == expected and seen["files"] == [0, 1, 2], words

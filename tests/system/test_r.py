"""The R package r/, built against the installed library: its tests, its vignette, and a page that a browser would answer."""
import shutil
import subprocess

import pytest
from conftest import BUILD, SOURCE, environment

pytestmark = pytest.mark.plain("R cannot load a library with sanitizers")
# Talks to the server as the page's script does; results.R starts it with the page's address.
PERSON = f"""#!/usr/bin/python3
import sys
sys.path.insert(0, {str(SOURCE / "tests" / "system")!r})
from serving import open_question, page_request
while "ended" not in (shown := open_question(sys.argv[1])):
    page_request(sys.argv[1] + "answer", {{"question": shown["number"], "answer": "A"}})
"""


@pytest.fixture(scope="module")
def installed(tmp_path_factory):
    """An environment with the library and the package."""
    if shutil.which("Rscript") is None:
        pytest.skip("R is not installed")
    if subprocess.run(["Rscript", "-e", "library(jsonlite)"], capture_output=True).returncode != 0:
        pytest.skip("R's package jsonlite is not installed")
    where = tmp_path_factory.mktemp("r")
    subprocess.run(["cmake", "--install", BUILD, "--prefix", where / "prefix"], check=True, capture_output=True)
    (library,) = (path.parent for path in (where / "prefix").rglob("libmelicit.so"))
    (where / "library").mkdir()
    env = environment(PKG_CONFIG_PATH=str(library / "pkgconfig"), LD_LIBRARY_PATH=str(library), R_LIBS=str(where / "library"),
                      MELICIT_PROGRAM=str(BUILD / "melicit"))
    shutil.copytree(SOURCE / "r", where / "r", ignore=shutil.ignore_patterns("*.o", "*.so"))
    done = subprocess.run(["R", "CMD", "INSTALL", "-l", where / "library", where / "r"], env=env, capture_output=True, text=True)
    assert done.returncode == 0, done.stderr
    assert "warning" not in done.stderr.lower(), done.stderr
    return env


def test_results(installed, tmp_path):
    person = tmp_path / "person"
    person.write_text(PERSON)
    person.chmod(0o755)
    env = {**installed, "MELICIT_PAGE": str(person)}
    done = subprocess.run(["Rscript", SOURCE / "r" / "tests" / "results.R"], env=env, cwd=tmp_path, capture_output=True, text=True, timeout=300)
    assert done.returncode == 0, done.stderr


def test_vignette(installed, tmp_path):
    """Its code, as knitr takes it out."""
    code, inside = [], False
    for line in (SOURCE / "r" / "vignettes" / "melicit.Rhtml").read_text().splitlines():
        if line.startswith(("<!--begin.rcode", "end.rcode-->")):
            inside = line.startswith("<!--begin")
        elif inside:
            code.append(line)
    (tmp_path / "vignette.R").write_text("\n".join(code))
    done = subprocess.run(["Rscript", "vignette.R"], env=installed, cwd=tmp_path, capture_output=True, text=True)
    assert done.returncode == 0, done.stderr
    assert "counts as much as" in done.stdout and "number_willing_to_test" in done.stdout

"""The pages of docs/guide, followed literally: every command and block of code is run, and what it shows compared."""
import os
import subprocess
import sys

import pytest
from conftest import BUILD, SOURCE, environment

pytestmark = pytest.mark.plain("pages show the release build, installed")
# The list of pages says how to install; tools/bare_debian.sh does.
PAGES = sorted(path.name for path in (SOURCE / "docs" / "guide").glob("*.md") if path.name != "README.md")


@pytest.fixture(scope="module")
def installed(tmp_path_factory):
    """What make install leads to, for programs that are compiled against the library."""
    prefix = tmp_path_factory.mktemp("prefix")
    subprocess.run(["cmake", "--install", str(BUILD), "--prefix", str(prefix)], check=True, capture_output=True)
    (library,) = (path.parent for path in prefix.rglob("libmelicit.so"))
    return {"PKG_CONFIG_PATH": str(library / "pkgconfig"), "LD_LIBRARY_PATH": str(library)}


def follow(*pages, **more):
    return subprocess.run([sys.executable, SOURCE / "tools" / "guide.py", "--build", BUILD, *pages], capture_output=True, text=True,
                          env=environment(OMP_WAIT_POLICY="passive", **more))


@pytest.mark.parametrize("page", PAGES)
def test_page(page, installed):
    done = follow(SOURCE / "docs" / "guide" / page, **installed)
    assert done.returncode == 0, done.stdout + done.stderr


def test_a_page_that_is_wrong_is_noticed(tmp_path):
    """Other output, a failing command, other printed text: each by itself."""
    for text in ("```console\n$ echo yes\nno\n```\n", "```console\n$ false\n```\n", "```python\nprint(1)\n```\n\n```text\n2\n```\n",
                 "```console\n$ printf 'a\\nb\\n'\na\n...\nc\n```\n", "Typed:\n\n    false\n", "Typed:\n\n    melicit serve --store no/such.db\n"):
        page = tmp_path / "page.md"
        page.write_text(text)
        done = follow(page)
        assert done.returncode != 0 and os.fspath(page) in done.stderr, text
    page.write_text("```console\n$ printf 'a\\nb\\nc\\n'\na\n...\nc\n```\n")
    assert follow(page).returncode == 0

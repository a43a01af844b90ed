"""make site: web pages of the documentation whose links lead somewhere, without requests to elsewhere; and its spelling."""
import html
import html.parser
import importlib.util
import re
import subprocess
import sys
import urllib.parse

import pytest
from conftest import PROGRAM, SOURCE

pytestmark = pytest.mark.plain("the program only prints its reference")


class Page(html.parser.HTMLParser):
    """What a page links to, loads, and can be linked to."""

    def __init__(self, path):
        super().__init__()
        self.links, self.loads, self.places = [], [], set()
        self.feed(path.read_text())

    def handle_starttag(self, tag, attributes):
        named = dict(attributes)
        self.places.add(named.get("id"))
        if tag == "a" and "href" in named:
            self.links.append(named["href"])
        elif "src" in named or "href" in named:
            self.loads.append(named.get("src") or named["href"])


@pytest.fixture(scope="module")
def site(tmp_path_factory):
    out = tmp_path_factory.mktemp("site") / "out"
    subprocess.run([sys.executable, SOURCE / "tools" / "site.py", out, PROGRAM], check=True)
    return out


def test_reference(site, melicit):
    """Every verb, option and exit code is on the page of the command line."""
    text = re.sub(r"<[^>]+>", "", html.unescape((site / "docs" / "cli.html").read_text()))
    told = melicit("help", "--json").done().json
    for verb in told["verbs"]:
        assert f"melicit {verb['name']}" in text
        assert [o for o in verb["options"] if f"--{o.get('under', o['name'])} {o['name']}" not in text and f"--{o['name']}" not in text] == []


def test_links(site):
    pages = {path: Page(path) for path in site.rglob("*.html")}
    assert len(pages) >= 25 and len(list((SOURCE / "docs").rglob("*.md"))) <= len(pages)
    for path, page in pages.items():
        assert page.loads and not any(":" in load for load in page.loads), path
        for load in page.loads:
            assert (path.parent / load).is_file(), (path, load)
        for link in page.links:
            target, _, place = link.partition("#")
            if ":" in target:
                continue
            other = (path.parent / urllib.parse.unquote(target)).resolve() if target else path
            assert other in pages or other.is_file(), (path, link)
            assert not place or other not in pages or place in pages[other].places, (path, link)


def test_long_sentences_are_found():
    """tools/prose.py: words of a sentence, lines of a paragraph; tables, code and headings are neither."""
    spec = importlib.util.spec_from_file_location("prose", SOURCE / "tools" / "prose.py")
    prose = importlib.util.module_from_spec(spec)
    spec.loader.exec_module(prose)
    text = f"# A heading\n\n{'word ' * 36}end. Short one, e.g. this.\n\n| {'cell ' * 50}|\n\n```\n{'code ' * 50}\n```\n\n- an item\n- another `with code`\n"
    found = prose.paragraphs(text)
    assert [line for line, _ in found] == [3, 11, 12]
    assert [len(s.split()) for s in prose.sentences(found[0][1])] == [37, 4]
    assert prose.sentences("See [a page](x.md#y). k is next.") == ["See a page.", "k is next."]


def test_spelling():
    pages = [path for path in [*SOURCE.glob("*.md"), *(SOURCE / "docs").rglob("*.md"), *SOURCE.glob("*/README.md")]]
    done = subprocess.run(["codespell", "--ignore-words-list", "fpr,lien", *pages], capture_output=True, text=True)
    assert done.returncode == 0, done.stdout

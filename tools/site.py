#!/usr/bin/env python3
"""The documentation as a small static site: tools/site.py OUT [PROGRAM]. No requests to elsewhere; works from a folder as from a server.

Pages are README.md and docs/, in the order of PAGES; a page that is not listed comes last. Links between them become links between pages, pictures
are copied, links to other files of the project stay text. PROGRAM, the built melicit, writes the reference of its verbs and options at the end of docs/cli.md. The colours are those of the web app (web/src/style.css)."""
import html
import json
import pathlib
import re
import shutil
import subprocess
import sys

import markdown

ROOT = pathlib.Path(__file__).resolve().parent.parent
PARTS = (
    ("Tutorial", ("README.md", "docs/install.md", "docs/guide/README.md", "docs/guide/predictions.md", "docs/guide/browser.md")),
    ("How-to", ("docs/guide/study.md", "docs/guide/fair-credit.md", "docs/guide/black-box.md", "docs/guide/c-program.md", "docs/guide/server.md",
                "docs/studies.md", "docs/deployment.md", "docs/scale.md", "docs/faq.md")),
    ("Reference", ("docs/cli.md", "docs/python.md", "docs/api.md", "docs/formats.md", "docs/metric-file.md", "docs/study-file.md", "docs/http-api.md",
                   "data/README.md", "CHANGELOG.md")),
    ("Explanation", ("docs/method.md", "docs/corrections.md", "docs/limits.md", "docs/security.md", "docs/measurements.md", "docs/architecture.md", "CONTRIBUTING.md",
                     "docs/thesis-map.md", "docs/reproduction.md", "docs/repro-*.md")),
)
LINK = re.compile(r'(href|src)="([^"#]*)(#[^"]*)?"')


def sources():
    """(part, path) of every page."""
    listed = [(part, path) for part, patterns in PARTS for pattern in patterns for path in sorted(ROOT.glob(pattern))]
    seen = {path for _, path in listed}
    return listed + [("More", path) for path in sorted((ROOT / "docs").rglob("*.md")) if path not in seen]


def address(path):
    """Where a page is in the site."""
    name = path.relative_to(ROOT).with_suffix(".html")
    return pathlib.Path("index.html") if name.name == "README.html" and name.parent == pathlib.Path(".") else name


def relative(target, page):
    return "../" * (len(address(page).parts) - 1) + target.as_posix()


def colours():
    """The palette of the web app, light and dark."""
    text = (ROOT / "web" / "src" / "style.css").read_text()
    light = re.search(r"^:root \{.*?^\}", text, re.M | re.S).group(0)
    dark = re.search(r"^@media \(prefers-color-scheme: dark\) \{\n  :root \{.*?^\}", text, re.M | re.S).group(0)
    return f"{light}\n{dark}\n"


class Site:
    def __init__(self, out, program):
        self.out, self.program, self.pages = out, program, sources()
        self.known = {path.resolve() for _, path in self.pages}
        self.copied, self.index = set(), []

    def link(self, page):
        """What becomes of a link of this page."""
        def replace(match):
            attribute, target, part = match.group(1), match.group(2), match.group(3) or ""
            if not target or ":" in target:
                return match.group(0)
            path = (page.parent / target).resolve()
            if path.is_dir() and (path / "README.md").resolve() in self.known:
                path = path / "README.md"
            if path in self.known:
                return f'{attribute}="{relative(address(path), page)}{part}"'
            if attribute == "src" or path.suffix in (".svg", ".png"):
                self.copied.add(path)
                return f'{attribute}="{relative(path.relative_to(ROOT), page)}"'
            return f'title="{html.escape(str(path.relative_to(ROOT)))}"'
        return replace

    def navigation(self, page):
        lines, last = [], None
        for part, path in self.pages:
            if part != last:
                lines.append(f"<h2>{part}</h2>")
            last = part
            here = ' aria-current="page"' if path == page else ""
            lines.append(f'<a href="{relative(address(path), page)}"{here}>{html.escape(self.title(path))}</a>')
        return "\n".join(lines)

    @staticmethod
    def title(path):
        return re.search(r"^# (.*)$", path.read_text(), re.M).group(1).replace("`", "")

    def page(self, path, template):
        converter = markdown.Markdown(extensions=["tables", "fenced_code", "toc", "sane_lists"])
        text = re.sub(r"^```(\w+) \S+$", r"```\1", path.read_text(), flags=re.M)
        if self.program and path.name == "cli.md":
            text += "\n" + subprocess.run([self.program, "help", "--as", "markdown"], check=True, capture_output=True, text=True).stdout
        body = LINK.sub(self.link(path), converter.convert(text))
        # What may be wider than a phone is scrolled, by the keyboard as well.
        body = body.replace("<pre>", '<pre tabindex="0">').replace("<table>", '<div class="wide" tabindex="0"><table>').replace("</table>", "</table></div>")
        plain = re.sub(r"\s+", " ", html.unescape(re.sub(r"<[^>]+>", " ", body)))
        self.index.append({"title": self.title(path), "url": address(path).as_posix(), "text": plain})
        fields = {"title": html.escape(self.title(path)), "root": "../" * (len(address(path).parts) - 1), "navigation": self.navigation(path), "body": body}
        return re.sub(r"\{\{(\w+)\}\}", lambda m: fields[m.group(1)], template)

    def write(self):
        template = (ROOT / "tools" / "site" / "page.html").read_text()
        shutil.rmtree(self.out, ignore_errors=True)
        for _, path in self.pages:
            file = self.out / address(path)
            file.parent.mkdir(parents=True, exist_ok=True)
            file.write_text(self.page(path, template))
        for path in self.copied:
            file = self.out / path.relative_to(ROOT)
            file.parent.mkdir(parents=True, exist_ok=True)
            shutil.copyfile(path, file)
        (self.out / "site.css").write_text(colours() + (ROOT / "tools" / "site" / "site.css").read_text())
        (self.out / "search.js").write_text("const pages = " + json.dumps(self.index) + ";\n" + (ROOT / "tools" / "site" / "search.js").read_text())


def main():
    if len(sys.argv) not in (2, 3):
        raise SystemExit(__doc__)
    Site(pathlib.Path(sys.argv[1]).resolve(), *sys.argv[2:] or [None]).write()


if __name__ == "__main__":
    main()

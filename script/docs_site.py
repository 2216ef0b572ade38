"""Build the documentation as a site that can be searched and needs no network: script/docs [--out FOLDER].

Pages link to one another, to sources and to folders as they lie in the repository. The site is built from a copy with the same
layout, in which every linked source becomes a page and every linked folder an index. What GitHub's Markdown has and mkdocs' lacks
(indented fences, lists right after a paragraph) is rewritten on the way. A link that leads nowhere ends the build.
"""
import argparse
import html
import json
import os
import re
import shutil
import subprocess
import sys
import tempfile
from pathlib import Path

ROOT = Path(__file__).resolve().parent.parent
FIRST = ["README.md", "SECURITY.md", "CONTRIBUTING.md", "CHANGELOG.md"]
FOLDERS = ["docs", "src", "bench", "bindings", "completion", "examples", "experiments", "fuzz", "proto", "script", "systemd", "tests", "web"]
PICTURES = {".svg", ".png", ".jpg", ".gif"}
LINK = re.compile(r"(!?\[(?:[^\]\[]|\[[^\]]*\])*\]\()([^)\s]+)(\))")
FENCE = re.compile(r"^( *)(```|~~~)(.*)$")
ITEM = re.compile(r"^( *)([-*+]|\d+[.)]) +")


# ---- Markdown as mkdocs reads it ----

def slug(text, separator):
    """The name of a heading in an address, as GitHub makes it."""
    return re.sub(r"[^\w\- ]", "", text.lower()).replace(" ", separator)


def plain_markdown(text):
    """The same page for mkdocs: fences with one word, list items indented by four, an empty line before a list."""
    out, fence, items, before = [], None, [], ""
    for line in text.split("\n"):
        found = FENCE.match(line)
        if fence is not None:
            # Below a list item a fence becomes an indented block, which mkdocs knows there.
            if found and found.group(2) == fence[0] and not found.group(3).strip():
                out.append("" if fence[2] else fence[0])
                fence = None
            else:
                body = line[fence[1]:] if not line[:fence[1]].strip() else line.lstrip()
                out.append(("    " * (fence[2] + 1) + body).rstrip() if fence[2] else line)
            continue
        if not line.strip():
            out.append("")
            before = ""
            continue
        indent = len(line) - len(line.lstrip())
        item = ITEM.match(line)
        while items and indent < items[-1][1] and not (item and indent >= items[-1][0] and indent < items[-1][1]):
            items.pop()
        if item:
            while items and indent <= items[-1][0]:
                items.pop()
            if not items and before and not ITEM.match(before) and not before.startswith((" ", "|")):
                out.append("")
            items.append((indent, item.end()))
            line = "    " * (len(items) - 1) + line.lstrip()
        elif items and found is None:
            line = "    " * len(items) + line[items[-1][1]:] if indent >= items[-1][1] else line
        if found:
            words = found.group(3).split()
            depth = len(items) if indent > 0 else 0
            fence = (found.group(2), indent, depth)
            if depth:
                out.append("")
            else:
                out.append(fence[0] + (words[0] if words else ""))
            before = line
            continue
        out.append(line)
        before = line
    return "\n".join(out)


# ---- the copy ----

class Copy:
    """The pages, and what they link to, in a folder for mkdocs."""

    def __init__(self, folder):
        self.folder, self.problems, self.wanted, self.done = folder, [], [], set()

    def pages(self):
        known = subprocess.run(["git", "-C", ROOT, "ls-files", "-co", "--exclude-standard", "*.md"], capture_output=True, text=True)
        names = known.stdout.splitlines() if known.returncode == 0 else [str(path.relative_to(ROOT)) for path in ROOT.rglob("*.md")]
        return sorted(name for name in names
                      if name in FIRST or name.split("/")[0] in FOLDERS and "node_modules" not in name and (ROOT / name).exists())

    def write(self, name, text):
        path = self.folder / name
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_text(text, encoding="utf-8")
        self.done.add(name)

    def target(self, page, link):
        """Where a link leads in the copy. What it needs there is noted."""
        if re.match(r"[a-z]+:|#", link):
            return link
        path, mark, anchor = link.partition("#")
        place = os.path.normpath(os.path.join(os.path.dirname(page), path))
        if place.startswith("..") or not (ROOT / place).exists():
            self.problems.append(f"{page}: {link} is not there")
            return link
        if (ROOT / place).is_dir():
            made = place + "/README.md"
        elif Path(place).suffix in PICTURES or place.endswith(".md"):
            made = place
        else:
            made = place + ".md"
        self.wanted.append((place, made))
        return os.path.relpath(made, os.path.dirname(page) or ".") + mark + anchor

    def take(self, name):
        text = (ROOT / name).read_text(encoding="utf-8")
        parts = re.split(r"(^ *(?:```|~~~).*?^ *(?:```|~~~) *$|`[^`\n]*`)", text, flags=re.MULTILINE | re.DOTALL)
        for i in range(0, len(parts), 2):
            parts[i] = LINK.sub(lambda found: found.group(1) + self.target(name, found.group(2)) + found.group(3), parts[i])
        # A link whose text is code: the pieces above end inside it.
        whole = re.sub(r"(\[`[^`\n]*`\]\()([^)\s]+)(\))", lambda found: self.around(name, found), "".join(parts))
        self.write(name, plain_markdown(whole))

    def around(self, name, found):
        return found.group(1) + self.target(name, found.group(2)) + found.group(3)

    def take_wanted(self):
        for place, made in self.wanted:
            source = ROOT / place
            if made in self.done:
                continue
            if source.is_dir():
                pages = sorted(source.glob("*.md"))
                listed = "\n".join(f"- [{title_of(page)}]({page.name})" for page in pages)
                self.write(made, f"# {place}\n\n{listed}\n")
            elif source.suffix in PICTURES:
                (self.folder / made).parent.mkdir(parents=True, exist_ok=True)
                shutil.copy(source, self.folder / made)
                self.done.add(made)
            elif not made.endswith(".md") or source.suffix != ".md":
                text = source.read_text(encoding="utf-8", errors="replace")
                self.write(made, f"# {place}\n\n<pre><code>{html.escape(text)}</code></pre>\n".replace("\n\n\n", "\n&#8203;\n\n"))

    def make(self):
        for name in self.pages():
            self.take(name)
        (self.folder / "style.css").write_text(STYLE, encoding="utf-8")
        self.take_wanted()
        return self.problems


def title_of(page):
    found = re.search(r"^# +(.+)$", page.read_text(encoding="utf-8"), re.MULTILINE)
    return found.group(1).strip().replace("`", "") if found else page.stem


# ---- what mkdocs is told ----

STYLE = """.wy-nav-content { max-width: 1000px; }
.section table { margin-bottom: 24px; }
.section th, .section td { padding: 4px 8px; vertical-align: top; text-align: left; }
"""


def navigation():
    """The index by need is the navigation: its sections, and the pages of each in their order."""
    index = (ROOT / "docs/README.md").read_text(encoding="utf-8")
    entries = [{"Start": "docs/README.md"}, {"About Tacit": "README.md"}]
    for heading, body in re.findall(r"^## (.+?)\n(.*?)(?=^## |\Z)", index, re.MULTILINE | re.DOTALL):
        pages, seen = [], set()
        for _, link, _ in LINK.findall(body):
            place = os.path.normpath(os.path.join("docs", link.partition("#")[0]))
            folder = (ROOT / place).is_dir()
            for page in sorted((ROOT / place).glob("*.md")) if folder else [ROOT / place]:
                name = str(page.relative_to(ROOT))
                if page.suffix == ".md" and name not in seen:
                    seen.add(name)
                    pages.append((place if folder else None, {title_of(page): name}))
        grouped = []
        for folder, entry in pages:
            if folder is None:
                grouped.append(entry)
                continue
            named = folder.split("/")[-1].capitalize()
            group = next((one[named] for one in grouped if isinstance(one.get(named), list)), None)
            if group is None:
                group = []
                grouped.append({named: group})
            group.append(entry)
        entries.append({heading.split(":")[0]: grouped})
    return entries


def configuration(folder, site):
    told = {"site_name": "Tacit", "docs_dir": str(folder), "site_dir": str(site), "use_directory_urls": False, "nav": navigation(),
            "theme": {"name": "readthedocs", "highlightjs": False, "navigation_depth": 3, "include_homepage_in_sidebar": False},
            "plugins": ["search"], "extra_css": ["style.css"]}
    # JSON is YAML, but the name of a function is not JSON: so every key stands on a line of its own.
    return "".join(f"{key}: {json.dumps(value)}\n" for key, value in told.items()) + (
        "markdown_extensions:\n  - toc:\n      slugify: !!python/name:docs_site.slug\n")


# Search without a worker and without a request, which a browser refuses for files: the index is a script.
SEARCH = """
var min_search_length = 2, index, documents = {};
function search(query) {
  var found;
  try { found = index.search(query); } catch (problem) { return []; }
  return found.map(function (one) {
    var page = documents[one.ref];
    return { location: page.location, title: page.title, summary: page.text.substring(0, 200) };
  });
}
var searchWorker = { postMessage: function (message) { displayResults(search(message.query)); } };
function load(name, next) {
  var script = document.createElement("script");
  script.src = joinUrl(base_url, "search/" + name);
  script.onload = next;
  document.head.appendChild(script);
}
load("lunr.js", function () {
  load("search_index.js", function () {
    index = lunr(function () {
      this.field("title");
      this.field("text");
      this.ref("location");
      tacit_search_index.docs.forEach(function (page) { this.add(page); documents[page.location] = page; }, this);
    });
    initSearch();
  });
});
"""


def finish_search(site):
    """Put the index where a page opened from the disk can read it; sources are found by their pages, not by their lines."""
    folder = site / "search"
    told = json.loads((folder / "search_index.json").read_text(encoding="utf-8"))
    told["docs"] = [page for page in told["docs"] if re.search(r"(^|/)[^/.]+\.html", page["location"]) or page["location"] == ""]
    text = json.dumps(told, ensure_ascii=False)
    (folder / "search_index.json").write_text(text, encoding="utf-8")
    (folder / "search_index.js").write_text(f"var tacit_search_index = {text};\n", encoding="utf-8")
    main = (folder / "main.js").read_text(encoding="utf-8")
    (folder / "main.js").write_text(main[:main.index("if (!window.Worker) {\n  console.log")] + SEARCH, encoding="utf-8")
    (folder / "worker.js").unlink()


def main():
    parser = argparse.ArgumentParser(prog="script/docs", description="Build the documentation as a searchable site.")
    parser.add_argument("--out", default=str(ROOT / "build-site"), help="where to put it (default: build-site)")
    site = Path(parser.parse_args().out).resolve()
    with tempfile.TemporaryDirectory(prefix="tacit-site-") as scratch:
        folder = Path(scratch) / "pages"
        folder.mkdir()
        problems = Copy(folder).make()
        if problems:
            print("\n".join(problems), file=sys.stderr)
            return 1
        (Path(scratch) / "mkdocs.yml").write_text(configuration(folder, site), encoding="utf-8")
        done = subprocess.run(["mkdocs", "build", "--strict", "--config-file", Path(scratch) / "mkdocs.yml"], text=True, check=False,
                              env={**os.environ, "PYTHONPATH": str(ROOT / "script"), "PYTHONDONTWRITEBYTECODE": "1"},
                              stdout=subprocess.PIPE, stderr=subprocess.STDOUT)
        if done.returncode != 0:
            print(done.stdout, file=sys.stderr)
            return 1
    finish_search(site)
    print(f"{len(list(site.rglob('*.html')))} pages: {site}/index.html")
    return 0


if __name__ == "__main__":
    sys.exit(main())

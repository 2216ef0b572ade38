"""Every link of a page leads somewhere, and every page is linked from another: links.py ROOT."""

import os
import re
import sys
import tempfile

LINK = re.compile(r"!?\[(?:[^\]\[]|\[[^\]]*\])*\]\(([^)\s]+)\)")
FENCED = re.compile(r"^(```|~~~).*?^\1", re.MULTILINE | re.DOTALL)
HEADING = re.compile(r"^#{1,6} +(.+?) *#*$", re.MULTILINE)
LEFT_OUT = re.compile(r"^(build|release|packages|\.git|node_modules)|/(\.git|node_modules)/")


def pages(root):
    for folder, names, files in os.walk(root):
        names[:] = [name for name in names if not LEFT_OUT.search(os.path.relpath(os.path.join(folder, name), root))]
        for name in files:
            if name.endswith(".md"):
                yield os.path.relpath(os.path.join(folder, name), root)


def anchor(heading):
    """What a heading is called in an address, as GitHub makes it."""
    plain = re.sub(r"\[([^\]]*)\]\([^)]*\)", r"\1", heading)
    return re.sub(r"[^\w\- ]", "", plain.lower()).replace(" ", "-")


def anchors(text):
    seen, all_of_them = {}, set()
    for heading in HEADING.findall(FENCED.sub("", text)):
        name = anchor(heading)
        count = seen.get(name, 0)
        seen[name] = count + 1
        all_of_them.add(f"{name}-{count}" if count else name)
    return all_of_them | set(re.findall(r'<a (?:id|name)="([^"]+)"', text))


def problems_of(texts, root):
    linked = {"README.md", "docs/README.md"}
    for page, text in texts.items():
        for target in LINK.findall(re.sub(r"`[^`\n]*`", "", FENCED.sub("", text))):
            if re.match(r"[a-z]+:", target):
                continue
            path, _, name = target.partition("#")
            place = os.path.normpath(os.path.join(os.path.dirname(page), path)) if path else page
            if not os.path.exists(os.path.join(root, place)):
                yield f"{page}: {target} is not there"
            elif name and place in texts and name not in anchors(texts[place]):
                yield f"{page}: {place} has no heading #{name}"
            linked.add(place)
    for page in texts:
        folder = os.path.dirname(page)
        if page.startswith("docs/") and page not in linked and not (folder in linked and folder != "docs"):
            yield f"{page}: no page links to it; add it to docs/README.md"


def not_in_the_index(texts):
    """The index by need has every page: itself, or its folder."""
    listed = {os.path.normpath(os.path.join("docs", target.partition("#")[0])) for target in LINK.findall(texts["docs/README.md"])}
    folders = {os.path.dirname(place) if place.endswith("README.md") else place for place in listed}
    for page in texts:
        if page.startswith("docs/") and page != "docs/README.md" and page not in listed and not os.path.dirname(page) in folders - {"docs"}:
            yield f"{page}: is not in docs/README.md, the index by need"


def control():
    """The check itself: a dead link, a dead heading and a page that nothing links to are found, and nothing else."""
    texts = {"docs/README.md": "# Start\n[a](gone.md) [b](#start) [c](#end) [d](page.md) `[e](gone.md)`\n", "docs/page.md": "", "docs/alone.md": ""}
    with tempfile.TemporaryDirectory() as root:
        os.mkdir(os.path.join(root, "docs"))
        for page in texts:
            open(os.path.join(root, page), "w", encoding="utf-8").close()
        found = sorted(problems_of(texts, root))
    indexed = {"docs/README.md": "[a](page.md) [b](many/) [c](some/README.md)", "docs/page.md": "", "docs/many/a.md": "", "docs/some/b.md": "",
               "docs/some/README.md": "", "docs/lost.md": "", "docs/deep/c.md": "", "src/README.md": ""}
    assert [problem.split()[0] for problem in not_in_the_index(indexed)] == ["docs/lost.md:", "docs/deep/c.md:"]
    assert [problem.split()[0] for problem in found] == ["docs/README.md:", "docs/README.md:", "docs/alone.md:"], found


def main(root):
    control()
    texts = {}
    for page in pages(root):
        with open(os.path.join(root, page), encoding="utf-8") as stream:
            texts[page] = stream.read()
    found = sorted([*problems_of(texts, root), *not_in_the_index(texts)])
    print("\n".join(found) if found else f"{len(texts)} pages, every link leads somewhere")
    return 1 if found or len(texts) < 20 else 0


if __name__ == "__main__":
    sys.exit(main(sys.argv[1]))

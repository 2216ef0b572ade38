"""The documentation builds as a site, without a warning, that asks no other host for anything: site.py ROOT."""
import os
import re
import shutil
import subprocess
import sys
import tempfile
from pathlib import Path

SKIPPED = 77


def load(root):
    sys.dont_write_bytecode = True
    sys.path.insert(0, str(root / "script"))
    import docs_site
    return docs_site


def check_markdown(module):
    """What mkdocs would misread is rewritten, and nothing else."""
    assert module.plain_markdown("a\n- b\n  c\n\n  d\n") == "a\n\n- b\n    c\n\n    d\n"
    assert module.plain_markdown("```sh long\nx\n  - y\n```\n") == "```sh\nx\n  - y\n```\n"
    assert module.plain_markdown("- a\n\n  ```\n  x\n  ```\n") == "- a\n\n\n        x\n\n"
    assert module.plain_markdown("a\n\n    code\n") == "a\n\n    code\n"
    assert module.slug("What `sum: clear` shows", "-") == "what-sum-clear-shows"


def check_dead_link(module):
    """A link that leads nowhere is a problem, not a page."""
    kept = module.ROOT
    with tempfile.TemporaryDirectory() as name:
        module.ROOT = Path(name)
        (module.ROOT / "docs").mkdir()
        (module.ROOT / "docs/README.md").write_text("# A\n[a](gone.md) [b](README.md) [`c`](gone.c)\n")
        (module.ROOT / "copy").mkdir()
        assert len(module.Copy(module.ROOT / "copy").make()) == 2
    module.ROOT = kept


def other_hosts(site):
    """What a browser would fetch from elsewhere by itself: links that a reader follows are none of these."""
    for page in site.rglob("*.html"):
        for tag in re.findall(r"<(?:script|img|link|iframe|source)\b[^>]*>", page.read_text(encoding="utf-8")):
            if re.search(r"(?:src|href)=[\"'](?:https?:)?//", tag):
                yield f"{page.relative_to(site)}: {tag}"
    for sheet in site.rglob("*.css"):
        for found in re.findall(r"(?:url\(|@import )[\"']?(?:https?:)?//[^)\"']+", sheet.read_text(encoding="utf-8")):
            yield f"{sheet.relative_to(site)}: {found}"


def main(root):
    if shutil.which("mkdocs") is None:
        print("skipped: mkdocs is not installed (script/setup --docs installs it)")
        return SKIPPED
    module = load(root)
    check_markdown(module)
    check_dead_link(module)
    with tempfile.TemporaryDirectory(prefix="tacit-site-test-") as name:
        site = Path(name) / "site"
        done = subprocess.run([sys.executable, root / "script/docs_site.py", "--out", site], capture_output=True, text=True,
                              check=False, env={**os.environ, "PYTHONDONTWRITEBYTECODE": "1"})
        print(done.stdout + done.stderr)
        if done.returncode != 0:
            return 1
        found = list(other_hosts(site))
        print("\n".join(found))
        assert not found
        assert (site / "docs/architecture.svg").exists()
        assert "Paillier" in (site / "search/search_index.js").read_text(encoding="utf-8")
        assert '<a href="docs/' in (site / "index.html").read_text(encoding="utf-8")
        for page in ("docs/reference/schema.html", "docs/reference/commands/fit.html", "SECURITY.html"):
            assert (site / page).exists(), page
    return 0


if __name__ == "__main__":
    sys.exit(main(Path(sys.argv[1]).resolve()))

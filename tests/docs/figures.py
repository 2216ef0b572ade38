"""The runner of figures finds what moved, what failed and what took too long, and nothing else; every figure of the pages can be read:
figures.py ROOT."""
import re
import sys
from pathlib import Path

PAGE = """# A page
<!-- figure -->
```
$ printf 'a  1.5\\nb  2.5  0.10 s\\n'
a  1.5
b  2.5  7.34 s
```

<!-- figure: tolerance 0.1, limit 60 s -->

    $ for word in 1.52 2; do
    $     echo $word
    $ done
    1.5
    ...

After it.

<!-- figure: output gone.txt, needs data -->
```
$ cat <<'END'
$ not a command
END
```
"""


def load(root):
    sys.dont_write_bytecode = True
    sys.path.insert(0, str(root / "script"))
    import docs_figures
    return docs_figures


def check_reading(module):
    first, second, third = module.figures_of("page.md", PAGE)
    assert len(first.parts) == 1 and first.tolerance == 0 and first.limit == 120 and not first.data
    assert len(second.parts) == 3 and second.tolerance == 0.1 and second.limit == 60
    assert third.output == "gone.txt" and third.data and third.parts[0][0].endswith("not a command\nEND")
    try:
        list(module.figures_of("page.md", "<!-- figure: sometimes -->\n```\n$ true\n```\n"))
    except SystemExit as problem:
        assert "sometimes" in str(problem)
    else:
        raise AssertionError("a comment that means nothing was taken")


def verdict(module, block, told=""):
    figure, = module.figures_of("page.md", f"<!-- figure{told} -->\n```\n{block}\n```\n")
    return module.run(figure, "/bin/true", None)[0]


def check_running(module):
    first, second, third = module.figures_of("page.md", PAGE)
    assert module.run(first, "/bin/true", None)[0] == module.SAME
    assert module.run(second, "/bin/true", None)[0] == module.SAME
    assert module.run(third, "/bin/true", None)[0] == module.UNKNOWN
    assert verdict(module, "$ echo 1.52\n1.5") == module.MOVED
    assert verdict(module, "$ echo 1.52 c\n1.5 b", ": tolerance 0.1") == module.MOVED
    assert verdict(module, "$ echo a\na\nb") == module.MOVED
    assert verdict(module, "$ false\n") == module.FAILED
    assert verdict(module, "$ cat examples/README.md > copy; ls\nbench\ncopy\nexamples") == module.SAME
    assert verdict(module, "$ tail -f /dev/null\n", ": limit 1 s") == module.LATE


def check_by_hand(module):
    page = "# A page\n<!-- figure by hand: bench/run_cox --repeats 2; script/bench load -->\n\n`bench/run_cox` and `script/bench load`\n"
    assert list(module.by_hand("page.md", page)) == [("page.md:2", "bench/run_cox --repeats 2"), ("page.md:2", "script/bench load")]
    assert module.unmarked("page.md", page) == [] and list(module.figures_of("page.md", page)) == []
    assert module.unmarked("page.md", page + "`bench/run_text`\n") == ["bench/run_text"]
    assert module.unmarked("page.md", "<!-- figure -->\n```\n$ bench/run_text\n```\n") == []


def main(root):
    module = load(root)
    check_by_hand(module)
    check_reading(module)
    check_running(module)
    figures = list(module.all_figures())
    missing = [figure.name() for figure in figures if figure.shown() is None]
    print(f"{len(figures)} figures" + (f"; without a recorded output: {', '.join(missing)}" if missing else ""))
    assert len(figures) > 20
    for figure in figures:  # what is run is there
        for name in re.findall(r"(?:^|[\s;])((?:bench|examples)/[\w.]+)", "\n".join(command for command, _ in figure.parts)):
            assert (root / name).exists(), f"{figure.name()}: there is no {name}"
    for page, text in module.pages():
        told_elsewhere = not page.startswith("docs/") or page.startswith("docs/decisions/")  # the front page links; a decision is of its day
        found = [] if told_elsewhere else module.unmarked(page, text)
        assert not found, f"{page}: mark what is run by hand (script/docs --figures --help): {', '.join(found)}"
        for place, command in module.by_hand(page, text):
            assert (root / command.split()[0]).exists(), f"{place}: there is no {command.split()[0]}"
    return 0


if __name__ == "__main__":
    sys.exit(main(Path(sys.argv[1]).resolve()))

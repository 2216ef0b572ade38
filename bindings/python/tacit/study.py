"""Studies from the side of the statistician: a coordinator, its studies, and what they find."""
from __future__ import annotations

import json
import os
import sys
import threading
from collections.abc import Callable, Iterable, Iterator, Mapping
from pathlib import Path as FilePath
from typing import Any, Optional, Union

from tacit import _errors
from tacit._call import Path, Settings, Task, document, options_of, path_of, take_text
from tacit._errors import EXCEPTIONS
from tacit._frame import Frame
from tacit._native import ffi, lib
from tacit._table import SchemaFile, schema_text
from tacit.model import Model

_Usage = EXCEPTIONS[lib.TACIT_USAGE]
_ENDED = ("done", "failed", "closed")

Schema = Union[Path, Mapping[str, Any]]
Told = Union[bool, Callable[[dict[str, Any]], None]]


def coordinator(where: Path, *, token: Optional[str] = None, name: Optional[str] = None, listen: Optional[str] = None,
                url: Optional[str] = None, dashboard: Optional[int] = None, test: Optional[Path] = None,
                news: Optional[Callable[[str], None]] = None) -> Coordinator:
    """A coordinator: one that this process runs in the folder `where`, which is made if it is missing; or, with the address of a running
    one and a `token` of ``tacit study token``, that one. Where another process serves the folder, the folder is used beside it.

    It listens on 127.0.0.1 unless `listen` says otherwise; `url` is how parties reach it. `dashboard` is a port for the pages and the HTTP
    interface, 0 for any free one (:attr:`Coordinator.address`). `news` is called with a line now and then, by another thread. It ends with
    the ``with``; studies go on where they were the next time.

    ::

        with tacit.coordinator("consortium") as c:
            s = c.study("tumours", formula="relapse ~ histology * stage + age", method="estimate", sites=["Vienna", "Graz", "Linz"])
            fit = s.run()
    """
    return Coordinator(where, token=token, name=name, listen=listen, url=url, dashboard=dashboard, test=test, news=news)


class Coordinator:
    """What :func:`coordinator` makes."""

    def __init__(self, where: Path, *, token: Optional[str] = None, news: Optional[Callable[[str], None]] = None, **options: Any) -> None:
        place = os.fspath(where)
        remote = isinstance(place, str) and place.startswith(("http://", "https://"))
        self.folder: Optional[FilePath] = None if remote else FilePath(os.fsdecode(place))
        self.runs = False
        self._open: Any = None
        self._lent: list[Any] = []  # rows of sites in this process
        self._task = Task(news=news)
        self._listener = self._task.coordinator_listener()
        out = ffi.new("tacit_coordinator **")
        if not remote:
            given = options_of({key: str(value) if hasattr(value, "__fspath__") else value for key, value in options.items()})
            try:
                Task().run(lib.tacit_coordinator_start, out, path_of(place), given, self._listener,
                           discard=lambda: lib.tacit_coordinator_free(out[0]))
                self.runs = True
            except _Usage as problem:
                if "another coordinator serves" not in str(problem):
                    raise
        if not self.runs:
            Task().run(lib.tacit_coordinator_connect, out, path_of(place), ffi.NULL if token is None else token.encode(),
                       discard=lambda: lib.tacit_coordinator_free(out[0]))
        self._open = out[0]
        self._users, self._idle = 0, threading.Condition()

    # ---- calls ----

    def _use(self, call: Callable[[Any], Any]) -> Any:
        """Make a call on the open coordinator, which is not closed meanwhile."""
        with self._idle:
            if self._open is None:
                raise _errors.UsageError("this coordinator was closed")
            self._users += 1
        try:
            return call(self._open)
        finally:
            with self._idle:
                self._users -= 1
                self._idle.notify_all()

    def _document(self, function: Any, *arguments: Any) -> Any:
        return self._use(lambda pointer: document(function, pointer, *arguments))

    def _fetch(self, study: Optional[str], what: str) -> bytes:
        error, out, length = _errors.new_error(), ffi.new("void **"), ffi.new("size_t *")
        self._use(lambda pointer: _errors.check(
            lib.tacit_study_fetch(out, length, pointer, ffi.NULL if study is None else study.encode(), what.encode(), error), error))
        try:
            return bytes(ffi.buffer(out[0], length[0]))
        finally:
            lib.tacit_bytes_free(out[0])

    # ---- studies ----

    def study(self, name: str, formula: Optional[str] = None, *, method: str = "estimate", sites: Iterable[str] = (),
              schema: Optional[Schema] = None, settings: Settings = None, draft: bool = False, force: bool = False,
              **more: Any) -> Study:
        """Draft a study, add it, and invite `sites` by name (:attr:`Study.invitations`).

        `schema` describes the columns: a file, YAML text, or a mapping; by default the file ``NAME.schema.yaml`` or ``schema.yaml`` of the
        coordinator's folder. `settings` are the method's; what else a definition has goes by its name: ``epsilon``, ``delta``, ``lam``,
        ``minimum_rows`` (10), ``expected_rows``, ``parties`` (as many as there are sites), ``minimum_parties``, ``subset``, ``sum``, ``title``,
        ``description``, ``approval``. A study of that name with the very same definition is taken up where it is.
        """
        names = list(sites)
        parties = more.pop("parties", None) or len(names)
        if "lam" in more:
            more["lambda"] = more.pop("lam")
        with self._schema(name, schema) as path:
            options = options_of({"method": method, "schema": path, "draft": draft, "force": force, **more}, settings)
            self._use(lambda pointer: Task().run(lib.tacit_study_create, pointer, name.encode(), ffi.NULL if formula is None else formula.encode(),
                                                 parties, options))
        study = Study(self, name)
        if not draft:
            study._invite_missing(names)
        return study

    def draft(self, name: str, formula: Optional[str] = None, *, method: str = "estimate", parties: Optional[int] = None,
              schema: Optional[Schema] = None, settings: Settings = None, **more: Any) -> str:
        """The definition that :meth:`study` would add, as YAML, as ``tacit study draft``."""
        if "lam" in more:
            more["lambda"] = more.pop("lam")
        with self._schema(name, schema) as path:
            options = options_of({"name": name, "formula": formula, "method": method, "parties": parties or None, "schema": path, **more}, settings)
            error, out = _errors.new_error(), ffi.new("char **")
            _errors.check(lib.tacit_study_draft(out, options, error), error)
        return take_text(out[0])

    def _schema(self, name: str, schema: Optional[Schema]) -> SchemaFile:
        if schema is None and self.folder is not None:
            for place in (self.folder / f"{name}.schema.yaml", self.folder / "schema.yaml"):
                if place.is_file():
                    return SchemaFile(place)
        if schema is None:
            where = f"put it into {self.folder} as {name}.schema.yaml or schema.yaml, or give" if self.folder is not None else "give"
            raise _errors.UsageError(f"which columns do the sites have? {where} schema=")
        if isinstance(schema, Mapping):
            return SchemaFile(text=schema_text(schema))
        if isinstance(schema, str) and "\n" in schema:
            return SchemaFile(text=schema)
        return SchemaFile(FilePath(os.fsdecode(os.fspath(schema))))

    def check(self, definition: str, *, force: bool = False) -> dict[str, Any]:
        """What is wrong with a definition, as an error; else its hash, price, and what is to be expected of it."""
        return self._document(lib.tacit_study_check, definition.encode(), options_of({"force": force}))

    def add(self, definition: Optional[str] = None, *, file: Optional[Path] = None, draft: bool = False, force: bool = False) -> Study:
        """Add a study by its definition: YAML text, or a `file` that may name others beside it."""
        given = options_of({"file": None if file is None else os.fsdecode(os.fspath(file)), "draft": draft, "force": force})
        added = self._document(lib.tacit_study_add, ffi.NULL if definition is None else definition.encode(), given)
        return Study(self, added["study"])

    @property
    def studies(self) -> dict[str, Study]:
        """All studies, by name."""
        return {one["name"]: Study(self, one["name"]) for one in json.loads(self._fetch(None, "list"))["studies"]}

    def __getitem__(self, name: str) -> Study:
        self._fetch(name, "status")
        return Study(self, name)

    # ---- access ----

    @property
    def address(self) -> str:
        """Of the pages and the HTTP interface; "" where none are served."""
        return self._use(lambda pointer: ffi.string(lib.tacit_coordinator_address(pointer)).decode())

    def token(self, *, scope: str = "read", expires: float = 30, study: Optional[str] = None, called: Optional[str] = None) -> str:
        """A token for the HTTP interface, for this many days, as ``tacit study token``. It is shown only this once."""
        given = options_of({"scope": scope, "expires": expires, "study": study, "for": called})
        return self._document(lib.tacit_coordinator_token, given)["token"]

    def close(self) -> None:
        """End it, when calls of other threads have ended, and sites that wait for the end of a study which has ended have heard of it.
        Studies stay where they are."""
        with self._idle:
            while self._users > 0:
                self._idle.wait()
            pointer, self._open = self._open, None
        if pointer is not None:
            lib.tacit_coordinator_free(pointer)
            self._lent.clear()

    def __enter__(self) -> Coordinator:
        return self

    def __exit__(self, *problem: object) -> None:
        self.close()

    def __del__(self) -> None:
        pointer, self._open = getattr(self, "_open", None), None
        if pointer is not None:
            lib.tacit_coordinator_free(pointer)

    def __repr__(self) -> str:
        return f"<tacit.Coordinator {self.folder or self.address}{', running here' if self.runs else ''}>"


class Study:
    """A study of a :class:`Coordinator`. Iterate over it to follow its rounds; :meth:`run` waits for the result."""

    def __init__(self, coordinator: Coordinator, name: str) -> None:
        self.coordinator, self.name = coordinator, name
        #: Invitations that this object has made, by the site's name: pass each on like a password.
        self.invitations: dict[str, str] = {}

    # ---- its life ----

    def invite(self, called: Optional[str] = None, *, days: float = 7, url: Optional[str] = None) -> str:
        """One single-use invitation, for a site that is called so."""
        given = options_of({"for": called, "days": days, "url": url})
        line = self.coordinator._document(lib.tacit_study_invite, self.name.encode(), given)["invitations"][0]
        if called is not None:
            self.invitations[called] = line
        return line

    def _invite_missing(self, names: list[str]) -> None:
        known = {one["called"] for one in self.parties if one["state"] not in ("expired", "revoked")}
        for name in names:
            if name not in known:
                self.invite(name)

    def site(self, called: str, data: Any, **options: Any) -> Study:
        """Have a site take part from within this process, as one program plays all parts in tests, notebooks and trials.

        `data` are its rows: a DataFrame, or what else :meth:`Frame.table` takes; leave them as they are until the coordinator is closed. The
        call is the owner's consent to all that the study asks, exact sums included. It returns when the site has joined; the site then answers on a
        thread of its own. Options are those of :meth:`Site.invited`; by default ``home``, for keys and ledger, is the folder ``sites/NAME`` of the
        coordinator's. A site elsewhere is :class:`tacit.Site`.
        """
        if isinstance(data, Frame):
            raise _errors.UsageError("give the DataFrame itself: the study's schema describes its columns")
        frame = Frame.table(data)
        given = options_of({"invitation": self.invitations.get(called),
                            **{key: str(value) if hasattr(value, "__fspath__") else value for key, value in options.items()}})

        def join(pointer: Any) -> None:
            self.coordinator._lent.append(frame._kept)
            ffi.gc(frame._pointer, None)  # the library's from here on
            Task().run(lib.tacit_study_site, pointer, self.name.encode(), called.encode(), frame._pointer, given)

        self.coordinator._use(join)
        self.invitations.pop(called, None)
        return self

    def _change(self, function: Any) -> Study:
        error = _errors.new_error()
        self.coordinator._use(lambda pointer: _errors.check(function(pointer, self.name.encode(), error), error))
        return self

    def open(self) -> Study:
        """Open a draft to parties."""
        return self._change(lib.tacit_study_open)

    def pause(self) -> Study:
        """Ask nothing until :meth:`resume`."""
        return self._change(lib.tacit_study_pause)

    def resume(self) -> Study:
        """Go on where it was."""
        return self._change(lib.tacit_study_resume)

    def close(self) -> Study:
        """End it without a model."""
        return self._change(lib.tacit_study_close)

    def amend(self, definition: Optional[str] = None, *, file: Optional[Path] = None) -> dict[str, Any]:
        """Replace the definition; sites are asked for consent again."""
        given = options_of({"file": None if file is None else os.fsdecode(os.fspath(file))})
        return self.coordinator._document(lib.tacit_study_amend, self.name.encode(),
                                          ffi.NULL if definition is None else definition.encode(), given)

    # ---- what it is and has found ----

    def fetch(self, what: str) -> bytes:
        """As it is: status, definition, parties, rounds, model, table, evaluation, card, card.html or audit."""
        return self.coordinator._fetch(self.name, what)

    def _read(self, what: str) -> Any:
        return json.loads(self.fetch(what))

    @property
    def status(self) -> dict[str, Any]:
        """State, parties, rounds, price."""
        return self._read("status")

    @property
    def parties(self) -> list[dict[str, Any]]:
        """Who takes part, and who is invited by name."""
        return self._read("parties")["parties"]

    @property
    def definition(self) -> str:
        """What parties consent to, as YAML."""
        return self.fetch("definition").decode()

    def rounds(self) -> list[dict[str, Any]]:
        """The rounds that have ended."""
        return self._read("rounds")["rounds"]

    def evaluation(self) -> dict[str, Any]:
        """What a study of method evaluate has found."""
        return self._read("evaluation")

    def audit(self, path: Path) -> None:
        """Write the signed archive, which ``tacit export-audit --verify`` checks."""
        FilePath(os.fsdecode(os.fspath(path))).write_bytes(self.fetch("audit"))

    def result(self) -> Fit:
        """What the study ended with; an error where it did not."""
        status = self.status
        if status["state"] in ("failed", "closed"):
            raise _errors.CancelledError(f"study '{self.name}' is {status['state']}: {status['reason']}")
        text = self.fetch("model")
        fit = Fit._from_call(lib.tacit_model_from_json, text, len(text))
        fit._study = self
        return fit

    # ---- watching ----

    def watch(self) -> Iterator[dict[str, Any]]:
        """Its status, at once and then whenever it has changed, until the study has ended. Ctrl-C ends the loop, not the study."""
        known = ""

        def changed(text: str) -> bool:
            nonlocal known
            same, known = text == known, text
            return same

        task = Task()
        state = ""
        while state not in _ENDED:
            before = known
            watcher = task.watcher(changed)
            self.coordinator._use(lambda pointer: task.run(lib.tacit_study_watch, pointer, self.name.encode(), watcher))
            if known == before:
                return
            found = json.loads(known)
            state = found["state"]
            yield found

    def __iter__(self) -> Iterator[dict[str, Any]]:
        """Each round once, as soon as it has ended."""
        told = 0
        for _ in self.watch():
            rounds = self.rounds()
            yield from rounds[told:]
            told = len(rounds)

    def run(self, progress: Told = True) -> Fit:
        """Wait until the sites have joined and the study has ended; what it has found.

        `progress` shows where it stands, in a notebook as a line that changes; or is called with each status. Ctrl-C ends the waiting, with the
        study as it is: :meth:`run` goes on with it, :meth:`pause` and :meth:`close` are also there.
        """
        show = progress if callable(progress) else _Progress(self) if progress else None
        try:
            for status in self.watch():
                if show is not None:
                    show(status)
        finally:
            if isinstance(show, _Progress):
                show.end()
        return self.result()

    def __repr__(self) -> str:
        return f"<tacit.Study {self.name}>"


class _Progress:
    """Where a study stands: in a notebook a line that is replaced, on a terminal too, else a line for each step."""

    def __init__(self, study: Study) -> None:
        self._study, self._display, self._shown, self._width = study, None, "", 0
        try:
            from IPython import get_ipython
            if get_ipython() is not None and "IPKernelApp" in get_ipython().config:
                from IPython.display import display
                self._display = display({"text/plain": ""}, raw=True, display_id=True)
        except ImportError:
            pass

    def __call__(self, status: dict[str, Any]) -> None:
        line = self.line(status)
        if line == self._shown:
            return
        self._shown = line
        if self._display is not None:
            self._display.update({"text/plain": line}, raw=True)
        elif sys.stderr.isatty():
            sys.stderr.write("\r" + line.ljust(self._width))
            sys.stderr.flush()
        else:
            print(line, file=sys.stderr)
        self._width = len(line)

    def line(self, status: dict[str, Any]) -> str:
        parties, text = status["parties"], f"{status['name']}: {status['state']}"
        if status["state"] == "recruiting":
            text += f", {parties['joined']} of {parties['expected']} sites have joined"
            awaited = [one["called"] for one in self._study.parties if one["state"] == "invited" and one["called"]]
            if awaited:
                text += f"; not yet: {', '.join(awaited)}"
        elif status["state"] == "running":
            text += f", {status['rounds']} rounds"
            if status.get("progress"):
                text += f", {status['progress']['stage']} {status['progress']['done']} of {status['progress']['total']}"
        elif status["state"] == "done":
            text += f" after {status['rounds']} rounds"
        if status["state"] not in ("recruiting", "running") and status["reason"]:
            text += f": {status['reason']}"
        return text

    def end(self) -> None:
        if self._display is None and self._width > 0 and sys.stderr.isatty():
            print(file=sys.stderr)


class Summary:
    """A table of coefficients; as text with ``print``, as a table in a notebook, as a DataFrame with :meth:`frame`."""

    COLUMNS = ("estimate", "error", "statistic", "p", "low", "high")
    TITLES = ("estimate", "std. error", "statistic", "p value", "low", "high")

    def __init__(self, found: dict[str, Any], title: str = "") -> None:
        #: As ``tacit summary --json`` has it.
        self.document, self.title = found, title

    @property
    def coefficients(self) -> list[dict[str, Any]]:
        return self.document.get("coefficients") or []

    @property
    def missing_counts(self) -> dict[str, tuple[Optional[float], Optional[float]]]:
        """How many values were missing, by column and what became of them, and how many rows were left out, where the study
        released it: a count, None where it is too small to be shown, and the standard error of the noise in it."""
        report = self.document.get("missing_counts") or (self.document if self.document.get("kind") == "missing" else {})
        return {row["label"]: (row["values"][0], row.get("noise_errors", [None])[0])
                for table in report.get("tables", []) if table["name"] == "missing" for row in table["rows"]}

    def _missing_lines(self) -> list[str]:
        def line(label: str, count: Optional[float], error: Optional[float]) -> str:
            shown = "too few to be shown" if count is None else f"{count:.5g}"
            return f"{label}  {shown}" if error is None else f"{label}  {shown} ({error:.2g})"
        lines = [line(label, count, error) for label, (count, error) in self.missing_counts.items()]
        return ["", "Missing values, and the standard error of the noise", *lines] if lines else []

    def _cells(self) -> tuple[list[str], list[list[str]]]:
        present = [(key, title) for key, title in zip(self.COLUMNS, self.TITLES) if any(one.get(key) is not None for one in self.coefficients)]
        rows = [[one["name"], *("" if one.get(key) is None else f"{float(one[key]):.4g}" for key, _ in present)] for one in self.coefficients]
        return ["", *(title for _, title in present)], rows

    def frame(self) -> Any:
        """A pandas DataFrame, a coefficient each row."""
        import pandas
        return pandas.DataFrame(self.coefficients).set_index("name")

    def __str__(self) -> str:
        head, rows = self._cells()
        if not rows and self.document.get("kind") != "missing":
            return json.dumps(self.document, indent=2, ensure_ascii=False)
        width = [max(len(row[at]) for row in (head, *rows)) for at in range(len(head))]
        lines = ["  ".join([row[0].ljust(width[0]), *(cell.rjust(w) for cell, w in zip(row[1:], width[1:]))]).rstrip() for row in (head, *rows)] if rows else []
        return "\n".join(([self.title, ""] if self.title else []) + lines + self._missing_lines())

    __repr__ = __str__

    def _repr_html_(self) -> str:
        from html import escape
        head, rows = self._cells()
        cells = "".join("<tr>" + f"<th>{escape(row[0])}</th>" + "".join(f"<td>{escape(cell)}</td>" for cell in row[1:]) + "</tr>" for row in rows)
        missing = "".join(f"<p>{escape(line)}</p>" for line in self._missing_lines() if line)
        return f"<table><caption>{escape(self.title)}</caption><tr>{''.join(f'<th>{escape(one)}</th>' for one in head)}</tr>{cells}</table>{missing}"


class Fit(Model):
    """The model of a study, with its table, drawing and card."""

    _study: Optional[Study] = None

    def summary(self) -> Summary:
        """Coefficients with standard errors, or the tables of a report."""
        about = self.document
        found = about.get("summary") or about.get("report")
        if found is None:
            raise _errors.UsageError(
                f"method {self.guarantee.get('method')} makes no standard errors; estimate, cox and others do")
        return Summary(found, self._study.name if self._study is not None else "")

    def plot(self, axes: Any = None) -> Any:
        """The coefficients with their intervals, drawn with matplotlib; the axes."""
        import matplotlib.pyplot as pyplot
        found = [one for one in self.summary().coefficients if one.get("estimate") is not None]
        if axes is None:
            _, axes = pyplot.subplots(figsize=(6, 0.4 * len(found) + 1))
        at = list(range(len(found)))[::-1]
        low = [one["low"] if one.get("low") is not None else one["estimate"] for one in found]
        high = [one["high"] if one.get("high") is not None else one["estimate"] for one in found]
        axes.hlines(at, low, high)
        axes.plot([one["estimate"] for one in found], at, "o")
        axes.axvline(0, linewidth=0.8, linestyle=":")
        axes.set_yticks(at, [one["name"] for one in found])
        axes.set_xlabel("estimate")
        return axes

    def card(self, path: Optional[Path] = None) -> str:
        """The model card in Markdown; written to `path` too, as a page where that ends in .html."""
        if self._study is None:
            raise _errors.UsageError("this model is of no study; tacit card makes one of its file")
        page = path is not None and os.fsdecode(os.fspath(path)).endswith((".html", ".htm"))
        text = self._study.fetch("card.html" if page else "card").decode()
        if path is not None:
            FilePath(os.fsdecode(os.fspath(path))).write_text(text, encoding="utf-8")
        return text

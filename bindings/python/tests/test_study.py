"""Whole studies in Python: a coordinator in this process, and sites that join it over TLS on loopback."""
import builtins
import os
import random
import signal
import threading

import pytest

import tacit

SITES = ["Vienna", "Graz", "Linz"]
SCHEMA = """label: {name: relapse, classes: ["no", "yes"]}
columns:
  - {name: histology, kind: category, levels: [ductal, lobular, other]}
  - {name: stage, kind: category, levels: [I, II]}
  - {name: age, kind: number, low: 20, high: 100}
"""
SNIPPET = '''
with tacit.coordinator("consortium") as c:
    s = c.study("tumours", formula="relapse ~ histology * stage + age", method="estimate", sites=["Vienna", "Graz", "Linz"])
    fit = s.run()          # progress in the notebook; fit.summary(), fit.plot(), fit.card()
'''
TERMS = ["(Intercept)", "histologylobular", "histologyother", "stageII", "age", "histologylobular:stageII", "histologyother:stageII"]


def write_rows(path, seed):
    draw = random.Random(seed)
    lines = ["histology,stage,age,relapse"]
    for _ in range(80):
        kind, stage, age = draw.randrange(3), draw.randrange(2), draw.randrange(30, 80)
        lines.append(f"{['ductal', 'lobular', 'other'][kind]},{'II' if stage else 'I'},{age},"
                     f"{'yes' if age + 20 * stage + 10 * kind + draw.randrange(100) > 130 else 'no'}")
    path.write_text("\n".join(lines) + "\n")


class Sites:
    """Owners of rows who accept what they are invited to, each in a thread."""

    def __init__(self, folder):
        self.folder, self.threads, self.models, self.problems, self.news = folder, [], {}, [], {}

    def join(self, invitations):
        assert list(invitations) == SITES
        for number, (name, line) in enumerate(invitations.items()):
            data = self.folder / f"{name}.csv"
            write_rows(data, number)
            thread = threading.Thread(target=self.take_part, args=(name, line, data))
            thread.start()
            self.threads.append(thread)

    def take_part(self, name, line, data):
        try:
            with tacit.Site.invited(line, home=self.folder / f"home-{name}", data=data, schema=self.folder / "consortium" / "tumours.schema.yaml",
                                    allow_exact=True, allow_entrusted=True, news=self.news.get(name)) as site:
                site.accept()
                self.models[name] = site.answer()
        except BaseException as problem:
            self.problems.append(problem)

    def end(self):
        for thread in self.threads:
            thread.join()
        assert not self.problems
        return self.models


@pytest.fixture
def sites(tmp_path, monkeypatch):
    folder = tmp_path / "consortium"
    folder.mkdir(mode=0o700)
    (folder / "tumours.schema.yaml").write_text(SCHEMA)
    for name in SITES:
        (tmp_path / f"home-{name}").mkdir(mode=0o700)
    monkeypatch.chdir(tmp_path)
    return Sites(tmp_path)


def study(c, **more):
    return c.study("tumours", formula="relapse ~ histology * stage + age", method="estimate", sites=SITES, **more)


def test_the_snippet_of_the_guide_runs_as_it_stands(sites, capsys):
    """Its lines as they are; the sites join once they are invited."""
    first, run = SNIPPET.split("    fit = ")
    names = {"tacit": tacit, "invited": sites.join}
    exec(f"{first}    invited(s.invitations)\n    fit = {run}", names)
    models = sites.end()
    fit = names["fit"]
    assert [one["name"] for one in fit.summary().coefficients] == TERMS
    assert fit.guarantee["parties"] == 3 and set(models) == set(SITES)
    assert all(model.document["summary"] == fit.document["summary"] for model in models.values())
    told = capsys.readouterr().err
    assert "tumours: recruiting" in told and "tumours: done" in told

def test_a_site_that_comes_late_hears_of_the_end_before_the_coordinator_is_closed(sites):
    """It is slow to answer, the others go on without it, and the study has ended when it asks again."""
    ended, held = threading.Event(), threading.Event()

    def news(line):
        if line.startswith("round 1:"):
            held.set()
            ended.wait()

    sites.news["Linz"] = news
    with tacit.coordinator("consortium") as c:
        text = c.draft("tumours", "relapse ~ histology * stage + age", parties=3, minimum_parties=2, sum="clear")
        s = c.add(text + "patience: 1\n")
        for name in SITES:
            s.invite(name)
        sites.join(s.invitations)
        fit = s.run()
        assert held.is_set() and fit.guarantee["parties"] == 2
        threading.Timer(0.5, ended.set).start()  # when closing has begun
    assert set(sites.end()) == set(SITES)


def test_missing_values_that_were_counted_are_shown():
    from tacit.study import Summary
    counted = {"kind": "missing", "tables": [{"name": "missing", "rows": [
        {"label": "age: fill", "values": [412.25], "noise_errors": [26.4]}, {"label": "rows left out", "values": [None], "noise_errors": [26.4]}]}]}
    coefficient = {"name": "age", "estimate": 1.0, "error": 0.5, "statistic": 2.0, "p": 0.05}
    for document in ({"coefficients": [coefficient], "missing_counts": counted}, counted):  # with standard errors, and a model that predicts
        assert Summary(document).missing_counts == {"age: fill": (412.25, 26.4), "rows left out": (None, 26.4)}
    text = str(Summary({"coefficients": [coefficient], "missing_counts": counted}))
    assert "age: fill  412.25 (26)" in str(Summary(counted))
    assert "age: fill  412.25 (26)" in text and "rows left out  too few to be shown (26)" in text
    assert Summary({"coefficients": [coefficient]}).missing_counts == {} and "Missing" not in str(Summary({"coefficients": [coefficient]}))


def test_what_was_found_is_shown(sites, tmp_path):
    with tacit.coordinator("consortium") as c:
        s = study(c)
        sites.join(s.invitations)
        rounds = list(s)
        fit = s.result()
        assert [one["round"] for one in rounds] == list(range(len(rounds))) and len(rounds) > 1
        text = str(fit.summary())
        assert "std. error" in text and "histologylobular:stageII" in text
        assert "<table>" in fit.summary()._repr_html_()
        card = fit.card()
        assert "Vienna" in card and "relapse" in card
        assert "<html" in fit.card(tmp_path / "card.html") and (tmp_path / "card.html").exists()
        s.audit(tmp_path / "tumours.audit")
        assert (tmp_path / "tumours.audit").read_bytes().startswith(b'{"hash"')
        with pytest.raises(tacit.UsageError, match="evaluates nothing"):
            s.evaluation()
        assert study(c).result().summary().document == fit.summary().document  # a cell that is run again
        assert {one["called"] for one in s.parties} == set(SITES)  # in the order in which they joined
    sites.end()
    with pytest.raises(tacit.UsageError, match="closed"):
        s.status


def rows_of(seed):
    """Mixed columns, some values missing."""
    draw = random.Random(seed)
    columns = {"histology": [], "stage": [], "age": [], "relapse": []}
    for _ in range(80):
        kind, stage, age = draw.randrange(3), draw.randrange(2), draw.randrange(30, 80)
        columns["histology"].append(None if draw.randrange(15) == 0 else ["ductal", "lobular", "other"][kind])
        columns["stage"].append("II" if stage else "I")
        columns["age"].append(float("nan") if draw.randrange(15) == 0 else float(age))
        columns["relapse"].append("yes" if age + 20 * stage + 10 * kind + draw.randrange(100) > 130 else "no")
    return columns


def test_one_program_plays_all_parts_with_tables_in_memory(sites, tmp_path):
    (tmp_path / "consortium" / "tumours.schema.yaml").write_text(SCHEMA.replace("columns:", "missing: complete-case\ncolumns:"))
    with tacit.coordinator("consortium") as c:
        s = study(c)
        for number, name in enumerate(SITES):
            s.site(name, rows_of(number))
        fit = s.run(progress=False)
        assert [one["name"] for one in fit.summary().coefficients] == TERMS
        assert {one["called"] for one in s.parties} == set(SITES) and not s.invitations
        with pytest.raises(tacit.UsageError, match="DataFrame itself"):
            s.site("Graz", tacit.Frame.table(rows_of(1)))
    joined = [(path.parent.name, path.stat().st_mode & 0o077) for path in (tmp_path / "consortium" / "sites").glob("*/ledger.db")]
    assert sorted(joined) == sorted((name, 0) for name in SITES)


def test_an_invitation_is_read_before_there_are_any_rows(sites, tmp_path):
    with tacit.coordinator("consortium") as c:
        line = study(c).invitations["Vienna"]
        asked = tacit.Site.preview(line, home=tmp_path / "home-Vienna", write_schema=tmp_path / "own.yaml", write_template=tmp_path / "own.csv")
        assert asked["study"] == "tumours" and asked["called"] == "Vienna" and asked["minimum_rows"] == 10
        assert {one["name"]: one["role"] for one in asked["columns"]}.keys() == {"histology", "stage", "age", "relapse"}
        assert (tmp_path / "own.csv").read_text() == "relapse,histology,stage,age\n"
        with tacit.Site.invited(line, rows_of(1), home=tmp_path / "home-Vienna", source="rows", allow_exact=True, allow_entrusted=True) as site:
            assert site.document["study"] == "tumours"  # still good
    assert len(tacit.Frame.table(rows_of(1), schema=tmp_path / "own.yaml")) == 80


def test_a_site_in_this_process_that_cannot_join_says_why(sites):
    with tacit.coordinator("consortium") as c:
        s = study(c)
        rows = rows_of(1)
        for what, change in (("has no column 'age'", {"age": None}), ("maybe", {"relapse": ["maybe"] * 80}), ("numbers|number", {"age": ["old"] * 80})):
            wrong = {name: values for name, values in {**rows, **change}.items() if values is not None}
            with pytest.raises(tacit.TacitError, match=what):
                s.site("Vienna", wrong)
        assert list(s.invitations) == SITES  # still good


def test_coefficients_are_drawn(sites):
    matplotlib = pytest.importorskip("matplotlib")
    matplotlib.use("Agg")
    with tacit.coordinator("consortium") as c:
        s = study(c)
        sites.join(s.invitations)
        axes = s.run(progress=False).plot()
    assert [one.get_text() for one in axes.get_yticklabels()] == TERMS
    sites.end()


def test_the_same_through_an_address_and_a_token(sites):
    with tacit.coordinator("consortium", dashboard=0) as here:
        with tacit.coordinator(here.address, token=here.token(scope="manage")) as c:
            s = study(c, schema=SCHEMA)
            sites.join(s.invitations)
            states = [status["state"] for status in s.watch()]
            assert states[-1] == "done" and s.result().summary().coefficients == here["tumours"].result().summary().coefficients
        sites.end()
        with tacit.coordinator(here.address, token=here.token(study="tumours")) as c:
            assert c["tumours"].status["state"] == "done"
            with pytest.raises(tacit.RefusedError, match="may only read"):
                c["tumours"].close()
            with pytest.raises(tacit.RefusedError, match="for study 'tumours' and nothing else"):
                c.studies
        with pytest.raises(tacit.RefusedError, match="expired"):
            tacit.coordinator(here.address, token=here.token(expires=0))
        with pytest.raises(tacit.RefusedError, match="not one of this coordinator's"):
            tacit.coordinator(here.address, token="tacit." + "0" * 16 + "." + "0" * 64)
        with pytest.raises(tacit.UsageError, match="token"):
            tacit.coordinator(here.address)


def test_a_study_is_paused_amended_and_closed(sites):
    with tacit.coordinator("consortium") as c:
        s = study(c, draft=True)
        assert s.status["state"] == "draft" and not s.invitations
        assert s.open().pause().resume().status["state"] == "recruiting"
        changed = c.draft("tumours", "relapse ~ stage + age", method="estimate", parties=3)
        assert s.amend(changed)["version"] == 2
        with pytest.raises(tacit.UsageError, match="another definition"):
            study(c)
        assert list(c.studies) == ["tumours"]
        s.close()
        with pytest.raises(tacit.CancelledError, match="closed"):
            s.run(progress=False)


def test_interrupt_ends_the_waiting_and_cleans_up(sites):
    with pytest.raises(KeyboardInterrupt):
        with tacit.coordinator("consortium") as c:
            s = study(c)
            told = []

            def interrupt(status):
                told.append(status["state"])
                os.kill(os.getpid(), signal.SIGINT)

            s.run(progress=interrupt)
    assert told == ["recruiting"]
    with pytest.raises(tacit.UsageError, match="closed"):
        c.studies
    with tacit.coordinator("consortium") as c:  # nobody serves the folder any more, and the study is still there
        assert c.runs
        s = c["tumours"]
        assert s.status["state"] == "recruiting" and {one["state"] for one in s.parties} == {"invited"}


def test_a_folder_that_is_served_is_used_beside_its_coordinator(sites):
    news = []
    with tacit.coordinator("consortium", news=news.append) as serving:
        with tacit.coordinator("consortium") as c:
            assert serving.runs and not c.runs
            study(c).close()
        assert serving["tumours"].status["state"] == "closed"
    assert any("listen" in line or "127.0.0.1" in line for line in news)


def test_mistakes_are_sentences(sites):
    with tacit.coordinator("consortium") as c:
        with pytest.raises(tacit.TacitError, match="sex"):
            c.study("tumours", "relapse ~ sex", sites=SITES)
        with pytest.raises(tacit.UsageError, match="schema="):
            c.study("other", "relapse ~ age", sites=SITES)
        with pytest.raises(tacit.UsageError, match="parties="):
            c.study("tumours", "relapse ~ age")
        with pytest.raises(tacit.NotFoundError):
            c["nowhere"]
        assert c.studies == {}


def test_a_schema_may_be_a_mapping(sites):
    columns = {"label": {"name": "sick", "classes": ["no", "yes"]}, "columns": [{"name": "age", "kind": "number", "low": 0, "high": 1}]}
    with tacit.coordinator("consortium") as c:
        assert 'name: "sick"' in c.study("small", sites=SITES, schema=columns).definition


def test_without_a_notebook_nothing_else_is_needed(sites, monkeypatch):
    real = builtins.__import__

    def refuse(name, *rest):
        if name.split(".")[0] in ("IPython", "pandas", "matplotlib"):
            raise ImportError(name)
        return real(name, *rest)

    monkeypatch.setattr(builtins, "__import__", refuse)
    with tacit.coordinator("consortium") as c:
        s = study(c)
        threading.Thread(target=s.close).start()
        with pytest.raises(tacit.CancelledError):
            s.run()

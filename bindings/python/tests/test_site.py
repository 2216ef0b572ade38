"""A party in Python takes part in a study that a real coordinator runs on loopback, beside parties of the program."""
import os
import signal
import sys
import threading
from pathlib import Path

import numpy as np
import pytest

import tacit

SERVICE = Path(__file__).resolve().parents[3] / "tests" / "service"
if not os.environ.get("TACIT") or not SERVICE.exists():
    pytest.skip("needs the program (TACIT) and the tests of the service", allow_module_level=True)
sys.path.insert(0, str(SERVICE))
from deployed import DeployedTest  # noqa: E402


class TestSite(DeployedTest):
    def look(self, party, **more):
        self.limit(party)
        given = {"data": self.rows(party), "schema": self.path / "schema.yaml", **more}
        return tacit.Site.invited(self.invite(), home=self.home(party), source=str(self.rows(party)), **given)

    def frame(self, party):
        lines = [line.split(",") for line in self.rows(party).read_text().splitlines()[1:]]
        rows = np.array([[float(age), float(dose)] for age, dose, _ in lines])
        return tacit.Frame(rows, [sick == "yes" for _, _, sick in lines], classes=["no", "yes"], bounds=(0, 1), names=["age", "dose"])

    def test_reads_consents_answers_and_gets_the_model(self):
        self.study()
        self.coordinator()
        others = {party: self.join(party) for party in (1, 2)}
        news = []
        with self.look(0, news=news.append) as site:
            assert site.document["allowed"]
            assert not self.charges(0)
            site.accept()
            model = site.answer()
        self.check_done(others)
        assert len(self.charges(0)) == 1 and news
        assert model.guarantee["parties"] == 3 and model.classes == ["no", "yes"]
        assert model.predict([[0.9, 0.1]]).shape == (1,)

    def test_the_document_names_other_sources_of_the_same_people(self):
        self.study()
        self.coordinator()
        copy = self.path / "copy.csv"
        copy.write_text(self.rows(0).read_text())
        with self.look(0) as site:
            assert site.document["same_people"] == []
        self.succeed("ledger", "limit", "--source", copy, "--epsilon", 1, home=self.home(0))
        with self.look(0) as site:
            (same,) = site.document["same_people"]
            assert same["source"] == str(copy) and "holds the same rows" in same["sentence"]

    def test_rows_in_memory_do_as_well(self):
        self.study()
        self.coordinator()
        others = {party: self.join(party) for party in (1, 2)}
        self.rows(0)
        self.limit(0)
        with tacit.Site.invited(self.invite(), self.frame(0), home=self.home(0), source=str(self.rows(0))) as site:
            site.accept()
            assert site.answer() is not None
        self.check_done(others)

    def test_a_classifier_of_python_labels_points_in_this_process_also_after_a_restart(self):
        points = self.path / "points.csv"
        points.write_text("age,dose\n" + "".join(f"{k / 40},{(k * 7 % 40) / 40}\n" for k in range(40)))
        self.study(method="soft-stat", set="{local: logistic}", epsilon="1e6", auxiliary="points.csv", **{"lambda": 0.001})
        self.coordinator()
        asked = []

        def nearest(rows, labels, points):
            asked.append((os.getpid(), len(points)))
            return labels[((points[:, None] - rows[None]) ** 2).sum(axis=2).argmin(axis=1)]
        self.limit(0, "2e6")
        with tacit.Site.invited(self.invite(), home=self.home(0), source=str(self.rows(0)), data=self.rows(0), schema=self.path / "schema.yaml",
                                allow_entrusted=True, local=nearest) as site:
            site.accept()
            name = site.document["study"]
        others = {party: self.join(party, "--allow-entrusted", epsilon="2e6") for party in (1, 2)}
        with tacit.Site.joined(name, home=self.home(0), local=nearest) as site:
            assert site.answer() is not None
        self.check_done(others)
        assert asked == [(os.getpid(), 40)] and not (self.home(0) / "local.socket").exists()

    def mixed(self, party):
        """The party's rows with a category, a date and missing values, as a file and as columns."""
        path, draw = self.rows(party), np.random.default_rng(party)
        age, ward = draw.uniform(size=60), draw.choice(["A", "B", "C"], 60)
        since = np.datetime64("2001-01-01") + draw.integers(0, 6000, 60)
        sick = np.where(age + 0.4 * (ward == "B") + draw.normal(0, 0.3, 60) > 0.6, "yes", "no")
        there = draw.uniform(size=60) > 0.1
        lines = [f"{a!r},{w if known else ''},{day},{label}" for a, w, known, day, label in zip(age.tolist(), ward, there, since, sick)]
        path.write_text("\n".join(["age,ward,since,sick", *lines]) + "\n")
        return {"sick": sick, "since": since, "age": age, "ward": np.where(there, ward, None)}

    def test_a_study_with_categories_is_joined_with_mixed_columns(self):
        (self.path / "schema.yaml").write_text(
            'label: {name: sick, classes: ["no", "yes"]}\ncolumns:\n  - {name: age, kind: number, low: 0, high: 1}\n'
            "  - {name: ward, kind: category, levels: [A, B, C], missing: level}\n"
            "  - {name: since, kind: number, date: year, low: 2000, high: 2020}\nterms: sick ~ age * ward + since\n")
        self.study(method="estimate", set="{}", epsilon=None, **{"lambda": 0.01})
        self.coordinator()
        columns = {party: self.mixed(party) for party in range(3)}
        others = {party: self.join(party, "--allow-exact", "--allow-entrusted") for party in (1, 2)}
        try:
            import pandas
            rows = pandas.DataFrame(columns[0]).astype({"ward": "category"})
        except ImportError:
            rows = columns[0]
        with pytest.raises(tacit.TacitError, match="'ward'"):
            tacit.Site.invited(self.invite(), {name: rows[name] for name in ("age", "since", "sick")}, home=self.home(0),
                               source=str(self.rows(0)), allow_exact=True, allow_entrusted=True)
        other = {"label": {"name": "sick", "classes": ["no", "yes"]}, "columns": [{"name": "age", "kind": "number", "low": 0, "high": 2}]}
        with pytest.raises(tacit.TacitError, match="is not as the study's schema says|'ward'"):  # the owner's own word counts
            tacit.Site.invited(self.invite(), tacit.Frame.table(rows, schema=other), home=self.home(0), source=str(self.rows(0)),
                               allow_exact=True, allow_entrusted=True)
        with tacit.Site.invited(self.invite(), rows, home=self.home(0), source=str(self.rows(0)), allow_exact=True, allow_entrusted=True) as site:
            assert site.document["rows"] == 60
            site.accept()
            model = site.answer()
        self.check_done(others, charged=())
        everybody = self.path / "all.csv"
        everybody.write_text("".join(self.rows(party).read_text().split("\n", party > 0)[-1] for party in range(3)))
        self.succeed("simulate", "--method", "estimate", "--train", everybody, "--test", everybody, "--schema", "schema.yaml", "--parties", "1",
                     "--lambda", "0.01", "--seed", "1", "--out", "pooled.json")
        pooled = tacit.Model.load(self.path / "pooled.json")
        assert np.abs(model.scores(rows) - pooled.scores(rows)).max() < 1e-6

    def test_interrupt_stops_and_joined_goes_on(self):
        self.study()
        self.coordinator()
        site = self.look(0, news=lambda line: None)
        site.accept()
        timer = threading.Timer(0, os.kill, (os.getpid(), signal.SIGINT))
        with pytest.raises(KeyboardInterrupt):
            timer.start()
            site.answer()
        timer.join()
        site.close()
        others = {party: self.join(party) for party in (1, 2)}
        with tacit.Site.joined("trial", home=self.home(0)) as again:
            assert again.answer() is not None
        self.check_done(others)

    def test_other_threads_wait_while_one_answers(self):
        self.study()
        self.coordinator()
        others = {party: self.join(party) for party in (1, 2)}
        asked, taken, looking = [], [], True

        def news(line):
            if not looking and not asked:
                asked.append(site.document)
                other = threading.Thread(target=lambda: taken.append(site._lock.acquire(blocking=False)))
                other.start()
                other.join()

        with self.look(0, news=news) as site:
            looking = False
            site.accept()
            assert site.answer() is not None
        self.check_done(others)
        assert asked[0]["allowed"] and taken == [False]

    def test_leaving_is_told(self):
        self.study(parties="{expected: 3, minimum: 2}")
        self.coordinator()
        with self.look(0) as site:
            site.accept()
            assert site.leave()
        assert self.charges(0) == []

    def test_rules_of_the_owner_refuse(self):
        self.study(set="{noise: coordinator}")
        self.coordinator()
        with self.look(0) as site:
            assert not site.document["allowed"] and "entrusted" in site.document["remedy"]
            with pytest.raises(tacit.RefusedError):
                site.accept()
        with self.look(0, allow_entrusted=True) as site:
            assert site.document["allowed"]

    def test_closed_site_says_so(self):
        self.study()
        self.coordinator()
        site = self.look(0)
        site.close()
        for use in (lambda: site.document, site.accept, site.answer, site.leave):
            with pytest.raises(tacit.UsageError, match="closed"):
                use()
        site.close()

    def test_wrong_invitation_is_a_sentence(self):
        with pytest.raises(tacit.TacitError, match="invitation"):
            tacit.Site.invited("nonsense", home=self.home(0), data=self.rows(0), schema=self.path / "schema.yaml")

"""Regressions of people: times until an event, strata, clusters and random effects, by formula. Figures of R are those of survival 3.5, lme4 1.1-31 (its optimiser tightened) and
geepack 1.3.9 for these rows."""
import numpy as np
import pytest

import tacit

EXACT = {"width": 1, "least": 1}
CASES = {
    "surv(days, died) ~ age + dose + strata(sex)": ([0.0201476453223, 0.796545653818], [0.00690358065177, 0.210863310036]),
    "Surv(days, died) ~ age*sex + cluster(person)": ([0.0209721532824, 0.22712509817, 0.00260791908676], [0.0085856877974, 0.775236926986, 0.013498668383]),
    "surv(since, days, died) ~ age + dose + strata(sex) + cluster(person)": ([0.0179969262814, 0.744420551606], [0.00627522593693, 0.198225446529]),
}


@pytest.fixture(scope="module")
def people():
    k = np.arange(300)
    person = k // 3
    age, dose = 40 + 30 * ((k * 37) % 101) / 101, ((k * 53) % 17) / 17
    sex = np.array(["f", "m"])[(person * 7) % 3 % 2]
    noise = ((k * 7919) % 1009 + 0.5) / 1009
    days = np.ceil(-400 * np.log(noise) * np.exp(-0.02 * (age - 55) - 0.8 * dose - 0.4 * (sex == "m")))
    pressure = 120 + 0.3 * (age - 55) + 5 * dose + 8 * np.sin(5 * person) + 3 * dose * np.cos(3 * person) + 12 * (noise - 0.5)
    return {"person": [f"p{i}" for i in person], "age": age, "dose": dose, "sex": sex, "days": np.minimum(days, 700), "died": days < 700,
            "since": np.where(days > 120, (k * 11) % 100, 0), "pressure": pressure}


def close(ours, theirs, relative):
    assert len(ours) == len(theirs)
    np.testing.assert_allclose(list(ours), theirs, rtol=relative, atol=0)


@pytest.mark.parametrize("formula", CASES)
def test_times_until_an_event_are_those_of_coxph(people, formula):
    fit = tacit.glm(formula, people, settings=EXACT)
    close(fit.coefficients.values(), CASES[formula][0], 1e-8)
    close(fit.errors.values(), CASES[formula][1], 1e-8)
    assert fit.nobs == 300
    other = tacit.glm(formula, {**people, "sex": np.where(people["sex"] == "m", 2, 1)} if "strata(sex)" in formula else people, settings=EXACT)
    close(other.coefficients.values(), CASES[formula][0], 1e-8)  # strata of numbers


def test_random_effects_are_those_of_lme4(people):
    fit = tacit.glm("pressure ~ age + dose + (1 | person)", people, "gaussian")
    close(fit.coefficients.values(), [103.339749264, 0.298852238437, 5.39073239688], 1e-6)
    close(fit.errors.values(), [1.50030818595, 0.0234878821838, 0.880871715823], 1e-5)
    close([fit.random["(Intercept)"]["variance"], fit.random["residual"]["variance"], fit.aic], [34.49501524, 11.06097247, 1816.14536852], 1e-5)
    slope = tacit.glm("pressure ~ age + dose + (dose | person)", people, "gaussian", settings={"likelihood": "REML"})
    close(slope.coefficients.values(), [103.136953517, 0.303210272743, 5.32437288824], 1e-5)
    close([slope.random[name]["variance"] for name in ("(Intercept)", "dose", "residual")], [33.2477620896, 10.2729854303, 10.5345331341], 1e-5)
    with pytest.raises(tacit.UsageError, match="random effects"):
        fit.predict(people)


def test_errors_by_cluster_are_those_of_geepack(people):
    fit = tacit.glm("pressure ~ age + sex + cluster(person)", people, "gaussian", settings={"errors": "gee"})
    close(fit.coefficients.values(), [108.127527823, 0.257306035035, 0.0421431958712], 1e-8)
    close(fit.errors.values(), [1.96104016584, 0.03430854871, 1.30875655701], 1e-8)
    corrected = tacit.glm("pressure ~ age + sex + cluster(person)", people, "gaussian")
    close(corrected.errors.values(), np.sqrt(100 / 99 * 299 / 297) * np.array(list(fit.errors.values())), 1e-8)


def test_rows_with_something_missing_are_left_out(people):
    kept = np.arange(300) % 50 != 0
    age = np.where(kept, people["age"], np.nan)
    person = [None if row == 7 else one for row, one in enumerate(people["person"])]
    formula = "surv(days, died) ~ age + strata(sex) + cluster(person)"
    fit = tacit.glm(formula, {**people, "age": age, "person": person}, settings=EXACT)
    kept[7] = False
    other = tacit.glm(formula, {name: [one for one, keep in zip(values, kept) if keep] for name, values in people.items()}, settings=EXACT)
    assert fit.nobs == other.nobs == kept.sum()
    close(fit.errors.values(), list(other.errors.values()), 1e-10)


def test_parties_of_a_table_have_whole_persons(people):
    schema = {"label": {"name": "pressure", "kind": "number", "low": 90, "high": 160}, "person": "person",
              "columns": [{"name": name, "kind": "number", "low": 0, "high": 100} for name in ("age", "dose")]}
    table = tacit.Frame.table({name: people[name] for name in ("person", "age", "dose", "pressure")}, schema=schema, terms="~ age + dose + (1 | person)")
    found = tacit.simulate(table, methods="mixed", parties=7, test=table, seed=1).document["report"]
    assert next(fact["number"] for fact in found["facts"] if fact["name"] == "groups") == 100
    close([row["values"][0] for row in found["tables"][0]["rows"]], [103.339749264, 0.298852238437, 5.39073239688], 1e-6)


@pytest.mark.parametrize("formula, words", [
    ("surv(days) ~ age", r"surv\(time, event\)"), ("surv(days, gone) ~ age", "'gone' is none"), ("surv(days, sex) ~ age", "'sex' of the response has texts"),
    ("surv(days, died) ~ age + (1 | person)", "no random effects"), ("pressure ~ age + (1 | ward)", "'ward' is no column"), ("pressure ~ age + cluster(sex) + cluster(person)", "one column"),
    ("surv(days, died) ~ age + strata(ward)", r"strata\(ward\) needs the name of a column"), ("pressure ~ age + strata(sex)", "strata"), ("pressure ~ dose + (age | person)", "no coefficient of that name"),
])
def test_what_cannot_be_is_told(people, formula, words):
    with pytest.raises(tacit.TacitError, match=words):
        tacit.glm(formula, people, "gaussian")

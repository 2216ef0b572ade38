"""Mechanisms, accountants, descriptions, exact regressions and private searches as functions."""
import json
import math
import shutil
import subprocess

import numpy as np
import pytest

import tacit
from tacit import mechanisms
from tacit.accounting import Approximate, Gaussian, Laplace, Pure, ZCDP

pandas = pytest.importorskip("pandas")


@pytest.fixture
def ledger(tmp_path):
    with tacit.Ledger(tmp_path / "ledger.db", "patients") as made:
        yield made


# ---- mechanisms ----

@pytest.mark.parametrize("noisy, spread", [
    (lambda values, seed: mechanisms.laplace(values, sensitivity=2, epsilon=0.5, seed=seed), 4 * math.sqrt(2)),
    (lambda values, seed: mechanisms.gaussian(values, sensitivity=1, epsilon=1, delta=1e-5, seed=seed), 3.7306),
    (lambda values, seed: mechanisms.discrete_laplace(values, sensitivity=2, epsilon=0.5, seed=seed), 4 * math.sqrt(2)),
])
def test_noise_has_the_spread_of_its_law(noisy, spread):
    found = noisy(np.full(4000, 100.0), 7) - 100.0  # seeded: the figures below never change
    assert abs(found.mean()) < 5 * spread / math.sqrt(4000) and found.std() == pytest.approx(spread, rel=0.1)
    assert (noisy([100.0], 7) == noisy([100.0], 7)).all()


def test_a_release_is_charged_and_each_call_is_one(ledger):
    ledger.limit(epsilon=1)
    one = mechanisms.discrete_laplace(10, sensitivity=1, epsilon=0.25, ledger=ledger)
    assert isinstance(int(one), int) and ledger.spent() == (0.25, 0.0)
    mechanisms.laplace([1.0, 2.0], sensitivity=1, epsilon=0.25, ledger=ledger)
    assert mechanisms.choose([0, 1000], sensitivity=1, epsilon=0.5, ledger=ledger) in (0, 1)
    assert ledger.spent() == (1.0, 0.0) and ledger.verify()["sound"]
    with pytest.raises(tacit.RefusedError, match="ask for less"):
        mechanisms.discrete_laplace(10, sensitivity=1, epsilon=0.25, ledger=ledger)
    assert ledger.spent() == (1.0, 0.0)


def test_nothing_leaves_without_a_limit_or_by_a_seed(ledger):
    with pytest.raises(tacit.RefusedError, match="no limit"):
        mechanisms.laplace(1.0, sensitivity=1, epsilon=1, ledger=ledger)
    ledger.limit(epsilon=1)
    with pytest.raises(tacit.UsageError, match="a seed makes a simulation"):
        mechanisms.laplace(1.0, sensitivity=1, epsilon=1, ledger=ledger, seed=1)
    with pytest.raises(tacit.RefusedError):
        mechanisms.gaussian(1.0, sensitivity=1, epsilon=0.1, delta=1e-6, ledger=ledger)
    assert ledger.spent() == (0.0, 0.0)


def test_what_has_no_noise_is_refused():
    with pytest.raises(tacit.InputError, match="number 2 is not finite"):
        mechanisms.laplace([1.0, math.nan], sensitivity=1, epsilon=1)
    with pytest.raises(tacit.InputError, match="whole numbers"):
        mechanisms.discrete_laplace([1.5], sensitivity=1, epsilon=1)
    with pytest.raises(tacit.UsageError, match="sensitivity"):
        mechanisms.laplace([1.0], sensitivity=0, epsilon=1)
    with pytest.raises(tacit.UsageError):
        mechanisms.gaussian([1.0], sensitivity=1, epsilon=1, delta=0)


@pytest.mark.parametrize("rule", ["permute-and-flip", "exponential", "noisy-max"])
def test_a_choice_prefers_high_scores_and_is_fair_to_equal_ones(rule):
    assert {mechanisms.choose([0, 1000, 3], sensitivity=1, epsilon=1, rule=rule, seed=seed) for seed in range(50)} == {1}
    assert {mechanisms.choose([5, 5], sensitivity=1, epsilon=1, rule=rule, seed=seed) for seed in range(50)} == {0, 1}


# ---- accountants ----

def test_composition_is_that_of_the_accountants():
    spent = tacit.compose([Gaussian(4, count=10000, sampling=0.01)], delta=1e-5, adjacency="add-or-remove")
    assert spent.epsilon == pytest.approx(0.9469, abs=1e-4) and spent.by == "PLD" and spent.accountants["Gaussian"] is None
    assert tacit.compose([Pure(1, count=3)], delta=0, adjacency="add-or-remove").epsilon == pytest.approx(3)
    assert tacit.compose([Pure(1, count=3)], delta=0).epsilon == pytest.approx(6)  # a replaced row is removed and added
    assert tacit.compose([(0.5, 1e-7)] * 4, delta=1e-5).epsilon <= 2.0001
    assert tacit.compose([ZCDP(0.1), ZCDP(0.2)], delta=1e-5).by in ("zCDP", "RDP")
    both = tacit.compose([Laplace(2, replaced=True), Approximate(0.5, 1e-8, replaced=True)], epsilon=1.2)
    assert both.epsilon == 1.2 and 0 < both.delta < 1e-3


def test_models_compose_by_their_prices(rows):
    models = [tacit.fit(*rows, epsilon=0.5, bounds=(0, 1), classes=[0, 1]) for _ in range(2)]
    assert tacit.compose(models, delta=0).epsilon == pytest.approx(1)
    with pytest.raises(tacit.UsageError, match="not private"):
        tacit.compose([tacit.fit(*rows, bounds=(0, 1), seed=1)], delta=0)


@pytest.mark.parametrize("events, more, words", [([], {"delta": 0}, "no events"), ([0.5], {}, "the other is found"),
                                                 ([0.5], {"delta": 0, "epsilon": 1}, "the other is found"), (["x"], {"delta": 0}, "'x'"),
                                                 ([0.5], {"delta": 0, "adjacency": "add-or-remove"}, "added or removed"),
                                                 ([Gaussian(4)], {"delta": 0}, ""), ([Gaussian(-1)], {"delta": 1e-5}, "")])
def test_what_cannot_be_composed_is_refused(events, more, words):
    with pytest.raises(tacit.UsageError, match=words):
        tacit.compose(events, **more)


# ---- descriptions ----

def test_an_exact_description_is_that_of_pandas(rows):
    table = pandas.DataFrame(rows[0], columns=["age", "dose"])
    found = tacit.describe(table, rows[1])
    assert not found.guarantee["private"]
    for name in table:
        assert found.table()[name]["mean"] == pytest.approx(table[name].mean(), rel=1e-9)
        assert found.frame()["sd"][name] == pytest.approx(table[name].std(), rel=1e-6)
    with pytest.raises(tacit.UsageError, match="there are numbers, "):
        found.table("means")


def test_a_private_description_is_charged_and_near(rows, ledger):
    ledger.limit(epsilon=2, delta=1e-5)
    table = pandas.DataFrame(rows[0], columns=["age", "dose"])
    found = tacit.describe(table, rows[1], epsilon=2, delta=1e-5, bounds={"age": (0, 1), "dose": (0, 1)}, classes=[0, 1], ledger=ledger)
    assert found.guarantee["private"] and ledger.spent()[0] == pytest.approx(2)
    line = next(one for one in found.report["tables"][0]["rows"] if one["label"] == "age")
    assert line["noise_errors"][2] > 0
    with pytest.raises(tacit.RefusedError):
        tacit.describe(table, rows[1], epsilon=2, delta=1e-5, ledger=ledger)


# ---- exact regressions ----

def warpbreaks():
    """Of R; Tippett 1950."""
    counts = [26, 30, 54, 25, 70, 52, 51, 26, 67, 18, 21, 29, 17, 12, 18, 35, 30, 36, 36, 21, 24, 18, 10, 43, 28, 15, 26,
              27, 14, 29, 19, 29, 31, 41, 20, 44, 42, 26, 19, 16, 39, 28, 21, 39, 29, 20, 21, 24, 17, 13, 15, 15, 16, 28]
    return pandas.DataFrame({"breaks": counts, "wool": np.repeat(["A", "B"], 27),
                             "tension": pandas.Categorical(np.tile(np.repeat(["L", "M", "H"], 9), 2), ["L", "M", "H"])})


# glm(breaks ~ wool * tension, poisson, warpbreaks), and with offset and weights, of R 4.2: estimates and standard errors.
INTERACTIONS = {"(Intercept)": (3.7967368, 0.04993753), "woolB": (-0.4566272, 0.08019202), "tensionM": (-0.6186830, 0.08440012),
                "tensionH": (-0.5957987, 0.08377723), "woolB:tensionM": (0.6381768, 0.12215312), "woolB:tensionH": (0.1883632, 0.12989529)}


def test_a_regression_with_categories_has_the_numbers_of_r():
    fit = tacit.glm("breaks ~ wool * tension", warpbreaks(), family="poisson")
    assert list(fit.coefficients) == list(INTERACTIONS) and fit.nobs == 54
    for name, (estimate, error) in INTERACTIONS.items():
        assert fit.coefficients[name] == pytest.approx(estimate, rel=1e-5)
        assert fit.errors[name] == pytest.approx(error, rel=1e-5)
    assert fit.deviance == pytest.approx(182.3051, rel=1e-6) and fit.aic == pytest.approx(468.9692, rel=1e-6)
    assert "woolB:tensionH" in repr(fit) and "tensionM" in fit._repr_html_() and fit.frame().loc["woolB", "p"] < 1e-6


@pytest.mark.skipif(shutil.which("Rscript") is None, reason="R is not installed")
@pytest.mark.parametrize("formula, family, more", [
    ("am ~ wt", "binomial", ""), ("mpg ~ 0 + wt + factor(cyl)", "gaussian", ""), ("mpg ~ wt*hp + offset(qsec)", "gaussian", ""),
    ("carb ~ log(hp)", "poisson", "weights"), ("mpg ~ . - gear", "gaussian", "")])
def test_a_regression_has_the_numbers_of_glm(formula, family, more):
    code = f"""d <- mtcars; d$hp[3] <- NA
      m <- glm({formula}, {family}, d{', weights = gear' if more else ''}, control = list(epsilon = 1e-14, maxit = 100))
      cat(paste0('{{"data":{{', paste0('"', names(d), '":[', sapply(d, function(x) paste(ifelse(is.na(x), 'null', format(x, digits = 17)), collapse = ',')), ']', collapse = ','),
        '}},"names":["', paste(names(coef(m)), collapse = '","'), '"],"estimate":[', paste(format(coef(m), digits = 17), collapse = ','),
        '],"error":[', paste(format(coef(summary(m))[, 2], digits = 17), collapse = ','), ']}}'))"""
    told = json.loads(subprocess.run(["Rscript", "--vanilla", "-e", code], capture_output=True, text=True, check=True).stdout)
    data = {name: np.array([math.nan if value is None else value for value in values]) for name, values in told["data"].items()}
    fit = tacit.glm(formula, data, family, weights="gear" if more else None)
    assert list(fit.coefficients) == told["names"]
    np.testing.assert_allclose(list(fit.coefficients.values()), told["estimate"], rtol=1e-5, atol=1e-9)
    np.testing.assert_allclose(list(fit.errors.values()), told["error"], rtol=1e-5)


def mixed_columns():
    """Texts, truth values, dates, and a category with a level that no row has."""
    data = warpbreaks()
    data["tension"] = data["tension"].cat.set_categories(["X", "M", "L", "H"])
    data["late"] = np.arange(1, 55) % 4 == 0
    data["day"] = np.datetime64("2024-01-01") + np.arange(1, 55)
    data["size"] = pandas.array([None if k % 9 == 8 else k % 5 for k in range(54)], "Int64")
    return data


MIXED = ["(Intercept)", "woolB", "tensionL", "tensionH", "lateTRUE", "day", "size", "woolB:tensionL", "woolB:tensionH"]


def test_factors_are_named_and_have_the_reference_of_r():
    data = mixed_columns()
    fit = tacit.glm("breaks ~ wool * tension + late + day + size", data, "poisson")
    assert list(fit.coefficients) == MIXED and fit.nobs == 48
    whole = data.dropna()
    np.testing.assert_allclose(fit.model.predict(whole.assign(late=np.where(whole["late"], "TRUE", "FALSE"), day=whole["day"].to_numpy().astype("datetime64[D]").astype(float))),
                               fit.predict(whole))
    if shutil.which("Rscript") is None:
        return
    code = """d <- warpbreaks; d$wool <- as.character(d$wool); d$tension <- factor(d$tension, levels = c("X", "M", "L", "H")); d$late <- 1:54 %% 4 == 0
      d$day <- as.Date("2024-01-01") + 1:54; d$size <- ifelse(0:53 %% 9 == 8, NA, 0:53 %% 5)
      m <- summary(glm(breaks ~ wool * tension + late + day + size, poisson, d, control = list(epsilon = 1e-14)))$coefficients
      cat(sprintf("%s %.17g %.17g\n", rownames(m), m[, 1], m[, 2]), sep = "")"""
    told = [line.split(" ") for line in subprocess.run(["Rscript", "--vanilla", "-e", code], capture_output=True, text=True, check=True).stdout.splitlines()]
    assert [name for name, _, _ in told] == MIXED
    np.testing.assert_allclose(list(fit.coefficients.values()), [float(one) for _, one, _ in told], rtol=1e-5)
    np.testing.assert_allclose(list(fit.errors.values()), [float(one) for _, _, one in told], rtol=1e-5)


@pytest.mark.parametrize("change, words", [
    ({"wool": ["A"] * 54}, "'wool' has the level 'A' and no other"), ({"size": [math.nan] * 54}, "'size' has nothing but missing"),
    ({"size": [math.inf] * 54}, "'size' is infinite in row 1"), ({"size": [1j] * 54}, "'size' is of type complex"),
    ({"wool": np.array(["A", 1] * 27, object)}, "'wool' has 1 in row 2, beside texts"), ({"wool": ["A", {}] * 27}, "'wool' has {} in row 2"),
    ({"breaks": ["many"] * 54}, "'breaks' has texts"), ({"breaks": [0.5] * 54}, "'breaks' has numbers that count nothing"), ({"size": [1.0]}, "one length")])
def test_a_regression_of_strange_columns_names_the_column(change, words):
    with pytest.raises(tacit.TacitError, match=words):
        tacit.glm("breaks ~ wool + tension + size", {**{name: values for name, values in mixed_columns().items()}, **change}, "poisson")


def test_a_regression_predicts_rows_with_levels_and_refuses_unknown_ones():
    data = warpbreaks()
    fit = tacit.glm("breaks ~ wool * tension", data, family="poisson")
    means = data.groupby(["wool", "tension"], observed=True)["breaks"].transform("mean")
    np.testing.assert_allclose(fit.predict(data), means, rtol=1e-5)
    with pytest.raises(tacit.InputError, match="'wool' has the level 'C'"):
        fit.predict(data.assign(wool="C"))
    with pytest.raises(tacit.UsageError, match="lack the model's columns tension"):
        fit.predict(data.drop(columns="tension"))


@pytest.mark.parametrize("formula, more, words", [("brakes ~ wool", {}, "'brakes' is none"), ("wool", {}, "as in 'y ~ x'"),
                                                  ("breaks ~ wool", {"family": "gamma"}, "one of binomial"), ("breaks ~ wool", {}, "two classes")])
def test_a_regression_that_does_not_work_says_why(formula, more, words):
    with pytest.raises(tacit.UsageError, match=words):
        tacit.glm(formula, warpbreaks(), **more)


# ---- private searches ----

def test_a_search_costs_what_the_estimator_costs(rows, ledger):
    ledger.limit(epsilon=2)
    private = tacit.PrivateLogisticRegression(epsilon=2, bounds=(0, 1), classes=[0, 1], ledger=ledger)
    found = tacit.private_search(private, {"lam": [1e-3, 1e4], "method": ["plr"]}, *rows, share=0.25)
    assert ledger.spent()[0] == pytest.approx(2) and found.search_epsilon == 0.5 and found.candidates == 2
    assert [entry["price"]["epsilon"] for entry in ledger.entries if entry["entry"] == "charge"] == [0.5, 1.5]
    assert found.best_estimator.guarantee_["private"] and found.best_estimator.guarantee_["charged"]["epsilon"] == 1.5
    with pytest.raises(tacit.RefusedError, match="search and fit cost epsilon 2 together"):
        tacit.private_search(private, {"lam": [1e-3, 1e4]}, *rows)
    assert ledger.spent()[0] == pytest.approx(2)


def test_a_search_finds_the_better_setting_and_its_noise_is_seen(rows, quiet):
    def chosen(epsilon, seed):
        private = tacit.PrivateLogisticRegression(epsilon=epsilon, bounds=(0, 1), classes=[0, 1], random_state=seed)
        return tacit.private_search(private, {"lam": [1e-3, 1e4]}, *rows).best_params["lam"]
    assert {chosen(100, seed) for seed in range(10)} == {1e-3}
    assert {chosen(1e-3, seed) for seed in range(20)} == {1e-3, 1e4}  # the negative control: nothing can be told at such a price


def test_a_row_counts_in_one_part_only(rows, monkeypatch):
    """What the proof rests on: the parts are disjoint, and the last is for the choice alone."""
    seen = []
    fit = tacit.PrivateLogisticRegression.fit
    monkeypatch.setattr(tacit.PrivateLogisticRegression, "fit", lambda self, X, y: (seen.append(set(X[:, 0])), fit(self, X, y))[1])
    x = np.column_stack([np.arange(2000) / 2000, rows[0][:, 1]])
    private = tacit.PrivateLogisticRegression(epsilon=1, bounds=(0, 1), classes=[0, 1])
    tacit.private_search(private, {"lam": [1e-3, 1e-2, 1e-1]}, x, rows[1])
    assert len(seen) == 4 and len(seen[3]) == 2000
    assert sum(map(len, seen[:3])) == len(set.union(*seen[:3])) == 1500


@pytest.mark.parametrize("grid, more, words", [({"epsilon": [1, 2]}, {}, "no setting to choose"), ({"lam": [1]}, {"share": 1}, "between 0 and 1")])
def test_a_search_that_cannot_be_paid_for_is_refused(rows, grid, more, words):
    private = tacit.PrivateLogisticRegression(bounds=(0, 1), classes=[0, 1])
    with pytest.raises(tacit.UsageError, match=words):
        tacit.private_search(private, grid, *rows, **more)


def test_a_search_is_for_estimators_that_protect_rows(rows, ledger):
    with pytest.raises(tacit.UsageError, match="protect each row"):
        tacit.private_search(tacit.PrivateEnsemble(), {"lam": [1]}, *rows)
    ledger.limit(epsilon=5)
    for missing in ({"bounds": (0, 1)}, {"classes": [0, 1]}):
        with pytest.raises(tacit.RefusedError):
            tacit.private_search(tacit.PrivateLogisticRegression(**missing), {"lam": [1]}, *rows, ledger=ledger)
    with pytest.raises(tacit.UsageError, match="too few"):
        tacit.private_search(tacit.PrivateLogisticRegression(bounds=(0, 1), classes=[0, 1]), {"lam": [1, 2]}, rows[0][:25], rows[1][:25])
    assert ledger.spent() == (0.0, 0.0)

"""Private classifiers for scikit-learn."""
from __future__ import annotations

import warnings
from collections.abc import Mapping, Sequence
from typing import Any, Optional, Union

import numpy as np

try:
    from sklearn.base import BaseEstimator, ClassifierMixin
    from sklearn.utils import check_random_state
    from sklearn.utils.multiclass import check_classification_targets
    from sklearn.utils.validation import check_is_fitted
except ImportError as problem:
    raise ImportError("tacit's estimators need scikit-learn: apt-get install python3-sklearn, or pip install scikit-learn") from problem

try:
    from sklearn.utils.validation import validate_data
    _ANY_NUMBERS = {"ensure_all_finite": False}
except ImportError:  # before scikit-learn 1.6
    def validate_data(estimator: BaseEstimator, X: Any, *y: Any, **how: Any) -> Any:
        return estimator._validate_data(X, *y, **how)
    _ANY_NUMBERS = {"force_all_finite": False}

from tacit import _errors
from tacit._frame import Bounds, Frame, encode, places, unmasked, whole
from tacit.fitting import READ_OFF, fit
from tacit.ledger import Ledger
from tacit.local import Local
from tacit.model import Model
from tacit.simulation import simulate

Settings = Optional[Mapping[str, Any]]

# Numbers that are not finite are refused where the library reads them, on all threads, before anything is charged: a look of
# scikit-learn's own would take a quarter of a fit's time.
_NUMBERS: dict[str, Any] = {"accept_sparse": "csr", "dtype": [np.float64, np.float32], **_ANY_NUMBERS}

# With a seed noise can be drawn again by anyone, and so be taken off.
_SEEDED = "random_state makes this a simulation: the noise can be drawn again, so the model is not private"
_FROM_DATA = "bounds are read off these very rows, which is not private; give bounds=(low, high) or norm that are publicly known"

_NO_WEIGHTS = ("sample_weight is not supported: a row that counts w times would need w times the noise for every row. Leave it out; "
               "tacit.glm has weights, without privacy")

# Two of scikit-learn's checks ask for what no private method has at such an epsilon: 83% on 200 rows, and predictions of all of 3 classes
# after 30 rows. With a large epsilon the estimators are excused from nothing.
_TINY = "30 rows are fewer than the noise of a small epsilon lets see: not every class need be predicted"


def _refuse(given: dict[str, Any]) -> None:
    """What scikit-learn's classifiers take and these do not."""
    if given.pop("sample_weight", None) is not None:
        raise _errors.UsageError(_NO_WEIGHTS)
    if given:
        raise TypeError(f"fit got an unexpected argument {next(iter(given))!r}")


def _is_noisy(epsilon: float) -> bool:
    return not epsilon >= 1000


def seed_of(random_state: Union[int, np.random.RandomState]) -> int:
    """A number is the seed itself, as of ``tacit simulate --seed``; a generator draws one."""
    if isinstance(random_state, (int, np.integer)):
        return int(random_state)
    return int(check_random_state(random_state).randint(2**31 - 1))


class _PrivateClassifier(ClassifierMixin, BaseEstimator):
    """What the estimators share: rows in, a :class:`tacit.Model` in ``model_``, classes out."""

    model_: Model
    classes: Optional[Sequence[Any]]

    def _rows(self, X: Any, y: Any) -> tuple[Any, np.ndarray]:
        """Checked rows and labels, which become ``classes_``."""
        if isinstance(y, np.ma.MaskedArray):
            y = whole(y, "label")
        X, y = validate_data(self, unmasked(X), y, **_NUMBERS)
        if y.dtype.kind not in "biu":  # those are classes without a look, which takes as long as a tenth of a fit
            check_classification_targets(y)
        if self.classes is None and y.dtype.kind == "b":  # both, whatever the rows have
            self.classes_, label = np.array([False, True]), y
        elif self.classes is None:
            self.classes_, label = encode(y)
        else:
            self.classes_ = np.unique(self.classes)
            label = places(y, self.classes_, "classes")
        if len(self.classes_) < 2:
            raise ValueError(f"{type(self).__name__} needs rows of at least two classes; these have 1 class")
        return X, label

    def _frame(self, X: Any, label: np.ndarray, groups: Any = None) -> Frame:
        bounds = self.bounds
        if bounds is None and self.norm is None:
            warnings.warn(_FROM_DATA, _errors.PrivacyWarning, stacklevel=3)
            bounds = "data"
        frame = Frame(X, label, classes=self.classes_, bounds=bounds, norm=self.norm, intercept=self.fit_intercept,
                      groups=groups, names=getattr(self, "feature_names_in_", None), complete=True)
        if self.classes is None and self.classes_.dtype.kind != "b":
            warnings.warn(READ_OFF, _errors.PrivacyWarning, stacklevel=3)
            frame._mark_classes()
        return frame

    def _seed(self) -> int | None:
        if self.random_state is None:
            return None
        warnings.warn(_SEEDED, _errors.PrivacyWarning, stacklevel=3)
        return seed_of(self.random_state)

    def _to_predict(self, X: Any) -> Frame:
        check_is_fitted(self)
        return Frame(validate_data(self, unmasked(X), reset=False, **_NUMBERS), complete=True)

    def predict(self, X: Any) -> Any:
        """The class of each row."""
        frame = self._to_predict(X)
        return self._contained(self.classes_[self.model_.class_index(frame, threads=self.n_threads or 0)], X)

    def predict_proba(self, X: Any) -> Any:
        """The probability of each class, in the order of ``classes_``, for each row."""
        return self._contained(self._probabilities(X), X)

    def predict_log_proba(self, X: Any) -> Any:
        """The logarithm of :meth:`predict_proba`."""
        with np.errstate(divide="ignore"):
            return self._contained(np.log(self._probabilities(X)), X)

    def decision_function(self, X: Any) -> Any:
        """How far each row is on the side of the second class: its log-odds, or the margin where the model has no probabilities. For
        more than two classes, a column each: the logarithm of its probability, less the mean of the row."""
        scores = self._scores(X)
        if scores.shape[1] == 1:
            return self._contained(scores[:, 0], X)
        logarithms = np.log(np.maximum(scores, np.finfo(np.float64).tiny))
        if len(self.classes_) == 2:
            return self._contained(logarithms[:, 1] - logarithms[:, 0], X)
        return self._contained(logarithms - logarithms.mean(axis=1, keepdims=True), X)

    def _scores(self, X: Any) -> np.ndarray:
        frame = self._to_predict(X)
        return self.model_.scores(frame, threads=self.n_threads or 0)

    def _probabilities(self, X: Any) -> np.ndarray:
        scores = self._scores(X)
        if scores.shape[1] != len(self.classes_):
            raise AttributeError("this model has margins instead of probabilities (loss=huber): use predict, or decision_function")
        return scores

    def set_output(self, *, transform: Optional[str] = None) -> Any:
        """In what predictions come: ``"pandas"`` makes Series and DataFrames of them, with the index of the rows and the classes as
        columns; ``"default"`` arrays. None changes nothing. As scikit-learn's transformers have it."""
        if transform not in (None, "default", "pandas"):
            raise ValueError(f"transform is 'default' or 'pandas', not {transform!r}")
        if transform is not None:
            self._sklearn_output_config = {"transform": transform}  # clone copies it
        return self

    def _contained(self, values: np.ndarray, X: Any) -> Any:
        if getattr(self, "_sklearn_output_config", {}).get("transform") != "pandas":
            return values
        import pandas
        index = getattr(X, "index", None)
        return pandas.Series(values, index=index) if values.ndim == 1 else pandas.DataFrame(values, index=index, columns=self.classes_)

    @property
    def guarantee_(self) -> dict[str, Any]:
        """By which method, for whom, at what price, and with which noise: ``model_.guarantee``."""
        check_is_fitted(self)
        return self.model_.guarantee

    def __sklearn_tags__(self) -> Any:
        tags = super().__sklearn_tags__()
        tags.input_tags.sparse = True
        tags.classifier_tags.poor_score = _is_noisy(self.epsilon)
        return tags

    def _more_tags(self) -> dict[str, Any]:  # the same before scikit-learn 1.6
        if not _is_noisy(self.epsilon):
            return {}
        return {"poor_score": True, "_xfail_checks": {"check_classifiers_classes": _TINY}}


class PrivateLogisticRegression(_PrivateClassifier):
    """Logistic regression that is differentially private for each row.

    Parameters
    ----------
    method : str
        ``"plr"`` (objective perturbation) and ``"gop"`` (the same with Gaussian noise; needs a delta) are for two classes, ``"output"``
        (output perturbation) is for any number; ``"auto"`` is plr for two classes and output for more.
    epsilon, delta : float
        The price per record.
    lam : float, optional
        Weight of the regulariser (lam/2)|w|^2. More of it means less noise. None: the method chooses it from public numbers.
    bounds : (low, high), optional
        Publicly known bounds of the columns, a number or one each. What lies outside is moved to the bound.
    norm : float, optional
        Instead of bounds: a publicly known length of rows; longer ones are shortened. Fastest with ``norm=1`` and no intercept: rows
        are then used where they lie. Without bounds and norm, bounds are read off the rows, with a :class:`tacit.PrivacyWarning`.
    fit_intercept : bool
        Whether there is a constant.
    ledger : Ledger, optional
        Makes fit a release that is charged there, with exact noise; it needs `classes`, unless labels are truth values. Without one
        you keep count of ``guarantee_`` yourself.
    random_state : int or RandomState, optional
        Makes fit a simulation that can be repeated, with a :class:`tacit.PrivacyWarning`: not private.
    n_threads : int, optional
        Processors to use; all by default.
    settings : mapping, optional
        Further settings of the method: ``{"loss": "huber"}``, or ``tacit.settings.plr(loss="huber")``.
    classes : sequence, optional
        All labels that there may be, known without the rows; a row with another one is an error. If omitted, they are read off
        the rows (truth values excepted), with a :class:`tacit.PrivacyWarning`: that reveals a class that one row alone has, and
        ``guarantee_["private"]`` is False.

    Attributes
    ----------
    classes_, n_features_in_, feature_names_in_ : as always in scikit-learn.
    model_ : tacit.Model
    guarantee_ : dict
    coef_, intercept_ : arrays, on the columns as they were given; not where rows are shortened one by one (norm).

    Examples
    --------
    >>> import numpy as np
    >>> from tacit import PrivateLogisticRegression
    >>> rng = np.random.default_rng(0)
    >>> X = rng.uniform(size=(5000, 2))
    >>> y = np.where(X[:, 0] > X[:, 1], "up", "down")
    >>> private = PrivateLogisticRegression(epsilon=1.0, bounds=(0, 1), classes=["down", "up"]).fit(X, y)
    >>> private.score(X, y) > 0.9
    True
    >>> private.guarantee_["private"], private.guarantee_["charged"]
    (True, {'unit': 'record', 'epsilon': 1.0, 'delta': 0.0})
    """

    def __init__(self, method: str = "auto", epsilon: float = 1.0, delta: float = 0.0, lam: Optional[float] = None, bounds: Bounds = None,
                 norm: Optional[float] = None, fit_intercept: bool = True, ledger: Optional[Ledger] = None,
                 random_state: Union[int, np.random.RandomState, None] = None, n_threads: Optional[int] = None,
                 settings: Settings = None, classes: Optional[Sequence[Any]] = None) -> None:
        self.method = method
        self.epsilon = epsilon
        self.delta = delta
        self.lam = lam
        self.bounds = bounds
        self.norm = norm
        self.fit_intercept = fit_intercept
        self.ledger = ledger
        self.random_state = random_state
        self.n_threads = n_threads
        self.settings = settings
        self.classes = classes

    def fit(self, X: Any, y: Any, **refused: Any) -> PrivateLogisticRegression:
        """Fit to rows `X` with labels `y`. With a ledger, this spends. There is no ``sample_weight``."""
        _refuse(refused)
        X, label = self._rows(X, y)
        method = self.method
        if method == "auto":
            method = "plr" if len(self.classes_) == 2 else "output"
        self.model_ = fit(self._frame(X, label), method=method, epsilon=self.epsilon, delta=self.delta, lam=self.lam,
                          ledger=self.ledger, seed=self._seed(), settings=self.settings, threads=self.n_threads)
        return self

    @property
    def coef_(self) -> np.ndarray:
        return self._coefficients()[:, :-1]

    @property
    def intercept_(self) -> np.ndarray:
        return self._coefficients()[:, -1]

    def _coefficients(self) -> np.ndarray:
        try:
            return self.model_.coefficients()
        except (AttributeError, _errors.UsageError) as problem:
            raise AttributeError(f"no coefficients: {problem}") from problem


class PrivateStacking(_PrivateClassifier):
    """A private model of private models, differentially private for each row; for two classes.

    Parameters
    ----------
    by : str
        ``"rows"`` (pst-s): members are fitted to blocks of rows. ``"features"`` (pst-f): to groups of columns, where important ones
        are heard better. ``settings={"members": "tree"}`` with rows, and a delta, fits private decision trees.
    parts : int
        How many members; with features, no more than there are columns.
    combiner : str
        Who decides: ``"high"``, a private model of the members' predictions; ``"majority"``; or ``"weighted"``.
    importances : sequence of float, or str, optional
        For features: public knowledge of what matters, a number each; never learnt from the rows. Or ``"power:A"``.
    epsilon, delta, lam, bounds, norm, fit_intercept, ledger, random_state, n_threads, settings, classes
        As for :class:`PrivateLogisticRegression`.

    Examples
    --------
    >>> import numpy as np
    >>> from tacit import PrivateStacking
    >>> rng = np.random.default_rng(0)
    >>> X = rng.uniform(size=(5000, 4))
    >>> private = PrivateStacking(by="features", parts=2, epsilon=2.0, bounds=(0, 1), fit_intercept=False).fit(X, X[:, 0] > 0.5)
    >>> private.guarantee_["method"]
    'pst-f'
    """

    def __init__(self, by: str = "rows", parts: int = 5, combiner: str = "high", importances: Any = None, epsilon: float = 1.0,
                 delta: float = 0.0, lam: Optional[float] = None, bounds: Bounds = None, norm: Optional[float] = None,
                 fit_intercept: bool = True, ledger: Optional[Ledger] = None,
                 random_state: Union[int, np.random.RandomState, None] = None, n_threads: Optional[int] = None,
                 settings: Settings = None, classes: Optional[Sequence[Any]] = None) -> None:
        self.by = by
        self.parts = parts
        self.combiner = combiner
        self.importances = importances
        self.epsilon = epsilon
        self.delta = delta
        self.lam = lam
        self.bounds = bounds
        self.norm = norm
        self.fit_intercept = fit_intercept
        self.ledger = ledger
        self.random_state = random_state
        self.n_threads = n_threads
        self.settings = settings
        self.classes = classes

    def _method(self) -> tuple[str, dict[str, Any]]:
        if self.by not in ("rows", "features"):
            raise ValueError(f"by is 'rows' or 'features', not {self.by!r}")
        if self.by == "rows":
            if self.importances is not None:
                raise ValueError("importances are those of features: they need by='features'")
            return "pst-s", {"blocks": self.parts, "combiner": self.combiner, **(self.settings or {})}
        known = {} if self.importances is None else {"importance": self.importances}
        return "pst-f", {"groups": min(self.parts, self.n_features_in_), "combiner": self.combiner, **known, **(self.settings or {})}

    def fit(self, X: Any, y: Any, **refused: Any) -> PrivateStacking:
        """Fit to rows `X` with labels `y`. With a ledger, this spends. There is no ``sample_weight``."""
        _refuse(refused)
        X, label = self._rows(X, y)
        method, settings = self._method()
        if len(self.classes_) > 2:
            raise ValueError("Only binary classification is supported. The type of the target is multiclass.")
        self.model_ = fit(self._frame(X, label), method=method, epsilon=self.epsilon, delta=self.delta, lam=self.lam,
                          ledger=self.ledger, seed=self._seed(), settings=settings, threads=self.n_threads)
        return self

    def __sklearn_tags__(self) -> Any:
        tags = super().__sklearn_tags__()
        tags.classifier_tags.multi_class = False
        return tags

    def _more_tags(self) -> dict[str, Any]:
        return {**super()._more_tags(), "binary_only": True}


class PrivateEnsemble(_PrivateClassifier):
    """Many parties, each with a classifier of its own, teach one model through public points. A simulation of them.

    Rows stay with their parties; these label public points, and one model is fitted to the noisy labels. In a study between
    organisations (:class:`tacit.Site`) that protects all rows of a party at once. Here everything happens in one process, with noise
    from a seed: good for finding out what a study would give, and not private.

    Parameters
    ----------
    method : str
        ``"vote"``, ``"soft"``, ``"soft-stat"`` or ``"pate"``, which label public points; or ``"avg"``, the mean of local weights.
    parties : int
        How many parties the rows are dealt out to, where fit is given no groups.
    epsilon, delta : float
        The price per party.
    local : str, estimator or function, optional
        What each party trains: logistic, svm, tree, bayes, bernoulli, knn, mlp; a list with commas is dealt round robin. Or a classifier
        of scikit-learn, such as ``RandomForestClassifier()``, of which each party trains a clone; or a function of rows, labels (places in
        the list of classes) and points that returns a label for each point. Both get encoded rows, and run in this process.
    lam : float, optional
        Weight of the regulariser; chosen by the method from public quantities by default.
    aux_fraction : float
        The share of the rows that counts as public where fit is given no public points.
    bounds, norm, fit_intercept, random_state, n_threads, settings, classes
        As for :class:`PrivateLogisticRegression`.

    Examples
    --------
    >>> import numpy as np
    >>> from tacit import PrivateEnsemble
    >>> rng = np.random.default_rng(0)
    >>> X, public = rng.uniform(size=(3000, 2)), rng.uniform(size=(500, 2))
    >>> ensemble = PrivateEnsemble("soft", parties=50, epsilon=5.0, bounds=(0, 1), random_state=1)
    >>> ensemble.fit(X, X[:, 0] > X[:, 1], public=public).score(X, X[:, 0] > X[:, 1]) > 0.8
    True
    >>> ensemble.guarantee_["charged"]["unit"]
    'party'
    """

    def __init__(self, method: str = "soft", parties: int = 5, epsilon: float = 1.0, delta: float = 0.0,
                 local: Local = None, lam: Optional[float] = None, aux_fraction: float = 0.2, bounds: Bounds = None,
                 norm: Optional[float] = None, fit_intercept: bool = True,
                 random_state: Union[int, np.random.RandomState, None] = None, n_threads: Optional[int] = None,
                 settings: Settings = None, classes: Optional[Sequence[Any]] = None) -> None:
        self.method = method
        self.parties = parties
        self.epsilon = epsilon
        self.delta = delta
        self.local = local
        self.lam = lam
        self.aux_fraction = aux_fraction
        self.bounds = bounds
        self.norm = norm
        self.fit_intercept = fit_intercept
        self.random_state = random_state
        self.n_threads = n_threads
        self.settings = settings
        self.classes = classes

    def fit(self, X: Any, y: Any, groups: Any = None, public: Any = None, **refused: Any) -> PrivateEnsemble:
        """Fit to rows `X` with labels `y`. `groups` says whose each row is; `public` are points without labels. There is no
        ``sample_weight``."""
        _refuse(refused)
        X, label = self._rows(X, y)
        wants_points = self.method != "avg"
        if wants_points and public is None:
            warnings.warn(f"no public points are given: {self.aux_fraction:g} of the rows count as public, unprotected",
                          _errors.PrivacyWarning, stacklevel=2)
        auxiliary = None
        if wants_points and public is not None:
            auxiliary = Frame(validate_data(self, unmasked(public), accept_sparse="csr", dtype=[np.float64, np.float32], reset=False))
        seed = None if self.random_state is None else seed_of(self.random_state)
        frame = self._frame(X, label, groups)
        # Tested on its own rows, so that none are held out; nobody reads the figures.
        found = simulate(frame, methods=self.method, parties=None if groups is not None else self.parties, epsilon=self.epsilon,
                         delta=self.delta, lam=self.lam, test=frame, auxiliary=auxiliary, seed=seed, settings=self.settings,
                         local=self.local, aux_fraction=self.aux_fraction if wants_points and public is None else None, threads=self.n_threads)
        self.model_ = found.model
        return self

"""scikit-learn's own checks of estimators. They take a while: see tests/python/meson.build."""
import warnings

import pytest
from sklearn.utils.estimator_checks import check_estimator, parametrize_with_checks

import tacit
from tacit import PrivateEnsemble, PrivateLogisticRegression, PrivateStacking

pytestmark = pytest.mark.filterwarnings("ignore::tacit.PrivacyWarning")

ESTIMATORS = [PrivateLogisticRegression(), PrivateLogisticRegression(method="output"), PrivateStacking(), PrivateStacking(by="features"),
              PrivateEnsemble(), PrivateEnsemble(method="vote"), PrivateEnsemble(method="avg")]


@parametrize_with_checks(ESTIMATORS)
def test_check(estimator, check):
    check(estimator)


@pytest.mark.parametrize("estimator", [PrivateLogisticRegression(), PrivateStacking(), PrivateEnsemble()])
def test_check_estimator(estimator):
    """The whole, as scikit-learn runs it."""
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        check_estimator(estimator)
    assert isinstance(estimator, tacit.estimators._PrivateClassifier)

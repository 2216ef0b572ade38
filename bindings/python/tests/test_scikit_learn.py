"""scikit-learn's own checks of estimators. They take a while: see tests/python/meson.build."""
import warnings

import pytest
from sklearn.utils.estimator_checks import check_estimator, parametrize_with_checks

from tacit import PrivateEnsemble, PrivateLogisticRegression, PrivateStacking

pytestmark = pytest.mark.filterwarnings("ignore::tacit.PrivacyWarning")

# As they come, where noise excuses two checks; and with so little of it that nothing is excused.
ESTIMATORS = [make(epsilon=epsilon, **arguments) for epsilon in (1.0, 1e6) for make, arguments in (
    (PrivateLogisticRegression, {}),
    (PrivateLogisticRegression, {"method": "output"}),
    (PrivateStacking, {}),
    (PrivateStacking, {"by": "features"}),
    (PrivateEnsemble, {}),
    (PrivateEnsemble, {"method": "vote"}),
    (PrivateEnsemble, {"method": "avg"}),
)]


@parametrize_with_checks(ESTIMATORS)
def test_check(estimator, check):
    check(estimator)


@pytest.mark.parametrize("estimator", [PrivateLogisticRegression(), PrivateStacking(), PrivateEnsemble()])
def test_check_estimator(estimator):
    """The whole, as scikit-learn runs it."""
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        check_estimator(estimator)


def test_only_noise_is_an_excuse():
    for estimator in ESTIMATORS:
        tags = estimator._get_tags()
        assert (tags["poor_score"], bool(tags["_xfail_checks"])) == (estimator.epsilon == 1,) * 2

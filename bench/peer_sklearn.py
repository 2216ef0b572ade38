#!/usr/bin/python3
"""scikit-learn's logistic regression on the same files as bench_glm.

  peer_sklearn.py fit  X LABELS ROWS COLS LAMBDA SOLVER TOLERANCE REPEATS WEIGHTS
  peer_sklearn.py many X LABELS ROWS COLS LAMBDA SOLVER TOLERANCE REPEATS WEIGHTS FITS STORED-ROWS

Its objective is |w|^2/2 + C sum loss, so C = 1/(n lambda). Up to 1.2 its lbfgs stops on scipy's relative change of the
objective (2e-9), far from a gradient of 1e-8; that test is switched off here so that TOLERANCE decides.
"""
import json
import sys
import time
import warnings

import numpy as np
import sklearn.linear_model._logistic as logistic
from sklearn.linear_model import LogisticRegression


def without_objective_test():
    original = logistic.optimize.minimize

    def minimize(*arguments, options=None, **named):
        options = dict(options or {}, ftol=0, maxfun=100000)
        return original(*arguments, options=options, **named)

    class Optimize:
        def __getattr__(self, name):
            return minimize if name == "minimize" else getattr(original_module, name)

    original_module = logistic.optimize
    logistic.optimize = Optimize()


def fit(x, y, lam, solver, tolerance):
    model = LogisticRegression(C=1 / (len(y) * lam), fit_intercept=False, solver=solver, tol=tolerance, max_iter=20000)
    return model.fit(x, y).coef_[0]


def main():
    kind, x_path, y_path, rows, cols, lam, solver, tolerance, repeats, out = sys.argv[1:11]
    rows, cols, lam, tolerance = int(rows), int(cols), float(lam), float(tolerance)
    warnings.simplefilter("ignore")
    without_objective_test()
    x = np.fromfile(x_path).reshape(-1, cols)
    y = np.fromfile(y_path, dtype=np.int32)
    seconds = []
    for _ in range(int(repeats)):
        begin = time.perf_counter()
        if kind == "fit":
            weights = [fit(x, y, lam, solver, tolerance)]
        else:
            fits, stored = int(sys.argv[11]), int(sys.argv[12])
            weights = []
            for f in range(fits):
                first = f * rows % (stored - rows + 1)
                weights.append(fit(x[first:first + rows], y[first:first + rows], lam, solver, tolerance))
        seconds.append(time.perf_counter() - begin)
    np.array(weights[:100]).tofile(out)
    print(json.dumps({"seconds": seconds}))


main()

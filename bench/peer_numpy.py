"""Objective perturbation (plr) in numpy alone: what PrivateLogisticRegression does, as one would write it without Tacit.

Rows into the unit ball, the calibration of Chaudhuri, Monteleoni and Sarwate 2011 with Tacit's constants, a random linear term from
numpy's generator, and a minimiser to the same bound on the gradient. Two solvers, of which the faster counts: Newton's method, which
forms the Hessian in each step, and L-BFGS (two-loop recursion, Wolfe line search).
"""
import numpy as np

SLACK = 0.01  # of epsilon, for the solver's error
TOLERANCE = 1e-9


def into_ball(x, low, high):
    """Columns to [-1, 1], a constant, rows to norm 1 at most."""
    out = np.empty((x.shape[0], x.shape[1] + 1))
    out[:, :-1] = (2 * x - (high + low)) / (high - low)
    out[:, -1] = 1
    out /= np.sqrt(out.shape[1])
    return out


def calibrate(rows, lam, epsilon):
    """epsilon' of the noise, and lambda + Delta."""
    curvature, rest = 0.25 / rows, (1 - SLACK) * epsilon
    left = rest - np.log1p(curvature / lam)
    if left >= rest / 2:
        return left, lam
    return rest / 2, max(lam, curvature / np.expm1(rest / 2))


def gamma_norm(dimension, scale, rng):
    """A direction at random, its length a gamma variable."""
    direction = rng.standard_normal(dimension)
    return direction / np.linalg.norm(direction) * rng.gamma(dimension, scale)


class Objective:
    def __init__(self, x, y, lam, linear):
        self.x, self.sign, self.lam, self.linear = x, np.where(y > 0, 1.0, -1.0), lam, linear

    def at(self, w):
        """Value, gradient, and each row's probability of being wrong."""
        margin = self.sign * (self.x @ w)
        wrong = 1 / (1 + np.exp(margin))
        value = np.mean(np.logaddexp(0, -margin)) + self.lam / 2 * w @ w + self.linear @ w
        return value, self.x.T @ (-self.sign * wrong) / len(margin) + self.lam * w + self.linear, wrong

    def hessian(self, wrong):
        weight = wrong * (1 - wrong) / len(wrong)
        return (self.x * weight[:, None]).T @ self.x + self.lam * np.eye(self.x.shape[1])


def newton(objective, w):
    value, gradient, wrong = objective.at(w)
    while np.linalg.norm(gradient) > TOLERANCE:
        step, length = np.linalg.solve(objective.hessian(wrong), -gradient), 1.0
        while True:
            trial = objective.at(w + length * step)
            if trial[0] <= value + 1e-4 * length * (gradient @ step) + 1e-15:
                break
            length /= 2
        w = w + length * step
        value, gradient, wrong = trial
    return w


def direction_of(gradient, pairs):
    q, alphas = gradient.copy(), []
    for s, d in reversed(pairs):
        alphas.append(s @ q / (s @ d))
        q -= alphas[-1] * d
    if pairs:
        q *= pairs[-1][0] @ pairs[-1][1] / (pairs[-1][1] @ pairs[-1][1])
    for (s, d), alpha in zip(pairs, reversed(alphas)):
        q += (alpha - d @ q / (s @ d)) * s
    return -q


def lbfgs(objective, w, memory=10):
    value, gradient, _ = objective.at(w)
    pairs = []
    while np.linalg.norm(gradient) > TOLERANCE:
        step, length = direction_of(gradient, pairs), 1.0
        while True:
            new_value, new_gradient, _ = objective.at(w + length * step)
            if new_value <= value + 1e-4 * length * (gradient @ step) + 1e-15:
                break
            length /= 2
        s, d = length * step, new_gradient - gradient
        w, value, gradient = w + s, new_value, new_gradient
        if s @ d > 0:
            pairs = [*pairs[-memory + 1:], (s, d)]
    return w


SOLVERS = {"newton": newton, "lbfgs": lbfgs}


def fit(x, y, bounds, lam, epsilon, solver, rng):
    """Weights on the encoded columns, the constant last. `bounds` None: rows lie in the unit ball already."""
    if bounds is not None:
        x = into_ball(x, *bounds)
    rows, dimension = x.shape
    left, lam = calibrate(rows, lam, epsilon)
    linear = gamma_norm(dimension, 2 / left, rng) / rows
    w = SOLVERS[solver](Objective(x, y, lam, linear), np.zeros(dimension))
    return w + gamma_norm(dimension, 2 * TOLERANCE / lam / (SLACK * epsilon), rng)

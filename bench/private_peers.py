"""What other software does on the same rows, for bench/run_private. Each peer is a function of training rows u (numbers in [-1, 1], a column
for every level, no intercept) and labels y, test rows, a price under replacement of one row, a seed and settings; it returns probabilities.

  dp_sgd      DP-SGD by torch as Opacus makes it: one linear layer, gradients of every example by einsum, clipped by their norm, added up over a
              Poisson sample, Gaussian noise, divided by the expected batch, a step of SGD. The same in numpy where torch is not installed
              (python3-torch of Debian); backend() says which. The noise is found by this program's accountant, for replacement: less noise
              than Opacus's own accountants ask for where a replaced row is counted as two that come or go.
  objective   objective perturbation (Chaudhuri, Monteleoni and Sarwate 2011, algorithm 2), which is what diffprivlib's LogisticRegression does:
              pure epsilon, C = 1. Written from the published formula, the price of the penalty's lower bound included.
  newton      The rules that dpnewton began with, and in their place steps with noise twice over (Ganesh, Haghifam, Steinke and Thakurta 2023): the
              curvature of all rows at w is used and not released, and what it adds to a step is hidden by noise on the step. For --tried.
  adassp      AdaSSP (Wang 2018): ridge regression on labels of -1 and 1 from noisy moments, the ridge from a private smallest eigenvalue. Noise is
              exact Gaussian, a third of the budget for each of the three, which is less than the published bounds.
"""
import collections
import functools
import json
import math
import subprocess

import numpy as np

try:
    import torch
    torch.set_num_threads(1)
except ImportError:
    torch = None


Price = collections.namedtuple("Price", "program epsilon delta groups")


def backend():
    return f"torch {torch.__version__}" if torch is not None else "numpy"


def normal_tail(t):
    return math.erfc(t / math.sqrt(2)) / 2


@functools.lru_cache(None)
def gaussian_mu(epsilon, delta):
    """The largest mu for which N(0, 1) and N(mu, 1) are (epsilon, delta)-close."""
    low, high = 0., 50.
    for _ in range(100):
        mu = (low + high) / 2
        found = normal_tail(epsilon / mu - mu / 2) - math.exp(epsilon) * normal_tail(epsilon / mu + mu / 2)
        low, high = (mu, high) if found < delta else (low, mu)
    return low


def sigmoid(z):
    return 1 / (1 + np.exp(-np.clip(z, -500, 500)))


def reach(price, share):
    """R: rows (u, 1) are divided by it; R^2 = share (1 + G), G the columns of the schema, which is the largest |u|^2."""
    return math.sqrt(share * (1 + price.groups))


def in_ball(u, radius):
    """(u, 1)/R, shortened where it is longer than 1."""
    x = np.hstack([u, np.ones((len(u), 1))]) / radius
    return x / np.maximum(1, np.linalg.norm(x, axis=1))[:, None]


# ---- DP-SGD ----


@functools.lru_cache(None)
def noise_multiplier(program, epsilon, delta, sampling, epochs):
    done = subprocess.run([program, "explain", "dpsgd", "--epsilon", repr(epsilon), "--delta", repr(delta), "--set", "hidden=none", "--set",
                           f"sampling={sampling!r}", "--set", f"epochs={epochs}", "--parties", "1", "--rows", "100000", "--json"],
                          stdout=subprocess.PIPE, text=True, check=True)
    return json.loads(done.stdout)["noise"]["scale"]


def dp_sgd(u, y, tests, price, seed, rate=0.05, clip=1.0, epochs=20, batch=1024):
    sampling = round(min(0.25, batch / len(y)), 4)
    noise = noise_multiplier(price.program, price.epsilon, price.delta, sampling, epochs) * clip
    steps, expected = int(round(epochs / sampling)), sampling * len(y)
    work = torch_sgd if torch is not None else numpy_sgd
    return work(u, y, tests, seed, sampling, steps, expected, rate, clip, noise)


def torch_sgd(u, y, tests, seed, sampling, steps, expected, rate, clip, noise):
    torch.manual_seed(seed)
    x, label = torch.tensor(u, dtype=torch.float32), torch.tensor(y, dtype=torch.float32)
    model = torch.nn.Linear(x.shape[1], 1)
    optimizer = torch.optim.SGD(model.parameters(), lr=rate)
    with torch.no_grad():
        for _ in range(steps):
            taken = torch.rand(len(label)) < sampling
            rows = x[taken]
            derivative = torch.sigmoid(model(rows)) - label[taken][:, None] # of the loss of one example, by what the layer gives out
            samples = torch.einsum("ni,nj->nij", derivative, rows)
            norms = (samples.flatten(1).square().sum(1) + derivative.square().sum(1)).sqrt()
            factor = (clip / (norms + 1e-6)).clamp(max=1.0)
            for parameter, each in ((model.weight, samples), (model.bias, derivative)):
                total = torch.einsum("i,i...", factor, each)
                parameter.grad = (total + noise * torch.randn_like(total)) / expected
            optimizer.step()
        return torch.sigmoid(model(torch.tensor(tests, dtype=torch.float32)))[:, 0].double().numpy()


def numpy_sgd(u, y, tests, seed, sampling, steps, expected, rate, clip, noise):
    draw = np.random.default_rng(seed)
    x = np.hstack([u, np.ones((len(u), 1))])
    w = draw.uniform(-1, 1, x.shape[1]) / math.sqrt(max(1, u.shape[1]))
    length = np.linalg.norm(x, axis=1)
    for _ in range(steps):
        taken = draw.random(len(y)) < sampling
        derivative = sigmoid(x[taken] @ w) - y[taken]
        factor = np.minimum(1, clip / (np.abs(derivative) * length[taken] + 1e-6))
        w -= rate * ((factor * derivative) @ x[taken] + noise * draw.standard_normal(len(w))) / expected
    return sigmoid(np.hstack([tests, np.ones((len(tests), 1))]) @ w)


# ---- objective perturbation ----


def objective(u, y, tests, price, seed, c=1.0, share=0.5):
    """Rows inside the unit ball, which the theorem supposes: the loss has a second derivative of at most 1/4 and a gradient of at most 1. The penalty
    is 1/(2C)|w|^2 beside the sum of losses, as scikit-learn has it."""
    draw = np.random.default_rng(seed)
    radius = reach(price, share)
    x, z = in_ball(u, radius), in_ball(tests, radius)
    ridge = 1 / c
    left, more = price.epsilon - 2 * math.log1p(0.25 / ridge), 0.
    if left <= 0:
        more, left = 0.25 / math.expm1(price.epsilon / 4) - ridge, price.epsilon / 2
    d = x.shape[1]
    direction = draw.standard_normal(d)
    noise = direction / np.linalg.norm(direction) * draw.gamma(d, 2 / left)
    w = np.zeros(d)
    for _ in range(100): # Newton, halved until the objective falls
        p = sigmoid(x @ w)
        gradient = x.T @ (p - y) + noise + (ridge + more) * w
        step = np.linalg.solve((x * (p * (1 - p))[:, None]).T @ x + (ridge + more) * np.eye(d), gradient)
        size, before = 1., perturbed(w, x, y, noise, ridge + more)
        while perturbed(w - size * step, x, y, noise, ridge + more) > before and size > 1e-6:
            size /= 2
        w = w - size * step
        if np.linalg.norm(step) * size < 1e-6 * (1 + np.linalg.norm(w)):
            break
    return sigmoid(z @ w)


def perturbed(w, x, y, noise, ridge):
    z = x @ w
    return np.sum(np.logaddexp(0, z) - y * z) + noise @ w + ridge / 2 * (w @ w)


# ---- AdaSSP ----


def noise_of_matrix(draw, d):
    """Symmetric, of norm 1 in every direction of symmetric matrices."""
    upper = np.triu(draw.standard_normal((d, d)), 1)
    return (upper + upper.T) / math.sqrt(2) + np.diag(draw.standard_normal(d))


def adassp(u, y, tests, price, seed, share=0.5):
    draw = np.random.default_rng(seed)
    radius = reach(price, share)
    x, z = in_ball(u, radius), in_ball(tests, radius)
    d = x.shape[1]
    s = math.sqrt(3) / gaussian_mu(price.epsilon, price.delta)
    moments = x.T @ x
    error = noise_of_matrix(draw, d)
    smallest = np.linalg.eigvalsh(moments)[0]
    known = max(smallest + s * draw.standard_normal() - s * math.sqrt(math.log(6 / price.delta)), 0)
    ridge = max(0, math.sqrt(d * math.log(2 * d * d / 0.05)) * math.sqrt(2) * s - known)
    b = x.T @ (2 * y - 1) + 2 * s * draw.standard_normal(d)
    w = np.linalg.solve(moments + math.sqrt(2) * s * error + ridge * np.eye(d), b)
    return np.clip((1 + z @ w) / 2, 0.01, 0.99)


# ---- Newton's steps ----


def clipped_link(z):
    """Chances at which residuals of sigma(z), clipped at one half, have a mean of 0."""
    p = sigmoid(z)
    one, zero = np.minimum(p, 0.5), np.minimum(1 - p, 0.5)
    return one / (one + zero)


def slope(p, chance):
    """The derivative of a clipped residual, in the mean over labels of this chance: none where the residual is beyond one half."""
    return p * (1 - p) * np.where(p >= 0.5, chance, 1 - chance)


def mean_slope(w, moments, n, radius):
    """Over scores as the moments predict them."""
    spread = max(w @ moments @ w / n, 1e-12)
    mean = np.clip((moments @ w)[-1] * radius / n, -math.sqrt(spread), math.sqrt(spread))
    nodes, weights = np.polynomial.hermite_e.hermegauss(40)
    z = mean + math.sqrt(max(spread - mean * mean, 1e-6)) * nodes
    return max(0.02, weights @ slope(sigmoid(z), clipped_link(z)) / math.sqrt(2 * math.pi))


def newton(u, y, tests, price, seed, floor=None):
    """floor: None for released moments; else the ridge, in units of 1/mu, of steps with noise twice over, whose sums share each round's budget evenly. Both
    matrices that a replaced row can tell apart are one row of weight at most 1/4 above the same matrix H0, so that the inverses of these plus r lie
    between that of H0 + r and that less .25/(r (r + .25)): the step moves by at most this times its right side."""
    draw = np.random.default_rng(seed)
    mu, radius = gaussian_mu(price.epsilon, price.delta), reach(price, 0.5)
    x, z = in_ball(u, radius), in_ball(tests, radius)
    n, d = x.shape
    ridge = np.clip(1.8 / math.sqrt(n * mu / d), 0.1, 0.5) / mu + 0.1
    rounds = int(np.clip(round(2 * math.log(n * mu)), 10, 24))
    shares = (1 + 3 / rounds) ** np.arange(rounds)
    shares *= (0.9 if floor is None else 1) / shares.sum()
    if floor is None:
        s = math.sqrt(2) / (mu * math.sqrt(0.1))
        values, axes = np.linalg.eigh(x.T @ x + s * noise_of_matrix(draw, d))
        moments = (axes * (np.maximum(values, 0) + s * math.sqrt(2 * d) / 2)) @ axes.T
    w, total = np.zeros(d), np.zeros(d)
    for t, share in enumerate(shares):
        residual = sigmoid(x @ w) - y
        right = np.clip(residual, -0.5, 0.5) @ x + draw.standard_normal(d) / (mu * math.sqrt(share / (1 if floor is None else 2))) + ridge * w
        if floor is None:
            alpha = 0.25 if t == 0 else min(0.25, 2 * mean_slope(w, moments, n, radius))
            step = np.linalg.solve(alpha * moments + ridge * np.eye(d), right)
            step /= max(1, math.sqrt(step @ moments @ step / n) / 2)
        else:
            more, p = floor / mu, sigmoid(x @ w)
            curved = (x * (p * (1 - p) * (np.abs(residual) <= 0.5))[:, None]).T @ x
            hidden = 0.25 / (more * (more + 0.25)) * np.linalg.norm(right)
            step = np.linalg.solve(curved + more * np.eye(d), right) + hidden * draw.standard_normal(d) / (mu * math.sqrt(share / 2))
            step /= max(1, np.linalg.norm(step) / (2 * radius))
        w = w - step
        if t >= rounds - round(0.4 * rounds):
            total += share * w
    kept = shares[rounds - round(0.4 * rounds):].sum()
    return clipped_link(z @ (total / kept))


PEERS = {"DP-SGD": dp_sgd, "objective": objective, "AdaSSP": adassp, "newton": newton}

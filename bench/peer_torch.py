"""Private training in PyTorch, as Opacus does it: hooks on linear layers keep what each takes in and the derivatives by what
it gives out, from which every example's gradient is made (einsum), clipped by its norm and added up; then Gaussian noise and a
step of SGD with momentum. No functorch. peer_torch.py LAYERS BATCH THREADS SECONDS prints examples a second, best of many
short spells, as bench_network does."""
import json
import sys
import time

import torch

SPELL_STEPS = 2


class PerExample:
    """grad_sample of every parameter of every linear layer, by hooks."""

    def __init__(self, model):
        self.layers = [m for m in model if isinstance(m, torch.nn.Linear)]
        for layer in self.layers:
            layer.register_forward_hook(self.keep_input)
            layer.register_full_backward_hook(self.make_gradients)

    @staticmethod
    def keep_input(layer, inputs, _):
        layer.taken_in = inputs[0].detach()

    @staticmethod
    def make_gradients(layer, _, given_out):
        d = given_out[0] * len(given_out[0])  # the loss is a mean
        layer.weight.grad_sample = torch.einsum("ni,nj->nij", d, layer.taken_in)
        layer.bias.grad_sample = d

    def parameters(self):
        for layer in self.layers:
            yield layer.weight
            yield layer.bias

    def clip_and_add(self, bound, noise):
        norms = torch.stack([p.grad_sample.flatten(1).norm(2, dim=1) for p in self.parameters()], dim=1).norm(2, dim=1)
        factor = (bound / (norms + 1e-6)).clamp(max=1.0)
        for p in self.parameters():
            total = torch.einsum("i,i...", factor, p.grad_sample)
            p.grad = (total + torch.normal(0, noise * bound, total.shape)) / len(factor)
            p.grad_sample = None


def make_model(widths):
    layers = []
    for inputs, units in zip(widths, widths[1:]):
        layers += [torch.nn.Linear(inputs, units), torch.nn.Sigmoid()]
    return torch.nn.Sequential(*layers[:-1])


def main():
    widths = [int(w) for w in sys.argv[1].split("-")]
    batch, threads, seconds = int(sys.argv[2]), int(sys.argv[3]), float(sys.argv[4])
    torch.set_num_threads(threads)
    torch.manual_seed(1)
    x = torch.randn(8192, widths[0])
    one = widths[-1] == 1
    y = torch.arange(8192) % (2 if one else widths[-1])
    y = y.float().unsqueeze(1) if one else y
    loss_of = torch.nn.BCEWithLogitsLoss() if one else torch.nn.CrossEntropyLoss()
    best = {}
    for private in (False, True):
        model = make_model(widths)
        hooks = PerExample(model) if private else None
        optimiser = torch.optim.SGD(model.parameters(), lr=0.01, momentum=0.9)
        number = 0
        end = time.perf_counter() + seconds / 2
        while time.perf_counter() < end:
            start = time.perf_counter()
            for number in range(number, number + SPELL_STEPS):
                at = number * batch % (8192 - batch)
                optimiser.zero_grad()
                loss_of(model(x[at:at + batch]), y[at:at + batch]).backward()
                if private:
                    hooks.clip_and_add(1.0, 1.0)
                optimiser.step()
            rate = SPELL_STEPS * batch / (time.perf_counter() - start)
            best[private] = max(best.get(private, 0), rate)
    print(json.dumps({"plain": round(best[False]), "dpsgd": round(best[True])}))


main()

#!/usr/bin/python3
"""Golden values for tests/ssl: losses of the methods and their gradients, in double, from their papers' formulas.

  /usr/bin/python3 tests/golden/methods_golden.py > tests/golden/methods_golden.json

Inputs are sines of their index, so that only results are kept. Needs Debian's python3-torch. Written with other
operations than the library: exponentials and explicit sums where that one works in log space, batch normalisation
modules, off-diagonals by masks, KL divergences from torch.nn.functional.
"""
import json
import math
import statistics

import torch
import torch.nn.functional as F

torch.set_default_dtype(torch.double)


def sines(rows, columns, phase):
    return torch.sin(torch.arange(rows * columns) * 0.7 + phase).view(rows, columns).requires_grad_()


def off_diagonal(c):
    return c[~torch.eye(len(c), dtype=torch.bool)]


def barlow():
    z0, z1 = sines(8, 5, 0.1), sines(8, 5, 1.9)
    norm = torch.nn.BatchNorm1d(5, affine=False)
    c = norm(z0).T @ norm(z1) / 8
    loss = 0.1 * ((torch.diagonal(c) - 1).square().sum() + 0.0051 * off_diagonal(c).square().sum())
    return loss, [z0, z1]


def vicreg():
    z0, z1 = sines(8, 5, 0.1), sines(8, 5, 1.9)
    # Half as large, or no feature would vary too little and the hinge would not be seen.
    a, b = 0.5 * z0, 1.5 * z1
    loss = 25 * F.mse_loss(a, b)
    for z in (a, b):
        loss = loss + 25 * F.relu(1 - torch.sqrt(z.var(dim=0) + 1e-4)).mean() / 2
        loss = loss + off_diagonal(torch.cov(z.T)).square().sum() / 5
    return loss, [z0, z1]


def sliced_views():
    """Two full views and a small one, and unit directions. Scaled, so that no term is near its optimum."""
    views = [sines(8, 5, phase) for phase in (0.1, 1.9, 3.3)]
    directions = sines(6, 5, 5.0).detach()
    directions = directions / directions.square().sum(dim=1, keepdim=True).sqrt()
    return views, [0.5 * views[0], 1.5 * views[1], views[2] + 0.25], directions


def to_centre(views, globals):
    centre = sum(views[:globals]) / globals
    return sum(((z - centre) ** 2).sum() for z in views) / (len(views) * views[0].numel())


def lejepa():
    inputs, views, directions = sliced_views()
    points, t_max = 17, 3.0
    step = t_max / (points - 1)
    sigreg = 0.0
    for z in views:
        for a in directions:
            u = (z * a).sum(dim=1)
            for k in range(points):
                t = k * step
                phi = math.exp(-t * t / 2)
                weight = 2 * step * phi * (0.5 if k in (0, points - 1) else 1)
                error = (torch.cos(t * u).mean() - phi) ** 2 + torch.sin(t * u).mean() ** 2
                sigreg = sigreg + len(u) * weight * error
    sigreg = sigreg / (len(views) * len(directions))
    return 0.95 * to_centre(views, 2) + 0.05 * sigreg, inputs


def visreg():
    inputs, views, directions = sliced_views()
    normal = statistics.NormalDist()
    regulariser = 0.0
    for z in views:
        n = len(z)
        mean = z.sum(dim=0) / n
        sigma = (((z - mean) ** 2).sum(dim=0) / n).sqrt()
        regulariser = regulariser + (mean**2).mean() + ((1 - sigma) ** 2).mean()
        standard = (z - mean) / (sigma.detach() + 1e-4)
        for a in directions:
            u = (standard * a).sum(dim=1)
            order = sorted(range(n), key=lambda i: u[i].item())
            for rank, i in enumerate(order):
                quantile = normal.inv_cdf((rank + 1) / (n + 1))
                regulariser = regulariser + (u[i] - quantile) ** 2 / (n * len(directions))
    return 0.4 * to_centre(views, 2) + 0.6 * regulariser / len(views), inputs


def sinkhorn(scores, epsilon, iterations):
    """The paper's: prototypes in rows, probabilities themselves."""
    q = torch.exp(scores / epsilon).T
    q = q / q.sum()
    for _ in range(iterations):
        q = q / q.sum(dim=1, keepdim=True) / q.shape[0]
        q = q / q.sum(dim=0, keepdim=True) / q.shape[1]
    return (q * q.shape[1]).T


def swav():
    scores = [sines(8, 6, phase) for phase in (0.1, 1.9, 3.3)]  # two full views and a small one
    targets = [sinkhorn(s.detach(), 0.5, 3) for s in scores[:2]]
    terms = []
    for i, q in enumerate(targets):
        for j, s in enumerate(scores):
            if i != j:
                terms.append(-torch.mean(torch.sum(q * F.log_softmax(s / 0.1, dim=1), dim=1)))
    return torch.stack(terms).mean(), scores


def dino():
    students = [sines(8, 6, phase) for phase in (0.1, 1.9, 3.3)]
    teachers = [sines(8, 6, phase).detach() for phase in (0.4, 2.2)]
    centre = torch.cos(torch.arange(6.0))
    terms = []
    for i, t in enumerate(teachers):
        q = F.softmax((t - centre) / 0.5, dim=-1)
        for j, s in enumerate(students):
            if i != j:
                terms.append(torch.sum(-q * F.log_softmax(s / 0.1, dim=-1), dim=-1).mean())
    return torch.stack(terms).mean(), students


def dino_centre():
    teachers = torch.cat([sines(8, 6, 0.4), sines(8, 6, 2.2)]).detach()
    return 0.9 * torch.cos(torch.arange(6.0)) + 0.1 * teachers.mean(dim=0)


def self_classifier():
    s0, s1 = sines(8, 6, 0.1), sines(8, 6, 1.9)

    def one_way(target_scores, scores):
        x_y = F.softmax(target_scores / 0.5, dim=0)  # of an image given a class
        y_x = x_y / x_y.sum(dim=1, keepdim=True)
        p = F.softmax(scores / 0.25, dim=1)
        log_r = torch.log(8 / 6 * p / p.sum(dim=0, keepdim=True))
        return -(y_x * log_r).sum(dim=1).mean()

    return 0.5 * (one_way(s1, s0) + one_way(s0, s1)), [s0, s1]


def gedi_nogen():
    """Of hidden layers and the trained classes behind them."""
    h0, h1, w = sines(8, 5, 0.1), sines(8, 5, 1.9), sines(6, 5, 3.3)
    p0, p1 = F.softmax(h0 @ w.T / 0.5, dim=1), F.softmax(h1 @ w.T / 0.5, dim=1)
    invariance = -0.5 * ((p0 * p1.log()).sum(1).mean() + (p1 * p0.log()).sum(1).mean())
    uniform = torch.full((6,), 1 / 6)
    prior = sum(F.kl_div(uniform.log(), p.mean(0), reduction="sum") for p in (p0, p1)) / 2
    return 0.25 * invariance + prior, [h0, h1, w]


def langevin():
    """Without noise: gradient descent on E(x) = -logsumexp(tanh(x w))."""
    x, w = sines(4, 5, 0.1).detach(), sines(5, 6, 3.3).detach()
    for _ in range(7):
        x = x.requires_grad_()
        energy = -torch.log(torch.exp(torch.tanh(x @ w)).sum(dim=1)).sum()
        x = (x - 0.3 * torch.autograd.grad(energy, x)[0]).detach()
    return x


def main():
    results = {}
    for function in (barlow, vicreg, lejepa, visreg, swav, dino, self_classifier, gedi_nogen):
        loss, inputs = function()
        loss.backward()
        assert math.isfinite(loss.item())
        results[function.__name__] = {"loss": loss.item(), "gradients": [x.grad.flatten().tolist() for x in inputs]}
    results["sinkhorn"] = sinkhorn(sines(8, 6, 0.1).detach(), 0.5, 3).flatten().tolist()
    results["dino_centre"] = dino_centre().tolist()
    results["langevin"] = langevin().flatten().tolist()
    print(json.dumps(results))


if __name__ == "__main__":
    main()

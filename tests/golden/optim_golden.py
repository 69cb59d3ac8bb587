#!/usr/bin/python3
"""Golden values for tests/nn/optim_test.cpp: three steps of torch.optim, and of LARS as its paper has it.

  /usr/bin/python3 tests/golden/optim_golden.py > tests/golden/optim_golden.h

Two parameters, a 2x3 matrix and a vector of 2; the gradients are sines of the step and the parameters,
so that a wrong step shows in the next one. Needs Debian's python3-torch.
"""
import torch


class Lars:
    """Barlow Twins' and solo-learn's: 1-D parameters get neither decay nor a rate of their own."""

    def __init__(self, parameters, lr, weight_decay, clip):
        self.parameters, self.lr, self.decay, self.clip = parameters, lr, weight_decay, clip
        self.buffers = [torch.zeros_like(p) for p in parameters]

    @torch.no_grad()
    def step(self):
        for p, m in zip(self.parameters, self.buffers):
            g = p.grad.clone()
            if p.dim() > 1:
                rate = 0.02 * p.norm() / (g.norm() + self.decay * p.norm() + 1e-8)
                rate = min(rate / self.lr, 1) if self.clip else rate
                g = (g + self.decay * p) * rate
            m.mul_(0.9).add_(g)
            p.sub_(self.lr * m)


def groups(parameters, decay, decay_all):
    if decay_all:
        return [{"params": parameters, "weight_decay": decay}]
    return [{"params": [p], "weight_decay": decay if p.dim() > 1 else 0} for p in parameters]


# optimiser, weight decay, on all parameters, nesterov, clip of LARS, largest norm of the gradient (0: any)
CASES = [
    ("adam", 0.0, True, False, False, 0),
    ("adam", 0.1, True, False, False, 0),
    ("adamw", 0.1, True, False, False, 0),
    ("adamw", 0.1, False, False, False, 0.5),
    ("sgd", 0.1, True, False, False, 0),
    ("sgd", 0.1, False, True, False, 0),
    ("lars", 0.1, True, False, True, 0),
    ("lars", 0.1, True, False, False, 0),
]


def run(name, decay, decay_all, nesterov, clip, max_norm):
    parameters = [torch.linspace(-1, 1, 6, dtype=torch.double).view(2, 3).requires_grad_(),
                  torch.tensor([0.5, -0.25], dtype=torch.double).requires_grad_()]
    sets = groups(parameters, decay, decay_all)
    opt = {"adam": lambda: torch.optim.Adam(sets, lr=0.01), "adamw": lambda: torch.optim.AdamW(sets, lr=0.01),
           "sgd": lambda: torch.optim.SGD(sets, lr=0.01, momentum=0.9, nesterov=nesterov),
           "lars": lambda: Lars(parameters, 0.01, decay, clip)}[name]()
    for step in range(3):
        for p in parameters:
            p.grad = torch.sin(3 * p.detach() + step + 1)
        if max_norm:
            torch.nn.utils.clip_grad_norm_(parameters, max_norm)
        opt.step()
    return torch.cat([p.detach().flatten() for p in parameters]).tolist()


def main():
    print("#pragma once\n// Made by tests/golden/optim_golden.py. Do not edit.\n\n#include <vector>\n")
    print("namespace cpl::golden {\n\nstruct OptimCase {\n  const char* name;\n  double weight_decay;\n"
          "  bool decay_all, nesterov, clip;\n  double max_norm;\n"
          "  std::vector<double> values;  // after three steps: the matrix, then the vector\n};\n")
    print("inline const std::vector<OptimCase>& optim_cases() {\n  static const std::vector<OptimCase> cases = {")
    for name, decay, *flags, max_norm in CASES:
        values = ", ".join(f"{v:.17g}" for v in run(name, decay, *flags, max_norm))
        print(f'      {{"{name}", {decay}, {", ".join(str(f).lower() for f in flags)}, {max_norm}, {{{values}}}}},')
    print("  };\n  return cases;\n}\n\n}  // namespace cpl::golden")


if __name__ == "__main__":
    main()

#!/usr/bin/env python3
# SPDX-FileCopyrightText: The Kiln authors
# SPDX-License-Identifier: Apache-2.0
"""What a library of tensors takes for the rows `ask` of `kiln bench bayes`: one iteration of Bayesian optimisation.

usage: botorch_iteration.py [DEVICE]

Prints milliseconds of BoTorch in double precision on DEVICE (default cuda): a SingleTaskGP with its default priors is
fitted to n evaluations, then LogEI (q = 1) or qLogEI (q > 1) is maximised from 10 starts out of 512 candidates, as in the
library's own tutorials. The median of five iterations after one to warm up; each adds the points that it suggests.
"""
import math
import statistics
import sys
import time

import botorch
import torch
from botorch.acquisition import LogExpectedImprovement, qLogExpectedImprovement
from botorch.fit import fit_gpytorch_mll
from botorch.models import SingleTaskGP
from botorch.models.transforms import Standardize
from botorch.optim import optimize_acqf
from botorch.test_functions import Ackley, Hartmann
from gpytorch.mlls import ExactMarginalLogLikelihood

# Function, its dimension, evaluations, points of a batch.
CASES = [("hartmann6", 6, 50, 1), ("ackley-10", 10, 1000, 1), ("hartmann6", 6, 60, 4)]
ITERATIONS = 5


def function_of(name, dimension, device):
    """On the unit cube, to be maximised."""
    function = Hartmann(dim=6, negate=True) if name == "hartmann6" else Ackley(dim=dimension, negate=True)
    function = function.to(device=device, dtype=torch.float64)
    lower, upper = function.bounds
    return lambda x: function(lower + (upper - lower) * x).unsqueeze(-1)


def suggest(x, y, q):
    model = SingleTaskGP(x, y, outcome_transform=Standardize(m=1))
    fit_gpytorch_mll(ExactMarginalLogLikelihood(model.likelihood, model))
    if q == 1:
        acquisition = LogExpectedImprovement(model, best_f=y.max())
    else:
        acquisition = qLogExpectedImprovement(model, best_f=y.max())
    unit = torch.stack([torch.zeros(x.shape[-1]), torch.ones(x.shape[-1])]).to(x)
    points, _ = optimize_acqf(acquisition, bounds=unit, q=q, num_restarts=10, raw_samples=512)
    return points


def measure(name, dimension, evaluations, q, device):
    function = function_of(name, dimension, device)
    torch.manual_seed(1)
    x = torch.rand(evaluations - q, dimension, dtype=torch.float64, device=device)
    y = function(x)
    milliseconds = []
    for _ in range(1 + ITERATIONS):
        if device.type == "cuda":
            torch.cuda.synchronize()
        begin = time.perf_counter()
        points = suggest(x, y, q)
        if device.type == "cuda":
            torch.cuda.synchronize()
        milliseconds.append(1e3 * (time.perf_counter() - begin))
        x, y = torch.cat([x, points]), torch.cat([y, function(points)])
    assert math.isfinite(float(y.max()))
    return statistics.median(milliseconds[1:])


def main():
    device = torch.device(sys.argv[1] if len(sys.argv) > 1 else "cuda")
    where = torch.cuda.get_device_name(device) if device.type == "cuda" else f"CPU, {torch.get_num_threads()} threads"
    print(f"botorch {botorch.__version__}, torch {torch.__version__}, {where}", flush=True)
    for name, dimension, evaluations, q in CASES:
        time_ms = measure(name, dimension, evaluations, q, device)
        print(f"{name}, n = {evaluations}, d = {dimension}, q = {q}: {time_ms:.0f} ms", flush=True)


if __name__ == "__main__":
    main()

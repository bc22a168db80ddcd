#!/usr/bin/env python3
# SPDX-FileCopyrightText: The Kiln authors
# SPDX-License-Identifier: Apache-2.0
"""What a tensor library makes of the case `logistic 5000 x 20` of `kiln bench kernels`: 4096 chains, 50 leapfrogs each.

usage: jax_logistic.py

Prints gradients per second of JAX, compiled as a whole, for each precision of products that it offers. One gradient a
leapfrog is counted, which is all that a trajectory needs. The median of seven runs after two to warm up.
"""
import statistics
import time

import jax
import jax.numpy as jnp

ROWS, COLUMNS, CHAINS, LEAPFROGS = 5000, 20, 4096, 50


def potential(weights, x, y):
    logits = weights @ x.T
    return jnp.sum(jnp.logaddexp(0.0, logits) - y * logits) + 0.5 * jnp.sum(weights * weights)


def trajectory(position, momentum, x, y, step):
    gradient = jax.grad(potential)

    def leapfrog(_, state):
        q, p = state
        q = q + step * p
        return q, p - step * gradient(q, x, y)

    return jax.lax.fori_loop(0, LEAPFROGS, leapfrog, (position, momentum))


def main():
    keys = jax.random.split(jax.random.PRNGKey(5), 4)
    x = jax.random.normal(keys[0], (ROWS, COLUMNS), dtype=jnp.float32)
    y = jax.random.bernoulli(keys[1], 0.5, (ROWS,)).astype(jnp.float32)
    position = 0.1 * jax.random.normal(keys[2], (CHAINS, COLUMNS), dtype=jnp.float32)
    momentum = jax.random.normal(keys[3], (CHAINS, COLUMNS), dtype=jnp.float32)
    step = jnp.float32(0.25 / ROWS**0.5)
    for precision in ("default", "high", "highest"):
        with jax.default_matmul_precision(precision):
            run = jax.jit(lambda q, p: trajectory(q, p, x, y, step))
            seconds = []
            for _ in range(9):
                begin = time.perf_counter()
                jax.block_until_ready(run(position, momentum))
                seconds.append(time.perf_counter() - begin)
        median = statistics.median(seconds[2:])
        rate = CHAINS * LEAPFROGS / median / 1e6
        print(f"jax {jax.__version__}, {jax.devices()[0].device_kind}, precision {precision}: {rate:.1f} million gradients per second")


if __name__ == "__main__":
    main()

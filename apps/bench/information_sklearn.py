#!/usr/bin/env python3
# SPDX-FileCopyrightText: The Kiln authors
# SPDX-License-Identifier: Apache-2.0
"""Times scikit-learn on the rows `mi` of `kiln bench information`: mutual information of two columns
with four neighbours. Needs numpy and scikit-learn."""
import json
import statistics
import time

import numpy
import sklearn
from sklearn.feature_selection import mutual_info_regression


def coupled(rows):
    random = numpy.random.default_rng(7)
    x, y = numpy.zeros(rows), numpy.zeros(rows)
    for t in range(1, rows):
        x[t] = 0.5 * x[t - 1] + random.normal()
        y[t] = 0.4 * y[t - 1] + 0.5 * x[t - 1] + random.normal()
    return x, y


for points in (10_000, 100_000):
    source, target = coupled(points)
    seconds = []
    for _ in range(5):
        begin = time.perf_counter()
        value = mutual_info_regression(source[:, None], target, n_neighbors=4, random_state=0)[0]
        seconds.append(time.perf_counter() - begin)
    print(json.dumps({"case": f"mi, {points:,} points", "scikit-learn": sklearn.__version__,
                      "value": value, "seconds": statistics.median(seconds)}))

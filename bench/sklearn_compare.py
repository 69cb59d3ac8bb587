#!/usr/bin/python3
"""Times the library's evaluations beside scikit-learn's, on the same features, in one run.

  bench/sklearn_compare.py build/release/bench/eval_times [--rows 10000] [--columns 512] [--threads 1]

Needs Debian's python3-sklearn. Both sides get the same number of threads and defaults: standardised features for the
probe (L2 = 1), one start of the mixture, ten of k-means, 1000 iterations of t-SNE.
"""
import argparse
import json
import os
import pathlib
import subprocess
import sys
import tempfile
import time

parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
parser.add_argument("program")
parser.add_argument("--rows", type=int, default=10000)
parser.add_argument("--columns", type=int, default=512)
parser.add_argument("--classes", type=int, default=10)
parser.add_argument("--threads", type=int, default=1)
parser.add_argument("--only", default="", help="names with commas, for instance 'AMI,k-means'")
options = parser.parse_args()
for name in "OMP_NUM_THREADS", "OPENBLAS_NUM_THREADS":
    os.environ[name] = str(options.threads)  # before NumPy is loaded

import numpy as np
from sklearn import metrics
from sklearn.cluster import KMeans
from sklearn.linear_model import LogisticRegression
from sklearn.manifold import TSNE, trustworthiness
from sklearn.mixture import GaussianMixture
from sklearn.pipeline import make_pipeline
from sklearn.preprocessing import StandardScaler

random = np.random.default_rng(0)
labels = random.integers(0, options.classes, options.rows)
# Overlapping classes, each of several parts, with a spectrum that falls off as embeddings' do.
spectrum = np.arange(1, options.columns + 1) ** -0.5
parts = labels * 20 + random.integers(0, 20, options.rows)
centres = random.normal(size=(20 * options.classes, options.columns)) * spectrum
x = (centres[parts] + random.normal(size=(options.rows, options.columns)) * spectrum).astype("float32")
# 25 codes for each part: 5,000 with ten classes.
order = np.argsort(parts, kind="stable")
rank = np.empty(options.rows, dtype=np.int64)
rank[order] = np.arange(options.rows) - np.searchsorted(parts[order], parts[order])
codes = parts * 25 + rank % 25

# What is timed, and what is then told of its result.
theirs = {
    "linear probe": (lambda: make_pipeline(StandardScaler(), LogisticRegression(max_iter=1000)).fit(x, labels),
                     lambda model: metrics.log_loss(labels, model.predict_proba(x))),
    "mixture of 200": (lambda: GaussianMixture(200, covariance_type="diag", random_state=0).fit(x),
                       lambda model: model.score(x)),
    "k-means": (lambda: KMeans(options.classes, n_init=10, random_state=0).fit(x), lambda model: model.inertia_),
    "AMI": (lambda: metrics.adjusted_mutual_info_score(labels, codes), lambda score: score),
    "t-SNE": (lambda: TSNE(init="pca", learning_rate="auto", random_state=0, n_jobs=options.threads).fit_transform(x),
              lambda planar: trustworthiness(x, planar, n_neighbors=5)),
}
with tempfile.TemporaryDirectory() as folder:
    paths = [str(pathlib.Path(folder, name)) for name in ("x.npy", "labels.npy", "codes.npy")]
    for path, array in zip(paths, (x, labels, codes)):
        np.save(path, array)
    ours = json.loads(subprocess.run([options.program, *paths, str(options.threads), options.only], check=True,
                                     stdout=subprocess.PIPE).stdout)
print(f"{options.rows} x {options.columns}, {options.threads} threads\n")
print("| what | cplearn | scikit-learn | ratio | results |\n|---|---|---|---|---|")
for name, (work, tell) in theirs.items():
    if options.only and name not in options.only.split(","):
        continue
    start = time.perf_counter()
    result = work()
    took = time.perf_counter() - start
    mine, result = ours[name], tell(result)
    print(f"| {name} | {mine['seconds']:.3g} s | {took:.3g} s | {took / mine['seconds']:.1f} "
          f"| {mine['result']:.6g}, {float(result):.6g} |", flush=True)

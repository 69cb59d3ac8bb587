#!/usr/bin/python3
"""Writes eval_golden.json: what scikit-learn says of small clusterings, classifiers and mixtures.

Needs Debian's python3-sklearn. The inputs are stored with the results (labels) or made from a
formula that the tests repeat (features), so that both sides see the same numbers.
"""
import json
import pathlib

import numpy as np
import sklearn
from scipy.optimize import linear_sum_assignment
from sklearn import metrics
from sklearn.linear_model import LogisticRegression
from sklearn.neighbors import KNeighborsClassifier


def hungarian(clusters, classes):
    table = metrics.cluster.contingency_matrix(clusters, classes)
    rows, columns = linear_sum_assignment(-table)
    return table[rows, columns].sum() / len(classes)


def purity(clusters, classes):
    return metrics.cluster.contingency_matrix(clusters, classes).max(1).sum() / len(classes)


def scores(name, clusters, classes):
    table = metrics.cluster.contingency_matrix(clusters, classes, sparse=True)
    return {"name": name, "clusters": [int(x) for x in clusters], "classes": [int(x) for x in classes],
            "mi": metrics.mutual_info_score(clusters, classes),
            "emi": metrics.cluster.expected_mutual_information(table, len(classes)),
            "nmi": metrics.normalized_mutual_info_score(classes, clusters),
            "ami": metrics.adjusted_mutual_info_score(classes, clusters),
            "ari": metrics.adjusted_rand_score(classes, clusters),
            "purity": purity(clusters, classes), "accuracy": hungarian(clusters, classes)}


def clusterings():
    random = np.random.default_rng(3)
    classes = random.integers(0, 10, 1000)
    yield scores("random, 16384 codes", random.integers(0, 16384, 1000), classes)
    yield scores("random, 50 clusters", random.integers(0, 50, 1000), classes)
    noisy = np.where(random.random(1000) < 0.3, random.integers(0, 10, 1000), (classes + 3) % 10)
    yield scores("classes with noise, renamed", noisy, classes)
    yield scores("split classes", classes * 7 + random.integers(0, 7, 1000), classes)
    yield scores("merged classes", classes // 3, classes)
    skewed = (100 * random.random(600) ** 4).astype(int)
    yield scores("skewed sizes", skewed, (skewed // 20 + (random.random(600) < 0.4)))
    yield scores("one cluster", np.zeros(40, int), np.arange(40) % 4)
    yield scores("one class", np.arange(40) % 4, np.zeros(40, int))
    yield scores("one of both", np.zeros(9, int), np.zeros(9, int))
    yield scores("perfect", [5, 5, -2, -2, 7], [0, 0, 1, 1, 2])
    yield scores("three points", [0, 1, 1], [0, 0, 1])


def features(rows, columns, classes):
    """Overlapping classes from an integer hash (uint32, as in the tests): exact in float32."""
    i, j = np.mgrid[0:rows, 0:columns].astype(np.uint32)
    def noise(salt):
        x = (i * np.uint32(columns) + j + np.uint32(salt)) * np.uint32(2654435761)
        x ^= x >> np.uint32(15)
        x *= np.uint32(2246822519)
        x ^= x >> np.uint32(13)
        return (x >> np.uint32(16)).astype(np.float32) / np.float32(65536)
    labels = (np.arange(rows) * 5 + np.arange(rows) // 7) % classes
    centre = ((labels[:, None] * 31 + np.arange(columns)[None] * 17) % 13).astype(np.float32)
    return (noise(1) + noise(100003) + noise(200003)) * 4 + centre * np.float32(0.125), labels


def logistic():
    x, y = features(1200, 20, 6)
    x = x.astype(np.float64)
    train, test = x[:800], x[800:]
    mean, std = train.mean(0), train.std(0)
    model = LogisticRegression(tol=1e-10, max_iter=5000).fit((train - mean) / std, y[:800])
    probability = model.predict_proba((test - mean) / std)
    loss = metrics.log_loss(y[:800], model.predict_proba((train - mean) / std))
    top = np.argsort(-probability, 1)[:, :5]
    return {"rows": 1200, "train": 800, "columns": 20, "classes": 6,
            "top1": float((top[:, 0] == y[800:]).mean()),
            "top5": float((top == y[800:, None]).any(1).mean()), "train_loss": loss,
            "probability": probability[:5].tolist()}


def neighbours():
    x, y = features(1200, 20, 6)
    x -= np.float32(6.75)  # about the mean, so that cosines spread
    model = KNeighborsClassifier(20, metric="cosine", weights=lambda d: np.exp((1 - d) / 0.07))
    model.fit(x[:800].astype(np.float64), y[:800])
    return {"predicted": model.predict(x[800:].astype(np.float64)).tolist()}


golden = {"made_by": f"scikit-learn {sklearn.__version__}, NumPy {np.__version__}",
          "clusterings": list(clusterings()), "logistic": logistic(), "neighbours": neighbours()}
path = pathlib.Path(__file__).with_suffix(".json")
path.write_text(json.dumps(golden, separators=(",", ":")) + "\n")
print(path, path.stat().st_size, "bytes")

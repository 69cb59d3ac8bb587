#!/usr/bin/python3
"""Writes map_golden.json: how trustworthy scikit-learn's t-SNE is, and its trustworthiness of plain maps.

Needs Debian's python3-sklearn. Features are those of eval_golden.py, made from a formula that the tests repeat.
"""
import ast
import json
import pathlib

import numpy as np
import sklearn
from sklearn.decomposition import PCA
from sklearn.manifold import TSNE, trustworthiness

# features() of the other script, without running that script.
source = ast.parse(pathlib.Path(__file__).with_name("eval_golden.py").read_text())
exec(compile(ast.Module([node for node in source.body if getattr(node, "name", "") == "features"], []), "", "exec"))


def case(rows, columns, classes):
    x, _ = features(rows, columns, classes)
    x = x.astype(np.float64)
    map_ = TSNE(init="pca", learning_rate="auto", random_state=0).fit_transform(x.astype(np.float32))
    return {"rows": rows, "columns": columns, "classes": classes,
            "columns_0_1": trustworthiness(x, x[:, :2]), "pca": trustworthiness(x, PCA(2, svd_solver="full").fit_transform(x)),
            "pca_row_0": np.abs(PCA(2, svd_solver="full").fit_transform(x)[0]).tolist(),
            "tsne": trustworthiness(x, map_), "tsne_20": trustworthiness(x, map_, n_neighbors=20)}


golden = {"made_by": f"scikit-learn {sklearn.__version__}, NumPy {np.__version__}",
          "cases": [case(300, 20, 10), case(1500, 30, 10)]}
path = pathlib.Path(__file__).with_suffix(".json")
path.write_text(json.dumps(golden, separators=(",", ":")) + "\n")
print(path, path.stat().st_size, "bytes")

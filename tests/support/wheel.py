"""What tools/release.sh runs in an environment that a wheel was installed into: prints the versions that it worked with."""
import importlib.util
import sys

import melicit
import numpy as np

rng = np.random.default_rng(1)
x = rng.normal(size=(600, 1))
y = (x[:, 0] + rng.normal(size=600) > 0).astype(int)
p = 1 / (1 + np.exp(-2 * x[:, 0]))
problem = melicit.Problem.from_proba(y, p)
wanted = melicit.Metric.from_costs({"missed": 7, "false-alarm": 1})
ratio = melicit.Session(problem, for_people=False, tolerance=0.01).simulate(wanted).metric.cost_ratio[0]
assert 6.5 < ratio < 7.5, ratio
used = [f"Python {sys.version.split()[0]}", f"NumPy {np.__version__}"]
if importlib.util.find_spec("sklearn"):
    import pandas
    import sklearn
    from sklearn.model_selection import cross_val_score

    model = melicit.MetricClassifier(metric=wanted, pos_label=1).fit(pandas.DataFrame(x, columns=["x"]), y)
    assert 0 < model.thresholds_ < 0.5, model.thresholds_
    assert np.isfinite(cross_val_score(model, x, y, cv=3)).all()
    used += [f"scikit-learn {sklearn.__version__}", f"pandas {pandas.__version__}"]
print(", ".join(used))

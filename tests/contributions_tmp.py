import sys; sys.path.insert(0,'tests')
import numpy as np
from hypothesis import given, settings, strategies as st
from strategies import forests, rows_of
from oracles.contributions import shapley
from hedgerow._core import contribute, expected_values
KINDS=("threshold","one_against_rest","subset","multiway")
@st.composite
def cases(draw):
    f=draw(forests(splits=KINDS,max_trees=2)); return f, draw(rows_of(f,max_rows=3)), draw(rows_of(f,max_rows=2))
@settings(max_examples=150, deadline=None)
@given(cases(), st.booleans(), st.integers(0,5))
def check(case, inter, seed):
    f,X,B=case
    v=np.random.default_rng(seed).normal(size=(f.n_leaves,2))
    for bg in (None,B):
        base, *_ = shapley(f,v,X[0],bg)
        ex=expected_values(f.core_with_weight,v)
        if bg is None: np.testing.assert_allclose(ex,base,atol=1e-12)
        out=np.zeros((len(X),f.n_features,2)); pairs=np.zeros((len(X),f.n_features,f.n_features,2)) if inter else None
        contribute(f.core_with_weight,X,bg,v,out,pairs,1)
        for i,x in enumerate(X):
            b,phi,pr=shapley(f,v,x,bg)
            np.testing.assert_allclose(out[i],phi,atol=1e-11)
            if inter: np.testing.assert_allclose(pairs[i],pr,atol=1e-11)
check(); print("ok")

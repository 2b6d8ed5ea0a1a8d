"""What tests of widthwise.jax share: the module, or why it is not there."""

import numpy as np
import pytest
import widthwise as ww

try:
    import jax
    import jax.numpy as jnp
    import widthwise.jax as wj
    from widthwise.jax import _xla
except ImportError:
    jax = jnp = wj = _xla = None

# Case by case: a module that is skipped as it is collected tells the record no reason.
NEEDED = pytest.mark.skipif(jax is None, reason="jax is large: --long installs it")


@pytest.fixture(params=["xla", "callback"])
def way(request, monkeypatch):
    """Both ways there are, the first where the build found jaxlib's headers."""
    if request.param == "xla" and not _xla.registered():
        pytest.skip("the package was built without jaxlib's headers: ./dev build finds them")
    monkeypatch.setattr(_xla, "usable", lambda: request.param == "xla")
    return request.param


def drawn(*shape, seed=0, dtype=np.float32):
    return np.random.default_rng(seed).standard_normal(shape).astype(dtype)


def same(got, want):
    """Bits of numbers, signs of zeros included; NaN is NaN."""
    got = np.asarray(got).astype(np.float64)
    want = np.asarray(want.to_float64() if isinstance(want, ww.Array) else want, np.float64)
    assert got.shape == want.shape
    got, want = np.where(np.isnan(got), np.nan, got), np.where(np.isnan(want), np.nan, want)
    np.testing.assert_array_equal(got.view(np.uint64), want.view(np.uint64))

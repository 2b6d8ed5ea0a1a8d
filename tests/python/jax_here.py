"""What tests of widthwise.jax share: the module, or why it is not there."""

import pytest

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

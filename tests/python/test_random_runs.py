"""The user's own random bits in cumulative sums and convolutions."""

import numpy as np
import pytest
import widthwise as ww
from random_words import SLOTS, UNITS, generated
from widthwise._workplace import Workplace

FINALS = ["mac(e4m3fn, sum=e5m10:sr20, promote=4:binary32:sr3, final=e4m3fn:sr40)"]


def drawn_words(u, k, seed, outputs, running=False):
    """The generator's own words of every port, at the steps where it draws them."""
    return {
        name: np.stack([generated(seed, bits, outputs, SLOTS[name], s) for s in steps], -1)
        for name, (bits, steps) in u._random_steps(k, running).items()
    }


@pytest.mark.parametrize("unit", [u for u in UNITS if "b=" not in u])
@pytest.mark.parametrize("k", [1, 5, 9])
def test_cumulative_sums_by_the_generators_words_are_the_seeds(unit, k):
    u, seed, rows = ww.Unit(unit), 5, 12
    rng = np.random.default_rng(k)
    x = ww.array(rng.standard_normal((rows, k)) * 2.0 ** rng.integers(-6, 6, (rows, k)), u.a)
    words = drawn_words(u, k, seed, rows, running=True)
    if not words:
        assert unit.startswith(("tree", "pairwise")) and k == 1
        return
    ports = {
        name: (u.random_ports(k, running=True)[name][0], w.shape[1]) for name, w in words.items()
    }
    assert ports == u.random_ports(k, running=True)
    c = ww.array(np.linspace(-1, 1, rows), u.c)
    z, raised = ww.cumsum(x, unit=u, c=c, random=words, flags=True)
    y, wanted = ww.cumsum(x, unit=u, c=c, seed=seed, flags=True)
    np.testing.assert_array_equal(z.bits, y.bits)
    np.testing.assert_array_equal(raised, wanted)
    z = ww.cumsum(x.T, unit=u, axis=0, random=words)
    np.testing.assert_array_equal(z.bits, ww.cumsum(x.T, unit=u, axis=0, seed=seed).bits)
    other = ww.cumsum(x, unit=u, seed=seed + 1)
    rounds = k == 9 and "e15m112" not in unit  # doubles' sums, which have few digits more
    assert not rounds or (other.bits != ww.cumsum(x, unit=u, seed=seed).bits).any()


def test_a_cumulative_sum_is_each_sum_by_its_words():
    u = ww.Unit("mac(e5m10, sum=e5m10:sr8)")
    x = ww.array([2048.0] + [1.0] * 6, "e5m10")
    words = np.array([0, 127, 128, 128, 0, 255, 200])  # 2048 + 1 lies half way
    z = ww.cumsum(x, unit=u, random=words)
    assert z.to_float64().tolist() == [2048, 2048, 2050, 2052, 2052, 2054, 2056]
    for i in range(1, 8):
        assert ww.sum(x[:i], unit=u, random=words[:i]).bits == z.bits[i - 1]


@pytest.mark.parametrize(
    "unit",
    [
        "mac(e5m10, sum=e5m10:sr8)",
        "mac(e4m3fn, b=e5m2, product=e4m3fn:sr5, sum=e5m10:sr13)",
        *FINALS,
    ],
)
@pytest.mark.parametrize("groups, padding", [(1, 0), (2, 1)])
def test_convolutions_by_the_generators_words_are_the_seeds(unit, groups, padding):
    u, seed = ww.Unit(unit), 17
    rng = np.random.default_rng(3)
    x = ww.array(rng.standard_normal((2, 4, 6, 5)), u.a)
    w = ww.array(rng.standard_normal((6, 4 // groups, 3, 2)), u.b)
    c = ww.array(rng.standard_normal(6), u.c)
    how = {"unit": u, "c": c, "groups": groups, "padding": padding, "flags": True}
    y, wanted = ww.conv2d(x, w, seed=seed, **how)
    k = 4 // groups * 6
    words = drawn_words(u, k, seed, y.size)
    shaped = {name: each.reshape(*y.shape, -1) for name, each in words.items()}
    given = shaped if len(shaped) > 1 else next(iter(shaped.values()))
    z, raised = ww.conv2d(x, w, random=given, **how)
    np.testing.assert_array_equal(z.bits, y.bits)
    np.testing.assert_array_equal(raised, wanted)
    one = {name: each[0] for name, each in shaped.items()}
    z, _ = ww.conv2d(x[0], w, random=one, **how)
    np.testing.assert_array_equal(z.bits, y.bits[0])
    signals = {name: each[..., 0, :, :] for name, each in shaped.items()}
    line, kernel = x[..., 0, :], w[..., 0, :]
    first = {**how, "flags": False}
    y = ww.conv1d(line, kernel, seed=seed, **first)
    words = drawn_words(u, 4 // groups * 2, seed, y.size)
    signals = {name: each.reshape(*y.shape, -1) for name, each in words.items()}
    np.testing.assert_array_equal(ww.conv1d(line, kernel, random=signals, **first).bits, y.bits)
    own = {name: each[0] for name, each in signals.items()}
    np.testing.assert_array_equal(ww.conv1d(line[0], kernel, random=own, **first).bits, y.bits[0])


def test_a_convolution_rounds_by_the_word_it_is_given():
    x, w = ww.array([[2048.0, 1.0, 2048.0]], "e5m10"), ww.array([[[1.0, 1.0]]], "e5m10")
    u = "dot(e5m10, lanes=2, align=20:rtz, out=e5m10:sr8)"
    words = np.array([[[127], [128]]])
    assert ww.conv1d(x, w, unit=u, random=words).to_float64().tolist() == [[2048, 2050]]
    assert ww.conv1d(x, w, unit=u, random=words[:, ::-1]).to_float64().tolist() == [[2050, 2048]]


@pytest.mark.parametrize(
    "how, error, message",
    [
        ({"random": 256}, ValueError, "takes 8 random bits, 0 to 255"),
        ({"random": 1, "seed": 3}, ValueError, "random and seed = 3 are given"),
        ({"random": [1, 2, 3]}, ValueError, "does not|have shape"),
        ({"random": 1, "unit": "mac(e5m10)"}, ValueError, "rounds nothing stochastically"),
    ],
)
def test_wrong_words_of_sums_and_convolutions_are_refused(how, error, message):
    x = ww.array([[1.0, 2.0], [3.0, 4.0]], "e5m10")
    how = {"unit": "mac(e5m10, sum=e5m10:sr8)"} | how
    with pytest.raises(error, match=message):
        ww.cumsum(x, **how)
    with pytest.raises(error, match=message):
        ww.conv1d(x, ww.ones((1, 2, 2), "e5m10"), **how)


def test_the_reference_alone_convolves_by_words():
    x = ww.ones((1, 3), "e5m10")
    with pytest.raises(ValueError, match="the reference alone takes the user's bits"):
        ww.conv1d(
            x,
            ww.ones((1, 1, 2), "e5m10"),
            unit="mac(e5m10, sum=e5m10:sr8)",
            random=1,
            engine="integers",
        )


def test_words_for_operands_on_a_gpu_are_refused(monkeypatch):
    x, u = ww.ones((1, 3), "e5m10"), "mac(e5m10, sum=e5m10:sr8)"
    monkeypatch.setattr(Workplace, "of", classmethod(lambda cls, named: cls(0)))
    way_out = r"a GPU, which draws by seed; bring them here with .to_device\('cpu'\)"
    with pytest.raises(ValueError, match=way_out):
        ww.cumsum(x, unit=u, random=1)
    with pytest.raises(ValueError, match=way_out):
        ww.conv1d(x, ww.ones((1, 1, 2), "e5m10"), unit=u, random=1)

"""ww.like: which package's results a call gives."""

import contextvars
import threading

import pytest
import widthwise as ww
from widthwise._like import like_whom


def test_a_keyword_wins_over_the_innermost_context():
    allowed = ["notebook", "fork"]
    assert like_whom(None, allowed) is None
    with ww.like("notebook"):
        assert like_whom(None, allowed) == "notebook" and like_whom("fork", allowed) == "fork"
        with ww.like("fork"):
            assert like_whom(None, allowed) == "fork"
        with ww.like("qtorch"):
            assert like_whom(None, allowed) is None  # which is not what these functions know
        assert like_whom(None, allowed) == "notebook"
    assert like_whom(None, allowed) is None


def test_a_context_ends_with_an_error_and_can_be_entered_again():
    fork = ww.like("fork")
    with pytest.raises(KeyError), fork:
        raise KeyError
    assert like_whom(None, ["fork"]) is None
    with fork, fork:
        assert like_whom(None, ["fork"]) == "fork"
    assert like_whom(None, ["fork"]) is None


def test_a_context_is_of_one_thread_alone():
    seen = []
    with ww.like("fork"):
        other = threading.Thread(target=lambda: seen.append(like_whom(None, ["fork"])))
        other.start()
        other.join()
        copied = contextvars.copy_context().run(like_whom, None, ["fork"])
    assert seen == [None] and copied == "fork"


def test_an_unknown_name_is_told_those_there_are():
    with pytest.raises(ValueError, match="like = 'Fork': it may be 'qtorch' or 'fork' or"):
        ww.like("Fork")
    with pytest.raises(ValueError, match="like = 'fork': it may be 'notebook', and 'fork'"):
        like_whom("fork", ["notebook"])

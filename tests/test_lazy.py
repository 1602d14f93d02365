"""Attributes that are computed when they are first asked for."""

from __future__ import annotations

from threading import Event, Thread

from hedgerow._lazy import lazy


class Slow:
    def __init__(self) -> None:
        self.started, self.may_finish, self.n_computed = Event(), Event(), 0

    @lazy
    def value(self) -> object:
        """What takes long."""
        self.n_computed += 1
        self.started.set()
        self.may_finish.wait(60)
        return object()


def test_a_value_is_computed_once_and_documented() -> None:
    slow = Slow()
    slow.may_finish.set()
    assert slow.value is slow.value
    assert slow.n_computed == 1
    assert Slow.value.__doc__ == "What takes long."


def test_one_instance_does_not_wait_for_another() -> None:
    busy, idle = Slow(), Slow()
    idle.may_finish.set()
    thread = Thread(target=lambda: busy.value)
    thread.start()
    assert busy.started.wait(60)
    asked = Thread(target=lambda: idle.value, daemon=True)
    asked.start()
    asked.join(30)
    waited = asked.is_alive()
    busy.may_finish.set()
    thread.join()
    assert not waited


def test_threads_that_ask_at_the_same_time_are_given_one_value() -> None:
    slow, found = Slow(), []
    threads = [Thread(target=lambda: found.append(slow.value)) for _ in range(2)]
    for thread in threads:
        thread.start()
    slow.may_finish.set()
    for thread in threads:
        thread.join()
    assert found[0] is found[1]

"""Side by side in one process: interleaved, best of several, so that noise hits all alike."""

import statistics
import time
from collections.abc import Callable, Mapping


def best_of(
    jobs: Mapping[str, Callable[[], object]], rounds: int, clock: Callable[[], float] = time.perf_counter
) -> dict[str, float]:
    """Least seconds of each job over `rounds` rounds; in a round every job runs once, in turn."""
    best = dict.fromkeys(jobs, float("inf"))
    for _ in range(rounds):
        for name, job in jobs.items():
            start = clock()
            job()
            best[name] = min(best[name], clock() - start)
    return best


def median_latency(
    jobs: Mapping[str, Callable[[int], object]], calls: Mapping[str, int], rounds: int
) -> dict[str, float]:
    """Median seconds of a call, least of `rounds` rounds; in a round each job gets its number of calls in a row."""
    best = dict.fromkeys(jobs, float("inf"))
    for _ in range(rounds):
        for name, job in jobs.items():
            taken = []
            for i in range(calls[name]):
                start = time.perf_counter()
                job(i)
                taken.append(time.perf_counter() - start)
            best[name] = min(best[name], statistics.median(taken))
    return best


def print_ratios(title: str, seconds: Mapping[str, float], peer: str) -> None:
    """A table of times, with each one's advantage over the peer."""
    print(f"\n{title}")
    for name, taken in seconds.items():
        print(f"  {name:<44} {taken * 1e3:10.3f} ms   {seconds[peer] / taken:8.2f} x {peer}")

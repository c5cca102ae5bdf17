"""Every benchmark, a row each: its name, its module, how long it takes on two cores, and what its table says."""

from __future__ import annotations

from typing import NamedTuple


class Benchmark(NamedTuple):
    """One row.

    Attributes:
        name: after `python -m benchmarks`.
        module: below this folder; its ``main(options)`` prints the table.
        minutes: about how many it takes with no options.
        says: what the table says.
    """

    name: str
    module: str
    minutes: float
    says: str


CATALOGUE = (
    Benchmark("summary", "summary", 0.05, "summary tables of the kept results, from their CSV files"),
    Benchmark("outcomes", "outcomes", 45, "error and intervals whatever outcomes are like, beside peers"),
    Benchmark("inputs", "inputs", 30, "error and intervals wherever inputs stand, and for rough curves"),
    Benchmark("random_worlds", "random_worlds", 6, "error and intervals in worlds that nobody had in mind"),
    Benchmark("fit", "fit", 5, "whether a release notices that its models are wrong, and only then"),
    Benchmark("people", "people", 1, "what a promise to people with several rows costs"),
    Benchmark("groups", "groups", 8, "what groups gain by being released together"),
    Benchmark("dates", "dates", 8, "whether a season is seen, with and without its period declared"),
    Benchmark("bounds", "bounds", 10, "bounds that are bought: who is outside, and what they cost"),
    Benchmark("bayes_tables", "bayes.tables", 15, "Bayes beside refined cloaking: held-out error, wrong settings"),
    Benchmark("bayes_inputs", "bayes.inputs", 6, "the same with private inputs; seconds of a release"),
    Benchmark("bayes_unseen", "bayes.unseen", 15, "the same on tables of other fields"),
    Benchmark("bayes_several_inputs", "bayes.several_inputs", 5, "two and three inputs, of which one or all matter"),
    Benchmark("bayes_ends", "bayes.ends", 3, "error and intervals at a mass at an end, on a plateau, and at kinks"),
    Benchmark("coverage", "coverage", 5, "how often the intervals of every mechanism hold"),
    Benchmark("sparse_tables", "sparse_tables", 5, "sparse DP-GP: error, intervals, seconds"),
    Benchmark("citibike_table", "citibike.table", 2, "Table 1 of Smith et al. 2018: cloaking and bins on journeys"),
    Benchmark("excursion_tables", "excursion.tables", 5, "what privacy costs an excursion set"),
    Benchmark("audit_releases", "audit_releases", 8, "a linear attack on released zips: less than is claimed"),
    Benchmark("null_space", "attacks.null_space", 20, "what a score of all digits sees: no more than is promised"),
    Benchmark("lira", "attacks.lira", 0.1, "membership attack on posterior sampling, beside the published script"),
    Benchmark("scale", "scale", 2, "seconds and memory of C and its noise up to a million records"),
    Benchmark("latency_browser", "server.latency_browser", 10, "how long a visitor waits for every control"),
    Benchmark("first_visit", "server.first_visit", 5, "how long a page's first visitor waits"),
    Benchmark("first_results", "server.first_results", 1, "what pages open with, kept in a file anew"),
    Benchmark(
        "own_tables",
        "server.own_tables",
        8,
        "tables as people have them, from file to zip: actions, seconds, questions",
    ),
    Benchmark("load", "server.load", 2, "many sessions at once; --table: walks beside their targets, 15 minutes"),
)
BY_NAME = {each.name: each for each in CATALOGUE}

"""grid.py ROOT: estimates a small model over a grid of extreme sizes and facts. Each is
refused in one message, or all its numbers are finite and no less than nothing; what a
workload does not have is absent, with the reason."""

import itertools
import json
import math
import re
import subprocess
import sys

root = sys.argv[1]
model = f"{root}/examples/tiny-llama.toml"
HUGE = 1 << 30
targets = itertools.cycle(["b200", "h200", "mi300x", "mi355x"])
weights = itertools.cycle(["bf16", "fp8", "mxfp4"])
ranks = itertools.cycle([1, 2, 4])
# The ends of what the table of facts takes, and numbers beyond.
facts = ["price.per_hour.hyperscaler=1e6 $/h", "price.per_hour.hyperscaler=0 $/h",
         "power.pue=100", "power.idle=0 W", "power.tdp=1e7 W", "launch.gap=1e4 s",
         "memory.bandwidth=1 B/s", "memory.bandwidth=1e18 B/s", "clock.boost=1 Hz",
         "clock.boost=1e12 Hz", "power.per_byte_memory=1 J/B", "efficiency.read=1e-6"]
beyond = ["price.per_hour.hyperscaler=1e24 $/h", "power.pue=1e24", "power.tdp=1e-20 W",
          "launch.gap=1e20 s", "memory.bandwidth=1e-20 B/s", "memory.bandwidth=1e24 B/s",
          "clock.boost=1e-20 Hz", "clock.boost=1e24 Hz", "power.per_byte_memory=1e24 J/B",
          "efficiency.read=1e-20", "memory.bandwidth=1e300 B/s"]


def refuse(constant):
    raise ValueError(f"{constant} is no JSON")


def numbers(value, path=""):
    if isinstance(value, dict):
        for key, inner in value.items():
            yield from numbers(inner, f"{path}/{key}")
    elif isinstance(value, list):
        for inner in value:
            yield from numbers(inner, path)
    elif not isinstance(value, (str, bool)):
        yield path, value


def run(*options):
    command = ["modelc", model, *options]
    return subprocess.run(command, capture_output=True, text=True), " ".join(command)


def check_estimate(text, command, osl):
    estimate = json.loads(text, parse_constant=refuse)
    for path, value in numbers(estimate):
        assert math.isfinite(value) and value >= 0, (command, path, value)
    for view in ("bound", "expectation"):
        for batching in ("in_flight", "static"):
            has = "mean_tpot_ms" in estimate[view][batching]
            assert has == (osl > 1), (command, view, batching)
            assert estimate[view][batching]["output_throughput"] > 0, command
        assert estimate[view]["input_throughput"] > 0, command
    assert (osl > 1) == ("tpot" not in estimate["absent"]), command
    assert all(estimate["absent"].values()), command


def check(options, osl):
    done, command = run(*options, "--json")
    if done.returncode != 0:
        # In words, without a number that has wrapped around.
        assert done.returncode in (1, 3), (command, done)
        assert len(re.findall("error:", done.stderr)) == 1, (command, done.stderr)
        assert not re.search(r" -\d|\bnan\b|\binf\b", done.stderr), done.stderr
        return 0
    check_estimate(done.stdout, command, osl)
    for form in ([], ["--csv"]) if "--isl=1000" in options else ():
        printed, command = run(*options, *form)
        assert printed.returncode == 0, command
        assert not re.search(r"\b-?(nan|inf)\b(?!-)", printed.stdout), command
    return 1


estimated = 0
for isl, osl, batch in itertools.product([1, 1000, 100_000], [1, 2, 3, 5000], [1, 7, 3000]):
    options = [f"--isl={isl}", f"--osl={osl}", f"--batch={batch}", f"--tp={next(ranks)}",
               f"--target={next(targets)}", f"--weights={next(weights)}"]
    estimated += check(options, osl)
for isl, osl, batch in [(HUGE, 1, 1), (1, HUGE, 1), (1, 1, HUGE), (HUGE, HUGE, HUGE)]:
    options = [f"--isl={isl}", f"--osl={osl}", f"--batch={batch}", "--target=b200"]
    assert check(options, osl) == 0, options
for fact in facts:
    estimated += check(["--isl=100", "--osl=10", "--target=h200", f"--set={fact}"], 10)
for fact in beyond:
    assert check(["--isl=100", "--osl=10", "--target=h200", f"--set={fact}"], 10) == 0, fact
print("estimated", estimated)

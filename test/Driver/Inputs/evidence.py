"""Holds the evidence of every kernel of packages against what must be so."""

import json
import os
import sys

KEYS = [
    "sizes",
    "registers",
    "workgroups_per_unit",
    "limited_by",
    "trip",
    "memory_bytes",
    "fraction_of_peak",
    "peak_of",
    "limit",
]


def reason_against(kernel):
    evidence = kernel.get("evidence", {})
    if list(evidence) != KEYS:
        return f"expected {KEYS}, got {list(evidence)}"
    for guard in kernel["guard"]:
        size = evidence["sizes"].get(guard["size"])
        ranges = guard["ranges"]
        if size is None or not any(r["minimum"] <= size <= r["maximum"] for r in ranges):
            return f"a size that its guard refuses: {guard['size']} = {size}"
    if not 0 <= evidence["fraction_of_peak"] <= 1:
        return f"beyond the peak: {evidence['fraction_of_peak']}"
    memory = evidence["memory_bytes"]
    if not 0 <= memory["least"] <= memory["moved"] * 1.001:
        return f"moved less than the least: {memory}"
    if evidence["workgroups_per_unit"] < 1 or evidence["registers"] < 1:
        return "nothing fits"
    if evidence["trip"]["bank_conflict_clocks"] < 0:
        return "conflicts that give time back"
    return ""


def reason_against_ranges(kernels):
    """The kernels of a linear together serve every number of rows, one each."""
    served = {}
    for kernel in kernels:
        if kernel["op"].startswith("linear_") and not kernel["op"].endswith("_reduce"):
            for guard in kernel["guard"]:
                pairs = [(r["minimum"], r["maximum"]) for r in guard["ranges"]]
                served.setdefault(kernel["op"], []).extend(pairs)
    if not served:
        return "no linears"
    for op, pairs in served.items():
        last = 0
        for minimum, maximum in sorted(pairs):
            if minimum != last + 1:
                return f"{op}: {minimum} rows follow {last}"
            last = maximum
        if last < 256:
            return f"{op}: at most {last} rows"
    return ""


def multiplies(kernel):
    return kernel["evidence"]["trip"]["matrix_instructions"] > 0


for folder in sys.argv[1:]:
    with open(os.path.join(folder, "manifest.json"), encoding="utf-8") as file:
        kernels = json.load(file)["kernels"]
    reason = reason_against_ranges(kernels)
    if reason:
        sys.exit(f"{folder}: {reason}")
    for kernel in kernels:
        reason = reason_against(kernel)
        if reason:
            sys.exit(f"{folder}: {kernel['symbol']}: {reason}")
        if kernel["symbol"].startswith(("attention_prefill", "attention_decode")):
            assert multiplies(kernel), kernel["symbol"]
    count = sum(map(multiplies, kernels))
    print(f"{os.path.basename(folder)}: {len(kernels)} kernels, {count} multiply")

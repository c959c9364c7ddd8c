"""opens.py FOLDER: `explain` opens every op that the estimate lists, gives a sum
that agrees with it, and names facts with their sources."""

import json
import re
import subprocess
import sys

UNITS = {"s": 1, "ms": 1e-3, "us": 1e-6, "ns": 1e-9}

folder = sys.argv[1]
with open(f"{folder}/estimate.json") as file:
    estimate = json.load(file)
opened = 0
for phase in ("prefill", "decode"):
    for row in estimate[phase]["ops"]:
        command = ["modelc", "explain", folder, row["op"], f"--phase={phase}"]
        text = subprocess.run(
            command, check=True, capture_output=True, text=True
        ).stdout
        seconds = 0
        for value, unit in re.findall(r" = ([\d.]+) (\w+) of ", text):
            seconds += float(value) * UNITS[unit]
        assert abs(seconds - row["expectation_s"]) <= 2e-3 * seconds, (row, text)
        assert re.search(r"^energy: [\d.]+ \w?J = ", text, re.M), text
        facts = re.findall(r"^  [\w.]+ = .* \((\w+): (.+)\)$", text, re.M)
        assert facts, text
        for grade, source in facts:
            assert grade in ("datasheet", "measured", "derived", "assumed"), text
        opened += 1
print("opened", opened)

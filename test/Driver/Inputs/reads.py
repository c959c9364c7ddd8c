"""reads.py json|csv FILE: reads an estimate as another program would."""

import csv
import json
import sys

with open(sys.argv[2]) as file:
    if sys.argv[1] == "json":
        estimate = json.load(file)
        assert estimate["expectation"]["mean_ttft_ms"] > 0, estimate
        print(estimate["model"], estimate["hw"], estimate["tp"])
    else:
        rows = list(csv.DictReader(file))
        for phase in ("prefill", "decode"):
            share = sum(float(row["share"]) for row in rows if row["phase"] == phase)
            assert abs(share - 1) < 1e-2, (phase, share)
            print(phase, "is whole")

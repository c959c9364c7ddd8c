"""exact.py CONFIG SCRATCH: bases and factors of RoPE that are hard to print, through a schedule and exported TOML."""

import json
import pathlib
import random
import re
import subprocess
import sys
import tomllib

HARD = [10000.000000000002, 1e6 / 3, 123456789.01234567, 1e22, 9007199254740993.0, 1.0000000000000002]


def run(*command):
    return subprocess.run(command, capture_output=True, text=True, check=True).stdout


def main():
    config, scratch = json.loads(pathlib.Path(sys.argv[1]).read_text()), pathlib.Path(sys.argv[2])
    scratch.mkdir(exist_ok=True)
    seeded, same = random.Random(20), 0
    for theta in HARD:
        factor = 1 + seeded.random() * 31
        config["rope_theta"], config["rope_scaling"]["factor"] = theta, factor
        (scratch / "config.json").write_text(json.dumps(config))
        schedule = run("modelc", str(scratch), "--target=h200", "--isl=64", "--osl=64", "--emit=schedule")
        said = re.search(r"theta (\S+) factor (\S+) ", schedule)
        rope = tomllib.loads(run("modelc", "import", str(scratch / "config.json")))["rope"]
        same += float(said[1]) == theta == rope["theta"]
        same += float(said[2]) == factor == rope["scaling"]["factor"]
    print(f"{same} numbers are the same")


main()

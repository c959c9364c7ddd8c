"""fits.py CONFIGS PAIR...: compiles each "model:target:tp" to sources, the pairs
at the same time as there are cores; prints those that fail."""

import concurrent.futures
import os
import subprocess
import sys


def compile(pair):
    model, target, ranks = pair.split(":")
    config = os.path.join(sys.argv[1], model + ".json")
    command = ["modelc", config, f"--target={target}", f"--tp={ranks}"]
    command += ["--emit=source", "--batch=16"]
    run = subprocess.run(command, capture_output=True, text=True)
    if run.returncode == 0 and "// " in run.stdout:
        return None
    return f"{pair}: exit code {run.returncode}\n{run.stderr}"


with concurrent.futures.ThreadPoolExecutor(os.cpu_count()) as pool:
    mistakes = [text for text in pool.map(compile, sys.argv[2:]) if text]
sys.exit("\n".join(mistakes) or 0)

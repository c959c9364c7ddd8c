"""kept.py MODELC SOURCE_ROOT OUT [TARGET...]: what modelc makes of eight dense cases on these targets, else on all.

Writes the final schedules, the emitted sources and the estimate of each case and target
below OUT, a refusal with its message. A change that restructures leaves all of it as it
was to the byte: `tools/dev keep` before it, `tools/dev compare` after it.
"""

import concurrent.futures
import os
import pathlib
import subprocess
import sys

# (name, model below examples/, flags)
CASES = [
    ("tiny", "tiny-llama", []),
    ("8b", "llama-3.1-8b", ["--batch=64"]),
    ("8b-cache", "llama-3.1-8b", ["--kv=fp8", "--queries=fp8", "--isl=8192", "--osl=1024"]),
    ("70b", "llama-3.3-70b", ["--tp=8", "--batch=32"]),
    ("70b-fp8", "llama-2-70b", ["--tp=2", "--weights=fp8"]),
    ("70b-4-bit", "llama-3.3-70b", ["--tp=2", "--weights={four}"]),
    ("70b-mx8", "llama-3.3-70b", ["--tp=4", "--weights=mxfp8"]),
    ("405b-blocks", "llama-3.1-405b", ["--tp=8", "--weights=fp8_block", "--kv=fp8"]),
]
STAGES = {"schedule": ["--emit=schedule"], "source": ["--emit=source"], "estimate": ["--json"]}


def targets(root):
    names = [path.stem for path in (root / "targets").glob("*/*.toml")
             if "inherits" in path.read_text(encoding="utf-8")]
    return sorted(names)


def record(modelc, root, out, target, case, stage):
    name, model, flags = case
    four = "nvfp4" if (root / f"targets/nvidia/{target}.toml").exists() else "mxfp4"
    flags = [flag.format(four=four) for flag in flags]
    run = subprocess.run(
        [modelc, f"examples/{model}.toml", f"--target={target}", *flags, *STAGES[stage]],
        cwd=root, capture_output=True, text=True, check=False)
    path = out / target / f"{name}.{stage}"
    path.parent.mkdir(parents=True, exist_ok=True)
    path.write_text(f"exit {run.returncode}\n{run.stdout}{run.stderr}", encoding="utf-8")


def main():
    modelc, root, out = sys.argv[1], pathlib.Path(sys.argv[2]), pathlib.Path(sys.argv[3])
    names = sys.argv[4:] or targets(root)
    work = [(target, case, stage) for target in names for case in CASES
            for stage in STAGES]
    with concurrent.futures.ThreadPoolExecutor(os.cpu_count()) as pool:
        done = list(pool.map(lambda item: record(modelc, root, out, *item), work))
    print(f"{len(done)} outputs in {out}")


if __name__ == "__main__":
    main()

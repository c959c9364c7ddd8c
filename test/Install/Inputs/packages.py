"""packages.py FOLDER SOURCES BUILD: what the packages of a folder say and hold; runs the tools from there."""

import pathlib
import subprocess
import sys
import tempfile

from alone import Alone

HELD = ["bin/modelc", "bin/modelc-opt", "share/man/man1/modelc.1", "share/doc/modelc/copyright",
        "share/bash-completion/completions/modelc", "share/zsh/vendor-completions/_modelc",
        "share/modelc/targets/host/modelc.h", "share/modelc/examples/tiny-llama.toml"]


def show(package):
    print(package.name)
    fields = subprocess.run(["dpkg-deb", "--field", package], capture_output=True, text=True, check=True)
    print(fields.stdout)


def main():
    folder, sources, build = map(pathlib.Path, sys.argv[1:])
    tools, = folder.glob("modelc_*.deb")
    libraries, = folder.glob("libmodelc-dev_*.deb")
    show(tools)
    with tempfile.TemporaryDirectory() as root:
        subprocess.run(["dpkg-deb", "--extract", tools, root], check=True)
        prefix = pathlib.Path(root) / "usr"
        missing = [name for name in HELD if not (prefix / name).is_file()]
        if missing:
            sys.exit(f"expected {', '.join(missing)} in {tools.name}")
        alone = Alone(prefix, root, [sources] if sources in build.parents else [sources, build])
        print(alone.run("modelc", "--version"), end="")
        print(alone.run("modelc", prefix / "share/modelc/examples/tiny-llama.toml", "--target=b200"), end="")
    show(libraries)


if __name__ == "__main__":
    main()

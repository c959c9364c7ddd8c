"""installed.py PREFIX SOURCES BUILD: moves a fresh installation to a place of its own and shows that it works there."""

import pathlib
import re
import shutil
import sys
import tempfile

from alone import Alone

LLVM = "/usr/lib/llvm-22"


def check_paths(prefix, sources):
    """What other builds read names no folder of this one."""
    for path in (prefix / "lib/cmake").rglob("*.cmake"):
        if str(sources) in path.read_text(encoding="utf-8"):
            sys.exit(f"{path} names {sources}")


def copy_readmes(prefix, sources, root):
    """A tree that holds what the READMEs speak of, from the installation."""
    (root / "test/Golden").mkdir(parents=True)
    shutil.copytree(prefix / "share/modelc/examples", root / "examples")
    shutil.copy(prefix / "share/doc/modelc/README.md", root)
    shutil.copytree(sources / "test/Golden/tiny-llama", root / "test/Golden/tiny-llama")
    shutil.copy(sources / "test/Driver/Inputs/readme.py", root)


def write_program(root):
    """The example, and an object that includes every header there is."""
    program = shutil.copytree(root / "examples/estimate", root / "program")
    with open(program / "CMakeLists.txt", "a", encoding="utf-8") as file:
        file.write("add_library(headers OBJECT headers.cpp)\n"
                   "target_link_libraries(headers PRIVATE modelc::modelc)\n")
    return program


def build_program(alone, prefix, root):
    program, build = write_program(root), root / "build"
    headers = sorted((prefix / "include/modelc").glob("*/*/*.h"))
    lines = [f'#include "{path.relative_to(prefix / "include/modelc")}"' for path in headers]
    (program / "headers.cpp").write_text("\n".join(lines) + "\n", encoding="utf-8")
    alone.run("cmake", "-S", program, "-B", build, "-G", "Ninja", f"-DCMAKE_PREFIX_PATH={prefix};{LLVM}",
              "-DCMAKE_BUILD_TYPE=Debug", f"-DCMAKE_C_COMPILER={LLVM}/bin/clang",
              f"-DCMAKE_CXX_COMPILER={LLVM}/bin/clang++", "-DCMAKE_EXE_LINKER_FLAGS=-fuse-ld=lld")
    alone.run("ninja", "-C", build)
    return build / "estimate"


def main():
    installed, sources, build = map(pathlib.Path, sys.argv[1:])
    with tempfile.TemporaryDirectory() as folder:
        root, prefix = pathlib.Path(folder) / "root", pathlib.Path(folder) / "moved"
        shutil.move(installed, prefix)
        check_paths(prefix, sources)
        copy_readmes(prefix, sources, root)
        hidden = [sources] if sources in build.parents else [sources, build]
        alone = Alone(prefix, root, hidden)
        print(alone.run(sys.executable, "readme.py", root, root / "scratch"), end="")
        program = build_program(alone, prefix, root)
        print(alone.run(program, "mi355x", root / "package"), end="")
        if "attention" not in alone.run("modelc", "explain", root / "package"):
            sys.exit("the package of the program cannot be explained")
        targets = shutil.move(prefix / "share/modelc/targets", root / "targets")
        said = alone.run("modelc", "targets", "mi355x", MODELC_TARGETS=str(targets))
        print("without sources, by MODELC_TARGETS:", re.match(".*", said)[0])
        print(alone.run("sh", "-c", "! modelc targets 2>&1"), end="")


if __name__ == "__main__":
    main()

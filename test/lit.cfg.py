# How the tests run: lit's own shell, tools from the build, LLVM's FileCheck.
#
# A test says `// RUN:` (or `# RUN:`). Substitutions:
#   %modelc, %modelc-opt   the tools          %targets    targets/ of the sources
#   %src_root              the source tree    %build_root the build tree
#   %nvcc, %cuobjdump      CUDA compiler, dump of its binaries   %clang  clang 22
#   %llvm_include          LLVM's headers   %shared     the folder of reference models
# Features: `nvcc`, `cuobjdump`, `clang-amdgpu`, `clang-format`, `shared`, `install`, `dpkg-dev`, `zsh`,
# `valgrind`.

import os
import shutil
import sys

import lit.formats

source_dir = config.modelc_source_dir
build_dir = config.modelc_build_dir

config.name = "modelc"
config.test_format = lit.formats.ShTest(execute_external=False)
config.suffixes = [".mlir", ".test", ".toml", ".json"]
config.excludes = ["Inputs", "Golden", "targets", "CMakeLists.txt"]
config.test_source_root = os.path.join(source_dir, "test")
config.test_exec_root = os.path.join(build_dir, "test")

config.environment["PATH"] = os.pathsep.join(
    [os.path.join(build_dir, "bin"), config.llvm_tools_dir, os.environ["PATH"]]
)
for name in ("HOME", "MODELC_NVCC", "ASAN_OPTIONS", "UBSAN_OPTIONS"):
    if name in os.environ:
        config.environment[name] = os.environ[name]


def find_nvcc():
    """The CUDA compiler: named by the environment, on the path, or installed."""
    installed = [
        "/usr/local/cuda/bin/nvcc",
        os.path.join(source_dir, ".build/cuda/compiler/nvidia/cu13/bin/nvcc"),
    ]
    for path in [os.environ.get("MODELC_NVCC"), shutil.which("nvcc")] + installed:
        if path and os.access(path, os.X_OK):
            return path
    return None


# Longer names first: lit replaces in order and `%modelc` begins `%modelc-opt`.
config.substitutions += [
    ("%modelc-opt", os.path.join(build_dir, "bin", "modelc-opt")),
    ("%modelc", os.path.join(build_dir, "bin", "modelc")),
    ("%targets", os.path.join(source_dir, "targets")),
    ("%src_root", source_dir),
    ("%build_root", build_dir),
    ("%python", sys.executable),
]

nvcc = find_nvcc()
if nvcc:
    config.available_features.add("nvcc")
    config.substitutions.append(("%nvcc", nvcc))
    config.environment["MODELC_NVCC"] = nvcc

cuobjdump = os.environ.get("MODELC_CUOBJDUMP") or shutil.which("cuobjdump")
if cuobjdump:
    config.available_features.add("cuobjdump")
    config.substitutions.append(("%cuobjdump", cuobjdump))

clang = os.path.join(config.llvm_tools_dir, "clang-22")
if not os.path.exists(clang):
    clang = shutil.which("clang-22")
if clang:
    config.available_features.add("clang-amdgpu")
    config.substitutions.append(("%clang", clang))
config.substitutions.append(("%llvm_include", os.path.join(config.llvm_tools_dir, os.pardir, "include")))

if os.path.exists(os.path.join(config.llvm_tools_dir, "clang-format")):
    config.available_features.add("clang-format")
else:
    lit_config.note("no clang-format-22: the format of the code is not tested")

# Programs of others are not built with our sanitizers.
if os.path.basename(build_dir) != "asan" and shutil.which("cmake") and shutil.which("ninja"):
    config.available_features.add("install")
    if shutil.which("dpkg-shlibdeps"):
        config.available_features.add("dpkg-dev")
if shutil.which("zsh"):
    config.available_features.add("zsh")
# Its interpreter knows no sanitizer, and other builds have other counts.
if shutil.which("valgrind") and os.path.basename(build_dir) == "release":
    config.available_features.add("valgrind")

if sys.platform == "linux" and os.path.basename(build_dir) != "asan":
    config.available_features.add("full-disk")  # writes fail by a preloaded library

shared = os.path.normpath(os.path.join(source_dir, "..", "shared"))
if os.path.isdir(shared):
    config.available_features.add("shared")
    config.substitutions.append(("%shared", shared))

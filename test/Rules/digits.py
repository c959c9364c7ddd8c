"""digits.py BUILD_ROOT SCRATCH CLANG SOURCE_ROOT: only text for people cuts the digits of a number.

What a machine reads again is printed by exactNumber of lib/Text. Object files tell with what a source prints numbers,
whatever the types of its variables are called.
"""

import pathlib
import re
import subprocess
import sys

# Sources whose numbers nobody reads back: tables, messages, notes of a schedule.
FOR_PEOPLE = {
    "lib/Engines/Accuracy.cpp", "lib/Driver/Bench/Peak.cpp", "lib/Driver/Bench/Search.cpp", "lib/Emit/Package/Package.cpp",
    "lib/Kernels/Linear/LinearChoice.cpp", "lib/Kernels/Attention/PrefillTiling.cpp", "lib/Report/Text.cpp", "lib/Support/Quantity.cpp",
}
HOME = "lib/Text/Numbers.cpp"  # of exactNumber
# What prints the digits of a number: its symbol, and a function that is planted to be found.
CUTS = {
    "<<": (r"llvm::raw_ostream::operator<<\(double\)", "void a(llvm::raw_ostream &os, double x) { os << x; }"),
    "formatv": (r"llvm::write_double\(", 'std::string b(double x) { return llvm::formatv("{0}", x); }'),
    "format": (r"format_object<[^>]*\b(double|float)\b",
               'void c(llvm::raw_ostream &os, double x) { os << llvm::format("%g", x); }'),
    "std::to_string": (r"std::(__cxx11::)?to_string\((double|float)\)|\bvsnprintf\b",
                       "std::string d(double x) { return std::to_string(x); }"),
    "printf": (r"\bv?sn?printf\b", 'void e(char *to, double x) { snprintf(to, 9, "%.2f", x); }'),
    "std::to_chars": (r"std::to_chars\(char\*, char\*, (double|float)",
                      "void g(char *to, double x) { std::to_chars(to, to + 9, x); }"),
    "std::ostream": (r"std::ostream::_M_insert<double>", "void f(std::ostream &os, double x) { os << x; }"),
}
HEADERS = ("charconv", "llvm/Support/Format.h", "llvm/Support/FormatVariadic.h", "llvm/Support/raw_ostream.h", "cstdio", "ostream")


def output(*command):
    return subprocess.run(list(map(str, command)), capture_output=True, text=True, check=True).stdout


def cutting(paths):
    """Of each object file what it prints numbers with."""
    found = {}
    for line in output("llvm-nm", "-C", "-A", *paths).splitlines():
        path, _, symbol = line.partition(".o:")
        for what, (pattern, _) in CUTS.items():
            if re.search(pattern, symbol):
                found.setdefault(path, set()).add(what)
    return found


def source_of(build, path):
    """build/lib/Emit/CMakeFiles/ModelcEmit.dir/Host.cpp is lib/Emit/Host/Host.cpp."""
    return re.sub(r"CMakeFiles/\w+\.dir/", "", pathlib.Path(path).relative_to(build).as_posix())


def planted(scratch, clang):
    """What is found of one function of each kind."""
    path = scratch.with_suffix(".cpp")
    path.write_text("".join(f"#include <{header}>\n" for header in HEADERS) +
                    "".join(f"{text}\n" for _, text in CUTS.values()))
    output(clang, "--driver-mode=g++", "-std=c++20", "-O2", "-isystem", output("llvm-config", "--includedir").strip(), "-c",
           path, "-o", f"{path}.o")
    return cutting([f"{path}.o"]).get(str(path), set())


def main():
    build, scratch, root = (pathlib.Path(sys.argv[at]) for at in (1, 2, 4))
    clang = sys.argv[3]
    objects = [path for folder in ("lib", "dialects") for path in sorted((build / folder).rglob("*.cpp.o"))]
    # A build folder keeps objects of sources that have moved.
    objects = [path for path in objects if (root / source_of(build, path).removesuffix(".o")).is_file()]
    found = {source_of(build, path): sorted(what) for path, what in cutting(objects).items()}
    wrong = [f"{source}: prints numbers by {', '.join(what)}; take exactNumber of lib/Text"
             for source, what in found.items() if source not in FOR_PEOPLE | {HOME}]
    wrong += [f"{source}: prints no numbers for people any more; take it off the list" for source in FOR_PEOPLE - set(found)]
    wrong += [f"{what}: expected to find what is planted" for what in set(CUTS) - planted(scratch, clang)]
    print("\n".join(wrong))
    sys.exit(1 if wrong else 0)


main()

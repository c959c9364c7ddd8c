"""Plants mistakes in machine code and counts those that modelc-check finds.

Usage: patch.py MODELC_CHECK TARGETS CASE waits|raised|barriers

waits: each s_waitcnt of the kernel in turn waits for nothing on vmcnt, then on
lgkmcnt; raised: for one vector memory operation less, where it waits for some;
barriers: each s_barrier in turn becomes an s_nop. A mistake that is not
found stays: another wait did its work, and must then be missed itself. Prints a
line for each mistake, with the message.
"""

import json
import pathlib
import re
import struct
import subprocess
import sys

WAIT, BARRIER, NOP = 0xBF8C, 0xBF8A, 0xBF800000
COUNTERS = {"vmcnt": 0xC00F, "lgkmcnt": 0x0F00}


def kernel_words(code, kernel):
    """Offsets in the file of the kernel's instruction words."""
    text = subprocess.run(["llvm-objdump", "-d", f"--disassemble-symbols={kernel}", code],
                          capture_output=True, text=True, check=True).stdout
    sections = subprocess.run(["llvm-readelf", "-SW", code], capture_output=True,
                              text=True, check=True).stdout
    row = re.search(r"\.text\s+PROGBITS\s+(\w+) (\w+)", sections)
    shift = int(row[1], 16) - int(row[2], 16)
    for address, word in re.findall(r"// (\w+): (\w{8})", text):
        yield int(address, 16) - shift, int(address, 16), int(word, 16)


def operations(word):
    """Vector memory operations that a wait leaves in flight."""
    return word & 0xF | word >> 10 & 0x30


def raised(word):
    count = operations(word) + 1
    return word & ~COUNTERS["vmcnt"] | count & 0xF | (count & 0x30) << 10


def mistakes(code, kernel, what):
    """(name, offset, new word) of each mistake."""
    for offset, address, word in kernel_words(code, kernel):
        if what == "barriers" and word >> 16 == BARRIER:
            yield f"barrier at 0x{address:X}", offset, NOP
        if what == "raised" and word >> 16 == WAIT and operations(word) < 63:
            yield f"vmcnt {operations(word)} at 0x{address:X}", offset, raised(word)
        if what == "waits" and word >> 16 == WAIT:
            for name, bits in COUNTERS.items():
                if word & bits != bits:
                    yield f"{name} at 0x{address:X}", offset, word | bits


def main():
    tool, targets, path, what = sys.argv[1:]
    case = json.loads(pathlib.Path(path).read_text())
    code = pathlib.Path(case["code"])
    current = code.read_bytes()
    patched = pathlib.Path(path).with_suffix(".patched")
    found = missed = 0
    for name, offset, word in mistakes(code, case["kernel"], what):
        before, = struct.unpack_from("<I", current, offset)
        changed_word = struct.pack("<I", before | word if what == "waits" else word)
        with_mistake = current[:offset] + changed_word + current[offset + 4:]
        patched.write_bytes(with_mistake)
        case["code"] = str(patched)
        changed = pathlib.Path(path).with_suffix(".patched.case")
        changed.write_text(json.dumps(case))
        done = subprocess.run([tool, changed, "--targets", targets, "--report", "-"],
                              capture_output=True, text=True)
        found += done.returncode == 1
        missed += done.returncode == 0
        current = current if done.returncode else with_mistake
        print(f"{name}: " + (done.stderr.strip() or "not found"))
    print(f"found: {found}, not found: {missed}")


if __name__ == "__main__":
    main()

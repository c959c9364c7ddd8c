"""crash.py MODEL: kills modelc by a fatal signal once it has said something of its model,
long before it is done."""

import signal
import subprocess
import sys

process = subprocess.Popen(["modelc", sys.argv[1], "--target=b200", "--tp=2", "--emit=source"],
                           stdout=subprocess.DEVNULL, stderr=subprocess.PIPE, text=True)
print(process.stderr.readline(), end="")
process.send_signal(signal.SIGSEGV)
print(process.communicate(timeout=60)[1])
print("exit code", process.returncode)

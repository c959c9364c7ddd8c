"""crash.py FIFO: kills modelc by a fatal signal while it reads its model."""

import os
import signal
import subprocess
import sys

path = sys.argv[1]
os.mkfifo(path)
command = ["modelc", path, "--target=b200"]
process = subprocess.Popen(command, stderr=subprocess.PIPE, text=True)
with open(path, "w"):  # returns once modelc reads from the other end
    process.send_signal(signal.SIGSEGV)
    errors = process.communicate(timeout=60)[1]
print(errors)
print("exit code", process.returncode)

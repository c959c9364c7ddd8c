"""crash.py MODEL: kills modelc by a fatal signal while it waits for somebody who reads what
it prints."""

import signal
import subprocess
import sys
import time

process = subprocess.Popen(["modelc", sys.argv[1], "--target=b200", "--emit=schedule"],
                           stdout=subprocess.PIPE, stderr=subprocess.PIPE)
process.stdout.read(1)
for _ in range(600):  # until the pipe is full
    with open(f"/proc/{process.pid}/stat", encoding="utf-8") as file:
        if file.read().rsplit(")", 1)[1].split()[0] == "S":
            break
    time.sleep(0.1)
process.send_signal(signal.SIGSEGV)
errors = process.communicate(timeout=60)[1]
print(errors.decode())
print("exit code", process.returncode)

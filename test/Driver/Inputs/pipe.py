"""pipe.py PIPE COMMAND...: makes a pipe, runs a command that writes to it and
prints what came through; fails unless the pipe is still one."""
import os
import stat
import subprocess
import sys

pipe, command = sys.argv[1], sys.argv[2:]
os.mkfifo(pipe)
end = os.open(pipe, os.O_RDONLY | os.O_NONBLOCK)
subprocess.run(command, check=True)
sys.stdout.write(os.read(end, 1 << 16).decode())
assert stat.S_ISFIFO(os.lstat(pipe).st_mode), "the pipe was replaced"

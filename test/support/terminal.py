"""Runs a program at a terminal of its own, types what it is told, and says what was on the screen.

Reads one JSON object from stdin: command, cwd, env, columns, and types: a list of {after, text}, where text is typed
once `after` has been printed behind what was waited for before. Writes one: code, screen.
"""

import fcntl
import json
import os
import pty
import select
import signal
import struct
import sys
import termios
import time

wanted = json.load(sys.stdin)
pid, terminal = pty.fork()
if pid == 0:
    os.chdir(wanted["cwd"])
    os.execvpe(wanted["command"][0], wanted["command"], wanted["env"])
fcntl.ioctl(terminal, termios.TIOCSWINSZ, struct.pack("HHHH", 50, wanted["columns"], 0, 0))

screen = b""
seen = 0
types = list(wanted["types"])
deadline = time.monotonic() + 60
while True:
    if time.monotonic() > deadline:
        os.kill(pid, signal.SIGKILL)
        sys.exit(f"still running after 60 s, waits for {types}:\n{screen.decode(errors='replace')}")
    if types and (at := screen.find(types[0]["after"].encode(), seen)) >= 0:
        seen = at + len(types[0]["after"].encode())
        os.write(terminal, types.pop(0)["text"].encode())
    if not select.select([terminal], [], [], 0.5)[0]:
        continue
    try:
        chunk = os.read(terminal, 65536)
    except OSError:
        # Linux says EIO when the last program has closed the terminal.
        break
    if not chunk:
        break
    screen += chunk
_, status = os.waitpid(pid, 0)
json.dump({"code": os.waitstatus_to_exitcode(status), "screen": screen.decode(errors="replace")}, sys.stdout)

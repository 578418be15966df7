"""Forks odd servers from one process that has imported what each would import for .4 s.

Usage: odd_servers.py STUB; each line of its input holds a server's words, it answers with a pid.
"""

import json
import os
import runpy
import signal
import sys

import aiohttp.web
import PIL.Image

NEEDED = (aiohttp.web, PIL.Image)


def main(stub: str) -> None:
    """Fork a server for each line, until the input ends."""
    signal.signal(signal.SIGCHLD, signal.SIG_IGN)
    for line in sys.stdin:
        pid = os.fork()
        if pid == 0:
            signal.signal(signal.SIGCHLD, signal.SIG_DFL)
            sys.argv = [stub, *json.loads(line)]
            runpy.run_path(stub, run_name="__main__")
            return
        sys.stdout.write(f"{pid}\n")
        sys.stdout.flush()


if __name__ == "__main__":
    main(sys.argv[1])

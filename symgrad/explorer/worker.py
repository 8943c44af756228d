"""The process in which edited texts are read or executed: requests as lines of JSON on its input, answers on its output.

The server starts it, and ends it where an answer takes too long. Without ``--run`` it also refuses actions that reading does not need:
to start processes, to access the network, to write files.
"""

from __future__ import annotations

import json
import os
import sys
import warnings
from typing import Any

from symgrad.explorer.answers import answer

#: audit events that reading never needs
REFUSED = ("os.", "subprocess.", "socket.", "shutil.", "ctypes.", "webbrowser.", "urllib.", "http.", "ftplib.", "smtplib.", "pty.")
ALLOWED = ("os.listdir", "os.scandir", "os.putenv", "os.unsetenv", "ctypes.dlopen", "ctypes.dlsym", "ctypes.addressof", "ctypes.cdata")
WRITING = os.O_WRONLY | os.O_RDWR | os.O_CREAT | os.O_APPEND | os.O_TRUNC


def forbid() -> None:
    """Install an audit hook that raises for operations that reading a text never needs: a second line of defence."""

    def hook(event: str, args: tuple[Any, ...]) -> None:
        if event == "open" and len(args) > 2 and isinstance(args[2], int) and args[2] & WRITING:
            raise PermissionError("the explorer writes no files")
        if event.startswith(REFUSED) and not event.startswith(ALLOWED):
            raise PermissionError(f"the explorer does not do that: {event}")

    sys.addaudithook(hook)


def main() -> int:
    """Answer requests until the input ends. Output of the user's code goes to the standard error."""
    run = "--run" in sys.argv[1:]
    warnings.simplefilter("ignore")
    replies = os.fdopen(os.dup(1), "w", encoding="utf-8")
    os.dup2(2, 1)
    os.environ["SYMGRAD_CACHE_DIR"] = "off"
    answer({"text": "import numpy as np\ndef f(x):\n    return np.sum(x * x)\n", "args": "np.ones(2)"}, run)  # imports all that is needed
    if not run:
        forbid()
    print("ready", file=replies, flush=True)
    for line in sys.stdin:
        try:
            reply = answer(json.loads(line), run)
        except Exception as fault:  # a fault of ours must not end the session
            reply = {"error": {"what": f"{type(fault).__name__}: {fault}", "line": 0, "hint": "please report it", "kind": "fault"}}
            reply |= {"functions": [], "function": "", "args": "", "remarks": [], "notice": ""}
        print(json.dumps(reply), file=replies, flush=True)
    return 0


if __name__ == "__main__":
    sys.exit(main())

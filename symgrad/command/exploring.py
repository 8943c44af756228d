"""The verb ``explore``: serves one page until it is interrupted."""

from __future__ import annotations

import argparse
import sys
import webbrowser
from pathlib import Path

from symgrad.command.usage import Usage
from symgrad.explorer.server import Server


def explore(options: argparse.Namespace) -> int:
    """Serve a file with an editor on this machine; the file is read once and not written to."""
    path = Path(options.file)
    try:
        text = path.read_text(encoding="utf-8")
    except (OSError, UnicodeDecodeError) as error:
        raise Usage(f"{path} cannot be read: {getattr(error, 'strerror', None) or error}") from None
    try:
        server = Server(text, path.name, options.args or "", options.wrt or "", options.run, options.port)
    except (OSError, OverflowError) as error:
        raise Usage(f"port {options.port} of 127.0.0.1 cannot be used: {error}") from None
    with server:
        print(server.address, flush=True)
        print("The text is executed." if options.run else "The text is read, never executed.", "Ctrl-C ends it.", file=sys.stderr)
        if not options.no_browser:
            webbrowser.open(server.address)
        try:
            server.serve_forever()
        except KeyboardInterrupt:
            return 0
    return 0

"""table: functions that write their arguments to a file, with the parameter that is the file."""

from __future__ import annotations

import json
import pickle
from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np

from symgrad.identity import Same
from symgrad.ir.core import Operand


@dataclass(frozen=True, slots=True)
class FileArgument:
    """The parameter of a function that is the file to which it writes the other arguments."""

    name: str
    position: int | None = None  #: None if it is passed by name only

    def argument(self, args: list[Operand], names: Sequence[str]) -> Operand | None:
        """The file among the operands of a call, the last of which are passed by ``names``; None for the standard output."""
        count = len(args) - len(names)
        if self.name in names:
            return args[count + names.index(self.name)]
        return args[self.position] if self.position is not None and self.position < count else None


#: functions that write their arguments to a file
FILES: dict[Same, FileArgument] = {
    Same(print): FileArgument("file"),
    Same(np.save): FileArgument("file", 0),
    Same(np.savez): FileArgument("file", 0),
    Same(np.savez_compressed): FileArgument("file", 0),
    Same(np.savetxt): FileArgument("fname", 0),
    Same(json.dump): FileArgument("fp", 1),
    Same(pickle.dump): FileArgument("file", 1),
}

__all__ = ["FILES", "FileArgument"]

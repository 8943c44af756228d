"""The context of a construct, ``Lowering``: evaluates expressions, calls functions, and binds names."""

from __future__ import annotations

import ast
import types
from collections.abc import Iterator
from contextlib import contextmanager
from typing import Any

from symgrad.errors import SymgradError, UnsupportedSyntax
from symgrad.frontend.state.abstract_values import resolved_by_paths
from symgrad.frontend.state.bindings import MISSING, Binding, Bound, Broken, Location, Maybe, Name, Num, Obj, Ref, Static, Step, Tup
from symgrad.frontend.state.heap import Heap
from symgrad.frontend.state.interruptions import Raised, Unresolved
from symgrad.frontend.state.pinning import located
from symgrad.frontend.state.program_state import Frame
from symgrad.frontend.state.tables import CALLS, EXPRESSIONS, PLAIN, SPREAD
from symgrad.identity import Same
from symgrad.ir.core import TRUE, Block, Operand, Value
from symgrad.ir.types import List

ROUNDS = 800  #: the most unrolled iterations, in all
WRITTEN = 2000  #: the most statements in unrolled loops: a gradient of so many takes up to half a minute
WRITTEN_OUT = 24  #: the depth to which a recursive function or generator is inlined
NESTED = 90  #: the most nested branches and loops: Python reads at most a hundred levels of indentation


class Lowering(Heap):
    """The interface through which each construct lowers its nodes."""

    # -------------------------------------------------------------- tables

    def evaluate(self, node: ast.expr) -> Binding:
        """Lower an expression."""
        lower = EXPRESSIONS.get(type(node))
        if lower is None:
            raise self.refuse(UnsupportedSyntax, f"{_spoken(node)} cannot be differentiated", node)
        before = self.builder.loc
        self.builder.loc = self.loc(node)
        height = len(self.state.operands)
        outer, self.handing = self.handing, None
        try:
            binding = lower(self, node)
        except SymgradError as error:
            raise located(self, error, node) from None
        finally:
            self.builder.loc, self.handing = before, outer
        assert isinstance(binding, Binding)
        binding = resolved_by_paths(binding, self.state)
        if isinstance(binding, Broken) and isinstance(node, ast.Attribute | ast.Subscript):
            raise self.unusable(binding, node)
        self.release(height)
        self.hold(binding)
        return binding

    def apply(self, callee: Binding, args: list[Binding], kwargs: dict[str, Binding], node: ast.AST) -> Binding:
        """Call the function, class or method of a binding."""
        lower = CALLS.get(type(callee))
        if lower is None:
            raise self.refuse(UnsupportedSyntax, "this cannot be called", node, PLAIN)
        return lower(self, callee, args, kwargs, node)

    def apply_method(self, owner: Binding, name: str, args: list[Binding], node: ast.AST) -> Binding:
        """Call a method by its name."""
        return self.apply(Bound(owner, name), args, {}, node)

    # -------------------------------------------------------------- operands

    def hold(self, binding: Binding) -> None:
        """Record an evaluated value that the current statement has not used yet."""
        if not isinstance(binding, Num | Static):  # these reach no object and no memory
            self.state.operands = (*self.state.operands, binding)

    def release(self, height: int) -> None:
        """Forget the operands above a height: they have been used."""
        if len(self.state.operands) > height:
            self.state.operands = self.state.operands[:height]

    @contextmanager
    def operands(self) -> Iterator[None]:
        """The values that are evaluated inside are used inside."""
        height = len(self.state.operands)
        try:
            yield
        finally:
            self.release(height)

    def hand_over(self, *args: Binding) -> None:
        """Turn operands of a call into parameters of the inlined function: from now on only these names hold them."""
        height, self.handing = self.handing, None
        while height is not None and len(self.state.operands) > height and _is_handed(self.state.operands[-1], args):
            self.release(len(self.state.operands) - 1)

    # -------------------------------------------------------------- names

    def home(self, name: str, frame: Frame | None = None) -> Frame | None:
        """The frame in which a name is local; None for a global or builtin of the source."""
        frame = frame or self.frame
        while frame is not None:
            if name in frame.locals:
                return frame
            if frame.parent is None or name in frame.globals:
                return None
            frame = frame.parent
        return None

    def number(self, name: Name, otherwise: Operand | None = None) -> Operand:
        """The number that an internal name is bound to: a code, a flag."""
        held = self.state.names.get(name, MISSING)
        return otherwise if held == MISSING and otherwise is not None else self.read(held)

    def assign(self, name: str, binding: Binding, node: ast.AST | None = None) -> None:
        """Bind a variable."""
        own = self.home(name)
        if own is None and (key := self.outer_key(name)) in self.assigned_outside:
            self.assign_outside(key, binding)
            return
        home = own or self.frame
        if home.top and name in self.no_grad:
            binding = self.stopped(binding)
        match binding:
            case Num(Value() as value) if value.name in (None, name):
                value.name = name
                self.assigned_inputs.add(value)
            case Ref(location, ()):
                self.name_memory(location, name)
            case Ref(path=(*_, Step(row=str(), operands=(*_, Value() as shown)))) if shown.name is None:
                shown.name = name
            case Obj(owner) if isinstance(content := self.state.heap.get(owner), Ref) and not content.path:
                self.name_memory(content.location, name)
        self.state.names[home, name] = binding

    def name_memory(self, location: Location, name: str) -> None:
        """Give memory the name of a variable."""
        location.name = location.name or name
        version = self.state.memory[location]
        if isinstance(version, Value) and version.name in (None, name):
            version.name = name
            self.assigned_inputs.add(version)

    def outer_key(self, name: str) -> tuple[Any, str]:
        """The key of a variable outside the program: its cell or its module's names, and its own name."""
        source, cell = self.frame.source, None
        if source.cells and not self.is_declared_global(name):
            cell = source.cells.get(name)
        return Same(source.globals if cell is None else cell), name

    def is_declared_global(self, name: str) -> bool:
        """Whether the current function, or one around it, declares a name global."""
        frame: Frame | None = self.frame
        while frame is not None and name not in frame.locals and name not in frame.globals:
            frame = frame.parent
        return frame is not None and name in frame.globals

    def assign_outside(self, key: tuple[Any, str], binding: Binding) -> None:
        """Bind a variable outside of the program: in the program, and in its cell or module."""
        assert self.storing is not None
        owner, name = key[0].value, key[1]
        if isinstance(owner, types.CellType):
            self.storing.attribute_stored(owner, "cell_contents", binding, f"{name}_cell")
        else:
            self.storing.global_stored(owner, name, binding)
        self.bind_outside(key, binding)

    def bind_outside(self, key: Name, binding: Binding) -> None:
        """Bind a variable or attribute outside of the program; from now on it exists."""
        self.state.names[key] = binding
        if (present := presence_of(key)) in self.state.names:
            self.state.names[present] = Num(TRUE)

    def stopped(self, binding: Binding) -> Binding:
        """The same binding without a derivative, item by item."""
        match binding:
            case Num(Value() as value):
                return Num(self.call("stop_gradient", value))
            case Ref():
                return self.shared(self.call("stop_gradient", self.read(binding)), binding)
            case Tup(items, kind):
                return Tup(tuple(map(self.stopped, items)), kind)
            case Maybe(present, inner, absent):
                return Maybe(present, self.stopped(inner), absent)
            case Obj(key):
                content = self.state.heap[key]
                self.check_alone(key)
                self.state.heap[key] = content if isinstance(content, Ref) else tuple((k, self.stopped(b)) for k, b in content)
        return binding

    def cut(self, binding: Binding) -> None:
        """Cut the derivative of the content of a variable in place, whatever created it: an array, list or object."""
        match binding:
            case Ref(location, ()):
                version = self.state.memory[location]
                if isinstance(version, Value):
                    row = "stop_gradient" if isinstance(version.type, List) else "cut"
                    self.state.memory[location] = self.call(row, version, hint=version.name)
            case Tup(items):
                for item in items:
                    self.cut(item)
            case Maybe(_, inner, _):
                self.cut(inner)
            case Obj(key) if (content := self.state.heap.get(key)) is not None:
                if isinstance(content, Ref):
                    self.cut(content)
                elif any(isinstance(b, Num) for _, b in content):
                    self.check_alone(key)
                    self.state.heap[key] = tuple((k, self.stopped(b) if isinstance(b, Num) else b) for k, b in content)
                for _, b in () if isinstance(content, Ref) else content:
                    self.cut(b)

    def may_be_unbound(self, binding: Binding) -> bool:
        """Whether the binding is the value of a name that some branch does not bind."""
        return isinstance(binding, Num) and binding.operand in self.doubtful

    # -------------------------------------------------------------- iterations and blocks

    def write_out(self, node: ast.AST, statements: int | None = None) -> None:
        """Count one more unrolled iteration, with its ``statements`` or all of the loop; refuse beyond the limits."""
        self.rounds += 1
        self.statements += (sum(isinstance(inner, ast.stmt) for inner in ast.walk(node)) or 1) if statements is None else statements
        if self.rounds > ROUNDS or self.statements > WRITTEN:
            raise self.refuse(UnsupportedSyntax, "this loop would have to be unrolled, and has too many iterations", node)

    @contextmanager
    def region(self, block: Block) -> Iterator[list[Any]]:
        """Emit into a block; the exceptions pending at its end are entered in the list."""
        mark, pending = len(self.edges), list[Any]()
        if self.nested == NESTED:
            what = "branches and loops are nested too deeply here, counting early exits and unrolled iterations"
            raise UnsupportedSyntax(what, self.builder.loc, "look values up in an array, or iterate over the data in a loop")
        with self.builder.inside(block):
            self.nested += 1
            try:
                yield pending
            except (Raised, Unresolved):
                self.state.dead = True
                pending += SPREAD["close"](self, mark)
                raise
            except BaseException:
                del self.edges[mark:]
                raise
            finally:
                self.nested -= 1
            if len(self.edges) > mark:
                pending += SPREAD["close"](self, mark)


def presence_of(key: Name) -> Name:
    """The name of the bool that says whether the attribute of this name exists."""
    return ("present", key[0]), key[1]


def _is_handed(operand: Binding, args: tuple[Binding, ...]) -> bool:
    """Whether an operand is among the arguments: itself, as the owner of a method, or item by item."""
    match operand:
        case Bound(owner=owner):
            return _is_handed(owner, args)
        case Tup(items=items) if items:
            return all(isinstance(item, Num | Static) or _is_handed(item, args) for item in items)
    return any(operand is arg for arg in args)


def _spoken(node: ast.AST) -> str:
    words = "".join(f" {c.lower()}" if c.isupper() else c for c in type(node).__name__).strip()
    return f"{'an' if words[0] in 'aeiou' else 'a'} {words}"


__all__ = ["WRITTEN", "Lowering", "presence_of"]

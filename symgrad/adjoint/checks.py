"""Refuses, before differentiation, operations without a derivative, with names and locations that a user understands."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence

from symgrad.adjoint.analysis.activity import Dependences, closure, dependences, differentiated, may_be_active, results_of
from symgrad.errors import BadArgument, CastStore, NoDerivative, SymgradError, UnknownFunction
from symgrad.identity import Same
from symgrad.ir.core import Apply, Block, Call, Const, Func, If, Op, Operand, Value, holds_complex, walk
from symgrad.ir.types import Array, Box, List, Object, Scalar, Type, Unknown, is_complex
from symgrad.kinds import FRACTION, passed_instead, row_of, what_of
from symgrad.ops.declare import ROWS
from symgrad.ops.indexing import is_part
from symgrad.ops.replacements import METHODS, instead_of
from symgrad.ops.rows.complexes import NOT_HOLOMORPHIC, PARTLY_HOLOMORPHIC, RIGHT
from symgrad.ops.spelling import CALLABLES

#: rows of deferred calls: the callee has no rule
KEPT = ("opaque", "opaque_pure", "opaque_attribute", "touched")


def check(
    func: Func, wrt: Sequence[int], active_results: Sequence[int], names: Mapping[Same, str] | None = None, inputs: Sequence[str] = ()
) -> None:
    """Raise for the first op without a derivative on a path that needs one.

    ``names``: the expressions that read the objects among the arguments, by identity; ``inputs``: those that
    read the parameters.
    """
    table = dependences(func.body)
    varied = closure((p for k in wrt if may_be_active((p := func.params[k]).type)), table.forward)
    useful = closure(results_of(func, active_results), table.backward)
    active = varied & useful
    makers = {op.outs[0]: op for op in walk(func.body) if isinstance(op, Call) and op.name in KEPT and op.outs}
    refuse_stores(table, active, varied, makers)
    for op in walk(func.body):
        try:
            if isinstance(op, Call):
                refuse_cast(op, varied)
                if any(out in active for out in op.outs):
                    refuse_shown(op, varied)
                    refuse_unknown(op, varied, makers)
                    refuse_kinds(op, names or {})
            refuse_complex(op, varied, useful)
        except SymgradError as refusal:
            refusal.pin = refusal.pin or what_decides(func, op, inputs)
            raise
    refuse_unsure(func, wrt, active_results)


def check_holomorphic(func: Func, wrt: Sequence[int], active_results: Sequence[int]) -> None:
    """Raise for the first op without a complex derivative on a path that needs one."""
    table = dependences(func.body)
    varied = closure((func.params[k] for k in wrt), table.forward)
    active = varied & closure(results_of(func, active_results), table.backward)
    for op in walk(func.body):
        if isinstance(op, Call) and (what := without_complex_derivative(op, varied, active)) is not None:
            raise NoDerivative(
                f"{what} has no complex derivative",
                op.loc,
                "take no derivative through it, or leave holomorphic out and return a real number",
            )


def without_complex_derivative(op: Call, varied: set[Value], active: set[Value]) -> str | None:
    """The name of the result that has no complex derivative, if a derivative must pass through the op."""
    outs = [out for out in op.outs if out in active]
    operands = [a for a in op.args if a in varied and is_complex(a.type)]
    if not outs or not operands:
        return None
    if op.name in PARTLY_HOLOMORPHIC and op.outs[(place := PARTLY_HOLOMORPHIC[op.name])[0]] in active:
        return place[1]
    if op.name in NOT_HOLOMORPHIC:
        return NOT_HOLOMORPHIC[op.name]
    if is_part(op.settings.get("index", "e")):
        return "a store to the real or imaginary part of a complex number"
    is_real = any(isinstance(out.type, Scalar | Array) and out.type.kind in ("float", "int") for out in outs)
    return "a real number that is computed from a complex one" if is_real else None


def checked_when_run(func: Func, wrt: Sequence[int], active_results: Sequence[int]) -> Func:
    """Insert run-time checks that operands of unknown kind, combined with a value that has a derivative, are real. Works in place.

    Known complex operands follow other rules; an operand that proves complex at run time would be differentiated by
    the wrong ones.
    """
    table = dependences(func.body)
    varied = closure((p for k in wrt if may_be_active((p := func.params[k]).type)), table.forward)
    active = varied & closure(results_of(func, active_results), table.backward)
    if any(is_unsure(out.type) for op in walk(func.body) for out in op.outs):
        check_block(func.body, varied, active, set())
        arrays_of_data(func.body, active)
    return func


def arrays_of_data(block: Block, active: set[Value]) -> None:
    """Convert an object that NumPy converts to an array, where it is combined with an active value. Works in place."""
    done: list[Op] = []
    for op in block.ops:
        for inner in op.blocks:
            arrays_of_data(inner, active)
        if isinstance(op, Call) and op.name not in BESIDE and any(out in active for out in op.outs):
            sources = {Same(source) for source in differentiated(op)}
            for k, operand in enumerate(op.args):
                row = row_of(operand.value) if isinstance(operand, Const) and isinstance(operand.type, Object) else None
                if row is not None and row.verdict == "data" and row is not FRACTION and Same(operand) in sources:
                    array = Value(Array(None, None))
                    done.append(Call([array], op.loc, "to_array", [operand], {"dtype": None}))
                    op.args[k] = array
        done.append(op)
    block.ops = done


def check_block(block: Block, varied: set[Value], active: set[Value], seen: set[Operand]) -> None:
    """Insert the checks in a block and the blocks inside it."""
    done: list[Op] = []
    for op in block.ops:
        for inner in op.blocks:
            check_block(inner, varied, active, set(seen))
        if isinstance(op, Call) and any(out in active for out in op.outs):
            for operand in op.args:
                if isinstance(operand, Value) and operand not in varied and operand not in seen and is_unsure(operand.type):
                    seen.add(operand)
                    done.append(Call([], op.loc, "check_real", [operand], {}))
        done.append(op)
    block.ops = done


def refuse_cast(op: Call, varied: set[Value]) -> None:
    """Refuse a store of an active value into integers, which cuts its derivative."""
    if op.name in ("set_at", "add_at") and kind_of(op.args[0].type) in ("int", "bool") and op.args[1] in varied:
        name = getattr(op.args[0], "name", None) or "this array"
        raise CastStore(
            f"a value that carries a derivative is stored in {name}, an array of {getattr(op.args[0].type, 'dtype', 'int')}", op.loc
        )


def refuse_complex(op: Op, varied: set[Value], useful: set[Value]) -> None:
    """Refuse a derivative through an op on complex numbers unless its row is right for them; also if the row's derivative is zero."""
    if isinstance(op, Apply) and (any(is_complex(v.type) for v in (*op.args, *op.outs)) or op.func is not None and holds_complex(op.func)):
        raise NoDerivative("complex numbers in a function that calls itself are not supported", op.loc, "write it as a loop")
    if not isinstance(op, Call) or op.name in RIGHT or not any(a in varied for a in op.args):
        return
    if any(out in useful and may_be_active(out.type) for out in op.outs) and any(is_complex(v.type) for v in (*op.args, *op.outs)):
        if (why := ROWS[op.name].missing) is not None:
            why, _, hint = why.partition("; ")
            raise NoDerivative(f"{op.name} has no derivative: {why}", op.loc, hint or None)
        raise NoDerivative(f"the derivative of {op.name} is not known for complex numbers", op.loc, "split it into real and imaginary part")


def refuse_unsure(func: Func, wrt: Sequence[int], active_results: Sequence[int]) -> None:
    """In a function with complex numbers, refuse a derivative through a value that is not known to be real or complex.

    Rows whose derivative is zero for real operands alone, such as ``np.imag``, count as dependent on operands of unknown kind.
    """
    table = dependences(func.body)
    for op in walk(func.body):
        if isinstance(op, Call) and op.name not in RIGHT and op.name not in KEPT:
            for operand in (a for a in op.args if is_unsure(a.type)):
                table.link_all([operand] * len(op.outs), op.outs)
    varied = closure((p for k in wrt if may_be_active((p := func.params[k]).type)), table.forward)
    active = varied & closure(results_of(func, active_results), table.backward)
    ops = [op for op in walk(func.body) if not active.isdisjoint(op.outs)]
    if not any(is_complex(value.type) for value in active) and not any(is_complex(o.type) for op in ops for o in op.operands):
        return
    for op in ops:
        for out in op.outs:
            if out in active and is_unsure(out.type):
                name = out.name or "a value"
                what = f"whether {name} is complex is not known, and its derivative depends on it"
                raise NoDerivative(what, op.loc, "make it complex from the start, for example with dtype=complex")


def is_unsure(type_: Type) -> bool:
    """Whether the type leaves open if the value is complex."""
    match type_:
        case Array(dtype=None) | Unknown() | Box():
            return True
        case List(item=item):
            return is_unsure(item)
    return False


#: rows that pass an object on together with a derivative, without computing with it
BESIDE = frozenset({"list_of", "opaque", "opaque_pure", "opaque_attribute"})


def refuse_kinds(op: Call, names: Mapping[Same, str]) -> None:
    """Refuse an object that cannot be converted to numbers, where it is combined with an active value."""
    for operand in op.args if op.name not in BESIDE else ():
        if not isinstance(operand, Const) or not isinstance(operand.type, Object):
            continue
        row = row_of(operand.value)
        exact = row is not None and row.verdict == "data" and not (row is FRACTION and any(isinstance(a.type, Array) for a in op.args))
        if row is not None and not exact:
            name = names.get(Same(operand.value), operand.name or "x")
            raise BadArgument(what_of(row, name), op.loc, passed_instead(row, name))


def refuse_shown(op: Call, varied: set[Value]) -> None:
    """Refuse an active number that enters a string or a set and is read from it again."""
    if any(isinstance(out.type, Object) for out in op.outs) and any(a in varied for a in op.args):
        what = f"a number is stored in a {op.outs[0].type.name.partition('[')[0]} and read from it again"  # type: ignore[attr-defined]
        raise NoDerivative(f"{what}, and its derivative is lost", op.loc, "use the number itself, or a list or tuple of numbers")


def refuse_unknown(op: Call, varied: set[Value], makers: Mapping[Value, Call]) -> None:
    """Refuse a call without a rule on an active value; a tuple is refused where it is passed on."""
    if op.name not in KEPT or not any(a in varied for a in op.args) or is_tuple(op):
        return
    if op.settings.get("refusal") is not None:
        raise op.settings["refusal"]
    name, called = called_by(op, makers)
    if op.name == "touched":
        raise UnknownFunction("an array that carries a derivative is passed to a function without a rule, which may change it", op.loc)
    known = [] if called is None or callable(called) else [s.name for s in CALLABLES.values()]  # no spelling hint if it exists
    hint = METHODS.get(name.removeprefix("method ").strip("'")) if called is None else instead_of(called)
    raise UnknownFunction(f"{name} has no rule", op.loc, hint, name=name, known=known)


def called_by(op: Call, makers: Mapping[Value, Call]) -> tuple[str, object]:
    """The callee of an opaque call: its name in the user's text, and the object; for the result of another call, that call's callee."""
    if op.name == "opaque_attribute":
        return f"method {op.settings['attribute']!r}", None
    if op.args and isinstance(op.args[0], Value) and op.args[0] in makers:
        return called_by(makers[op.args[0]], makers)
    called = next((a for a in op.args if isinstance(a, Const) and (a.name or isinstance(a.value, str))), None)
    if called is None:
        return "a function", None
    name = called.name or str(called.value)
    if callable(called.value) and "." not in name:  # emitted text may need another name for it
        name = str(getattr(called.value, "__name__", type(called.value).__name__))
    return name, called.value


def refuse_stores(table: Dependences, active: set[Value], varied: set[Value], makers: Mapping[Value, Call]) -> None:
    """Refuse an opaque call that stores an active value in an object, from which the result is computed."""
    for op, held in table.stores:
        if held in active and active.isdisjoint(op.outs) and any(a in varied for a in op.args[1:] if a is not held):
            what = f"{called_by(op, makers)[0]} stores a value that carries a derivative, and the result is computed from what is stored"
            raise NoDerivative(what, op.loc, "store it in a variable, list or dict of the function")


def is_tuple(op: Call) -> bool:
    """Whether an op makes a tuple of a call's argument."""
    kind = op.args[0].value if op.name == "opaque_pure" and isinstance(op.args[0], Const) else None
    return isinstance(kind, type) and issubclass(kind, tuple)


def kind_of(type_: Type) -> str | None:
    return type_.kind if isinstance(type_, Array | Scalar) else None


# ------------------------------------------------------------------ what decides whether a refused op is reached


def what_decides(func: Func, op: Op, inputs: Sequence[str]) -> str | None:
    """The expression, of those that read the parameters, whose value decides a branch around the op; None if there is none."""
    texts, makers = texts_of_integers(func, inputs), {out: one for one in walk(func.body) for out in one.outs}
    return next((text for test in tests_around(func.body, op) if (text := read_by(test, texts, makers)) is not None), None)


def what_makes_complex(func: Func, result: Operand, inputs: Sequence[str]) -> str | None:
    """The expression, of those that read the parameters, that decides whether a result is complex; None if there is none."""
    texts, makers = texts_of_integers(func, inputs), {out: one for one in walk(func.body) for out in one.outs}
    value: Operand | None = result
    while isinstance(value, Value):
        maker = makers.get(value)
        if isinstance(maker, If):
            sides = [block.yields[maker.outs.index(value)] for block in maker.blocks]
            if not all(is_complex(side.type) for side in sides):
                return read_by(maker.test, texts, makers)
            value = sides[0]
        else:
            value = next((operand for operand in maker.operands if is_complex(operand.type)), None) if isinstance(maker, Call) else None
    return None


def texts_of_integers(func: Func, inputs: Sequence[str]) -> dict[Value, str]:
    """The expressions that read the parameters that are integers or bools."""
    read = zip(func.params, inputs, strict=False)
    return {param: text for param, text in read if isinstance(param.type, Scalar) and param.type.kind in ("int", "bool")}


def tests_around(block: Block, op: Op) -> Iterator[Operand]:
    """The tests of the branches around an op, outermost first."""
    for one in block.ops:
        for inner in one.blocks:
            if op in walk(inner):
                if isinstance(one, If):
                    yield one.test
                yield from tests_around(inner, op)


def read_by(test: Operand, texts: dict[Value, str], makers: dict[Value, Op]) -> str | None:
    """The first parameter in ``texts`` that a test is computed from, if all its inputs are such parameters."""
    first: str | None = None
    waiting, seen = [test], set[Operand]()
    while waiting:
        value = waiting.pop(0)
        if not isinstance(value, Value) or value in seen:
            continue
        seen.add(value)
        maker = makers.get(value)
        if value in texts:
            first = first or texts[value]
        elif isinstance(maker, If):
            waiting += [maker.test, *(block.yields[maker.outs.index(value)] for block in maker.blocks)]
        elif maker is None or maker.blocks:
            return None
        else:
            waiting += maker.operands
    return first


__all__ = ["check", "checked_when_run", "what_decides", "what_makes_complex"]

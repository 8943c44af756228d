"""Faults that no program can tell from the package as it is, and why."""

from __future__ import annotations

from faults import Fault

#: module, function, kind, the line: the reason
EQUIVALENT: dict[tuple[str, str, str, str], str] = {
    (
        "passes/simplification/identities.py", "nothing_accumulated", "swapped operands",
        "same = same_shape(shape_of_type(buffer.type), shape_of_type(g.type)) "
        'and getattr(buffer.type, "dtype", 0) == getattr(g.type, "dtype", 1)',
    ): "whether two shapes are the same does not depend on their order",
    (
        "adjoint/saving/plan.py", "price", "constant off by one",
        'type_ = ROWS["take"].law(types, {"index": store.settings["index"]}, lambda k: -2)',
    ): "the number stands in the place of an extent that is not known, and the price asks for the rank alone",
    (
        "loops/accesses.py", "handed_on", "constant off by one", "slots += zip(op.carried, op.test.args, strict=True)",
    ): "the verifier holds a while to as many arguments of its test as it carries: strict is an assertion",
    (
        "loops/rows/table.py", "price_of", "constant off by one",
        "return 2 if type(op.args[1].value) is int and op.args[1].value > 0 else 6",
    ): "only the power 1 would have another price, and the passes before have made it its base",
    (
        "frontend/constructs/loops.py", "while_", "last item left out", "guess = guess_names(ctx, [node.test, *node.body])",
    ): "the names are a first guess: what a round changes besides is learned in one trial more",
    (
        "frontend/state/abstract_values.py", "objects_of", "and for or",
        'if form.form in ("tuple", "object", "maybe") and not (form.form == "object" and form.same[2] is None):',
    ): "other forms have no items, and the content of a list of any length is no object",
}  # fmt: skip


def reason(fault: Fault) -> str | None:
    """Why the fault makes no difference; None if nothing is known."""
    return EQUIVALENT.get((fault.module, fault.function, fault.kind, fault.text))

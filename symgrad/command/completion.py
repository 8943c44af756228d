"""The verb ``completion``: prints a shell script that completes commands, generated from the parser's tables."""

from __future__ import annotations

import argparse
from collections.abc import Sequence

from symgrad.command.grammar import OPTIONS, VERBS, Option


def completion(options: argparse.Namespace) -> int:
    """Print the script for a shell."""
    print({"bash": bash, "zsh": zsh, "fish": fish}[options.shell]())
    return 0


def flags(names: Sequence[str]) -> list[str]:
    """Return the options of a verb."""
    return [*(word for name in names for word in OPTIONS[name].names if word.startswith("-")), "--color", "--help"]


def choices(option: Option) -> list[str]:
    """The values that an option takes, where they are listed."""
    return [str(choice) for choice in option.words.get("choices", ())]


def bash() -> str:
    """For bash. Files are offered for TARGET and FILE; after ``file.py:`` nothing is, for that would import the file."""
    verbs = " ".join(verb.name for verb in VERBS)
    cases = []
    for verb in VERBS:
        values = [
            f"{'|'.join(option.names)}) COMPREPLY=($(compgen -W '{' '.join(choices(option))}' -- \"$word\")); return;;"
            for option in (OPTIONS[name] for name in verb.options)
            if choices(option) and option.names[0].startswith("-")
        ]
        places = [choice for name in verb.options if not OPTIONS[name].names[0].startswith("-") for choice in choices(OPTIONS[name])]
        inner = f'case "$before" in {" ".join(values)} esac; ' if values else ""
        cases.append(f"    {verb.name}) {inner}words='{' '.join([*flags(verb.options), *places])}';;")
    return "\n".join(
        [
            "_symgrad() {",
            '  local word="${COMP_WORDS[COMP_CWORD]}" before="${COMP_WORDS[COMP_CWORD-1]}" words=""',
            '  case "${COMP_WORDS[1]}" in',
            *cases,
            f"    *) [ \"$COMP_CWORD\" -eq 1 ] && words='{verbs}';;",
            "  esac",
            '  case "$before" in --color) words="auto always never";; esac',
            '  COMPREPLY=($(compgen -W "$words" -- "$word"))',
            '  [ "$COMP_CWORD" -gt 1 ] && [[ "$word" != -* ]] && COMPREPLY+=($(compgen -f -- "$word"))',
            "}",
            "complete -o filenames -F _symgrad symgrad",
        ]
    )


def zsh() -> str:
    """Return the script for zsh, with descriptions."""
    lines = ["#compdef symgrad", "_symgrad() {", "  local -a verbs", "  verbs=("]
    lines += [f"    {quoted(f'{verb.name}:{verb.help}')}" for verb in VERBS]
    lines += ["  )", "  if (( CURRENT == 2 )); then _describe 'verb' verbs; return; fi", '  case "$words[2]" in']
    for verb in VERBS:
        words = []
        for option in (OPTIONS[name] for name in verb.options):
            listed = f"({' '.join(choices(option))})" if choices(option) else "_files" if option.completes else " "
            if not option.names[0].startswith("-"):
                words.append(quoted(f"*:{option.names[0]}:{listed}"))
                continue
            takes = "" if option.words.get("action") == "store_true" else f":value:{listed}"
            words += [quoted(f"{name}[{bare(option.words['help'])}]{takes}") for name in option.names]
        words += [quoted("--color[colours]:value:(auto always never)"), quoted("--help[show this help]")]
        lines.append(f"    {verb.name}) shift words; (( CURRENT-- )); _arguments {' '.join(words)};;")
    return "\n".join([*lines, "  esac", "}", 'if [ "$funcstack[1]" = "_symgrad" ]; then _symgrad "$@"; else compdef _symgrad symgrad; fi'])


def bare(text: str) -> str:
    """Return a help text without characters that zsh interprets."""
    return text.replace("[", "(").replace("]", ")").replace(":", " -")


def quoted(text: str) -> str:
    """A word in single quotes, as shells read it."""
    return "'" + text.replace("'", "'\\''") + "'"


def fish() -> str:
    """Return the script for fish, with descriptions."""
    lines = ["complete -c symgrad -f -n __fish_use_subcommand"]
    lines += [f"complete -c symgrad -f -n __fish_use_subcommand -a {verb.name} -d {quoted_for_fish(verb.help)}" for verb in VERBS]
    for verb in VERBS:
        seen = f"-n '__fish_seen_subcommand_from {verb.name}'"
        for option in (OPTIONS[name] for name in verb.options):
            listed = f" -a '{' '.join(choices(option))}'" if choices(option) else ""
            help_text = quoted_for_fish(str(option.words["help"]))
            if not option.names[0].startswith("-"):
                lines.append(f"complete -c symgrad {seen}{' -f' if listed else ' -F'}{listed} -d {help_text}")
                continue
            names = " ".join(f"-s {name[1:]}" if not name.startswith("--") else f"-l {name[2:]}" for name in option.names)
            takes = "" if option.words.get("action") == "store_true" else " -r -F" if option.completes else " -x"
            lines.append(f"complete -c symgrad {seen} {names}{takes}{listed} -d {help_text}")
        lines.append(f"complete -c symgrad {seen} -l color -x -a 'auto always never' -d 'colours'")
    return "\n".join(lines)


def quoted_for_fish(text: str) -> str:
    """A word in single quotes, as fish reads it."""
    return "'" + text.replace("\\", "\\\\").replace("'", "\\'") + "'"

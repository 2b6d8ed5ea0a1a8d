"""The command that prints a shell's completions, made of the parsers themselves."""

from __future__ import annotations

import argparse
from typing import Any

from .._formats import formats
from .._unit import units
from .output import add_command

BASH = """\
_widthwise() {{
  local word=${{COMP_WORDS[COMP_CWORD]}} words
  case ${{COMP_WORDS[1]:-}} in
{cases}
    *) words="{commands}" ;;
  esac
  [ "$COMP_CWORD" -gt 1 ] || words="{commands}"
  COMPREPLY=($(compgen -W "$words" -- "$word"))
}}
complete -o default -F _widthwise widthwise
"""
# zsh reads bash's completions.
ZSH = "autoload -U +X compinit bashcompinit && compinit && bashcompinit\n"


def add_commands(commands: Any) -> None:
    command = add_command(
        commands,
        "completion",
        "a script that completes commands, options and names: eval it in .bashrc or .zshrc",
        "widthwise completion bash",
        "widthwise completion zsh",
        "widthwise completion fish",
    )
    command.add_argument("shell", choices=["bash", "zsh", "fish"])
    command.set_defaults(run=lambda options: run_completion(options, commands.choices))


def run_completion(options: argparse.Namespace, commands: dict[str, Any]) -> int:
    words = {name: words_of(command) for name, command in commands.items()}
    print(SCRIPTS[options.shell](words), end="")
    return 0


def words_of(command: argparse.ArgumentParser) -> list[str]:
    """Its options, and the names that its operands may be."""
    words = [
        option
        for action in command._actions
        for option in action.option_strings
        if option.startswith("--")
    ]
    operands = " ".join(str(action.metavar or "") for action in command._actions)
    if "FORMAT" in operands or "F" in operands.split():
        words += formats
    if "UNIT" in operands or "U" in operands.split():
        words += units
    return words


def bash(words: dict[str, list[str]]) -> str:
    cases = "\n".join(f'    {name}) words="{" ".join(found)}" ;;' for name, found in words.items())
    return BASH.format(cases=cases, commands=" ".join(words))


def fish(words: dict[str, list[str]]) -> str:
    first = f"complete -c widthwise -n __fish_use_subcommand -f -a '{' '.join(words)}'\n"
    return first + "".join(
        f"complete -c widthwise -n '__fish_seen_subcommand_from {name}' -a '{' '.join(found)}'\n"
        for name, found in words.items()
        if found
    )


SCRIPTS = {"bash": bash, "zsh": lambda words: ZSH + bash(words), "fish": fish}

"""Tells whether everything a shell line prints was written in the workspace.

The answer is yes only for a line that can be taken apart completely and of which every command is on a closed list.
Anything else (a substitution, an unknown command, an interpreter, a package manager) could print what a stranger wrote,
and counts as if it did: a wrong no costs a session its context, a wrong yes would let a stranger speak for the team.

Test runners and build tools are not on the list: they run code, and code fetches.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Sequence
from functools import lru_cache

from reflect.evidence.closed_list import closed_list
from reflect.evidence.places import Place
from reflect.evidence.shell_syntax import Command, NotPlain, commands_of

MAX_LINE_CHARS = 20_000
MAX_PLACES = 32

_ASSIGNMENT = re.compile(r"([A-Za-z_]\w*)=")
_HARMLESS_VARIABLES = frozenset({"CI", "COLUMNS", "FORCE_COLOR", "LANG", "LC_ALL", "LINES", "NO_COLOR", "TERM", "TZ"})


@lru_cache(maxsize=512)
def shell_danger(line: str, place: Place) -> str | None:
    """Why the output of `line` may hold a stranger's words (`shell command `curl``), or None where it cannot."""
    if len(line) > MAX_LINE_CHARS:
        return "a shell command too long to follow"
    try:
        commands = commands_of(line)
    except NotPlain as found:
        return f"a shell command with {found}"
    return _danger_of(commands, place)


def _danger_of(commands: Sequence[Command], place: Place) -> str | None:
    """A `cd` may fail, or run in a pipe of its own: a command is judged in every place where it may run."""
    places: tuple[Place, ...] = (place,)
    left: tuple[Place, ...] = ()
    piped = False
    for command in commands:
        reason, moved = _judge(command, places)
        if reason is not None:
            return reason
        if moved != places and command.joint == "&&" and not piped:
            places, left = moved, (*left, *places)
        elif moved != places:
            places = tuple(dict.fromkeys((*places, *moved)))
        if command.joint != "&&":
            places, left = tuple(dict.fromkeys((*places, *left))), ()
        if len(places) + len(left) > MAX_PLACES:
            return "a shell command that changes its directory too often to follow"
        piped = command.joint in ("|", "|&")
    return None


def _judge(command: Command, places: tuple[Place, ...]) -> tuple[str | None, tuple[Place, ...]]:
    """Why this command may print a stranger's words, and the places after it."""
    words = list(command.words)
    while words and (assigned := _ASSIGNMENT.match(words[0])):
        if assigned[1] not in _HARMLESS_VARIABLES:
            return f"a shell command with the variable {assigned[1]}", places
        words.pop(0)
    if any(place.is_foreign(path) for path in command.read_from for place in places):
        return "a shell command that reads outside the workspace", places
    if not words:
        return None, places
    if words[0] == "cd":
        return _change_directory(words[1:], places)
    reasons = (_command_danger(words[0], words[1:], place) for place in places)
    return next((reason for reason in reasons if reason is not None), None), places


def _command_danger(name: str, arguments: Sequence[str], place: Place) -> str | None:
    check = _COMMANDS.get(name)
    if check is None:
        return f"shell command `{name[:40]}`"
    if place.is_outside:
        return f"shell command `{name}` outside the workspace"
    reason = check(arguments, place)
    return None if reason is None else f"shell command `{name}` {reason}"


def _change_directory(arguments: Sequence[str], places: tuple[Place, ...]) -> tuple[str | None, tuple[Place, ...]]:
    if len(arguments) != 1 or arguments[0] == "-" or any(place.is_foreign(arguments[0]) for place in places):
        return "shell command `cd` that leaves the workspace", places
    return None, tuple(place.moved(arguments[0]) for place in places)


Check = Callable[[Sequence[str], Place], "str | None"]
"""Why these arguments of a listed command are not harmless in this place, or None."""


def _anything(arguments: Sequence[str], place: Place) -> str | None:
    return None


def _reads(arguments: Sequence[str], place: Place) -> str | None:
    """A command that prints the files it is given: they must be the project's own."""
    for argument in arguments:
        value = argument
        if argument.startswith("-"):
            if argument.startswith(("--exclude", "--ignore")):
                continue
            _, equals, value = argument.partition("=")
            if not equals:
                if "/" not in argument:
                    continue
                value = argument[argument.index("/") :]  # glued to the option's letter
        if _is_earlier_session(value) or place.is_foreign(value):
            return "on what lies outside the workspace"
    return None


def _is_earlier_session(word: str) -> bool:
    return "entire/" in word or ".entire" in word


def _grep(arguments: Sequence[str], place: Place) -> str | None:
    options = [argument for argument in arguments if argument.startswith("-")]
    recursive = any(
        option in ("--recursive", "--dereference-recursive")
        or (not option.startswith("--") and {"r", "R"} & set(option))
        for option in options
    )
    words = [argument for argument in arguments if not argument.startswith("-")]
    if recursive and (len(words) < 2 or any(word in (".", "./", "..", "*") for word in words[1:])):
        return "over the whole workspace, installed packages included"
    return _reads(_after_pattern(words, options), place)


def _after_pattern(words: Sequence[str], options: Sequence[str]) -> list[str]:
    """The files among the words of a search: all but the first, which is the pattern unless an option gives it."""
    named = any(option.startswith(("-e", "-f", "--regexp", "--file")) for option in options)
    valued = [option for option in options if "=" in option or "/" in option]
    return [*(words if named else words[1:]), *valued]


def _ripgrep(arguments: Sequence[str], place: Place) -> str | None:
    if any(
        a.startswith(("--pre", "--no-ignore", "--unrestricted", "--search-zip")) or a in ("-u", "-uu", "-uuu", "-z")
        for a in arguments
    ):
        return "beyond the project's own files"
    options = [argument for argument in arguments if argument.startswith("-")]
    words = [argument for argument in arguments if not argument.startswith("-")]
    return _reads(_after_pattern(words, options), place)


def _find(arguments: Sequence[str], place: Place) -> str | None:
    if any(a.startswith(("-exec", "-ok", "-files0-from")) for a in arguments):
        return "that runs another command"
    start: list[str] = []
    for argument in _without_first(arguments, ("-H", "-L", "-P")):
        if argument.startswith(("-", "(", "!")):
            break
        start.append(argument)
    return _reads(start, place)


def _without_first(arguments: Sequence[str], options: Sequence[str]) -> Sequence[str]:
    count = 0
    while count < len(arguments) and arguments[count] in options:
        count += 1
    return arguments[count:]


def _diff(arguments: Sequence[str], place: Place) -> str | None:
    if any(a == "--recursive" or (a[:1] == "-" and a[:2] != "--" and "r" in a) for a in arguments):
        return "over whole folders"
    return _reads(arguments, place)


def _date(arguments: Sequence[str], place: Place) -> str | None:
    if any(argument.startswith(("-f", "--file")) for argument in arguments):
        return "of the lines of a file"
    return None


_SED_SCRIPT = re.compile(
    r"(?:\$|\d+)(?:,(?:\$|\d+|\+\d+))?[pdq]|/[^/{}]*/(?:,/[^/{}]*/)?[pd]|(?:\d+|\$)?s([/|#,@])(?:(?!\1).)*\1(?:(?!\1).)*\1[gip0-9]*"
)


def _sed(arguments: Sequence[str], place: Place) -> str | None:
    words = [argument for argument in arguments if not argument.startswith("-")]
    options = [argument for argument in arguments if argument.startswith("-")]
    if (
        any(option not in ("-n", "-i", "-E", "-r", "-i.bak", "-e", "-ne", "-nE", "--quiet") for option in options)
        or not words
    ):
        return "with options that cannot be followed"
    if len([option for option in options if option.startswith(("-e", "-ne"))]) > 1:
        return "with several scripts"
    if not all(_SED_SCRIPT.fullmatch(part.strip()) for part in words[0].split(";") if part.strip()):
        return "with a script that cannot be followed"
    return _reads(words[1:], place)


def _awk(arguments: Sequence[str], place: Place) -> str | None:
    words: list[str] = []
    skip = False
    for argument in arguments:
        if skip:
            skip = False
        elif argument in ("-F", "-v"):
            skip = True
        elif argument.startswith("-F"):
            continue
        elif argument.startswith("-"):
            return "with options that cannot be followed"
        else:
            words.append(argument)
    if not words or re.search(r"system|getline|ARGV|[|@]|close|print\s*>|\bin\b.*<", words[0]):
        return "with a script that cannot be followed"
    return _reads(words[1:], place)


def _sort(arguments: Sequence[str], place: Place) -> str | None:
    if any(argument.startswith(("--compress-program", "--files0-from")) for argument in arguments):
        return "that runs another command"
    return _reads(arguments, place)


_LOCAL_GIT = closed_list(
    """
    add annotate apply blame branch cat-file check-ignore cherry cherry-pick checkout clean commit count-objects
    describe diff diff-files diff-index diff-tree for-each-ref grep hash-object init log ls-files ls-tree merge
    merge-base mv name-rev notes range-diff rebase reflog reset restore rev-list rev-parse revert rm shortlog show
    show-branch show-ref stash status switch symbolic-ref tag version whatchanged worktree write-tree
    """
)
"""Subcommands that reach no other repository."""

_GIT_RUNS_OTHERS = (
    "--exec",
    "--ext-diff",
    "--textconv",
    "--open-files-in-pager",
    "--upload-pack",
    "--remote",
    "--extcmd",
)


def _git(arguments: Sequence[str], place: Place) -> str | None:
    rest = list(arguments)
    while rest and rest[0].startswith("-"):
        option = rest.pop(0)
        if option == "-C":
            if not rest or place.is_foreign(rest[0]):
                return "outside the workspace"
            rest.pop(0)
        elif option not in ("--no-pager", "--no-optional-locks", "--version", "--literal-pathspecs", "-P"):
            return f"with {option.split('=')[0][:40]}"
    if not rest:
        return None
    subcommand, words = rest[0], rest[1:]
    if subcommand == "config" and words and words[0] in ("--get", "--get-all", "--list", "-l"):
        return None
    if subcommand == "remote" and words in ([], ["-v"], ["--verbose"]):
        return None
    if subcommand not in _LOCAL_GIT:
        return f"{subcommand[:40]}"
    if any(word.startswith(_GIT_RUNS_OTHERS) for word in words) or (subcommand == "rebase" and "-x" in words):
        return f"{subcommand} that runs another command"
    if subcommand == "grep" and any(word.startswith("-O") for word in words):
        return "grep that runs another command"
    if subcommand == "grep" and any(word.startswith(("--no-index", "--untracked", "--no-ex")) for word in words):
        return "grep beyond the project's own files"
    if any(_is_earlier_session(word) for word in words):
        return f"{subcommand} of recorded sessions"
    return _git_paths(subcommand, words, place)


_TAKES_A_TEXT = closed_list("--message --author --date --format --grep -S -G --since --until")


def _git_paths(subcommand: str, words: Sequence[str], place: Place) -> str | None:
    skip = False
    for word in words:
        if skip:
            skip = False
        elif word in _TAKES_A_TEXT or (word.endswith("m") and word[:1] == "-" and word[:2] != "--"):
            skip = True
        elif not word.startswith("-") and place.is_foreign(word.rpartition(":")[2] or "."):
            return f"{subcommand} on what lies outside the workspace"
    return None


_PRINTS_NO_FILE = closed_list(
    """
    : [ basename chmod dirname echo exit false mkdir nproc printf pwd rm rmdir seq sleep test touch tr true type uname
    wait     which whoami
    """
)
_READERS = closed_list(
    """
    base64 black cat cksum cmp column comm cp cut du expand file fmt fold gofmt head hexdump isort jq ln ls md5sum
    mv nl od paste readlink realpath rev ruff rustfmt sha1sum sha256sum shellcheck stat strings tac tail tee tree
    uniq wc xxd
    """
)

_COMMANDS: dict[str, Check] = {
    **dict.fromkeys(_PRINTS_NO_FILE, _anything),
    **dict.fromkeys(_READERS, _reads),
    "awk": _awk,
    "date": _date,
    "diff": _diff,
    "egrep": _grep,
    "fgrep": _grep,
    "find": _find,
    "git": _git,
    "grep": _grep,
    "rg": _ripgrep,
    "sed": _sed,
    "sort": _sort,
}
"""Every command whose output cannot hold more than the project's own files, with what must hold of its arguments."""

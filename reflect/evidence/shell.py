"""Tells whether everything a shell line prints was written in the workspace.

The answer is yes only for a line that can be taken apart completely and of which every command is on a closed list.
Anything else (a substitution, an unknown command, an interpreter, a package manager) could print what a stranger wrote,
and counts as if it did: a wrong no costs a session its context, a wrong yes would let a stranger speak for the team.

Test runners and build tools are not on the list: they run code, and code fetches.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Sequence
from dataclasses import dataclass, field

from reflect.evidence.closed_list import closed_list
from reflect.evidence.places import Place

MAX_LINE_CHARS = 20_000

_QUOTED_HERE_TEXT = re.compile(r"\$\(\s*cat\s+<<-?\s*(['\"])(\w+)\1\n(?:.*?\n)??\s*\2\s*\)", re.DOTALL)
"""`$(cat <<'END' … END)`: agents write commit messages this way. With its mark in quotes the text is taken as it is."""

_ASSIGNMENT = re.compile(r"([A-Za-z_]\w*)=")
_HARMLESS_VARIABLES = frozenset(
    {"CI", "COLUMNS", "FORCE_COLOR", "LANG", "LC_ALL", "LINES", "NO_COLOR", "TERM", "TZ", "GIT_PAGER_IN_USE"}
)


_PLAIN = re.compile(r"[\w\-./=,:@%+*?~^!\[\]]+")
"""Signs that mean nothing to the shell but themselves, or a file name pattern."""


class NotPlain(Exception):
    """The line holds something that cannot be followed; the message says what."""


@dataclass(slots=True)
class _Command:
    words: list[str] = field(default_factory=list)
    read_from: list[str] = field(default_factory=list)


def shell_danger(line: str, place: Place) -> str | None:
    """Why the output of `line` may hold a stranger's words (`shell command `curl``), or None where it cannot."""
    if len(line) > MAX_LINE_CHARS:
        return "a shell command too long to follow"
    try:
        commands = _Lexer(_QUOTED_HERE_TEXT.sub("TEXT", line)).commands()
    except NotPlain as found:
        return f"a shell command with {found}"
    for command in commands:
        reason, place = _judge(command, place)
        if reason is not None:
            return reason
    return None


def _judge(command: _Command, place: Place) -> tuple[str | None, Place]:
    words = list(command.words)
    while words and (assigned := _ASSIGNMENT.match(words[0])):
        if assigned[1] not in _HARMLESS_VARIABLES:
            return f"a shell command with the variable {assigned[1]}", place
        words.pop(0)
    if any(place.is_foreign(path) for path in command.read_from):
        return "a shell command that reads outside the workspace", place
    if not words:
        return None, place
    name, arguments = words[0], words[1:]
    if name == "cd":
        return _change_directory(arguments, place)
    check = _COMMANDS.get(name)
    if check is None:
        return f"shell command `{name[:40]}`", place
    if place.is_outside:
        return f"shell command `{name}` outside the workspace", place
    reason = check(arguments, place)
    return (None if reason is None else f"shell command `{name}` {reason}"), place


def _change_directory(arguments: Sequence[str], place: Place) -> tuple[str | None, Place]:
    if len(arguments) != 1 or arguments[0] == "-" or place.is_foreign(arguments[0]):
        return "shell command `cd` that leaves the workspace", place
    return None, place.moved(arguments[0])


class _Lexer:
    """Splits a line into commands; `NotPlain` for whatever runs another command or hides a word."""

    def __init__(self, line: str) -> None:
        self._line = line.replace("\r\n", "\n")
        self._at = 0
        self._commands: list[_Command] = []
        self._command = _Command()
        self._word: list[str] | None = None
        self._redirection: str | None = None
        self._here_marks: list[tuple[str, bool]] = []

    def commands(self) -> list[_Command]:
        while self._at < len(self._line):
            if plain := _PLAIN.match(self._line, self._at):
                self._add(plain[0])
                self._at = plain.end()
            else:
                self._step(self._line[self._at])
        self._end_command()
        if self._here_marks:
            raise NotPlain("a here-document without an end")
        return self._commands

    def _step(self, sign: str) -> None:
        self._at += 1
        if sign == "'":
            self._single_quoted()
        elif sign == '"':
            self._double_quoted()
        elif sign == "\\":
            self._escaped()
        elif sign in "$`":
            self._add(self._expansion(sign))
        elif sign == "\n":
            self._end_command()
            self._skip_here_documents()
        elif sign in " \t":
            self._end_word()
        elif sign in ";|&":
            self._separator(sign)
        elif sign in "<>":
            self._redirect(sign)
        elif sign == "#" and self._word is None:
            end = self._line.find("\n", self._at)
            self._at = len(self._line) if end < 0 else end
        elif sign in "(){}":
            self._bracket(sign)
        else:
            self._add(sign)

    def _add(self, text: str) -> None:
        if self._word is None:
            self._word = []
        self._word.append(text)

    def _single_quoted(self) -> None:
        end = self._line.find("'", self._at)
        if end < 0:
            raise NotPlain("an open quote")
        self._add(self._line[self._at : end])
        self._at = end + 1

    def _double_quoted(self) -> None:
        self._add("")
        while self._at < len(self._line):
            sign = self._line[self._at]
            self._at += 1
            if sign == '"':
                return
            if sign in "$`":
                self._add(self._expansion(sign, quoted=True))
            elif sign == "\\" and self._at < len(self._line):
                self._add(self._line[self._at])
                self._at += 1
            else:
                self._add(sign)
        raise NotPlain("an open quote")

    def _escaped(self) -> None:
        if self._at >= len(self._line):
            raise NotPlain("an open escape")
        if self._line[self._at] != "\n":
            self._add(self._line[self._at])
        self._at += 1

    def _expansion(self, sign: str, *, quoted: bool = False) -> str:
        following = self._line[self._at : self._at + 1]
        if sign == "`" or following == "(":
            raise NotPlain("a command substitution")
        if following and following in "?#!$":
            self._at += 1
            return "0"
        if following == "" or following in " \t\n|/:.,)%" or (quoted and following in "\"'"):
            return "$"  # not an expansion
        raise NotPlain("a variable")

    def _bracket(self, sign: str) -> None:
        if sign in "()":
            raise NotPlain("a subshell or a group")
        # HEAD@{1} and find's {} are words; {a,b} is a list of words and { opens a group
        end = self._line.find("}", self._at)
        inside = self._line[self._at : end] if end >= 0 else ","
        if sign == "}" and self._word is not None:
            self._add(sign)
        elif sign == "}" or "," in inside or ".." in inside or (self._word is None and inside):
            raise NotPlain("a list in braces or a group")
        else:
            self._add(sign)

    def _separator(self, sign: str) -> None:
        if sign == "&" and self._line[self._at : self._at + 1] == ">":
            self._end_word()
            self._at += 1
            self._redirection = ">"
            return
        self._end_command()
        if self._line[self._at : self._at + 1] in ("&", "|", ";"):
            self._at += 1

    def _redirect(self, sign: str) -> None:
        if self._word is not None and "".join(self._word).isdigit():
            self._word = None  # the number of a file descriptor
        self._end_word()
        if self._line.startswith("(", self._at):
            raise NotPlain("a process substitution")
        if sign == "<" and self._line.startswith("<", self._at):
            self._at += 1
            if self._line.startswith("<", self._at):
                self._at += 1
                self._redirection = "text"
            else:
                self._here_document()
            return
        while self._at < len(self._line) and self._line[self._at] in ">|&":
            self._at += 1
        self._redirection = sign

    def _here_document(self) -> None:
        found = re.compile(r"-?[ \t]*(?:(['\"])([^'\"\n]+)\1|\\?([A-Za-z_]\w*))").match(self._line, self._at)
        if found is None:
            raise NotPlain("a here-document without a mark")
        self._at = found.end()
        literal = found[1] is not None or self._line[found.start() : found.end()].lstrip("- \t").startswith("\\")
        self._here_marks.append((found[2] or found[3], literal))

    def _skip_here_documents(self) -> None:
        for mark, literal in self._here_marks:
            lines = []
            while True:
                if self._at >= len(self._line):
                    raise NotPlain("a here-document without an end")
                end = self._line.find("\n", self._at)
                end = len(self._line) if end < 0 else end
                line = self._line[self._at : end]
                self._at = end + 1
                if line.lstrip("\t") == mark:
                    break
                lines.append(line)
            body = "\n".join(lines)
            if not literal and ("$" in body or "`" in body):
                raise NotPlain("an expanding here-document")
        self._here_marks.clear()

    def _end_word(self) -> None:
        if self._word is None:
            return
        word = "".join(self._word)
        self._word = None
        if self._redirection is None:
            self._command.words.append(word)
        elif self._redirection == "<":
            self._command.read_from.append(word)
        self._redirection = None

    def _end_command(self) -> None:
        self._end_word()
        if self._redirection is not None:
            raise NotPlain("a redirection to nowhere")
        if self._command.words or self._command.read_from:
            self._commands.append(self._command)
        self._command = _Command()


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
                continue
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
    valued = [option for option in options if "=" in option]
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
    for argument in arguments:
        if argument.startswith(("-", "(", "!")):
            break
        start.append(argument)
    return _reads(start, place)


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
    : [ basename chmod date dirname echo exit false mkdir nproc printf pwd rm rmdir seq sleep test touch true type uname
    wait     which whoami
    """
)
_READERS = closed_list(
    """
    base64 black cat cksum cmp column comm cp cut diff du expand file fmt fold gofmt head hexdump isort jq ln ls md5sum
    mv nl od paste readlink realpath rev ruff rustfmt sha1sum sha256sum shellcheck stat strings tac tail tee tr tree
    uniq wc xxd
    """
)

_COMMANDS: dict[str, Check] = {
    **dict.fromkeys(_PRINTS_NO_FILE, _anything),
    **dict.fromkeys(_READERS, _reads),
    "awk": _awk,
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

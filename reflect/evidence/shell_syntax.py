"""Takes a shell line apart into its commands, as far as that can be done without running anything."""

from __future__ import annotations

import re
from dataclasses import dataclass, field

_QUOTED_HERE_TEXT = re.compile(
    r"\$\(\s*cat\s+<<-?[ \t]*(['\"])(?P<mark>\w+)\1\n(?:(?!\t*(?P=mark)\n)[^\n]*\n)*\t*(?P=mark)\n\s*\)"
)
"""`$(cat <<'END' … END)`: agents write commit messages this way. With its mark in quotes the text is taken as it is, up
to the first line that is the mark."""

_PLAIN = re.compile(r"[\w\-./=,:@%+*?~^!\[\]]+")
"""Signs that mean nothing to the shell but themselves, or a file name pattern."""


_ONE_PLAIN_COMMAND = re.compile(r"[\w\-./=,:@%+*?~^!\[\] ]+")


class NotPlain(Exception):
    """The line holds something that cannot be followed; the message says what."""


@dataclass(slots=True)
class Command:
    """The words of one command, the files its input is read from, and the sign that joins it to the next."""

    words: list[str] = field(default_factory=list)
    read_from: list[str] = field(default_factory=list)
    joint: str = ""


def commands_of(line: str) -> list[Command]:
    """The commands of `line`; NotPlain where one runs another, hides a word, or cannot be followed."""
    if _ONE_PLAIN_COMMAND.fullmatch(line):
        return [Command([word for word in line.split(" ") if word])] if line.strip() else []
    return _Lexer(_QUOTED_HERE_TEXT.sub("TEXT", line)).commands()


class _Lexer:
    """Walks a line sign by sign."""

    def __init__(self, line: str) -> None:
        self._line = line.replace("\r\n", "\n")
        self._at = 0
        self._commands: list[Command] = []
        self._command = Command()
        self._word: list[str] | None = None
        self._redirection: str | None = None
        self._here_marks: list[tuple[str, bool]] = []

    def commands(self) -> list[Command]:
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
            self._end_command("\n")
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
        end = self._line.find("}", self._at)
        inside = self._line[self._at : end] if sign == "{" and end >= 0 else None
        if inside == "" or (inside is not None and inside.isalnum() and self._ends_in_at()):
            # find's {} and git's HEAD@{1} are words; every other brace opens a list of words or a group
            self._add("{" + inside + "}")
            self._at = end + 1
        else:
            raise NotPlain("a list in braces or a group")

    def _ends_in_at(self) -> bool:
        return self._word is not None and self._word[-1].endswith("@")

    def _separator(self, sign: str) -> None:
        if sign == "&" and self._line[self._at : self._at + 1] == ">":
            self._end_word()
            self._at += 1
            self._redirection = ">"
            return
        joint = sign
        if self._line[self._at : self._at + 1] in ("&", "|", ";"):
            joint += self._line[self._at]
            self._at += 1
        self._end_command(joint)

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

    def _end_command(self, joint: str = "") -> None:
        self._end_word()
        if self._redirection is not None:
            raise NotPlain("a redirection to nowhere")
        if self._command.words or self._command.read_from:
            self._command.joint = joint
            self._commands.append(self._command)
        self._command = Command()

"""Split a command line for a POSIX shell into its simple commands, as far as their text is known before it runs.

This is no complete parser of bash: it follows quotes, separators, substitutions, redirections and here-documents, and
marks everything that only the shell can know.
"""

import re

UNKNOWN = "\0"
"""Stands in a word for text that is known only when the command runs. A command that contains NUL never runs."""

DEPTH = 10
"""How deep substitutions and commands within commands are followed."""

_ARITHMETIC = re.compile(r"\$?\(\([^()`$]*(?:\([^()`$]*\)[^()`$]*)*\)\)")
_REDIRECTION = re.compile(r"&?[<>]{1,3}[&|-]?")
# bounded: each is tried at every bracket of a long command
_BRACKET_SET = re.compile(r"\[[^\s\]]{1,200}\]")
_BRACE_EXPANSION = re.compile(r"\{\S{0,200}(?:,|\.\.)")
_PARAMETER = re.compile(r"\$(?:[A-Za-z_][A-Za-z0-9_]*|[0-9@*#?$!-])")
_ANSI_QUOTED = re.compile(r"\$'(?:[^'\\]|\\.)*(?:'|\Z)", re.DOTALL)
_BACKQUOTED = re.compile(r"`((?:[^`\\]|\\.?)*)(?:`|\Z)", re.DOTALL)
_DESCRIPTOR = re.compile(r"[0-9]+|\{[A-Za-z_][A-Za-z0-9_]*\}")
_ENDS_MISSED = 20
"""After so many here-documents without an end none is looked for: each search reads the rest of the command."""


class ShellReader:
    """Reads a command line once, from its start to its end.

    Args:
        text: The command line.
        depth: How many command lines contain this one.

    Attributes:
        commands: The words of each simple command, without quotes and redirections, in the order in which they end.
        depth: How many command lines and substitutions contain the present position.
        is_complete: False if something was nested too deep to be read.
    """

    def __init__(self, text: str, depth: int = 0) -> None:
        self.commands: list[list[str]] = []
        self.is_complete = True
        self._text = text
        self.depth = depth
        self._at = 0
        self._ends_missed = 0

    def read(self) -> None:
        """Read all commands."""
        while self._at < len(self._text):
            self._read_commands()

    def read_expansions(self) -> None:
        """Read only the substitutions, as in the body of a here-document."""
        ignored = _Line()
        while self._at < len(self._text):
            character = self._text[self._at]
            if character in "$`":
                self._read_expansion(ignored)
            else:
                self._at += 2 if character == "\\" else 1

    def _read_commands(self, *, is_nested: bool = False) -> None:
        """Read to the end, or to the `)` that ends a substitution."""
        line = _Line()
        open_groups = 0
        while self._at < len(self._text):
            character = self._text[self._at]
            if character in " \t":
                line.end_word()
                self._at += 1
            elif character == "#" and line.word is None:
                self._skip_comment()
            elif character == ")" and is_nested and not open_groups:
                self._at += 1
                break
            elif self._read_arithmetic(line) or self._read_redirection(line):
                continue
            elif character in ";&|()\n":
                open_groups += (character == "(") - (character == ")" and open_groups > 0)
                self._end_command(line)
                self._at += 1
                if character == "\n":
                    self._skip_here_documents(line)
            else:
                self._read_part(line, character)
        self._end_command(line)

    def _end_command(self, line: "_Line") -> None:
        if words := line.end_command():
            self.commands.append(words)

    def _skip_comment(self) -> None:
        end = self._text.find("\n", self._at)
        self._at = len(self._text) if end < 0 else end

    def _read_arithmetic(self, line: "_Line") -> bool:
        character = self._text[self._at]
        found = _ARITHMETIC.match(self._text, self._at) if character in "$(" else None
        if found is None:
            return False
        if character == "$":
            line.add(UNKNOWN)
        self._at = found.end()
        return True

    def _read_redirection(self, line: "_Line") -> bool:
        if self._text.startswith(("<(", ">("), self._at):
            self._at += 2
            self._read_substitution()
            line.add(UNKNOWN)
            return True
        found = _REDIRECTION.match(self._text, self._at)
        if found is None:
            return False
        line.begin_redirection(found[0])
        self._at = found.end()
        return True

    def _read_part(self, line: "_Line", character: str) -> None:
        """Read a quoted text, an expansion, or one character of a word."""
        if character == "'":
            end = self._text.find("'", self._at + 1)
            end = len(self._text) if end < 0 else end
            line.add(self._text[self._at + 1 : end], is_quoted=True)
            self._at = end + 1
        elif character == '"':
            self._at += 1
            self._read_double_quoted(line)
        elif character == "\\":
            following = self._text[self._at + 1 : self._at + 2]
            if following != "\n":
                line.add(following, is_quoted=True)
            self._at += 2
        elif character in "$`":
            self._read_expansion(line)
        elif character in "*?" or (character == "[" and _BRACKET_SET.match(self._text, self._at)):
            line.add(UNKNOWN)
            self._at += 1
        else:
            if character == "{" and _BRACE_EXPANSION.match(self._text, self._at):
                line.is_word_unknown = True
            line.add(character)
            self._at += 1

    def _read_double_quoted(self, line: "_Line") -> None:
        line.add("", is_quoted=True)
        while self._at < len(self._text):
            character = self._text[self._at]
            if character == '"':
                self._at += 1
                return
            if character == "\\" and self._text[self._at + 1 : self._at + 2] in ("$", "`", '"', "\\", "\n"):
                following = self._text[self._at + 1]
                line.add("" if following == "\n" else following)
                self._at += 2
            elif character in "$`":
                self._read_expansion(line)
            else:
                line.add(character)
                self._at += 1

    def _read_expansion(self, line: "_Line") -> None:
        """Read what begins with `$` or a backquote; commands in it are read, its value is unknown."""
        text = self._text
        if text.startswith("`", self._at):
            found = _BACKQUOTED.match(text, self._at)
            assert found is not None  # noqa: S101 - the expression matches at any backquote
            self._read_inner(ShellReader(re.sub(r"\\([`\\$])", r"\1", found[1]), self.depth + 1))
            self._at = found.end()
        elif _ARITHMETIC.match(text, self._at):
            self._read_arithmetic(line)
            return
        elif text.startswith("$(", self._at):
            self._at += 2
            self._read_substitution()
        elif text.startswith("${", self._at):
            self._at += 2
            self._read_parameter()
        elif text.startswith("$'", self._at) and (quoted := _ANSI_QUOTED.match(text, self._at)):
            self._at = quoted.end()
        elif parameter := _PARAMETER.match(text, self._at):
            self._at = parameter.end()
        elif text.startswith('$"', self._at):
            self._at += 1
            return
        else:
            line.add("$")
            self._at += 1
            return
        line.add(UNKNOWN)

    def _read_substitution(self) -> None:
        if self._begin_inner():
            self._read_commands(is_nested=True)
            self.depth -= 1

    def _begin_inner(self) -> bool:
        """Count a substitution; False, with the rest skipped, if it is nested too deep."""
        if self.depth >= DEPTH:
            self.is_complete = False
            self._at = len(self._text)
            return False
        self.depth += 1
        return True

    def _read_parameter(self) -> None:
        """Read to the `}` of a parameter, with the substitutions in it."""
        if self._begin_inner():
            self._read_parameter_text()
            self.depth -= 1

    def _read_parameter_text(self) -> None:
        ignored = _Line()
        while self._at < len(self._text):
            character = self._text[self._at]
            if character == "}":
                self._at += 1
                return
            if character in " \t\n;&|()<>#{":
                self._at += 1
            else:
                self._read_part(ignored, character)

    def _read_inner(self, inner: "ShellReader", *, has_commands: bool = True) -> None:
        if inner.depth > DEPTH:
            self.is_complete = False
            return
        if has_commands:
            inner.read()
        else:
            inner.read_expansions()
        self.commands += inner.commands
        self.is_complete = self.is_complete and inner.is_complete

    def _skip_here_documents(self, line: "_Line") -> None:
        """Skip the bodies that begin on this line; a body without an end is read as commands, to hide nothing."""
        for delimiter, is_expanded in line.take_here_documents():
            if self._ends_missed >= _ENDS_MISSED:
                return
            end = re.compile(rf"^\t*{re.escape(delimiter)}$", re.MULTILINE).search(self._text, self._at)
            if end is None:
                self._ends_missed += 1
                return
            if is_expanded:
                body = self._text[self._at : end.start()]
                self._read_inner(ShellReader(body, self.depth + 1), has_commands=False)
            self._at = end.end()


class _Line:
    """The command that is being read.

    Attributes:
        word: The word that is being read; None: none has begun.
        is_word_unknown: True if nothing of the word is known.
    """

    def __init__(self) -> None:
        self.word: str | None = None
        self.is_word_unknown = False
        self._parts: list[str] = []
        self._words: list[str] = []
        self._redirection = ""
        self._is_quoted = False
        self._here_documents: list[tuple[str, bool]] = []

    def add(self, text: str, *, is_quoted: bool = False) -> None:
        self.word = ""
        self._parts.append(text)
        self._is_quoted = self._is_quoted or is_quoted

    def end_word(self) -> None:
        if self.word is None:
            return
        word = UNKNOWN if self.is_word_unknown else "".join(self._parts)
        if not self._redirection:
            self._words.append(word)
        elif self._redirection in ("<<", "<<-"):
            self._here_documents.append((word, not self._is_quoted))
        self.word = None
        self._parts = []
        self._redirection = ""
        self._is_quoted = False
        self.is_word_unknown = False

    def begin_redirection(self, operator: str) -> None:
        if self.word is not None and _DESCRIPTOR.fullmatch("".join(self._parts)):
            self.word = None
            self._parts = []
        self.end_word()
        self._redirection = operator

    def end_command(self) -> list[str]:
        self.end_word()
        words = self._words
        self._words = []
        self._redirection = ""
        return words

    def take_here_documents(self) -> list[tuple[str, bool]]:
        found = self._here_documents
        self._here_documents = []
        return found

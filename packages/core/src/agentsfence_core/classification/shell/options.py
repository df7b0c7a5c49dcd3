"""Option parsing as programs do it: bundles, glued values, ``--name=value``, abbreviations, ``--``."""

from __future__ import annotations

from agentsfence_core.classification.shell.rows import Option, OptionTable, Role
from agentsfence_core.classification.shell.words import Word

Given = tuple[str, Option, Word | None]
"""Full name without dashes, what it does, its value."""


_DOES_LITTLE = frozenset({Role.TEXT, Role.FLAG, Role.READ, Role.TARGET})


def _worst(options: list[tuple[str, Option]]) -> tuple[str, Option]:
    """Return the option that does most: an abbreviation that could be several things is the worst of them."""
    for name, option in options:
        if option.role not in _DOES_LITTLE or option.also:
            return name, option
    return options[0]


def find_long(name: str, table: OptionTable) -> tuple[str, Option] | None:
    """Return a long option under its full name, abbreviated or not; ``None`` where the row does not name it."""
    option = table.long.get(name)
    if option is not None:
        return name, option
    matches = [(long, known) for long, known in table.long.items() if long.startswith(name)] if name else []
    return _worst(matches) if matches else None


class Split:
    """A command line taken apart."""

    __slots__ = ("_place", "_table", "_words", "given", "operands", "strays")

    def __init__(self, words: list[Word], table: OptionTable, *, posix: bool, single: bool) -> None:
        """Take the words after the program's name apart."""
        self.given: list[Given] = []
        self.operands: list[Word] = []
        self.strays: list[str] = []
        """Options that the row does not name."""
        self._table = table
        self._words = words
        self._place = 0
        count = len(words)
        while self._place < count:
            word = words[self._place]
            self._place += 1
            text = word.text
            if len(text) < 2 or text[0] != "-":
                self.operands.append(word)
                if posix:
                    self.operands += words[self._place :]
                    return
            elif text == "--":
                self.operands += words[self._place :]
                return
            elif text[1] == "-":
                self._long(word, text[2:], 2)
            elif single and self._single(word, text[1:]):
                pass
            else:
                self._bundle(word)

    def asks(self, *names: str) -> bool:
        """Whether an option without value that the row does not name is there, in a bundle or abbreviated."""
        return any(
            stray in names or (len(stray) > 1 and any(name.startswith(stray) for name in names))
            for stray in self.strays
        )

    def _next(self) -> Word | None:
        if self._place < len(self._words):
            self._place += 1
            return self._words[self._place - 1]
        return None

    def _long(self, word: Word, text: str, skip: int) -> None:
        written, equals, _ = text.partition("=")
        found = find_long(written, self._table)
        if found is None:
            self.strays.append(written)
            return
        name, option = found
        if equals:
            self.given.append((name, option, word.after(skip + len(written) + 1)))
        else:
            self.given.append((name, option, self._next() if option.takes in {"=", "2"} else None))
            if option.takes == "2":
                self._next()

    def _single(self, word: Word, text: str) -> bool:
        """Read ``-name value`` as one option, for programs that write long options so."""
        name = text.partition("=")[0]
        if name not in self._table.long:
            return False
        self._long(word, text, 1)
        return True

    def _bundle(self, word: Word) -> None:
        text = word.text
        for place in range(1, len(text)):
            option = self._table.short.get(text[place])
            if option is None:
                if not text[place].isdigit():
                    self.strays.append(text[place])
                continue
            glued = word.after(place + 1) if place + 1 < len(text) else None
            if option.takes == "=":
                self.given.append((text[place], option, glued or self._next()))
                return
            if option.takes == "?":
                self.given.append((text[place], option, glued))
                return
            self.given.append((text[place], option, None))

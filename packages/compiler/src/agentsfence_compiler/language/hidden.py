"""Characters that nobody sees: taken out before reading, and put back into the spans (DESIGN 7.2).

"Ne<zero width space>ver delete anything" is read as the person sees it. Where a hidden character stood instead of a
space, the bans of that reading count too.
"""

from __future__ import annotations

import re
from bisect import bisect_right
from dataclasses import replace
from itertools import accumulate

from agentsfence_compiler.language.reading import Reading

_HIDDEN = re.compile(
    "[\u00ad\u034f\u061c\u115f\u1160\u17b4\u17b5\u180b-\u180e\u200b\u200e\u200f\u202a-\u202e\u2060-\u206f\u3164\ufe00-\ufe0f"
    "\ufeff\uffa0\ufff9-\ufffb\U000e0000-\U000e0fff]|(?<=[\\x00-\u024f])[\u200c\u200d]"
)
"""Format characters; joiners only behind Latin letters, since other scripts write with them."""


class Visible:
    """A text without its hidden characters, and where each of the rest stood."""

    def __init__(self, text: str) -> None:
        """Take the hidden characters out of a text."""
        self.whole = text
        cuts = [found.start() for found in _HIDDEN.finditer(text)]
        self.text = _HIDDEN.sub("", text) if cuts else text
        self.spaced = _HIDDEN.sub(" ", text) if cuts else ""
        """The text with spaces in their place, empty where there were none."""
        self._cuts = [cut - count for count, cut in enumerate(cuts)]
        self._shifts = list(accumulate((1 for _ in cuts), initial=0))

    def origin(self, at: int) -> int:
        """Return where a character of the visible text stood."""
        return at + self._shifts[bisect_right(self._cuts, at)]

    def span(self, start: int, end: int) -> tuple[int, int]:
        """Return the span of the whole text that a span of the visible text was."""
        return self.origin(start), self.origin(end - 1) + 1 if end > start else self.origin(start)

    def mapped(self, reading: Reading) -> Reading:
        """Return a reading of the visible text with the spans and quotes of the whole text."""
        if not self._cuts:
            return reading
        requests = []
        for request in reading.requests:
            start, end = self.span(request.start, request.end)
            requests.append(replace(request, start=start, end=end, quote=self.whole[start:end]))
        clauses = []
        for clause in reading.clauses:
            start, end = self.span(clause.start, clause.end)
            clauses.append(replace(clause, start=start, end=end))
        return replace(reading, requests=tuple(requests), clauses=tuple(clauses))

"""Long options that no row names but whose own name says that they act: ``--extract-with=cmd``, ``--out=f``.

A row's reading default holds for the options that it names and for those that say nothing of the kind. An option called
``--exec`` or ``--output-file`` does the same in every program that has one.
"""

from __future__ import annotations

import re
from typing import TYPE_CHECKING, Final

from agentsfence_core.classification.shell.options import find_long

if TYPE_CHECKING:
    from agentsfence_core.classification.shell.call import Call
    from agentsfence_core.classification.shell.rows import OptionTable
    from agentsfence_core.classification.shell.words import Word

_RUN_PARTS: Final = frozenset(
    """exec execute eval evaluate command cmd script scripts plugin plugins hook hooks toolexec renderer preprocessor
    interpreter viewer editor pager browser lua spawn""".split()
)
_RUN_NAMES: Final = frozenset({"extract-with", "diff-program", "use-compress-program", "pre", "preload"})
_WRITE_NAMES: Final = frozenset(
    """out output outfile output-file out-file outdir out-dir output-dir output-directory output-path save save-to
    save-as log log-file logfile report-file
    write write-to export-to dest destination extract-media dump-to""".split()
)
_DENIES: Final = ("no-", "without-", "list-", "show-", "disable-", "skip-", "ignore-", "exclude-")
_FORMATS: Final = re.compile(
    r"(?:json|yaml|yml|table|text|txt|csv|tsv|wide|name|plain|xml|html|markdown|md|sarif|ndjson|jsonl|pretty|compact|short|"
    r"full|raw|none|human|line|off|on|true|false|info|debug|warn|warning|error|go-template|jsonpath|custom-columns|toml|"
    r"github|junit|checkstyle|tree|flat|list|cat|verbose|-|[A-Z][A-Z0-9_:,%+-]{0,200}|/dev/stdout|/dev/stderr|/dev/null)(?:[-=:].{0,400})?"
)


def loose_options(call: Call, words: list[Word], table: OptionTable, *, single: bool) -> None:
    """Add what options that the row does not name do by their own names."""
    for place, word in enumerate(words):
        text = word.text
        if text[:1] != "-" or len(text) < 4 or not (single or text[1] == "-"):
            continue
        if text == "--":
            return
        name, equals, _ = text.lstrip("-").partition("=")
        if name.startswith(_DENIES) or find_long(name, table) is not None:
            continue
        if name in _RUN_NAMES or not _RUN_PARTS.isdisjoint(name.replace("_", "-").split("-")[:6]):
            call.unseen(f"an option that starts a program: --{name[:40]}")
        elif name in _WRITE_NAMES:
            value = word.after(text.index("=") + 1) if equals else words[place + 1] if place + 1 < len(words) else None
            if value is not None and value.text[:1] != "-" and _FORMATS.fullmatch(value.text[:420]) is None:
                call.path("file.write", value)

"""Tool names and argument names as words: ``mcp__gmail__sendMessage`` is *mcp gmail send message*.

Rules of this file:

* Reading a name is linear in its length, and a name is read once: plans and key roles are remembered by name.
* No word decides anything here; `verbs` and the catalogue give words their meaning.
"""

from __future__ import annotations

import re
from collections.abc import Mapping
from functools import lru_cache
from typing import Final

NAME_LENGTH: Final = 256
"""Characters of a tool or argument name that are read as words; a longer name says nothing."""

_WORD = re.compile(r"[A-Z]+(?![a-z])|[A-Z]?[a-z]+|[0-9]+|[^\W\d_A-Za-z]+")
_COMPOUNDS: Final = {
    "postmessage": "post message",
    "sendmessage": "send message",
    "sendmail": "send mail",
    "sendemail": "send email",
    "readfile": "read file",
    "writefile": "write file",
    "deletefile": "delete file",
    "listfiles": "list files",
    "createfile": "create file",
    "runcommand": "run command",
    "pullrequest": "pull request",
    "freebusy": "freebusy",
    "multiedit": "multi edit",
    "websearch": "web search",
    "webfetch": "web fetch",
    "todowrite": "todo write",
    "getorder": "get order",
    "signup": "sign up",
    "signin": "log in",
    "login": "log in",
    "logout": "log out",
    "todos": "todos",
}
"""Words that are commonly written together, and would hide a verb."""

_KEEP_S: Final = frozenset(
    "status address access dns ids news https css js os sms kubernetes aws gcs s3 pos gps sheets docs process progress "
    "analytics statistics details business series canvas campus bus class pass kudos sass express https always".split()
)


def words_of(name: str) -> tuple[str, ...]:
    """Return the lower-case words of a name, split on separators and camelCase; none where it is too long."""
    if len(name) > NAME_LENGTH:
        return ()
    words: list[str] = []
    plain = name.isascii() and name.islower() and name.replace("_", "").isalpha()
    for found in name.split("_") if plain else _WORD.findall(name):
        word = found.casefold()
        if not word:
            continue
        words.extend(_COMPOUNDS[word].split() if word in _COMPOUNDS else (word,))
    return tuple(words)


@lru_cache(maxsize=4096)
def singular(word: str) -> str:
    """Return the singular of an English noun as the table of capabilities writes it."""
    if len(word) < 4 or word in _KEEP_S or not word.endswith("s") or word.endswith("ss"):
        return word
    if word.endswith("ies"):
        return "movie" if word == "movies" else f"{word[:-3]}y"
    if word.endswith(("ches", "shes", "sses", "xes", "zzes")):
        return word[:-2]
    return word[:-1]


def fold_key(key: str) -> str:
    """Return an argument name without case and separators: ``Channel-ID`` is ``channelid``."""
    if key.isascii() and key.isalpha() and key.islower():
        return key
    return "".join(character for character in key[:NAME_LENGTH].casefold() if character.isalnum())


def named(args: object) -> list[tuple[str, object]]:
    """Return the arguments whose names are text, as written; none where they are no mapping."""
    return [(key, value) for key, value in args.items() if isinstance(key, str)] if isinstance(args, Mapping) else []


def fold_all(args: object) -> list[tuple[str, object]]:
    """Return the arguments under folded names, in order, every spelling of a name; none where they are no mapping.

    Two spellings of one name stay two entries: which of them the tool reads is not known.
    """
    return [(fold_key(key), value) for key, value in named(args)]

"""What a tool does, read from its name as a person reads it (paper 3.2, third layer; DESIGN 5, "Tool names").

Rules of this file:

* The first recognised verb by position decides. A strong verb later in the name escalates only where it can still be
  the act: behind *and*, *then*, *or*, behind a verb that carries another (``confirm_delete``), or behind a word that
  is as well a noun (``query_cache_clear``). Behind a verb that only looks, it names what is looked at
  (``get_send_status``).
* A word that can be a noun is one where a verb or a word of state follows: ``order_history``, ``payment_list``.
* The capability comes from the table by verb and noun; else it is named after both. It is never a bucket.
* No verb, no word of state: no inference. The caller makes that UNKNOWN.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from typing import Final

from agentsfence_core.classification.lexicon import (
    ACTS,
    ADJECTIVES,
    ALSO_NOUN,
    ASKS,
    CHANGES_RIGHTS,
    HARD,
    LIGHT,
    LOOKED_UP,
    LOOKS,
    LOOKS_OR_NOUN,
    MAKES,
    MONEY,
    MOVES_MONEY,
    OF_ALL,
    PREPOSITIONS,
    PROVES_NOTHING,
    RESOLVED,
    RIGHTS,
    SELDOM_THINGS,
    SPEAKS,
    STARTS,
    STATES,
    STOP,
    SYNONYMS,
    TELLING,
    TOLD,
    TRACKED,
)
from agentsfence_core.classification.names import singular
from agentsfence_core.classification.vocabulary import NO_NOUN, inferred, vocabulary
from agentsfence_core.model.risk import RANK, Risk

_CONNECTIVES: Final = frozenset({"and", "then", "or", "plus", "n"})
_SAYS_ENOUGH: Final = frozenset({Risk.FINANCIAL, Risk.COMMUNICATION})
"""Classes whose verbs name a capability without an object: ``transfer``, ``reply``."""
_SWITCHED: Final = frozenset({"on", "off"})
_CHECK_ACTS: Final = frozenset({"in", "out"})
_NEVER_LISTED: Final = frozenset(
    {"post", "share", "send", "publish", "tweet", "set", "update", "report", "print", "import", "export"}
)


@dataclass(frozen=True, slots=True)
class Inference:
    """What a name says: verb and noun, the capability they make, its class."""

    verb: str
    noun: str
    capability: str
    risk: Risk


def infer(words: Sequence[str], subject: str = "") -> Inference | None:
    """Return what the words of a tool's name say, or ``None`` where they say nothing.

    ``subject`` is what the tool's server is about (``email``), for names without an object of their own.
    """
    if words and words[0] == "api":
        return _infer_endpoint(words[1:], subject)
    whole = [word for word in words if word not in _CONNECTIVES]
    shared = subject or next((singular(word) for word in whole if not _is_verb(word) and word not in STOP), "")
    shared = shared or next((word for word in whole if word not in STOP), "")
    found = [reading for part in _segments(words) if (reading := _infer_part(part, subject, shared))]
    return max(found, key=lambda reading: RANK[reading.risk]) if found else None


def leading_verb(text: str) -> Risk | None:
    """Return the class of the verb that opens a description (``Deletes the …``), ``None`` where it does not act."""
    word = text[:80].strip().partition(" ")[0].strip(".,:;").casefold()
    for form in (word, word.removesuffix("s"), word.removesuffix("es"), f"{word.removesuffix('ies')}y"):
        if form in HARD or (form in ACTS and form not in LOOKS_OR_NOUN):
            return ACTS[form]
    return None


def _segments(words: Sequence[str]) -> Iterator[Sequence[str]]:
    """Cut a name at its connectives: each part has a verb of its own."""
    start = 0
    for place, word in enumerate(words):
        if word in _CONNECTIVES:
            if place > start:
                yield words[start:place]
            start = place + 1
    if start < len(words):
        yield words[start:]


def _infer_endpoint(words: Sequence[str], subject: str) -> Inference | None:
    """Read a name made of an HTTP method and a path: ``API-post-search`` reads although it posts."""
    if not words:
        return None
    method, rest = words[0], [word for word in words[1:] if word not in STOP]
    if method in {"post", "get", "head"} and (
        method != "post" or any(word in {"search", "query", "list"} for word in rest)
    ):
        return _named("search" if "search" in rest else "get", rest, subject, subject)
    verb = {"post": "create", "patch": "update", "put": "update"}.get(method, method)
    return _infer_part([verb, *rest], subject, subject)


def _infer_part(words: Sequence[str], subject: str, shared: str) -> Inference | None:
    """Read one part of a name: find the word that decides, then its object."""
    place = _deciding(words)
    if place is None:
        last = words[-1]
        if last in _SWITCHED and len(words) > 1:
            return _named("turn", words[:-1], subject, shared)
        if last in LOOKED_UP:
            return _named("get", words, subject, shared)
        return _light_object(words, subject, shared)
    told = place > 0 and place == len(words) - 1 and words[place] in TELLING
    verb = words[place] if _is_verb(words[place]) and not told else "get"
    if verb in PROVES_NOTHING or verb in LIGHT:
        carried = _light_object(words, subject, shared)
        if carried is not None:
            return carried
    if verb in PROVES_NOTHING:
        return _check(words, place, subject)
    if verb == "resolve" and any(thing in RESOLVED for thing in _things(words[place + 1 :] or words[:place], verb)):
        verb = "lookup"
    return _named(verb, _object_words(words, place), subject, shared)


def _deciding(words: Sequence[str]) -> int | None:
    """Return the place of the verb that decides, ``None`` where there is none."""
    for place, word in enumerate(words):
        if word in LOOKS and not (word in ALSO_NOUN and place + 1 < len(words)):
            return _behind_look(words, place)
        if word in LOOKS_OR_NOUN:
            return _behind_noun(words, place)
        if word in PROVES_NOTHING:
            later = _hard_after(words, place)
            return place if later is None else later
        if word in ACTS:
            return _behind_act(words, place)
        if word in TELLING and place and place == len(words) - 1:
            return place
    return None


def _is_verb(word: str) -> bool:
    """Whether a word can be a verb at all."""
    return word in ACTS or word in LOOKS or word in LOOKS_OR_NOUN or word in PROVES_NOTHING


def _behind_look(words: Sequence[str], place: int) -> int:
    """A verb that only looks decides, unless the name ends in a verb that is never a thing."""
    last = len(words) - 1
    near = last == place + 1
    if last <= place or (near and words[place] in ASKS) or words[last - 1] in PREPOSITIONS:
        return _all_of(words, place)
    acts = words[last] in HARD or (words[place] not in ASKS and words[last] in STARTS and (place or not near))
    return last if acts else _all_of(words, place)


def _all_of(words: Sequence[str], place: int) -> int:
    """Return the place of an acting noun in front of a closing *all*, where nouns open the name."""
    acts = place > 0 and len(words) > place + 2 and words[-1] == "all" and words[-2] in OF_ALL
    return len(words) - 2 if acts else place


def _behind_noun(words: Sequence[str], place: int) -> int:
    """``list``, ``query``, ``view``: a plain acting verb later decides where no word of state follows it."""
    later = _hard_after(words, place)
    last = len(words) - 1
    if later is None and last > place and words[last] in SELDOM_THINGS and words[place] not in {"list", "query"}:
        return last
    return _all_of(words, place) if later is None else later


def _hard_after(words: Sequence[str], place: int) -> int | None:
    """Return the place of an acting verb behind ``place`` that is the act and not the thing looked at."""
    for later in range(place + 1, len(words)):
        word = words[later]
        if word in ADJECTIVES and later == place + 1 and later + 1 < len(words):
            continue
        acts = word in HARD or (word == "deploy" and later == len(words) - 1)
        if acts and not (later + 1 < len(words) and words[later + 1] in STATES and words[place] in LOOKS_OR_NOUN):
            return later
    return None


def _behind_act(words: Sequence[str], place: int) -> int:
    """An acting verb decides, but one that is a noun too yields to a verb or a word of state behind it."""
    word = words[place]
    if word not in ALSO_NOUN:
        if word in LIGHT:
            later = next(
                (
                    i
                    for i in range(place + 1, len(words))
                    if words[i] in HARD and RANK[ACTS[words[i]]] > RANK[ACTS[word]]
                ),
                None,
            )
            return place if later is None else later
        return place
    last = len(words) - 1
    if word in TOLD and place < last and words[last] in TELLING:
        return last
    for later in range(place + 1, len(words)):
        other = words[later]
        if other in PREPOSITIONS:
            break
        listed = other in LOOKS_OR_NOUN and word not in _NEVER_LISTED and (later in {place + 1, last} or word in TOLD)
        if other in LOOKS and other not in ALSO_NOUN:
            return _behind_look(words, later)
        if listed:
            return _behind_noun(words, later)
        if other in HARD or (later == last and other in {"send", "reply"}):
            return later
    return place


def _light_object(words: Sequence[str], subject: str, shared: str) -> Inference | None:
    """Read ``process_payment``, ``confirm_transfer``: the verb says little, the thing says what is done."""
    verb = next((word for word in words if word in ACTS or word in PROVES_NOTHING), "")
    for thing in _things(words, verb):
        if thing in MONEY and verb in MOVES_MONEY:
            return _table(MONEY[thing], verb, thing)
        if thing in RIGHTS and verb in CHANGES_RIGHTS:
            return _table(RIGHTS[thing], verb, thing)
        if thing in SPEAKS and verb in MAKES:
            return _table(SPEAKS[thing], verb, thing)
        if thing in HARD and verb:
            return _named(thing, words, subject, shared)
    return None


def _check(words: Sequence[str], place: int, subject: str) -> Inference | None:
    """``check``, ``track``, ``test`` look only where the table has the pair or a word of state stands beside them."""
    verb = words[place]
    rest = words[place + 1 :]
    if verb not in {"check", "track", "test", "take"}:
        return None
    if verb == "check" and rest and rest[0] in _CHECK_ACTS:
        thing = "_".join(rest[1:]) or subject
        return Inference("check", thing, inferred(f"check_{rest[0]}", thing), Risk.EXTERNAL_WRITE)
    for thing in _things(rest or words[:place], verb):
        for capability in vocabulary().named(verb, thing):
            return Inference(verb, thing, capability.name, capability.risk)
    beside = (rest or words[:place])[-1:]
    if beside and (beside[0] in STATES or beside[0] in LOOKED_UP or (verb == "track" and beside[0] in TRACKED)):
        return _named("get", rest or words[:place], subject, subject)
    return None


def _object_words(words: Sequence[str], place: int) -> Sequence[str]:
    """Return the words that name the object of the verb at ``place``: those behind it, else those before it."""
    behind = [word for word in words[place + 1 :] if word not in STOP or word in PREPOSITIONS]
    cut = next((i for i, word in enumerate(behind) if word in PREPOSITIONS), len(behind))
    own = behind[:cut] or [word for word in behind if word not in PREPOSITIONS]
    if own and not all(word.isdigit() for word in own):
        return own
    return [word for word in words[:place] if word not in STOP]


def _things(words: Sequence[str], verb: str) -> Iterator[str]:
    """Yield the nouns of a name, singular, two words together first, the head (last) first."""
    plain = [singular(word) for word in words if word not in STOP and word != verb]
    if any(word not in TELLING for word in plain):
        while plain[-1] in TELLING and len(plain) > 1:
            yield " ".join(plain[-2:])
            plain.pop()
    for end in range(len(plain), 0, -1):
        for size in (3, 2, 1):
            if end >= size:
                yield " ".join(plain[end - size : end])


def _named(verb: str, words: Sequence[str], subject: str, shared: str) -> Inference:
    """Return the capability that a verb and the words of its object make."""
    looks = verb in LOOKS or verb in LOOKS_OR_NOUN
    things = list(_things(words, verb))
    if not looks:
        special = _special(verb, things)
        if special is not None:
            return special
    own = _IN_OTHER_WORDS.get(subject, {})
    for thing in [*(own[thing] for thing in things if thing in own), *things, *([subject] if subject else [])]:
        found = _from_table(verb, thing, looks=looks, subject=subject)
        if found is not None:
            return found
    if verb == "open" and (opened := _from_table(verb, things[0] if things else subject, looks=True, subject=subject)):
        return opened
    risk = Risk.READ if looks else ACTS.get(verb, Risk.EXTERNAL_WRITE)
    plain = [thing for thing in things if " " not in thing]
    noun = next((thing for thing in plain if thing not in TELLING), next(iter(plain), shared))
    if not plain and not looks:
        alone = next((entry for entry in vocabulary().named(verb) if entry.risk is risk), None)
        if alone is not None and risk in _SAYS_ENOUGH:
            return Inference(verb, "", alone.name, risk)
    return Inference(verb, noun, inferred(verb, noun if noun != verb else ""), risk)


def _special(verb: str, things: Sequence[str]) -> Inference | None:
    """Money, rights and messages: the noun decides whichever verb of doing stands before it."""
    for thing in things:
        if thing in RIGHTS and verb in CHANGES_RIGHTS:
            return _table(RIGHTS[thing], verb, thing)
    head = next((thing for thing in things if " " not in thing), "")
    if head in MONEY and verb in MOVES_MONEY:
        return _table(MONEY[head], verb, head)
    if head in SPEAKS and verb in MAKES:
        return _table(SPEAKS[head], verb, head)
    return None


_IN_OTHER_WORDS: Final[Mapping[str, Mapping[str, str]]] = {
    "email": dict.fromkeys(("message", "thread", "mail", "conversation"), "email"),
    "drive": dict.fromkeys(("file", "folder", "document", "item", "presentation"), "drive file"),
    "note": dict.fromkeys(("document", "database", "item", "file", "journal"), "page"),
    "task": dict.fromkeys(("issue", "item", "list", "board", "subtask"), "task"),
    "issue": dict.fromkeys(("ticket", "item", "bug", "story"), "issue"),
    "record": dict.fromkeys(("contact", "company", "account", "object", "opportunity", "order", "ticket"), "record"),
    "message": dict.fromkeys(("call", "notification"), "message"),
    "calendar": dict.fromkeys(("entry", "schedule", "reminder"), "event"),
}
"""What a server's own words mean in the table: a *message* of a mail server is an email."""


def _from_table(verb: str, thing: str, *, looks: bool, subject: str) -> Inference | None:
    """Return the capability that the table has for a verb, or a synonym, and a thing."""
    table = vocabulary()
    for lemma in (verb, *SYNONYMS.get(verb, ())):
        found = [entry for entry in table.named(lemma, thing) if (entry.risk is Risk.READ) == looks]
        if not found:
            continue
        about = [entry for entry in found if subject and entry.name.startswith(f"{subject}.")]
        best = about[0] if about else found[0] if looks else max(found, key=lambda entry: RANK[entry.risk])
        floor = ACTS.get(verb, Risk.READ)
        strong = floor in {Risk.DELETE, Risk.COMMUNICATION, Risk.FINANCIAL, Risk.PERMISSION_CHANGE} and verb in HARD
        if strong and RANK[best.risk] < RANK[floor] and best.risk is Risk.LOCAL_WRITE:
            return Inference(verb, thing, inferred(verb, thing), floor)
        return Inference(verb, thing, best.name, best.risk)
    return None


def _table(capability: str, verb: str, thing: str) -> Inference:
    """Return an inference that is a row of the table."""
    return Inference(verb, thing, capability, vocabulary().risk_of(capability) or Risk.UNKNOWN)


def capability_for_verb(verb: str) -> Risk | None:
    """Return the class of a single word used as a verb (an ``action`` value), ``None`` where it is none."""
    if verb in LOOKS or verb in LOOKS_OR_NOUN:
        return Risk.READ
    return ACTS.get(verb)


__all__ = ["NO_NOUN", "Inference", "capability_for_verb", "infer", "leading_verb"]

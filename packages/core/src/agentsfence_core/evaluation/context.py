"""What one walk of the checks looks at: one effect of one action under one policy, with the row it must fit.

The context is the only thing a check receives. The choice of the row is made here, once per effect, because three
checks (6, 8 and 13) must speak of the same row: *one effect must fit one row* (DESIGN 6).
"""

from __future__ import annotations

from decimal import Decimal

from agentsfence_core.evaluation.matching import Paths
from agentsfence_core.evaluation.prepared import AMOUNT_UNIT, OPAQUE_ID, Bounds, PreparedPolicy, amount_units
from agentsfence_core.model import (
    Action,
    Effect,
    ExecutionState,
    HostFacts,
    Outcome,
    ReasonCode,
    Risk,
    TargetKind,
    Verdict,
)


class Context:
    """One effect under evaluation. ``questioned`` says whether an earlier check of this walk asks about it."""

    __slots__ = ("_row", "_row_known", "action", "all", "effect", "host", "now", "policy", "questioned", "state")

    def __init__(
        self, policy: PreparedPolicy, state: ExecutionState, action: Action, effect: Effect, host: HostFacts, now: float
    ) -> None:
        """Look at one effect of ``action``; `contexts_of` makes those of a whole action."""
        self.policy = policy
        self.state = state
        self.action = action
        self.effect = effect
        self.host = host
        self.now = now
        self.questioned = False
        self.all: tuple[Context, ...] = (self,)
        self._row: Bounds | None = None
        self._row_known = False

    @property
    def has_rows(self) -> bool:
        """Whether the policy has rows of this capability; then they alone list it."""
        return self.effect.capability in self.policy.rows

    @property
    def row(self) -> Bounds | None:
        """The row that the effect fits best: with the least strict sum of what its bounds, parties and approval say."""
        if not self._row_known:
            rows = self.policy.rows.get(self.effect.capability, ())
            self._row = rows[0] if len(rows) == 1 else min(rows, key=self._strictness, default=None)
            self._row_known = True
        return self._row

    def constraints(self) -> tuple[Bounds, ...]:
        """Return the tool constraints that speak of this effect; all of them hold."""
        if not self.policy.constraints:
            return ()
        return tuple(b for names, b in self.policy.constraints if names.cover(self.action.tool, self.effect))

    def sharing(self, bounds: Bounds) -> tuple[Context, ...]:
        """Return the effects of this action that use up the counts of these bounds together, this one among them."""
        if len(self.all) == 1:
            return self.all
        return tuple(
            other
            for other in self.all
            if other is self or (other.row and other.row.key == bounds.key) or bounds in other.constraints()
        )

    def outbound_invocations(self) -> int:
        """Return how many invocations of this action send or write outside."""
        return len({e.invocation for e in self.action.effects if e.risk in _OUTBOUND})

    def _strictness(self, row: Bounds) -> tuple[int, int, int]:
        breach = breach_of(row, self, alone=True)
        parties = parties_of(row, self)
        return (
            _WEIGHT[breach.verdict] if breach else 0,
            _WEIGHT[parties.verdict] if parties else 0,
            1 if row.needs_approval else 0,
        )


def contexts_of(
    policy: PreparedPolicy, state: ExecutionState, action: Action, host: HostFacts, now: float
) -> tuple[Context, ...]:
    """Return one context per effect; they know each other, because counts are shared within one call."""
    contexts = tuple(Context(policy, state, action, effect, host, now) for effect in action.effects)
    if len(contexts) > 1:
        for context in contexts:
            context.all = contexts
    return contexts


_OUTBOUND = frozenset({Risk.EXTERNAL_WRITE, Risk.COMMUNICATION})
_WEIGHT = {Verdict.ALLOW: 0, Verdict.ASK_USER: 1, Verdict.BLOCK: 2}


def carries_party(effect: Effect) -> bool:
    """Whether check 8 looks at this effect: a send always, any other write when a party is in it (DESIGN 6)."""
    if effect.risk is Risk.COMMUNICATION:
        return True
    if effect.risk is Risk.READ:
        return False
    return bool(effect.recipients) or TargetKind.RECIPIENTS in effect.unverified


def parties_of(row: Bounds, context: Context) -> Outcome | None:
    """Return what binding the effect's parties to this row says; a party outside the row is `breach_of`'s to say."""
    effect = context.effect
    if not carries_party(effect):
        return None
    unread = TargetKind.RECIPIENTS in effect.unverified
    if not effect.recipients and not unread and _names_place(row, effect):
        return None
    bound = row.recipients is not None or any(c.recipients is not None for c in context.constraints())
    if not bound and context.policy.recipients is None:
        return _ask(
            effect, ReasonCode.RECIPIENT_NOT_BOUND, f"you named no address for this: {_first(effect.recipients)}"
        )
    if not effect.recipients or (row.recipients is None and unread):
        return _ask(effect, ReasonCode.RECIPIENT_NOT_BOUND, "it does not show whom it reaches")
    return None


def _names_place(row: Bounds, effect: Effect) -> bool:
    """Whether the row names the very place that a message without parties goes to: a comment on issue 12."""
    return row.objects is not None and bool(effect.objects) and all(each in row.objects for each in effect.objects)


def breach_of(bounds: Bounds, context: Context, *, alone: bool = False) -> Outcome | None:
    """Return how the effect leaves these bounds: BLOCK outside, ASK_USER where it cannot be seen (check 6).

    ``alone`` counts this effect only, to choose its row; else all effects of the call that share the bounds count.
    """
    effect = context.effect
    question: Outcome | None = None
    sharing = (context,) if alone or not bounds.counts else context.sharing(bounds)
    for look in (_recipients, _domains, _paths, _objects, _values):
        outcome = look(bounds, effect)
        if outcome is not None:
            if outcome.verdict is Verdict.BLOCK:
                return outcome
            question = question or outcome
    if bounds.verified_only and TargetKind.PROGRAM in effect.unverified:
        told = "it runs something else than the project's own tools"
        question = question or _ask(effect, ReasonCode.TARGET_UNVERIFIED, told)
    for count in (_amount, _calls):
        outcome = count(bounds, context, sharing)
        if outcome is not None:
            if outcome.verdict is Verdict.BLOCK:
                return outcome
            question = question or outcome
    return question


def _recipients(bounds: Bounds, effect: Effect) -> Outcome | None:
    if bounds.recipients is None:
        return None
    for party in effect.recipients:
        if party not in bounds.recipients:
            return _block(effect, ReasonCode.RECIPIENT_NOT_LISTED, f"{_first((party,))} is not {_list(bounds.shown)}")
    return _unseen(effect, TargetKind.RECIPIENTS)


def _domains(bounds: Bounds, effect: Effect) -> Outcome | None:
    if bounds.domains is None:
        return None
    for host in effect.domains:
        if host not in bounds.domains:
            return _block(effect, ReasonCode.DOMAIN_NOT_LISTED, f"{_first((host,))} is not a host you named")
    return _unseen(effect, TargetKind.DOMAINS)


def _paths(bounds: Bounds, effect: Effect) -> Outcome | None:
    if bounds.paths is None:
        return None
    for path in effect.paths:
        if path not in bounds.paths:
            return _block(effect, ReasonCode.PATH_NOT_LISTED, f"{_first((path,))} is outside the paths you named")
    return _unseen(effect, TargetKind.PATHS) or _files_without_path(bounds, bounds.paths, effect)


def _files_without_path(bounds: Bounds, paths: Paths, effect: Effect) -> Outcome | None:
    """A tool that names its file and no path acts on the file that was named, or on another one."""
    if effect.paths or bounds.objects is not None:
        return None
    for reference in effect.objects:
        if reference.kind == "file" and reference.name.rpartition("/")[2].casefold() not in paths.names:
            if paths.below or paths.globs is not None:
                return _ask(effect, ReasonCode.TARGET_UNVERIFIED, "where its file lies cannot be read from the call")
            return _block(effect, ReasonCode.PATH_NOT_LISTED, f"{_first((reference.name,))} is not the file you named")
    return None


def _objects(bounds: Bounds, effect: Effect) -> Outcome | None:
    if bounds.objects is None:
        return None
    opaque = False
    for reference in effect.objects:
        if reference in bounds.objects:
            continue
        if reference.kind == OPAQUE_ID:
            opaque = True
        elif bounds.objects.binds(reference.kind):
            return _block(effect, ReasonCode.OBJECT_NOT_LISTED, f"{_first((str(reference),))} is not what you named")
    if opaque:
        return _ask(
            effect, ReasonCode.TARGET_UNVERIFIED, "it names its object by an id that cannot be compared with your words"
        )
    return _unseen(effect, TargetKind.OBJECTS)


def _values(bounds: Bounds, effect: Effect) -> Outcome | None:
    if not bounds.values:
        return None
    wanted = dict(bounds.values)
    for name, value in effect.values:
        if name in wanted and value.casefold() != wanted[name]:
            return _block(effect, ReasonCode.VALUE_NOT_LISTED, f"{name} is {_first((value,))}, you said {wanted[name]}")
    return _unseen(effect, TargetKind.VALUES)


def _amount(bounds: Bounds, context: Context, sharing: tuple[Context, ...]) -> Outcome | None:
    if bounds.max_amount is None:
        return None
    total = context.state.counters.get(amount_counter(bounds), 0)
    hidden = False
    for other in sharing:
        units, complete = effect_amount(other.effect)
        total += units
        hidden = hidden or not complete or TargetKind.COUNT in other.effect.unverified
    if total > bounds.max_amount:
        limit = Decimal(bounds.max_amount) / AMOUNT_UNIT
        return _block(context.effect, ReasonCode.AMOUNT_ABOVE_LIMIT, f"it goes above the {limit:f} that you named")
    return _ask(context.effect, ReasonCode.TARGET_UNVERIFIED, "its amount cannot be read") if hidden else None


def _calls(bounds: Bounds, context: Context, sharing: tuple[Context, ...]) -> Outcome | None:
    if bounds.max_calls is None:
        return None
    invocations = len({other.effect.invocation for other in sharing})
    if context.state.counters.get(bounds.key, 0) + invocations > bounds.max_calls:
        told = f"{bounds.max_calls} such calls were asked for, and they are used up"
        return _block(context.effect, ReasonCode.MAX_CALLS_USED, told)
    if any(TargetKind.COUNT in other.effect.unverified for other in sharing):
        return _ask(context.effect, ReasonCode.TARGET_UNVERIFIED, "how often it happens cannot be read from the call")
    return None


def effect_amount(effect: Effect) -> tuple[int, bool]:
    """Return the amount that an effect is seen to move, in ten-thousandths, and whether that is all of it."""
    amounts = [amount_units(value) for name, value in effect.values if name == "amount"]
    seen = [amount for amount in amounts if amount is not None]
    return sum(seen), bool(seen) and len(seen) == len(amounts) and TargetKind.VALUES not in effect.unverified


def amount_counter(bounds: Bounds) -> str:
    """Return the name of the counter that sums amounts under these bounds."""
    return f"amount:{bounds.key}"


def _unseen(effect: Effect, kind: TargetKind) -> Outcome | None:
    if kind in effect.unverified:
        return _ask(effect, ReasonCode.TARGET_UNVERIFIED, f"its {kind.value} cannot be read from the call")
    return None


def _ask(effect: Effect, code: ReasonCode, detail: str) -> Outcome:
    return Outcome(Verdict.ASK_USER, code, detail, effect)


def _block(effect: Effect, code: ReasonCode, detail: str) -> Outcome:
    return Outcome(Verdict.BLOCK, code, detail, effect)


_SHOWN = 120  # characters of a target shown to a person


def _first(texts: tuple[str, ...]) -> str:
    """Return the first target in a printable, short form."""
    text = texts[0] if texts else "nobody in particular"
    printable = "".join(c if c.isprintable() else "?" for c in text[:_SHOWN])
    return printable + ("…" if len(text) > _SHOWN else "")


def _list(texts: tuple[str, ...]) -> str:
    shown = ", ".join(texts[:3]) or "anyone"
    return f"{shown} or {len(texts) - 3} more" if len(texts) > 3 else shown

"""The evaluator a second time, from the table of checks alone: slow, plain, and sharing no function with core.

It exists to be compared. Only frozen values of `agentsfence_core.model` are imported; every comparison of names, hosts,
paths and objects is written out again (``likeness``), and so is fitting an effect into a row (``rows``). A reader
checks each function against the row of the table it cites.

What the table leaves open, and how it is read here:

* Effects are judged one by one; the verdict is the strictest. The first BLOCK names the rule, "first" in the order of
  the checks, over all effects of one check before the next check; without a BLOCK, the first question names it.
* READ is the one class that is not consequential. Check 6 bounds a READ effect where a row or a constraint names it;
  check 7 asks about it only where ``unauthorized`` says so and nothing lists it.
* A check says one thing of an effect: its strictest objection. A question beside a BLOCK of that check is not asked.
* UNKNOWN is listed by the exact tool name in ``allowed_tools`` of a manual policy, nothing else; it has no ceiling.
* An entry of ``allowed_tools``, ``denied_tools``, ``requires_approval`` or ``Prohibition.what`` is a class, the exact
  tool name, the exact capability, or a glob over either, case-sensitive. A key of ``tool_constraints`` is no class.
* Where a row names an effect's capability, rows alone list it, and the effect must fit one row: the one that objects
  least (by its bounds, then its binding of recipients, then its need of approval), the first among equals. As no row's
  parties block what its bounds allow, no other order of the three gives another verdict. Effects are placed in order,
  and what earlier effects of the same call use up is used up for later ones.
* An object of kind ``name``, on either side, is compared with objects of every kind; other kinds only with their own.
  An opaque ``id`` that is not itself named cannot be compared: a question.
* An amount that is missing, no number, not finite or negative cannot be added up: a question.
* An unverified kind of target under a bound of that kind is a question, whichever list binds it.
* Exceptions of a prohibition free an effect that has targets of the excepted kinds, all of them excepted and none
  unverified. Kinds that the exceptions do not name do not matter.
* A grant is judged against the call that the person was shown (``shown``), not against a digest: same tool, same
  effects, same arguments apart from message text or file content. It answers all questions of this walk, or none, and
  it lifts only those blocks that say a count, a sum or the budget is used up: any other block is a later narrowing.
  Where nothing objects, no use of a grant is spent.
* The budget counts the outbound invocations of the call; it refuses no effect that an earlier check questions.
* Guards and the shape of URLs are facts of other tables: they come in as functions, and by default say nothing.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass

from tests.oracle.likeness import ALLOW, ASK, BLOCK, comparable, host_in, names, party_in, path_in, read_object
from tests.oracle.rows import STRICT, Finding, Used, World, bind, charge, fit, place_all, rows_for

from agentsfence_core.model import (
    CEILING_OF,
    OUTBOUND,
    Action,
    Effect,
    ExecutionState,
    Grant,
    HostFacts,
    ObjectRef,
    PolicySource,
    Prohibition,
    ReasonCode,
    Risk,
    TargetKind,
    Targets,
    TaskPolicy,
    Verdict,
)

LIFETIME = 12 * 3600.0

DEFAULT_VERDICT = {
    Risk.READ: ALLOW,
    Risk.LOCAL_WRITE: ASK,
    Risk.EXTERNAL_WRITE: ASK,
    Risk.COMMUNICATION: ASK,
    Risk.EXECUTION: ASK,
    Risk.UNKNOWN: ASK,
    Risk.DELETE: BLOCK,
    Risk.PERMISSION_CHANGE: BLOCK,
    Risk.FINANCIAL: BLOCK,
}
"""Task policies, "Default behaviour when a call isn't authorized"."""


@dataclass(frozen=True)
class Naive:
    """The verdict, the check that gave it, the keys of all questions, the grant, and what is used up after it."""

    verdict: Verdict
    check: str
    asks: frozenset[str]
    grant: str
    charge: Used
    outbound: int


# ---------------------------------------------------------------- check 1 to 4


def expiry(world: World) -> list[Finding]:
    """Check 1. Twelve hours after creation where nothing else is said."""
    policy = world.policy
    end = None
    if policy.expires_at is not None:
        end = policy.expires_at.timestamp()
    elif policy.created_at is not None:
        end = policy.created_at.timestamp() + LIFETIME
    return [Finding(BLOCK, ReasonCode.POLICY_EXPIRED)] if end is not None and world.now >= end else []


def guards(world: World) -> list[Finding]:
    """Check 2, as given."""
    found = [(place, world.guard(effect)) for place, effect in enumerate(world.action.effects)]
    return [Finding(finding.verdict, finding.code, place) for place, finding in found if finding]


def prohibitions(world: World) -> list[Finding]:
    """Check 3. What the person forbade; what might be forbidden is asked."""
    policy = world.policy
    fenced_in = policy.user_prohibitions or policy.allowed_external_domains or policy.allowed_paths
    found = []
    for place, effect in enumerate(world.action.effects):
        for ban in policy.user_prohibitions:
            verdict = ban_verdict(world, ban, effect)
            if verdict is BLOCK:
                found.append(Finding(BLOCK, ReasonCode.PROHIBITED, place))
            elif verdict is ASK:
                found.append(Finding(ASK, ReasonCode.MAY_BE_PROHIBITED, place))
        if effect.risk is Risk.EXECUTION and TargetKind.PROGRAM in effect.unverified and fenced_in:
            found.append(Finding(ASK, ReasonCode.MAY_BE_PROHIBITED, place))
    return found


def ban_verdict(world: World, ban: Prohibition, effect: Effect) -> Verdict:
    """What one prohibition says of one effect."""
    if not names(ban.what, world.action.tool, effect):
        return ALLOW
    if excepted(world, ban.exceptions, effect):
        return ALLOW
    named = kinds(ban.targets)
    if not named:
        return BLOCK
    if any(hit(world, ban.targets, effect, kind, target) for kind in named for target in targets(effect, kind)):
        return BLOCK
    if takes_all(effect) and any(
        inside(entry, path, world.host.home) for path in effect.paths for entry in ban.targets.paths
    ):
        return BLOCK
    unsure = any(kind in effect.unverified for kind in named)
    opaque = TargetKind.OBJECTS in named and any(thing.kind == "id" for thing in effect.objects)
    return ASK if unsure or opaque else ALLOW


def takes_all(effect: Effect) -> bool:
    """Whether a folder's contents go with it: deleting, moving, changing rights."""
    return effect.risk in {Risk.DELETE, Risk.PERMISSION_CHANGE} or effect.capability == "file.move"


def inside(entry: str, folder: str, home: str | None) -> bool:
    """Whether what a ban names lies in a folder."""
    full = (home + entry[1:] if home and entry.startswith("~/") else entry).rstrip("/")
    return full.startswith(folder.rstrip("/") + "/")


def excepted(world: World, exceptions: Targets, effect: Effect) -> bool:
    """Whether an effect is wholly on excepted targets, as far as the exceptions name kinds."""
    named = kinds(exceptions)
    if not named or any(kind in effect.unverified for kind in named):
        return False
    all_targets = [(kind, target) for kind in named for target in targets(effect, kind)]
    return bool(all_targets) and all(hit(world, exceptions, effect, kind, target) for kind, target in all_targets)


def kinds(of: Targets) -> list[TargetKind]:
    """Which kinds of targets are named."""
    pairs = [
        (TargetKind.RECIPIENTS, of.recipients),
        (TargetKind.DOMAINS, of.domains),
        (TargetKind.PATHS, of.paths),
        (TargetKind.OBJECTS, of.objects),
    ]
    return [kind for kind, entries in pairs if entries]


def targets(effect: Effect, kind: TargetKind) -> list[str | ObjectRef]:
    """The targets of one kind that an effect shows."""
    if kind is TargetKind.RECIPIENTS:
        return list(effect.recipients)
    if kind is TargetKind.DOMAINS:
        return list(effect.domains)
    if kind is TargetKind.PATHS:
        return list(effect.paths)
    return list(effect.objects)


def hit(world: World, of: Targets, effect: Effect, kind: TargetKind, target: str | ObjectRef) -> bool:
    """Whether a target of an effect is among those that a prohibition names or excepts."""
    if isinstance(target, ObjectRef):
        return any(comparable(target, entry) and target.name == entry.name for entry in map(read_object, of.objects))
    if kind is TargetKind.RECIPIENTS:
        return party_in(target, of.recipients)
    if kind is TargetKind.DOMAINS:
        return host_in(target, of.domains)
    return path_in(target, of.paths, world.host.home)


def deny_list(world: World) -> list[Finding]:
    """Check 4."""
    return [
        Finding(BLOCK, ReasonCode.DENIED, place)
        for place, effect in enumerate(world.action.effects)
        if any(names(entry, world.action.tool, effect) for entry in world.policy.denied_tools)
    ]


# ---------------------------------------------------------------- check 6 to 13


def argument_constraints(world: World) -> list[Finding]:
    """Check 6."""
    placed = place_all(world)
    return [
        Finding(verdict, code, place)
        for place, one in enumerate(placed)
        for bound in one.bounds
        for verdict, code in fit(world, bound, one.effect, placed[:place])
    ]


def ceiling_and_listing(world: World) -> list[Finding]:
    """Check 7. The double key: the ceiling is on, and something lists the effect."""
    found = []
    for place, effect in enumerate(world.action.effects):
        is_on, is_listed = ceiling_on(world.policy, effect.risk), listed(world, effect)
        verdict = world.unauthorized.get(effect.risk, DEFAULT_VERDICT[effect.risk])
        if verdict is not ALLOW and not (is_on and is_listed):
            code = ReasonCode.NOT_LISTED if is_on else ReasonCode.CEILING_OFF
            found.append(Finding(verdict, ReasonCode.UNKNOWN_TOOL if effect.risk is Risk.UNKNOWN else code, place))
    return found


def ceiling_on(policy: TaskPolicy, risk: Risk) -> bool:
    """Whether the ceiling of a class is on; READ and UNKNOWN have none that could be off."""
    return risk not in CEILING_OF or bool(getattr(policy, CEILING_OF[risk].value))


def listed(world: World, effect: Effect) -> bool:
    """Whether the policy lists an effect."""
    policy = world.policy
    if effect.risk is Risk.UNKNOWN:
        return policy.source is PolicySource.MANUAL and world.action.tool in policy.allowed_tools
    if rows_for(world, effect):
        return True
    by_tool = any(names(entry, world.action.tool, effect) for entry in policy.allowed_tools)
    return by_tool or effect.risk in policy.allowed_risk_classes


def recipient_binding(world: World) -> list[Finding]:
    """Check 8."""
    found = [(place, bind(world, one.effect, one.row)) for place, one in enumerate(place_all(world))]
    return [Finding(objection[0], objection[1], place) for place, objection in found if objection]


def domain_allowlist(world: World) -> list[Finding]:
    """Check 9. Every effect with a host, READ too."""
    entries, found = world.policy.allowed_external_domains, []
    for place, effect in enumerate(world.action.effects if entries else ()):
        if not all(host_in(one, entries) for one in effect.domains):
            found.append(Finding(BLOCK, ReasonCode.DOMAIN_OUTSIDE, place))
        elif TargetKind.DOMAINS in effect.unverified:
            found.append(Finding(ASK, ReasonCode.TARGET_UNVERIFIED, place))
    return found


def exfiltration(world: World) -> list[Finding]:
    """Check 10, as given."""
    return [
        Finding(ASK, ReasonCode.EXFILTRATION_SHAPED_URL, place)
        for place, effect in enumerate(world.action.effects)
        if effect.urls and world.shaped(effect)
    ]


def path_allowlist(world: World) -> list[Finding]:
    """Check 11."""
    entries, found = world.policy.allowed_paths, []
    for place, effect in enumerate(world.action.effects if entries else ()):
        if effect.risk not in {Risk.LOCAL_WRITE, Risk.DELETE, Risk.EXECUTION}:
            continue
        if not all(path_in(one, entries, world.host.home) for one in effect.paths):
            found.append(Finding(BLOCK, ReasonCode.PATH_OUTSIDE, place))
        elif TargetKind.PATHS in effect.unverified:
            found.append(Finding(ASK, ReasonCode.TARGET_UNVERIFIED, place))
    return found


def outbound_invocations(action: Action) -> int:
    """How many sends and external writes a call makes."""
    return len({effect.invocation for effect in action.effects if effect.risk in OUTBOUND})


def outbound_budget(world: World, questioned: set[int]) -> list[Finding]:
    """Check 12. ``questioned`` are the places of effects that an earlier check asks about."""
    limit = world.policy.max_external_writes
    if limit is None or world.state.counters.get("outbound", 0) + outbound_invocations(world.action) <= limit:
        return []
    return [
        Finding(BLOCK, ReasonCode.BUDGET_USED, place)
        for place, effect in enumerate(world.action.effects)
        if effect.risk in OUTBOUND and place not in questioned
    ]


def approval_requirements(world: World) -> list[Finding]:
    """Check 13."""
    return [
        Finding(ASK, ReasonCode.APPROVAL_REQUIRED, place)
        for place, one in enumerate(place_all(world))
        if any(names(entry, world.action.tool, one.effect) for entry in world.policy.requires_approval)
        or (one.row is not None and one.row.needs_approval)
    ]


BEFORE_GRANTS: list[tuple[str, Callable[[World], list[Finding]]]] = [
    ("expiry", expiry),
    ("guards", guards),
    ("prohibitions", prohibitions),
    ("deny_list", deny_list),
]
AFTER_GRANTS: list[tuple[str, Callable[[World], list[Finding]]]] = [
    ("argument_constraints", argument_constraints),
    ("ceiling_and_listing", ceiling_and_listing),
    ("recipient_binding", recipient_binding),
    ("domain_allowlist", domain_allowlist),
    ("exfiltration", exfiltration),
    ("path_allowlist", path_allowlist),
]


# ---------------------------------------------------------------- check 5 and the walk


USED_UP = {ReasonCode.BUDGET_USED, ReasonCode.MAX_CALLS_USED, ReasonCode.AMOUNT_ABOVE_LIMIT}


def covers(world: World, grant: Grant, asks: frozenset[str]) -> bool:
    """Check 5. Whether a grant is for this very call, still good, and answers every question of this walk."""
    shown = world.shown.get(grant.id)
    spent = grant.max_calls is not None and world.state.grant_uses.get(grant.id, 0) >= grant.max_calls
    over = grant.expires_at is not None and world.now >= grant.expires_at
    if shown is None or spent or over:
        return False
    return same_call(shown, world.action) and asks <= grant.answers


def same_call(shown: Action, action: Action) -> bool:
    """Whether a person who saw one call saw all that matters of the other."""
    if shown.tool != action.tool or [what(one) for one in shown.effects] != [what(one) for one in action.effects]:
        return False
    return arguments(shown) == arguments(action)


def what(effect: Effect) -> tuple[object, ...]:
    """Capability, class and every target of an effect."""
    return (
        effect.capability,
        effect.risk,
        set(effect.recipients),
        set(effect.domains),
        set(effect.paths),
        set(effect.objects),
        set(effect.values),
    )


def arguments(action: Action) -> Mapping[str, object]:
    """The arguments that must be equal: all but the text of a send and the content of a local write."""
    worded = {Risk.COMMUNICATION, Risk.LOCAL_WRITE, Risk.READ}
    free = action.content if all(effect.risk in worded for effect in action.effects) else frozenset()
    return {name: value for name, value in action.call.args.items() if name not in free}


def one_each(found: list[Finding]) -> list[Finding]:
    """What a check says: of each effect its strictest objection, the first among equals."""
    places = dict.fromkeys(finding.place for finding in found)
    return [
        max((one for one in found if one.place == place), key=lambda one: STRICT.index(one.verdict)) for place in places
    ]


def walk(world: World) -> tuple[list[tuple[str, Finding]], list[tuple[str, Finding]]]:
    """Every objection of every check, before the grants and after them, in the order of the table."""
    first = [(name, finding) for name, check in BEFORE_GRANTS for finding in one_each(check(world))]
    later = [(name, finding) for name, check in AFTER_GRANTS for finding in one_each(check(world))]
    asked = {finding.place for _, finding in first + later if finding.verdict is ASK and finding.place is not None}
    later += [("outbound_budget", finding) for finding in outbound_budget(world, asked)]
    later += [("approval_requirements", finding) for finding in approval_requirements(world)]
    return first, later


def naive_walk(
    policy: TaskPolicy,
    state: ExecutionState,
    action: Action,
    host: HostFacts,
    now: float,
    *,
    unauthorized: Mapping[Risk, Verdict] | None = None,
    strict_auto_approve: bool = False,
    used: Used | None = None,
    shown: Mapping[str, Action] | None = None,
    guard: Callable[[Effect], Finding | None] = lambda _: None,
    shaped: Callable[[Effect], bool] = lambda _: False,
) -> Naive:
    """Return everything the table says about one call."""
    world = World(policy, state, action, host, now, unauthorized or {}, used or Used(), shown or {}, guard, shaped)
    first, later = walk(world)
    asks = frozenset(
        f"{finding.code.value}:{'*' if finding.place is None else action.effects[finding.place].capability}"
        for _, finding in first + later
        if finding.verdict is ASK
    )
    verdict, check, grant = verdict_of(first, later), "", ""
    standing = {finding.code for _, finding in first + later if finding.verdict is BLOCK}
    if (asks or standing) and standing <= USED_UP:
        grant = next((one.id for one in (*policy.grants, *state.grants) if covers(world, one, asks)), "")
    if grant:
        verdict, check = ALLOW, "grants"
    else:
        check = next((name for name, finding in first + later if finding.verdict is verdict), "default")
    if verdict is ASK and host.auto_approves and (policy.source is PolicySource.FALLBACK or strict_auto_approve):
        verdict = BLOCK
    return Naive(verdict, check, asks, grant, charge(world), outbound_invocations(action))


def verdict_of(first: list[tuple[str, Finding]], later: list[tuple[str, Finding]]) -> Verdict:
    """The strictest of all objections, ALLOW where there are none."""
    return max((finding.verdict for _, finding in first + later), key=STRICT.index, default=ALLOW)


def naive_verdict(
    policy: TaskPolicy,
    state: ExecutionState,
    action: Action,
    host: HostFacts,
    now: float,
    *,
    unauthorized: Mapping[Risk, Verdict] | None = None,
    strict_auto_approve: bool = False,
) -> Verdict:
    """Return the verdict of the table on one call of a task that has used nothing of its rows."""
    return naive_verdict_and_check(
        policy, state, action, host, now, unauthorized=unauthorized, strict_auto_approve=strict_auto_approve
    )[0]


def naive_verdict_and_check(
    policy: TaskPolicy,
    state: ExecutionState,
    action: Action,
    host: HostFacts,
    now: float,
    *,
    unauthorized: Mapping[Risk, Verdict] | None = None,
    strict_auto_approve: bool = False,
) -> tuple[Verdict, str]:
    """Return the verdict of the table and the name of the check that gave it."""
    found = naive_walk(
        policy, state, action, host, now, unauthorized=unauthorized, strict_auto_approve=strict_auto_approve
    )
    return found.verdict, found.check

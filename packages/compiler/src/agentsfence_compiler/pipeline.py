"""The intent pipeline: a person's message in, a policy out, whatever a backend does (DESIGN 7; `ports.IntentPipeline`).

Rules of this file:

* Total: a fault anywhere is the read-only fallback at `begin` and a pure narrowing at `amend`, never an exception.
* Prohibitions are read before any backend is asked and hold whatever it answers.
* Order: isolate, read, envelope, draft, harden, assemble. Only the draft comes from outside.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, replace

from agentsfence_compiler import language
from agentsfence_compiler.amendment import amend, restrict
from agentsfence_compiler.assembly import assemble, inferred_risks, shared
from agentsfence_compiler.backends.rules import RulesBackend
from agentsfence_compiler.fallback import fallback
from agentsfence_compiler.hardening import Hardened, harden, whole
from agentsfence_compiler.isolation import Isolated, isolate
from agentsfence_compiler.language.envelope import envelope as envelope_of
from agentsfence_compiler.language.reading import Envelope, Reading
from agentsfence_compiler.views import purpose_of, request_views, summary_of
from agentsfence_core.errors import CompilerError
from agentsfence_core.limits import LIMITS
from agentsfence_core.model import Permission, Prohibition, Risk, TaskPolicy
from agentsfence_core.ports import (
    CompileContext,
    Compiled,
    CompilerBackend,
    Dropped,
    Instruction,
    PersonMessage,
    RequestView,
)

RULES = "rules"
_RULES = RulesBackend()
FAIL = "fail"
"""``CompileContext.draft`` that plays a failing backend."""

_TRIES = 2  # one retry with the fault of the first answer


@dataclass(frozen=True, slots=True)
class _Understood:
    """A message as far as no backend is needed."""

    isolated: Isolated
    reading: Reading
    envelope: Envelope

    @property
    def asks(self) -> bool:
        """Whether there is anything that a draft could be hardened to."""
        return bool(self.envelope.permissions)


class IntentCompiler:
    """Compiles messages with backends chosen by name; an unknown name is a failing backend."""

    def __init__(self, backends: Mapping[str, CompilerBackend] | None = None) -> None:
        self._backends = dict(backends or {})

    def begin(self, message: PersonMessage, context: CompileContext) -> Compiled:
        """Return the policy of a new task; read-only with every prohibition where anything fails."""
        understood, fault = _understand(message.text, context)
        if fault or understood.isolated.empty:
            return _fallen(understood, context, fault or "nothing is left of your message but quoted material")
        try:
            return self._begun(understood, context)
        except Exception as error:  # noqa: BLE001  (INVARIANT: total; what the words forbid holds)
            return _fallen(understood, context, f"compiling failed: {type(error).__name__}")

    def _begun(self, understood: _Understood, context: CompileContext) -> Compiled:
        hardened, words, fault = self._hardened(understood, context)
        if hardened is None:
            return _fallen(understood, context, fault)
        isolated, requests = understood.isolated, understood.reading.requests
        looks = [
            request.capabilities[0] for request in requests if request.risks == {Risk.READ} and request.capabilities
        ]
        policy = assemble(
            _narrowed(understood.envelope, hardened),
            now=context.now,
            purpose=words[0] or purpose_of(requests),
            summary=words[1] or summary_of(hardened.permissions),
            inferred=inferred_risks(requests),
            bounds=understood.envelope.permissions,
            reads=dict.fromkeys(looks),
        )
        return Compiled(policy, isolated.instruction, isolated.removed, hardened.dropped, _views(understood))

    def amend(self, message: PersonMessage, current: TaskPolicy, context: CompileContext) -> Compiled:
        """Return the policy after a later message of the same person; a message without authority changes nothing."""
        understood, fault = _understand(message.text, context, cheap=True)
        isolated, reading = understood.isolated, understood.reading
        if not fault and not _matters(understood):
            return Compiled(current, isolated.instruction, isolated.removed, changed=False)
        if understood.asks and not fault:
            hardened, _, fault = self._hardened(understood, context)
        else:
            hardened = whole(understood.envelope)  # nothing to draft: bans and limits speak for themselves
        views = _views(understood)
        if hardened is None:
            # A narrowing takes effect although the backend failed; nothing is added, and no ban is lifted.
            instead = tuple(request for request in reading.requests if request.instead and request.risks - {Risk.READ})
            policy = _guarded_amend(
                current,
                replace(understood.envelope, permissions=()),
                Reading(instead),
                context,
                asked=understood.envelope.permissions,
            )
            return Compiled(
                policy, isolated.instruction, isolated.removed, (Dropped("what you asked for", fault),), views
            )
        narrowed = _narrowed(understood.envelope, hardened)
        policy = _guarded_amend(current, narrowed, reading, context, asked=understood.envelope.permissions)
        return Compiled(
            policy, isolated.instruction, isolated.removed, hardened.dropped, views, changed=policy != current
        )

    def restrict(self, message: PersonMessage, current: TaskPolicy, context: CompileContext) -> Compiled:
        """Return the policy after somebody else's message in a shared chat: never wider than ``current``."""
        understood, fault = _understand(message.text, context, cheap=True)
        isolated = understood.isolated
        dropped = tuple(
            Dropped(request.quote[: LIMITS.evidence_words], "only the person who started the task can ask for this")
            for request in understood.reading.requests
            if request.risks - {Risk.READ}
        )
        try:
            policy = restrict(current, replace(understood.envelope, permissions=()))
        except Exception as error:  # noqa: BLE001  (INVARIANT: total; the policy in force stays)
            policy, fault = current, type(error).__name__
        if fault:
            dropped = (*dropped, Dropped("the whole message", fault))
        return Compiled(
            policy, isolated.instruction, isolated.removed, dropped, _views(understood), changed=policy != current
        )

    def _hardened(
        self, understood: _Understood, context: CompileContext
    ) -> tuple[Hardened | None, tuple[str, str], str]:
        """Return what a draft hardens to, with its purpose and summary; ``None`` and the fault where there is none."""
        if context.draft is None and context.compiler in {RULES, ""} and self._rules_are_ours():
            return whole(understood.envelope), ("", ""), ""  # the rules' draft is the envelope itself
        error: str | None = None
        for _ in range(_TRIES if context.draft is None else 1):
            try:
                return self._drafted(understood, context, error)
            except CompilerError as fault:
                error = str(fault)[: LIMITS.quote]
                if getattr(fault, "final", False):
                    break
            except Exception as fault:  # noqa: BLE001  (INVARIANT: a backend is foreign code, and its fault is the fallback)
                error = f"the compiler failed: {type(fault).__name__}"
                break
        return None, ("", ""), error or "the compiler failed"

    def _rules_are_ours(self) -> bool:
        return isinstance(self._backends.get(RULES, _RULES), RulesBackend)

    def _drafted(
        self, understood: _Understood, context: CompileContext, error: str | None
    ) -> tuple[Hardened, tuple[str, str], str]:
        from agentsfence_compiler.draft import read_draft  # noqa: PLC0415  (lazy: start-up budget, DESIGN 13)

        answer = self._answer(understood.isolated.instruction, context, error)
        draft = read_draft(answer)
        instruction = understood.isolated.instruction
        hardened = harden(draft, understood.reading, understood.envelope, instruction, home=context.host.home)
        return hardened, (purpose_of((), said=draft.purpose), draft.summary.strip()[: LIMITS.evidence_words]), ""

    def _answer(self, instruction: Instruction, context: CompileContext, error: str | None) -> object:
        if context.draft == FAIL:
            raise CompilerError("the compiler failed")
        if context.draft is not None:
            return context.draft
        backend = self._backends.get(context.compiler) or _built_in(context.compiler)
        if backend is None:
            raise CompilerError(
                f"there is no compiler called {context.compiler!r}", hint="see `compiler` in the settings"
            )
        return backend.draft(Instruction(instruction[: LIMITS.message_to_model]), context, error)


def _built_in(name: str) -> CompilerBackend | None:
    from agentsfence_compiler.plugin import agentsfence_compilers  # noqa: PLC0415  (lazy: hooks are not needed offline)

    return agentsfence_compilers().get(name)


def _understand(text: str, context: CompileContext, *, cheap: bool = False) -> tuple[_Understood, str]:
    """Return the message isolated and read, and what failed. Never raises."""
    isolated, reading = Isolated(Instruction("")), Reading()
    try:
        isolated = isolate(text)
        if cheap and not isolated.data and not language.mentions_authority(isolated.instruction):
            return _Understood(isolated, reading, Envelope()), ""
        reading = _read(isolated.instruction, context)
        bans = reading.prohibitions
        if isolated.data:
            bans = (*bans, *_read(isolated.data, context).prohibitions)
        envelope = _for_preset(_envelope(reading, context), reading, context)
        return _Understood(
            isolated, reading, replace(envelope, prohibitions=_unique((*envelope.prohibitions, *bans)))
        ), ""
    except Exception as error:  # noqa: BLE001  (INVARIANT: total; what was read so far still forbids)
        return _Understood(
            isolated, reading, Envelope(prohibitions=reading.prohibitions)
        ), f"reading failed: {type(error).__name__}"


def _read(text: str, context: CompileContext) -> Reading:
    host = context.host
    return language.read(
        text, home=host.home, workspace=host.workspace, workdir=host.workdir, contacts=context.contacts
    )


def _envelope(reading: Reading, context: CompileContext) -> Envelope:
    host = context.host
    found = envelope_of(reading, workspace=host.workspace, workdir=host.workdir, home=host.home)
    return replace(found, permissions=shared(found.permissions))


def _for_preset(envelope: Envelope, reading: Reading, context: CompileContext) -> Envelope:
    """Return the envelope under a preset: with ``strict``, a conditional request asks whatever its class."""
    if context.preset != "strict":
        return envelope
    conditional = {request.quote for request in reading.requests if request.conditional}
    rows = tuple(
        replace(row, needs_approval=True) if row.evidence in conditional else row for row in envelope.permissions
    )
    return replace(envelope, permissions=rows)


def _narrowed(envelope: Envelope, hardened: Hardened) -> Envelope:
    return replace(
        envelope,
        permissions=hardened.permissions,
        prohibitions=hardened.prohibitions,
        max_external_writes=hardened.max_external_writes,
    )


def _matters(understood: _Understood) -> bool:
    """Whether a message can change authority at all."""
    envelope, reading = understood.envelope, understood.reading
    limits = envelope.only_domains or envelope.requires_approval or envelope.max_external_writes is not None
    return bool(envelope.permissions or envelope.prohibitions or limits or reading.requests or reading.continues)


def _fallen(understood: _Understood, context: CompileContext, fault: str) -> Compiled:
    """Return the fallback: what failed is named, and every ban and limit of the words holds."""
    envelope, isolated = understood.envelope, understood.isolated
    policy = fallback(
        envelope.prohibitions,
        context.now,
        only_domains=envelope.only_domains,
        requires_approval=envelope.requires_approval,
        bounds=envelope.permissions,
    )
    dropped = (Dropped("the whole request", fault),)
    return Compiled(policy, isolated.instruction, isolated.removed, dropped, _views(understood))


def _views(understood: _Understood) -> tuple[RequestView, ...]:
    return request_views(understood.reading, understood.isolated.instruction, understood.envelope.permissions)


def _guarded_amend(
    current: TaskPolicy,
    new: Envelope,
    reading: Reading,
    context: CompileContext,
    *,
    asked: tuple[Permission, ...],
) -> TaskPolicy:
    try:
        known = inferred_risks(reading.requests)
        return amend(current, new, reading, now=context.now, inferred=known, asked=asked)
    except Exception:  # noqa: BLE001  (INVARIANT: total; the bans of this message hold, nothing else changes)
        return replace(current, user_prohibitions=_unique((*current.user_prohibitions, *new.prohibitions)))


def _unique(bans: tuple[Prohibition, ...]) -> tuple[Prohibition, ...]:
    return tuple({repr(ban): ban for ban in bans}.values())

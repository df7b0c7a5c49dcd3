"""The shape of a compiler backend's answer (DESIGN 7.6). A border: everything that comes in here is untrusted."""

from __future__ import annotations

from typing import Annotated

from pydantic import BaseModel, ConfigDict, Field, ValidationError, model_validator

from agentsfence_core.errors import CompilerError
from agentsfence_core.limits import LIMITS
from agentsfence_core.model import Risk

_TARGETS = 1_000  # targets of one kind in one row
_TEXT = 500  # characters of purpose and summary

Target = Annotated[str, Field(min_length=1, max_length=LIMITS.target_length)]
Quote = Annotated[str, Field(min_length=1, max_length=LIMITS.quote)]
Amount = Annotated[str, Field(pattern=r"^\d{1,15}(\.\d{1,6})?$")]
_STRICT = ConfigDict(extra="forbid", strict=True, frozen=True, allow_inf_nan=False)


class _Row(BaseModel):
    """What a permission and a prohibition share: a capability or a class, and the words that it rests on."""

    model_config = _STRICT

    capability: Annotated[str, Field(max_length=200)] = ""
    """``email.send``; empty where a class is named."""
    risk: Annotated[Risk, Field(strict=False)] | None = None
    """A class: narrowed to the capabilities that the quoted request carries."""
    quote: Quote
    """Verbatim words of the instruction."""

    @model_validator(mode="after")
    def _names_one(self) -> _Row:
        if bool(self.capability) == (self.risk is not None):
            msg = "name either a capability or a risk, not both"
            raise ValueError(msg)
        return self


class DraftPermission(_Row):
    """One permission that a backend proposes. An absent or empty list means "as the words say"."""

    recipients: Annotated[list[Target], Field(max_length=_TARGETS)] = []
    domains: Annotated[list[Target], Field(max_length=_TARGETS)] = []
    paths: Annotated[list[Target], Field(max_length=_TARGETS)] = []
    objects: Annotated[list[Target], Field(max_length=_TARGETS)] = []
    values: dict[Annotated[str, Field(max_length=100)], Target] = {}
    max_calls: Annotated[int, Field(ge=0, le=1_000_000)] | None = None
    max_amount: Amount | None = None
    needs_approval: bool = False


class DraftProhibition(_Row):
    """One prohibition that a backend reads in the words."""

    targets: Annotated[list[Target], Field(max_length=_TARGETS)] = []


class PolicyDraft(BaseModel):
    """A draft: purpose, summary, permissions, prohibitions and a budget."""

    model_config = _STRICT

    purpose: Annotated[str, Field(max_length=_TEXT)] = ""
    summary: Annotated[str, Field(max_length=_TEXT)] = ""
    permissions: Annotated[list[DraftPermission], Field(max_length=LIMITS.draft_permissions)] = []
    prohibitions: Annotated[list[DraftProhibition], Field(max_length=LIMITS.draft_permissions)] = []
    max_external_writes: Annotated[int, Field(ge=0, le=1_000_000)] | None = None


def read_draft(answer: object) -> PolicyDraft:
    """Return the draft, or raise `CompilerError` with one line per fault, fit to be shown to the backend that erred."""
    if isinstance(answer, PolicyDraft):
        return answer
    if not isinstance(answer, dict):
        raise CompilerError(f"the answer must be one JSON object, not {type(answer).__name__}")
    try:
        return PolicyDraft.model_validate(answer)
    except ValidationError as error:
        faults = error.errors(include_url=False, include_context=False, include_input=False)[:8]
        lines = "; ".join(
            f"{'.'.join(map(str, fault['loc']))[:120] or 'draft'}: {fault['msg'][:160]}" for fault in faults
        )
        raise CompilerError(f"the answer is no PolicyDraft: {lines}") from None
    except (RecursionError, ValueError, TypeError) as error:
        raise CompilerError(f"the answer cannot be read: {type(error).__name__}") from None


def draft_schema() -> dict[str, object]:
    """Return the JSON Schema of a draft, for backends that can be told one."""
    return PolicyDraft.model_json_schema()

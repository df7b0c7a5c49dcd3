"""What Hermes knows, asked in one place. Everything private to Hermes that we rely on stands here.

Rules of this file:

* A question that this version of Hermes cannot answer has the strict answer: nobody is there, nothing is local,
  no session is known. The one exception, `coerced`, raises: arguments that cannot be read must not be judged.
* Nothing here decides; it returns facts.
"""

from __future__ import annotations

import copy
import os
import sys
from collections.abc import Callable, Mapping
from dataclasses import dataclass
from enum import Enum
from pathlib import Path
from typing import Any, TypeVar

from agentsfence_core import HostFacts
from agentsfence_core.model import Locality

T = TypeVar("T")
_BROAD = frozenset({"/", ""})
PLUGIN_RULE = "plugin_rule:"
"""What Hermes puts before a rule key of a plugin."""


class Answer(Enum):
    """Who would answer a question that we hand to Hermes now."""

    SILENT = "silent"
    """Hermes itself, with yes: yolo, cron approve, auto-approving subagents."""
    CHAT = "chat"
    """A person in a chat; Hermes tells us the answer."""
    PROMPT = "prompt"
    """A person at a prompt; that the call runs is the answer."""
    NOBODY = "nobody"


def _ask(question: Callable[[], T], otherwise: T) -> T:
    try:
        return question()
    except Exception:  # noqa: BLE001  (private interfaces of Hermes: whatever is missing has the strict answer)
        return otherwise


def home() -> Path:
    """Return the profile's folder of this moment: one process may serve several profiles."""
    from hermes_constants import get_hermes_home  # noqa: PLC0415

    found: Path = get_hermes_home()
    return found


def host_places(folder: Path) -> tuple[str, ...]:
    """Return what switches the fence off when it is changed: Hermes' settings, plugins, sessions, and our own code."""
    places = [folder / name for name in ("config.yaml", ".env", "plugins", "hooks", "state.db", "auth.json")]
    packages = ("agentsfence_core", "agentsfence_compiler", "agentsfence_hermes", "hermes_cli")
    for name in packages:
        module = sys.modules.get(name)
        if module is not None and module.__file__:
            places.append(Path(module.__file__).parent)
    return tuple(dict.fromkeys(str(place) for path in places for place in (path, path.resolve())))


def coerced(tool: str, args: object) -> dict[str, Any]:
    """Return a copy of the arguments as Hermes hands them to the tool. Raises where there is no such copy."""
    from model_tools import coerce_tool_args  # noqa: PLC0415

    values = copy.deepcopy(args) if isinstance(args, dict) else {}
    changed = coerce_tool_args(tool, values)
    return changed if isinstance(changed, dict) else {}


def facts(task_id: str, workspace: str | None, answer: Answer, *, shared: bool) -> HostFacts:
    """Return what the fence must know of the host for one call."""
    return HostFacts(
        auto_approves=answer is Answer.SILENT,
        human_present=answer in {Answer.CHAT, Answer.PROMPT},
        shared=shared,
        workdir=workdir(task_id),
        workspace=workspace,
        locality=locality(),
    )


def workdir(task_id: str) -> str | None:
    """Return the folder from which this task's tools read relative paths now; it follows the agent's `cd`."""

    def ask() -> str | None:
        from tools import file_tools  # noqa: PLC0415

        task = task_id or "default"
        known = file_tools._authoritative_workspace_root(task)
        if known is None:
            return os.getcwd()  # noqa: PTH109  (a text: this is asked before every call)
        return str(known) if os.path.isabs(known) else str(file_tools._resolve_base_dir(task))  # noqa: PTH117

    return _ask(ask, None)


def workspace(task_id: str) -> str | None:
    """Return the folder that a session starts in, unless it is the home folder or the root: those hold everything."""
    folder = workdir(task_id)
    if folder is None or folder in _BROAD or folder.rstrip("/") == os.path.expanduser("~"):  # noqa: PTH111  (a text)
        return None
    return folder


def locality() -> Locality:
    """Return where the terminal and file tools work: in a container or on another machine nothing can be looked up."""
    backend = (os.environ.get("TERMINAL_ENV") or "local").strip().lower()
    return Locality.LOCAL if backend == "local" else Locality.REMOTE


def session_value(name: str) -> str:
    """Return a value of the chat session that this code runs for, for example ``PLATFORM``."""

    def ask() -> str:
        from gateway.session_context import get_session_env  # noqa: PLC0415

        return str(get_session_env(f"HERMES_SESSION_{name}", "") or "")

    return _ask(ask, "")


def in_review() -> bool:
    """Whether this is Hermes' own background review, which runs under the session of the person."""

    def ask() -> bool:
        from tools.skill_provenance import is_background_review  # noqa: PLC0415

        return bool(is_background_review()) or restricted_thread()

    return _ask(ask, False)


def restricted_thread() -> bool:
    """Whether Hermes lets this thread use only a list of tools, as its review fork does."""

    def ask() -> bool:
        from hermes_cli import plugins  # noqa: PLC0415

        return getattr(plugins._thread_tool_whitelist, "allowed", None) is not None

    return _ask(ask, False)


def who_answers() -> Answer:
    """Return who would answer a plugin's question now, as Hermes' approval gate would decide it."""
    return _ask(_who_answers, Answer.NOBODY)


def _who_answers() -> Answer:
    from tools import approval  # noqa: PLC0415

    if approval._YOLO_MODE_FROZEN or approval.is_current_session_yolo_enabled():
        return Answer.SILENT
    at_prompt = bool(approval._is_interactive_cli())
    in_chat = bool(approval._is_gateway_approval_context())
    if not at_prompt and not in_chat:
        # Hermes never takes back HERMES_CRON_SESSION once a job ran in this process: all its chats end up here.
        cron = approval.env_var_enabled("HERMES_CRON_SESSION") and approval._get_cron_approval_mode() == "approve"
        return Answer.SILENT if cron else Answer.NOBODY
    if in_chat or approval.env_var_enabled("HERMES_EXEC_ASK"):
        with approval._lock:
            asked = approval._gateway_notify_cbs.get(approval.get_current_session_key())
        return Answer.CHAT if asked is not None else Answer.NOBODY
    return _who_answers_prompt()


def _who_answers_prompt() -> Answer:
    from tools.terminal_tool import _get_approval_callback  # noqa: PLC0415

    callback = _get_approval_callback()
    name = getattr(callback, "__name__", "")
    if name == "_subagent_auto_approve":
        return Answer.SILENT
    if name == "_subagent_auto_deny":
        return Answer.NOBODY
    # Without a callback Hermes reads the terminal; without a terminal it would wait a minute for nobody.
    return Answer.PROMPT if callback is not None or sys.stdin.isatty() else Answer.NOBODY


def remembered(rule_key: str) -> bool:
    """Whether the person answered a question with "session" or "always"."""

    def ask() -> bool:
        from tools import approval  # noqa: PLC0415

        return bool(approval.is_approved(approval.get_current_session_key(), PLUGIN_RULE + rule_key))

    return _ask(ask, False)


def approval_timeout() -> float:
    """Return for how many seconds Hermes waits at a prompt; nothing that took as long is an answer."""

    def ask() -> float:
        from hermes_cli.config import load_config  # noqa: PLC0415

        return float((load_config().get("approvals") or {}).get("timeout") or 60)

    return _ask(ask, 60.0) * 0.95


def shared(source: object) -> bool:
    """Whether several people write into the session of this chat; in doubt every chat but a direct one."""

    def ask() -> bool:
        from gateway.session import is_shared_multi_user_session  # noqa: PLC0415
        from hermes_cli.config import load_config  # noqa: PLC0415

        config = load_config()
        return bool(
            is_shared_multi_user_session(
                source,
                group_sessions_per_user=bool(config.get("group_sessions_per_user", True)),
                thread_sessions_per_user=bool(config.get("thread_sessions_per_user", False)),
            )
        )

    return _ask(ask, getattr(source, "chat_type", "") != "dm")


def said_with_skill(text: str, session: str) -> str:
    """Return what a person wrote behind a ``/skill`` at the terminal, if Hermes would compose this very text from it.

    A skill's body, its notes and the names of its files can contain any text, the marker before the person's words
    included. So the text is composed again with what seems to be theirs, and counts only if it comes out the same.
    """
    return _ask(lambda: _said_with_skill(text, session), "")


def _said_with_skill(text: str, session: str) -> str:
    from agent import skill_commands  # noqa: PLC0415

    opening, _, rest = text.partition('"')
    name = rest.partition('"')[0]
    note = text[: text.index("]") + 1]
    said = skill_commands.extract_user_instruction_from_skill_message(text)
    if not said or not opening or skill_commands._load_skills_config().get("inline_shell", False):
        return ""  # composing again would run the skill's own commands
    for skill in skill_commands.get_skill_commands().values():
        if skill["name"] != name:
            continue
        loaded, folder, _ = skill_commands._load_skill_payload(skill["skill_dir"], task_id=session)
        again = skill_commands._build_skill_message(loaded, folder, note, user_instruction=said, session_id=session)
        if again == text:
            return str(said)
    return ""


@dataclass(frozen=True, slots=True)
class Origin:
    """Where a session came from, as Hermes recorded it."""

    parent: str
    ended: str
    """Why the parent ended: ``compression``, ``branched`` …"""
    source: str
    """``subagent``, ``cli``, a platform …"""
    branched: bool


def origin(session: str) -> Origin | None:
    """Return where a session came from, or ``None`` where it has no parent or Hermes keeps no record."""
    return _ask(lambda: _origin(session), None)


def _origin(session: str) -> Origin | None:
    from hermes_state import DEFAULT_DB_PATH  # noqa: PLC0415

    for path in dict.fromkeys((home() / "state.db", Path(DEFAULT_DB_PATH))):
        if path.exists() and (found := _origin_in(path, session)) is not None:
            return found
    return None


def _origin_in(path: Path, session: str) -> Origin | None:
    from hermes_state import SessionDB  # noqa: PLC0415

    database = SessionDB(path)
    try:
        row: Mapping[str, Any] | None = database.get_session(session)
        parent = str((row or {}).get("parent_session_id") or "")
        if row is None or not parent:
            return None
        above: Mapping[str, Any] = database.get_session(parent) or {}
    finally:
        database.close()
    ended = str(above.get("end_reason") or "")
    branched = "_branched_from" in str(row.get("model_config") or "") or ended == "branched"
    return Origin(parent, ended, str(row.get("source") or ""), branched)

"""Settings: who may say what, in which order, and what is refused (DESIGN 9)."""

from __future__ import annotations

from collections.abc import Mapping
from importlib import metadata
from pathlib import Path

import pytest

from agentsfence_core.errors import SettingsError
from agentsfence_core.model import Ceiling, Risk, TaskPolicy, Verdict
from agentsfence_core.settings import Settings, load_settings, narrowed


@pytest.fixture
def environ(tmp_path: Path) -> Mapping[str, str]:
    home = tmp_path / "home"
    home.mkdir(mode=0o700)
    return {"AGENTSFENCE_HOME": str(home)}


def write(environ: Mapping[str, str], text: str) -> Path:
    path = Path(environ["AGENTSFENCE_HOME"]) / "settings.yaml"
    path.write_text(text, encoding="utf-8")
    path.chmod(0o600)
    return path


def test_without_a_file_the_seeds_defaults_hold(environ: Mapping[str, str]) -> None:
    settings = load_settings(None, environ)
    assert settings.default_verdicts == {
        Risk.READ: Verdict.ALLOW,
        Risk.LOCAL_WRITE: Verdict.ASK_USER,
        Risk.EXTERNAL_WRITE: Verdict.ASK_USER,
        Risk.COMMUNICATION: Verdict.ASK_USER,
        Risk.EXECUTION: Verdict.ASK_USER,
        Risk.UNKNOWN: Verdict.ASK_USER,
        Risk.DELETE: Verdict.BLOCK,
        Risk.PERMISSION_CHANGE: Verdict.BLOCK,
        Risk.FINANCIAL: Verdict.BLOCK,
    }
    assert settings.preset == "balanced"
    assert settings.missing_policy == "fallback"
    assert settings.store == f"sqlite:{environ['AGENTSFENCE_HOME']}/state.db"
    assert not settings.unsafe_shadow


def test_built_in_settings_name_no_place() -> None:
    assert Settings().home is None
    assert Settings().audit_path is None
    assert Settings().protected == ()
    assert Settings().default_verdicts[Risk.DELETE] is Verdict.BLOCK


def test_argument_goes_before_environment_before_user_before_organisation(environ: Mapping[str, str]) -> None:
    write(environ, "compiler: {name: chat, model: user, base_url: user}\npreset: balanced\n")
    env = {**environ, "AGENTSFENCE_MODEL": "env", "AGENTSFENCE_BASE_URL": "env"}
    org = {"preset": "strict", "evaluation": {"strict_auto_approve": True}}
    settings = load_settings({"compiler": {"base_url": "argument"}}, env, org)
    assert settings.compiler.name == "chat"
    assert settings.compiler.model == "env"
    assert settings.compiler.base_url == "argument"
    assert settings.preset == "balanced"
    assert settings.strict_auto_approve


def test_a_named_file_takes_the_place_of_the_users(environ: Mapping[str, str], tmp_path: Path) -> None:
    write(environ, "preset: strict\n")
    other = tmp_path / "other.yaml"
    other.write_text("plugins: [my-plugin]\n", encoding="utf-8")
    settings = load_settings(other, environ)
    assert settings.preset == "balanced"
    assert settings.plugins == ("my-plugin",)


def test_a_named_file_that_is_missing_is_an_error(environ: Mapping[str, str], tmp_path: Path) -> None:
    with pytest.raises(SettingsError, match="no such file"):
        load_settings(tmp_path / "absent.yaml", environ)


def test_a_model_is_asked_only_where_there_is_a_key_for_it(environ: Mapping[str, str]) -> None:
    assert Settings().compiler.name == "rules"
    assert load_settings(None, environ).compiler.name == "rules"
    assert load_settings(None, {**environ, "OPENROUTER_API_KEY": "k"}).compiler.name == "chat"
    assert load_settings({"compiler": {"api_key_env": "MINE"}}, {**environ, "MINE": "k"}).compiler.name == "chat"
    assert (
        load_settings({"compiler": {"name": "rules"}}, {**environ, "OPENROUTER_API_KEY": "k"}).compiler.name == "rules"
    )


def test_the_users_file_may_be_left_unread(environ: Mapping[str, str]) -> None:
    write(environ, "nonsense: [")
    assert load_settings({"preset": "strict"}, environ, read_user_file=False).preset == "strict"


def test_a_block_becomes_a_question_where_the_user_says_so(environ: Mapping[str, str]) -> None:
    write(environ, "evaluation:\n  unauthorized: {DELETE: ASK_USER, LOCAL_WRITE: BLOCK}\n")
    verdicts = load_settings(None, environ).default_verdicts
    assert verdicts[Risk.DELETE] is Verdict.ASK_USER
    assert verdicts[Risk.LOCAL_WRITE] is Verdict.BLOCK
    assert verdicts[Risk.FINANCIAL] is Verdict.BLOCK


@pytest.mark.parametrize("risk", sorted(set(Risk) - {Risk.READ, Risk.UNKNOWN}))
def test_an_allow_for_a_class_that_changes_something_must_be_called_unsafe(
    environ: Mapping[str, str], risk: Risk
) -> None:
    asked = {"evaluation": {"unauthorized": {risk.value: "ALLOW"}}}
    with pytest.raises(SettingsError, match="unsafe_unauthorized"):
        load_settings(asked, environ)
    assert load_settings({**asked, "unsafe_unauthorized": True}, environ).default_verdicts[risk] is Verdict.ALLOW


def test_unknown_is_never_allowed_as_a_class(environ: Mapping[str, str]) -> None:
    with pytest.raises(SettingsError, match="UNKNOWN"):
        load_settings({"evaluation": {"unauthorized": {"UNKNOWN": "ALLOW"}}, "unsafe_unauthorized": True}, environ)


WRONG = [
    ("preset: balanced\npresett: strict\n", "line 2: presett: unknown field", "did you mean preset"),
    ("preset: stict\n", "line 1: preset: 'stict' is not known here", "did you mean strict"),
    ("evaluation:\n  unauthorized:\n    DELTE: ASK_USER\n", "line 2: evaluation.unauthorized", "did you mean DELETE"),
    ("evaluation:\n  unauthorized:\n    DELETE: MAYBE\n", "line 2: evaluation.unauthorized", "ALLOW"),
    ("evaluation:\n  unauthorized: DELETE\n", "line 2: evaluation.unauthorized: must be a mapping", ""),
    ("evaluation:\n  strict_auto_aprove: true\n", "line 2: evaluation.strict_auto_aprove", "strict_auto_approve"),
    ("unsafe_shadow: 'yes'\n", "line 1: unsafe_shadow: must be true or false", ""),
    ("contacts: {bob: 12}\n", "line 1: contacts.bob: must be a text", "quotes"),
    ("plugins: x\n", "line 1: plugins: must be a list", ""),
    ("preset: strict\npreset: balanced\n", "line 2: the key 'preset' stands twice", ""),
    ("preset: [\n", "line 2: not YAML", ""),
    ("- a\n", "not a mapping of fields", ""),
    ("compiler: {timeout: 0}\n", "compiler.timeout", ""),
    ("store: sqlite:state.db\n", "working directory", ""),
    ("audit: {path: logs}\n", "working directory", ""),
    ("limits: {message: 3}\n", "line 1: limits: unknown field", ""),
    ("tools: [{match: x, capability: email.send, risk: SEND}]\n", "unknown risk", "COMMUNICATION"),
    ("tools: [{match: x, capability: my.own}]\n", "risk: missing", ""),
    ("a: &a [1]\nb: &b [*a, *a]\n", "unknown field", ""),
]


@pytest.mark.parametrize(("text", "message", "hint"), WRONG, ids=[text[:30] for text, _, _ in WRONG])
def test_a_wrong_file_is_refused_with_line_and_fix(
    environ: Mapping[str, str], text: str, message: str, hint: str
) -> None:
    write(environ, text)
    with pytest.raises(SettingsError) as caught:
        load_settings(None, environ)
    assert message in str(caught.value)
    assert hint in str(caught.value)


def test_an_empty_file_is_the_defaults(environ: Mapping[str, str]) -> None:
    write(environ, "# nothing yet\n")
    assert load_settings(None, environ).preset == "balanced"


def test_tools_take_the_class_of_the_catalogue_and_the_short_form(environ: Mapping[str, str]) -> None:
    write(environ, "tools:\n  post_it: {capability: email.send, recipients: [to]}\n")
    (row,) = load_settings(None, environ).tools
    assert (row.match, row.capability, row.risk, row.recipients) == ("post_it", "email.send", "COMMUNICATION", ("to",))


def test_a_file_that_others_can_write_is_refused(environ: Mapping[str, str]) -> None:
    write(environ, "preset: strict\n").chmod(0o666)
    with pytest.raises(SettingsError, match="other accounts can write"):
        load_settings(None, environ)


def test_a_file_in_a_folder_that_others_can_write_is_refused(environ: Mapping[str, str]) -> None:
    write(environ, "preset: strict\n").parent.chmod(0o777)
    with pytest.raises(SettingsError, match="other accounts can write"):
        load_settings(None, environ)


def test_a_link_to_a_file_that_others_can_write_is_refused(environ: Mapping[str, str], tmp_path: Path) -> None:
    open_folder = tmp_path / "open"
    open_folder.mkdir()
    target = open_folder / "s.yaml"
    target.write_text("preset: strict\n", encoding="utf-8")
    open_folder.chmod(0o777)
    (Path(environ["AGENTSFENCE_HOME"]) / "settings.yaml").symlink_to(target)
    with pytest.raises(SettingsError, match="other accounts can write"):
        load_settings(None, environ)


def test_the_working_directory_is_never_read(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, environ: Mapping[str, str]
) -> None:
    (tmp_path / "settings.yaml").write_text("preset: strict\n", encoding="utf-8")
    monkeypatch.chdir(tmp_path)
    assert load_settings(None, environ).preset == "balanced"
    with pytest.raises(SettingsError, match="not absolute"):
        load_settings(None, {"AGENTSFENCE_HOME": "."})


@pytest.mark.parametrize("name", ["tools", "contacts", "plugins", "compiler", "store"])
@pytest.mark.parametrize("wrap", [lambda org: org, lambda org: {"floor": org}], ids=["default", "floor"])
def test_an_organisation_cannot_set_what_moves_authority(environ: Mapping[str, str], name: str, wrap: object) -> None:
    assert callable(wrap)
    with pytest.raises(SettingsError, match=name):
        load_settings(None, environ, wrap({name: {}}))


def test_an_organisations_floor_can_only_be_tightened(environ: Mapping[str, str]) -> None:
    floor = {
        "preset": "strict",
        "evaluation": {"unauthorized": {"EXECUTION": "BLOCK", "DELETE": "ASK_USER"}, "missing_policy": "block"},
        "unsafe_shadow": False,
        "audit": {"enabled": True},
    }
    write(environ, "unsafe_shadow: true\naudit: {enabled: false}\nevaluation: {unauthorized: {EXECUTION: ASK_USER}}\n")
    settings = load_settings(
        {"preset": "balanced", "evaluation": {"missing_policy": "fallback"}}, environ, {"floor": floor}
    )
    assert settings.preset == "strict"
    assert settings.missing_policy == "block"
    assert settings.default_verdicts[Risk.EXECUTION] is Verdict.BLOCK
    assert settings.default_verdicts[Risk.DELETE] is Verdict.BLOCK
    assert not settings.unsafe_shadow
    assert settings.audit_path is not None


def test_a_floor_forbids_nothing_that_it_does_not_mention(environ: Mapping[str, str]) -> None:
    asked = {"unsafe_shadow": True, "audit": {"enabled": False}}
    settings = load_settings(asked, environ, {"floor": {"preset": "strict"}})
    assert settings.unsafe_shadow
    assert settings.audit_path is None


def test_a_project_takes_away_and_nothing_else(environ: Mapping[str, str]) -> None:
    project = {"prohibitions": ["DELETE"], "requires_approval": ["git.push"], "allow_execution": False}
    settings = narrowed(load_settings(None, environ), project)
    before = TaskPolicy(allow_execution=True, allow_local_writes=True, allowed_tools=("x",))
    after = settings.narrowing.applied(before)
    assert [ban.what for ban in after.user_prohibitions] == ["DELETE"]
    assert after.requires_approval == ("git.push",)
    assert not after.allow_execution
    assert after.allow_local_writes
    assert after.allowed_tools == ("x",)
    assert settings.narrowing.ceilings_off == {Ceiling.EXECUTION}


@pytest.mark.parametrize(
    "field", [{"allow_execution": True}, {"allowed_tools": ["x"]}, {"unsafe_shadow": True}, {"store": "x"}]
)
def test_a_project_that_would_add_anything_is_refused(environ: Mapping[str, str], field: Mapping[str, object]) -> None:
    with pytest.raises(SettingsError, match="may only narrow"):
        narrowed(load_settings(None, environ), field)


def test_the_other_package_of_this_name_is_refused(environ: Mapping[str, str], monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(metadata, "distribution", lambda name: name)
    with pytest.raises(SettingsError, match="pip uninstall agentsfence"):
        load_settings(None, environ)


def test_the_fences_own_places_are_protected(environ: Mapping[str, str]) -> None:
    protected = load_settings({"store": "sqlite:/srv/fence/s.db"}, environ).protected
    assert protected == (environ["AGENTSFENCE_HOME"], f"{environ['AGENTSFENCE_HOME']}/audit", "/srv/fence/s.db")

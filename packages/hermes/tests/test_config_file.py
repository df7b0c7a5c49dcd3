"""Our entry in config.yaml comes and goes, and not one other character moves."""

from __future__ import annotations

import stat
from pathlib import Path

import pytest
import yaml
from hypothesis import given
from hypothesis import strategies as st

from agentsfence_core import SettingsError
from agentsfence_hermes.config_file import enabled_in, with_plugin, without_plugin, write

FILES = {
    "no file": "",
    "no plugins": "# mine\nmodel: {default: x}  # the good one\n",
    "no plugins, no line end": "model: x",
    "plugins without a list": "plugins:\n  # others\n  entries:\n    a: {b: 1}\nmodel: x\n",
    "a block list": "plugins:\n  enabled:\n    - one  # first\n    - two\n  disabled: [three]\n# end\n",
    "a block list at the key's own column": "plugins:\n  enabled:\n  - one\n  - two\nmodel: x\n",
    "a block list at the end": "plugins:\n  enabled:\n  - one",
    "an inline list": "plugins: {enabled: [one, two], disabled: []}\n",
    "an inline list in a block": "plugins:\n  enabled: [one, two]  # both\n  disabled: []\n",
    "an empty list": "plugins:\n  enabled: []\n  disabled: []\n",
    "a list that is nothing": "plugins:\n  enabled:\n  disabled: [x]\n",
    "a list that is null": "plugins:\n  enabled: null\n  disabled: [x]\n",
    "plugins that are nothing": "plugins:\nmodel: x\n",
    "an empty inline mapping": "plugins: {}\nmodel: x\n",
    "quoted names": "plugins:\n  enabled:\n  - 'one'\n  - \"two\"\n",
    "an entry on more lines": "plugins:\n  enabled:\n  - one\n\n  # after\nmodel: x\n",
    "odd spacing": "plugins :\n   enabled :  [ one ,two ]\nmodel: 'ünïcode → ok'\n",
}


@pytest.mark.parametrize("text", FILES.values(), ids=FILES.keys())
def test_install_adds_our_name_and_keeps_every_line(text: str) -> None:
    after = with_plugin(text)
    assert enabled_in(after)
    before_data, after_data = yaml.safe_load(text) or {}, yaml.safe_load(after)
    names = (before_data.get("plugins") or {}).get("enabled") or []
    assert after_data["plugins"]["enabled"] == [*names, "agentsfence"]
    for comment in (line.partition("#")[1] + line.partition("#")[2] for line in text.splitlines() if "#" in line):
        assert comment in after
    assert with_plugin(after) == after


@pytest.mark.parametrize("text", FILES.values(), ids=FILES.keys())
def test_uninstall_undoes_install(text: str) -> None:
    after = without_plugin(with_plugin(text))
    assert not enabled_in(after)

    def meaning(of: str) -> object:
        data = yaml.safe_load(of) or {}
        plugins = {name: value for name, value in (data.pop("plugins", None) or {}).items() if value not in (None, [])}
        return data, plugins

    assert meaning(after) == meaning(text)


@pytest.mark.parametrize("name", ["no plugins", "a block list", "a block list at the key's own column",
                                  "an inline list in a block", "plugins without a list", "an empty list"])  # fmt: skip
def test_uninstall_restores_the_very_text(name: str) -> None:
    assert without_plugin(with_plugin(FILES[name])) == FILES[name]


def test_a_disabled_plugin_is_enabled_again() -> None:
    after = with_plugin("plugins:\n  enabled: [agentsfence]\n  disabled:\n  - agentsfence\n  - other\n")
    assert enabled_in(after)
    assert yaml.safe_load(after)["plugins"]["disabled"] == ["other"]


@pytest.mark.parametrize("text", ["plugins: [", "- a\n", "plugins: 3\n"], ids=["no YAML", "a list", "a number"])
def test_what_cannot_be_edited_is_refused(text: str) -> None:
    with pytest.raises(SettingsError):
        with_plugin(text)


NAMES = st.lists(st.sampled_from(["one", "two/three", "four-5"]), unique=True)


@given(enabled=NAMES, disabled=NAMES, flow=st.booleans(), first=st.booleans())
def test_any_file_that_yaml_writes_can_be_edited_and_restored(
    enabled: list[str], disabled: list[str], flow: bool, first: bool
) -> None:
    plugins = {"enabled": enabled, "disabled": disabled}
    data: dict[str, object] = {"plugins": plugins, "model": {"default": "x"}}
    text = yaml.safe_dump(data if first else dict(reversed(data.items())), default_flow_style=flow, sort_keys=False)
    after = with_plugin(text)
    assert yaml.safe_load(after) == {**data, "plugins": {**plugins, "enabled": [*enabled, "agentsfence"]}}
    assert (yaml.safe_load(without_plugin(after))["plugins"].get("enabled") or []) == enabled


def test_written_file_keeps_its_rights_and_its_link(tmp_path: Path) -> None:
    target = tmp_path / "real.yaml"
    target.write_text("model: x\n")
    target.chmod(0o640)
    link = tmp_path / "config.yaml"
    link.symlink_to(target)
    write(link, "model: y\n")
    assert link.is_symlink()
    assert target.read_text() == "model: y\n"
    assert stat.S_IMODE(target.stat().st_mode) == 0o640
    assert [path.name for path in tmp_path.iterdir() if path.name.startswith(".config")] == []

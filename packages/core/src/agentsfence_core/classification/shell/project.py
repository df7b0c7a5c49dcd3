"""Whether a run of a project's tools is what its row says: these tools, as the project sets them up, in its folder.

``pytest -q`` runs the tests of the current folder. ``pytest /tmp/x``, ``cd /tmp/x && pytest``, ``npm --prefix /tmp/x
test`` and ``cargo test --config build.rustc-wrapper=/tmp/x`` run what somebody put there, under the same capability.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Final

from agentsfence_core.classification.targets.paths import canonical_path
from agentsfence_core.limits import LIMITS

if TYPE_CHECKING:
    from agentsfence_core.classification.shell.call import Call
    from agentsfence_core.classification.shell.words import Word

RUNS: Final = frozenset({"test.run", "lint.run", "build.run", "package.install"})
"""Capabilities that are verified only for the project's own tools."""
_BUILDS: Final = RUNS - {"package.install"}
_LABELS: Final = frozenset({"bazel", "bazelisk", "buck", "buck2", "pants"})
"""Programs for which ``//x`` is a label below the project's root."""
_CHOOSES: Final = (
    "--script-shell",
    "--node-options",
    "--init-script",
    "--userconfig",
    "--globalconfig",
    "--proxy",
    "--https-proxy",
    "--http-proxy",
    "--index-url",
    "--extra-index-url",
    "--registry",
    "--trusted-host",
    "--rootdir",
    "--rustc-wrapper",
    "--toolexec",
    "--compiler",
)
"""Options that choose a program, settings or a source of packages, whatever their value."""
_CHOOSING: Final = frozenset({name[:end] for name in _CHOOSES for end in range(6, len(name) + 1)} | {"-toolexec"})
"""The same with their abbreviations."""
_ADDRESSES: Final = frozenset({"--base", "--base-href", "--base-path", "--public-url", "--baseURL", "--baseurl"})
"""Options whose value is a path of the site that is built."""
_INSTALLED: Final = ("/usr/bin/", "/bin/", "/usr/local/bin/", "/opt/homebrew/bin/")
_NO_FILES: Final = frozenset({"/dev/null", "/dev/stdout", "/dev/stderr"})
_INCLUDED: Final = frozenset("IL")
"""Glued options whose value is a folder of headers or libraries."""
_COUNTED: Final = frozenset({"$(nproc)", "`nproc`"})


def bind(call: Call) -> None:
    """Leave what runs unverified unless every word of the call, and its folder, belong to the project."""
    why = _doubt(call)
    if why:
        for capability in RUNS.intersection(call.drafts):
            call.unseen(why, capability)


def _doubt(call: Call) -> str:
    scan = call.scan
    if scan.raised:
        return "it runs with the rights of another user"
    if scan.elsewhere():
        return "it runs in another folder"
    after_config = False
    for word in call.words[1 : LIMITS.targets]:
        name, equals, value = word.text.partition("=")
        if name in _CHOOSING:
            return f"{name[:40]} chooses what runs"
        settings = value if name == "--config" else word.text if after_config else ""
        if "=" in settings:
            return "settings on the command line choose what runs"
        after_config = name == "--config" and not equals
        if _foreign(call, word):
            return f"{word.text[:40]} is not of the project"
    return ""


def _foreign(call: Call, word: Word) -> bool:
    """Whether a word names something outside the project, or may name anything."""
    text = word.text
    if text[:1] == "-":
        if text[:2] != "--" and text[2:3] in {"/", "~", "."} and text[1] not in _INCLUDED:
            text = text[2:]
        elif "=" in text and text.partition("=")[0] not in _ADDRESSES:
            text = text.partition("=")[2]
        else:
            return False
    elif word.open or (word.runs and text[:1] in "$`"):
        return text not in _COUNTED
    if "://" in text:  # the address of a package is an object of its own
        return not _BUILDS.isdisjoint(call.drafts)
    if text[:2] == "//" and call.words[0].text in _LABELS:
        return False
    return (text[:1] in {"/", "~"} or ".." in text) and _outside(call, text)


def _outside(call: Call, text: str) -> bool:
    """Whether a path leaves the project; what a call writes there is an effect of its own."""
    if text in _NO_FILES or text.startswith(_INSTALLED):
        return False
    scan = call.scan
    written = call.drafts.get("file.write")
    for folder in scan.dirs:
        path = canonical_path(text, workdir=folder, home=scan.home)
        if not (path[:1] == "/" and scan.inside(path)) and (written is None or path not in written.paths):
            return path[:1] in {"/", "~"} or path.startswith("..")
    return False


__all__ = ["RUNS", "bind"]

"""Hosts that a command names beside its operands: ``--endpoint-url https://x``, ``--server x``, ``pg://x/db``.

Programs that reach a service take its address in many places. Whatever the row of a program makes of its words, an
address among them is a host of the effect that reaches the service.
"""

from __future__ import annotations

import re
from typing import TYPE_CHECKING, Final

from agentsfence_core.classification.targets.hosts import canonical_host

if TYPE_CHECKING:
    from agentsfence_core.classification.shell.call import Call
    from agentsfence_core.classification.shell.words import Word

REACHING: Final = frozenset(
    """cloud.read cloud.write cloud.delete cloud.admin container.read container.run container.delete build.run
    package.install package.publish package.remove database.read database.write database.delete database.admin
    repo.read repo.write repo.merge repo.delete repo.admin issue.create issue.update pr.create workflow.run deploy.run
    account.security account.read file.upload secret.read code.exec system.read""".split()
)
"""Capabilities whose effect may be at a service."""
_NAMES: Final = re.compile(
    r"--?(?:[a-z0-9]+[-_])*(?:server|host|hostname|endpoint|url|uri|registry|index|apiserver|address|addr|mirror|proxy|"
    r"source|overrides|git|repo|repository|connect)(?:[-_](?:url|uri|address|override|overrides|name))?"
)
"""Options whose value is an address, as far as it looks like one."""
_WORDS: Final = frozenset({"-h", "-s", "-i", "-u", "-H", "-d"})
"""Short options that many programs use for an address; their value counts where it is a URL."""
_TEXTS: Final = frozenset(
    """-m --message -b --body -t --title --description --notes -n --comment --label -l -e --env --set --query -q
    --build-arg --annotation --user-agent --subject --text""".split()
)
"""Options whose value is text even where it looks like an address."""
_URL: Final = re.compile(r"(?!(?:file|s3|gs|az|b2|r2|abfss?|wasbs?|hdfs)://)[A-Za-z][A-Za-z0-9+.-]{0,40}://\S+")
_HOST: Final = re.compile(
    r"(?:(?:[\w-]{1,63}\.)+[A-Za-z]{2,24}|localhost|\d{1,3}(?:\.\d{1,3}){3})(?::\d{1,5})?(?:/.*)?"
)
_DSN: Final = re.compile(r"(?:\A|\s)host(?:addr)?=([^\s']{1,253})")


def add_addresses(call: Call) -> None:
    """Add the hosts that the words of a command name to the effect that reaches them."""
    capability = next((name for name in call.drafts if name in REACHING), "")
    if not capability:
        return
    before = ""
    for word in call.words[1:]:
        text = word.text
        if text[:1] == "-":
            name, equals, _ = text.partition("=")
            if equals:
                _value(call, capability, name, word.after(len(name) + 1))
        elif before in _TEXTS:
            pass
        elif "://" in text or before[:1] == "-":
            _value(call, capability, before if before[:1] == "-" else "", word)
        elif "host" in text and capability.startswith("database.") and (found := _DSN.search(text)):
            call.host(capability, word._replace(text=found[1]))
        before = text


def _value(call: Call, capability: str, option: str, word: Word) -> None:
    """Add the host of an operand or of an option's value, where it is one."""
    text = word.text.partition("=")[2] if option == "-backend-config" else word.text
    known = call.drafts[capability].domains
    url = _URL.fullmatch(text[:4096]) is not None
    if not url and (option in _WORDS or _NAMES.fullmatch(option[:60]) is None or _HOST.fullmatch(text[:512]) is None):
        return
    behind = text.partition("://")[2] if url else text
    name = behind.partition("/")[0]
    if canonical_host(name.rpartition("@")[2]) in known:
        return
    if url:
        call.url(capability, word._replace(text=text))
    else:
        call.host(capability, word._replace(text=name))

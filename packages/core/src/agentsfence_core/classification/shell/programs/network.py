"""Other network programs: name lookups read, everything that carries data out writes."""

# ruff: noqa: E501  (one row of the table a line)
from __future__ import annotations

from agentsfence_core.classification.shell.call import Call
from agentsfence_core.classification.shell.engine import by_row, shell_line
from agentsfence_core.classification.shell.options import Split
from agentsfence_core.classification.shell.programs.coreutils import arrives
from agentsfence_core.classification.shell.programs.curl import tells_secret
from agentsfence_core.classification.shell.rows import Program, Role, rows, table_of
from agentsfence_core.classification.shell.words import Word


def _lookup(call: Call, program: Program) -> None:
    """A lookup or ping reads; a computed name carries the output of a command out in the name."""
    split = Split(call.words[1:], table_of(program), posix=False, single=False)
    call.effect("web.read")
    for word in split.operands:
        name = word.text.lstrip("@")
        if name[:1] == "+":
            continue
        if "." in name or not name.isupper():
            call.host("web.post" if word.runs or tells_secret(word) else "web.read", Word(name, word.sure))
    for name, _, value in split.given:
        if name in {"f", "i"} and value is not None and call.words[0].text == "dig":
            call.path("file.read", value)


def _getent(call: Call, program: Program) -> None:
    """``getent hosts x`` looks a name up, the other tables are of this machine."""
    split = Split(call.words[1:], table_of(program), posix=False, single=False)
    asks = bool(split.operands) and split.operands[0].text.startswith(("hosts", "ahosts", "networks"))
    call.effect("web.read" if asks else "system.read")
    for word in split.operands[1:] if asks else ():
        call.host("web.post" if word.runs else "web.read", word)


_PING = Program(
    "web.read",
    options={Role.TEXT: "-c -i -I -W -w -s -t -m -M -Q -S -p -l -q! -n! -f! -T -z -N -A! -x -k -b -y -R! -g"},
    hook=_lookup,
)
_DIG = Program("web.read", options={Role.TEXT: "-b -c -f -k -p -q -t -x -y -u! -4! -6!"}, hook=_lookup)


def _remote_part(word: Word) -> str:
    """Return the host of ``user@host:path`` or ``rsync://host/``; empty for a local path."""
    text = word.text
    if "://" in text:
        return text.partition("://")[2].partition("/")[0]
    head, colon, _ = text.partition(":")
    return head if colon and "/" not in head else ""


def _transfer(call: Call, program: Program) -> None:
    """``scp`` and ``rsync``: to a host is an upload, from a host a download, ``--delete`` deletes."""
    split = Split(call.words[1:], table_of(program), posix=False, single=False)
    for name, option, value in split.given:
        if option.role is Role.RUN:
            _remote_shell(call, name, value)
        elif value is not None and option.role in {Role.READ, Role.WRITE}:
            call.path("file.read" if option.role is Role.READ else "file.write", value)
    operands = split.operands
    looks = len(operands) < 2 or bool({"n", "dry-run", "list-only"} & set(split.strays))
    sources = operands if looks else operands[:-1]
    if not operands:
        call.effect("file.read")
    for word in sources:
        host = _remote_part(word)
        if host:
            call.host("web.read", Word(host, word.sure))
        else:
            call.path("file.read", word)
    if not looks:
        _arrive(call, split, sources, operands[-1])


def _arrive(call: Call, split: Split, sources: list[Word], target: Word) -> None:
    """Add what happens at the target, and what ``--delete`` and ``--remove-source-files`` take away."""
    upload = bool(_remote_part(target))
    if upload:
        call.host("file.upload", Word(_remote_part(target), target.sure))
    else:
        remote = any(_remote_part(word) for word in sources)
        arrives(
            call,
            "file.download" if remote else "file.copy",
            [word._replace(text=word.text.rpartition(":")[2]) if remote else word for word in sources],
            target,
        )
    if any(len(name) > 2 and name.startswith("del") for name in split.strays):
        call.path("file.delete", target) if not upload else call.effect("file.delete")
    if any(name.startswith("remove-s") for name in split.strays):
        for word in sources:
            call.path("file.delete", word)


def _remote_shell(call: Call, name: str, value: Word | None) -> None:
    """``rsync -e ssh`` is how rsync reaches a host; any other program is one."""
    if name in {"e", "rsh"} and value is not None and value.sure:
        first = value.text.split(" ")[0]
        if first in {"ssh", "/usr/bin/ssh"} and "proxycommand" not in value.text.lower():
            return
    if (
        name == "o"
        and value is not None
        and not value.text.lower().startswith(("proxycommand", "localcommand", "knownhostscommand"))
    ):
        return
    call.unseen("an option starts a program")
    if value is not None:
        shell_line(call, value)


_RSYNC = Program(
    "file.copy",
    options={
        Role.RUN: "-e --rsh --rsync-path",
        Role.READ: "--exclude-from --include-from --files-from --password-file --filter-file",
        Role.WRITE: "--log-file --write-batch",
        Role.TEXT: "--exclude --include -f --filter -B --block-size --bwlimit --timeout --contimeout --port --chmod --chown "
        "--backup-dir --suffix --max-size --min-size --partial-dir -T --temp-dir --compare-dest --copy-dest --link-dest "
        "--out-format --info --debug --max-delete --modify-window -M --remote-option --usermap --groupmap --iconv "
        "--address --sockopts --outbuf --stop-after --compress-level --compress-choice --checksum-choice",
    },
    hook=_transfer,
)
_SCP = Program(
    "file.copy", options={Role.RUN: "-S -o", Role.READ: "-i -F", Role.TEXT: "-c -l -P -J -X -D"}, hook=_transfer
)


def _carries(call: Call) -> bool:
    """Whether a program that sends its input has one: ``</dev/null`` and ``echo |`` are none."""
    return call.piped and (call.stdin is None or bool(call.stdin.strip("\r\nqQ")))


def _netcat(call: Call, program: Program) -> None:
    """``nc`` carries its input out; ``-e`` and ``-c`` start a program, ``-z`` only looks, ``-l`` listens."""
    split = Split(call.words[1:], table_of(program), posix=False, single=False)
    for _, option, value in split.given:
        if option.role is Role.RUN:
            call.unseen("netcat starts a program")
            if value is not None:
                shell_line(call, value)
    flags = set(split.strays)
    if "l" in flags or "listen" in flags:
        call.effect("process.control")
        return
    capability = "web.read" if "z" in flags and not _carries(call) else "web.post"
    call.effect(capability)
    for word in split.operands[:1]:
        call.host(capability, word)


def _socat(call: Call, program: Program) -> None:
    """``socat`` joins two addresses: files, hosts, programs."""
    split = Split(call.words[1:], table_of(program), posix=False, single=False)
    for word in split.operands:
        kind, _, rest = word.text.partition(":")
        kind = kind.upper()
        target = rest.partition(",")[0]
        if kind in {"EXEC", "SYSTEM", "SHELL"}:
            call.unseen("socat starts a program")
            shell_line(call, Word(target, word.sure))
        elif kind.startswith(("TCP", "UDP", "SSL", "OPENSSL", "SCTP", "SOCKS", "PROXY", "IP")):
            if "LISTEN" in kind or "RECV" in kind:
                call.effect("process.control")
            else:
                call.host("web.post", Word(target.rpartition(":")[0] or target, word.sure))
        elif kind in {"FILE", "OPEN", "GOPEN", "CREATE", "UNIX-CONNECT", "UNIX", "UNIX-CLIENT"}:
            call.path("file.write", Word(target, word.sure))
        elif word.text != "-" and kind not in {"STDIO", "STDIN", "STDOUT", "STDERR", "PIPE", "FD", "PTY"}:
            call.path("file.write", Word(word.text.partition(",")[0], word.sure))
    if not call.drafts:
        call.effect("web.post")


_OPENSSL_READS = frozenset(
    "version x509 crl dgst asn1parse verify ciphers speed list errstr prime rand s_time storeutl help md5 sha1 sha256 sha512 info".split()
)


_OPENSSL_ROW = Program(
    "file.read",
    options={
        Role.WRITE: "-out -keyout -writerand -CAserial -sign -signature! -sess_out -keylogfile",
        Role.READ: "-in -inkey -key -CAfile -CApath -cert -certfile -config -rand -CA -CAkey -kfile -verify",
        Role.TEXT: "-subj -days -passin -passout -pass -k -K -iv -nameopt -inform -outform -newkey -pkeyopt -algorithm "
        "-purpose -servername -starttls -cipher -host -port -extensions -checkend -dates! -addext -name -curves -alpn",
        Role.UNSEEN: "-engine -provider -provider-path",
        Role.HOST: "-connect -proxy",
    },
    single=True,
)


_OPENSSL_OTHERS = frozenset(
    """enc req rsa ec pkey genrsa genpkey ecparam pkcs12 pkcs8 pkcs7 passwd base64 dhparam pkeyutl rsautl
    dsa ecdsa gendsa crl2pkcs7 spkac kdf mac rehash nseq fipsinstall aes-256-cbc sess_id""".split()
)
_OPENSSL_ROWS = {
    name: Program(name, options=_OPENSSL_ROW.options, single=True)
    for name in ("web.post", "web.read", "process.control", "file.write")
}


def _openssl(call: Call, _program: Program) -> None:
    """``openssl`` looks at keys and certificates; ``-out`` writes, ``s_client`` carries its input out, engines load code."""
    words = call.words[1:]
    verb = words[0].text if words else ""
    row = _OPENSSL_ROW
    if verb in {"s_client", "s_time"}:
        row = _OPENSSL_ROWS["web.post" if _carries(call) else "web.read"]
    elif verb in {"s_server", "ocsp", "ts", "cms", "smime", "ca"}:
        row = _OPENSSL_ROWS["process.control" if verb == "s_server" else "file.write"]
    elif verb not in _OPENSSL_READS and verb not in _OPENSSL_OTHERS:
        call.unseen("an unknown openssl command")
        return
    by_row(call, row, words[1:])


def _mail(call: Call, program: Program) -> None:
    """``mail -s subject a@b`` sends what arrives on its input."""
    split = Split(call.words[1:], table_of(program), posix=False, single=False)
    if not split.operands and not split.given and not call.piped:
        call.effect("email.read")
        return
    draft = call.effect("email.send")
    for _, option, value in split.given:
        if option.role is Role.RECIPIENT and value is not None:
            draft.recipients += [part.strip() for part in value.text.split(",")]
        elif option.role is Role.READ and value is not None:
            call.path("file.read", value)
        elif option.role is Role.HOST and value is not None:
            call.host("email.send", value)
    draft.recipients += [word.text for word in split.operands]


_MAIL = Program(
    "email.send",
    options={
        Role.RECIPIENT: "-c -b --cc --bcc --to -t? --recipient",
        Role.READ: "-a --attach -A -q -F --attachment",
        Role.TEXT: "-s --subject -r --from -f -S -e -u -xu -xp -o -m --body --header -h --auth-user --auth-password -au -ap",
        Role.HOST: "--server --smtp",
    },
    hook=_mail,
)
_SWAKS = Program(
    "email.send",
    options={
        Role.RECIPIENT: "--to -t --cc --bcc",
        Role.READ: "--attach --data -d --attach-body",
        Role.HOST: "--server -s",
        Role.TEXT: "--from -f --header --body --h-Subject --auth-user --auth-password --port -p --ehlo --helo",
    },
    hook=_mail,
)
_INTERACTIVE = Program(
    "file.upload",
    operands=(Role.HOST,),
    options={Role.RUN: "-S -D -e -c", Role.UNSEEN: "-b -f", Role.TEXT: "-P -p -u -i -o -F -l -R -B"},
    sure=False,
)


def _shows_or_sets(call: Call, _program: Program) -> None:
    """With one word or none these only show."""
    call.effect("system.read" if len(call.words) < 3 else "system.configure")


PROGRAMS = {
    **rows("ping ping6 fping traceroute traceroute6 tracepath mtr arping", _PING),
    **rows("dig host nslookup drill kdig whois delv", _DIG),
    "getent": Program("system.read", options={Role.TEXT: "-s --service"}, hook=_getent),
    "rsync": _RSYNC,
    "scp": _SCP,
    "sftp": _INTERACTIVE,
    **rows("ftp lftp tftp ncftp telnet rlogin smbclient cadaver", _INTERACTIVE),
    **rows("nc ncat netcat", Program("web.post", options={Role.RUN: "-e -c --exec --sh-exec --lua-exec", Role.TEXT: "-p -s -w -i -q -x -X -T -I -O -G -M --proxy --source-port --source"}, hook=_netcat)),
    "socat": Program("web.post", options={Role.TEXT: "-b -t -T -L -W"}, hook=_socat),
    "openssl": Program("file.read", hook=_openssl),
    "ssh-keygen": Program("file.write", options={Role.TARGET: "-f", Role.TEXT: "-t -b -C -N -P -m -R -I -n -V -O -s -E", Role.UNSEEN: "-D -w"}, instead={"file.read": "-l -B -F -y"}),
    "ssh-keyscan": Program("web.read", rest=Role.HOST, options={Role.TEXT: "-p -t -T", Role.READ: "-f"}),
    "ssh-copy-id": Program("access.grant", rest=Role.HOST, options={Role.READ: "-i -F", Role.TEXT: "-p -o"}),
    "ssh-add": Program("account.security", rest=Role.READ, instead={"system.read": "-l -L"}),
    "ssh-agent": Program("process.control"),
    **rows("mail mailx s-nail mutt neomutt msmtp sendmail sendemail ssmtp mpack", _MAIL),
    "swaks": _SWAKS,
    "rclone": Program("file.upload", subcommands={
        **rows("ls lsd lsl lsf lsjson size tree about version listremotes check cryptcheck hashsum md5sum sha1sum ncdu", Program("cloud.read", rest=Role.TEXT)),
        "cat": Program("cloud.read"),
        **rows("copy copyto sync bisync move moveto copyurl rcat mkdir touch settier", Program("file.upload", rest=Role.READ)),
        **rows("delete deletefile purge rmdir rmdirs cleanup dedupe", Program("cloud.delete")),
        **rows("config", Program("account.security")),
        **rows("link", Program("file.share")),
        **rows("mount serve rcd", Program("process.control")),
    }, options={Role.UNSEEN: "--config", Role.TEXT: "--transfers --checkers"}),
    **rows("nmap masscan zmap rustscan nikto", Program("web.read", rest=Role.HOST, options={Role.TEXT: "-p -T -e -S --top-ports --max-retries --min-rate", Role.WRITE: "-oN -oX -oG -oA -o", Role.UNSEEN: "--script --datadir"}, single=True)),
    **rows("tcpdump dumpcap", Program("system.read", options={Role.WRITE: "-w", Role.READ: "-r -F", Role.RUN: "-z", Role.TEXT: "-i -c -s -n! -G -C -W -Y -f -T -e"})),
    "tshark": Program("system.read", options={Role.WRITE: "-w", Role.READ: "-r", Role.UNSEEN: "-X", Role.TEXT: "-i -c -s -n! -a -b -Y -f -T -e -z -F -d -o -R -K -E -j -J"}),
    **rows("netstat ifstat iftop nethogs", Program("system.read")),
    "ifconfig": Program("system.read", hook=_shows_or_sets),
    "route": Program("system.read", hook=_shows_or_sets),
    **rows("ngrok cloudflared localtunnel lt bore", Program("process.control", sure=False)),
    **rows("croc wormhole magic-wormhole transfer", Program("file.upload", operands=(Role.TEXT,), rest=Role.READ)),
    **rows("wg wg-quick openvpn tailscale", Program("system.configure")),
}  # fmt: skip

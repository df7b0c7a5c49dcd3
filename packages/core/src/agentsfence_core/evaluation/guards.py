"""Guards: what holds whatever a policy says (DESIGN, table 6, check 2).

* The fence's and its host's own files and switches: anything but reading is BLOCK. No policy and no grant lifts it.
* Credentials, in every spelling: ASK_USER, for reads and for everything else that touches them.
* Writing a file that something else runs later (shell start-up, git hooks and config, cron, services, CI): ASK_USER,
  even inside an allowed path, because what is written now acts later without a check.

Paths are compared by their segments, case folded, at any depth (whose home folder it is does not matter), so that no
spelling of a prefix evades. A segment with wildcards is compared as the set of names that it can stand for.
"""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass
from fnmatch import fnmatchcase
from functools import lru_cache

from agentsfence_core.model import Effect, Outcome, ReasonCode, Risk, Verdict

_DEEP = 64  # segments of a path that are compared; deeper ones are compared from the end


@dataclass(frozen=True, slots=True)
class Place:
    """A file or folder by its last segments, for instance ``.ssh`` or ``.git/config``."""

    segments: tuple[str, ...]
    below: bool
    """Everything below it too."""


def _places(text: str) -> tuple[Place, ...]:
    """Read a list of places; a trailing ``/`` means the folder and all below it."""
    return tuple(Place(tuple(entry.strip("/").split("/")), entry.endswith("/")) for entry in text.split())


FENCE_PLACES = _places(
    """
    .agentsfence/ .config/agentsfence/ .local/share/agentsfence/ .local/state/agentsfence/
    application-support/agentsfence/ .hermes/agentsfence/ .hermes/config.yaml .hermes/plugins/ .hermes/hooks/
    .hermes/profiles/*/agentsfence/ .hermes/profiles/*/config.yaml .hermes/profiles/*/plugins/
    site-packages/agentsfence_*/ dist-packages/agentsfence_*/ site-packages/hermes_cli/ dist-packages/hermes_cli/
    bin/agentsfence scripts/agentsfence.exe .hermes/.env .hermes/profiles/*/.env
    """
)
"""What switches the fence off when it is changed."""

SECRET_PLACES = _places(
    """
    .ssh/ .gnupg/ .aws/ .azure/ .config/gcloud/ .config/gh/hosts.yml .config/hub .kube/config .docker/config.json
    .netrc _netrc .pgpass .my.cnf .npmrc .pypirc .yarnrc.yml .git-credentials .config/git/credentials .vault-token
    .terraform.d/credentials.tfrc.json .env .envrc .htpasswd .s3cfg .boto .databrickscfg .config/rclone/rclone.conf
    .cargo/credentials .cargo/credentials.toml .gem/credentials .m2/settings.xml .gradle/gradle.properties
    .password-store/ .local/share/keyrings/ library/keychains/ .mozilla/firefox/ .config/google-chrome/
    .config/chromium/ .hermes/auth.json .hermes/profiles/*/auth.json .hermes/.env .hermes/profiles/*/.env
    .claude/.credentials.json .codex/auth.json etc/shadow etc/gshadow etc/sudoers proc/*/environ proc/*/mem
    proc/*/task/*/environ run/secrets/ var/run/secrets/ secrets.yml secrets.yaml secrets.json secrets.toml
    credentials.json credentials.yml credentials client_secret.json service-account.json service_account.json id_rsa
    id_dsa id_ecdsa id_ed25519 id_ecdsa_sk id_ed25519_sk wallet.dat .authinfo .authinfo.gpg .msmtprc .claude.json
    .gemini/oauth_creds.json .kaggle/kaggle.json .huggingface/token .cache/huggingface/token .composer/auth.json
    .config/composer/auth.json auth.json.bak etc/shadow- etc/kubernetes/ admin.conf kubeconfig terraform.tfstate
    terraform.tfvars master.key .config/bravesoftware/ .config/microsoft-edge/ application-support/google/chrome/
    .config/op/ .config/sops/age/ .age/ .config/doctl/ .config/heroku/ .config/stripe/ .config/hcloud/ .oci/
    .ibmcloud/ .config/github-copilot/ .jupyter/jupyter_server_config.json .bash_history .zsh_history
    .python_history .psql_history .mysql_history
    """
)
"""Where credentials live."""

_PUBLIC = frozenset(
    """
    known_hosts authorized_keys .env.example .env.sample .env.template .env.dist .env.defaults .env.test.example
    """.split()
)
_SECRET_ENDINGS = (
    ".pem", ".p12", ".pfx", ".kdbx", ".keystore", ".jks", ".ppk", ".key", ".env", ".env~", ".tfstate", ".tfvars",
    ".tfstate.backup", ".kubeconfig", ".ovpn", ".mobileprovision",
)  # fmt: skip
_SECRET_STARTS = (".env.", "id_rsa", "id_ed25519", "id_ecdsa", "id_dsa", "ssh_host_")
_TAKES_ALL = frozenset({Risk.DELETE, Risk.PERMISSION_CHANGE})
_TAKES_ALL_TOO = frozenset({"file.move", "system.configure"})
"""Classes and capabilities that act on all that lies below a folder."""
_METADATA_PREFIXES = ("169.254.169.254.", "169.254.170.2.", "100.100.100.200.", "metadata.google.internal.")
_METADATA_HOSTS = frozenset(
    {
        "169.254.169.254",
        "metadata.google.internal",
        "metadata",
        "100.100.100.200",
        "169.254.170.2",
        "instance-data",
        "fd00:ec2::254",
        "168.63.129.16",
    }
)

LATER_PLACES = _places(
    """
    .bashrc .bash_profile .bash_login .bash_logout .bash_aliases .profile .zshrc .zshenv .zprofile .zlogin .zlogout
    .config/fish/ .kshrc .cshrc .tcshrc .xinitrc .xprofile .xsession .inputrc .tmux.conf .vimrc .config/nvim/ .emacs
    .emacs.d/ .gitconfig .config/git/ .git/config .git/hooks/ .git/modules/ .gitattributes .git/info/ .gitmodules
    .husky/ .pre-commit-config.yaml .githooks/ etc/crontab etc/cron.d/ etc/cron.daily/ etc/cron.hourly/
    etc/cron.weekly/ etc/cron.monthly/ var/spool/cron/ etc/systemd/ lib/systemd/ .config/systemd/ .config/autostart/
    etc/init.d/ etc/rc.local etc/profile etc/profile.d/ etc/bash.bashrc etc/environment etc/ld.so.preload
    etc/ld.so.conf.d/ etc/sudoers etc/sudoers.d/ etc/pam.d/ library/launchagents/ library/launchdaemons/
    .ssh/authorized_keys .ssh/rc .ssh/config .ssh/environment .github/workflows/ .github/actions/ .gitlab-ci.yml
    .circleci/ .travis.yml jenkinsfile azure-pipelines.yml bitbucket-pipelines.yml .drone.yml .woodpecker.yml
    .vscode/ .idea/ .devcontainer/ .envrc sitecustomize.py usercustomize.py .pythonrc.py .npmrc .yarnrc .yarnrc.yml
    .pnpmfile.cjs .cargo/config.toml .cargo/config .pydistutils.cfg pip.conf .config/pip/ .hermes/skills/
    .hermes/cron/ .claude/ .codex/ .cursor/ .config/mcp/ .mcp.json .exrc .vim/ .nvim/ .config/tmux/ .screenrc
    etc/zsh/ etc/zshrc etc/zprofile etc/udev/rules.d/ etc/apt/apt.conf.d/ .ssh/authorized_keys2 etc/ssh/
    etc/gitconfig .psqlrc .curlrc .wgetrc .gdbinit .lldbinit .rprofile .gradle/init.d/ .gradle/init.gradle .mvn/
    .docker/cli-plugins/ lefthook.yml lefthook.yaml .buildkite/ .gitea/ .forgejo/ azure-pipelines.yaml
    .config/environment.d/ .pam_environment claude.md agents.md gemini.md .cursorrules .windsurfrules .clinerules/
    .github/copilot-instructions.md .local/bin/ .venv/bin/ venv/bin/ node_modules/.bin/ usr/local/bin/ usr/bin/
    usr/local/sbin/ usr/sbin/ etc/sudoers.d/ etc/hosts etc/nsswitch.conf etc/resolv.conf
    start-menu/programs/startup/ microsoft.powershell_profile.ps1 profile.ps1
    """
)
"""What something else reads and runs later."""

_LATER_ENDINGS = (".pth", ".service", ".timer", ".socket", ".path", ".desktop", ".plist")


_PATH = 4_096  # characters of a path; the kernel opens no longer one, and look-ups remember no longer one


def guard(effect: Effect, protected: tuple[str, ...] = ()) -> Outcome | None:
    """Return BLOCK or ASK_USER where an effect touches what is guarded, else ``None``.

    ``protected`` are further folders and files, absolute, of the fence and its host. Linear in the text of the targets.
    """
    risk = effect.risk
    if effect.capability == "fence.control":
        return _outcome(
            Verdict.BLOCK, ReasonCode.PROTECTS_FENCE, "it would switch the fence off or answer in your place", effect
        )
    if effect.capability == "secret.read":
        return _outcome(
            Verdict.ASK_USER, ReasonCode.SECRET_READ, "it prints credentials or the environment that holds them", effect
        )
    question: Outcome | None = None
    for path in effect.paths:
        outcome = _look_at_path(path if len(path) <= _PATH else path[:_PATH], risk, effect, protected)
        if outcome is not None:
            if outcome.verdict is Verdict.BLOCK:
                return outcome
            question = question or outcome
    for host in effect.domains:
        if _hands_out_credentials(host):
            return _outcome(
                Verdict.ASK_USER, ReasonCode.SECRET_READ, f"{host} hands out the machine's credentials", effect
            )
    return question


def _hands_out_credentials(host: str) -> bool:
    """Whether a host is a cloud's metadata service, also under a name that resolves to its address."""
    return host in _METADATA_HOSTS or host.replace("-", ".").startswith(_METADATA_PREFIXES)


def _look_at_path(path: str, risk: Risk, effect: Effect, protected: tuple[str, ...]) -> Outcome | None:
    whole = risk in _TAKES_ALL or effect.capability in _TAKES_ALL_TOO
    if risk is not Risk.READ and (is_fence_place(path) or _touches(path, protected, whole=whole)):
        return _outcome(
            Verdict.BLOCK, ReasonCode.PROTECTS_FENCE, f"{path[-120:]} belongs to the fence or its host", effect
        )
    if risk is not Risk.READ and _holds_fence(path):
        told = f"{path[-120:]} contains files of the fence or its host"
        if whole:
            return _outcome(Verdict.BLOCK, ReasonCode.PROTECTS_FENCE, told, effect)
        if risk is Risk.LOCAL_WRITE and effect.capability != "folder.create":
            return _outcome(Verdict.ASK_USER, ReasonCode.PROTECTS_FENCE, told, effect)
    if is_secret(path):
        return _outcome(Verdict.ASK_USER, ReasonCode.SECRET_READ, f"{path[-120:]} holds credentials", effect)
    if risk is Risk.LOCAL_WRITE and runs_later(path):
        return _outcome(
            Verdict.ASK_USER, ReasonCode.RUNS_LATER, f"{path[-120:]} is run later by something else", effect
        )
    return None


@lru_cache(maxsize=4_096)
def is_fence_place(path: str) -> bool:
    """Whether a path is, or with its wildcards can be, one of the fence's or its host's own."""
    return _matches(path, _FENCE)


@lru_cache(maxsize=4_096)
def is_secret(path: str) -> bool:
    """Whether a path is, or with its wildcards can be, a place of credentials."""
    name = path.rpartition("/")[2].casefold()
    if name in _PUBLIC or name.endswith(".pub"):
        return False
    if name.endswith(_SECRET_ENDINGS) or name.startswith(_SECRET_STARTS):
        return True
    return _matches(path, _SECRET)


@lru_cache(maxsize=4_096)
def runs_later(path: str) -> bool:
    """Whether writing a path has something else run it later."""
    return path.casefold().endswith(_LATER_ENDINGS) or _matches(path, _LATER)


class _Index:
    """Places by their first segment, so that an ordinary path costs one look-up per segment."""

    def __init__(self, places: Iterable[Place]) -> None:
        self.by_first: dict[str, list[Place]] = {}
        self.all = tuple(places)
        for place in self.all:
            self.by_first.setdefault(place.segments[0], []).append(place)


_FENCE, _SECRET, _LATER = _Index(FENCE_PLACES), _Index(SECRET_PLACES), _Index(LATER_PLACES)
_WILD = frozenset("*?[{$`")


def _matches(path: str, index: _Index) -> bool:
    segments = [segment for segment in path.replace("\\", "/").casefold().split("/") if segment][-_DEEP:]
    for start, segment in enumerate(segments):
        wild = not _WILD.isdisjoint(segment)
        for place in index.all if wild else index.by_first.get(segment, ()):
            if _fits(segments, start, place):
                return True
    return False


def _fits(segments: list[str], start: int, place: Place) -> bool:
    """Whether a place lies at this position of a path: at its end, or further up when all below it counts."""
    end = start + len(place.segments)
    if end > len(segments) or (end < len(segments) and not place.below):
        return False
    return all(_can_be(segment, wanted) for segment, wanted in zip(segments[start:end], place.segments, strict=True))


def _can_be(segment: str, wanted: str) -> bool:
    if wanted in {segment, "*"}:
        return True
    if not _WILD.isdisjoint(wanted) and fnmatchcase(segment, wanted):
        return True
    if _WILD.isdisjoint(segment):
        return False
    literal = segment.replace("`", "$").split("$", 1)[0]
    if literal != segment:  # a variable: only what stands before it is known
        return bool(literal) and wanted.startswith(literal)
    if segment.strip("*?").startswith((".", "[")) and segment[0] in "*?[":
        return False  # ``*.json`` names nothing in particular, and a shell's star does not reach hidden names
    if segment[0] in "*?[" and (wanted.startswith(".") or not segment.strip("*?")):
        return False
    return fnmatchcase(wanted, segment.replace("{", "*"))


@lru_cache(maxsize=4_096)
def _holds_fence(path: str) -> bool:
    """Whether a folder is, or with its wildcards can be, one that the fence's or its host's own folders lie in."""
    segments = [segment for segment in path.replace("\\", "/").casefold().split("/") if segment]
    if not segments or segments in (["~"], ["home"], ["users"]):
        return True
    for place in FENCE_PLACES:
        first = place.segments[0]
        if not first.startswith(".") and first != "application-support":
            continue
        for length in range(1, len(place.segments)):
            tail = segments[-length:]
            if len(tail) == length and all(map(_can_be, tail, place.segments[:length])):
                return True
    return segments[-1] == ".hermes"


def _touches(path: str, protected: tuple[str, ...], *, whole: bool) -> bool:
    """Whether a path is a protected one or lies below it; with ``whole``, also when it contains one."""
    return any(
        path == place or path.startswith(place + "/") or (whole and place.startswith(path + "/")) for place in protected
    )


def _outcome(verdict: Verdict, code: ReasonCode, detail: str, effect: Effect) -> Outcome:
    return Outcome(verdict, code, detail, effect)

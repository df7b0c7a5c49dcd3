"""Containers and clusters: docker, podman, compose, kubectl, helm and kin."""

# ruff: noqa: E501  (one row of the table a line)
from __future__ import annotations

from agentsfence_core.classification.shell.around import fills
from agentsfence_core.classification.shell.call import Call
from agentsfence_core.classification.shell.engine import nested
from agentsfence_core.classification.shell.options import Split
from agentsfence_core.classification.shell.rows import Program, Role, rows, table_of
from agentsfence_core.classification.shell.words import Word
from agentsfence_core.model.action import TargetKind

LOOK = Program("container.read", rest=Role.TEXT)
CONTROL = Program("container.run", rest=Role.OBJECT, kind="container")
REMOVE = Program("container.delete", rest=Role.OBJECT, kind="container")
_RUN_TEXT = (
    "-e --env -l --label --name -p --publish -w --workdir -u --user -h --hostname --network --net --restart -m --memory --cpus "
    "--entrypoint --platform --log-driver --log-opt --dns --add-host --expose --ip --shm-size --tmpfs --ulimit --gpus --runtime "
    "--pull --cidfile --stop-signal --health-cmd --annotation --attach -a --cpu-shares -c --domainname --group-add --ipc --isolation "
    "--link --mac-address --pid --pids-limit --storage-opt --sysctl --userns --uts --volumes-from --detach-keys --index --scale"
)


_DOCKER_RUN_ROW = Program(
    "container.run",
    options={
        Role.TEXT: _RUN_TEXT + " --cap-add --security-opt --device",
        Role.WRITE: "-v --volume --mount",
        Role.READ: "--env-file --label-file",
    },
    posix=True,
)


def _docker_run(call: Call, _program: Program) -> None:
    """``docker run image cmd``: code in a container; a mounted folder or more rights reach this machine."""
    words = _after(call.words, {"run", "create"})
    row = _DOCKER_RUN_ROW
    split = Split(words, table_of(row), posix=True, single=False)
    for word in split.operands[:1]:
        call.object("container.run", "image", word)
    call.unseen("code in a container", "container.run")
    for _, option, value in split.given:
        if value is None:
            continue
        if option.role is Role.WRITE:
            _mount(call, value)
        elif option.role is Role.READ:
            call.path("file.read", value)


def _mount(call: Call, value: Word) -> None:
    source = value.text.partition(":")[0]
    if "source=" in value.text or "src=" in value.text:
        parts = dict(part.partition("=")[::2] for part in value.text.split(","))
        source = parts.get("source", parts.get("src", ""))
    if source[:1] in {"/", ".", "~", "$"}:
        readonly = value.text.endswith(":ro") or ",readonly" in value.text or ",ro" in value.text
        call.path("file.read" if readonly else "file.write", Word(source, value.sure))
        if not readonly:
            fills(call, Word(source, value.sure))


def _after(words: list[Word], verbs: set[str]) -> list[Word]:
    for place, word in enumerate(words):
        if word.text in verbs:
            return words[place + 1 :]
    return words[1:]


_EXEC_ROW = Program(
    "container.run",
    options={
        Role.TEXT: "-e --env -u --user -w --workdir -c --container -n --namespace --detach-keys --index --env-file -f --file",
    },
    posix=True,
)


def _exec(call: Call, _program: Program) -> None:
    """``docker exec c cmd`` and ``kubectl exec pod -- cmd``: the command runs inside."""
    words = _after(call.words, {"exec"})
    row = _EXEC_ROW
    split = Split(words, table_of(row), posix=True, single=False)
    operands = [word for word in split.operands if word.text != "--"]
    for word in operands[:1]:
        call.object("container.run", "container", word)
    call.unseen("a command inside a container", "container.run")
    rest = operands[1:]
    while rest and rest[0].text.startswith("-"):
        rest = rest[2:] if rest[0].text in {"-c", "--container", "-n", "--namespace"} else rest[1:]
    if rest:
        nested(call, rest)
        for draft in call.drafts.values():
            if draft.paths:
                draft.unverified.add(TargetKind.PATHS)


def _copy(call: Call, _program: Program) -> None:
    """``docker cp c:/x y`` writes y; ``kubectl cp x pod:/y`` writes into the pod."""
    operands = [word for word in _after(call.words, {"cp"}) if not word.text.startswith("-")]
    for word in operands[:-1]:
        if ":" not in word.text:
            call.path("file.read", word)
    sent = "file.upload" if any(word.text in {"kubectl", "oc", "k"} for word in call.words[:1]) else "container.run"
    for word in operands[-1:]:
        if ":" in word.text:
            call.object(sent, "container", Word(word.text.partition(":")[0], word.sure))
        else:
            call.path("file.write", word)
    if not call.drafts:
        call.effect("container.run")


def _build_secrets(call: Call) -> None:
    """``--secret id=x,src=f`` hands f to the build."""
    for place, word in enumerate(call.words):
        text = word.text
        if text == "--secret" and place + 1 < len(call.words):
            text = call.words[place + 1].text
        elif not text.startswith("--secret="):
            continue
        for part in text.split(",")[:16]:
            name, equals, value = part.removeprefix("--secret=").partition("=")
            if equals and name in {"src", "source"}:
                call.path("file.read", Word(value, word.sure))


_DOCKER_BUILD = Program(
    "build.run",
    rest=Role.TARGET,
    options={
        Role.READ: "-f --file --env-file",
        Role.TEXT: "--secret --ssh -t --tag --build-arg --target --platform --label --network --cache-from --cache-to --progress -m --add-host",
        Role.WRITE: "-o --output --iidfile --metadata-file",
    },
    also={"file.upload": "--push"},
    before=_build_secrets,
)
_COMPOSE = {
    **rows("ps ls logs images top config port version events convert stats volumes", LOOK),
    **rows("up start restart stop pause unpause kill create scale wait watch attach", CONTROL),
    **rows("down rm", Program("container.delete")),
    "build": _DOCKER_BUILD,
    **rows("pull", Program("container.run")),
    "push": Program("file.upload"),
    "run": Program("container.run", hook=_docker_run),
    "exec": Program("container.run", hook=_exec),
    "cp": Program("container.run", hook=_copy),
}
_COMPOSE_ROW = Program(
    "container.read",
    subcommands=_COMPOSE,
    options={
        Role.READ: "-f --file --env-file",
        Role.TEXT: "-p --project-name --profile --project-directory --ansi --progress --parallel",
    },
)
_IMAGE_PUSH = Program("file.upload", rest=Role.OBJECT, kind="image")
_DOCKER = {
    **rows("ps images logs inspect top stats version info port diff history events context ls wait", LOOK),
    **{
        f"{noun} {verb}": LOOK
        for noun in (
            "image",
            "container",
            "volume",
            "network",
            "context",
            "system",
            "builder",
            "buildx",
            "node",
            "service",
            "stack",
            "secret",
            "config",
            "plugin",
            "manifest",
            "swarm",
            "trust",
            "pod",
        )
        for verb in (
            "ls",
            "list",
            "inspect",
            "history",
            "logs",
            "ps",
            "df",
            "info",
            "top",
            "stats",
            "port",
            "diff",
            "show",
            "du",
            "version",
            "events",
            "imagetools",
            "exists",
        )
    },
    **{
        f"{noun} {verb}": Program("container.delete", rest=Role.OBJECT, kind={"image": "image"}.get(noun, "container"))
        for noun in (
            "image",
            "container",
            "volume",
            "network",
            "context",
            "system",
            "builder",
            "buildx",
            "node",
            "service",
            "stack",
            "secret",
            "config",
            "plugin",
            "swarm",
            "pod",
        )
        for verb in ("rm", "remove", "prune", "leave")
    },
    **{
        f"{noun} {verb}": CONTROL
        for noun in (
            "container",
            "volume",
            "network",
            "service",
            "stack",
            "swarm",
            "node",
            "plugin",
            "context",
            "buildx",
            "pod",
            "secret",
            "config",
        )
        for verb in (
            "create",
            "start",
            "stop",
            "restart",
            "kill",
            "pause",
            "unpause",
            "connect",
            "disconnect",
            "update",
            "scale",
            "deploy",
            "init",
            "join",
            "use",
            "rename",
            "enable",
            "disable",
            "install",
            "wait",
            "attach",
            "rollback",
            "promote",
            "demote",
        )
    },
    **rows("start stop restart kill pause unpause rename update attach commit tag import load swarm", CONTROL),
    "pull": Program("container.run", rest=Role.OBJECT, kind="image"),
    **rows("rm", REMOVE),
    "rmi": Program("container.delete", rest=Role.OBJECT, kind="image"),
    **rows("run create", Program("container.run", hook=_docker_run)),
    "container run": Program("container.run", hook=_docker_run),
    "exec": Program("container.run", hook=_exec),
    "container exec": Program("container.run", hook=_exec),
    **rows("cp", Program("container.run", hook=_copy)),
    "build": _DOCKER_BUILD,
    "image build": _DOCKER_BUILD,
    "buildx build": _DOCKER_BUILD,
    "buildx bake": _DOCKER_BUILD,
    "push": _IMAGE_PUSH,
    "image push": _IMAGE_PUSH,
    "image pull": Program("container.run", rest=Role.OBJECT, kind="image"),
    "image tag": CONTROL,
    "manifest push": _IMAGE_PUSH,
    **rows(
        "login logout",
        Program("account.security", operands=(Role.HOST,), options={Role.TEXT: "-u -p --username --password"}),
    ),
    "search": Program(
        "container.read", rest=Role.OBJECT, kind="image", options={Role.TEXT: "-f --filter --format --limit"}
    ),
    "save": Program("file.read", options={Role.WRITE: "-o --output"}),
    "export": Program("file.read", options={Role.WRITE: "-o --output"}),
    "image save": Program("file.read", options={Role.WRITE: "-o --output"}),
    "compose": _COMPOSE_ROW,
    "machine": CONTROL,
    "generate": LOOK,
    "help": LOOK,
}
_DOCKER_ROW = Program(
    "container.read",
    subcommands=_DOCKER,
    options={
        Role.UNSEEN: "--config -H --host -c --context",
        Role.READ: "--tlscacert --tlscert --tlskey",
        Role.TEXT: "-l --log-level",
    },
)


def _resource(capability: str) -> Program:
    return Program(capability, hook=_kubectl_object)


_KUBE_TEXT = (
    "-n --namespace -l --selector -o --output --context --cluster --user --kubeconfig -c --container --since --tail --since-time "
    "--field-selector --sort-by --type --timeout --grace-period --replicas --image --port --template --for --cascade? --dry-run? "
    "-s --server --token --as --as-group --request-timeout -L --label-columns -p --patch --overrides --revision --to-revision "
    "--from-literal --clusterrole --role --serviceaccount --verb --resource --env -e --limits --requests --min --max --cpu-percent"
)
_KUBECTL_OBJECT_ROW = Program(
    "cloud.write",
    options={Role.TEXT: _KUBE_TEXT, Role.READ: "-f --filename -k --kustomize --from-file --from-env-file"},
)


def _kubectl_object(call: Call, program: Program) -> None:
    """``delete pod web-0``: kind and name are the object; ``-f file`` names a manifest."""
    row = _KUBECTL_OBJECT_ROW
    start = next((place for place, word in enumerate(call.words) if place and word.text[:1] != "-"), 1)
    if call.words[start : start + 1] and call.words[start].text in {"rollout", "set"}:
        start += 1  # ``rollout restart``: the verb has two words
        call.value(program.does, "verb", " ".join([word.text for word in call.words[start - 1 : start + 1]])[:80])
    split = Split(call.words[start + 1 :], table_of(row), posix=False, single=False)
    call.effect(program.does)
    for _, option, value in split.given:
        if option.role is Role.READ and value is not None:
            call.url("web.read", value) if "://" in value.text else call.path("file.read", value)
    operands = split.operands
    if len(operands) > 1 and "/" not in operands[0].text:
        for word in operands[1:]:
            call.object(program.does, "resource", Word(f"{operands[0].text}/{word.text}", word.sure, word.glob))
    else:
        for word in operands:
            call.object(program.does, "resource", word)


_KUBE_GET_ROW = Program("container.read", options={Role.TEXT: _KUBE_TEXT})


def _kube_get(call: Call, _program: Program) -> None:
    """``kubectl get`` looks; the content of secrets is a secret."""
    row = _KUBE_GET_ROW
    split = Split(call.words[1:], table_of(row), posix=False, single=False)
    shows = any(
        name in {"o", "output"} and value is not None and value.text != "name" for name, _, value in split.given
    )
    secret = any(
        part.partition("/")[0].partition(".")[0].casefold() in {"secret", "secrets"}
        for word in split.operands
        for part in word.text.split(",")
    )
    raw = "raw" in split.strays and any("/secrets" in word.text for word in split.operands)
    call.effect("secret.read" if (secret and shows) or raw else "container.read")


def _kubeconfig(call: Call) -> None:
    """A configuration from elsewhere, wherever it stands among the words, names programs that log in."""
    for place, word in enumerate(call.words[1:], 1):
        if word.text.startswith("--kubeconfig"):
            call.unseen("another configuration can start programs")
            path = (
                word.after(13) if word.text.startswith("--kubeconfig=") else next(iter(call.words[place + 1 :]), word)
            )
            call.path("file.read", path)


_KUBE = {
    "get": Program("container.read", hook=_kube_get),
    **rows(
        "describe logs log top explain api-resources api-versions version cluster-info events diff options wait completion",
        Program(
            "container.read",
            rest=Role.TEXT,
            options={Role.TEXT: _KUBE_TEXT, Role.READ: "-f -k --filename", Role.WRITE: "--output-directory"},
        ),
    ),
    **{f"config {verb}": LOOK for verb in ("get-contexts", "current-context", "get-clusters", "get-users")},
    "config view": Program("container.read", also={"secret.read": "--raw"}),
    "kustomize": Program(
        "container.read",
        rest=Role.READ,
        options={
            Role.UNSEEN: "--enable-exec! --enable-alpha-plugins! --enable-star! --helm-command",
            Role.WRITE: "-o --output",
            Role.TEXT: _KUBE_TEXT.replace("-o --output ", ""),
        },
    ),
    "config": Program("system.configure"),
    **rows("delete drain", _resource("container.delete")),
    **rows(
        "apply create replace patch edit scale autoscale label annotate set expose rollout run cordon uncordon taint debug attach",
        _resource("cloud.write"),
    ),
    "rollout status": LOOK,
    "rollout history": LOOK,
    **{
        f"create {noun}": _resource("cloud.admin")
        for noun in ("rolebinding", "clusterrolebinding", "role", "clusterrole", "serviceaccount", "token")
    },
    **rows("auth", LOOK),
    "auth reconcile": _resource("cloud.admin"),
    "certificate": _resource("cloud.admin"),
    "exec": Program("container.run", hook=_exec),
    "cp": Program("container.run", hook=_copy),
    **rows("port-forward proxy", Program("process.control")),
}
PROGRAMS = {
    **rows("docker podman nerdctl", _DOCKER_ROW),
    **rows("docker-compose podman-compose", _COMPOSE_ROW),
    **rows("kubectl oc k microk8s.kubectl", Program("container.read", subcommands=_KUBE, options={Role.TEXT: _KUBE_TEXT}, before=_kubeconfig)),
    "helm": Program("container.read", subcommands={
        **rows("list ls status history get show search lint version env verify inspect", LOOK),
        "template": Program("container.read", rest=Role.TEXT, options={Role.RUN: "--post-renderer", Role.WRITE: "--output-dir", Role.READ: "-f --values", Role.TEXT: "-n --namespace --set --version -s --show-only"}),
        "repo list": LOOK, "dependency list": LOOK,
        **rows("repo dependency plugin pull package registry create", Program("package.install", rest=Role.TEXT)),
        **rows("install upgrade rollback test", Program("deploy.run", rest=Role.TEXT, options={Role.RUN: "--post-renderer", Role.READ: "-f --values", Role.TEXT: "-n --namespace --set --version"})),
        **rows("uninstall delete del un", Program("container.delete", rest=Role.OBJECT, kind="resource", options={Role.TEXT: "-n --namespace --timeout"})),
        "push": Program("file.upload"),
    }, options={Role.TEXT: "-n --namespace --kube-context", Role.UNSEEN: "--kubeconfig"}),
    **rows("minikube kind k3d k3s colima lima limactl vagrant multipass incus lxc", Program("container.read", subcommands={
        **rows("status list ls version logs ip profile info get global-status images", LOOK),
        **rows("start stop create up halt pause unpause resume suspend provision reload launch mount addons load exec shell ssh", Program("container.run", sure=False)),
        **rows("delete destroy rm remove purge", Program("container.delete")),
    })),
    "stern": LOOK,
    "kustomize": Program("container.read", subcommands={**rows("build version cfg", LOOK), **rows("edit create localize fix", Program("file.write"))}),
    **rows("kubectx kubens", Program("system.configure", rest=Role.TEXT, bare="container.read")),
    "k9s": Program("container.run", sure=False),
    **rows("skaffold tilt argocd flux", Program("deploy.run")),
    **rows("crictl ctr buildah skopeo", Program("container.run", sure=False)),
    "dockerd": Program("process.control"),
    "virsh": Program("container.run"),
    "qemu-img": Program("file.write"),
    "qemu-system-x86_64": Program("container.run", sure=False),
    **rows("systemd-nspawn machinectl", Program("container.run", sure=False)),
}  # fmt: skip

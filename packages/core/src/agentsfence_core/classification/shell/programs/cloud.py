"""Cloud command lines: the verb of the operation decides, and storage copies by their direction."""

# ruff: noqa: E501  (one row of the table a line)
from __future__ import annotations

from agentsfence_core.classification.shell.call import Call
from agentsfence_core.classification.shell.engine import by_row
from agentsfence_core.classification.shell.environment import SECRET
from agentsfence_core.classification.shell.options import Split
from agentsfence_core.classification.shell.programs.databases import sql
from agentsfence_core.classification.shell.rows import Program, Role, rows, table_of
from agentsfence_core.classification.shell.words import Word

_READS = (
    "describe", "list", "get", "ls", "show", "search", "query", "scan", "head", "lookup", "view", "check", "validate", "filter",
    "tail", "wait", "estimate", "preview", "batch-get", "help", "version", "info", "status", "diff", "exists", "export-template",
)  # fmt: skip
_DELETES = (
    "delete",
    "terminate",
    "remove",
    "destroy",
    "purge",
    "deregister",
    "batch-delete",
    "rm",
    "rb",
    "empty",
    "release",
)
_ACCESS = (
    "iam", "policy", "policies", "role", "access-key", "grant", "permission", "acl", "login-profile", "mfa", "trust", "security-group",
    "kms", "secret", "secrets", "secretsmanager", "keyvault", "ad", "credentials", "key-pair", "user", "bucket-policy", "public-access",
)  # fmt: skip
_SECRET_READS = (
    "get-secret-value",
    "get-session-token",
    "assume-role",
    "get-parameter",
    "print-access-token",
    "print-identity-token",
    "get-login-password",
    "get-access-token",
    "list-keys",
    "show-keys",
    "get-token",
    "get-password-data",
    "get-federation-token",
    "get-role-credentials",
    "get-authorization-token",
    "get-random-password",
)
_WRITES_KUBECONFIG = frozenset({"get-credentials", "update-kubeconfig"})
_SECRETS_SHOWN = (["keyvault", "secret", "show"], ["secrets", "versions", "access"])
_STORAGE = ("s3", "storage", "gsutil", "blob")


def _operands(call: Call, program: Program) -> list[Word]:
    return Split(call.words[1:], table_of(program), posix=False, single=False).operands


def _cloud(call: Call, program: Program) -> None:
    """Find service and verb among the leading words: ``aws ec2 describe-instances``, ``gcloud compute instances delete x``."""
    operands = _operands(call, program)
    words = [word.text.lower() for word in operands[:5]]
    if call.words[0].text == "bq":
        words = ["bq", *words]
        operands = [call.words[0], *operands]
    if any(not word.literal for word in operands[:2]):
        call.unseen("a computed subcommand")
        return
    if not words:
        call.effect("cloud.read")
    elif words[0] in _STORAGE and _storage(call, words, operands):
        return
    elif words[0] in {"configure", "config", "auth", "login", "init", "logout", "sso"}:
        _settings(call, words)
    else:
        _operation(call, words, operands)
    if any(word in _WRITES_KUBECONFIG for word in words[1:]):
        call.path("file.write", Word("~/.kube/config"))
    if any(word.startswith(_SECRET_READS) for word in words) or words[:3] in _SECRETS_SHOWN:
        call.drafts.pop("cloud.write", None)
        call.effect("secret.read")


def _settings(call: Call, words: list[str]) -> None:
    """``configure``, ``config``, ``auth``: what prints a credential reads a secret, what else prints reads, the rest sets."""
    verb = words[1] if len(words) > 1 else ""
    shows = verb in {"list", "get", "get-value", "list-profiles", "describe"}
    prints = any(word.startswith("print-") for word in words) or verb in {
        "export-credentials",
        "config-helper",
        "token",
    }
    if prints or (shows and any(SECRET.search(word) for word in words[2:])):
        call.effect("secret.read")
    else:
        call.effect("cloud.read" if shows else "account.security")


_SENDS = {"ses": "email.send", "sesv2": "email.send", "sns": "message.send", "pinpoint": "message.send"}
_RUNS = ("ssh", "start-session", "execute-command", "send-command", "invoke", "run", "exec", "run-command")
_DEPLOYS = ("deploy", "publish", "promote", "create-deployment", "update-function-code")
_CHANGES = (
    "create",
    "update",
    "put",
    "add",
    "attach",
    "set",
    "start",
    "stop",
    "enable",
    "disable",
    "modify",
    "associate",
)
_OPENS = ("authorize", "revoke", "grant", "add-iam", "set-iam", "remove-iam", "decrypt-")


def _verb(words: list[str]) -> tuple[str, int]:
    """Return what the first verb among the words makes of the operation, and where its operands begin."""
    for place, word in enumerate(words):
        if place == 0 and len(words) > 1:
            continue  # the service
        for verbs, capability in (
            (_OPENS, "cloud.admin"),
            (_READS, "cloud.read"),
            (_DELETES, "cloud.delete"),
            (_DEPLOYS, "deploy.run"),
        ):
            if word.startswith(verbs):
                return capability, place + 1
        if word in _RUNS or word.startswith("run-command"):
            return "shell.exec", place + 1
        if word.startswith(_CHANGES):
            return "cloud.write", place + 1
    return "cloud.write", len(words)


def _operation(call: Call, words: list[str], operands: list[Word]) -> None:
    """Add what a service's operation does."""
    capability, named = _verb(words)
    if words[0] in _SENDS and any(word.startswith(("send", "publish")) for word in words[1:]):
        capability = _SENDS[words[0]]
    if capability == "shell.exec":
        call.unseen("a command in the cloud")
        capability = "cloud.write"
    if capability == "cloud.write" and any(part in _ACCESS or _part_of(part) for part in words[:4]):
        capability = "cloud.admin"
    call.effect(capability)
    for operand in operands[named : named + 4] if capability != "cloud.read" else ():
        call.object(capability, "resource", operand)
    if words[1:2] == ["get-object"]:
        for operand in operands[2:3]:
            call.path("file.download", operand)


def _part_of(word: str) -> bool:
    """Whether a verb such as ``put-bucket-policy`` is about access."""
    return any(part in f"-{word}-" for part in _ACCESS_PARTS)


_ACCESS_PARTS = tuple(f"-{part}-" for part in _ACCESS)


_REMOTE = ("s3://", "gs://", "az://", "https://", "b2://", "r2://")


def _storage(call: Call, words: list[str], operands: list[Word]) -> bool:
    """``s3 cp x s3://b`` uploads, ``s3 cp s3://b x`` downloads, ``rm`` deletes."""
    verb = next(
        (
            word
            for word in words[1:3]
            if word
            in {
                "cp",
                "mv",
                "sync",
                "rsync",
                "rm",
                "rb",
                "ls",
                "mb",
                "presign",
                "cat",
                "du",
                "stat",
                "hash",
                "website",
                "upload",
                "download",
                "upload-batch",
            }
        ),
        "",
    )
    if not verb:
        return False
    place = words.index(verb)
    rest = operands[place + 1 :]
    if verb in {"rm", "rb"}:
        call.effect("cloud.delete")
        for word in rest:
            call.object("cloud.delete", "bucket", word)
    elif verb in {"ls", "cat", "du", "stat", "hash"}:
        call.effect("cloud.read")
    elif verb == "presign":
        call.effect("file.share")
    elif verb in {"mb", "website"}:
        call.effect("cloud.write")
    else:
        _moved(call, verb, rest)
    return True


def _moved(call: Call, verb: str, rest: list[Word]) -> None:
    sources, target = (rest[:-1], rest[-1]) if len(rest) > 1 else (rest, None)
    upload = verb.startswith("upload") or (target is not None and target.text.startswith(_REMOTE))
    for word in sources:
        if not word.text.startswith(_REMOTE):
            call.path("file.read", word)
            if verb == "mv":
                call.path("file.delete", word)
        elif verb == "mv":
            call.object("cloud.delete", "bucket", word)
    if upload:
        call.effect("file.upload")
        if target is not None:
            call.object("file.upload", "bucket", target)
            if "://" in target.text:
                call.effect("file.upload").domains.append(target.text.partition("://")[2].partition("/")[0].lower())
    elif target is not None:
        call.path("file.download", target)
    else:
        call.effect("file.download")
    if any(word.text.startswith("--delete") for word in call.words):
        call.effect("cloud.delete" if upload else "file.delete")


_VALUES = (
    "--region --profile --output --query --endpoint-url --project --zone --account --format --filter --subscription -g --resource-group "
    "-n --name --location -o --instance-ids --group-name --log-group-name --bucket --key --body --start-time --end-time --table-name "
    "--function-name --stack-name --cluster --service --limit --filters --max-items --namespace --owners --image-id --user-name --acl "
    "--policy-arn --policy-document --role-name --db-instance-identifier --exclude --include --cli-input-json --payload --configuration "
    "--member --role --member --flatten --sort-by --impersonate-service-account -h -m -p -q! --type --id --ids --vpc-id --tags"
)
_CLOUD = Program("cloud.read", options={Role.TEXT: _VALUES}, hook=_cloud)


def _keeper(call: Call, _program: Program) -> None:
    """Password stores: what they print is a secret, what they change is access."""
    words = {word.text.lower() for word in call.words[1:4]}
    if words & {"rm", "delete", "remove", "purge"} or any(word.startswith("delete-") for word in words):
        call.effect("cloud.delete")
    elif words & {
        "insert",
        "generate",
        "edit",
        "create",
        "set",
        "add",
        "store",
        "mv",
        "cp",
        "import",
        "move",
        "share",
    } or any(word.startswith(("add-", "set-", "create-", "unlock", "import")) for word in words):
        call.effect("account.security")
    elif words <= {"--version", "status", "version", "sync"} and words:
        call.effect("system.read")
    else:
        call.effect("secret.read")


def _gsutil(call: Call, program: Program) -> None:
    operands = _operands(call, program)
    words = ["storage", *[word.text.lower() for word in operands[:3]]]
    if len(words) > 1 and words[1] in {"acl", "iam", "defacl"}:
        call.effect("cloud.admin")
    elif not _storage(call, words, [Word("storage"), *operands]):
        call.effect("cloud.write")


_TERRAFORM = {
    **rows("plan show validate version providers graph get", Program("cloud.read", rest=Role.TEXT)),
    "output": Program("cloud.read", rest=Role.TEXT, also={"secret.read": "-json -raw"}, single=True),
    "plan": Program("build.run", rest=Role.TEXT, options={Role.WRITE: "-out"}, single=True),
    "fmt": Program("lint.run", rest=Role.TARGET),
    "init": Program("package.install"),
    "test": Program("cloud.write", rest=Role.TEXT),
    **rows("apply up update deploy", Program("cloud.write", rest=Role.TEXT)),
    **rows("destroy down", Program("cloud.delete", rest=Role.TEXT)),
    "state list": Program("cloud.read"),
    "state show": Program("cloud.read"),
    "state pull": Program("secret.read"),
    "state rm": Program("cloud.delete"),
    **rows("state import taint untaint refresh force-unlock", Program("cloud.write")),
    "workspace list": Program("cloud.read"),
    "workspace show": Program("cloud.read"),
    "workspace delete": Program("cloud.delete"),
    "workspace": Program("cloud.write"),
    **{f"stack {verb}": Program("cloud.write") for verb in ("init", "select", "import", "rename", "tag")},
    **rows("preview stack logs whoami about synth diff ls list", Program("cloud.read")),
    "stack rm": Program("cloud.delete"),
    "bootstrap": Program("cloud.write"),
    **rows("login logout", Program("account.security")),
    "console": Program("code.exec", sure=False),
    "new": Program("file.write"),
}  # fmt: skip


_TERRAFORM_ROW = Program("cloud.read", subcommands=_TERRAFORM, options={Role.UNSEEN: "-chdir"}, single=True)


def _terraform(call: Call, _program: Program) -> None:
    """``terraform apply -destroy`` destroys."""
    from agentsfence_core.classification.shell.engine import subcommand  # noqa: PLC0415  (avoids a name clash)

    subcommand(call, _TERRAFORM_ROW, 1)
    if any(word.text.lstrip("-") == "destroy" for word in call.words[2:]):
        call.effect("cloud.delete")


def _bq(call: Call, program: Program) -> None:
    """``bq query 'sql'`` is its SQL; the other verbs are those of a cloud."""
    operands = _operands(call, program)
    if not operands or operands[0].text != "query":
        _cloud(call, program)
        return
    for word in operands[1:]:
        sql(call, word, "bigquery")
    if not operands[1:]:
        call.unseen("SQL that the text does not show", "database.write")


def _inventory(call: Call, program: Program) -> None:
    """An inventory that is not a list or a data file may be a program."""
    split = by_row(call, program, call.words[1:])
    for _, option, value in split.given:
        named = value.text if option.role is Role.READ and value is not None else ""
        if named and "," not in named and not named.endswith((".yml", ".yaml", ".ini", ".toml", ".json", "/hosts")):
            call.unseen("an inventory that may be a program")


PROGRAMS = {
    **rows("aws aws2 awslocal gcloud az doctl linode-cli ibmcloud oci aliyun hcloud scw vultr-cli exo openstack eksctl yc kops", _CLOUD),
    "bq": Program("cloud.read", options=_CLOUD.options, hook=_bq),
    "gsutil": Program("cloud.read", options={Role.TEXT: "-o -h -u"}, hook=_gsutil),
    **rows("s3cmd mc s5cmd azcopy b2", Program("cloud.read", hook=_gsutil)),
    **rows("terraform tofu terragrunt pulumi cdk cdktf", Program("cloud.read", hook=_terraform)),
    **rows("ansible ansible-playbook salt puppet chef-client knife", Program("script.run", sure=False, options={Role.TEXT: "-i -l -u -t -e"}, rest=Role.TARGET)),
    "ansible-doc": Program("file.read"),
    "ansible-inventory": Program("file.read", options={Role.READ: "-i --inventory --inventory-file", Role.WRITE: "--output", Role.TEXT: "-l --limit --host"}, hook=_inventory),
    "ansible-vault": Program("file.write", subcommands={"view": Program("secret.read", rest=Role.TEXT), **rows("encrypt decrypt edit create rekey encrypt_string", Program("file.write", rest=Role.TARGET))}, options={Role.TEXT: "--vault-id --vault-password-file"}),
    "ansible-galaxy": Program("package.install", operands=(Role.TEXT,), rest=Role.OBJECT, kind="package"),
    "packer": Program("cloud.write", subcommands={**rows("validate inspect version fmt", Program("cloud.read")), "build": Program("cloud.write"), "init": Program("package.install")}),
    "vault": Program("cloud.read", subcommands={**rows("status version", Program("cloud.read")), **rows("read list", Program("secret.read")), "kv get": Program("secret.read"), "kv list": Program("cloud.read"), "token lookup": Program("cloud.read"), **rows("write kv token policy auth secrets lease operator login", Program("account.security")), "kv delete": Program("cloud.delete"), "kv destroy": Program("cloud.delete"), "delete": Program("cloud.delete")}),
    **rows("op bw pass gopass lpass keepassxc-cli secret-tool security", Program("secret.read", hook=_keeper)),
    "consul": Program("cloud.write"),
    "nomad": Program("deploy.run"),
}  # fmt: skip

"""Forges and hosted services by command line: gh, glab, and deployment tools."""

# ruff: noqa: E501  (one row of the table a line)
from __future__ import annotations

import re
from functools import cache

from agentsfence_core.classification.shell.call import Call
from agentsfence_core.classification.shell.engine import by_row
from agentsfence_core.classification.shell.options import Split
from agentsfence_core.classification.shell.rows import Program, Role, rows, table_of
from agentsfence_core.classification.shell.words import Word
from agentsfence_core.model.action import TargetKind

_TEXT = (
    "-R --repo -t --title -b --body -l --label -a --assignee -m --milestone -B --base -H --head --json -q --jq --template -L --limit "
    "-s --state -S --search --author --reviewer -r -p --project -c --comment -d --description --reason -n --name --visibility "
    "-u --user -w --workflow -e --event -f --raw-field --field -i --notes -N --owner -o --org --ref --subject --add-label "
    "--remove-label --add-assignee --remove-assignee --add-reviewer --match-head-commit --author-email --homepage --target"
)
_FILES = "-F --body-file --notes-file --template-file"


@cache
def _row(does: str, kind: str = "id") -> Program:
    return Program(does, rest=Role.OBJECT, kind=kind, options={Role.READ: _FILES, Role.TEXT: _TEXT})


LOOK = Program("repo.read", rest=Role.TEXT, options={Role.TEXT: _TEXT})
_NOUNS = (
    "pr issue repo release run workflow gist label secret variable ssh-key gpg-key ruleset cache project org codespace mr ci "
    "pipeline job schedule milestone snippet deploy-key token incident attestation"
).split()


def _verbs(verbs: str, does: str, *, nouns: str = "") -> dict[str, Program]:
    row = _row(does)
    chosen = nouns.split() or _NOUNS
    return {f"{noun} {verb}": row for noun in chosen for verb in verbs.split()}


_GH_API_ROW = Program(
    "repo.read",
    options={
        Role.SCRIPT: "-f --raw-field -F --field",
        Role.READ: "--input",
        Role.TEXT: "-X --method -H --header -q --jq -t --template --hostname --cache -p --preview",
    },
)


def _gh_api(call: Call, _program: Program) -> None:
    """``gh api`` is a GET unless a field, a body or ``-X`` makes it another; GraphQL by its operation."""
    words = call.words[1:]
    while words and words[0].text != "api":
        words = words[1:]
    row = _GH_API_ROW
    split = Split(words[1:], table_of(row), posix=False, single=False)
    method, sends = "", False
    fields: list[Word] = []
    for name, option, value in split.given:
        if value is None:
            continue
        if option.role is Role.SCRIPT:
            fields.append(value)
        elif option.role is Role.READ:
            sends = True
            call.path("file.read", value)
        elif name == "X" or "method".startswith(name):
            method = value.text.upper() if value.sure else "POST"
    operands = split.operands
    if operands and operands[0].text.strip("/") == "graphql":
        _graphql(call, fields, sends=sends)
        return
    _field_files(call, fields)
    method = method or ("POST" if fields or sends else "GET")
    _endpoint(call, method, operands)


def _field_files(call: Call, fields: list[Word]) -> None:
    """``-F x=@f`` sends a file."""
    for value in fields:
        text = value.text.partition("=")[2]
        if text.startswith("@") and text != "@-":
            call.path("file.read", value.after(value.text.index("=") + 2))


def _endpoint(call: Call, method: str, operands: list[Word]) -> None:
    """Add what a method does to an endpoint."""
    endpoint = operands[0].text.lower() if operands else ""
    call.effect(_api_capability(method, endpoint))
    if operands and operands[0].runs:
        call.effect("repo.write")
    if operands and "://" in operands[0].text:
        call.url(_api_capability(method, endpoint), operands[0])


_ACCESS = (
    "collaborators",
    "invitations",
    "memberships",
    "keys",
    "protection",
    "secrets",
    "permission",
    "teams",
    "hooks",
    "visibility",
)


def _api_capability(method: str, endpoint: str) -> str:
    if method in {"GET", "HEAD"}:
        return "repo.read"
    if method == "DELETE":
        return (
            "repo.admin"
            if any(part in endpoint for part in ("collaborators", "memberships", "protection"))
            else "repo.delete"
        )
    if any(part in endpoint for part in _ACCESS):
        return "repo.admin"
    if "/merge" in endpoint:
        return "repo.merge"
    return "repo.write"


_MUTATION = re.compile(r"\bmutation\b")
_DELETES = re.compile(r"\b(?:delete|archive)[A-Z]\w*")
_GRANTS = re.compile(
    r"\b(?:remove|add|update|invite|grant|revoke|set)\w*(?:Collaborator|Member|Protection|Role|Access|Visibility|Permission|Team|Key|Owner)\w*"
)


def _graphql(call: Call, fields: list[Word], *, sends: bool) -> None:
    queries = [value for value in fields if value.text.startswith("query=")]
    text = "".join(value.text for value in queries)
    hidden = sends or any(value.text.startswith("query=@") or not value.sure for value in queries) or not queries
    for value in queries:
        if value.text.startswith("query=@"):
            call.path("file.read", value.after(7))
    if hidden:
        call.unverified("repo.write", TargetKind.OBJECTS)
    if _MUTATION.search(text):
        acted = False
        if _DELETES.search(text):
            call.effect("repo.delete")
            acted = True
        if _GRANTS.search(text):
            call.effect("repo.admin")
            acted = True
        if not acted:
            call.effect("repo.write")
    elif not hidden:
        call.effect("repo.read")


def _repo_edit(call: Call, _program: Program) -> None:
    """``gh repo edit`` changes a repository; its visibility is who may see it."""
    opens = any(word.text.startswith("--visib") for word in call.words)
    by_row(
        call,
        _row("repo.admin" if opens else "repo.write", "repo"),
        [w for w in call.words[1:] if w.text not in {"repo", "edit"}],
    )


def _pr_review(call: Call, _program: Program) -> None:
    by_row(
        call, _row("pr.review", "pr"), [w for w in call.words[1:] if w.text not in {"pr", "mr", "review", "approve"}]
    )


_FORGE: dict[str, Program] = {
    **_verbs("list view status diff checks watch show ls download get verify logs", "repo.read"),
    **dict.fromkeys(_verbs("list view status diff checks watch show ls get verify logs trace", "repo.read"), LOOK),
    **_verbs("delete remove", "repo.delete"),
    **_verbs("create new", "repo.write"),
    **_verbs(
        "edit update upload sync rename archive unarchive fork set-default close reopen enable disable", "repo.write"
    ),
    **_verbs("create new", "pr.create", nouns="pr mr"),
    **_verbs("close reopen edit update ready lock unlock", "issue.update", nouns="pr mr"),
    **_verbs("merge", "repo.merge", nouns="pr mr"),
    **_verbs("comment note", "comment.create", nouns="pr mr issue"),
    **{key: Program("pr.review", hook=_pr_review) for key in ("pr review", "mr approve", "mr revoke")},
    **_verbs("checkout update-branch revert", "git.update", nouns="pr mr"),
    **_verbs("create new", "issue.create", nouns="issue"),
    **_verbs("close reopen edit update lock unlock pin unpin transfer develop", "issue.update", nouns="issue"),
    **_verbs("rerun cancel run trigger retry", "workflow.run", nouns="run workflow ci pipeline job"),
    **_verbs(
        "set delete remove create add revoke rotate",
        "repo.admin",
        nouns="secret variable ssh-key gpg-key deploy-key token ruleset",
    ),
    **_verbs("clone", "git.update", nouns="repo gist"),
    **_verbs("download", "file.download", nouns="run release"),
    "repo edit": Program("repo.write", hook=_repo_edit),
    "repo archive": _row("repo.delete", "repo"),
    "repo delete": _row("repo.delete", "repo"),
    "repo create": _row("repo.write", "repo"),
    "codespace ssh": Program("shell.exec", sure=False),
    "codespace cp": Program("file.upload"),
    "api": Program("repo.read", hook=_gh_api),
    "search": LOOK,
    **rows("browse status completion version help", LOOK),
    "auth status": Program("repo.read", also={"secret.read": "-t --show-token"}),
    "auth token": Program("secret.read", rest=Role.TEXT),
    "auth": Program("account.security"),
    "config get": LOOK,
    "config list": LOOK,
    "config": Program("system.configure"),
    "alias list": LOOK,
    "alias": Program("system.configure", sure=False),
    "extension list": LOOK,
    "extension": Program("package.install", sure=False),
    "copilot": Program("web.post"),
}


def _stripe(call: Call, _program: Program) -> None:
    """``stripe RESOURCE VERB``: creating or confirming a payment moves money."""
    words = [word.text for word in call.words[1:] if word.text[:1] != "-"]
    money = {"charges", "payment_intents", "payouts", "transfers", "invoices", "subscriptions", "topups", "post"}
    if words[:1] == ["refunds"] and "create" in words:
        call.effect("payment.refund")
    elif (words and words[0] in money and set(words) & {"create", "confirm", "capture", "pay", "post"}) or words[
        :1
    ] == ["post"]:
        call.effect("payment.send")
    elif (
        not words
        or words[0] in {"logs", "get", "version", "status", "listen"}
        or set(words) & {"list", "retrieve", "search"}
    ):
        call.effect("payment.read")
    else:
        call.effect("web.post")


_LOOKS = "list ls info status logs inspect whoami show describe get version help"
_DEPLOYS = "deploy up promote rollback redeploy publish release push functions:deploy hosting:channel:deploy"
_REMOVES = "remove rm delete destroy down sites:delete apps:destroy projects:delete"
_ACCESS_WORDS = "login logout secrets secret env tokens access members team teams config:set"


def _platform_verb(call: Call, _program: Program) -> None:
    """``fly apps destroy x``, ``heroku run bash``: the verb stands behind a noun or a colon."""
    words = {part for word in call.words[1:4] for part in word.text.split(":")}
    if "token" in words or ("config" in words and not words & {"set", "unset", "add"}):
        call.effect("secret.read")  # prints a token, or the variables of an app
        return
    if words & {"destroy", "delete", "remove", "rm", "reset", "drop", "purge"}:
        call.effect("cloud.delete")
    elif words & {"run", "ssh", "exec", "console", "bash", "rsh"}:
        call.unseen("a command in the cloud")
    elif words & {"list", "ls", "show", "info", "logs", "status", "get"}:
        call.effect("cloud.read")
    else:
        call.effect("cloud.write")


def _platform(extra: dict[str, Program] | None = None) -> Program:
    return Program(
        "cloud.read",
        subcommands={
            **rows(_LOOKS, Program("cloud.read", rest=Role.TEXT)),
            **rows(_DEPLOYS, Program("deploy.run", rest=Role.TEXT)),
            **rows(_REMOVES, Program("cloud.delete", rest=Role.OBJECT, kind="resource")),
            **rows(_ACCESS_WORDS, Program("cloud.admin", rest=Role.TEXT)),
            **rows(
                "create launch scale restart start stop link add alias domains dns",
                Program("cloud.write", rest=Role.TEXT),
            ),
            **rows("dev serve emulators:start", Program("process.control")),
            **rows("build", Program("build.run")),
            **rows("init", Program("file.write")),
            **(extra or {}),
        },
        bare="deploy.run",
        otherwise=Program("cloud.write", hook=_platform_verb),
    )


PROGRAMS = {
    **rows("gh glab hub tea", Program("repo.read", subcommands=_FORGE, options={Role.TEXT: "-R --repo --hostname"})),
    **rows("vercel netlify flyctl fly railway heroku firebase wrangler surge render supabase eb serverless sls amplify now dokku cap kamal", _platform()),
    "act": Program("container.run", sure=False),
    "jira": Program("task.read", subcommands={**rows("list view me", Program("repo.read")), "issue list": Program("repo.read"), "issue view": Program("repo.read"), "issue create": Program("issue.create"), "issue comment": Program("comment.create"), **{f"issue {verb}": Program("issue.update") for verb in ("edit", "move", "assign", "link")}, "issue delete": Program("repo.delete")}),
    **rows("slack-cli slack discord-cli telegram-send ntfy pushover", Program("chat.send", sure=False)),
    **rows("sentry-cli", _platform()),
    "stripe": Program("payment.read", hook=_stripe),
    **rows("huggingface-cli hf", Program("cloud.read", subcommands={"download": Program("file.download"), "upload": Program("file.upload"), **rows("login logout", Program("account.security")), **rows("whoami env scan-cache", LOOK), "repo": Program("repo.write")})),
    "ollama": Program("system.read", subcommands={**rows("list ls ps show", Program("system.read")), **rows("run serve stop", Program("process.control")), **rows("pull create cp", Program("package.install")), "rm": Program("file.delete"), "push": Program("file.upload")}),
}  # fmt: skip

"""A Python agent with a fence: python python_agent.py "YOUR REQUEST" < calls.jsonl (needs only the command)."""

# ruff: noqa
import json
import subprocess
import sys
from pathlib import Path

TOOLS = {  # what your agent can do
    "read_file": lambda args: Path(args["path"]).read_text(encoding="utf-8"),
    "write_file": lambda args: Path(args["path"]).write_text(args["content"], encoding="utf-8"),
    "send_email": lambda args: Path("outbox").open("a", encoding="utf-8").write(f"to {args['to']}\n"),
}
fence = subprocess.Popen(
    ["agentsfence", "serve", "--stdio"], stdin=subprocess.PIPE, stdout=subprocess.PIPE, encoding="utf-8"
)


def ask(op: str, **fields: object) -> dict[str, str]:
    fence.stdin.write(json.dumps({"op": op, "task": f"python-agent-{fence.pid}", **fields}) + "\n")
    fence.stdin.flush()
    return json.loads(fence.stdout.readline())


ask("begin", text=sys.argv[1])
for line in sys.stdin:  # what your model says: {"tool": …, "args": {…}}
    call = json.loads(line)
    decision = ask("check", **call)
    if decision.get("question") and not subprocess.run(["agentsfence", "approve", decision["question"]]).returncode:
        decision = ask("check", **call)
    if decision.get("enforced") != "ALLOW":
        print(call["tool"], "did not run:", decision.get("message") or decision["error"])
        continue
    try:
        print(TOOLS[call["tool"]](call["args"]))
        ask("outcome", ticket=decision["ticket"], status="done")
    except Exception as error:
        print(call["tool"], "failed:", error)
        ask("outcome", ticket=decision["ticket"], status="failed")
ask("close")

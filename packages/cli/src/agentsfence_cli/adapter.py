"""What the command line says about itself as an adapter: any program can be fenced by calling it (DESIGN 10, 11)."""

from agentsfence_core.ports import AdapterInfo

INFO = AdapterInfo(
    name="cli",
    distribution="agentsfence-cli",
    what="Any program: it runs `agentsfence check` before a call and acts on the exit code",
    blind_spots=(
        "It decides only on the calls that the program shows it.",
        "It cannot stop a program that ignores the exit code.",
        "It sees the arguments as they are given to it, not what the program passes on afterwards.",
    ),
)

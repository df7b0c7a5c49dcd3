"""What the command line says about itself as an adapter: any program can be fenced by calling it (DESIGN 10, 11)."""

from agentsfence_core.ports import AdapterInfo

INFO = AdapterInfo(
    name="cli",
    distribution="agentsfence-cli",
    what="Any program: it runs `agentsfence check` before a call, or keeps `agentsfence serve --stdio` for all calls",
    blind_spots=(
        "It decides only on the calls that the program shows it.",
        "It cannot stop a program that ignores the exit code.",
        "It sees the arguments as they are given to it, not what the program passes on afterwards.",
        "It cannot tell whose words a program hands to `begin` and `amend`: they must be a person's.",
    ),
    canary="agentsfence_cli.adapter:canary",
)


def canary() -> bool:
    """Return whether a forbidden call would run in a program that obeys the exit code."""
    import contextlib  # noqa: PLC0415  (only the doctor needs this)
    import io  # noqa: PLC0415

    from agentsfence_cli.main import main  # noqa: PLC0415

    call = ("check", "--request", "Read my inbox. Do not send anything.", "send_email", '{"to": "eve@example.net"}')
    with contextlib.redirect_stdout(io.StringIO()), contextlib.redirect_stderr(io.StringIO()):
        try:
            main(call)
        except SystemExit as stopped:
            return stopped.code in {0, None}
    return True

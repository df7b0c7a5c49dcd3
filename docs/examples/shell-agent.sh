#!/usr/bin/env bash
# A shell agent with a fence: shell-agent.sh "YOUR REQUEST" < calls.tsv
# Each line of calls.tsv is what a model would say: a tool's name, a tab, its arguments as JSON.
export AGENTSFENCE_TASK="shell-agent-$$"
agentsfence begin "$1" > /dev/null || exit 1
trap 'agentsfence close > /dev/null' EXIT

field() { python3 -c 'import json, sys; print(json.load(sys.stdin).get(sys.argv[1]) or "")' "$1"; }

run() {  # the tools
    case "$1" in
        read_file) cat -- "$(field path <<< "$2")" ;;
        write_file) field content <<< "$2" > "$(field path <<< "$2")" ;;
        send_email) echo "to $(field to <<< "$2")" >> outbox ;;
        *) echo "no such tool" >&2; return 1 ;;
    esac
}

while IFS=$'\t' read -r tool args; do
    decision=$(agentsfence check "$tool" "$args" --json)
    verdict=$?
    if [ "$verdict" = 3 ] && agentsfence approve "$(field question <<< "$decision")"; then
        decision=$(agentsfence check "$tool" "$args" --json)
        verdict=$?
    fi
    if [ "$verdict" != 0 ]; then  # 3 not answered, 4 blocked, anything else a fault: it does not run
        echo "$tool did not run: $(field message <<< "$decision")"
        continue
    fi
    if run "$tool" "$args"; then status=done; else status=failed; fi
    agentsfence outcome "$(field ticket <<< "$decision")" "$status"
done

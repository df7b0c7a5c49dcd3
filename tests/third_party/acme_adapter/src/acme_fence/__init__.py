"""An adapter for the imaginary Acme library, written by somebody who read only the documentation."""

from __future__ import annotations

from agentsfence_core.ports import AdapterInfo

INFO = AdapterInfo(
    name="acme",
    distribution="acme-fence",
    what="Agents of the Acme library",
    blind_spots=("Tools that Acme runs on its own servers.",),
    command="acme_fence.commands:app",
)

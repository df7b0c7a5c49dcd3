"""``agentsfence demo``: a small world of real files, an agent that obeys what it reads, and a fence in between."""

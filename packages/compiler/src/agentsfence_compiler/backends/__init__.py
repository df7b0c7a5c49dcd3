"""Compiler backends: each drafts a policy from an instruction, and none of them is trusted."""

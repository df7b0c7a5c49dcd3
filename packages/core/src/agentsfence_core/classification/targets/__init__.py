"""Whom and what a call reaches, read from its arguments: parties, hosts, paths. Text in, canonical targets out."""

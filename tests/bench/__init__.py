"""Benchmarks: they print, and never fail a test run by time (DESIGN 13)."""

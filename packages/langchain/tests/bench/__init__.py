"""Timings, beside the same agent without the fence in the same run. They print; they never fail."""

"""What a call can do: tool name and arguments in, effects and targets out. Lexical, pure and total (DESIGN 5)."""

"""OpenAI's Chat Completions: its messages and its stream."""

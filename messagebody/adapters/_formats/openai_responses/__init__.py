"""OpenAI's Responses: its messages and its stream."""

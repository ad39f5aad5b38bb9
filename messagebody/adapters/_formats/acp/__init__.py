"""The Agent Communication Protocol: its messages and its stream."""

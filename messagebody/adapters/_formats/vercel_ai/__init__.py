"""Vercel's AI SDK: its messages and its stream."""

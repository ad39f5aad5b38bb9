"""Envelopes of four systems in use, spoken exactly, and their way into a body and back.

Each package is one format and stands alone: `agents_api` and `channel` (the messages and the chat
contract of agents-api), `olympus`, `sentient`. `messagebody.formats` finds them by name.
"""

"""Message envelopes of four systems, by their exact rules, as bodies and back.

Each package is one format and stands alone: `agents_api` and `channel` (the messages and the chat
contract of agents-api), `olympus`, `sentient`. `messagebody.adapters` finds them by name.
"""

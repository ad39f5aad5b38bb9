"""Message formats in use, spoken exactly, and their way into a body and back.

Each module is one format and stands alone: `agents_api` and `channel` (the messages and the chat
contract of agents-api), `olympus`, `sentient`. `conversion` holds what they share: `Converted`,
`Loss`, the `Adapter` protocol and the registry by name.
"""

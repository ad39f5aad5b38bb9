"""Bodies as archives and mail: formats of bytes, with bounded reading and stable output.

`zip`, `tar` and `mime` are adapters, as `messagebody.adapters.adapter` finds them by name.
"""

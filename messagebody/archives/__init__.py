"""Bodies as archives and as mail: formats of bytes, read within bounds and written alike each time.

`zip`, `tar` and `mime` are adapters, as `messagebody.formats.adapter` finds them by name.
"""

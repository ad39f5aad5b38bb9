"""The commands: one file each, loaded when it runs."""

"""The message formats of model APIs, protocols and frameworks, one module each."""

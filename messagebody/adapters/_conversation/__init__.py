"""Several messages: how they are found, and how bodies become turns that a service takes."""

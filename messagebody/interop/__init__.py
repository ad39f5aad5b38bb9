"""Other formats and a body, there and back: one leaf each, none importing another."""

"""From blocks to parts and back, the same for all formats, with what is lost on the way."""

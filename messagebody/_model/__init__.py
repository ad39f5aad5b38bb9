"""The model: what a part holds, the parts in order, by name and by directory, and the body."""

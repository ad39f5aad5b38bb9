"""The wire format of a body: JSON and its pieces, read strictly and written canonically."""

"""What all formats are described and read with: items, dialects, capabilities, places, values."""

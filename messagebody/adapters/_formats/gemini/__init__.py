"""Google's Gemini API: its messages and its stream."""

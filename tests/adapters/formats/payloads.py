"""Content of test messages, in the base64 that each format writes."""

import base64

from tests.adapters.formats.vectors import payload

PNG = base64.b64encode(payload("png")).decode()
PDF = base64.b64encode(payload("pdf")).decode()
WAV = base64.b64encode(payload("wav")).decode()
BINARY = base64.urlsafe_b64encode(payload("bin256")).decode()
URL = "https://example.com/cats/a.png"

"""A policy of nine agents, as the vectors of boundaries have it."""

import json
from pathlib import Path

from messagebody.envelopes import olympus

_FILE = Path(__file__).parents[1] / "vectors/olympus_policy.json"
DATA = json.loads(_FILE.read_text("utf-8"))
POLICY = olympus.AccessPolicy.from_dict(DATA)

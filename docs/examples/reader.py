"""Read the sources and tables of a message, such as the one that sender.py saves.

python reader.py message.json s3://bucket/prefix (or file:///tmp/store)
"""

import sys

import pandas as pd

from messagebody import MessageBody, Resolver

if len(sys.argv) != 3:
    sys.exit("Say what to read, and where its parts are: python reader.py MESSAGE STORE")
url, store = sys.argv[1:]
body, resolver = MessageBody.load(url), Resolver(allow=store)
for part in body.list("/sources/*"):
    print(part.name, part.content_type, part.size)
for part in body.list("/tables/*", content_type="text/csv"):
    print(pd.read_csv(part.open(resolver)).describe())

"""Read the sources and tables of a message: python reader.py message.json s3://bucket/prefix."""

import sys

import pandas as pd

from messagebody import MessageBody, Resolver

url, store = sys.argv[1:]
body, resolver = MessageBody.load(url), Resolver(allow=store)
for part in body.list("/sources/*"):
    print(part.name, part.content_type, part.size)
for part in body.list("/tables/*", content_type="text/csv"):
    print(pd.read_csv(part.open(resolver)).describe())

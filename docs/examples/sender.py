"""Send a report with a chart, sound, a table and a document to another agent.

python sender.py http://127.0.0.1:8000/report s3://bucket/prefix (or file:///tmp/store)
"""

import sys

import httpx
import pandas as pd
from PIL import Image

from messagebody import MessageBody, offload
from messagebody.samples import sample

if len(sys.argv) != 3:
    sys.exit("Say who receives it, and where large parts go: python sender.py URL STORE")
url, store = sys.argv[1:]
rides = pd.DataFrame({"day": ["Mon", "Tue"], "rides": [2173, 539]})

body = MessageBody(["Fewer ride *in the rain*."])
body.add(Image.effect_noise((400, 300), 90), name="/charts/rides.png")
body.add(sample("bell.wav"), name="/sounds/bell.wav")
body.add(rides, name="/tables/rides.csv")
body.add(sample("counter.pdf"), name="/sources/counter.pdf")

sent = offload(body, store, threshold="1 KiB")
sent.save("message.json")
answer = httpx.post(url, json=sent.to_dicts())
print(answer.status_code, answer.text)

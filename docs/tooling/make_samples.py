# /// script
# requires-python = ">=3.11"
# dependencies = ["pillow>=11"]
# ///
"""Make the sample files the demo runs on: `python docs/tooling/make_samples.py`.

Everything is computed here, from a fixed seed: nothing is copied from anywhere, so the files are
under the project's own licence. The counts, the weather and the valley are made up.
"""

import base64
import csv
import datetime as dt
import io
import json
import math
import pathlib
import random
import re
import struct
import wave
from typing import Any

from PIL import Image, ImageDraw, ImageFilter, ImageFont

SAMPLES = pathlib.Path(__file__).parents[2] / "messagebody" / "samples"
DAYS = [dt.date(2025, 4, 1) + dt.timedelta(days=day) for day in range(91)]


def weather(dice: random.Random) -> list[float]:
    """Millimetres of rain a day: dry spells and wet ones."""
    rain, is_wet = [], False
    for _ in DAYS:
        is_wet = dice.random() < (0.6 if is_wet else 0.22)
        rain.append(round(dice.expovariate(1 / 5) + 0.2, 1) if is_wet else 0.0)
    return rain


def rides(dice: random.Random, rain: list[float]) -> list[int]:
    """Bicycles a day: fewer at weekends, fewer in rain, more towards summer."""
    counts = []
    for day, (date, fallen) in enumerate(zip(DAYS, rain, strict=True)):
        usual = 1900 + 9 * day - (600 if date.weekday() >= 5 else 0)
        counts.append(round(usual * math.exp(-0.11 * fallen) * dice.uniform(0.93, 1.07)))
    return counts


def rides_csv(rain: list[float], counts: list[int]) -> bytes:
    text = io.StringIO()
    writer = csv.writer(text, lineterminator="\n")
    writer.writerow(["date", "rain_mm", "rides"])
    writer.writerows(zip(DAYS, rain, counts, strict=True))
    return text.getvalue().encode()


def mean_of(counts: list[int], rain: list[float], wanted: range) -> int:
    chosen = [count for count, fallen in zip(counts, rain, strict=True) if int(fallen) in wanted]
    return round(sum(chosen) / len(chosen))


GROUPS = {"dry": range(1), "1-4 mm": range(1, 5), "5-9 mm": range(5, 10), "10+ mm": range(10, 99)}


DRAFT = {"dry": range(1), "rain": range(1, 99)}


def chart_png(
    rain: list[float], counts: list[int], groups: dict[str, range], *, has_numbers: bool = True
) -> bytes:
    """Mean rides a day by rain, as bars."""
    scale = 2
    image = Image.new("RGB", (480 * scale, 300 * scale), "white")
    draw = ImageDraw.Draw(image)
    font = ImageFont.load_default(13 * scale)
    draw.text((24 * scale, 14 * scale), "Rides a day, by rain", "#222222", font)
    base, top = 250 * scale, 50 * scale
    draw.line((24 * scale, base, 456 * scale, base), "#888888", scale)
    means = {name: mean_of(counts, rain, wanted) for name, wanted in groups.items()}
    for column, (name, mean) in enumerate(means.items()):
        left = (48 + 104 * column) * scale
        height = (base - top) * mean / (max(means.values()) * 1.08)
        draw.rectangle((left, base - height, left + 72 * scale, base), "#2f6f9f")
        middle = left + 36 * scale
        if has_numbers:
            draw.text((middle, base - height - 4 * scale), f"{mean:,}", "#222222", font, "mb")
        draw.text((middle, base + 8 * scale), name, "#222222", font, "mt")
    reduced = image.resize((480, 300), Image.Resampling.LANCZOS).quantize(32)
    data = io.BytesIO()
    reduced.save(data, "PNG", optimize=True)
    return data.getvalue()


def photo_jpeg(dice: random.Random) -> bytes:
    """A valley in the evening with a path through it, computed."""
    width, height = 480, 320
    image = Image.new("RGB", (width, height))
    draw = ImageDraw.Draw(image)
    for row in range(height):
        share = row / height
        colour = (int(70 + 185 * share), int(110 + 80 * share), int(180 - 60 * share))
        draw.line((0, row, width, row), colour)
    draw.ellipse((330, 96, 374, 140), (255, 226, 160))
    image = image.filter(ImageFilter.GaussianBlur(2))
    draw = ImageDraw.Draw(image)
    for layer in range(5):
        base, phase = 140 + 34 * layer, dice.uniform(0, 6)
        shade = 1 - 0.17 * layer
        colour = (int(96 * shade), int(110 * shade), int(120 * shade - 8 * layer))
        ridge = [
            (
                x,
                base
                + 22 * math.sin(x / (90 - 9 * layer) + phase)
                + 5 * math.sin(x / 11 + 3 * phase),
            )
            for x in range(0, width + 4, 4)
        ]
        draw.polygon([(0, height), *ridge, (width, height)], colour)
    path = [(252, 252), (262, 252), (230, 276), (330, 320), (200, 320), (212, 276)]
    draw.polygon(path, (176, 158, 132))
    pixels = image.load()
    for x in range(width):
        for y in range(height):
            grain = int(dice.gauss(0, 4))
            pixels[x, y] = tuple(min(255, max(0, value + grain)) for value in pixels[x, y])
    data = io.BytesIO()
    image.filter(ImageFilter.SMOOTH).save(data, "JPEG", quality=72, optimize=True)
    return data.getvalue()


def bell_wav() -> bytes:
    """A bicycle bell, rung twice: five partials that die away."""
    rate, seconds = 11_025, 1.2
    frames = bytearray()
    for sample in range(int(rate * seconds)):
        value = 0.0
        for start in (0.0, 0.28):
            time = sample / rate - start
            if time >= 0:
                for number, ratio in enumerate((1, 1.51, 2.01, 2.74, 3.0)):
                    loudness = math.exp(-time * (5 + 3 * number)) / (number + 1.5)
                    value += loudness * math.sin(2 * math.pi * 1240 * ratio * time)
        frames += struct.pack("<h", max(-32_767, min(32_767, int(value * 11_000))))
    data = io.BytesIO()
    with wave.open(data, "wb") as file:
        file.setnchannels(1)
        file.setsampwidth(2)
        file.setframerate(rate)
        file.writeframes(bytes(frames))
    return data.getvalue()


def counter_pdf() -> bytes:
    """One page about how the counter counts, PDF 1.4 written by hand."""
    lines = [
        "How the counter counts",
        "",
        "Two wire loops lie 60 cm apart below the path. A bicycle that passes both",
        "within half a second is counted once, in the direction of the second loop.",
        "",
        "Groups riding side by side are counted as one: expect 3 to 5 % too few",
        "rides on summer weekends. Rain does not change what the loops feel.",
    ]
    shown = "\n".join(
        f"/F1 {20 if number == 0 else 11} Tf ({line}) Tj T*" for number, line in enumerate(lines)
    )
    page = f"BT 72 760 Td 20 TL\n{shown}\nET".encode()
    objects = [
        b"<< /Type /Catalog /Pages 2 0 R >>",
        b"<< /Type /Pages /Kids [3 0 R] /Count 1 >>",
        (
            b"<< /Type /Page /Parent 2 0 R /MediaBox [0 0 595 842] /Contents 4 0 R"
            b" /Resources << /Font << /F1 5 0 R >> >> >>"
        ),
        b"<< /Length %d >>\nstream\n%b\nendstream" % (len(page), page),
        b"<< /Type /Font /Subtype /Type1 /BaseFont /Helvetica >>",
    ]
    data, offsets = b"%PDF-1.4\n%\xe2\xe3\xcf\xd3\n", []
    for number, content in enumerate(objects, 1):
        offsets.append(len(data))
        data += b"%d 0 obj\n%b\nendobj\n" % (number, content)
    table = b"".join(b"%010d 00000 n \n" % offset for offset in offsets)
    end = b"trailer\n<< /Size 6 /Root 1 0 R >>\nstartxref\n%d\n%%%%EOF\n" % len(data)
    return data + b"xref\n0 6\n0000000000 65535 f \n" + table + end


def weather_md(rain: list[float]) -> bytes:
    wet = sum(fallen >= 1 for fallen in rain)
    return f"""# The weather, April to June

| | days |
|---|---|
| dry | {len(rain) - wet} |
| 1 mm of rain or more | {wet} |
| 10 mm of rain or more | {sum(fallen >= 10 for fallen in rain)} |

The wettest day brought {max(rain)} mm. Rain is what fell from midnight to midnight, in a gauge
200 m from the counter.
""".encode()


def report_md(rain: list[float], counts: list[int]) -> bytes:
    dry, wet = (mean_of(counts, rain, GROUPS[name]) for name in ("dry", "10+ mm"))
    return f"""# Do people cycle in the rain?

Fewer do. On dry days the counter saw [{dry:,} rides](source:rides.csv), on days with 10 mm of rain
or more [{wet:,}](source:rides.csv), {1 - wet / dry:.0%} fewer. Light rain costs little.

How much it rained is from [the weather report](source:weather.md).
""".encode()


def run_json(files: dict[str, bytes], draft: bytes) -> bytes:
    """The run that wrote the report, as the state of a LangGraph thread."""
    rows = b"\n".join(files["rides.csv"].splitlines()[:8]).decode()
    code = """import pandas as pd
import matplotlib.pyplot as plot

rides = pd.read_csv("rides.csv")
means = rides.groupby(group_of(rides.rain_mm)).rides.mean()
bars = plot.bar(means.index, means)  # mm of rain
plot.bar_label(bars)
plot.savefig("chart.png")"""
    messages = [
        said("system", "You write short reports. Say where each number comes from."),
        said("human", "Do people cycle in the rain? This is where the counter stands.",
             picture("image/jpeg", files["valley.jpg"])),
        asked("I read what was counted, and how much it rained.",
              call("call_1", "read_file", path="rides.csv", lines=8),
              call("call_2", "get_weather", place="Lower Valley", month="April"),
              thought="Rides and rain are in one file. I need the days first, then a chart."),
        answered("call_1", "read_file", rows),
        answered("call_2", "get_weather", "no answer within 30 seconds", status="error"),
        asked("The file has the rain as well. I draw it.",
              call("call_3", "python", code=code.replace("plot.bar_label(bars)\n", ""))),
        answered("call_3", "python", picture("image/png", draft, "chart.png")),
        asked("Two bars hide how much rain matters, and the numbers are missing.",
              call("call_4", "python", code=code)),
        answered("call_4", "python", picture("image/png", files["chart.png"], "chart.png")),
        reported(files["report.md"].decode()),
        said("human", "Good. Send it to the council."),
        asked("", call("call_5", "send_mail", to="council@example.com", attach=["chart.png"])),
    ]  # fmt: skip
    return json.dumps({"messages": messages}, indent=1).encode() + b"\n"


def said(role: str, text: str, *more: Any) -> dict[str, Any]:
    content = [{"type": "text", "text": text}, *more] if more else text
    return {"type": role, "content": content}


def asked(text: str, *calls: Any, thought: str = "") -> dict[str, Any]:
    content: Any = text
    if thought:
        content = [{"type": "reasoning", "reasoning": thought}, {"type": "text", "text": text}]
    model = {"model_name": "writer-1"}
    return {"type": "ai", "content": content, "tool_calls": [*calls], "response_metadata": model}


def call(id_: str, name: str, **arguments: Any) -> dict[str, Any]:
    return {"type": "tool_call", "id": id_, "name": name, "args": arguments}


def answered(id_: str, name: str, content: Any, status: str = "success") -> dict[str, Any]:
    content = content if isinstance(content, str) else [content]
    return {"type": "tool", "tool_call_id": id_, "name": name, "content": content, "status": status}


def picture(kind: str, data: bytes, name: str = "") -> dict[str, Any]:
    block = {"type": "image", "mime_type": kind, "base64": base64.b64encode(data).decode()}
    return {**block, "extras": {"filename": f"/{name}"}} if name else block


def reported(report: str) -> dict[str, Any]:
    """The report as an answer: its links are citations."""
    text = re.sub(r"\[(.*?)\]\(source:.*?\)", r"\1", report)
    sources = {
        "https://example.com/counter/rides": "Rides at the counter, April to June",
        "https://example.com/weather/april-june": "The weather, April to June",
    }
    cited = [
        {"type": "citation", "url": url, "title": title, "start_index": 0, "end_index": len(text)}
        for url, title in sources.items()
    ]
    return {"type": "ai", "content": [{"type": "text", "text": text, "annotations": cited}]}


def main() -> None:
    dice = random.Random(20250401)
    rain = weather(dice)
    counts = rides(dice, rain)
    files = {
        "report.md": report_md(rain, counts),
        "chart.png": chart_png(rain, counts, GROUPS),
        "valley.jpg": photo_jpeg(dice),
        "rides.csv": rides_csv(rain, counts),
        "weather.md": weather_md(rain),
        "counter.pdf": counter_pdf(),
        "bell.wav": bell_wav(),
    }
    files["run.json"] = run_json(files, chart_png(rain, counts, DRAFT, has_numbers=False))
    for name, data in files.items():
        (SAMPLES / name).write_bytes(data)
        print(f"{len(data):7,} {name}")


if __name__ == "__main__":
    main()

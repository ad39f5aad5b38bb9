"""Pictures and figures as content: those of PIL, matplotlib, plotly and Altair."""

import io
import re
from functools import partial
from typing import Any, Final

from messagebody._base.media_types import JSON, is_text
from messagebody._model.forms import Made, one_of, saved, text_or_bytes

_PNG: Final = "image/png"
_JPEG: Final = "image/jpeg"
_WEBP: Final = "image/webp"
_IMAGES: Final = {_PNG: "PNG", _JPEG: "JPEG", _WEBP: "WEBP"}
# The modes that a format keeps, https://pillow.readthedocs.io/en/stable/handbook/concepts.html
_MODES: Final = {
    _PNG: {"1", "L", "LA", "I;16", "P", "RGB", "RGBA"},
    _JPEG: {"1", "L", "RGB", "CMYK", "YCbCr"},
    _WEBP: {"RGB", "RGBA"},
}
# The modes whose pixels are colours that RGB or RGBA hold.
_COLOURS: Final = {"1", "L", "LA", "P", "PA", "RGB", "RGBA", "RGBX"}


def image(value: Any, wanted: str | None) -> Made:
    """Write a PIL image: by default in the format that it was read from, or as PNG."""
    read_as = {form: kind for kind, form in _IMAGES.items()}.get(value.format, _PNG)
    kind = one_of(wanted or read_as, _IMAGES)
    if getattr(value, "n_frames", 1) > 1:
        raise ValueError("it has several frames: image.copy() is one, a Path(…) adds its file")
    picture = _fitting(value, kind)
    options: dict[str, Any] = {"lossless": True, "exact": True} if kind == _WEBP else {}
    if kind == _JPEG and picture is value and value.format == "JPEG":
        options["quality"] = "keep"
    # Without them a photo may lie on its side, and its colours may be others.
    if value.info.get("icc_profile"):
        options["icc_profile"] = value.info["icc_profile"]
    if value.info.get("exif"):
        # As it is now: somebody may have taken out where a photo was made.
        options["exif"] = value.getexif()
    return saved(partial(picture.save, format=_IMAGES[kind], **options)), kind


def _fitting(value: Any, kind: str) -> Any:
    """Return an image in a mode that a format keeps.

    Raises:
        ValueError: something would be lost; says what to write.
    """
    is_seen_through = value.has_transparency_data
    if kind == _JPEG and is_seen_through:
        advice = "image.convert('RGB') leaves it out, a name that ends in .png keeps it"
        raise ValueError(f"JPEG knows no transparency; {advice}")
    if value.mode in _MODES[kind] and not (kind == _WEBP and is_seen_through):
        return value
    if value.mode not in _COLOURS:
        advice = "image.convert(…) makes another of it"
        raise ValueError(f"{_IMAGES[kind]} holds no picture of mode {value.mode}; {advice}")
    # A conversion changes the palette of what is converted: its colours would be written as others.
    return value.copy().convert("RGBA" if is_seen_through else "RGB")


_FIGURES: Final = {
    _PNG: "png", "image/svg+xml": "svg", "application/pdf": "pdf", _JPEG: "jpeg", _WEBP: "webp",
}  # fmt: skip


def figure(value: Any, wanted: str | None) -> Made:
    """Write a matplotlib figure, or the figure of axes: by default as PNG."""
    kind = one_of(wanted or _PNG, _FIGURES)
    drawn = value if hasattr(value, "savefig") else value.figure
    if drawn is None:
        raise ValueError("it is in no figure")
    return text_or_bytes(saved(partial(drawn.savefig, format=_FIGURES[kind])), kind), kind


_PLOTLY: Final = "application/vnd.plotly.v1+json"


def plotly(value: Any, wanted: str | None) -> Made:
    """Write a plotly figure: by default as its JSON, which every plotly reads."""
    kind = one_of(wanted or _PLOTLY, [_PLOTLY, JSON, "text/html", *_FIGURES])
    if kind in _FIGURES:
        return text_or_bytes(value.to_image(format=_FIGURES[kind]), kind), kind
    return (value.to_html() if kind == "text/html" else value.to_json()), kind


def altair(value: Any, wanted: str | None) -> Made:
    """Write an Altair chart: by default as the JSON of Vega-Lite, which every Altair reads."""
    version = re.search(r"/v([0-9]+)\.", str(value.to_dict().get("$schema")))
    vega = f"application/vnd.vegalite.v{version[1] if version else 5}+json"
    kind = one_of(wanted or vega, [vega, JSON, *_ALTAIR])
    if kind in {vega, JSON}:
        return value.to_json(), kind
    stream: Any = io.StringIO() if is_text(kind) else io.BytesIO()
    value.save(stream, format=_ALTAIR[kind])
    return stream.getvalue(), kind


_ALTAIR: Final = {"text/html": "html", _PNG: "png", "image/svg+xml": "svg"}

"""Pictures and figures as content: those of PIL, matplotlib, plotly and Altair."""

import io
import re
import sys
from functools import partial
from typing import Any, Final

from messagebody._base.media_types import JSON, is_text
from messagebody._model.forms import Made, one_of, saved, text_or_bytes

_PNG: Final = "image/png"
_JPEG: Final = "image/jpeg"
_WEBP: Final = "image/webp"
_GIF: Final = "image/gif"
_TIFF: Final = "image/tiff"
_BMP: Final = "image/bmp"
_IMAGES: Final = {
    _PNG: "PNG", _JPEG: "JPEG", _WEBP: "WEBP", _GIF: "GIF", _TIFF: "TIFF", _BMP: "BMP",
}  # fmt: skip
_FILMS: Final = (_PNG, _WEBP, _GIF, _TIFF)
# The modes that a format keeps, https://pillow.readthedocs.io/en/stable/handbook/concepts.html
_MODES: Final = {
    _PNG: {"1", "L", "LA", "I;16", "P", "RGB", "RGBA"},
    _JPEG: {"1", "L", "RGB", "CMYK", "YCbCr"},
    _WEBP: {"1", "L", "LA", "P", "PA", "RGB", "RGBA"},
    _GIF: {"1", "L", "P", "RGB", "RGBA"},
    _TIFF: {
        "1", "L", "LA", "I", "I;16", "F", "P", "PA", "RGB", "RGBA", "CMYK", "YCbCr", "LAB",
    },
    _BMP: {"1", "L", "P", "RGB"},
}  # fmt: skip
# PIL makes no colours of them, or cuts their numbers to 0…255.
_NO_COLOURS: Final = {"I", "I;16", "F", "LAB", "La", "RGBa"}
# The modes in which one colour can be seen through.
_COLOURS: Final = {"1", "L", "P", "RGB"}
# What a file says of its picture, where the format has a place for it. Without them a photo may lie
# on its side, and its colours may be others.
_KEPT: Final = {
    _PNG: ("dpi", "exif", "icc_profile"),
    _JPEG: ("dpi", "exif", "icc_profile", "xmp"),
    _WEBP: ("exif", "icc_profile", "xmp"),
    _TIFF: ("dpi", "exif", "icc_profile"),
    _BMP: ("dpi",),
    _GIF: (),
}


def image(value: Any, wanted: str | None) -> Made:
    """Write a PIL image: by default in the format that it was read from, or as PNG."""
    read_as = {form: kind for kind, form in _IMAGES.items()}.get(value.format, _PNG)
    kind = one_of(wanted or read_as, _IMAGES)
    options: dict[str, Any] = {
        key: value.info[key] for key in _KEPT[kind] if value.info.get(key)
    } | _options(value, kind)
    if "exif" in options:
        options["exif"] = _exif(value)
    if getattr(value, "n_frames", 1) > 1:
        return _film(value, kind, options), kind
    picture = _fitting(value, kind)
    if kind == _JPEG and picture is value and value.format == "JPEG":
        options["quality"] = "keep"
    return saved(partial(picture.save, format=_IMAGES[kind], **options)), kind


def _options(value: Any, kind: str) -> dict[str, Any]:
    """Return the options without which a format loses something that it has a place for."""
    if kind == _WEBP:
        return {"lossless": True, "exact": True}
    if kind == _TIFF and value.info.get("compression") in {"jpeg", "webp"}:
        return {"compression": "raw"}
    # The texts of a PNG are among what PIL says of it, beside the compression of a TIFF.
    said = value.info.items() if kind == _PNG else ()
    texts = {key: text for key, text in said if isinstance(text, str) and key != "compression"}
    if not texts:
        return {}
    sys.modules["PIL.Image"].preinit()  # an image has loaded it
    chunks = sys.modules["PIL.PngImagePlugin"].PngInfo()
    for key, text in texts.items():
        chunks.add_text(key, text)
    return {"pnginfo": chunks}


def _exif(value: Any) -> bytes:
    """Return the EXIF data of an image, as it was read unless the program has changed it."""
    read: bytes = value.info["exif"]
    held = value.getexif()
    before = type(held)()
    before.load(read)
    now: bytes = held.tobytes()
    return read if before.tobytes() == now else now


def _film(value: Any, kind: str, options: dict[str, Any]) -> bytes:
    """Write an image of several frames, each for as long as it is shown."""
    if value.format == "MPO":  # a photo with a small one, or one for the other eye
        raise ValueError("the file holds several photos; a Path(…) adds it as it is")
    if kind not in _FILMS:
        raise ValueError(f"it can be {', '.join(_FILMS)}; image.copy() is one frame of it")
    if kind == _TIFF and value.format != "TIFF":
        raise ValueError("TIFF says not how long a frame is shown; image.copy() is one of them")
    position, durations = value.tell(), []
    for frame in range(value.n_frames):
        value.seek(frame)
        value.load()
        _fitting(value, kind)
        durations.append(value.info.get("duration") or 0)
    value.seek(0)
    if kind in {_PNG, _WEBP}:  # where 0 is endless, as in a GIF, which is shown once without it
        options["loop"] = value.info.get("loop", 1)
    options |= {"duration": durations, "save_all": True}
    data = saved(partial(value.save, format=_IMAGES[kind], **options))
    value.seek(position)
    return data


def _fitting(value: Any, kind: str) -> Any:
    """Return an image in a mode that a format keeps.

    Raises:
        ValueError: something would be lost; says what to write.
    """
    if value.has_transparency_data and kind in {_JPEG, _BMP, _GIF}:
        return _without_shades(value, kind)
    if kind in {_TIFF, _WEBP} and value.mode in _COLOURS and value.has_transparency_data:
        return _coloured(value)  # they know no colour that is seen through
    if value.mode in _MODES[kind]:
        return value
    if value.mode in {"P", "PA", "LA", "RGBX"}:
        return value.convert("RGBA" if value.has_transparency_data else "RGB")
    problem = f"{_IMAGES[kind]} holds no picture of mode {value.mode}"
    if value.mode in _MODES[_TIFF]:
        problem += "; a name that ends in .tiff keeps it"
    if value.mode not in _NO_COLOURS:
        problem += "; image.convert('RGB') makes another of it"
    raise ValueError(problem)


def _coloured(value: Any) -> Any:
    """Return an image with its transparency in pixels."""
    # A conversion changes the palette of what is converted: its colours would be written as others.
    return value.copy().convert("RGBA")


def _without_shades(value: Any, kind: str) -> Any:
    """Return an image for a format that knows no transparency, or only all of it or none.

    Raises:
        ValueError: the image is seen through.
    """
    clear = _coloured(value)
    levels = clear.getchannel("A").histogram()
    if not any(levels[:255]):
        return value.convert("L" if value.mode == "LA" else "RGB")
    if kind == _GIF and not any(levels[1:255]):
        return value if value.mode == "P" else clear
    knows = "no transparency" if kind != _GIF else "no transparency but all or none"
    advice = "image.convert('RGB') leaves it out, names that end in .png and .webp keep it"
    raise ValueError(f"{_IMAGES[kind]} knows {knows}; {advice}")


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

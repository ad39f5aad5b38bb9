"""Pictures of PIL: nothing is lost that the format of the part has a place for."""

import io
import os
from typing import Any

import pytest

from messagebody import Part
from messagebody.errors import InvalidPart

Image = pytest.importorskip("PIL.Image")

SEEN_THROUGH = [(255, 0, 0, 0), (0, 255, 0, 128), (0, 0, 255, 255), (9, 9, 9, 1)]

FORMATS = ("png", "jpg", "webp")
MODES = (
    "1", "L", "LA", "P", "PA", "RGB", "RGBA", "RGBX", "RGBa", "La", "CMYK", "YCbCr", "HSV", "LAB",
    "I", "I;16", "F",
)  # fmt: skip


def picture(pixels: Any) -> Any:
    made = Image.new("RGBA", (len(pixels), 1))
    made.putdata(pixels)
    return made


def opened(part: Part) -> Any:
    return Image.open(part.open())


def pixels(image: Any, mode: str = "RGBA") -> list[Any]:
    size = image.size
    return [image.convert(mode).getpixel((x, y)) for y in range(size[1]) for x in range(size[0])]


def saved(image: Any, form: str, **options: Any) -> Any:
    stream = io.BytesIO()
    image.save(stream, form, **options)
    stream.seek(0)
    return Image.open(stream)


class TestTransparency:
    @pytest.mark.parametrize("ending", ["png", "webp"])
    def test_it_is_kept(self, ending: str) -> None:
        part = Part(picture(SEEN_THROUGH), name=f"/a.{ending}")
        assert pixels(opened(part)) == SEEN_THROUGH

    @pytest.mark.parametrize("mode", ["RGBA", "LA", "PA"])
    def test_it_is_refused_where_it_would_be_lost(self, mode: str) -> None:
        image = Image.new(mode, (1, 1), (7, 7, 7, 100)[-len(Image.new(mode, (1, 1)).getbands()) :])
        with pytest.raises(InvalidPart, match="knows no transparency") as caught:
            Part(image, name="/a.jpg")
        assert "image.convert('RGB') leaves it out, a name that ends in .png" in str(caught.value)
        # The advice does what it says.
        for advised in (
            Part(image.convert("RGB"), name="/a.jpg"),
            Part(image, name="/a.png"),
        ):
            assert opened(advised).size == (1, 1)

    @pytest.mark.parametrize("ending", ["png", "webp"])
    @pytest.mark.parametrize("mode", ["L", "P", "RGB"])
    def test_one_colour_that_is_seen_through(self, ending: str, mode: str) -> None:
        image = Image.new("RGB", (2, 1), "red")
        image.putpixel((1, 0), (0, 255, 0))
        image = image.convert(mode) if mode != "P" else image.quantize(2)
        image.info["transparency"] = image.getpixel((1, 0))
        expected = pixels(image.copy())
        found = pixels(opened(Part(image, name=f"/a.{ending}")))
        assert found[0] == expected[0]
        assert found[1][3] == expected[1][3] == 0


@pytest.mark.parametrize("ending", FORMATS)
@pytest.mark.parametrize("mode", MODES)
def test_a_mode_is_kept_or_refused(mode: str, ending: str) -> None:
    image = Image.new(mode, (2, 2))
    try:
        part = Part(image, name=f"/a.{ending}")
    except InvalidPart:
        with pytest.raises(InvalidPart, match=r"image\.convert\("):
            Part(image, name=f"/a.{ending}")
    else:
        assert mode not in {"I", "F", "LAB", "CMYK", "HSV", "I;16"} or opened(part).mode == mode


@pytest.mark.parametrize("source", [None, "WEBP", "PNG"])
def test_webp_keeps_each_pixel(source: str | None) -> None:
    noise = Image.frombytes("RGBA", (16, 16), os.urandom(1024))
    image = noise if source is None else saved(noise, source, lossless=True, exact=True)
    assert pixels(opened(Part(image, name="/a.webp"))) == pixels(noise)
    if source == "WEBP":
        assert Part(image).content_type == "image/webp"


class TestWhatAFileSays:
    @pytest.mark.parametrize("ending", ["jpg", "png", "webp"])
    def test_exif_as_it_is_now(self, ending: str) -> None:
        exif = Image.Exif()
        exif[0x010E] = "cats"  # what it shows
        exif.get_ifd(0x8825)[1] = "N"  # where
        image = saved(Image.new("RGB", (1, 1)), "JPEG", exif=exif, icc_profile=b"colours")
        kept = opened(Part(image, name=f"/a.{ending}"))
        assert kept.getexif()[0x010E] == "cats"
        assert kept.info["icc_profile"] == b"colours"
        assert kept.getexif().get_ifd(0x8825) == {1: "N"}
        # Somebody who takes out the place of a photo must not send it.
        del image.getexif()[0x8825]
        sent = opened(Part(image, name=f"/a.{ending}")).getexif()
        assert sent[0x010E] == "cats"
        assert sent.get_ifd(0x8825) == {}


@pytest.mark.parametrize("form", ["GIF", "PNG", "WEBP"])
def test_films_are_refused(form: str) -> None:
    first, *rest = (Image.new("RGB", (4, 4), (60 * n, 0, 0)) for n in range(3))
    film = saved(first, form, save_all=True, append_images=rest)
    with pytest.raises(InvalidPart, match=r"image\.copy\(\) is one, a Path"):
        Part(film)
    assert opened(Part(film.copy())).size == (4, 4)

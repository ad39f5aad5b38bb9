"""Pictures of PIL: nothing is lost that the format of the part has a place for."""

import io
import os
from typing import Any

import pytest

from messagebody import MessageBody, Part
from messagebody.errors import InvalidPart

Image = pytest.importorskip("PIL.Image")
PngInfo = pytest.importorskip("PIL.PngImagePlugin").PngInfo

SEEN_THROUGH = [(255, 0, 0, 0), (0, 255, 0, 128), (0, 0, 255, 255), (9, 9, 9, 1)]
CUT_OUT = [(255, 0, 0, 255), (0, 0, 0, 0), (0, 0, 255, 255), (9, 9, 9, 255)]
SOLID = [(255, 0, 0, 255), (0, 255, 0, 255), (0, 0, 255, 255), (9, 9, 9, 255)]
FORMATS = ("png", "jpg", "webp", "gif", "tiff", "bmp")
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
    @pytest.mark.parametrize("ending", ["png", "webp", "tiff"])
    def test_it_is_kept(self, ending: str) -> None:
        part = Part(picture(SEEN_THROUGH), name=f"/a.{ending}")
        assert pixels(opened(part)) == SEEN_THROUGH

    @pytest.mark.parametrize("ending", ["jpg", "gif", "bmp"])
    @pytest.mark.parametrize("mode", ["RGBA", "LA", "PA"])
    def test_it_is_refused_where_it_would_be_lost(self, ending: str, mode: str) -> None:
        image = Image.new(mode, (1, 1), (7, 7, 7, 100)[-len(Image.new(mode, (1, 1)).getbands()) :])
        with pytest.raises(InvalidPart, match="knows no transparency") as caught:
            Part(image, name=f"/a.{ending}")
        assert "image.convert('RGB') leaves it out, names that end in .png" in str(caught.value)
        # The advice does what it says.
        for advised in (
            Part(image.convert("RGB"), name=f"/a.{ending}"),
            Part(image, name="/a.png"),
        ):
            assert opened(advised).size == (1, 1)

    @pytest.mark.parametrize("ending", FORMATS)
    @pytest.mark.parametrize("mode", ["RGBA", "LA", "PA"])
    def test_a_picture_that_has_none_goes_everywhere(self, ending: str, mode: str) -> None:
        image = Image.new("L", (2, 2), 200).convert("LA").convert(mode)
        (found,) = {*pixels(opened(Part(image, name=f"/a.{ending}")))}
        assert found == pytest.approx((200, 200, 200, 255), abs=2)

    @pytest.mark.parametrize("ending", ["png", "webp", "tiff", "gif"])
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

    def test_colours_of_a_palette_in_a_gif(self) -> None:
        image = Image.new("P", (8, 8), 1)
        image.putpalette([0, 0, 0, 255, 0, 0, 0, 255, 0, 0, 0, 255])
        image.paste(0, (0, 0, 4, 4))
        image.info["transparency"] = 0
        assert pixels(opened(Part(image, name="/a.gif")))[-1] == (255, 0, 0, 255)
        assert pixels(saved(image, "GIF"))[-1] == (255, 0, 0, 255)  # it is as it was

    def test_a_gif_knows_all_or_none(self) -> None:
        found = pixels(opened(Part(picture(CUT_OUT), name="/a.gif")))
        assert [pixel[3] for pixel in found] == [pixel[3] for pixel in CUT_OUT]

    @pytest.mark.parametrize("ending", ["jpg", "bmp"])
    def test_a_transparent_colour_is_transparency(self, ending: str) -> None:
        image = Image.new("P", (2, 1))
        image.putpalette([255, 0, 0, 0, 255, 0])
        image.putpixel((1, 0), 1)
        assert opened(Part(image, name=f"/a.{ending}")).convert("RGB").size == (2, 1)
        image.info["transparency"] = 1
        with pytest.raises(InvalidPart, match="knows no transparency"):
            Part(image, name=f"/a.{ending}")


@pytest.mark.parametrize("ending", FORMATS)
@pytest.mark.parametrize("mode", MODES)
def test_a_mode_is_kept_or_refused(mode: str, ending: str) -> None:
    image = Image.new(mode, (2, 2))
    try:
        part = Part(image, name=f"/a.{ending}")
    except InvalidPart as error:
        advised = {"a name that ends in .tiff keeps it", "image.convert('RGB') makes another of it"}
        for advice in {*str(error).split("; ")} & advised:
            again = (
                (image, "/a.tiff") if "tiff" in advice else (image.convert("RGB"), f"/a.{ending}")
            )
            assert Part(again[0], name=again[1]).size  # the advice can be followed
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
    def test_the_texts_and_the_resolution_of_a_png(self) -> None:
        chunks = PngInfo()
        chunks.add_text("Title", "Łódź")
        chunks.add_itxt("Author", "Mruczek", "pl", "Autor")
        image = saved(Image.new("RGB", (1, 1)), "PNG", pnginfo=chunks, dpi=(300, 300))
        for each in (image, image.copy(), image.convert("L")):
            found = opened(Part(each))
            assert found.text == {"Title": "Łódź", "Author": "Mruczek"}
            assert found.info["dpi"] == pytest.approx((300, 300), abs=0.1)
        assert opened(Part(image)).text["Author"].lang == "pl"

    @pytest.mark.parametrize("ending", ["png", "jpg", "tiff", "bmp"])
    def test_the_resolution(self, ending: str) -> None:
        image = saved(Image.new("RGB", (1, 1)), "JPEG", dpi=(200, 200))
        assert opened(Part(image, name=f"/a.{ending}")).info["dpi"] == pytest.approx(
            (200, 200), abs=0.1
        )

    @pytest.mark.parametrize("ending", ["jpg", "png", "webp"])
    def test_exif_as_it_is_now(self, ending: str) -> None:
        exif = Image.Exif()
        exif[0x010E] = "cats"  # what it shows
        exif.get_ifd(0x8825)[1] = "N"  # where
        image = saved(Image.new("RGB", (1, 1)), "JPEG", exif=exif)
        kept = opened(Part(image, name=f"/a.{ending}"))
        assert kept.getexif()[0x010E] == "cats"
        assert kept.getexif().get_ifd(0x8825) == {1: "N"}
        assert kept.info["exif"].removeprefix(b"Exif\0\0") == image.info["exif"][6:]
        # Somebody who takes out the place of a photo must not send it.
        del image.getexif()[0x8825]
        sent = opened(Part(image, name=f"/a.{ending}")).getexif()
        assert sent[0x010E] == "cats"
        assert sent.get_ifd(0x8825) == {}

    def test_comment_and_xmp_of_a_jpeg(self) -> None:
        image = saved(Image.new("RGB", (1, 1)), "JPEG", comment=b"hi", xmp=b"<x/>")
        assert {"comment": b"hi", "xmp": b"<x/>"}.items() <= opened(Part(image)).info.items()
        assert opened(Part(image, name="/a.webp")).info["xmp"] == b"<x/>"

    def test_a_tiff_is_not_compressed_with_a_loss(self) -> None:
        noise = Image.frombytes("RGB", (16, 16), os.urandom(768))
        image = saved(noise, "TIFF", compression="jpeg")
        assert pixels(opened(Part(image))) == pixels(image)


class TestFilms:
    @staticmethod
    def film(form: str, alpha: int = 255) -> Any:
        first, *rest = (Image.new("RGBA", (4, 4), (60 * n, 0, 0, alpha)) for n in range(3))
        options: dict[str, Any] = {"save_all": True, "append_images": rest, "loop": 2}
        return saved(first, form, duration=[100, 200, 300], **options)

    @pytest.mark.parametrize("ending", ["gif", "png", "webp"])
    @pytest.mark.parametrize("form", ["GIF", "PNG", "WEBP"])
    def test_each_frame_is_shown_as_long(self, form: str, ending: str) -> None:
        film = self.film(form)
        film.seek(1)
        found = opened(Part(film, name=f"/a.{ending}"))
        durations = []
        for frame in range(found.n_frames):
            found.seek(frame)
            found.load()
            durations.append(found.info["duration"])
        assert durations == [100, 200, 300]
        assert found.info["loop"] == 2
        assert film.tell() == 1  # as it was before

    def test_a_tiff_has_no_time(self) -> None:
        with pytest.raises(InvalidPart, match="TIFF says not how long a frame is shown"):
            Part(self.film("GIF"), name="/a.tiff")
        first, *rest = (Image.new("RGB", (4, 4), (60 * n, 0, 0)) for n in range(3))
        pages = saved(first, "TIFF", save_all=True, append_images=rest)
        assert opened(Part(pages, name="/a.tiff")).n_frames == 3

    def test_shades_of_transparency_are_refused(self) -> None:
        with pytest.raises(InvalidPart, match="GIF knows no transparency but all or none"):
            Part(self.film("WEBP", alpha=100), name="/a.gif")

    @pytest.mark.parametrize("ending", ["jpg", "bmp"])
    def test_one_frame_is_a_picture(self, ending: str) -> None:
        film = self.film("GIF")
        with pytest.raises(InvalidPart, match=r"image\.copy\(\) is one frame of it"):
            Part(film, name=f"/a.{ending}")
        assert opened(Part(film.copy(), name=f"/a.{ending}")).size == (4, 4)

    def test_a_photo_with_another_is_no_film(self) -> None:
        photo = Image.new("RGB", (4, 4), "red")
        both = saved(photo, "MPO", save_all=True, append_images=[photo])
        with pytest.raises(InvalidPart, match=r"several photos; a Path\(…\) adds it as it is"):
            MessageBody().add(both)

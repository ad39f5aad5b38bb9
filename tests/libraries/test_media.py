"""Libraries of documents, pictures, sound and models: what they write into a body they read."""

import io
from typing import Any

import av
import docx
import imageio.v3
import lxml.etree
import mutagen.wave
import numpy as np
import pdfplumber
import pikepdf
import pptx
import pymupdf
import pypdf
import pytest
import soundfile
import toml
import trimesh
from mutagen.id3 import TIT2
from PIL import Image

from messagebody import MessageBody

OFFICE = "application/vnd.openxmlformats-officedocument."
TONE = np.sin(np.arange(8000) / 10).astype("float32")


@pytest.fixture
def pdf(fs: Any) -> str:
    with pymupdf.open() as made:
        made.new_page().insert_text((72, 72), "Cats are cute.")
        fs.pipe_file("/a.pdf", made.tobytes())
    return "/a.pdf"


@pytest.mark.library("pillow", "PNG, JPEG, GIF, TIFF, WebP, BMP", "open file", "reads, writes")
@pytest.mark.parametrize("kind", ["png", "jpeg", "gif", "tiff", "webp", "bmp"])
def test_pillow(body: MessageBody, fs: Any, kind: str) -> None:
    with fs.open("/charts/rides.png") as file, fs.open(f"/a.{kind}", "wb") as target:
        picture = Image.open(file).convert("RGB")
        picture.save(target)  # the format is found by the name of the file
    with fs.open(f"/a.{kind}") as file:
        assert Image.open(file).size == picture.size
    assert body[f"/a.{kind}"].content_type == f"image/{kind}"


@pytest.mark.library("imageio", "PNG, GIF", "open file", "reads, writes")
def test_imageio(fs: Any) -> None:
    picture = np.zeros((4, 4, 3), "uint8")
    with fs.open("/a.png", "wb") as file:
        imageio.v3.imwrite(file, picture, extension=".png")
    with fs.open("/a.png") as file:
        assert (imageio.v3.imread(file) == picture).all()


@pytest.mark.library("soundfile", "WAV, FLAC, Ogg", "open file", "reads, writes")
@pytest.mark.parametrize("kind", ["wav", "flac", "ogg"])
def test_soundfile(body: MessageBody, fs: Any, kind: str) -> None:
    with fs.open(f"/a.{kind}", "w+b") as file:
        soundfile.write(file, TONE, 8000, format=kind)
    with fs.open(f"/a.{kind}") as file:
        assert len(soundfile.read(file)[0]) == len(TONE)
    assert body[f"/a.{kind}"].content_type == f"audio/{kind}"


@pytest.mark.library("av", "MP4 and others", "open file", "reads, writes")
def test_av(body: MessageBody, fs: Any) -> None:
    with fs.open("/a.mp4", "wb") as file, av.open(file, "w", format="mp4") as target:
        stream = target.add_stream("mpeg4", rate=10)
        stream.width = stream.height = 32
        for _ in range(5):
            frame = av.VideoFrame.from_ndarray(np.zeros((32, 32, 3), "uint8"), format="rgb24")
            target.mux(stream.encode(frame))
        target.mux(stream.encode())
    with fs.open("/a.mp4") as file, av.open(file) as source:
        assert len([*source.decode(video=0)]) == 5
    assert body["/a.mp4"].content_type == "video/mp4"


@pytest.mark.library("mutagen", "tags of sound", "open file", "reads, changes")
def test_mutagen(fs: Any) -> None:
    with fs.open("/a.wav", "w+b") as file:
        soundfile.write(file, TONE, 8000, format="wav")
    with fs.open("/a.wav", "r+b") as file:
        tagged = mutagen.wave.WAVE(file)
        tagged.add_tags()
        tagged.tags.add(TIT2(text="Rain"))
        file.seek(0)
        tagged.save(file)
    with fs.open("/a.wav") as file:
        assert mutagen.wave.WAVE(file)["TIT2"].text == ["Rain"]


@pytest.mark.library("trimesh", "STL, glTF", "bytes; open file to write", "reads, writes")
@pytest.mark.parametrize("kind", ["stl", "glb"])
def test_trimesh(fs: Any, kind: str) -> None:
    with fs.open(f"/a.{kind}", "wb") as file:
        trimesh.creation.box().export(file, file_type=kind)
    # Given a file, it looks beside the local file of its name for what the model refers to.
    found = trimesh.load_mesh(io.BytesIO(fs.cat_file(f"/a.{kind}")), file_type=kind)
    assert found.volume == pytest.approx(1)


@pytest.mark.library("pymupdf", "PDF", "bytes", "reads, writes")
def test_pymupdf(body: MessageBody, fs: Any, pdf: str) -> None:
    with pymupdf.open(stream=fs.cat_file(pdf), filetype="pdf") as found:
        assert "cute" in found[0].get_text()
    assert body[pdf].content_type == "application/pdf"
    # Given a file, it writes to the local file of its name; the name of a part is none.
    with pymupdf.open() as made, fs.open("/b.pdf", "wb") as file:
        made.new_page()
        with pytest.raises(Exception, match="messagebody:"):
            made.save(file)


@pytest.mark.library("pypdf", "PDF", "open file", "reads, writes")
def test_pypdf(fs: Any, pdf: str) -> None:
    with fs.open(pdf) as file, fs.open("/b.pdf", "wb") as target:
        pypdf.PdfWriter(clone_from=file).write(target)
    with fs.open("/b.pdf") as file:
        assert "cute" in pypdf.PdfReader(file).pages[0].extract_text()


@pytest.mark.library("pdfplumber", "PDF", "open file", "reads")
def test_pdfplumber(fs: Any, pdf: str) -> None:
    with fs.open(pdf) as file, pdfplumber.open(file) as found:
        assert "cute" in found.pages[0].extract_text()


@pytest.mark.library("pikepdf", "PDF", "open file", "reads, writes")
def test_pikepdf(fs: Any, pdf: str) -> None:
    with fs.open(pdf) as file, pikepdf.open(file) as found, fs.open("/b.pdf", "wb") as target:
        found.save(target)
    with fs.open("/b.pdf") as file, pikepdf.open(file) as found:
        assert len(found.pages) == 1


@pytest.mark.library("python-docx", "Word", "open file", "reads, writes")
def test_docx(body: MessageBody, fs: Any) -> None:
    made = docx.Document()
    made.add_paragraph("Cats are cute.")
    with fs.open("/a.docx", "wb") as file:
        made.save(file)
    with fs.open("/a.docx") as file:
        assert docx.Document(file).paragraphs[0].text == "Cats are cute."
    assert body["/a.docx"].content_type == OFFICE + "wordprocessingml.document"


@pytest.mark.library("python-pptx", "PowerPoint", "open file", "reads, writes")
def test_pptx(body: MessageBody, fs: Any) -> None:
    made = pptx.Presentation()
    made.slides.add_slide(made.slide_layouts[0])
    with fs.open("/a.pptx", "wb") as file:
        made.save(file)
    with fs.open("/a.pptx") as file:
        assert len(pptx.Presentation(file).slides) == 1
    assert body["/a.pptx"].content_type == OFFICE + "presentationml.presentation"


@pytest.mark.library("lxml", "XML", "open file", "reads, writes")
def test_lxml(fs: Any) -> None:
    with fs.open("/a.xml", "wb") as file:
        lxml.etree.ElementTree(lxml.etree.XML("<a><b/></a>")).write(file)
    with fs.open("/a.xml") as file:
        assert lxml.etree.parse(file).getroot()[0].tag == "b"


@pytest.mark.library("toml", "TOML", "open file", "reads, writes")
def test_toml(body: MessageBody, fs: Any) -> None:
    with fs.open("/a.toml", "w") as file:
        toml.dump({"a": 1}, file)
    with fs.open("/a.toml", "r") as file:
        assert toml.load(file) == {"a": 1}
    assert isinstance(fs.open("/a.toml"), io.BytesIO)
    assert body["/a.toml"].content_type == "application/toml"

"""Part names: what is legal, how refusals read, names made legal."""

import pickle
import re
import tracemalloc

import pytest
from hypothesis import given
from hypothesis import strategies as st

from messagebody.errors import InvalidName
from messagebody.names import ancestors, are_names, check_name, is_name, parent, safe_name

LEGAL = [
    "/a",
    "/a/b",
    "/.bashrc",
    "/...",
    "/a..b",
    "/-",
    "/_",
    "/.a/..b",
    "/A.Z/0-9_",
    "/" + "x" * 5000,
]
ILLEGAL = [
    "", "/", "//", "a", "a/b", "/a/", "/a//b", "/.", "/..", "/./a", "/a/.", "/a/../b", "/a/..",
    "/a b", "/a\n", "\n/a", "/ä", "/a*", "/a?", "/{a}", "/[a]", "/a\\b", "/a\0", "/a:b", "/~",
    "/a@b", "/\u0661", "/a\u202e", "/a\ud800",
]  # fmt: skip

odd_names = st.text("/.ab-_\n é*", max_size=12) | st.from_regex(
    r"(/[.a]{1,3}){1,3}", fullmatch=True
)


class TestIsName:
    @pytest.mark.parametrize("name", [*LEGAL, *ILLEGAL])
    def test_takes_legal_names_alone(self, name: str) -> None:
        assert is_name(name) is (name in LEGAL)

    @given(odd_names)
    def test_is_the_rule_spelled_out(self, name: str) -> None:
        portable = set("ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789._-")
        first, *segments = name.split("/")
        legal = (
            first == ""
            and segments != []
            and all(s not in ("", ".", "..") and set(s) <= portable for s in segments)
        )
        assert is_name(name) == legal


class TestAreNames:
    """Few names are checked in one way, many in another: both answer as `is_name` does."""

    @given(st.lists(odd_names, max_size=5), st.sampled_from([0, 100]), st.integers(0, 5))
    def test_is_true_when_every_one_is_a_name(
        self, names: list[str], others: int, place: int
    ) -> None:
        names[place:place] = LEGAL[:3] * others
        assert are_names(names) == all(is_name(name) for name in names)

    @pytest.mark.parametrize("odd", ILLEGAL)
    @pytest.mark.parametrize("others", [[], ["/" + "x" * 200]], ids=["few", "many"])
    def test_notices_one_among_many(self, odd: str, others: list[str]) -> None:
        assert are_names(["/a", "/b/.c", *others, "/..d/..."])
        assert not are_names(["/a", "/b/c", *others, odd, "/d"])
        assert not are_names([odd])
        assert not are_names(["/a", *others, odd])
        assert not are_names([odd, *others, "/a"])

    def test_is_not_fooled_by_what_joins_to_legal_names(self) -> None:
        assert not are_names(["/a\n/b"])
        assert not are_names(["/a\n"])
        assert are_names([])

    def test_no_name_is_too_long(self) -> None:
        for names in (["/abcd"], ["/a", "/abcd"], ["/abcd", "/a", "/b"], ["/a", "/abcd", "/b"]):
            assert are_names(names, 5)
            assert not are_names(names, 4)

    @given(st.lists(st.integers(1, 30), min_size=1, max_size=20), st.integers(2, 31))
    def test_lengths_are_those_of_single_names(self, lengths: list[int], longest: int) -> None:
        names = ["/" + "x" * length for length in lengths]
        assert are_names(names, longest) == (max(map(len, names)) <= longest)


class TestCheckName:
    def test_returns_the_name(self) -> None:
        assert check_name("/charts/sales.png") == "/charts/sales.png"

    def test_returns_a_plain_string(self) -> None:
        class Name(str):
            __slots__ = ()

        assert type(check_name(Name("/a"))) is str

    @pytest.mark.parametrize(
        ("name", "text"),
        [
            ("report.pdf", "a name begins with '/', for example '/report.pdf'"),
            ("../a", "a name begins with '/', for example '/a'"),
            ("", "a name is /segment one or more times, for example '/report.pdf'"),
            ("//", "a name is /segment one or more times, for example '/report.pdf'"),
            (
                "/a/",
                "a name doesn't end in '/', for example '/a'; "
                "directories are implied by the names in them",
            ),
            ("/a//b", "a segment is empty; perhaps '/a/b'"),
            ("/a/../b", "no segment may be '.' or '..'; perhaps '/a/b'"),
            ("/..", "no segment may be '.' or '..'; perhaps '/file'"),
            (
                "/Q3 report.pdf",
                "character 3 is ' '; a name takes A-Z a-z 0-9 . _ - and /, "
                "for example '/Q3_report.pdf'",
            ),
            (
                "/../*",
                "character 4 is '*'; a name takes A-Z a-z 0-9 . _ - and /, for example '/file'",
            ),
            (
                " ",
                "character 0 is ' '; a name takes A-Z a-z 0-9 . _ - and /, for example '/file'",
            ),
        ],
    )
    def test_says_which_rule_is_broken(self, name: str, text: str) -> None:
        with pytest.raises(InvalidName) as caught:
            check_name(name)
        assert str(caught.value) == f"part name '{name}': {text}"
        assert caught.value.name == name
        assert isinstance(caught.value, ValueError)

    def test_escapes_and_cuts_what_it_shows(self) -> None:
        with pytest.raises(InvalidName) as caught:
            check_name("/\x1b[2J" + "\u202e" * 1000)
        text = str(caught.value)
        assert text.startswith("part name '/\\x1b[2J\\u202e")
        assert text.isprintable()
        assert len(text) < 2000

    def test_refuses_what_is_no_string(self) -> None:
        with pytest.raises(InvalidName) as caught:
            check_name(3)  # type: ignore[arg-type]
        assert str(caught.value) == "part name 3 (int): a name is a string"
        assert pickle.loads(pickle.dumps(caught.value)) == caught.value

    @given(odd_names.filter(lambda name: not is_name(name)))
    def test_suggests_only_legal_names(self, name: str) -> None:
        with pytest.raises(InvalidName) as caught:
            check_name(name)
        suggestion = re.search(r"(?:example|perhaps) '([^']*)'", caught.value.problem)
        assert suggestion is not None
        assert is_name(suggestion[1])


class TestDirectories:
    def test_parent_is_where_a_name_lies(self) -> None:
        assert [parent(name) for name in ("/a", "/a/b", "/a/b/c")] == ["/", "/a", "/a/b"]

    def test_ancestors_come_nearest_first_without_the_root(self) -> None:
        assert list(ancestors("/a/b/c/d")) == ["/a/b/c", "/a/b", "/a"]
        assert list(ancestors("/a")) == []


class TestSafeName:
    @pytest.mark.parametrize(
        ("original", "name"),
        [
            ("Q3 report (final).pdf", "/Q3_report_final.pdf"),
            ("a.txt", "/a.txt"),
            ("archive.tar.gz", "/archive.tar.gz"),
            ("C:\\Users\\me\\Bericht größer.docx", "/Bericht_gro_er.docx"),
            ("/etc/passwd", "/passwd"),
            ("../../x", "/x"),
            ("dir/", "/dir"),
            ("", "/file"),
            (".", "/file"),
            ("..", "/file"),
            ("...", "/file"),
            ("___", "/file"),
            (".bashrc", "/bashrc"),
            ("._x", "/_x"),
            ("報告.pdf", "/file.pdf"),
            ("résumé.PDF", "/resume.PDF"),
            ("a.", "/a"),
            ("x" * 300 + ".json", "/" + "x" * 95 + ".json"),
            ("a." + "y" * 50, "/a." + "y" * 19),
        ],
    )
    def test_keeps_what_it_can(self, original: str, name: str) -> None:
        assert safe_name(original) == name

    def test_counts_up_on_a_clash(self) -> None:
        taken = {"/files/a.txt", "/files/a-2.txt"}
        assert safe_name("a.txt", directory="/files", taken=taken) == "/files/a-3.txt"

    def test_a_thousand_files_may_be_called_alike(self) -> None:
        """Each asks for few names, however many are in use."""

        class Counting(set[str]):
            asked = 0

            def __contains__(self, name: object) -> bool:
                self.asked += 1
                return super().__contains__(name)

        taken = Counting()
        made: list[str] = []
        for _ in range(5_000):
            made.append(safe_name("a.txt", taken=taken))
            taken.add(made[-1])
        assert made == ["/a.txt", *(f"/a-{number}.txt" for number in range(2, 5_001))]
        assert taken.asked < 5_000 * 160

    @pytest.mark.parametrize("unit", ["/", "\\a", "é", "\u1e69"])
    def test_a_long_name_takes_little_memory(self, unit: str) -> None:
        original = unit * 1_000_000 + "end.pdf"
        tracemalloc.start()
        name = safe_name(original)
        peak = tracemalloc.get_traced_memory()[1]
        tracemalloc.stop()
        assert name.endswith(".pdf")
        assert is_name(name)
        assert peak < 3_000_000

    def test_refuses_a_directory_that_is_no_name(self) -> None:
        with pytest.raises(InvalidName) as caught:
            safe_name("a", directory="files")
        assert str(caught.value) == (
            "part name 'files': a name begins with '/', for example '/files'"
        )

    @given(st.text(max_size=30), st.sampled_from(["/", "/a", "/a/b.c"]))
    def test_is_always_legal_and_always_the_same(self, original: str, directory: str) -> None:
        name = safe_name(original, directory=directory)
        assert is_name(name)
        assert name == safe_name(original, directory=directory)
        assert parent(name) == directory
        again = safe_name(original, directory=directory, taken={name})
        assert is_name(again)
        assert again != name

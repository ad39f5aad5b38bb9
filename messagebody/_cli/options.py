"""Arguments and options that several commands share."""

import functools
from collections.abc import Callable
from typing import Any, Final, TypeVar

import click

from messagebody._cli.inputs import is_on_server
from messagebody._cli.kinds import EXISTING_STORE, FILE, PATTERN, SIZE, STORE
from messagebody._cli.terminal import current
from messagebody._core import DEFAULT_STEPS, quote
from messagebody.adapters import (
    BODY,
    WAYS,
    Archive,
    Format,
    adapter,
    adapter_names,
    meant_by,
)
from messagebody.storage import Resolver

_F = TypeVar("_F", bound=Callable[..., Any])


class _FormatName(click.Choice[str]):
    """The name of a message format, or "body"; a wrong one is answered with the nearest."""

    def __init__(self) -> None:
        super().__init__([BODY, *adapter_names()])

    def get_metavar(self, param: click.Parameter, ctx: click.Context) -> str:
        """Return one word, because there are many formats."""
        return "FORMAT"

    def convert(self, value: str, param: click.Parameter | None, ctx: click.Context | None) -> str:
        """Return the name, or fail with the nearest one."""
        # A program may register a format after this module is imported.
        self.choices = (BODY, *adapter_names())
        if value not in self.choices:
            near = meant_by(value)
            meant = f"; did you mean {near}?" if near else "."
            known = ", ".join(self.choices)
            self.fail(f"there is no format {quote(value)}{meant} There are {known}.", param, ctx)
        return value


FORMAT: Final = _FormatName()
KNOWN_FORMATS: Final = f"One of {', '.join([BODY, *adapter_names()])}."

ANY_TYPE: Final = "*/*"
STORE_HELP: Final = "A URL such as s3://bucket/prefix, or a directory."
_JSON_HELP: Final = "Print JSON (stable format)."
flag: Final = functools.partial(click.option, is_flag=True)
as_json: Final = flag("--json", "as_json", help=_JSON_HELP)
lenient: Final = flag("--lenient", help="Consumers ignore parts they do not know.")
everything: Final = flag("--all", "everything", help="Also references without a digest.")
size_only: Final = flag("--size-only", help="Compare sizes; read no content.")
max_steps: Final = click.option(
    "--max-steps", type=click.IntRange(min=1), default=DEFAULT_STEPS,
    help="Budget of each question before giving up.",
)  # fmt: skip
indexes: Final = click.option(
    "--index", "indexes", type=int, multiple=True, help="A part by position, from 0."
)
content_type: Final = click.option(
    "--type", "content_type", default=ANY_TYPE, help="Only parts of matching content type."
)
names: Final = click.option("--names", type=PATTERN, help="Only parts with matching names.")
schema: Final = click.option("--schema", required=True, type=FILE, help="The schema.")
target: Final = click.option(
    "--to", "target", type=FORMAT, default=BODY,
    help="The format to write; the same names as for --from.",
)  # fmt: skip
message: Final = click.argument("message", default="-", type=FILE)
bodies: Final = click.argument("bodies", nargs=-1, default=("-",), metavar="[BODY]...", type=FILE)
to_store: Final = click.option("--to", "store", required=True, type=STORE, help=STORE_HELP)
urls: Final = click.option(
    "--urls", type=click.Choice(WAYS),
    help="What to do with references that the target does not open: sign them, put their content "
    "inline, name them in a text, or auto: text inline, and other content behind a signed URL, or "
    "the other way where that is not possible. All but text need --allow or --public-https.  "
    "[default: text]",
)  # fmt: skip
output: Final = click.option(
    "-o", "--output", metavar="FILE", help="Write to FILE, completely or not at all."
)
_in_place: Final = flag("-i", "--in-place", help="Write back to the file that changes.")


def outputs(function: _F) -> _F:
    """Add the options of commands that change a body: `-o FILE` and `-i`."""
    return output(_in_place(function))


def form(*names: str, help: str = "Output format.") -> Callable[[_F], _F]:  # noqa: A002
    """Return a decorator that adds the options `--format` and `--json`."""
    choice = click.Choice(["text", *names])
    chosen = click.option("--format", "form", type=choice, default="text", help=help)
    json = flag("--json", "form", flag_value="json", help=_JSON_HELP)
    return lambda function: chosen(json(function))


def threshold(help_text: str) -> Callable[[_F], _F]:
    """Return a decorator that adds the option `--threshold SIZE`."""
    return click.option("--threshold", type=SIZE, default="256 KiB", help=help_text)


def body(function: _F) -> _F:
    """Add the argument BODY: a file, a URL that --allow opens, or "-" for standard input."""
    options = getattr(function, "__click_params__", ())
    if not any("--allow" in each.opts for each in options):
        function = servers(function)
    return click.argument("body", default="-", type=FILE)(function)


def _note_public(context: click.Context, parameter: click.Parameter, value: bool) -> None:
    context.meta["public_https"] = value


def _references(
    context: click.Context, parameter: click.Parameter, allowed: tuple[str, ...]
) -> Resolver:
    """Return what reads references; files are read from the same servers."""
    public = context.meta.get("public_https", False)
    current().resolver = resolver = Resolver(allow=allowed, public_https=public)
    return resolver


def _servers(
    context: click.Context, parameter: click.Parameter, allowed: tuple[str, ...]
) -> Resolver:
    """Let the command read files from servers; return what uploads to any server it names."""
    current().resolver = Resolver(allow=allowed)
    return Resolver(allow=allowed, public_https=True)


_allow: Final = functools.partial(click.option, "--allow", "resolver", multiple=True, metavar="URL")
allow: Final = _allow(
    type=EXISTING_STORE, callback=_references,
    help="Read references below URL (s3://bucket/prefix, https://host/path) or a directory; "
    "repeatable. Others are refused, but for data URLs.",
)  # fmt: skip
servers: Final = _allow(
    callback=_servers, expose_value=False,
    help="Read files from a web server, if their URLs are below URL (https://host/path); "
    "repeatable.",
)  # fmt: skip
uploads: Final = _allow(
    callback=_servers,
    help="Read files from a web server, and put parts on one that is private or has no TLS, if "
    "their URLs are below URL (https://host/path); repeatable.",
)  # fmt: skip
_public_https: Final = flag(
    "--public-https", is_eager=True, expose_value=False, callback=_note_public,
    help="Read all references to https servers of the public internet.",
)  # fmt: skip


def references(function: _F) -> _F:
    """Add the options `--allow URL` and `--public-https`; pass the resolver they ask for."""
    return _public_https(allow(function))


def reading_options(
    target: str, options: dict[str, Any], resolver: Resolver, source: str = "-"
) -> dict[str, Any]:
    """Return the resolver as an option for a target that reads references, or is to do so.

    Arguments:
        target: the format to write.
        options: its other options.
        resolver: the resolver of the command.
        source: the file that is read, which may be on a web server that the resolver allows.
    """
    found = None if target == BODY else adapter(target)
    is_asked = options.get("urls", "text") != "text"
    if isinstance(found, Archive) or (isinstance(found, Format) and is_asked):
        return {"resolver": resolver}
    if not resolver.is_closed and not is_on_server(source):
        is_format = isinstance(found, Format)
        way = "needs --urls auto, sign or inline" if is_format else "cannot be used"
        raise click.UsageError(f"--allow or --public-https {way} with --to {target}")
    return {}

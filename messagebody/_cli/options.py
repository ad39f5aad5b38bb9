"""Arguments and options that several commands share, and the values that they take."""

import functools
import os
import re
from collections.abc import Callable, Sequence
from pathlib import Path
from typing import Any, TypeVar
from urllib.parse import unquote, urlsplit

import click

from messagebody._cli.inputs import BODY, decode_body, is_on_server, read_bytes
from messagebody._cli.terminal import terminal
from messagebody._core import (
    parse_size,
    quote,
    require_token,
)
from messagebody.adapters import (
    WAYS,
    Archive,
    MessageFormat,
    adapter,
    adapter_names,
    meant_by,
)
from messagebody.errors import InvalidArgument, StoreError
from messagebody.storage import Resolver

STORE_HELP = "A URL such as s3://bucket/prefix, or a directory."
JSON_HELP = "Print JSON (stable format)."
json_option = click.option("--json", "as_json", is_flag=True, help=JSON_HELP)
lenient_option = click.option(
    "--lenient", is_flag=True, help="Consumers ignore parts they do not know."
)
_F = TypeVar("_F", bound=Callable[..., Any])
_DURATION = re.compile(r"([0-9]{1,9}(?:\.[0-9]{1,9})?)\s*([a-z]*)", re.IGNORECASE)
_SECONDS = {"": 1, "s": 1, "min": 60, "m": 60, "h": 3600, "d": 86_400, "w": 604_800}
_SECONDS |= {
    name + plural: _SECONDS[name[0]]
    for name in ("second", "minute", "hour", "day", "week")
    for plural in ("", "s")
}


def seconds(context: click.Context, parameter: click.Parameter, value: str) -> float:
    """Read an option such as "15m" or "7 days"; a number alone is seconds."""
    match = _DURATION.fullmatch(value.strip())
    if match is None or match[2].lower() not in _SECONDS:
        raise click.BadParameter(f"{quote(value)} is not a time; write 90s, 15m, 12h or '7 days'")
    return float(match[1]) * _SECONDS[match[2].lower()]


def size(context: click.Context, parameter: click.Parameter, value: str | None) -> int | None:
    """Read an option such as "256 KiB"; a number alone is bytes."""
    try:
        return None if value is None else parse_size(int(value) if value.isdecimal() else value)
    except (StoreError, ValueError) as error:
        raise click.BadParameter(str(error)) from error


class FormatName(click.Choice[str]):
    """The name of a message format, or "body"; a wrong one is answered with the nearest."""

    def __init__(self) -> None:
        super().__init__([BODY, *adapter_names()])

    def convert(self, value: str, param: click.Parameter | None, ctx: click.Context | None) -> str:
        """Return the name, or fail with the nearest one."""
        # A program may register a format after this module is imported.
        self.choices = (BODY, *adapter_names())
        if value not in self.choices:
            near = meant_by(value)
            meant = f"; did you mean {near}?" if near else ""
            known = ", ".join(self.choices)
            self.fail(f"there is no format {quote(value)}{meant} There are {known}", param, ctx)
        return value


# A mistyped URL would otherwise become a directory with that name.
_LIKE_A_URL = re.compile(r"([A-Za-z][A-Za-z0-9+.-]+):/*(.*)")
_SLASHES = re.compile(r"(s3|gs|gcs|az|abfss?|file|memory|https?)//+(.*)", re.IGNORECASE)


def store_url(text: str) -> str:
    """Return the URL of a store; a text without "://" is a directory."""
    if "://" in text:
        return text
    if os.name != "nt" and re.match(r"[A-Za-z]:[/\\]", text):
        raise click.UsageError(
            f"{quote(text)} is a directory of Windows, and this is another system"
        )
    mistyped = _LIKE_A_URL.fullmatch(text) or _SLASHES.fullmatch(text)
    if mistyped:
        scheme, rest = mistyped[1].lower(), mistyped[2]
        raise click.UsageError(
            f"{quote(text)} is not a URL; write {quote(f'{scheme}://{rest}')}, "
            f"or {quote('./' + text)} for a directory of that name"
        )
    return Path(os.path.realpath(Path(text).expanduser())).as_uri()


def existing_store_url(text: str) -> str:
    """Return the URL of a store for reading; a directory must exist."""
    url = store_url(text)
    scheme, _, path, *_ = urlsplit(url)
    if scheme.lower() == "file" and not Path(unquote(path)).is_dir():
        meant = "" if "/" in text else f"; a bucket is s3://{text}"
        raise click.UsageError(f"there is no directory {quote(text)}{meant}")
    return url


def resolver_options(function: _F) -> _F:
    """Add the options `--allow URL` and `--public-https`; pass on the resolver they ask for."""
    option = click.option(
        "--public-https",
        is_flag=True,
        help="Read all references to https servers of the public internet.",
    )
    return option(allow_option(function))


def allow_option(function: _F) -> _F:
    """Add the option `--allow URL`; pass on the resolver that it asks for."""

    @functools.wraps(function)
    def command(
        *given: Any, allow: Sequence[str], public_https: bool = False, **options: Any
    ) -> Any:
        entries = [existing_store_url(each) for each in allow]
        resolver = Resolver(allow=entries, public_https=public_https)
        terminal().resolver = resolver
        return function(*given, resolver=resolver, **options)

    return click.option(
        "--allow",
        multiple=True,
        metavar="URL",
        help="Read references below URL (s3://bucket/prefix, https://host/path) or a directory; "
        "repeatable. Others are refused, but for data URLs.",
    )(command)  # type: ignore[return-value]


def servers_option(function: _F) -> _F:
    """Add the option `--allow URL` to a command that reads no references, but files."""

    @functools.wraps(function)
    def command(*given: Any, allow: Sequence[str], **options: Any) -> Any:
        terminal().resolver = Resolver(allow=allow)
        return function(*given, **options)

    return click.option(
        "--allow",
        multiple=True,
        metavar="URL",
        help="Read files from a web server, if their URLs are below URL (https://host/path); "
        "repeatable.",
    )(command)  # type: ignore[return-value]


def upload_options(function: _F) -> _F:
    """Add the options `--allow URL` and `--token-file FILE`; pass on those of an upload address."""

    @functools.wraps(function)
    def command(*given: Any, allow: Sequence[str], token_file: str | None, **options: Any) -> Any:
        terminal().resolver = Resolver(allow=allow)
        # The command names the address, so it may be any public one.
        resolver = Resolver(allow=allow, public_https=True)
        upload = {"resolver": resolver, "token": token_in(token_file)}
        return function(*given, upload=upload, **options)

    allow_servers = click.option(
        "--allow",
        multiple=True,
        metavar="URL",
        help="Read files from a web server, and put parts on one that is private or has no TLS, if "
        "their URLs are below URL (https://host/path); repeatable.",
    )
    token = click.option(
        "--token-file",
        metavar="FILE",
        shell_complete=complete_file,
        help="File with the token that writers show to the server of an upload address.",
    )
    return allow_servers(token(command))  # type: ignore[return-value]


def secret_in(path: str | None) -> str | None:
    """Return the secret in a file, without the line end that editors add."""
    if path is None:
        return None
    try:
        # Some editors mark UTF-8 at the start of a file.
        found = Path(path).read_text("utf-8-sig").strip()
    except (OSError, ValueError) as error:
        reason = getattr(error, "strerror", None) or "it is not text"
        raise click.UsageError(f"can't read {quote(path)}: {reason}") from error
    if not found:
        raise click.UsageError(f"{quote(path)} is empty, and should hold a secret")
    return found


def token_in(path: str | None) -> str | None:
    """Return the token in a file."""
    found = secret_in(path)
    try:
        return found if found is None else require_token(found)
    except InvalidArgument as error:
        raise click.UsageError(f"{quote(str(path))}: {error}") from error


def to_store_option(function: _F) -> _F:
    """Add the required option `--to STORE`."""
    return click.option(
        "--to",
        "store",
        required=True,
        metavar="STORE",
        shell_complete=complete_store,
        help=STORE_HELP,
    )(function)


def urls_option(function: _F) -> _F:
    """Add the option `--urls WAY`; see `reading_options`."""
    return click.option(
        "--urls",
        type=click.Choice(WAYS),
        help="What to do with references that the target does not open: sign them, put their "
        "content inline, name them in a text, or auto: text inline, and other content behind a "
        "signed URL, or the other way where that is not possible. All but text need --allow or "
        "--public-https.  [default: text]",
    )(function)


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
    if isinstance(found, Archive) or (isinstance(found, MessageFormat) and is_asked):
        return {"resolver": resolver}
    if not resolver.is_closed and not is_on_server(source):
        is_format = isinstance(found, MessageFormat)
        way = "needs --urls auto, sign or inline" if is_format else "cannot be used"
        raise click.UsageError(f"--allow or --public-https {way} with --to {target}")
    return {}


def langgraph_store_option(function: _F) -> _F:
    """Add the option `--store STORE`."""
    return click.option(
        "--store",
        metavar="STORE",
        shell_complete=complete_store,
        help="Where a LangGraph database keeps large contents: a URL or a directory.",
    )(function)


def threshold_option(help_text: str) -> Callable[[_F], _F]:
    """Return a decorator that adds the option `--threshold SIZE`."""
    return click.option(
        "--threshold",
        callback=size,
        default="256 KiB",
        show_default=True,
        metavar="SIZE",
        help=help_text,
    )


def body_argument(function: _F) -> _F:
    """Add the argument BODY: a file, a URL that --allow opens, or "-" for standard input."""
    options = getattr(function, "__click_params__", ())
    if not any(each.name == "allow" for each in options):
        function = servers_option(function)
    return click.argument("body", default="-", metavar="[BODY]", shell_complete=complete_file)(
        function
    )


def complete_file(context: click.Context, parameter: click.Parameter, incomplete: str) -> list[Any]:
    """Let the shell complete the name of a file."""
    return [click.shell_completion.CompletionItem(incomplete, type="file")]


def complete_store(
    context: click.Context, parameter: click.Parameter, incomplete: str
) -> list[Any]:
    """Let the shell complete a directory, and the beginning of the URL of a store."""
    item = click.shell_completion.CompletionItem
    schemes = [each for each in ("s3://", "file://", "memory://") if each.startswith(incomplete)]
    return [*map(item, schemes), item(incomplete, type="dir")]


def complete_name(context: click.Context, parameter: click.Parameter, incomplete: str) -> list[str]:
    """Complete the name of a part of BODY."""
    # While the value of an option is typed, click has not given BODY its name yet.
    path = next(iter(context.args), context.params.get("body"))
    if not path or path == "-":
        return []
    names = decode_body(read_bytes(path), path).names()
    # The first slash may be left out, so it is not completed.
    without = "" if incomplete.startswith("/") else "/"
    return [name.removeprefix(without) for name in names if name.startswith(without + incomplete)]


def output_option(function: _F) -> _F:
    """Add the option `-o FILE`."""
    return click.option(
        "-o", "--output", metavar="FILE", help="Write to FILE, completely or not at all."
    )(function)


def output_options(function: _F) -> _F:
    """Add the options of commands that change a body: `-o FILE` and `-i`."""
    in_place = click.option(
        "-i", "--in-place", is_flag=True, help="Write back to the file that changes."
    )
    return output_option(in_place(function))

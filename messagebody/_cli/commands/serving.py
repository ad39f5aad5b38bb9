"""The command that serves messages over HTTP: serve."""

import click

from messagebody import serving
from messagebody._cli.inputs import read_schema
from messagebody._cli.options import complete_file, resolver_options, seconds, secret_in, token_in
from messagebody._cli.sockets import LOOPBACK, LOOPBACKS, listen
from messagebody._cli.terminal import Terminal, limits, pass_terminal
from messagebody._core import quote
from messagebody.errors import InvalidArgument
from messagebody.storage import Resolver

_ANY = ("0.0.0.0", "::", "")  # noqa: S104 - no names that a client could use


@click.command("serve")
@click.argument("source", metavar="DIR|BODY|URL", shell_complete=complete_file)
@click.option(
    "--host",
    default=LOOPBACK,
    show_default=True,
    metavar="ADDRESS",
    help="Address to listen at; programs that can reach it can read the messages, unless "
    "--secret-file closes reading.",
)
@click.option(
    "--port",
    default=8000,
    show_default=True,
    type=click.IntRange(0, 65_535),
    metavar="PORT",
    help="Port to listen at; 0 picks a free one.",
)
@click.option(
    "--writable",
    is_flag=True,
    help="Take new messages and parts of those who show the token.",
)
@click.option(
    "--token-file",
    metavar="FILE",
    shell_complete=complete_file,
    help="File with the token that writers show: Authorization: Bearer TOKEN.",
)
@click.option(
    "--secret-file",
    metavar="FILE",
    shell_complete=complete_file,
    help="File with the secret of signed links; reading then needs such a link or the token.",
)
@click.option(
    "--schema",
    metavar="FILE",
    shell_complete=complete_file,
    help="Take only messages that are valid for this schema.",
)
@click.option(
    "--allow-host",
    "hosts",
    multiple=True,
    metavar="NAME",
    help="Answer requests to this name or name:port, too, as that of a proxy. Others are refused, "
    "so that no page in a browser can read the messages through a name of its own.",
)
@click.option(
    "--allow-origin",
    "origins",
    multiple=True,
    metavar="ORIGIN",
    help="Let pages of this origin, such as https://agent.example, read the messages.",
)
@click.option(
    "--timeout",
    default="30s",
    show_default=True,
    callback=seconds,
    metavar="TIME",
    help="Close a connection whose request does not come, or whose answer is not read.",
)
@resolver_options
@pass_terminal
def serve_command(
    terminal: Terminal, source: str, host: str, port: int, *, writable: bool,
    token_file: str | None, secret_file: str | None, schema: str | None, hosts: tuple[str, ...],
    origins: tuple[str, ...], timeout: float, resolver: Resolver,
) -> None:  # fmt: skip
    """Every *.json of a directory or of s3://bucket/prefix/ is a message: /ID is the message
    ID.json, /ID/NAME the content of a part, and / is the list. A browser shows them, and curl,
    pandas and DuckDB read them by URL. Stop it with Ctrl-C. Needs pip install 'messagebody[serve]'.

    \b
      messagebody serve messages/
      messagebody serve report.json --port 0
      messagebody serve messages/ --writable --token-file token
      curl http://127.0.0.1:8000/report/sources/1
    """  # noqa: D205 - the table of commands has the first line
    if writable and token_file is None:
        raise click.UsageError("--writable needs --token-file FILE, with a token for writers")
    token, secret = token_in(token_file), secret_in(secret_file)
    try:
        app = serving.app(
            source,
            writable=writable,
            token=token,
            secret=secret,
            schema=None if schema is None else read_schema(schema),
            hosts=[*(() if host in _ANY else (host,)), *hosts],
            origins=origins,
            resolver=None if resolver.is_closed else resolver,
            limits=serving.ServingLimits(message=limits(), seconds=timeout),
        )
    except InvalidArgument as error:
        raise click.UsageError(str(error)) from error
    except OSError as error:
        raise click.UsageError(f"can't serve {quote(source)}: {error.strerror}") from error
    sockets = listen(host, port)
    place, number = sockets[0].getsockname()[:2]
    shown = f"[{place}]" if ":" in place else place
    # For a person to click, and for a program that asked for a free port.
    click.echo(f"Serving at http://{shown}:{number}/")
    if host not in LOOPBACKS and secret is None:
        terminal.remark("programs that reach this address can read the messages; see --secret-file")
    serving.run(app, sockets, seconds=timeout)

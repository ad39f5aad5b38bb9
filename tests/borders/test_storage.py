"""Bodies in databases, serializers and logs of records."""

import multiprocessing
import pickle
import sqlite3
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest

from messagebody import MessageBody, MessageBodySchema, Part
from messagebody.errors import DecodeError
from tests.borders.conftest import Trip, recipe

BAD = [{"name": "a", "content": ""}]


def echo(body: MessageBody) -> MessageBody:
    return body


@pytest.mark.border("pickle, copy, shelve", "the standard library")
def test_pickle(trip: Trip, tmp_path: Path) -> None:
    import shelve

    with shelve.open(str(tmp_path / "shelf")) as shelf:
        shelf["body"] = trip.body
        assert shelf["body"] == trip.body
    trip.came_back(pickle.loads(pickle.dumps(trip.body)))


@pytest.mark.border("multiprocessing", "the standard library")
def test_multiprocessing(trip: Trip) -> None:
    with multiprocessing.get_context("spawn").Pool(1) as pool:
        trip.came_back(pool.apply(echo, [trip.body]))


@pytest.mark.border(
    "Kafka, redis and other bytes", "the standard library", write="body.to_json_bytes()"
)
def test_bytes(trip: Trip) -> None:
    body = trip.body
    trip.came_back(MessageBody.from_json(body.to_json_bytes()))


@pytest.mark.border("FastStream handler", "faststream", write="body.to_json_bytes()")
def test_faststream(trip: Trip) -> None:
    import anyio
    from faststream.kafka import KafkaBroker, TestKafkaBroker

    body = trip.body
    broker = KafkaBroker()
    arrived: list[MessageBody] = []

    @broker.subscriber("reports")
    async def read(report: MessageBody) -> None:
        arrived.append(report)

    async def send() -> None:
        async with TestKafkaBroker(broker) as producer:
            await producer.publish(body.to_json_bytes(), "reports")

    anyio.run(send)
    trip.came_back(arrived[0])


@pytest.mark.border("msgspec", "msgspec", write="enc_hook=enc_hook … dec_hook=dec_hook")
def test_msgspec(trip: Trip) -> None:
    import msgspec

    enc_hook, dec_hook = recipe("enc_hook"), recipe("dec_hook")

    class Task(msgspec.Struct):
        body: MessageBody
        parts: list[Part]

    task = Task(trip.body, [*trip.body])
    document = msgspec.json.encode(task, enc_hook=enc_hook)
    again = msgspec.json.decode(document, type=Task, dec_hook=dec_hook)
    trip.came_back(again.body)
    assert again == task
    bad = msgspec.to_builtins(task, enc_hook=enc_hook) | {"body": BAD}
    with pytest.raises(msgspec.ValidationError, match=r"a name begins with '/'.*`\$\.body`"):
        msgspec.convert(bad, Task, dec_hook=dec_hook)


def test_hooks_of_msgspec_leave_other_types_alone() -> None:
    import msgspec

    enc_hook, dec_hook = recipe("enc_hook"), recipe("dec_hook")
    with pytest.raises(NotImplementedError, match="can't encode complex"):
        msgspec.json.encode(1j, enc_hook=enc_hook)
    with pytest.raises(NotImplementedError, match="can't decode complex"):
        msgspec.json.decode(b"[1]", type=complex, dec_hook=dec_hook)


@pytest.mark.border("cattrs", "cattrs", write="register_hooks(converter)")
def test_cattrs(trip: Trip) -> None:
    import attrs
    from cattrs import ClassValidationError
    from cattrs.preconf.json import make_converter

    register_hooks = recipe("register_hooks")

    @attrs.define
    class Task:
        body: MessageBody
        first: Part
        accepts: MessageBodySchema

    converter = make_converter()
    register_hooks(converter)
    task = Task(trip.body, trip.body[0], MessageBodySchema([("/*",)]))
    again = converter.loads(converter.dumps(task), Task)
    assert again == task
    trip.came_back(again.body)
    with pytest.raises(ClassValidationError) as caught:
        converter.structure(converter.unstructure(task) | {"body": BAD}, Task)
    [error] = caught.value.exceptions
    assert isinstance(error, DecodeError)
    assert str(error) == "part 0 'a': a name begins with '/', for example '/a'"


@pytest.mark.border("sqlite3", "the standard library", write="body.to_json()")
def test_sqlite(trip: Trip) -> None:
    body = trip.body
    database = sqlite3.connect(":memory:")
    database.execute("CREATE TABLE message (body TEXT)")
    database.execute("INSERT INTO message VALUES (?)", [body.to_json()])
    [(document,)] = database.execute("SELECT body FROM message")
    database.close()
    trip.came_back(MessageBody.from_json(document))


@pytest.fixture
def session() -> Iterator[Any]:
    from sqlalchemy import create_engine
    from sqlalchemy.orm import Session

    engine = create_engine("sqlite://")
    with Session(engine) as session:
        yield session
    engine.dispose()


@pytest.mark.border("SQLAlchemy", "sqlalchemy", write="mapped_column(BodyType)")
def test_sqlalchemy(trip: Trip, session: Any) -> None:
    from sqlalchemy.orm import DeclarativeBase, Mapped, mapped_column

    BodyType = recipe("BodyType")  # noqa: N806 - as the page has it

    class Base(DeclarativeBase):
        pass

    class Message(Base):
        __tablename__ = "message"
        id: Mapped[int] = mapped_column(primary_key=True)
        body: Mapped[MessageBody | None] = mapped_column(BodyType)

    Base.metadata.create_all(session.bind)
    message = Message(body=None)
    session.add(message)
    session.commit()
    session.expire_all()
    assert message.body is None
    message.body = trip.body
    session.commit()
    session.expire_all()
    assert isinstance(message.body, MessageBody)
    trip.came_back(pickle.loads(pickle.dumps(message.body)))


@pytest.mark.border("SQLModel", "sqlmodel", write="Field(sa_type=BodyType)")
def test_sqlmodel(trip: Trip) -> None:
    from sqlmodel import Field, Session, SQLModel, create_engine

    BodyType = recipe("BodyType")  # noqa: N806 - as the page has it

    class Report(SQLModel, table=True):  # type: ignore[call-arg]
        id: int | None = Field(default=None, primary_key=True)
        body: MessageBody = Field(sa_type=BodyType)

    engine = create_engine("sqlite://")
    SQLModel.metadata.create_all(engine, tables=[SQLModel.metadata.tables["report"]])
    with Session(engine) as session:
        session.add(Report(id=1, body=trip.body))
        session.commit()
        session.expire_all()
        report = session.get_one(Report, 1)
        trip.came_back(report.body)
        report.body = MessageBody([*report.body, "more"])
        session.commit()
        session.expire_all()
        assert len(report.body) == len(trip.body) + 1
    engine.dispose()

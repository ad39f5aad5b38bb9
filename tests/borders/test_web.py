"""Bodies in web frameworks and their clients."""

import json
from typing import Annotated, Any

import pytest

from messagebody import MessageBody, MessageBodySchema, Part
from tests.borders.conftest import Trip, recipe

BAD = [{"name": "a", "content": ""}, {"content": "x"}, {"name": "/b", "contentUrl": "no"}]


@pytest.mark.border("json.dumps and every JSON client", "httpx2", write="json=body.to_dicts()")
def test_json_client(trip: Trip) -> None:
    import httpx2

    def echo(request: httpx2.Request) -> httpx2.Response:
        return httpx2.Response(200, content=request.content)

    client = httpx2.Client(transport=httpx2.MockTransport(echo))
    body = trip.body
    answer = client.post("http://localhost/", json=body.to_dicts())
    trip.came_back(MessageBody.from_dicts(answer.json()))
    assert MessageBody.from_json(json.dumps(body.to_dicts())) == body


@pytest.mark.border("pydantic model", "pydantic")
def test_pydantic(trip: Trip) -> None:
    from pydantic import BaseModel, RootModel

    class Task(BaseModel):
        body: MessageBody
        extra: list[Part] = []

    task = Task(body=trip.body, extra=[*trip.body])
    again = Task.model_validate_json(task.model_dump_json())
    assert again == task
    trip.came_back(again.body)
    assert RootModel[MessageBody](trip.body).model_dump() == trip.body.to_dicts()


@pytest.mark.border("FastAPI, declared", "fastapi", write="body: Annotated[MessageBody, Body()]")
def test_fastapi(trip: Trip) -> None:
    from fastapi import Body, FastAPI
    from fastapi.testclient import TestClient

    application = FastAPI()

    @application.post("/")
    def echo(body: Annotated[MessageBody, Body()]) -> MessageBody:
        return body

    client = TestClient(application)
    answer = client.post("/", json=trip.body.to_dicts())
    trip.came_back(MessageBody.from_json(answer.content))
    assert client.post("/", json=BAD).status_code == 422


@pytest.mark.border(
    "FastAPI, with a schema", "fastapi", write="body: Annotated[MessageBody, Body(), schema]"
)
def test_fastapi_schema(trip: Trip, schema: MessageBodySchema) -> None:
    from fastapi import Body, FastAPI
    from fastapi.testclient import TestClient

    application = FastAPI()

    @application.post("/")
    def echo(body: Annotated[MessageBody, Body(), schema]) -> MessageBody:
        return body

    client = TestClient(application)
    assert client.post("/", json=trip.body.to_dicts()).status_code == 422
    good = MessageBody([Part("Done.", name="/report.md", content_type="text/markdown")])
    assert client.post("/", json=good.to_dicts()).json() == good.to_dicts()
    trip.arrived_as("equal")


@pytest.mark.border("FastAPI, undeclared answer", "fastapi", write="body.to_dicts()")
def test_fastapi_undeclared(trip: Trip) -> None:
    from fastapi import FastAPI
    from fastapi.testclient import TestClient

    application = FastAPI()
    body = trip.body

    @application.get("/")
    def answer() -> Any:
        return {"body": body.to_dicts()}

    trip.came_back(MessageBody.from_dicts(TestClient(application).get("/").json()["body"]))


@pytest.mark.border("Starlette", "starlette", write="JSONResponse(body.to_dicts())")
def test_starlette(trip: Trip) -> None:
    from starlette.applications import Starlette
    from starlette.requests import Request
    from starlette.responses import JSONResponse
    from starlette.routing import Route
    from starlette.testclient import TestClient

    async def echo(request: Request) -> JSONResponse:
        body = MessageBody.from_json(await request.body())
        return JSONResponse(body.to_dicts())

    client = TestClient(Starlette(routes=[Route("/", echo, methods=["POST"])]))
    answer = client.post("/", content=trip.body.to_json_bytes())
    trip.came_back(MessageBody.from_json(answer.content))


@pytest.mark.border("Litestar", "litestar", write="type_encoders= … type_decoders=")
def test_litestar(trip: Trip) -> None:
    from litestar import Litestar, get, post
    from litestar.params import JSONBody
    from litestar.testing import TestClient

    from messagebody.frameworks.values import KINDS, from_values, is_known, to_values

    @post("/", status_code=200, sync_to_thread=False)
    def echo(data: JSONBody[MessageBody]) -> MessageBody:
        body: MessageBody = data
        return body

    @get("/part", sync_to_thread=False)
    def part() -> Part:
        return trip.body[0]

    application = Litestar(
        [echo, part],
        type_encoders=dict.fromkeys(KINDS, to_values),
        type_decoders=[(is_known, from_values)],
    )
    with TestClient(application) as client:
        answer = client.post("/", json=trip.body.to_dicts())
        trip.came_back(MessageBody.from_json(answer.content))
        assert client.get("/part").json() == trip.body.to_dicts()[0]
        assert client.post("/", json=BAD).status_code == 400


@pytest.fixture(scope="module")
def django() -> None:
    import django
    from django.conf import settings

    settings.configure(
        DEBUG=False, ALLOWED_HOSTS=["*"], INSTALLED_APPS=["rest_framework"], DATABASES={},
        REST_FRAMEWORK={"UNAUTHENTICATED_USER": None}, SECRET_KEY="test", USE_TZ=True,
        TEMPLATES=[{"BACKEND": "django.template.backends.django.DjangoTemplates"}],
    )  # fmt: skip
    django.setup()


@pytest.mark.border("Flask", "flask", write="jsonify(body.to_dicts())")
def test_flask(trip: Trip) -> None:
    from flask import Flask, Response, jsonify, request

    application = Flask(__name__)

    @application.post("/")
    def echo() -> Response:
        body = MessageBody.from_json(request.get_data())
        return jsonify(body.to_dicts())

    answer = application.test_client().post("/", json=trip.body.to_dicts())
    trip.came_back(MessageBody.from_json(answer.get_data()))


@pytest.mark.border("Django view", "django", write="JsonResponse(body.to_dicts(), safe=False)")
@pytest.mark.usefixtures("django")
def test_django(trip: Trip) -> None:
    from django.http import HttpRequest, JsonResponse
    from django.test import RequestFactory

    def echo(request: HttpRequest) -> JsonResponse:
        body = MessageBody.from_json(request.body)
        return JsonResponse(body.to_dicts(), safe=False)

    request = RequestFactory().post("/", trip.body.to_json(), content_type="application/json")
    trip.came_back(MessageBody.from_json(echo(request).content))


@pytest.mark.border(
    "Django REST framework", "djangorestframework", write="body = MessageBodyField()"
)
@pytest.mark.usefixtures("django")
def test_rest_framework(trip: Trip, schema: MessageBodySchema) -> None:
    from rest_framework.serializers import Serializer

    MessageBodyField = recipe("MessageBodyField")  # noqa: N806

    class Task(Serializer):
        body = MessageBodyField()

    task = Task(data={"body": trip.body.to_dicts()})
    assert task.is_valid()
    trip.came_back(task.validated_data["body"])
    assert Task({"body": trip.body}).data == {"body": trip.body.to_dicts()}

    task = Task(data={"body": BAD})
    assert not task.is_valid()
    assert [error.split(":")[0] for error in task.errors["body"]] == [
        "part 0 'a'", "part 2 '/b'"
    ]  # fmt: skip

    class Gated(Serializer):
        body = MessageBodyField(schema=schema)

    gated = Gated(data={"body": [{"content": "x"}]})
    assert not gated.is_valid()
    assert len(gated.errors["body"]) == 2
    assert not Task(data={"body": None}).is_valid()


@pytest.mark.usefixtures("django")
def test_rest_framework_answers_400() -> None:
    from rest_framework.decorators import api_view
    from rest_framework.response import Response
    from rest_framework.serializers import Serializer
    from rest_framework.test import APIRequestFactory

    MessageBodyField = recipe("MessageBodyField")  # noqa: N806

    class Task(Serializer):
        body = MessageBodyField()

    @api_view(["POST"])
    def view(request: Any) -> Response:
        task = Task(data=request.data)
        task.is_valid(raise_exception=True)
        return Response({"parts": len(task.validated_data["body"])})

    factory = APIRequestFactory()
    bad = view(factory.post("/", {"body": BAD}, format="json"))
    assert bad.status_code == 400
    good = view(factory.post("/", {"body": [{"content": "x"}]}, format="json"))
    assert (good.status_code, good.data) == (200, {"parts": 1})

"""Run by test/examples/pythonClient.test.ts against a service: FOOTFALL_TEST has the addresses, the key and the ids."""

import json
import os
import typing

import pytest

import footfall.operations
from footfall import ApiError, Client, each, pages

given = json.loads(os.environ["FOOTFALL_TEST"])


def client_at(url: str, **options: typing.Any) -> Client:
    return Client(url, given["key"], given["secret"], **options)


@pytest.fixture
def client() -> Client:
    return client_at(given["url"])


def test_reads_with_types_of_the_document(client: Client) -> None:
    projects = client.list_projects()["projects"]
    assert given["project_id"] in [project["project_id"] for project in projects]
    page = client.list_events(pixel_id=given["pixel_id"], select="event_id,event_type", limit=1)
    assert page["meta"]["charged"] == 1
    assert set(page["rows"][0]) == {"event_id", "event_type"}


def test_pages_and_items_follow_the_cursor(client: Client) -> None:
    ids = [e["event_id"] for e in each(client.list_events, pixel_id=given["pixel_id"], limit=2)]
    assert sorted(ids) == sorted(given["event_ids"])
    sizes = [len(p["rows"]) for p in pages(client.list_events, pixel_id=given["pixel_id"], limit=2)]
    assert sizes == [2, 2, 1]


def test_sends_bodies_query_and_path(client: Client) -> None:
    project_id = given["project_id"]
    goal = {"name": "Bought", "filter": "event_data.name:eq:bought"}
    assert client.set_analytics_goals(project_id=project_id, goals=[goal])["goals"] == [goal]
    assert client.get_analytics_goals(project_id=project_id)["goals"] == [goal]
    assert client.get_project(project_id=project_id)["project"]["project_id"] == project_id


def test_refuses_a_value_that_would_lead_to_another_operation(client: Client) -> None:
    for audience_id in ("", ".", ".."):
        with pytest.raises(ValueError, match="audience_id must not be empty"):
            client.get_audience(audience_id=audience_id)


def test_an_error_has_status_code_and_message(client: Client) -> None:
    with pytest.raises(ApiError) as caught:
        client.list_events(filter="nothing")
    error = caught.value
    assert (error.status, error.code) == (400, "invalid_parameter")
    assert error.details["parameter"] == "filter"
    assert error.message
    with pytest.raises(ApiError) as caught:
        Client(given["url"], given["key"], "wrong").who_am_i()
    assert (caught.value.status, caught.value.code) == (401, "invalid_api_secret")
    with pytest.raises(TypeError, match="project_id is missing"):
        client._call("GET /api/v1/project/retrieve/{project_id}", {})


def test_a_lost_answer_of_a_charged_call_is_asked_for_again_and_charged_once() -> None:
    # The relay loses the first answer. pythonClient.test.ts checks the key of both tries and the ledger.
    page = client_at(given["losing_url"]).list_events(pixel_id=given["pixel_id"], limit=3)
    assert len(page["rows"]) == 3


def test_a_given_idempotency_key_is_sent() -> None:
    client = client_at(given["losing_url"]).with_idempotency_key("mine")
    assert client.list_events(pixel_id=given["pixel_id"], limit=1)["meta"]["charged"] in (0, 1)


def test_waits_as_long_as_retry_after_says() -> None:
    client = client_at(given["counting_url"])
    for _ in range(60):
        client.get_event_schema()


def test_a_service_that_is_away_is_an_error() -> None:
    with pytest.raises(ApiError) as caught:
        client_at("http://127.0.0.1:1", max_tries=2).who_am_i()
    assert (caught.value.status, caught.value.error) == (0, "unreachable")


def test_every_type_can_be_resolved() -> None:
    types = [t for t in vars(footfall.operations).values() if typing.is_typeddict(t)]
    assert len(types) > 300
    for each_type in types:
        typing.get_type_hints(each_type)

"""Scenarios of the official anthropic package against the gateway.

Input: {"base_url": ..., "api_key": ..., "params": {...}, ...}; gives what the caller of the SDK sees. The tests in
anthropic-python*.test.ts judge it.
"""

import asyncio

import anthropic

from scenarios import play


def client(given, **options):
    return anthropic.Anthropic(
        base_url=given["base_url"],
        api_key=given["api_key"],
        **{"max_retries": given.get("max_retries", 0), **options},
    )


def message(given):
    answer = client(given).messages.create(**given["params"])
    return {**answer.model_dump(mode="json"), "request_id": answer._request_id}


def message_async(given):
    async def run():
        options = {"base_url": given["base_url"], "api_key": given["api_key"], "max_retries": 0}
        async with anthropic.AsyncAnthropic(**options) as async_client:
            calls = [
                async_client.messages.create(
                    **{**given["params"], "messages": [{"role": "user", "content": f"number {index}"}]}
                )
                for index in range(8)
            ]
            return [answer.content[0].text for answer in await asyncio.gather(*calls)]

    return {"texts": asyncio.run(run())}


def events(given):
    stream = client(given).messages.create(**given["params"], stream=True)
    return {"events": [event.model_dump(mode="json") for event in stream]}


def final_message(given):
    with client(given).messages.stream(**given["params"]) as stream:
        texts = list(stream.text_stream)
        answer = stream.get_final_message()
    return {**answer.model_dump(mode="json"), "texts": texts}


def tool_round(given):
    """Calls what the model asks for and gives the results back, until it has asked for nothing more."""
    api = client(given)
    messages = list(given["params"]["messages"])
    turns = []
    while True:
        answer = api.messages.create(**{**given["params"], "messages": messages})
        turns.append(answer.model_dump(mode="json"))
        uses = [block for block in answer.content if block.type == "tool_use"]
        if not uses:
            return {"turns": turns}
        messages.append({"role": "assistant", "content": answer.content})
        results = [
            {"type": "tool_result", "tool_use_id": use.id, "content": f"21 °C in {use.input['city']}"}
            for use in uses
        ]
        messages.append({"role": "user", "content": results})


def replay(given):
    """Says one more thing after the first answer, which is sent back as the SDK gave it."""
    api = client(given)
    messages = list(given["params"]["messages"])
    with api.messages.stream(**{**given["params"], "messages": messages}) as stream:
        first = stream.get_final_message()
    messages.append({"role": "assistant", "content": first.content})
    messages.append({"role": "user", "content": "Go on."})
    second = api.messages.create(**{**given["params"], "messages": messages})
    return {"turns": [turn.model_dump(mode="json") for turn in (first, second)]}


def structured(given):
    from pydantic import BaseModel

    class City(BaseModel):
        city: str
        people: int

    api = client(given)
    # Before it was in the API it was a beta.
    messages = api.messages if hasattr(api.messages, "parse") else api.beta.messages
    answer = messages.parse(**given["params"], output_format=City)
    return {"parsed": answer.parsed_output.model_dump()}


def abort(given):
    with client(given).messages.stream(**given["params"]) as stream:
        for text in stream.text_stream:
            return {"first": text}
    return {"first": None}


def count(given):
    return client(given).messages.count_tokens(**given["params"]).model_dump()


def models(given):
    api = client(given)
    return {
        "ids": [model.id for model in api.models.list()],
        "one": api.models.retrieve(given["params"]["model"]).model_dump(mode="json"),
    }


def error(given):
    api = client(given)
    try:
        if given.get("stream"):
            for _ in api.messages.create(**given["params"], stream=True):
                pass
        else:
            api.messages.create(**given["params"])
    except anthropic.APIStatusError as raised:
        return {
            "class": type(raised).__name__,
            "bases": [base.__name__ for base in type(raised).__mro__],
            "status": raised.status_code,
            # Older ones have none of these: their callers read the body.
            "type": getattr(raised, "type", None),
            "error_code": getattr(raised, "error_code", None),
            "api_message": getattr(raised, "api_message", None),
            "request_id": raised.request_id,
            "header": raised.response.headers.get("request-id"),
            "body": raised.body,
        }
    except Exception as raised:
        return {"class": type(raised).__name__, "bases": [base.__name__ for base in type(raised).__mro__]}
    return {"class": None}


SCENARIOS = {
    "message": message,
    "message_async": message_async,
    "events": events,
    "final_message": final_message,
    "tool_round": tool_round,
    "replay": replay,
    "structured": structured,
    "abort": abort,
    "count": count,
    "models": models,
    "error": error,
}

if __name__ == "__main__":
    play(SCENARIOS)

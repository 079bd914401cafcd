"""Scenarios of the official openai package against the gateway: what the caller of the SDK sees, which the test in
openai-python.test.ts and embeddings-python.test.ts judge."""

import asyncio

import openai
import pydantic
from scenarios import play

MESSAGES = [{"role": "user", "content": "hello big world"}]


def client(given, **options):
    return openai.OpenAI(
        base_url=given["base_url"] + "/v1", api_key=given["api_key"], **{"max_retries": 0, **options}
    )


def chat(given):
    completion = client(given).chat.completions.create(model=given["model"], messages=MESSAGES)
    return {**completion.model_dump(), "request_id": completion._request_id}


def chat_async(given):
    async def run():
        options = {"base_url": given["base_url"] + "/v1", "api_key": given["api_key"], "max_retries": 0}
        async with openai.AsyncOpenAI(**options) as async_client:
            calls = [
                async_client.chat.completions.create(
                    model=given["model"], messages=[{"role": "user", "content": f"number {index}"}]
                )
                for index in range(8)
            ]
            return [answer.choices[0].message.content for answer in await asyncio.gather(*calls)]

    return {"contents": asyncio.run(run())}


def stream(given):
    options = {"stream_options": {"include_usage": True}} if given.get("include_usage") else {}
    chunks = client(given).chat.completions.create(
        model=given["model"], messages=MESSAGES, stream=True, **options
    )
    return {"chunks": [chunk.model_dump() for chunk in chunks]}


def passed(given):
    """Any request fields, those that the SDK does not know included."""
    completion = client(given).chat.completions.create(
        model=given["model"],
        messages=given.get("messages", MESSAGES),
        extra_body=given["fields"],
    )
    return completion.model_dump()


def tools(given):
    completion = client(given).chat.completions.create(
        model=given["model"], messages=MESSAGES, tools=given["tools"], tool_choice="auto"
    )
    return completion.model_dump()


def abort(given):
    chunks = client(given).chat.completions.create(model=given["model"], messages=MESSAGES, stream=True)
    first = next(iter(chunks))
    chunks.close()
    return first.model_dump()


def models(given):
    one = client(given).models.retrieve(given["model"])
    return {"ids": [model.id for model in client(given).models.list()], "one": one.model_dump()}


def error(given):
    """The exception of one call, and how many tries the SDK took is for the upstream to count."""
    call = {"model": given["model"], "messages": MESSAGES, **given.get("call", {})}
    api = client(given, max_retries=given.get("max_retries", 0))
    try:
        if given.get("endpoint") == "images":
            api.images.generate(model=given["model"], prompt="hi")
        elif given.get("endpoint") == "embeddings":
            api.embeddings.create(model=given["model"], input="hi")
        elif call.get("stream"):
            for _ in api.chat.completions.create(**call):
                pass
        else:
            api.chat.completions.create(**call)
    except openai.APIError as raised:
        return {
            "class": type(raised).__name__,
            "status": getattr(raised, "status_code", None),
            "type": raised.type,
            "code": raised.code,
            "param": raised.param,
            "message": str(raised),
            "request_id": getattr(raised, "request_id", None),
        }
    return {"class": None}


def retried(given):
    completion = client(given, max_retries=2).chat.completions.create(model=given["model"], messages=MESSAGES)
    return completion.model_dump()


def response(given):
    answer = client(given).responses.create(model=given["model"], **given["fields"])
    return {**answer.model_dump(), "output_text": answer.output_text}


def response_stream(given):
    types = []
    with client(given).responses.stream(model=given["model"], **given["fields"]) as events:
        for event in events:
            types.append(event.type)
        final = events.get_final_response()
    return {"types": types, "response": final.model_dump(), "output_text": final.output_text}


def response_parsed(given):
    class Place(pydantic.BaseModel):
        city: str

    answer = client(given).responses.parse(model=given["model"], input="Where?", text_format=Place)
    return {"parsed": answer.output_parsed.model_dump()}


def response_tool_loop(given):
    items = [{"role": "user", "content": "The weather?"}]
    while True:
        answer = client(given).responses.create(model=given["model"], input=items, tools=given["tools"])
        calls = [item for item in answer.output if item.type == "function_call"]
        items += answer.output
        if not calls:
            return {"output_text": answer.output_text}
        for call in calls:
            items.append({"type": "function_call_output", "call_id": call.call_id, "output": "21 °C"})


def response_failed(given):
    try:
        with client(given).responses.stream(model=given["model"], input="Hi.") as events:
            for _ in events:
                pass
    except openai.APIError as error:
        return {"type": type(error).__name__, "message": error.message, "code": error.code}
    return None


def embeddings(given):
    answer = client(given).embeddings.create(model=given["model"], **given["fields"])
    return answer.model_dump()


def completion(given):
    answer = client(given).completions.create(model=given["model"], **given["fields"])
    return answer.model_dump()


def completion_stream(given):
    fields = {"stream_options": {"include_usage": True}, **given["fields"]}
    chunks = client(given).completions.create(model=given["model"], stream=True, **fields)
    return {"chunks": [chunk.model_dump() for chunk in chunks]}


SCENARIOS = {
    "embeddings": embeddings,
    "completion": completion,
    "completion_stream": completion_stream,
    "chat": chat,
    "chat_async": chat_async,
    "stream": stream,
    "passed": passed,
    "tools": tools,
    "abort": abort,
    "models": models,
    "error": error,
    "retried": retried,
    "response": response,
    "response_stream": response_stream,
    "response_parsed": response_parsed,
    "response_tool_loop": response_tool_loop,
    "response_failed": response_failed,
}


if __name__ == "__main__":
    play(SCENARIOS)

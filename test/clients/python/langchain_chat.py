"""Scenarios of LangChain's two chat models, and of its embeddings, against the gateway.

Input: {"model_class": "ChatAnthropic" | "ChatOpenAI", "base_url": ..., "api_key": ..., "model": ..., "messages": [...],
"options": {...}, ...}; gives what the caller of LangChain sees. The test in langchain-python.test.ts judges it.
"""

import asyncio

from langchain_anthropic import ChatAnthropic
from langchain_core.messages import HumanMessage
from langchain_core.tools import tool
from langchain_openai import ChatOpenAI, OpenAIEmbeddings

from scenarios import play


@tool
def get_weather(city: str, days: list[int] | None = None) -> str:
    """The weather in a city"""
    return f"21 °C in {city}"


def chat_model(given):
    options = {"model": given["model"], "api_key": given["api_key"], "max_retries": given.get("max_retries", 0)}
    if given["model_class"] == "ChatAnthropic":
        return ChatAnthropic(base_url=given["base_url"], max_tokens=10_000, **options, **given.get("options", {}))
    return ChatOpenAI(base_url=given["base_url"] + "/v1", **options, **given.get("options", {}))


def describe(message):
    return {
        "text": message.text if isinstance(message.text, str) else message.text(),
        "content": message.content,
        "tool_calls": message.tool_calls,
        "usage": message.usage_metadata,
        "stop": message.response_metadata.get("stop_reason") or message.response_metadata.get("finish_reason"),
    }


def collect(chunks):
    whole = None
    for chunk in chunks:
        whole = chunk if whole is None else whole + chunk
    return whole


def invoke(given):
    return describe(chat_model(given).invoke(given["messages"]))


def invoke_many(given):
    async def run():
        api = chat_model(given)
        calls = [api.ainvoke([HumanMessage(f"number {index}")]) for index in range(8)]
        return [describe(answer)["text"] for answer in await asyncio.gather(*calls)]

    return asyncio.run(run())


def stream(given):
    api = chat_model(given)
    if given.get("tools"):
        api = api.bind_tools([get_weather])
    return describe(collect(api.stream(given["messages"], **given.get("call", {}))))


def tool_round(given):
    """Calls what the model asks for and gives the results back, until it has asked for nothing more."""
    api = chat_model(given).bind_tools([get_weather], **given.get("bind", {}))
    messages = [HumanMessage("And in Paris and Rome?")]
    turns = []
    while True:
        answer = collect(api.stream(messages)) if given.get("streams") else api.invoke(messages)
        turns.append(describe(answer))
        if not answer.tool_calls:
            return turns
        messages.append(answer)
        messages.extend(get_weather.invoke(call) for call in answer.tool_calls)


def structured(given):
    from pydantic import BaseModel

    class City(BaseModel):
        city: str
        people: int

    api = chat_model(given).with_structured_output(City, method=given["method"])
    return api.invoke(given["messages"]).model_dump()


def abort(given):
    chunks = chat_model(given).stream(given["messages"])
    for chunk in chunks:
        text = describe(chunk)["text"]
        if text:
            chunks.close()
            return text
    return None


def error(given):
    api = chat_model(given)
    try:
        if given.get("streams"):
            collect(api.stream(given["messages"]))
        else:
            api.invoke(given["messages"])
    except Exception as raised:
        return {
            "bases": [base.__name__ for base in type(raised).__mro__],
            "status": getattr(raised, "status_code", None),
            "message": str(raised),
        }
    return None


def embed(given):
    # Without the check no tokenizer is fetched, and texts are sent as they are.
    api = OpenAIEmbeddings(
        base_url=given["base_url"] + "/v1",
        api_key=given["api_key"],
        model=given["model"],
        dimensions=given["dimensions"],
        check_embedding_ctx_length=False,
    )
    return {"documents": api.embed_documents(given["texts"]), "query": api.embed_query(given["texts"][0])}


SCENARIOS = {
    "embed": embed,
    "invoke": invoke,
    "invoke_many": invoke_many,
    "stream": stream,
    "tool_round": tool_round,
    "structured": structured,
    "abort": abort,
    "error": error,
}

if __name__ == "__main__":
    play(SCENARIOS)

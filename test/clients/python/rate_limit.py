"""One call of an official SDK with a key that may be refused, by a limit or a cap: the text or the exception as its
catcher sees it, and the status of each HTTP answer."""

import anthropic
import openai
from scenarios import play

MESSAGES = [{"role": "user", "content": "hello big world"}]


def counting(client_class, statuses):
    return client_class(event_hooks={"response": [lambda response: statuses.append(response.status_code)]})


def call_openai(given, statuses):
    client = openai.OpenAI(
        base_url=given["base_url"] + "/v1",
        api_key=given["api_key"],
        max_retries=given["max_retries"],
        http_client=counting(openai.DefaultHttpxClient, statuses),
    )
    limit = {"max_tokens": given["max_tokens"]} if "max_tokens" in given else {}
    response = client.chat.completions.with_raw_response.create(model=given["model"], messages=MESSAGES, **limit)
    return response.parse().choices[0].message.content, response.headers


def call_anthropic(given, statuses):
    client = anthropic.Anthropic(
        base_url=given["base_url"],
        api_key=given["api_key"],
        max_retries=given["max_retries"],
        http_client=counting(anthropic.DefaultHttpxClient, statuses),
    )
    limit = given.get("max_tokens", 20)
    response = client.messages.with_raw_response.create(model=given["model"], messages=MESSAGES, max_tokens=limit)
    return response.parse().content[0].text, response.headers


def describe(error):
    is_anthropic = isinstance(error, anthropic.APIStatusError)
    return {
        "name": type(error).__name__,
        "status": error.status_code,
        "type": error.type,
        "code": error.error_code if is_anthropic else error.code,
        "message": error.message,
        "requestId": error.request_id,
        # What of the body has no field of its own: openai takes `error` off, anthropic does not.
        "affordable": (error.body["error"] if is_anthropic else error.body).get("affordable_max_tokens"),
    }


def outcome_of(call):
    def run(given):
        statuses = []
        try:
            text, headers = call(given, statuses)
            outcome = {"text": text, "error": None, "shrunkTo": headers.get("x-budget-max-tokens")}
        except (openai.APIStatusError, anthropic.APIStatusError) as error:
            outcome = {"text": None, "error": describe(error)}
        return {**outcome, "statuses": statuses}

    return run


if __name__ == "__main__":
    play({"openai": outcome_of(call_openai), "anthropic": outcome_of(call_anthropic)})

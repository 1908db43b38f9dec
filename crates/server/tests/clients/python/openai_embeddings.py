"""OpenAI's client and embeddings, which it asks for in base64 by default."""

import openai

from task import BASE_URL, KEY, tell

client = openai.OpenAI(base_url=BASE_URL, api_key=KEY, max_retries=0)


def embed(**request) -> list:
    made = client.embeddings.create(**{"model": "embedding", **request})
    assert made.usage.prompt_tokens == made.usage.total_tokens > 0
    return [row.embedding for row in made.data]


def refused(**request) -> list:
    try:
        embed(**request)
    except openai.APIStatusError as error:
        return [type(error).__name__, error.param]
    return ["nothing"]


tell(
    {
        "default": embed(input=["a boat", "a parrot"]),
        "float": embed(input="a boat", encoding_format="float", model="text-embedding-3-small"),
        "tokens": refused(input=[[1, 2, 3]]),
        "unknown": refused(input="a", model="another"),
    }
)

"""The service that teams write first: FastAPI in front of a Redis list per thread."""

import os

import redis.asyncio
from fastapi import FastAPI, Request

app = FastAPI()
server = redis.asyncio.Redis(port=int(os.environ["REDIS_PORT"]), decode_responses=True)


@app.post("/threads/{thread}/turns")
async def append(thread: str, request: Request):
    turn = (await request.body()).decode()
    return {"turns": await server.rpush(f"thread:{thread}", turn)}


@app.get("/threads/{thread}/turns")
async def last(thread: str, last: int = 20):
    return {"turns": await server.lrange(f"thread:{thread}", -last, -1)}

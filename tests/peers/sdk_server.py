"""A server on the official Python SDK: on stdio, or with `http` on HTTP, where its first line of output is its URL."""

import socket
import sys
from typing import Annotated

import anyio
import uvicorn
from mcp.server.mcpserver import Context, Elicit, MCPServer, Resolve
from pydantic import BaseModel

server = MCPServer("python-peer", version="1.2.3", instructions="Be kind.")


class Weather(BaseModel):
    city: str
    celsius: float


class Name(BaseModel):
    name: str


async def ask_for_the_name() -> Elicit[Name]:
    return Elicit("What is your name?", Name)


@server.tool()
def echo(text: str) -> str:
    """Gives the text back."""
    return text


@server.tool()
def weather(city: str) -> Weather:
    """The weather, as structured content."""
    return Weather(city=city, celsius=21.5)


@server.tool()
def fail() -> str:
    """Always fails."""
    raise ValueError("no luck")


@server.tool()
async def count(to: int, ctx: Context) -> str:
    """Counts, and says how far it is."""
    for step in range(to):
        await ctx.report_progress(step + 1, to)
        await anyio.sleep(0.01)
    return f"counted to {to}"


@server.tool()
async def greet(name: Annotated[Name, Resolve(ask_for_the_name)]) -> str:
    """Asks for a name first."""
    return f"Hello, {name.name}!"


@server.resource("peer://about")
def about() -> str:
    """What this is."""
    return "a peer"


@server.prompt()
def review(code: str) -> str:
    """A prompt."""
    return f"Review {code}"


def serve_http() -> None:
    listening = socket.socket()
    listening.bind(("127.0.0.1", 0))
    # Clients that come before the program is ready wait instead of being refused.
    listening.listen()
    print(f"http://127.0.0.1:{listening.getsockname()[1]}/mcp", flush=True)
    config = uvicorn.Config(server.streamable_http_app(), log_level="warning")
    uvicorn.Server(config).run(sockets=[listening])


if sys.argv[1:] == ["http"]:
    serve_http()
else:
    server.run("stdio")

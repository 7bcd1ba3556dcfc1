"""A plain agent for tests: does the steps of its first argument and prints what it got, as JSON.

A step is {"server", "method", "params"}; a list of them is sent at once. With "patience" it gives up after so many
seconds, and with "via": "url" it asks by itself, as curl does. {"exit": 3} and {"hang": true} end it otherwise.
"""

import json
import os
import queue
import subprocess
import sys
import threading
import time
import urllib.error
import urllib.request

with open(os.environ["MCPTEST_MCP_CONFIG"]) as file:
    CONFIG = json.load(file)["mcpServers"]


class Stdio:
    def __init__(self, entry):
        self.process = subprocess.Popen(
            [entry["command"], *entry["args"]],
            env={**os.environ, **entry["env"]},
            stdin=subprocess.PIPE,
            stdout=subprocess.PIPE,
        )
        self.ids, self.answers, self.beside, self.is_over = 0, {}, [], False
        self.lines = queue.Queue()
        threading.Thread(target=self.read, daemon=True).start()
        client = {"protocolVersion": "2025-11-25", "capabilities": {}, "clientInfo": {"name": "plain", "version": "1"}}
        self.ask([{"method": "initialize", "params": client}])
        self.send([{"jsonrpc": "2.0", "method": "notifications/initialized"}])

    def read(self):
        for line in self.process.stdout:
            self.lines.put(line)
        self.lines.put(None)

    def send(self, messages):
        text = "".join(json.dumps(message) + "\n" for message in messages)
        self.process.stdin.write(text.encode())
        self.process.stdin.flush()

    def ask(self, steps, patience=20.0):
        ids = []
        for _ in steps:
            self.ids += 1
            ids.append(self.ids)
        try:
            self.send([
                {"jsonrpc": "2.0", "id": id, "method": step["method"], "params": step.get("params", {})}
                for id, step in zip(ids, steps)
            ])
        except BrokenPipeError:
            self.is_over = True
            return ["closed" for _ in ids]
        until = time.monotonic() + patience
        while not all(id in self.answers for id in ids):
            try:
                line = self.lines.get(timeout=max(0, until - time.monotonic()))
            except queue.Empty:
                for id in ids:
                    if id not in self.answers:
                        params = {"requestId": id, "reason": "too slow"}
                        self.send([{"jsonrpc": "2.0", "method": "notifications/cancelled", "params": params}])
                        self.answers[id] = "gave up"
                break
            if line is None:
                self.is_over = True
                return [self.answers.get(id, "closed") for id in ids]
            try:
                message = json.loads(line)
            except ValueError:
                self.beside.append(line.decode())
                continue
            if message.get("id") in self.answers or "method" in message:
                self.beside.append(message)
            else:
                self.answers[message["id"]] = message.get("result", message.get("error"))
        return [self.answers[id] for id in ids]

    def close(self):
        self.process.stdin.close()
        self.process.wait()


def post(step):
    url = os.environ["MCPTEST_SERVER_" + step["server"].upper() + "_URL"]
    body = {"jsonrpc": "2.0", "id": 1, "method": step["method"], "params": step.get("params", {})}
    request = urllib.request.Request(url, json.dumps(body).encode(), {"Content-Type": "application/json"})
    try:
        with urllib.request.urlopen(request, timeout=step.get("patience", 20)) as response:
            message = json.load(response)
    except (urllib.error.URLError, OSError) as error:
        return type(error).__name__
    return message.get("result", message.get("error"))


def main():
    connections, got = {}, []
    for step in json.loads(sys.argv[1]):
        steps = step if isinstance(step, list) else [step]
        first = steps[0]
        if "exit" in first:
            print("a word before the end", file=sys.stderr)
            sys.exit(first["exit"])
        if "hang" in first:
            time.sleep(600)
        if first.get("via") == "url":
            got += [post(step) for step in steps]
            continue
        server = first["server"]
        connection = connections.get(server)
        if connection is None or connection.is_over:
            connections[server] = connection = Stdio(CONFIG[server])
        got += connection.ask(steps, first.get("patience", 20.0))
        got += [message for message in connection.beside if isinstance(message, str)]
        connection.beside.clear()
    for connection in connections.values():
        connection.close()
    print(json.dumps([len(json.dumps(answer)) for answer in got] if "lengths" in sys.argv else got))


main()

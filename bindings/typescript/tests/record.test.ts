/** The recorders write what the real clients sent and received. */

import assert from "node:assert/strict";
import { execFileSync } from "node:child_process";
import { mkdtempSync, readFileSync, writeFileSync } from "node:fs";
import { createServer } from "node:http";
import type { AddressInfo } from "node:net";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { after, before, test } from "node:test";

import Anthropic from "@anthropic-ai/sdk";
import { HumanMessage, ToolMessage, type BaseMessage } from "@langchain/core/messages";
import { ChatOpenAI } from "@langchain/openai";
import { generateText, stepCountIs, tool, type ModelMessage } from "ai";
import { MockLanguageModelV3 } from "ai/test";
import OpenAI from "openai";
import { z } from "zod";

import { recordTo } from "../src/record.js";

const QUESTION = "Will it rain in Oslo?";
const ANSWER = "Take an umbrella.";
const folder = mkdtempSync(join(tmpdir(), "mcptest-record-"));
const suite = join(folder, "gates.yml");
writeFileSync(suite, "agents: [{ name: weather, golden_path: { calls: [get_weather] } }]");

/** Answers as OpenAI's chat completions: a call, then a message. */
function chat({ messages, model }: { messages: { role: string }[]; model: string }) {
  const isDone = messages.some(({ role }) => role === "tool");
  const call = { id: "call_1", type: "function", function: { name: "get_weather", arguments: "{}" } };
  const message = isDone
    ? { role: "assistant", content: ANSWER }
    : { role: "assistant", content: null, tool_calls: [call] };
  const choice = { index: 0, finish_reason: isDone ? "stop" : "tool_calls", message };
  const usage = { prompt_tokens: 9, completion_tokens: 3, total_tokens: 12 };
  return { id: "chatcmpl-1", object: "chat.completion", created: 1, model, choices: [choice], usage };
}

/** Answers as Anthropic's messages. */
function messages({ messages, model }: { messages: object[]; model: string }) {
  const isDone = messages.length > 1;
  const content = isDone
    ? { type: "text", text: ANSWER }
    : { type: "tool_use", id: "toolu_1", name: "get_weather", input: {} };
  return {
    id: "msg_1",
    type: "message",
    role: "assistant",
    model,
    content: [content],
    stop_reason: isDone ? "end_turn" : "tool_use",
    stop_sequence: null,
    usage: { input_tokens: 9, output_tokens: 3 },
  };
}

const provider = createServer((request, response) => {
  let text = "";
  request.on("data", (chunk: Buffer) => (text += chunk.toString()));
  request.on("end", () => {
    const answer = request.url === "/v1/messages" ? messages : chat;
    response.setHeader("Content-Type", "application/json");
    response.end(JSON.stringify(answer(JSON.parse(text))));
  });
});
let address = "";
before(async () => {
  await new Promise<void>((listening) => provider.listen(0, "127.0.0.1", listening));
  address = `http://127.0.0.1:${(provider.address() as AddressInfo).port}`;
});
after(() => provider.close());

/** Judges the recorded run, which has one call with its result. */
function check(path: string): void {
  const program = process.env["MCPTEST_BINARY"] ?? "mcptest";
  const report = execFileSync(program, ["import", path], { encoding: "utf8" });
  const run = JSON.parse(report.trim().split("\n")[1] ?? "");
  assert.deepEqual(run.trace.tool_calls.map(({ name }: { name: string }) => name), ["get_weather"]);
  assert.equal(run.trace.tool_results.length, 1);
  assert.equal(run.trace.final_response, ANSWER);
  assert.equal(report.trim().split("\n").length, 2, "one run");
  assert.ok(!readFileSync(path, "utf8").includes("secret-key"));
}

test("chat completions of OpenAI", async () => {
  const path = join(folder, "runs", "openai.jsonl");
  const recorder = recordTo(path);
  const client = recorder.openai(new OpenAI({ baseURL: `${address}/v1`, apiKey: "secret-key" }));
  const said: OpenAI.ChatCompletionMessageParam[] = [{ role: "user", content: QUESTION }];
  const { data } = await client.chat.completions.create({ model: "gpt-5", messages: said }).withResponse();
  said.push(data.choices[0]!.message, { role: "tool", tool_call_id: "call_1", content: "rain" });
  await client.chat.completions.create({ model: "gpt-5", messages: said });
  recorder.close();
  check(path);
  assert.ok(!Object.hasOwn(client.chat.completions, "create"));
});

test("messages of Anthropic", async () => {
  const path = join(folder, "anthropic.jsonl");
  const recorder = recordTo(path);
  const client = recorder.anthropic(new Anthropic({ baseURL: address, apiKey: "secret-key" }));
  const said: Anthropic.MessageParam[] = [{ role: "user", content: QUESTION }];
  const request = { model: "claude-opus-4-6", max_tokens: 99 };
  const first = await client.messages.create({ ...request, messages: said });
  said.push({ role: "assistant", content: first.content });
  const result = { type: "tool_result" as const, tool_use_id: "toolu_1", content: "rain" };
  said.push({ role: "user", content: [result] });
  await client.messages.create({ ...request, messages: said });
  recorder.close();
  check(path);
});

test("chat models of LangChain", async () => {
  const path = join(folder, "langchain.jsonl");
  const recorder = recordTo(path);
  const configuration = { baseURL: `${address}/v1` };
  const model = new ChatOpenAI({ model: "gpt-5", apiKey: "secret-key", configuration });
  const said: BaseMessage[] = [new HumanMessage(QUESTION)];
  const options = { callbacks: [recorder.langchain()] };
  said.push(await model.invoke(said, options));
  said.push(new ToolMessage({ content: "rain", tool_call_id: "call_1" }));
  await model.invoke(said, options);
  check(path);
});

test("the Vercel AI SDK", async () => {
  const path = join(folder, "ai-sdk.jsonl");
  const recorder = recordTo(path);
  const usage = {
    inputTokens: { total: 9, noCache: 9, cacheRead: 0, cacheWrite: 0 },
    outputTokens: { total: 3, text: 3, reasoning: 0 },
  };
  const call = { type: "tool-call" as const, toolCallId: "call_1", toolName: "get_weather", input: "{}" };
  const model = new MockLanguageModelV3({
    doGenerate: async ({ prompt }) => {
      const isDone = prompt.some(({ role }) => role === "tool");
      return {
        content: isDone ? [{ type: "text", text: ANSWER }] : [call],
        finishReason: { unified: isDone ? "stop" : "tool-calls", raw: undefined },
        usage,
        warnings: [],
      };
    },
  });
  const said: ModelMessage[] = [{ role: "user", content: QUESTION }];
  const get_weather = tool({ inputSchema: z.object({}), execute: async () => "rain" });
  await generateText({
    model,
    messages: said,
    tools: { get_weather },
    stopWhen: stepCountIs(3),
    onFinish: recorder.aiSdk(said),
  });
  check(path);
});

test("a stream is refused before it is sent", () => {
  const recorder = recordTo(join(folder, "stream.jsonl"));
  const client = recorder.openai(new OpenAI({ baseURL: `${address}/v1`, apiKey: "secret-key" }));
  const stream = { model: "gpt-5", messages: [], stream: true as const };
  assert.throws(() => client.chat.completions.create(stream), /cannot record this stream/);
});

test("a recording is not overwritten", () => {
  recordTo(join(folder, "twice.jsonl"));
  assert.throws(() => recordTo(join(folder, "twice.jsonl")), /EEXIST/);
});

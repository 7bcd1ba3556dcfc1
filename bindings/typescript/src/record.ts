/** Writes the conversations of model clients as traces that mcptest judges. */

import { appendFileSync, mkdirSync, writeFileSync } from "node:fs";
import { basename, dirname, extname } from "node:path";

/** A method that sends a request to a model. */
type Create = (body: never, ...options: never[]) => PromiseLike<unknown>;

/** A part of a client, such as `client.chat.completions`. */
interface Resource {
  create: Create;
}

/** The parts of a client of OpenAI that are recorded. */
interface OpenAIClient {
  chat: { completions: Resource };
  responses: Resource;
}

/** The part of a client of Anthropic that is recorded. */
interface AnthropicClient {
  messages: Resource;
}

/** The end of `generateText` and `streamText`, as the Vercel AI SDK passes it to `onFinish`. */
interface Finished {
  response: object;
  responseMessages?: unknown;
  usage?: unknown;
  totalUsage?: unknown;
  finishReason?: unknown;
}

/** A message of LangChain. */
interface LangChainMessage {
  toJSON(): unknown;
}

/** An answer of a chat model of LangChain. */
interface LangChainResult {
  generations: { text: string; generationInfo?: unknown; message?: LangChainMessage }[][];
}

/** The callbacks that LangChain calls around each request to a chat model. */
export interface LangChainCallbacks {
  name: string;
  handleChatModelStart(
    model: unknown,
    messages: LangChainMessage[][],
    run: string,
    parent?: string,
    extra?: Record<string, unknown>,
  ): void;
  handleLLMEnd(result: LangChainResult, run: string): void;
  handleLLMError(error: unknown, run: string): void;
}

const STREAMED = "the recorder cannot record this stream; call the client without `stream: true`";

/** Returns a recorder that writes a run to a new file. A file that exists is an error. */
export function recordTo(path: string): Recorder {
  return new Recorder(path);
}

/** Writes the conversations of clients to a file, a line for each request with its response. */
export class Recorder {
  readonly path: string;
  readonly #restore: (() => void)[] = [];

  constructor(path: string) {
    this.path = path;
    mkdirSync(dirname(path), { recursive: true });
    writeFileSync(path, "", { flag: "wx" });
  }

  /** Writes a line. */
  write(record: object): void {
    appendFileSync(this.path, `${JSON.stringify(record)}\n`);
  }

  /** Restores the methods of the clients. */
  close(): void {
    for (const restore of this.#restore.splice(0)) restore();
  }

  /** Records the chat completions and responses of a client of OpenAI. */
  openai<Client extends OpenAIClient>(client: Client): Client {
    this.#wrap(client.chat.completions);
    this.#wrap(client.responses);
    return client;
  }

  /** Records the messages of a client of Anthropic. */
  anthropic<Client extends AnthropicClient>(client: Client): Client {
    this.#wrap(client.messages);
    return client;
  }

  /**
   * Returns the callback `onFinish` of `generateText` and `streamText` of the Vercel AI SDK, for the
   * messages that these functions receive.
   */
  aiSdk(messages: readonly object[]): (event: Finished) => void {
    return (event) => {
      const { response, responseMessages, usage, totalUsage, finishReason } = event;
      this.write({ messages, response, responseMessages, usage, totalUsage, finishReason });
    };
  }

  /** Returns callbacks of LangChain: `agent.invoke(input, { callbacks: [recorder.langchain()] })`. */
  langchain(): LangChainCallbacks {
    const trace = basename(this.path, extname(this.path));
    const begun = new Map<string, object>();
    let count = 0;
    const end = (run: string, outcome: object) => {
      const start = begun.get(run);
      begun.delete(run);
      if (start) this.write({ ...start, ...outcome });
    };
    return {
      name: "mcptest",
      handleChatModelStart: (_model, messages, run, _parent, extra) => {
        count += 1;
        begun.set(run, {
          id: run,
          trace_id: trace,
          run_type: "llm",
          name: "chat model",
          dotted_order: `${trace}.${String(count).padStart(8, "0")}`,
          extra: { invocation_params: extra?.["invocation_params"] ?? {} },
          inputs: { messages: messages.map((one) => one.map((message) => message.toJSON())) },
        });
      },
      handleLLMEnd: (result, run) => {
        const generations = result.generations.map((answers) =>
          answers.map(({ text, generationInfo, message }) => ({
            text,
            generation_info: generationInfo,
            message: message?.toJSON(),
          })),
        );
        end(run, { outputs: { generations } });
      },
      handleLLMError: (error, run) => end(run, { error: String(error) }),
    };
  }

  /** Records what the method `create` of a part of a client sends and receives. */
  #wrap(resource: Resource): void {
    const create: Create = resource.create;
    resource.create = (body, ...options) => {
      const request: { stream?: boolean } = body;
      if (request.stream) throw new Error(STREAMED);
      const pending = create.call(resource, body, ...options);
      // The client's own promise is returned, with its further methods. This handler runs first.
      pending.then(
        (response) => this.write({ request, response }),
        () => undefined,
      );
      return pending;
    };
    this.#restore.push(() => delete (resource as Partial<Resource>).create);
  }
}

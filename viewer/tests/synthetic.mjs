// A big suite with its recordings: the same one for the same numbers.
import { mkdirSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';

const MODELS = ['claude-sonnet-4-5', 'gpt-5', 'gpt-5-mini', 'gemini-2.5-pro'];
const TOOLS = ['search', 'open_page', 'list_invoices', 'get_invoice', 'add_label', 'assign', 'close_issue', 'send_reply'];
const WORDS = 'the order was found and its invoice is paid so nothing else has to be done for this customer today'.split(' ');

/** Numbers that look random and are not. */
function dice(seed) {
  let state = seed;
  return (sides) => {
    state = (state * 1103515245 + 12345) % 2147483648;
    // The low digits of such a state repeat soon.
    return Math.floor(state / 65536) % sides;
  };
}

function trace(roll, path) {
  const calls = roll(5) ? path : [...path.slice(0, 1), TOOLS[roll(TOOLS.length)], ...path.slice(1)];
  const say = (count) => Array.from({ length: count }, () => WORDS[roll(WORDS.length)]).join(' ');
  const turns = calls.map((_, at) => ({ role: 'assistant', content: say(12), start_ms: at * 900, duration_ms: 700, tokens: { prompt: 900 + roll(900), completion: 40 + roll(60), total: 1000 } }));
  return {
    tool_calls: calls.map((name, turn) => ({ name, server: 'shop', args: { id: roll(1000), query: say(4) }, turn })),
    tool_results: calls.map((_, at) => ({ call_index: at, is_error: !roll(12), content: [{ type: 'text', text: say(40) }], start_ms: at * 900 + 700, duration_ms: 150 })),
    final_response: say(25),
    stop_reason: 'end_turn',
    conversation: { turns: [{ role: 'user', content: say(15) }, ...turns, { role: 'assistant', content: say(25) }], tokens: { prompt: 4000 + roll(4000), completion: 300 + roll(300), total: 6000 + roll(3000) }, cost_usd: roll(1000) / 50000, duration_ms: 3000 + roll(9000) },
  };
}

/** Writes `tests` tests of `runs` runs each, four models to an agent; about a third fails. */
export function write(home, tests, runs) {
  mkdirSync(join(home, 'traces'), { recursive: true });
  const agents = Array.from({ length: tests / MODELS.length }, (_, at) => {
    const roll = dice(at + 1);
    const first = roll(TOOLS.length);
    const path = Array.from({ length: 2 + roll(4) }, (_, step) => TOOLS[(first + step) % TOOLS.length]);
    for (const model of MODELS) {
      const lines = Array.from({ length: runs }, () => JSON.stringify(trace(roll, path)));
      writeFileSync(join(home, `traces/${at}-${model}.jsonl`), `${lines.join('\n')}\n`);
    }
    return {
      name: `${WORDS[roll(WORDS.length)]} ${WORDS[roll(WORDS.length)]} ${path[0]} ${at}`,
      models: MODELS,
      servers: ['shop'],
      tags: [['nightly', 'smoke', 'docs'][roll(3)]],
      runs,
      cassette: `traces/${at}-{model}.jsonl`,
      golden_path: { calls: path, expect: [{ target: 'golden_path.extra_steps', matcher: { lte: roll(3) ? 20 : 0 } }] },
      stability: { expect: [{ target: 'stability.tool_sequence_similarity', matcher: { gte: 0.5 } }] },
    };
  });
  writeFileSync(join(home, 'mcptest.yml'), JSON.stringify({ servers: { shop: { command: ['shop'] } }, agents }));
}

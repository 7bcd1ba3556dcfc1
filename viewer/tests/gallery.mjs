// A report with bad evidence of every kind, by the schema: the examples are good.
const gate = (key, targets, expectation, evidence, more = {}) => ({
  key,
  status: 'failed',
  not_exercised: null,
  targets,
  expectations: [{ target: expectation[0], matcher: expectation[1], passed: false, actual: targets[expectation[0]], diff: [] }],
  explanation: [],
  ...(evidence ? { evidence: { kind: key, ...evidence } } : {}),
  ...more,
});

const about = (targets, unit, range, better) => Object.fromEntries(targets.map((name) => [name, { doc: `What ${name} says, in one line.`, unit, range, better, anchor: `reference/${name.split('.')[0]}.md#${name.replace('.', '-')}` }]));
const similarity = (count) => Array.from({ length: count }, (_, row) => Array.from({ length: row }, (_, column) => (row === 6 && column === 2 ? null : ((row * 7 + column * 5) % 11) / 10)));
const curve = Array.from({ length: 10 }, (_, at) => ({ k: at + 1, power: 0.8 ** (at + 1), low: 0.49 ** (at + 1), high: 0.94 ** (at + 1), unbiased: at < 8 ? Math.max(0, 0.8 - at * 0.11) : null }));
const points = [[0, 1, 0.72], [4, 1, 0.72], [8, 0.9, 0.6], [16, 0.7, 0.4]].map(([count, accuracy, low]) => ({ count, correct: accuracy * 10, runs: 10, accuracy, low, high: Math.min(1, low + 0.35) }));
const TEXT = 'I looked up issue 311, added the label “flaky” 🏷️ and closed the duplicate. I did not delete anything, and the owner was told.';
const claim = (words, verdict, calls, ground) => {
  const start = [...TEXT.slice(0, TEXT.indexOf(words))].length;
  return { start, end: start + [...words].length, verdict, calls, ground };
};

const GATES = [
  gate('trajectory_axes', { 'trajectory_axes.order': 0.5 }, ['trajectory_axes.order', { gte: 1 }], {
    runs: [{ run: 2, calls: ['search', 'reply', 'open_page', 'cite'], order: [{ before: 'search', after: 'open_page', before_call: 1, after_call: 3, held: true }, { before: 'cite', after: 'reply', before_call: 4, after_call: 2, held: false }], data: [{ from: 'search', to: 'open_page', from_call: 1, to_call: 3, held: true }, { from: 'open_page', to: 'cite', from_call: 3, to_call: 4, held: false, what: 'the quote is not in the result' }] }],
  }),
  gate('golden_path', { 'golden_path.coverage': 0.67, 'golden_path.extra_steps': 3 }, ['golden_path.coverage', { gte: 1 }], {
    path: ['get_issue', 'add_label', 'assign'],
    runs: [{ run: 2, calls: [{ number: 1, tool: 'list_issues', detour: true }, { number: 2, tool: 'get_issue', step: 1, detour: false }, { number: 3, tool: 'search_issues', detour: true }, { number: 4, tool: 'search_issues', detour: true }, { number: 5, tool: 'add_label', step: 2, detour: false }], missed: [3] }, { run: 1, calls: [{ number: 1, tool: 'get_issue', step: 1, detour: false }], missed: [2, 3] }],
    left_out: 4,
  }),
  gate('stability', { 'stability.tool_sequence_similarity': 0.53, 'stability.weakest_score': 0.23 }, ['stability.tool_sequence_similarity', { gte: 0.6 }], {
    runs: Array.from({ length: 10 }, (_, at) => at + 1),
    similarity: similarity(10),
    mean: 0.53,
    dimensions: [{ name: 'tool_sequence_similarity', value: 0.53, low: 0.2, high: 1 }, { name: 'argument_consistency', value: 0 }, { name: 'response_consistency', value: 0.23, low: 0.1, high: 0.6 }],
  }),
  gate('reliability', { 'reliability.pass_rate': 0.8, 'reliability.pass_rate_lower': 0.49 }, ['reliability.pass_rate_lower', { gte: 0.7 }], { runs: 10, passed: 8, curve }),
  gate('recovery', { 'recovery.recovered': 0.5 }, ['recovery.recovered', { gte: 1 }], {
    runs: [{ run: 3, encounters: [{ fault: 'hung-search', kind: 'hang', call: 1, at_ms: 0, wait_ms: 3000, detected: true, detected_ms: 3000, recovered_ms: 6200, recovered_by_call: 2, limit_ms: 5000, outcome: 'recovery_too_slow' }] }, { run: 1, encounters: [{ fault: 'hung-search', kind: 'hang', call: 1, at_ms: 0, wait_ms: 3000, detected: true, detected_ms: 3000, recovered_ms: 3900, recovered_by_call: 2, limit_ms: 5000, outcome: 'recovered' }, { call: 4, at_ms: 5000, wait_ms: 200, detected: true, detected_ms: 200, outcome: 'not_recovered' }] }],
  }),
  gate('narrative', { 'narrative.claimed_but_absent': 1 }, ['narrative.claimed_but_absent', { lte: 0 }], {
    runs: [{ run: 1, text: TEXT, claims: [claim('looked up issue 311', 'supported', [1], 'get_issue'), claim('added the label “flaky”', 'failed', [2], 'add_label failed'), claim('closed the duplicate', 'absent', [], 'no call closes an issue'), claim('did not delete anything', 'denied', [4], 'delete_comment'), claim('the owner was told', 'unverified', [], 'no rule')], unmentioned: [{ number: 3, tool: 'search_issues' }] }],
  }),
  gate('tool_edges', { 'tool_edges.violations': 1 }, ['tool_edges.violations', { lte: 0 }], {
    edges: [{ caller: 'planner', tool: 'list_deploys', calls: 5, restricted: false, failed: false }, { caller: 'planner', tool: 'delete_service', calls: 1, restricted: true, failed: true }, { caller: 'worker', tool: 'rollback', calls: 2, restricted: false, failed: false }],
    handoffs: [{ from: 'planner', to: 'worker', count: 2, declared: true }],
  }),
  gate('fault_matrix', { 'fault_matrix.survived': 3 }, ['fault_matrix.survived', { gte: 4 }], {
    tools: ['find_table', 'book_table'],
    faults: ['hang', 'error', 'slow:250'],
    cells: [{ tool: 'find_table', fault: 'hang', runs: 3, met: 3, recovered: 3, status: 'survived' }, { tool: 'find_table', fault: 'error', runs: 3, met: 3, recovered: 3, status: 'survived' }, { tool: 'find_table', fault: 'slow:250', runs: 3, met: 0, recovered: 0, status: 'unmet' }, { tool: 'book_table', fault: 'hang', runs: 3, met: 3, recovered: 1, status: 'lost' }, { tool: 'book_table', fault: 'error', runs: 3, met: 3, recovered: 3, status: 'survived' }],
  }),
  gate('token_efficiency', { 'token_efficiency.surface_tokens': 420 }, ['token_efficiency.surface_tokens', { lte: 300 }], {
    runs: [{ run: 1, surface: 420, prompt: 1700, completion: 140, total: 1840 }, { run: 2, surface: 420, prompt: 1100, completion: 90, total: 1190 }],
    limits: [{ target: 'token_efficiency.surface_tokens', most: 300 }],
  }),
  gate('tool_selection', { 'tool_selection.f1': 0.82 }, ['tool_selection.f1', { gte: 0.9 }], { tools: [{ name: 'get_alert', right: 9, missed: 0, extra: 0 }, { name: 'page_team', right: 0, missed: 1, extra: 0 }, { name: 'list_users', right: 0, missed: 0, extra: 2 }] }),
  gate('ablate', { 'ablate.useless': 1 }, ['ablate.useless', { lte: 0 }], { rows: [{ tool: 'get_weather', runs: 4, passed: 0, drop: 100, low: 51, high: 100 }, { tool: 'search_web', runs: 4, passed: 4, drop: 0, low: -45, high: 45, instead: 'get_forecast' }] }),
  gate('scenario', { 'scenario.passed': 0 }, ['scenario.passed', { gte: 1 }], {
    runs: [{ run: 1, before: { orders: { 7: { state: 'paid' } } }, after: { orders: { 7: { state: 'refunded' } } }, expected: { orders: { 7: { state: 'paid' } } }, left_at_call: 2, differences: [{ pointer: '/orders/7/state', expected: 'paid', actual: 'refunded' }] }],
  }),
  gate('tool_quality', { 'tool_quality.errors': 1 }, ['tool_quality.errors', { lte: 0 }], { tools: [{ server: 'weather', tool: 'get', rule: 'vague-name', level: 'error', message: '`get` says nothing of what it gets' }] }),
];

const run = (index, status = 'passed') => ({ index, status, tool_names: ['search', 'open_page', 'cite', 'reply'], calls: 4, turns: 5, tokens: { prompt: 1700, completion: 140, total: 1840 }, cost_usd: 0.0042, duration_ms: 5200, stop_reason: 'end_turn', expectations: [] });
const id = (at) => at.toString(16).padStart(10, '0');

function test(at, name, gates, more = {}) {
  return { id: id(at), name, suite: { file: 'gallery.yml', line: at }, model: 'claude-sonnet-4-5', status: 'failed', rerun: `mcptest run gallery.yml --filter '${name}'`, runs: Array.from({ length: 10 }, (_, at) => run(at + 1)), gates, ...more };
}

const sweep = points.map((point, at) => test(50 + at, 'keeps its head in a crowd', [gate('distractors', { 'distractors.accuracy': point.accuracy }, ['distractors.accuracy', { gte: 0.8 }], { points: [point], floor: point.low, asked_floor: 0.75 })], { variant: `${point.count} distractors` }));
const tests = [...GATES.map((one, at) => test(at + 1, `fails ${one.key}`, [one])), ...sweep];
const definitions = Object.fromEntries([...new Set(tests.flatMap((one) => one.gates))].map((one) => {
  const isCount = Object.values(one.targets).some((value) => value > 1);
  return [one.key, { summary: `What ${one.key} asks.`, doc_anchor: `reference/${one.key}.md`, targets: about(Object.keys(one.targets), isCount ? 'count' : 'ratio', [0, isCount ? null : 1], 'high') }];
}));

export const gallery = {
  schema_version: 1,
  version: '0.0.0',
  command: 'mcptest run gallery.yml',
  gates: definitions,
  summary: { tests: tests.length, passed: 0, failed: tests.length, errors: 0, skipped: 0, runs: tests.length * 10, gates: tests.length, not_exercised: 0 },
  tests,
};

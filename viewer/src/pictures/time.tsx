// Virtual time until a failure was got over, and where the tokens go.
import type { Row } from '../data';
import { short, time } from '../format';
import { bare, definitionOf, linkTo } from '../parts';
import { Text } from '../text';
import type { Evidence } from './kinds';

type Encounter = Evidence<'recovery'>['runs'][number]['encounters'][number];
const [LEFT, WIDE] = [8, 460];

/** From the call on: the wait hatched, the way around it solid, the limit dotted. */
function Bar({ of, most }: { of: Encounter; most: number }) {
  const x = (ms: number) => LEFT + (WIDE * ms) / most;
  const end = of.recovered_ms ?? of.detected_ms ?? of.wait_ms;
  const told = of.detected_ms ?? of.wait_ms;
  return (
    <svg class="recovery" viewBox={`0 0 ${WIDE + 20} 52`} role="img" aria-label={`${of.outcome}: told after ${time(of.detected_ms)}, recovered after ${time(of.recovered_ms)}, at most ${time(of.limit_ms)}`} data-wait={of.wait_ms} data-recovered={of.recovered_ms ?? ''}>
      <defs><pattern id="hatch" width="6" height="6" patternUnits="userSpaceOnUse" patternTransform="rotate(45)"><rect width="3" height="6" /></pattern></defs>
      <rect class="base" x={LEFT} y="16" width={WIDE} height="14" />
      <rect class="wait" x={x(0)} y="16" width={Math.max(1, x(of.wait_ms) - x(0))} height="14" fill="url(#hatch)" />
      {end > of.wait_ms && <rect class="around" x={x(of.wait_ms)} y="16" width={x(end) - x(of.wait_ms)} height="14" />}
      {of.detected && <g><line x1={x(told)} x2={x(told)} y1="12" y2="34" /><text x={x(told)} y="9" text-anchor={told > most / 2 ? 'end' : 'start'}>told {time(told)}</text></g>}
      {of.recovered_ms != null && <g><line x1={x(of.recovered_ms)} x2={x(of.recovered_ms)} y1="12" y2="34" /><text x={x(of.recovered_ms)} y="45" text-anchor={of.recovered_ms > most / 2 ? 'end' : 'start'}>recovered {time(of.recovered_ms)}</text></g>}
      {of.limit_ms != null && <g class="limit"><line x1={x(of.limit_ms)} x2={x(of.limit_ms)} y1="8" y2="38" /><text x={x(of.limit_ms) - 3} y="45" text-anchor="end">{of.recovered_ms != null && Math.abs(x(of.limit_ms) - x(of.recovered_ms)) < 130 ? '' : `≤ ${time(of.limit_ms)}`}</text></g>}
    </svg>
  );
}

export function Recovery({ row, of }: { row: Row; of: Evidence<'recovery'> }) {
  const all = of.runs.flatMap((run) => run.encounters.map((encounter) => ({ run: run.run, encounter })));
  const most = Math.max(1, ...all.flatMap(({ encounter }) => [encounter.recovered_ms ?? 0, encounter.limit_ms ?? 0, encounter.wait_ms, encounter.detected_ms ?? 0]));
  return (
    <>
      {all.slice(0, 20).map(({ run, encounter }, at) => (
        <section key={at} data-outcome={encounter.outcome}>
          <h3><a href={linkTo(row, run, encounter.call)}>run {run}, call {encounter.call}</a> <Text of={[encounter.kind, encounter.fault].filter(Boolean).join(' ')} /> <span class={encounter.outcome === 'recovered' || encounter.outcome === 'gave_up' ? 'good' : 'bad'}>{encounter.outcome.replaceAll('_', ' ')}</span>{encounter.recovered_by_call && <> by <a href={linkTo(row, run, encounter.recovered_by_call)}>call {encounter.recovered_by_call}</a></>}</h3>
          <Bar of={encounter} most={most} />
        </section>
      ))}
      <p class="legend">Virtual time from the call on. Hatched: the agent waits. Solid: it works around the failure. Dotted: the limit.</p>
    </>
  );
}

/** One bar per run: tools offered, the rest of the prompt, what was written; a limit on its own part. */
export function TokenEfficiency({ row, of }: { row: Row; of: Evidence<'token_efficiency'> }) {
  const most = Math.max(1, ...of.runs.map((run) => run.total ?? (run.prompt ?? 0) + (run.completion ?? 0)), ...of.runs.map((run) => run.surface ?? 0));
  const x = (tokens: number) => 60 + (360 * tokens) / most;
  const limits = of.limits.filter((limit) => definitionOf(of.kind, limit.target)?.unit === 'tokens' && limit.most <= most);
  return (
    <>
      <svg class="tokens" viewBox={`0 0 500 ${of.runs.length * 26 + 8}`} width="500" role="group" aria-label="Tokens of each run">
        {of.runs.map((run, at) => {
          const surface = Math.min(run.surface ?? 0, run.prompt ?? run.surface ?? 0);
          const prompt = Math.max(run.prompt ?? 0, surface);
          return (
            <g key={run.run} data-run={run.run} data-total={run.total ?? ''}>
              <title>{`run ${run.run}: ${short(run.surface)} of tools offered, ${short(run.prompt)} read, ${short(run.completion)} written`}</title>
              <a href={linkTo(row, run.run)}><text x="4" y={at * 26 + 18}>run {run.run}</text></a>
              <rect class="surface" x={x(0)} y={at * 26 + 6} width={x(surface) - x(0)} height="16" />
              <rect class="prompt" x={x(surface)} y={at * 26 + 6} width={x(prompt) - x(surface)} height="16" />
              <rect class="completion" x={x(prompt)} y={at * 26 + 6} width={x(run.completion ?? 0) - x(0)} height="16" />
              <text x={x(prompt + (run.completion ?? 0)) + 6} y={at * 26 + 18}>{short(run.total)}</text>
            </g>
          );
        })}
        {limits.map((limit) => <g key={limit.target} class="limit"><title>{`${limit.target} ≤ ${short(limit.most)}`}</title><line x1={x(limit.most)} x2={x(limit.most)} y1="0" y2={of.runs.length * 26 + 6} /></g>)}
      </svg>
      <p class="legend"><span class="key surface" /> tools offered <span class="key prompt" /> rest of the prompt <span class="key completion" /> written{limits.map((limit) => <span key={limit.target}> · dotted: <Text of={bare(of.kind, limit.target)} /> ≤ {short(limit.most)}</span>)}</p>
    </>
  );
}

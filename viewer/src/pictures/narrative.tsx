// The closing message with what each claim rests on.
import type { Row } from '../data';
import { linkTo } from '../parts';
import { Text } from '../text';
import { Picker } from './picker';
import type { Evidence } from './kinds';

type Run = Evidence<'narrative'>['runs'][number];
type Claim = Run['claims'][number];

const SIGNS: Record<Claim['verdict'], string> = { supported: '✓', failed: '✗', absent: '✗', unverified: '?', denied: '✗' };
const WORDS: Record<Claim['verdict'], string> = { supported: 'a call did it', failed: 'its call failed', absent: 'no call did it', unverified: 'the calls neither show nor refute it', denied: 'it denies what a call did' };

function Marked({ row, run, claim, text }: { row: Row; run: Run; claim: Claim; text: string }) {
  const marks = claim.calls.length ? claim.calls.join(',') : SIGNS[claim.verdict];
  const body = <><Text of={text} /><sup>{marks}</sup><span class="tip" role="tooltip">{WORDS[claim.verdict]}: <Text of={claim.ground} /></span></>;
  const properties = { class: `claim ${claim.verdict}`, 'data-verdict': claim.verdict };
  return claim.calls.length ? <a {...properties} href={linkTo(row, run.run, claim.calls[0])}>{body}</a> : <span {...properties} tabIndex={0}>{body}</span>;
}

/** The text in pieces: claims, and what is between them. Offsets count code points. */
function pieces(run: Run): { text: string; claim?: Claim }[] {
  const points = [...run.text];
  const out: { text: string; claim?: Claim }[] = [];
  let from = 0;
  for (const claim of run.claims.toSorted((one, other) => one.start - other.start)) {
    // A claim within another claim appears only in the list.
    if (claim.start < from) continue;
    out.push({ text: points.slice(from, claim.start).join('') }, { text: points.slice(claim.start, claim.end).join(''), claim });
    from = claim.end;
  }
  return [...out, { text: points.slice(from).join('') }];
}

export const Narrative = ({ row, of }: { row: Row; of: Evidence<'narrative'> }) => (
  <Picker items={of.runs} label={(run) => run.run} leftOut={of.left_out}>
    {(run) => (
      <>
        <p class="closing">{pieces(run).map((piece, at) => (piece.claim ? <Marked key={at} row={row} run={run} claim={piece.claim} text={piece.text} /> : <Text key={at} of={piece.text} />))}</p>
        {run.claims.length > 0 && (
          <ul class="rules">
            {run.claims.map((claim, at) => (
              <li key={at} class={['supported', 'unverified'].includes(claim.verdict) ? 'held' : 'broken'}>
                {SIGNS[claim.verdict]} {WORDS[claim.verdict]}{claim.calls.map((call) => <> <a key={call} href={linkTo(row, run.run, call)} aria-label={`call ${call}`}>→ {call}</a></>)} <span class="dim"><Text of={claim.ground} code /></span>
              </li>
            ))}
          </ul>
        )}
        {run.unmentioned.length > 0 && <p>Never mentioned: {run.unmentioned.map((call, at) => <span key={call.number}>{at > 0 && ', '}<a class="mono" href={linkTo(row, run.run, call.number)} data-unmentioned={call.number}>{call.number} <Text of={call.tool} /></a></span>)}</p>}
        <p class="legend">Run {run.run}. Solid: a call did it. Wavy: none did, it failed, or it is denied. Dotted: neither shown nor refuted.</p>
      </>
    )}
  </Picker>
);

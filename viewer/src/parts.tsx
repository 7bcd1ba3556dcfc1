// Small parts that several pages show.
import { useLayoutEffect, useRef, useState } from 'preact/hooks';
import { type ComponentChildren, Fragment } from 'preact';
import { type Row, type RunState, report, rows } from './data';
import { badges } from './format';
import type { Gate, Status } from './model';
import { to } from './route';

const SHAPES: Record<string, string> = {
  passed: 'M2.5 7.5l3 3 6-7',
  failed: 'M3 3l8 8M11 3l-8 8',
  error: 'M7 2.5v6M7 11v1',
  skipped: 'M3 7h8',
  none: 'M7 3a4 4 0 1 0 .01 0z',
  work: 'M7 3a4 4 0 1 0 .01 0z',
  waiting: 'M7 3a4 4 0 1 0 .01 0z',
};
const WORDS: Record<string, string> = { passed: 'passed', failed: 'failed', error: 'error', skipped: 'skipped', none: 'not exercised', work: 'being recorded', waiting: 'waits to be recorded', 'failed-by-gate': 'failed by a gate' };

/** The mark of a status: never colour alone. */
export const Mark = ({ of, large }: { of: Status | 'none' | 'work' | 'waiting'; large?: boolean }) => (
  <svg class={`mark ${of}`} viewBox="0 0 14 14" width={large ? 18 : 14} height={large ? 18 : 14} role="img" aria-label={WORDS[of]}>
    <path d={SHAPES[of]} />
  </svg>
);

/** A run that is judged, is recorded but not judged, or is still to come. */
export type StripState = RunState | 'recorded' | 'waiting';
const isShort = (state: StripState) => state === 'passed' || state === 'recorded' || state === 'waiting';

/** Many runs at a glance: short passed, tall failed, tall and pale failed by a gate. */
export function Strip({ states }: { states: StripState[] }) {
  if (!states.length) return <span class="dim">–</span>;
  const wide = Math.max(1.5, Math.min(6, 96 / states.length - 1));
  const step = wide + (states.length > 40 ? 0.5 : 1);
  const count = (wanted: StripState) => states.filter((state) => state === wanted).length;
  const [passed, waiting] = [count('passed'), count('waiting')];
  const isOpen = waiting + count('recorded') > 0;
  return (
    <svg class="strip" width={Math.ceil(states.length * step)} height="16" role="img" aria-label={isOpen ? `${states.length - waiting} of ${states.length} runs recorded` : `${passed} of ${states.length} runs passed`}>
      {states.map((state, at) => (
        <rect key={at} class={state} x={at * step} width={wide} y={isShort(state) ? 5 : 1} height={isShort(state) ? 7 : 14} />
      ))}
    </svg>
  );
}

let letters: Map<string, string> | undefined;
export const gateLetters = () => (letters ??= badges(rows.flatMap((row) => row.test.gates.map((gate) => gate.key))));

export const stateOfGate = (gate: Gate): Status | 'none' => (gate.not_exercised && gate.status === 'passed' ? 'none' : gate.status);

export const Badges = ({ gates }: { gates: Gate[] }) => (
  <span class="badges">
    {gates.map((gate) => (
      <abbr key={gate.key} class={`badge ${stateOfGate(gate)}`} title={`${gate.key}: ${WORDS[stateOfGate(gate)]}`}>
        {gateLetters().get(gate.key)}
      </abbr>
    ))}
  </span>
);

/** What the report says of a number: its definition, unit and range. */
export function definitionOf(gate: string, target: string) {
  const targets = report.gates?.[gate]?.targets ?? {};
  return targets[target] ?? targets[target.slice(gate.length + 1)];
}

export const bare = (gate: string, target: string) => (target.startsWith(`${gate}.`) ? target.slice(gate.length + 1) : target);

/** A number that leads to the paragraph that defines it. */
export function Defined({ gate, target, children }: { gate: string; target: string; children: ComponentChildren }) {
  const found = definitionOf(gate, target);
  if (!found) return <>{children}</>;
  return (
    <a class="defined" href={to('doc', gate, bare(gate, target))}>
      {children}
      <span class="tip" role="tooltip">{found.doc}</span>
    </a>
  );
}

const ROW = 34;
/** Rows that are made above and below those in view. */
const SPARE = 4;

/** A list of rows of one height, of which only those in view are made. After a jump the elements that are there show other rows: new ones would take twice as long. */
export function List<T>({ items, label, head, selected, render }: { items: T[]; label: string; head: ComponentChildren; selected: number; render: (item: T, at: number) => ComponentChildren }) {
  const box = useRef<HTMLDivElement>(null);
  const [view, setView] = useState({ top: 0, height: 900, jumped: 0 });
  useLayoutEffect(() => {
    const element = box.current!;
    const read = () => setView((old) => {
      const [top, height] = [Math.floor(element.scrollTop / ROW), element.clientHeight];
      if (old.top === top && old.height === height) return old;
      const isJump = Math.abs(top - old.top) * ROW * 2 > height;
      // The link that has the focus would be that of another row.
      if (isJump && element.contains(document.activeElement)) element.focus({ preventScroll: true });
      return { top, height, jumped: old.jumped + (isJump ? top - old.top : 0) };
    });
    read();
    element.addEventListener('scroll', read, { passive: true });
    const watch = new ResizeObserver(read);
    watch.observe(element);
    return () => {
      element.removeEventListener('scroll', read);
      watch.disconnect();
    };
  }, []);
  useLayoutEffect(() => {
    const element = box.current!;
    if (selected < 0) return;
    const [top, below] = [selected * ROW, (selected + 2) * ROW];
    if (top < element.scrollTop) element.scrollTop = top;
    else if (below > element.scrollTop + element.clientHeight) element.scrollTop = below - element.clientHeight;
  }, [selected]);
  const first = Math.max(0, view.top - SPARE);
  const last = Math.min(items.length, view.top + Math.ceil(view.height / ROW) + SPARE);
  return (
    <div class="list" ref={box} tabIndex={0} role="table" aria-label={label} aria-rowcount={items.length + 1}>
      {head}
      <div role="rowgroup" style={{ height: `${items.length * ROW}px` }}>
        <div class="window" role="presentation" style={{ transform: `translateY(${first * ROW}px)` }}>
          {items.slice(first, last).map((item, at) => <Fragment key={first + at - view.jumped}>{render(item, first + at)}</Fragment>)}
        </div>
      </div>
    </div>
  );
}

export function Copy({ text }: { text: string }) {
  const [done, setDone] = useState(false);
  const copy = () => {
    const mark = () => { setDone(true); setTimeout(() => setDone(false), 1500); };
    const byHand = () => {
      const area = Object.assign(document.createElement('textarea'), { value: text });
      document.body.append(area);
      area.select();
      document.execCommand('copy');
      area.remove();
      mark();
    };
    if (navigator.clipboard) navigator.clipboard.writeText(text).then(mark, byHand);
    else byHand();
  };
  return <button class="button" onClick={copy}>{done ? 'copied' : 'copy'}</button>;
}

export const linkTo = (row: Row, run?: number, call?: number) => to('t', row.id, ...(run ? ['r', run] : []), ...(run && call ? ['c', call] : []));

// Small parts that several pages show.
import { useLayoutEffect, useMemo, useRef, useState } from 'preact/hooks';
import { type ComponentChildren, Fragment } from 'preact';
import { generation, type Row, type RunState, report } from './data';
import type { Gate, Status } from './model';
import { to } from './route';
import { Text } from './text';

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

export const stateOfGate = (gate: Gate): Status | 'none' => (gate.not_exercised && gate.status === 'passed' ? 'none' : gate.status);

/** Names of gates, a tag each. */
export const Tags = ({ of }: { of: string[] }) => (
  <span class="tags">{of.map((key) => <span key={key} class="gate-tag">{key}</span>)}</span>
);

const LINKED = 12;

/** The runs that something is about, each with its file if it has its own. */
export function RunLinks({ row, runs }: { row: Row; runs: number[] }) {
  const [all, setAll] = useState(false);
  const sources = new Set(row.test.runs.map((run) => run.source));
  const shown = all ? runs : runs.slice(0, LINKED);
  const of = (index: number) => row.test.runs.find((run) => run.index === index);
  const own = (index: number) => [sources.size > 1 && of(index)?.source, of(index)?.trace_id].filter(Boolean).join(' ');
  return (
    <ul class="run-links" aria-label="Runs">
      {shown.map((index) => (
        <li key={index}><a href={linkTo(row, index)}>run {index}</a>{own(index) && <span class="mono dim"> <Text of={own(index)} /></span>}</li>
      ))}
      {runs.length > shown.length && <li><button class="more" onClick={() => setAll(true)}>{runs.length - shown.length} more</button></li>}
    </ul>
  );
}

/** The definition, unit and range of a number in the report. */
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
/** The number of rows that are made above and below the visible rows. */
const SPARE = 4;

interface ListProps<T> {
  items: T[];
  label: string;
  head: ComponentChildren;
  selected: number;
  render: (item: T, at: number, width: number) => ComponentChildren;
  /** The identity of a row when the items change; the list keeps its place by it. */
  keyOf: (item: T) => string;
  /** The height of a row in a list of this width. */
  heightOf?: (item: T, width: number) => number;
  columns?: string;
}

/** Where each row begins, and where the last one ends. */
function startsOf<T>(items: T[], width: number, heightOf: ListProps<T>['heightOf']): number[] {
  const starts = [0];
  for (const item of items) starts.push(starts.at(-1)! + (heightOf ? heightOf(item, width) : ROW));
  return starts;
}

/** The row at this height. */
function rowAt(starts: number[], top: number): number {
  let [low, high] = [0, starts.length - 2];
  while (low < high) {
    const middle = (low + high + 1) >> 1;
    if (starts[middle] <= top) low = middle;
    else high = middle - 1;
  }
  return Math.max(0, low);
}

/** A list that makes only its visible rows. After a jump, existing elements show the new rows: new elements would take twice as long. */
export function List<T>({ items, label, head, selected, render, keyOf, heightOf, columns }: ListProps<T>) {
  const box = useRef<HTMLDivElement>(null);
  const [view, setView] = useState({ top: 0, height: 900, width: 900, jumped: 0 });
  const starts = useMemo(() => startsOf(items, view.width, heightOf), [items, view.width]);
  const now = useRef({ items, starts, of: generation.value });
  // The row at the top stays there when another report changes those above it.
  useLayoutEffect(() => {
    const [before, element] = [now.current, box.current!];
    now.current = { items, starts, of: generation.value };
    if (before.of === generation.value || !element.scrollTop) return;
    const first = rowAt(before.starts, element.scrollTop);
    const key = before.items[first] && keyOf(before.items[first]);
    const at = items.findIndex((item) => keyOf(item) === key);
    if (at >= 0) element.scrollTop += starts[at] - before.starts[first];
  }, [items, starts]);
  useLayoutEffect(() => {
    const element = box.current!;
    const read = () => setView((old) => {
      const [top, height, width] = [rowAt(now.current.starts, element.scrollTop), element.clientHeight, element.clientWidth];
      if (old.top === top && old.height === height && old.width === width) return old;
      const { starts } = now.current;
      const isJump = Math.abs((starts[top] ?? 0) - (starts[old.top] ?? 0)) * 2 > height;
      // The link that has the focus would be that of another row.
      if (isJump && element.contains(document.activeElement)) element.focus({ preventScroll: true });
      return { top, height, width, jumped: old.jumped + (isJump ? top - old.top : 0) };
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
    if (selected < 0 || selected >= items.length) return;
    const [top, below] = [starts[selected], starts[selected + 1] + ROW];
    if (top < element.scrollTop) element.scrollTop = top;
    else if (below > element.scrollTop + element.clientHeight) element.scrollTop = below - element.clientHeight;
  }, [selected]);
  const first = Math.max(0, Math.min(view.top, items.length - 1) - SPARE);
  const last = Math.min(items.length, rowAt(starts, (starts[Math.min(view.top, items.length)] ?? 0) + view.height) + 1 + SPARE);
  return (
    <div class="list" ref={box} tabIndex={0} role="table" aria-label={label} aria-rowcount={items.length + 1} style={columns ? { '--columns': columns } : undefined}>
      {head}
      <div role="rowgroup" style={{ height: `${starts.at(-1)}px` }}>
        <div class="window" role="presentation" style={{ transform: `translateY(${starts[first] ?? 0}px)` }}>
          {items.slice(first, last).map((item, at) => <Fragment key={first + at - view.jumped}>{render(item, first + at, view.width)}</Fragment>)}
        </div>
      </div>
    </div>
  );
}

export function Copy({ text, label = 'copy' }: { text: string; label?: string }) {
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
  return <button class="button" onClick={copy}>{done ? 'copied' : label}</button>;
}

export const linkTo = (row: Row, run?: number, call?: number) => to('t', row.id, ...(run ? ['r', run] : []), ...(run && call ? ['c', call] : []));

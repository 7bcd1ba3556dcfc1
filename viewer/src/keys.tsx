// The page by keyboard.
import type { Signal } from '@preact/signals';
import { useEffect, useRef } from 'preact/hooks';
import { byId } from './data';
import { KEYS } from './filter';
import { linkTo } from './parts';
import { nextView, selected, selectedAt, shown, view } from './overview';
import { go, list, route, to } from './route';

const isFailed = (at: number) => ['failed', 'error'].includes(shown.value[at]?.test.status);

/** The next place from `at` in a direction, or the next failed place if requested. */
function next(at: number, step: number, failedOnly: boolean): number {
  for (let to = at + step; to >= 0 && to < shown.value.length; to += step) if (!failedOnly || isFailed(to)) return to;
  return at;
}

function move(step: number, failedOnly: boolean): void {
  const { parts } = route.value;
  if (parts[0] !== 't') {
    if (view.value === 'tests') selected.value = shown.value[next(selectedAt(), step, failedOnly)]?.id ?? '';
    return;
  }
  const at = shown.value.findIndex((row) => row.id === parts[1]);
  const found = shown.value[next(at, step, failedOnly)];
  if (found) go(linkTo(found));
}

function turnRun(step: number): void {
  const { parts } = route.value;
  const row = parts[0] === 't' ? byId.get(parts[1]) : undefined;
  if (!row) return;
  const at = row.test.runs.findIndex((run) => run.index === Number(parts[3]));
  const run = row.test.runs[at < 0 ? 0 : at + step];
  if (run) go(linkTo(row, run.index));
}

function up(): void {
  const { parts } = route.value;
  go(parts[0] === 't' && parts.length > 2 ? to('t', parts[1]) : list.value);
}

export function listen({ turnTheme, help }: { turnTheme: () => void; help: Signal<boolean> }): void {
  const actions: Record<string, () => void> = {
    '/': () => document.querySelector<HTMLInputElement>('input[type=search]')?.focus(),
    j: () => move(1, false),
    k: () => move(-1, false),
    n: () => move(1, true),
    p: () => move(-1, true),
    '[': () => turnRun(-1),
    ']': () => turnRun(1),
    u: up,
    m: () => route.value.parts.length || nextView(),
    t: turnTheme,
    '?': () => (help.value = true),
    Enter: () => {
      const row = route.value.parts.length ? undefined : shown.value[selectedAt()];
      if (row) go(linkTo(row));
    },
  };
  addEventListener('keydown', (event) => {
    const target = event.target as HTMLElement;
    if (event.key === 'Escape' && target.matches('input')) return target.blur();
    if (event.ctrlKey || event.metaKey || event.altKey || target.matches('input, select, textarea')) return;
    if (event.key === 'Enter' && target.matches('a, button, summary')) return;
    const action = actions[event.key];
    if (!action) return;
    event.preventDefault();
    action();
  });
}

const LINES = [
  ['/', 'filter'],
  ['j k', 'next and previous row or test'],
  ['n p', 'next and previous that did not pass'],
  ['Enter', 'open'],
  ['u', 'up, with the filter kept'],
  ['[ ]', 'previous and next run'],
  ['m', 'another view'],
  ['t', 'light or dark'],
];

export function Help({ close }: { close: () => void }) {
  const dialog = useRef<HTMLDialogElement>(null);
  useEffect(() => dialog.current?.showModal(), []);
  return (
    <dialog ref={dialog} onClose={close} aria-label="Help">
      <h2>Keys</h2>
      <dl class="keys">{LINES.map(([key, what]) => <div key={key}><dt><kbd>{key}</kbd></dt><dd>{what}</dd></div>)}</dl>
      <h2>Filter</h2>
      <p>Words and "phrases" are looked for in the name, the model and the first cause. <code>key:value</code> asks for one thing, <code>a,b</code> is either, <code>-</code> is not, <code>&gt;</code> and <code>&lt;</code> compare numbers.</p>
      <p class="mono">{KEYS.join(' ')}</p>
      <form method="dialog"><button class="button">Close</button></form>
    </dialog>
  );
}

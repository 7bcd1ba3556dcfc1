// Puts the page together: the address says which.
import { signal } from '@preact/signals';
import { render } from 'preact';
import { Compared } from './compare';
import { byId, comparison, generation, load, nameOf, report, show } from './data';
import { Definitions } from './definitions';
import { Help, listen } from './keys';
import { follow, isServed } from './live';
import { Overview, printing } from './overview';
import { RunPage } from './run';
import { list, route, to } from './route';
import { TestPage } from './test';
import { Line } from './text';

const theme = signal(kept('mcptest-theme') ?? '');

function kept(key: string): string | undefined {
  try {
    return localStorage.getItem(key) ?? undefined;
  } catch {
    return undefined; // A page from disk may have no storage.
  }
}

const isDark = () => (theme.value ? theme.value === 'dark' : matchMedia('(prefers-color-scheme: dark)').matches);

export function turnTheme(): void {
  theme.value = isDark() ? 'light' : 'dark';
  document.documentElement.style.colorScheme = theme.value;
  try {
    localStorage.setItem('mcptest-theme', theme.value);
  } catch {
    // It holds until the page is closed.
  }
}

export const help = signal(false);

function Trail() {
  generation.value;
  const { parts } = route.value;
  const row = parts[0] === 't' ? byId.get(parts[1]) : undefined;
  return (
    <nav class="trail" aria-label="Where you are">
      <a href={list.value}>mcptest</a>
      {row && <> / <a href={to('t', row.id)}><Line of={nameOf(row.test)} /></a></>}
      {row && parts[3] && <> / run {parts[3]}</>}
      {parts[0] === 'doc' && <> / definitions</>}
    </nav>
  );
}

function Page() {
  generation.value;
  const { parts } = route.value;
  if (comparison) return <Compared of={comparison} />;
  if (parts[0] === 'doc') return <Definitions gate={parts[1]} target={parts[2]} />;
  if (parts[0] !== 't') return <Overview />;
  const row = byId.get(parts[1]);
  const run = row && parts[2] === 'r' ? row.test.runs.find((one) => one.index === Number(parts[3])) : undefined;
  if (!row || (parts[2] === 'r' && !run)) return <Nothing />;
  return run ? <RunPage key={row.id} row={row} run={run} call={parts[4] === 'c' ? Number(parts[5]) : undefined} /> : <TestPage key={row.id} row={row} />;
}

const Nothing = () => (
  <main class="page"><h1>This report does not contain that test or run</h1><p><a href={list.value}>Show all tests</a></p></main>
);

const App = () => (
  <>
    <header class="top">
      <Trail />
      <span class="dim command mono"><Line of={report?.command ?? ''} /></span>
      <button class="button" aria-label="Help" onClick={() => (help.value = true)}>?</button>
      <button class="button" onClick={turnTheme}>{isDark() ? 'Light' : 'Dark'}</button>
    </header>
    <Page />
    {help.value && <Help close={() => (help.value = false)} />}
  </>
);

async function start(): Promise<void> {
  const app = document.getElementById('app')!;
  if (theme.value) document.documentElement.style.colorScheme = theme.value;
  try {
    await load();
  } catch (error) {
    app.replaceChildren(Object.assign(document.createElement('h1'), { textContent: (error as Error).message }));
    return;
  }
  app.replaceChildren();
  render(<App />, app);
  listen({ turnTheme, help });
  if (isServed) follow(show);
  addEventListener('beforeprint', () => (printing.value = true));
  addEventListener('afterprint', () => (printing.value = false));
  performance.mark('mcptest-rendered');
}

void start();

// Models against tests: what passed where, and at what price.
import type { Row } from './data';
import { short } from './format';
import { linkTo, List, Mark } from './parts';
import { Line } from './text';

interface Line_ {
  key: string;
  name: string;
  cells: Map<string, Row>;
}

function lines(rows: Row[]): Line_[] {
  const found = new Map<string, Line_>();
  for (const row of rows) {
    const name = row.test.name + (row.test.variant ? ` [${row.test.variant}]` : '');
    const key = `${row.test.suite.file}\n${name}`;
    const line = found.get(key) ?? { key, name, cells: new Map() };
    line.cells.set(row.test.model ?? '', row);
    found.set(key, line);
  }
  return [...found.values()].sort((one, other) => other.cells.size - one.cells.size);
}

function Cell({ row }: { row: Row | undefined }) {
  if (!row) return <span role="cell" class="cell not-run"><span class="unseen">not run</span></span>;
  const { runs, status } = row.test;
  const passed = row.states.filter((state) => state === 'passed').length;
  return (
    <span role="cell">
      <a class={`cell ${status}`} href={linkTo(row)} title={`${passed} of ${runs.length} runs passed`}>
        <Mark of={status} /> <span>{passed}/{runs.length}</span> <span class="right">{short(row.tokens && row.tokens / runs.length)}</span>
      </a>
    </span>
  );
}

export function Matrix({ rows }: { rows: Row[] }) {
  const models = [...new Set(rows.map((row) => row.test.model ?? ''))].sort();
  const columns = { gridTemplateColumns: `minmax(14rem, 1fr) repeat(${models.length}, minmax(8.5rem, 10.5rem))` };
  const tally = (model: string) => {
    const all = rows.filter((row) => (row.test.model ?? '') === model);
    return `${all.filter((row) => row.test.status === 'passed').length} of ${all.length}`;
  };
  return (
    <List
      items={lines(rows)}
      label="Models against tests"
      selected={-1}
      keyOf={(line) => line.key}
      head={
        <div class="row head matrix" role="row" style={columns}>
          <span role="columnheader">Test</span>
          {models.map((model) => <span role="columnheader" key={model}><Line of={model || 'no model'} /><small>{tally(model)} passed</small></span>)}
        </div>
      }
      render={(line, at) => (
        <div class="row matrix" role="row" aria-rowindex={at + 2} style={columns}>
          <span role="cell" class="c1"><Line of={line.name} /></span>
          {models.map((model) => <Cell key={model} row={line.cells.get(model)} />)}
        </div>
      )}
    />
  );
}

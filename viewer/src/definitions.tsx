// The question of each gate, and the meaning of each of its numbers.
import { useLayoutEffect } from 'preact/hooks';
import { docs, readDocs, report } from './data';
import { number } from './format';
import { Markdown } from './markdown';
import { bare } from './parts';
import { to } from './route';

const extent = ([low, high]: [number, number | null]) => (high == null ? `${number(low)} and up` : `${number(low)} to ${number(high)}`);

/** The numbers of all gates, or the numbers of one gate with its page of the documentation, at the paragraph on `target`. */
export function Definitions({ gate, target }: { gate?: string; target?: string }) {
  const all = Object.entries(report.gates ?? {});
  const one = all.filter(([key]) => key === gate);
  useLayoutEffect(() => void readDocs(), []);
  useLayoutEffect(() => {
    const found = target && document.getElementById('marked');
    if (found) found.scrollIntoView({ block: 'center' });
    if (found) found.focus({ preventScroll: true });
  }, [gate, target, docs.value]);
  return (
    <main class="page definitions">
      <h1>Meaning of the numbers</h1>
      {one.length > 0 && <p><a href={to('doc')}>All gates of this report</a></p>}
      {(one.length ? one : all).map(([key, about]) => (
        <section key={key}>
          <h2 class="mono"><a href={to('doc', key)}>{key}</a></h2>
          <p>{about.summary}</p>
          <table class="numbers">
            <thead><tr><th scope="col">Number</th><th scope="col" class="left">Meaning</th><th scope="col">Unit</th><th scope="col">Values</th><th scope="col">Better</th></tr></thead>
            <tbody>
              {Object.entries(about.targets).map(([name, of]) => (
                <tr key={name} aria-current={!!one.length && bare(key, name) === target}>
                  <th scope="row" class="mono"><a href={to('doc', key, bare(key, name))}>{bare(key, name)}</a></th>
                  <td class="left">{of.doc}</td>
                  <td>{of.unit}</td>
                  <td>{extent(of.range as [number, number | null])}</td>
                  <td>{of.better}</td>
                </tr>
              ))}
            </tbody>
          </table>
          {one.length > 0 && docs.value?.[key] && <Markdown of={docs.value[key]} mark={Object.keys(about.targets).find((name) => bare(key, name) === target)} />}
          {one.length > 0 && <p class="dim mono">mcptest explain {key}</p>}
        </section>
      ))}
    </main>
  );
}

// What each gate asks, and what each of its numbers means.
import { useLayoutEffect } from 'preact/hooks';
import { report } from './data';
import { number } from './format';
import { bare } from './parts';
import { to } from './route';

const extent = ([low, high]: [number, number | null]) => (high == null ? `${number(low)} and up` : `${number(low)} to ${number(high)}`);

export function Definitions({ gate, target }: { gate?: string; target?: string }) {
  const id = gate && target ? `${gate}.${target}` : gate;
  useLayoutEffect(() => (id ? document.getElementById(id)?.scrollIntoView({ block: 'center' }) : undefined), [id]);
  return (
    <main class="page definitions">
      <h1>What the numbers mean</h1>
      {Object.entries(report.gates ?? {}).map(([key, about]) => (
        <section key={key} id={key}>
          <h2 class="mono">{key}</h2>
          <p>{about.summary}</p>
          <p class="dim mono">mcptest explain {key}</p>
          <table class="numbers">
            <thead><tr><th scope="col">Number</th><th scope="col" class="left">Meaning</th><th scope="col">Unit</th><th scope="col">Values</th><th scope="col">Better</th></tr></thead>
            <tbody>
              {Object.entries(about.targets).map(([name, one]) => (
                <tr key={name} id={`${key}.${bare(key, name)}`} aria-current={id === `${key}.${bare(key, name)}`}>
                  <th scope="row" class="mono"><a href={to('doc', key, bare(key, name))}>{bare(key, name)}</a></th>
                  <td class="left">{one.doc} <small class="dim mono">docs/{one.anchor}</small></td>
                  <td>{one.unit}</td>
                  <td>{extent(one.range as [number, number | null])}</td>
                  <td>{one.better}</td>
                </tr>
              ))}
            </tbody>
          </table>
        </section>
      ))}
    </main>
  );
}

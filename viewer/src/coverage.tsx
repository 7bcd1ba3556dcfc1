// Which tools the tests exercised, as a treemap: the size is the number of calls.
import { plural, whole } from './format';
import type { Report } from './model';
import { plain, Text } from './text';

type Covered = NonNullable<Report['coverage']>;
type Tool = Covered['servers'][number]['tools'][number];

const [WIDE, HIGH] = [960, 420];

interface Box<T> {
  item: T;
  x: number;
  y: number;
  w: number;
  h: number;
}

/** Cuts a field in two halves of about the same weight, along its longer side, until each item has its own. */
function laidOut<T>(items: T[], weight: (item: T) => number, x: number, y: number, w: number, h: number): Box<T>[] {
  if (items.length < 2) return items.map((item) => ({ item, x, y, w, h }));
  const total = items.reduce((sum, item) => sum + weight(item), 0);
  let [cut, left] = [0, 0];
  while (cut < items.length - 1 && left + weight(items[cut]) / 2 <= total / 2) left += weight(items[cut++]);
  cut = Math.max(1, cut);
  const share = items.slice(0, cut).reduce((sum, item) => sum + weight(item), 0) / total;
  const [one, other] = [items.slice(0, cut), items.slice(cut)];
  return w >= h
    ? [...laidOut(one, weight, x, y, w * share, h), ...laidOut(other, weight, x + w * share, y, w * (1 - share), h)]
    : [...laidOut(one, weight, x, y, w, h * share), ...laidOut(other, weight, x, y + h * share, w, h * (1 - share))];
}

// A tool without a call still has a field.
const weight = (tool: Tool) => Math.sqrt(tool.calls) + 1;
const kind = (tool: Tool) => (tool.calls === 0 ? 'not-called' : tool.errors && tool.successes ? 'both' : tool.successes ? 'success' : 'only-errors');

/** The number of letters that fit into a field of this width. */
const fits = (wide: number) => Math.max(3, Math.floor((wide - 12) / 7));

function Treemap({ of }: { of: Covered }) {
  const servers = of.servers.filter((server) => server.tools.length);
  const heavy = (server: Covered['servers'][number]) => server.tools.reduce((sum, tool) => sum + weight(tool), 0);
  const sorted = servers.toSorted((one, other) => heavy(other) - heavy(one));
  return (
    <svg class="treemap" viewBox={`0 0 ${WIDE} ${HIGH}`} role="img" aria-label={`${of.tools.covered} of ${of.tools.total} tools were called`}>
      {laidOut(sorted, heavy, 0, 0, WIDE, HIGH).map(({ item: server, x, y, w, h }) => (
        <g key={server.name ?? ''}>
          <text class="server" x={x + 6} y={y + 14}>{plain(server.name ?? 'no server named', fits(w))}</text>
          {laidOut(server.tools.toSorted((one, other) => other.calls - one.calls), weight, x + 2, y + 20, w - 4, h - 22).map(({ item, ...box }) => (
            <g key={item.name} class={kind(item)}>
              <title>{`${plain(item.name)}: ${plural(item.calls, 'call')}, ${item.errors} came back as errors`}</title>
              <rect x={box.x + 1} y={box.y + 1} width={Math.max(0, box.w - 2)} height={Math.max(0, box.h - 2)} rx="3" />
              {box.w > 44 && box.h > 18 && <text x={box.x + 7} y={box.y + 16}>{plain(item.name, fits(box.w))}</text>}
              {box.w > (item.calls ? 44 : 80) && box.h > 34 && <text class="dim" x={box.x + 7} y={box.y + 30}>{item.calls ? `×${item.calls}` : 'not called'}</text>}
            </g>
          ))}
        </g>
      ))}
    </svg>
  );
}

const SHARES = [['tools', 'tools called'], ['parameters', 'parameters given'], ['values', 'values given'], ['successes', 'tools that succeeded'], ['errors', 'tools that came back as an error']] as const;

export const Coverage = ({ of }: { of: Covered }) => (
  <div class="pane" tabIndex={0}>
    <dl class="totals">
      {SHARES.map(([key, name]) => <div key={key}><dt>{name}</dt><dd>{whole(of[key].covered)}<small> of {whole(of[key].total)}</small></dd></div>)}
      {of.threshold != null && <div><dt>asked for</dt><dd>{of.threshold}%</dd></div>}
    </dl>
    <Treemap of={of} />
    <p class="legend"><span class="key success" /> succeeded <span class="key both" /> also came back as an error <span class="key only-errors" /> only errors <span class="key not-called" /> not called</p>
    {of.unmeasured.length > 0 && <p>No recording lists the tools of <Text of={of.unmeasured.join(', ')} />.</p>}
    <table class="numbers">
      <thead><tr><th scope="col">Tool</th><th scope="col">Calls</th><th scope="col">Errors</th><th scope="col" class="left">Parameters never given</th></tr></thead>
      <tbody>
        {of.servers.flatMap((server) => server.tools.map((tool) => (
          <tr key={`${server.name} ${tool.name}`}>
            <th scope="row" class="mono"><Text of={tool.name} /></th>
            <td>{whole(tool.calls)}</td>
            <td>{whole(tool.errors)}</td>
            <td class="left mono"><Text of={tool.parameters.filter((one) => !one.given).map((one) => one.name).join(', ')} /></td>
          </tr>
        )))}
      </tbody>
    </table>
  </div>
);

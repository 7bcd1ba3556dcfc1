// The expected calls beside the recorded ones.
import { Differences } from '../assertions';
import type { Row } from '../data';
import type { Table } from '../model';
import { linkTo } from '../parts';
import { brief, Text } from '../text';
import { Picker } from './picker';

type Line = Table['rows'][number];
type Side = NonNullable<Line['expected']>;

const SIGNS: Record<Line['how'], string> = { matched: '=', changed: '≠ changed', missing: '− missing', extra: '+ extra', swapped: '⇅ swapped' };

/** Differing arguments are shown once, below the pair. */
function Call({ of, how, link, bare }: { of: Side | undefined; how: string; link?: string; bare: boolean }) {
  if (!of) return <td />;
  const args = !bare && of.args !== undefined && brief(of.args) !== '{}' && <code class={how}><Text of={brief(of.args)} /></code>;
  return (
    <td class="call">
      <span class="dim">{of.number}</span> {link ? <a href={link} class="mono"><Text of={of.tool} /></a> : <span class="mono"><Text of={of.tool} /></span>}
      {args && <div>{args}</div>}
    </td>
  );
}

/** The label of a pair; for a changed pair, whether the tool or its arguments differ. */
function sign(line: Line): string {
  if (line.how !== 'changed') return line.count && line.count > 1 ? `= ${line.count} calls` : SIGNS[line.how];
  return line.expected?.tool === line.recorded?.tool ? '≠ arguments' : '≠ other tool';
}

function Alignment({ row, table, isOnly }: { row: Row; table: Table; isOnly: boolean }) {
  const link = (number: number | undefined) => (number && table.run ? linkTo(row, table.run, number) : undefined);
  return (
    <>
      <table class="alignment">
        <thead><tr><th scope="col">expected</th><th scope="col"><span class="unseen">how they go together</span></th><th scope="col">recorded{table.run ? `, run ${table.run}` : ''}</th></tr></thead>
        <tbody>
          {table.rows.map((line, at) => (
            <>
              <tr key={at} class={line.how} data-how={line.how}>
                <Call of={line.expected} how="expected" bare={!!line.diff?.length} />
                <td class="sign">{sign(line)}</td>
                <Call of={line.recorded} how={line.how === 'matched' ? '' : 'recorded'} link={link(line.recorded?.number)} bare={!!line.diff?.length} />
              </tr>
              {!!line.diff?.length && <tr class="differences"><td colSpan={3}><Differences of={line.diff} /></td></tr>}
            </>
          ))}
        </tbody>
      </table>
      <p class="legend">{!isOnly && <><Text of={table.summary} code /> · </>}mode {table.mode}{table.left_out ? ` · ${table.left_out} more are not shown` : ''}</p>
      {table.notes?.map((note, at) => <p key={at} class="legend"><Text of={note} code /></p>)}
    </>
  );
}

export const Trajectory = ({ row, tables }: { row: Row; tables: Table[] }) => (
  <Picker items={tables} label={(table) => table.run ?? 1}>{(table) => <Alignment row={row} table={table} isOnly={tables.length === 1} />}</Picker>
);

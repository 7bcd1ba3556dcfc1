// Tables that are sorted by a click on the name of a column; the address names the column.
import { computed } from '@preact/signals';
import { route, setParams } from './route';

/** A column that has a value for each row can be sorted by; `down` is what has its best values first when they are high. */
export interface Column<T> {
  key: string;
  name: string;
  of?: (row: T) => number | string | null | undefined;
  down?: boolean;
  left?: boolean;
}

/** `cost` has the lowest first, `-cost` the highest. */
const by = computed(() => route.value.params.get('by') ?? '');

/** The rows in the order that the address names, otherwise unchanged. Unknown values are last in both directions. */
export function sorted<T>(rows: T[], columns: Column<T>[]): T[] {
  const of = columns.find((column) => column.key === by.value.replace(/^-/, ''))?.of;
  if (!of) return rows;
  const turn = by.value.startsWith('-') ? -1 : 1;
  return rows.toSorted((one, other) => {
    const [a, b] = [of(one), of(other)];
    if (a == null || b == null) return Number(a == null) - Number(b == null);
    return turn * (typeof a === 'string' ? a.localeCompare(String(b)) : a - Number(b));
  });
}

/** The first click has the best first, the second the worst, the third has the order of the report. */
function turned({ key, down }: Column<never>): string {
  const turns = down ? [`-${key}`, key, ''] : [key, `-${key}`, ''];
  return turns[(turns.indexOf(by.value) + 1) % 3];
}

export const Heads = <T,>({ columns }: { columns: Column<T>[] }) => (
  <tr>
    {columns.map((column) => {
      const state = by.value === column.key ? 'ascending' : by.value === `-${column.key}` ? 'descending' : undefined;
      return (
        <th key={column.key} scope="col" class={column.left ? 'left' : ''} aria-sort={column.of && state}>
          {column.of ? <button class="sort" onClick={() => setParams({ by: turned(column as Column<never>) })}>{column.name}{state && <span aria-hidden="true"> {state === 'ascending' ? '▲' : '▼'}</span>}</button> : column.name}
        </th>
      );
    })}
  </tr>
);

// The Markdown that the pages of the gates are written in: headings, paragraphs, lists, tables, code.
import type { ComponentChildren } from 'preact';

const INLINE = /`([^`]+)`|\*\*([^*]+)\*\*|\*([^*]+)\*|!?\[([^\]]*)\]\([^)]*\)/g;

/** Code, bold and stressed words; of a link its words, of a picture nothing. */
function inline(text: string): ComponentChildren[] {
  const parts: ComponentChildren[] = [];
  let from = 0;
  for (const found of text.matchAll(INLINE)) {
    const [all, code, bold, stressed, link] = found;
    const words = link && !all.startsWith('!') ? inline(link) : '';
    parts.push(text.slice(from, found.index), code ? <code>{code}</code> : bold ? <b>{inline(bold)}</b> : stressed ? <em>{inline(stressed)}</em> : words);
    from = found.index + all.length;
  }
  return [...parts, text.slice(from)];
}

const KINDS: [string, RegExp][] = [['code', /^```/], ['head', /^#/], ['table', /^\|/], ['list', /^- |^ {2}/]];

/** The blocks of a page: lines of one kind that stand together. */
function blocksOf(page: string): { kind: string; lines: string[] }[] {
  const blocks: { kind: string; lines: string[] }[] = [];
  let last = '';
  for (const line of page.split('\n')) {
    const isFence = line.startsWith('```');
    if (last === 'code' && !isFence) blocks.at(-1)!.lines.push(line);
    else if (last === 'code' || !line) last = '';
    else {
      const kind = KINDS.find(([, begins]) => begins.test(line))?.[0] ?? 'text';
      if (kind !== last || kind === 'head') blocks.push({ kind, lines: [] });
      if (!isFence) blocks.at(-1)!.lines.push(line);
      last = kind;
    }
  }
  return blocks;
}

const itemsOf = (lines: string[]) => lines.join('\n').split(/^- /m).slice(1);
const cellsOf = (line: string) => line.split('|').slice(1, -1).map((cell) => cell.trim());

/** A page without its title. The first place of the word in `mark` has the id `marked`: a row of a table, or else a paragraph. */
export function Markdown({ of, mark }: { of: string; mark?: string }) {
  const name = `\`${mark}\``;
  const blocks = blocksOf(of).slice(1);
  const lines = blocks.filter((block) => block.kind !== 'code').flatMap(({ kind, lines }) => (kind === 'table' ? lines : kind === 'list' ? itemsOf(lines) : [lines.join('\n')]));
  const marked = mark && (lines.find((line) => line.startsWith(`| ${name}`)) ?? lines.find((line) => line.includes(name)));
  const at = (line: string) => (line === marked ? { id: 'marked', tabIndex: -1 } : {});
  return (
    <div class="markdown">
      {blocks.map(({ kind, lines }, key) => {
        if (kind === 'code') return <pre key={key} class="json" tabIndex={0}>{lines.join('\n')}</pre>;
        if (kind === 'head') return <h3 key={key}>{inline(lines[0].replace(/^#+ /, ''))}</h3>;
        if (kind === 'list') return <ul key={key}>{itemsOf(lines).map((item) => <li key={item} {...at(item)}>{inline(item)}</li>)}</ul>;
        if (kind === 'text') return <p key={key} {...at(lines.join('\n'))}>{inline(lines.join('\n'))}</p>;
        const [head, , ...rows] = lines;
        return (
          <table key={key} class="numbers">
            <thead><tr>{cellsOf(head).map((cell, at) => <th key={at} scope="col" class="left">{inline(cell)}</th>)}</tr></thead>
            <tbody>{rows.map((row) => <tr key={row} {...at(row)}>{cellsOf(row).map((cell, at) => <td key={at} class="left">{inline(cell)}</td>)}</tr>)}</tbody>
          </table>
        );
      })}
    </div>
  );
}

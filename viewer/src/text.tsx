// The one way in which text of models, servers and suites gets onto the page.
import { useState } from 'preact/hooks';
import type { ComponentChildren } from 'preact';

/** Longer text is folded: a line of a megabyte freezes a browser. */
const MOST = 2000;
const MORE = 100_000;
// Control characters, marks of direction, and invisible characters.
const HIDDEN = /[\u0000-\u0008\u000b-\u001f\u007f-\u009f\u00ad\u061c\u180e\u200b\u200e\u200f\u2028-\u202e\u2060-\u206f\ufeff\ufff9-\ufffb]|[\ud800-\udfff](?![\udc00-\udfff])/g;
const PAIR = /[\ud800-\udbff][\udc00-\udfff]/;

function visible(text: string): ComponentChildren {
  const parts: ComponentChildren[] = [];
  let from = 0;
  for (const found of text.matchAll(HIDDEN)) {
    // The second half of a pair is not a hidden character.
    if (PAIR.test(text.slice(found.index - 1, found.index + 1))) continue;
    const code = found[0].charCodeAt(0).toString(16).toUpperCase().padStart(2, '0');
    parts.push(text.slice(from, found.index), <span class="hidden-char" title={`the character U+${code.padStart(4, '0')}`}>{`⟦${code}⟧`}</span>);
    from = found.index + found[0].length;
  }
  return from ? [...parts, text.slice(from)] : text;
}

/** Text between backticks as code. */
const marked = (text: string): ComponentChildren =>
  text.split('`').map((part, at, all) => (at % 2 && at < all.length - 1 ? <code>{visible(part)}</code> : visible(at % 2 ? `\`${part}` : part)));

/** Text of others: inert, its direction kept to itself, folded when long. `code` shows what is between backticks so. */
export function Text({ of, code }: { of: string | null | undefined; code?: boolean }) {
  const [most, setMost] = useState(MOST);
  const text = of ?? '';
  const shown = text.length > most ? text.slice(0, most) : text;
  const parts = code ? marked(shown) : visible(shown);
  const rest = text.length - shown.length;
  return (
    <bdi>
      {parts}
      {rest > 0 && (
        <button class="more" onClick={(event) => { event.preventDefault(); event.stopPropagation(); setMost(most + MORE); }}>
          {rest.toLocaleString('en-US')} more characters
        </button>
      )}
    </bdi>
  );
}

/** Plain text for a picture or a title, which cannot contain elements, cut to this number of characters. */
export function plain(text: string, most = 200): string {
  const shown = text.replace(HIDDEN, (found, at: number) => (PAIR.test(text.slice(at - 1, at + 1)) ? found : `⟦${found.charCodeAt(0).toString(16).toUpperCase()}⟧`));
  return shown.length > most ? `${shown.slice(0, Math.max(1, most - 1))}…` : shown;
}

/** A string cut to what a list shows of it. */
export const Line = ({ of, code }: { of: string; code?: boolean }) => {
  const shown = of.slice(0, 300).replace(/\s+/g, ' ');
  return <bdi>{code ? marked(shown) : visible(shown)}</bdi>;
};

const TOKEN = /("(?:\\.|[^"\\])*")(\s*:)?|\b(?:true|false|null)\b|-?\d[\d.eE+-]*/g;

function coloured(json: string): ComponentChildren {
  const parts: ComponentChildren[] = [];
  let from = 0;
  for (const found of json.matchAll(TOKEN)) {
    const [all, string, colon] = found;
    parts.push(json.slice(from, found.index));
    parts.push(<span class={string ? (colon ? 'j-key' : 'j-string') : 'j-number'}>{visible(string ?? all)}</span>, colon);
    from = found.index + all.length;
  }
  return [...parts, json.slice(from)];
}

/** A value as JSON. */
export function Json({ of }: { of: unknown }) {
  const json = JSON.stringify(of, null, 2) ?? '';
  return <pre class="json" tabIndex={0}>{json.length > MOST ? <Text of={json} /> : <bdi>{coloured(json)}</bdi>}</pre>;
}

/** A value in one line, for a cell. */
export const brief = (value: unknown): string => (value === undefined ? '' : (JSON.stringify(value) ?? ''));

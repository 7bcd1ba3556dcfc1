// Of several runs one at a time, the worst first.
import { useState } from 'preact/hooks';
import type { ComponentChildren } from 'preact';

export function Picker<T>({ items, label, children, leftOut }: { items: T[]; label: (item: T) => number; children: (item: T) => ComponentChildren; leftOut?: number }) {
  const [at, setAt] = useState(0);
  if (!items.length) return null;
  return (
    <>
      {items.length > 1 && (
        <div class="picker" role="group" aria-label="Run">
          {items.map((item, index) => <button key={index} aria-pressed={index === at} onClick={() => setAt(index)}>{label(item)}</button>)}
          {leftOut ? <span class="dim">{leftOut} runs are not listed</span> : null}
        </div>
      )}
      {children(items[Math.min(at, items.length - 1)])}
    </>
  );
}

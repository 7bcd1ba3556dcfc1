// Numbers for people. An unknown number is a dash, never 0.
export const NONE = '–';

export const whole = (value: number | null | undefined) => (value == null ? NONE : value.toLocaleString('en-US'));

export function short(value: number | null | undefined): string {
  if (value == null) return NONE;
  if (value >= 1e6) return `${(value / 1e6).toFixed(1)}M`;
  if (value >= 1e4) return `${(value / 1e3).toFixed(1)}k`;
  return whole(Math.round(value));
}

export function usd(value: number | null | undefined): string {
  if (value == null) return NONE;
  return `$${value.toFixed(value >= 10 ? 2 : value >= 0.1 ? 3 : 4)}`;
}

export function time(ms: number | null | undefined): string {
  if (ms == null) return NONE;
  if (ms < 1000) return `${Math.round(ms)} ms`;
  if (ms < 120e3) return `${(ms / 1000).toFixed(1)} s`;
  return ms < 5400e3 ? `${(ms / 60e3).toFixed(1)} min` : `${(ms / 3600e3).toFixed(1)} h`;
}

/** A measured number: a whole number unchanged, any other with two or three digits, and more if all of them would be 0. */
export function number(value: number | null | undefined): string {
  if (value == null) return NONE;
  if (Number.isInteger(value)) return whole(value);
  if (Math.abs(value) < 0.01) return String(Number(value.toPrecision(2)));
  return value.toFixed(Math.abs(value) < 0.1 ? 3 : 2);
}

export const percent = (share: number | null | undefined) =>
  share == null ? NONE : `${(share * 100).toFixed(share === 1 || share === 0 ? 0 : 1)}%`;

export const plural = (count: number, word: string) => `${whole(count)} ${word}${count === 1 ? '' : 's'}`;

/** `1–4, 7` of a list of numbers. */
export function ranges(numbers: number[]): string {
  const parts: string[] = [];
  let [start, end] = [numbers[0], numbers[0]];
  for (const next of [...numbers.slice(1), NaN]) {
    if (next === end + 1) end = next;
    else {
      parts.push(start === end ? `${start}` : `${start}–${end}`);
      start = end = next;
    }
  }
  return parts.join(', ');
}

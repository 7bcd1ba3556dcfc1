// The address after the # is the state of the page.
import { computed, signal } from '@preact/signals';

const hash = signal(location.hash);
addEventListener('hashchange', () => {
  hash.value = location.hash;
});

export const route = computed(() => {
  const [path, search = ''] = hash.value.replace(/^#/, '').split('?');
  const parts = path.split('/').filter(Boolean).map(decoded);
  return { parts, params: new URLSearchParams(search) };
});

function decoded(part: string): string {
  try {
    return decodeURIComponent(part);
  } catch {
    return part;
  }
}

export const to = (...parts: (string | number)[]) => `#/${parts.map((part) => encodeURIComponent(part)).join('/')}`;

export function go(address: string): void {
  location.hash = address;
}

/** Where the list was left, for the way back. */
export const list = signal('#/');

/** The parameters of this address, for a link that keeps them. */
export const search = () => (route.value.params.size ? `?${route.value.params}` : '');

/** Changes the parameters of the page without a new entry in the history. */
export function setParams(changes: Record<string, string>): void {
  const params = new URLSearchParams(route.value.params);
  for (const [key, value] of Object.entries(changes)) {
    if (value) params.set(key, value);
    else params.delete(key);
  }
  history.replaceState(null, '', to(...route.value.parts) + (params.size ? `?${params}` : ''));
  hash.value = location.hash;
}

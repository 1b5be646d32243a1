/** The address of the page: which screen it names, and its query. Screens are links, so Back and new tabs work. */
import { computed, signal } from '@preact/signals';
import { consolePaths, type ScreenName } from '#shared/console-paths.ts';

const current = signal(new URL(window.location.href));

export interface Place {
  readonly screen: ScreenName | null;
  readonly id: string;
}

export const place = computed((): Place => placeOf(current.value.pathname));
export const query = computed(() => current.value.searchParams);
export const address = computed(() => current.value.pathname + current.value.search);

function placeOf(path: string): Place {
  for (const [screen, form] of screens) {
    const found = form.exec(path);
    if (found) return { screen, id: decode(found[1] ?? '') };
  }
  return { screen: null, id: '' };
}

function isScreen(name: string): name is ScreenName {
  return name in consolePaths;
}

const screens = Object.entries(consolePaths).flatMap(([name, path]): [ScreenName, RegExp][] =>
  isScreen(name) ? [[name, new RegExp(`^${path.replace(':id', '([^/]+)')}$`)]] : [],
);

function decode(part: string): string {
  try {
    return decodeURIComponent(part);
  } catch {
    return part;
  }
}

export function pathTo(screen: ScreenName, id = ''): string {
  return consolePaths[screen].replace(':id', encodeURIComponent(id));
}

/** @param values empty ones are left out */
export function withQuery(path: string, values: Readonly<Record<string, string>>): string {
  const given = Object.entries(values).filter(([, value]) => value !== '');
  return given.length === 0 ? path : `${path}?${new URLSearchParams(given)}`;
}

export function navigate(to: string, { replace = false } = {}): void {
  const before = current.peek().pathname;
  if (replace) window.history.replaceState(null, '', to);
  else window.history.pushState(null, '', to);
  current.value = new URL(window.location.href);
  if (replace) return;
  // An arrow key chose the next one of a list: the next press goes on from there.
  if (current.peek().pathname === before && document.activeElement?.matches('select')) return;
  window.scrollTo(0, 0);
  // A reader of the screen hears where it is now.
  document.getElementById('content')?.focus({ preventScroll: true });
}

export function startRouter(): void {
  window.addEventListener('popstate', () => {
    current.value = new URL(window.location.href);
  });
  document.addEventListener('click', (event) => {
    const link = event.target instanceof Element ? event.target.closest('a') : null;
    if (!link || event.defaultPrevented || event.button !== 0) return;
    if (event.metaKey || event.ctrlKey || event.shiftKey || event.altKey) return;
    if (link.target !== '' || link.hasAttribute('download') || link.origin !== window.location.origin) return;
    if (placeOf(link.pathname).screen === null || link.hash !== '') return;
    event.preventDefault();
    navigate(link.pathname + link.search);
  });
}

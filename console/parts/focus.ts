/**
 * Keeps the place of the keyboard. What is read, and what is done, takes elements out of the page and moves others, such as
 * the row of a call that has ended: the browser then takes the focus away, and the next Tab starts at the top.
 */

interface Held {
  readonly element: Element;
  /** With what it was in, innermost first. */
  readonly path: readonly Element[];
  /** It was taken out of the page, and may be back at another place. */
  lost: boolean;
  /** The row that is now where its row was. */
  nextRow: Element | null;
}

/** What has the focus, or had it last. */
let held: Held | null = null;
/** The same outside of questions: the focus goes back to it after one. */
let behind: Held | null = null;
let looks = false;

export function keepFocus(): void {
  document.addEventListener('focusin', ({ target }) => {
    if (!(target instanceof Element)) return;
    held = { element: target, path: pathOf(target), lost: false, nextRow: null };
    if (!target.closest('dialog')) behind = held;
  });
  // Somebody who clicks elsewhere leaves it.
  document.addEventListener('pointerdown', () => {
    held = null;
    behind = null;
  });
  new MutationObserver(note).observe(document.body, { childList: true, subtree: true });
}

function pathOf(element: Element): Element[] {
  const path: Element[] = [];
  for (let at: Element | null = element; at !== null; at = at.parentElement) path.push(at);
  return path;
}

function note(changes: readonly MutationRecord[]): void {
  const asks = behind !== null && behind !== held;
  if (!asks && document.activeElement !== document.body) return;
  for (const one of new Set([held, behind])) if (one) noteOf(one, changes);
  if (looks || !held?.lost) return;
  looks = true;
  // What is drawn in its place may take the focus itself, after the next frame.
  requestAnimationFrame(() => setTimeout(look));
}

function noteOf(one: Held, changes: readonly MutationRecord[]): void {
  for (const { removedNodes, nextSibling, previousSibling } of changes) {
    for (const removed of removedNodes) {
      if (!(removed instanceof Element) || !one.path.includes(removed)) continue;
      one.lost = true;
      const beside = nextSibling ?? previousSibling;
      if (removed.matches('tr') && beside instanceof Element) one.nextRow = beside;
    }
  }
}

function look(): void {
  looks = false;
  if (document.activeElement !== document.body || held === null) return;
  const dialog = document.querySelector('dialog[open]');
  const one = dialog || behind === null ? held : behind;
  const [place] = placesFor(one, dialog);
  if (place) focus(place);
}

function* placesFor(
  { element, nextRow, path }: Held,
  dialog: Element | null,
): Generator<HTMLElement | SVGElement> {
  const row = nextRow?.isConnected ? nextRow.querySelector('a.row-link') : null;
  const content = document.getElementById('content');
  const around = path.find((at) => at.isConnected && at.matches(places));
  for (const at of [element, row, around, content]) {
    if (!(at instanceof HTMLElement || at instanceof SVGElement) || !at.isConnected) continue;
    if (dialog === null || dialog.contains(at)) yield at;
  }
}

/** What a reader of the screen names, so that it is clear where one is. */
const places = 'dialog[open], [tabindex], section, fieldset, form, aside, nav, header, svg[role=group]';

function focus(place: HTMLElement | SVGElement): void {
  place.focus({ preventScroll: true });
  if (document.activeElement === place) return;
  place.tabIndex = -1;
  place.addEventListener('blur', () => place.removeAttribute('tabindex'), { once: true });
  place.focus({ preventScroll: true });
}

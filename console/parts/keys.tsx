/** Shortcuts of the keyboard, and their list. Single keys can be switched off (WCAG 2.1.4). */
import { signal } from '@preact/signals';
import { useEffect, useRef } from 'preact/hooks';
import { mayCall } from '../api/session.ts';
import { navigate, pathTo } from '../router.ts';
import { texts } from '../text/texts.ts';
import { readKept, writeKept } from './kept.ts';
import { openPhone } from './open-phone.ts';

export const keysOpen = signal(false);
const enabled = signal(readKept('keys') !== 'off');

/** After `g`, ms. */
const secondKeyMs = 1500;
let goUntil = 0;

export function startKeys(): void {
  document.addEventListener('keydown', (event) => {
    if (!enabled.value || event.ctrlKey || event.metaKey || event.altKey) return;
    if (isTyping(event.target) || document.querySelector('dialog[open]')) return;
    if (act(event.key, event.timeStamp)) event.preventDefault();
  });
}

/** Whether a key means a character there. */
export function isTyping(target: EventTarget | null): boolean {
  return target instanceof HTMLElement && target.matches('input, select, textarea, [contenteditable]');
}

/** @returns whether it meant something */
function act(key: string, now: number): boolean {
  if (now < goUntil) {
    goUntil = 0;
    const to =
      key === 'o' ? 'overview' : key === 'l' ? 'live' : key === 'c' ? 'calls' : key === 't' ? 'trunks' : null;
    if (to) navigate(pathTo(to));
    return to !== null;
  }
  switch (key) {
    case 'g':
      goUntil = now + secondKeyMs;
      return true;
    case '?':
      keysOpen.value = true;
      return true;
    case 'p':
      if (mayCall.value) openPhone();
      return mayCall.value;
    case '/':
      return focusSearch();
    case 'j':
      return moveRow(1);
    case 'k':
      return moveRow(-1);
    default:
      return false;
  }
}

function focusSearch(): boolean {
  const focus = () => {
    const field = document.querySelector<HTMLElement>('[data-search]');
    field?.focus();
    return field !== null;
  };
  if (focus()) return true;
  navigate(pathTo('calls'));
  // What is typed next is searched, and means no other keys.
  requestAnimationFrame(focus);
  return true;
}

/** Rows are reached by their links. */
function moveRow(step: number): boolean {
  const links = [...document.querySelectorAll<HTMLElement>('tbody a.row-link')];
  if (links.length === 0) return false;
  const { activeElement } = document;
  const at = activeElement instanceof HTMLElement ? links.indexOf(activeElement) : -1;
  const next =
    at < 0 ? (step > 0 ? 0 : links.length - 1) : Math.min(Math.max(at + step, 0), links.length - 1);
  links[next]?.focus();
  return true;
}

export function KeysDialog() {
  const dialog = useRef<HTMLDialogElement>(null);
  const open = keysOpen.value;
  useEffect(() => {
    if (open) dialog.current?.showModal();
  }, [open]);
  return (
    <dialog
      ref={dialog}
      aria-labelledby="keys-title"
      onClose={() => {
        keysOpen.value = false;
      }}
    >
      <h2 id="keys-title">{texts.keys.title}</h2>
      <dl class="shortcuts">
        {texts.keys.rows.map(([key, meaning]) => (
          <div key={key}>
            <dt>
              <kbd>{key}</kbd>
            </dt>
            <dd>{meaning}</dd>
          </div>
        ))}
      </dl>
      <label class="check">
        <input
          type="checkbox"
          checked={enabled.value}
          onChange={({ currentTarget: { checked } }) => {
            enabled.value = checked;
            writeKept('keys', checked ? 'on' : 'off');
          }}
        />
        {texts.keys.enabled}
      </label>
      <button type="button" onClick={() => dialog.current?.close()}>
        {texts.keys.close}
      </button>
    </dialog>
  );
}

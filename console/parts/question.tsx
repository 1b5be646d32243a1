/** Questions over the screens: what asked may move or go meanwhile, such as the row of a list that is read again. */
import { signal } from '@preact/signals';
import type { ComponentChildren, VNode } from 'preact';
import { useEffect, useLayoutEffect, useRef } from 'preact/hooks';
import { address } from '../router.ts';

const shown = signal<VNode | null>(null);

export function ask(question: VNode): void {
  shown.value = question;
}

function close(): void {
  shown.value = null;
}

/** The one that is open. It belongs to its screen, and goes with it. */
export function Questions() {
  useEffect(close, [address.value]);
  return shown.value;
}

interface QuestionProps {
  readonly title: string;
  readonly children: (close: () => void) => ComponentChildren;
}

export function Question({ title, children }: QuestionProps) {
  const dialog = useRef<HTMLDialogElement>(null);
  // First: what is in it may take the focus.
  useLayoutEffect(() => dialog.current?.showModal(), []);
  return (
    <dialog ref={dialog} class="question" aria-labelledby="question-title" onClose={close}>
      <h2 id="question-title">{title}</h2>
      {children(() => dialog.current?.close())}
    </dialog>
  );
}

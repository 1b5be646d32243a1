/** Ends a call, after a question. */
import { useSignal } from '@preact/signals';
import { useEffect, useRef } from 'preact/hooks';
import { request } from '../api/client.ts';
import { type Problem, problemOf } from '../api/problem.ts';
import { texts } from '../text/texts.ts';
import { ProblemNote } from './pieces.tsx';

const words = texts.live.hangUp;

export function HangUp({ id, name }: { id: string; name: string }) {
  const asking = useSignal(false);
  return (
    <>
      <button
        type="button"
        class="danger"
        aria-label={words.label(name)}
        onClick={() => {
          asking.value = true;
        }}
      >
        {words.button}
      </button>
      {asking.value && (
        <Question
          id={id}
          name={name}
          close={() => {
            asking.value = false;
          }}
        />
      )}
    </>
  );
}

function Question({ id, name, close }: { id: string; name: string; close: () => void }) {
  const dialog = useRef<HTMLDialogElement>(null);
  const problem = useSignal<Problem | null>(null);
  useEffect(() => dialog.current?.showModal(), []);
  const stop = async () => {
    problem.value = null;
    try {
      await request('POST /v1/calls/{call_id}/stop', { path: { call_id: id }, body: {} });
      dialog.current?.close();
    } catch (error) {
      problem.value = problemOf(error);
    }
  };
  return (
    <dialog ref={dialog} class="question" aria-labelledby="hang-up-title" onClose={close}>
      <h2 id="hang-up-title">{words.question(name)}</h2>
      <p>{words.what}</p>
      {problem.value && <ProblemNote problem={problem.value} />}
      <p class="row">
        <button type="button" class="danger" onClick={stop}>
          {words.yes}
        </button>
        <button type="button" onClick={() => dialog.current?.close()}>
          {words.no}
        </button>
      </p>
    </dialog>
  );
}

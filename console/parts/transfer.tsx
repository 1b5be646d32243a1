/** Transfers a call to somebody, or to a place. */
import { useSignal } from '@preact/signals';
import { useEffect, useRef } from 'preact/hooks';
import { request } from '../api/client.ts';
import { texts } from '../text/texts.ts';
import { Form, textOf } from './submit.tsx';

const words = texts.live.transfer;

export function Transfer({ id, name }: { id: string; name: string }) {
  const asking = useSignal(false);
  return (
    <>
      <button
        type="button"
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
  useEffect(() => dialog.current?.showModal(), []);
  return (
    <dialog ref={dialog} class="question" aria-labelledby="transfer-title" onClose={close}>
      <h2 id="transfer-title">{words.question(name)}</h2>
      <p>{words.what}</p>
      <Form
        label={words.question(name)}
        submit={words.yes}
        run={async (data) => {
          const transfer_number = textOf(data, 'target');
          await request('POST /v1/calls/active/transfer', { body: { call_id: id, transfer_number } });
          dialog.current?.close();
        }}
      >
        <label>
          {words.target}
          <input name="target" required maxLength={512} title={words.hint} autocomplete="off" />
        </label>
      </Form>
      <p class="row">
        <button type="button" onClick={() => dialog.current?.close()}>
          {words.no}
        </button>
      </p>
    </dialog>
  );
}

/** Transfers a call to somebody, or to a place. */
import { request } from '../api/client.ts';
import { texts } from '../text/texts.ts';
import { ask, Question } from './question.tsx';
import { Form, textOf } from './submit.tsx';

const words = texts.live.transfer;

export function Transfer({ id, name }: { id: string; name: string }) {
  return (
    <button
      type="button"
      aria-label={words.label(name)}
      onClick={() =>
        ask(
          <Question title={words.question(name)}>
            {(close) => <Target id={id} name={name} close={close} />}
          </Question>,
        )
      }
    >
      {words.button}
    </button>
  );
}

function Target({ id, name, close }: { id: string; name: string; close: () => void }) {
  return (
    <>
      <p>{words.what}</p>
      <Form
        label={words.question(name)}
        submit={words.yes}
        run={async (data) => {
          const transfer_number = textOf(data, 'target');
          await request('POST /v1/calls/active/transfer', { body: { call_id: id, transfer_number } });
          close();
        }}
      >
        <label>
          {words.target}
          <input name="target" required maxLength={512} title={words.hint} autocomplete="off" />
        </label>
      </Form>
      <p class="row">
        <button type="button" onClick={close}>
          {words.no}
        </button>
      </p>
    </>
  );
}

/** Supervision of a live call: joined over the phone, changed and left where the call is shown, and in the phone. */
import { type ReadonlySignal, signal, useSignal } from '@preact/signals';
import type { Answer } from '../api/client.ts';
import { request } from '../api/client.ts';
import { follow } from '../api/follow.ts';
import { mayCall } from '../api/session.ts';
import { supervise as words } from '../text/supervise.ts';
import { openPhone } from './open-phone.ts';
import { ProblemNote } from './pieces.tsx';
import { Form, textOf, useAct } from './submit.tsx';

type Mode = Answer<'GET /v1/calls/{call_id}/supervisors'>['data']['supervisors'][number]['mode'];

interface Supervised {
  readonly callId: string;
  /** Of the supervisor. */
  readonly id: string;
  readonly mode: Mode;
}

const current = signal<Supervised | null>(null);

/** What this page supervises now; null: nothing, or it has not joined yet. */
export const supervised: ReadonlySignal<Supervised | null> = current;

let unfollow: () => void = () => undefined;

/** @param next null: it has left */
export function setSupervised(next: Supervised | null): void {
  unfollow();
  current.value = next;
  if (!next) return;
  const { callId, id } = next;
  const became = (of: readonly { readonly id: string; readonly mode: Mode }[]) => {
    const own = of.find((one) => one.id === id);
    if (own) setMode(own.mode);
  };
  const read = async () => {
    const path = { call_id: callId };
    became((await request('GET /v1/calls/{call_id}/supervisors', { path })).data.supervisors);
  };
  // Its mode can be changed over the API as well.
  unfollow = follow(
    { types: 'supervision', call_id: callId },
    {
      // What cannot be read now is told by the next event, and by the end of the call.
      onStale: () => void read().catch(() => undefined),
      onEvent: ({ data }) => {
        if (data?.supervisor) became([data.supervisor]);
      },
      onState: () => undefined,
    },
  );
}

function setMode(mode: Mode): void {
  const now = current.peek();
  if (now && now.mode !== mode) current.value = { ...now, mode };
}

async function change(mode: Mode, note: string): Promise<void> {
  const now = supervised.peek();
  if (!now) return;
  const { data } = await request('PATCH /v1/calls/{call_id}/supervisors/{id}', {
    path: { call_id: now.callId, id: now.id },
    body: { mode, ...(note !== '' && { note }) },
  });
  // It may have left meanwhile.
  if (supervised.peek()?.id === now.id) setMode(data.supervisor.mode);
}

async function leave(): Promise<void> {
  const now = supervised.peek();
  if (!now) return;
  await request('DELETE /v1/calls/{call_id}/supervisors/{id}', { path: { call_id: now.callId, id: now.id } });
}

export interface SuperviseProps {
  readonly id: string;
  /** Of the call. */
  readonly name: string;
  /** It is one line of a table. */
  readonly isRow: boolean;
}

/** Of a call that is up. */
export function Supervise({ id, name, isRow }: SuperviseProps) {
  if (!mayCall.value) return null;
  if (supervised.value?.callId === id) return isRow ? <TakeOver name={name} /> : <Modes name={name} />;
  return (
    <button
      type="button"
      aria-label={words.listenTo(name)}
      onClick={() => openPhone({ name: words.to(name), supervise: id })}
    >
      {words.listen}
    </button>
  );
}

/** What a row has room for: the phone has the rest, and says who hears the supervisor. */
function TakeOver({ name }: { name: string }) {
  const { act, busy, problem } = useAct();
  const isTaken = supervised.value?.mode === 'take_over';
  const text = isTaken ? words.giveBack : words.takeOver;
  return (
    <>
      <button
        type="button"
        aria-label={words.of(text, name)}
        aria-disabled={busy.value}
        onClick={() => void act(() => change(isTaken ? 'listen' : 'take_over', ''))}
      >
        {text}
      </button>
      {problem.value && <ProblemNote problem={problem.value} />}
    </>
  );
}

/** What the supervisor does, of which one is pressed at a time. */
export function Modes({ name }: { name: string }) {
  const { act, busy, problem } = useAct();
  const now = supervised.value;
  if (!now) return null;
  const isTaken = now.mode === 'take_over';
  const button = (mode: Mode, text: string, key: string = mode) => (
    <button
      key={key}
      type="button"
      aria-pressed={now.mode === mode}
      aria-disabled={busy.value}
      onClick={() => void act(() => change(mode, ''))}
    >
      {text}
    </button>
  );
  return (
    <fieldset class="row modes">
      <legend class="unseen">{words.modes(name)}</legend>
      <span role="status" class="quiet">
        {words.states[now.mode]}
      </span>
      {!isTaken && [
        button('listen', words.listen),
        button('whisper', words.whisper),
        button('barge', words.speak),
      ]}
      {/* One button, so that it keeps the focus. */}
      {isTaken ? button('listen', words.giveBack, 'turn') : button('take_over', words.takeOver, 'turn')}
      <button type="button" class="danger" aria-disabled={busy.value} onClick={() => void act(leave)}>
        {words.leave}
      </button>
      {problem.value && <ProblemNote problem={problem.value} />}
    </fieldset>
  );
}

/** A text for the model of the agent; after a take-over it goes with the call. */
export function Whisper() {
  const told = useSignal(false);
  const now = supervised.value;
  if (!now) return null;
  const isTaken = now.mode === 'take_over';
  return (
    <>
      <Form
        class="row"
        label={isTaken ? words.note : words.tell}
        submit={isTaken ? words.giveBackWith : words.send}
        clears
        run={async (data) => {
          const text = textOf(data, 'text');
          told.value = false;
          if (isTaken) return change('listen', text);
          const path = { call_id: now.callId };
          await request('POST /v1/calls/{call_id}/whisper', { path, body: { text } });
          told.value = true;
        }}
      >
        <label class="row">
          {isTaken ? words.note : words.tell}
          <input name="text" required maxLength={1000} autocomplete="off" />
        </label>
      </Form>
      <span role="status" class="quiet">
        {told.value && !isTaken && words.told}
      </span>
    </>
  );
}

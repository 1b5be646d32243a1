/** A button for what cannot be taken back, or is felt by others: it asks first. */
import { type Signal, useSignal } from '@preact/signals';
import { useEffect, useRef } from 'preact/hooks';
import { ProblemNote } from './pieces.tsx';
import { useAct } from './submit.tsx';

export interface AskedWords {
  readonly button: string;
  /** Of the button, for those who do not see where it is. */
  readonly label: (name: string) => string;
  readonly question: (name: string) => string;
  /** What follows. */
  readonly what: string;
  readonly yes: string;
  readonly no: string;
}

interface AskedButtonProps {
  readonly words: AskedWords;
  /** Of what it is done to. */
  readonly name: string;
  /** @throws what `request` throws */
  readonly run: () => Promise<unknown>;
  /** Whether it asks, for those who must not take the button away meanwhile. */
  readonly asking?: Signal<boolean>;
}

export function AskedButton(props: AskedButtonProps) {
  const own = useSignal(false);
  const asking = props.asking ?? own;
  const { words, name } = props;
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
          {...props}
          close={() => {
            asking.value = false;
          }}
        />
      )}
    </>
  );
}

function Question({ words, name, run, close }: AskedButtonProps & { readonly close: () => void }) {
  const dialog = useRef<HTMLDialogElement>(null);
  const { act, busy, problem } = useAct();
  useEffect(() => dialog.current?.showModal(), []);
  const yes = async () => {
    if (await act(run)) dialog.current?.close();
  };
  return (
    <dialog ref={dialog} class="question" aria-labelledby="question-title" onClose={close}>
      <h2 id="question-title">{words.question(name)}</h2>
      <p>{words.what}</p>
      {problem.value && <ProblemNote problem={problem.value} />}
      <p class="row">
        <button type="button" class="danger" aria-disabled={busy.value} onClick={yes}>
          {words.yes}
        </button>
        <button type="button" onClick={() => dialog.current?.close()}>
          {words.no}
        </button>
      </p>
    </dialog>
  );
}

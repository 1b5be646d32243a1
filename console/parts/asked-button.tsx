/** A button for what cannot be taken back, or is felt by others: it asks first. */
import { useEffect, useRef } from 'preact/hooks';
import { ProblemNote } from './pieces.tsx';
import { ask, Question } from './question.tsx';
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
}

export function AskedButton(props: AskedButtonProps) {
  const { words, name } = props;
  return (
    <button
      type="button"
      class="danger"
      aria-label={words.label(name)}
      onClick={() =>
        ask(
          <Question title={words.question(name)}>{(close) => <YesOrNo {...props} close={close} />}</Question>,
        )
      }
    >
      {words.button}
    </button>
  );
}

function YesOrNo({ words, run, close }: AskedButtonProps & { readonly close: () => void }) {
  const no = useRef<HTMLButtonElement>(null);
  const { act, busy, problem } = useAct();
  // A key that is held down is pressed again: it must not say yes.
  useEffect(() => no.current?.focus(), []);
  const yes = async () => {
    if (await act(run)) close();
  };
  return (
    <>
      <p>{words.what}</p>
      {problem.value && <ProblemNote problem={problem.value} />}
      <p class="row">
        <button type="button" class="danger" aria-disabled={busy.value} onClick={yes}>
          {words.yes}
        </button>
        <button ref={no} type="button" onClick={close}>
          {words.no}
        </button>
      </p>
    </>
  );
}

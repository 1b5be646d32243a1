/** Forms and buttons that change something: one request at a time, and what the API said when it failed. */
import { useSignal } from '@preact/signals';
import type { ComponentChildren, TargetedSubmitEvent } from 'preact';
import { type Problem, problemOf } from '../api/problem.ts';
import { ProblemNote } from './pieces.tsx';

/** Runs one request at a time. `act` resolves to whether it was run, and did not fail. */
export function useAct() {
  const problem = useSignal<Problem | null>(null);
  const busy = useSignal(false);
  /** @param run throws what `request` throws */
  const act = async (run: () => Promise<unknown>): Promise<boolean> => {
    if (busy.value) return false;
    busy.value = true;
    problem.value = null;
    try {
      await run();
      return true;
    } catch (error) {
      problem.value = problemOf(error);
      return false;
    } finally {
      busy.value = false;
    }
  };
  return { act, busy, problem };
}

interface FormProps {
  readonly class?: string;
  readonly label?: string;
  readonly submit: string;
  /**
   * Its fields are empty again after it, and one of them keeps the focus: more of the same follows. They stay as they are
   * when more was written while it was sent.
   */
  readonly clears?: boolean;
  /** @throws what `request` throws */
  readonly run: (data: FormData) => Promise<unknown>;
  readonly children: ComponentChildren;
}

export function Form({ submit, run, children, label, clears = false, class: name = 'filters' }: FormProps) {
  const { act, busy, problem } = useAct();
  const onSubmit = (event: TargetedSubmitEvent<HTMLFormElement>) => {
    event.preventDefault();
    const form = event.currentTarget;
    const data = new FormData(form);
    void act(() => run(data)).then((done) => done && clears && holds(form, data) && form.reset());
  };
  return (
    <>
      <form class={name} aria-label={label} onSubmit={onSubmit}>
        {children}
        <button type="submit" class="primary" aria-disabled={busy.value}>
          {submit}
        </button>
      </form>
      {problem.value && <ProblemNote problem={problem.value} />}
    </>
  );
}

function holds(form: HTMLFormElement, sent: FormData): boolean {
  return [...new FormData(form)].every(([name, value]) => sent.get(name) === value);
}

/** A button for one request, which says what the API said when it failed. */
export function ActButton(props: {
  readonly run: () => Promise<unknown>;
  readonly children: ComponentChildren;
  readonly label?: string;
}) {
  const { act, busy, problem } = useAct();
  return (
    <>
      <button
        type="button"
        aria-label={props.label}
        aria-disabled={busy.value}
        onClick={() => void act(props.run)}
      >
        {props.children}
      </button>
      {problem.value && <ProblemNote problem={problem.value} />}
    </>
  );
}

export function textOf(data: FormData, name: string): string {
  return String(data.get(name) ?? '').trim();
}

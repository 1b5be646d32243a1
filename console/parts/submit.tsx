/** A form that changes something: one request at a time, and what the API said when it failed. */
import { useSignal } from '@preact/signals';
import type { ComponentChildren, TargetedSubmitEvent } from 'preact';
import { type Problem, problemOf } from '../api/problem.ts';
import { ProblemNote } from './pieces.tsx';

interface FormProps {
  readonly class?: string;
  readonly label?: string;
  readonly submit: string;
  /** @throws what `request` throws */
  readonly run: (data: FormData) => Promise<unknown>;
  readonly children: ComponentChildren;
}

export function Form({ submit, run, children, label, class: name = 'filters' }: FormProps) {
  const problem = useSignal<Problem | null>(null);
  const busy = useSignal(false);
  const onSubmit = async (event: TargetedSubmitEvent<HTMLFormElement>) => {
    event.preventDefault();
    if (busy.value) return;
    busy.value = true;
    problem.value = null;
    try {
      await run(new FormData(event.currentTarget));
    } catch (error) {
      problem.value = problemOf(error);
    } finally {
      busy.value = false;
    }
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

/** A button for one request, which says what the API said when it failed. */
export function ActButton(props: {
  readonly run: () => Promise<unknown>;
  readonly children: ComponentChildren;
  readonly label?: string;
}) {
  const problem = useSignal<Problem | null>(null);
  const busy = useSignal(false);
  const press = async () => {
    if (busy.value) return;
    busy.value = true;
    problem.value = null;
    try {
      await props.run();
    } catch (error) {
      problem.value = problemOf(error);
    } finally {
      busy.value = false;
    }
  };
  return (
    <>
      <button type="button" aria-label={props.label} aria-disabled={busy.value} onClick={press}>
        {props.children}
      </button>
      {problem.value && <ProblemNote problem={problem.value} />}
    </>
  );
}

export function textOf(data: FormData, name: string): string {
  return String(data.get(name) ?? '').trim();
}

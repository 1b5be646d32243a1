/** Sign-in with a key. The key is sent once, in the header; the browser keeps only the session's cookie. */
import { useSignal } from '@preact/signals';
import type { TargetedSubmitEvent } from 'preact';
import { useEffect, useRef } from 'preact/hooks';
import { signIn } from '../api/session.ts';
import { ProblemNote } from '../parts/pieces.tsx';
import { useAct } from '../parts/submit.tsx';
import { texts } from '../text/texts.ts';

export function SignIn({ ended }: { ended: boolean }) {
  const missing = useSignal(false);
  const { act, busy, problem } = useAct();
  const field = useRef<HTMLInputElement>(null);
  useEffect(() => {
    document.title = `${texts.signIn.title} · ${texts.product}`;
    field.current?.focus();
  }, []);
  const submit = async (event: TargetedSubmitEvent<HTMLFormElement>) => {
    event.preventDefault();
    const key = field.current?.value.trim() ?? '';
    problem.value = null;
    missing.value = key === '';
    if (missing.value) return field.current?.focus();
    const isIn = await act(() => signIn(key));
    if (!isIn) field.current?.select();
  };
  return (
    <main class="alone" id="content">
      <form class="sign-in" onSubmit={submit} noValidate>
        <h1>{texts.product}</h1>
        {ended && <p class="note warn">{texts.signIn.ended}</p>}
        {/* Password managers want a name to keep the key under. */}
        <input type="text" autoComplete="username" value={texts.product} readOnly hidden />
        <label for="key">{texts.signIn.key}</label>
        <input
          id="key"
          ref={field}
          type="password"
          autoComplete="current-password"
          spellcheck={false}
          aria-describedby="key-hint key-missing"
          aria-invalid={missing.value}
        />
        <p id="key-missing" class="bad-text" role="alert">
          {missing.value && texts.signIn.empty}
        </p>
        {problem.value && <ProblemNote problem={problem.value} />}
        <button type="submit" class="primary" aria-disabled={busy.value}>
          {busy.value ? texts.signIn.submitting : texts.signIn.submit}
        </button>
        <p id="key-hint" class="quiet">
          {texts.signIn.hint}
        </p>
      </form>
    </main>
  );
}

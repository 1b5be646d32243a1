/** Who is signed in, the theme, the keyboard, and the way out. */
import { useSignal } from '@preact/signals';
import { type Problem, problemOf } from '../api/problem.ts';
import { session, signOut } from '../api/session.ts';
import { texts } from '../text/texts.ts';
import { keysOpen } from './keys.tsx';
import { Menu } from './menu.tsx';
import { ProblemNote } from './pieces.tsx';
import { isTheme, setTheme, theme, themes } from './theme.tsx';

export function AccountMenu({ name }: { name: string }) {
  const problem = useSignal<Problem | null>(null);
  const leave = () =>
    signOut().catch((error: unknown) => {
      problem.value = problemOf(error);
    });
  const current = session.value;
  return (
    <Menu class="account" name={name}>
      {current && (
        <p class="quiet">
          {current.key.name} <code>{current.key.begins}…</code>
          <br />
          {texts.account.role(current.role)}
        </p>
      )}
      <label>
        {texts.account.theme}
        <select
          value={theme.value}
          onChange={({ currentTarget: { value } }) => {
            if (isTheme(value)) setTheme(value);
          }}
        >
          {themes.map((one) => (
            <option key={one} value={one}>
              {texts.account.themes[one]}
            </option>
          ))}
        </select>
      </label>
      <button
        type="button"
        onClick={() => {
          keysOpen.value = true;
        }}
      >
        {texts.keys.open}
      </button>
      <button type="button" onClick={leave}>
        {texts.account.signOut}
      </button>
      {problem.value && <ProblemNote problem={problem.value} />}
    </Menu>
  );
}

/** Small pieces that every screen uses. */
import type { ComponentChildren } from 'preact';
import type { Problem } from '../api/problem.ts';
import { texts } from '../text/texts.ts';
import { completeTime, shortTime } from './format.ts';
import type { Loaded } from './load.ts';

export type Tone = 'good' | 'warn' | 'bad' | 'live' | 'quiet';

/** A state in a word; the colour says nothing that the word does not. */
export function Badge({ tone, children }: { tone: Tone; children: ComponentChildren }) {
  return <span class={`badge ${tone}`}>{children}</span>;
}

export function Time({ at }: { at: string | null }) {
  if (at === null) return <span class="quiet">–</span>;
  return (
    <time dateTime={at} title={completeTime(at)}>
      {shortTime(at)}
    </time>
  );
}

/** What the API said, and what helps. */
export function ProblemNote({ problem, again }: { problem: Problem; again?: () => void }) {
  return (
    <div class="note bad" role="alert">
      <p>
        <strong>{problem.message}</strong> <code>{problem.code}</code>
      </p>
      {problem.helps && <p>{problem.helps}</p>}
      <p class="row">
        {again && (
          <button type="button" onClick={again}>
            {texts.errors.again}
          </button>
        )}
        {problem.requestId && <small class="quiet">{texts.errors.request(problem.requestId)}</small>}
      </p>
    </div>
  );
}

/** Nothing to show, and what to do next. */
export function Empty({ title, children }: { title: string; children?: ComponentChildren }) {
  return (
    <div class="empty">
      <p>
        <strong>{title}</strong>
      </p>
      {children && <p>{children}</p>}
    </div>
  );
}

export function Loading() {
  return (
    <p class="quiet loading" role="status">
      {texts.loading}
    </p>
  );
}

/** Why a screen shows nothing, or not the newest: it is being loaded, or that failed. */
export function LoadState({ of: { data, problem, loading, reload } }: { readonly of: Loaded<unknown> }) {
  return (
    <>
      {problem && <ProblemNote problem={problem} again={reload} />}
      {data === null && loading && <Loading />}
    </>
  );
}

export function Screen(props: {
  title: ComponentChildren;
  actions?: ComponentChildren;
  children: ComponentChildren;
}) {
  return (
    <>
      <header class="screen-head">
        <h1>{props.title}</h1>
        {props.actions && <div class="row">{props.actions}</div>}
      </header>
      {props.children}
    </>
  );
}

/** A screen whose content has not come yet, or does not. */
export function NotRead({ title, of }: { readonly title: string; readonly of: Loaded<unknown> }) {
  return (
    <Screen title={title}>
      <LoadState of={of} />
    </Screen>
  );
}

/** Name and value, one below the other. */
export function Facts({ rows }: { rows: readonly (readonly [name: string, value: ComponentChildren])[] }) {
  return (
    <dl class="facts">
      {rows.map(([name, value]) => (
        <div key={name}>
          <dt>{name}</dt>
          <dd>{value}</dd>
        </div>
      ))}
    </dl>
  );
}

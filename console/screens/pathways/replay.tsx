/** A call stepped through over the graph: which node it was in, and what was said there. */
import type { TargetedEvent } from 'preact';
import { useEffect, useRef } from 'preact/hooks';
import { type Answer, request } from '../../api/client.ts';
import { useLoaded } from '../../parts/load.ts';
import { LoadState } from '../../parts/pieces.tsx';
import { unchanging } from '../../parts/renewal.ts';
import { Form, textOf } from '../../parts/submit.tsx';
import { address, navigate, pathTo, query, withQuery } from '../../router.ts';
import { pathways } from '../../text/pathways.ts';
import { type Visit, visitsOf } from './replay.ts';

const words = pathways.replay;

/** The same screen with another query. */
export function withChoice(changes: Readonly<Record<string, string>>): string {
  const [path = ''] = address.value.split('?');
  return withQuery(path, { ...Object.fromEntries(query.value), ...changes });
}

export type ReplayedCall = Answer<'GET /v1/calls/{call_id}'>;

/** The call that the address names. @returns null: none, or not there yet */
export function useReplay() {
  const id = query.value.get('call') ?? '';
  const loaded = useLoaded<ReplayedCall | null>(
    `replay ${id}`,
    async (signal) =>
      id === '' ? null : request('GET /v1/calls/{call_id}', { path: { call_id: id }, signal }),
    id === '' ? unchanging : { events: { types: 'call,transcript', call_id: id } },
  );
  const visits = visitsOf(loaded.data?.pathway_logs ?? []);
  return { id, loaded, visits };
}

interface ReplayProps {
  readonly of: ReturnType<typeof useReplay>;
  readonly pathway: string;
  readonly version: number;
  readonly step: number;
  readonly go: (step: number) => void;
  /** Ids of the graph that is shown. */
  readonly known: ReadonlySet<string>;
}

export function Replay({ of: { id, loaded, visits }, ...props }: ReplayProps) {
  const { data: call } = loaded;
  return (
    <section class="card" aria-labelledby="replay-title">
      <h2 id="replay-title">{words.title}</h2>
      <Form
        label={words.title}
        submit={words.show}
        run={async (data) => navigate(withChoice({ call: textOf(data, 'call') }), { replace: true })}
      >
        <label class="grows">
          {words.id}
          <input key={id} name="call" required defaultValue={id} autocomplete="off" />
        </label>
      </Form>
      {id === '' && <p class="quiet">{words.hint}</p>}
      <LoadState of={loaded} />
      {call && <Found call={call} visits={visits} {...props} />}
    </section>
  );
}

interface FoundProps extends Omit<ReplayProps, 'of'> {
  readonly call: ReplayedCall;
  readonly visits: readonly Visit[];
}

function Found({ call, visits, pathway, version, step, go, known }: FoundProps) {
  const list = useRef<HTMLOListElement>(null);
  useEffect(() => {
    list.current?.querySelector('[aria-current]')?.scrollIntoView({ block: 'nearest' });
  }, [step]);
  const last = visits.length - 1;
  const onKeyDown = (event: TargetedEvent<HTMLElement, KeyboardEvent>) => {
    const to = { ArrowLeft: step - 1, ArrowRight: step + 1, Home: 0, End: last }[event.key];
    if (to === undefined || event.altKey || event.ctrlKey || event.metaKey) return;
    event.preventDefault();
    go(Math.min(last, Math.max(0, to)));
  };
  const visit = visits[step];
  const ofOther = call.pathway_id !== pathway;
  const buttons = [
    [words.first, 0],
    [words.previous, step - 1],
    [words.next, step + 1],
    [words.last, last],
  ] as const;
  return (
    <>
      <p class="row">
        <a href={pathTo('call', call.call_id)}>{words.call}</a>
        <a href={withChoice({ call: '' })}>{words.leave}</a>
      </p>
      {ofOther && <p class="note warn">{words.otherPathway}</p>}
      {!ofOther && call.pathway_version !== null && call.pathway_version !== version && (
        <p class="note warn">
          <span>
            {words.otherVersion(call.pathway_version)}{' '}
            <a href={withChoice({ version: String(call.pathway_version) })}>{words.showVersion}</a>
          </span>
        </p>
      )}
      {visits.length === 0 && <p>{words.none}</p>}
      {visit && (
        // biome-ignore lint/a11y/noStaticElementInteractions: keys of the buttons inside
        <div onKeyDown={onKeyDown}>
          <p class="row">
            {buttons.map(([name, to]) => (
              <button
                key={name}
                type="button"
                aria-disabled={to < 0 || to > last || to === step}
                onClick={() => go(Math.min(last, Math.max(0, to)))}
              >
                {name}
              </button>
            ))}
          </p>
          <p role="status">
            {words.step(step + 1, visits.length, visit.name)}
            {!known.has(visit.node) && ` (${words.gone})`}
          </p>
          <ol class="visits" ref={list}>
            {visits.map((one, index) => (
              <li key={index} {...(index === step && { 'aria-current': 'step' as const })}>
                <button type="button" class="plain" onClick={() => go(index)}>
                  {index + 1} {one.name}
                </button>
                {index === step &&
                  one.lines.map((line, number) => (
                    <p key={number}>
                      <span class="quiet">{whoOf(line.role)}</span> {line.text}
                    </p>
                  ))}
              </li>
            ))}
          </ol>
        </div>
      )}
      {call.omitted && <p class="note warn">{words.omitted}</p>}
    </>
  );
}

const who: Readonly<Record<string, string>> = words.who;

function whoOf(role: string): string {
  return who[role] ?? role;
}

/** The phone at the bottom of every screen: whom to call, and the call. It stays while one goes through the screens. */
import { useSignal } from '@preact/signals';
import { useEffect, useRef } from 'preact/hooks';
import { request } from '../api/client.ts';
import { useLoaded } from '../parts/load.ts';
import { Menu } from '../parts/menu.tsx';
import { ProblemNote } from '../parts/pieces.tsx';
import { seldom } from '../parts/renewal.ts';
import { textOf } from '../parts/submit.tsx';
import { Modes, supervised, Whisper } from '../parts/supervise.tsx';
import { pathTo } from '../router.ts';
import '../styles/phone.css';
import { ordered, phoneOpen } from '../parts/open-phone.ts';
import { phone as words } from '../text/phone.ts';
import {
  begin,
  broken,
  chosen,
  hangUp,
  held,
  hold,
  microphones,
  mute,
  muted,
  otherLevel,
  ownLevel,
  press,
  refreshDevices,
  shown,
  speakers,
  trouble,
  upSince,
  useMicrophone,
  useSpeaker,
} from './call.ts';
import type { Device } from './microphone.ts';

const keys = ['1', '2', '3', '4', '5', '6', '7', '8', '9', '*', '0', '#'];

export function PhoneBar() {
  const order = ordered.value;
  useEffect(() => {
    if (!order) return;
    ordered.value = null;
    void begin(order);
  }, [order]);
  useEffect(() => void refreshDevices(), []);
  useEffect(() => {
    const inPhone = (event: KeyboardEvent) => {
      if (shown.peek().state !== 'up' || event.ctrlKey || event.metaKey || event.altKey) return;
      if (isPhones(event.target) && keys.includes(event.key)) press(event.key);
    };
    document.addEventListener('keydown', inPhone);
    return () => document.removeEventListener('keydown', inPhone);
  }, []);
  const now = shown.value;
  const calls = now.state !== 'idle' && now.state !== 'ended';
  return (
    <aside class="phone" aria-label={words.title}>
      {calls ? <InCall name={now.name} state={now.state} /> : <Dial />}
      {trouble.value && <ProblemNote problem={trouble.value} />}
    </aside>
  );
}

/** What has the focus in the phone, but for its fields; or nothing has it, such as after what had it is gone. */
function isPhones(target: EventTarget | null): boolean {
  if (target === document.body) return true;
  return (
    target instanceof HTMLElement && target.closest('.phone') !== null && !target.matches('input, select')
  );
}

/** Whom to call. */
function Dial() {
  const now = shown.value;
  const field = useRef<HTMLInputElement>(null);
  useEffect(() => field.current?.focus(), []);
  const { data } = useLoaded(
    'numbers of the phone',
    (signal) => request('GET /v1/sip/numbers', { query: { limit: 100 }, signal }),
    seldom,
  );
  const numbers = data?.data.numbers ?? [];
  const outgoing = numbers.flatMap((one) => (one.directions.includes('outbound') ? [one.phone_number] : []));
  return (
    <>
      {now.state === 'ended' && (
        <p class="row" role="status">
          {now.name}: {words.states.ended} <a href={pathTo('calls')}>{words.inLog}</a>
        </p>
      )}
      {now.state === 'ended' && now.problem && <ProblemNote problem={now.problem} />}
      <form
        class="row"
        aria-label={words.title}
        onSubmit={(event) => {
          event.preventDefault();
          const data = new FormData(event.currentTarget);
          const [from, name] = [textOf(data, 'from'), textOf(data, 'number')];
          if (name === '') return;
          void begin({
            name,
            session: from === '' ? { phone_number: name } : { phone_number: from, to: name },
          });
        }}
      >
        {outgoing.length > 0 && (
          <label class="row">
            {words.way}
            <select name="from">
              <option value="">{words.agents}</option>
              {outgoing.map((from) => (
                <option key={from} value={from}>
                  {words.out(from)}
                </option>
              ))}
            </select>
          </label>
        )}
        <label class="row">
          {words.number}
          <input
            ref={field}
            name="number"
            type="tel"
            required
            list="phone-numbers"
            title={words.numberHint}
          />
        </label>
        <datalist id="phone-numbers">
          {numbers.map(({ phone_number }) => (
            <option key={phone_number} value={phone_number} />
          ))}
        </datalist>
        <button type="submit" class="primary">
          {words.call}
        </button>
        <Devices />
        <button
          type="button"
          aria-label={words.close}
          class="last"
          onClick={() => {
            phoneOpen.value = false;
          }}
        >
          ×
        </button>
      </form>
    </>
  );
}

function InCall({ name, state }: { name: string; state: 'starting' | 'calling' | 'ringing' | 'up' }) {
  const withKeys = useSignal(false);
  const end = useRef<HTMLButtonElement>(null);
  useEffect(() => end.current?.focus(), []);
  const up = state === 'up';
  const text = broken.value ? 'broken' : held.value ? 'held' : state;
  return (
    <>
      <div class="row">
        <strong>{name}</strong>
        <span role="status">{words.states[text]}</span>
        {up && <Clock since={upSince.value} />}
        <Level name={words.own} level={ownLevel} />
        <Level name={words.other} level={otherLevel} />
        {up && (
          <>
            <Toggle name={words.mute} on={muted.value} set={mute} />
            <Toggle name={words.hold} on={held.value} set={(on) => void hold(on)} />
            <button
              type="button"
              aria-expanded={withKeys.value}
              onClick={() => {
                withKeys.value = !withKeys.value;
              }}
            >
              {words.keys}
            </button>
          </>
        )}
        <Devices />
        <button ref={end} type="button" class="danger last" onClick={hangUp}>
          {words.hangUp}
        </button>
      </div>
      {up && supervised.value && (
        <div class="row">
          <Modes name={name} />
          <Whisper />
        </div>
      )}
      {up && withKeys.value && (
        <fieldset class="keypad">
          <legend class="unseen">{words.keys}</legend>
          {keys.map((key) => (
            <button key={key} type="button" aria-label={words.key(key)} onClick={() => press(key)}>
              {key}
            </button>
          ))}
        </fieldset>
      )}
    </>
  );
}

function Clock({ since }: { since: number }) {
  const now = useSignal(Date.now());
  useEffect(() => {
    const timer = setInterval(() => {
      now.value = Date.now();
    }, 1000);
    return () => clearInterval(timer);
  }, []);
  return <span class="quiet">{words.time(Math.max(0, Math.round((now.value - since) / 1000)))}</span>;
}

function Toggle({ name, on, set }: { name: string; on: boolean; set: (on: boolean) => void }) {
  return (
    <button type="button" aria-pressed={on} onClick={() => set(!on)}>
      {name}
    </button>
  );
}

/** Apart from the bar, which need not be drawn again ten times a second. */
function Level({ name, level }: { name: string; level: { readonly value: number } }) {
  return (
    <label class="level">
      {name} <meter min={0} max={1} value={level.value} />
    </label>
  );
}

function Devices() {
  return (
    <Menu class="devices" name={words.devices}>
      <DeviceChoice
        name={words.microphones}
        of={microphones.value}
        at={chosen.microphone.value}
        use={useMicrophone}
      />
      <DeviceChoice name={words.speakers} of={speakers.value} at={chosen.speaker.value} use={useSpeaker} />
    </Menu>
  );
}

interface DeviceChoiceProps {
  readonly name: string;
  readonly of: readonly Device[];
  readonly at: string;
  readonly use: (id: string) => Promise<void>;
}

function DeviceChoice({ name, of, at, use }: DeviceChoiceProps) {
  return (
    <label>
      {name}
      <select value={at} onChange={({ currentTarget: { value } }) => void use(value)}>
        <option value="">{words.preferred}</option>
        {of.map((one, index) => (
          <option key={one.id} value={one.id}>
            {words.device(one.name, index)}
          </option>
        ))}
      </select>
    </label>
  );
}

/** The phone's one call: from the microphone and the session's credentials to the line, and what is shown of it. */
import { effect, signal } from '@preact/signals';
import { request } from '../api/client.ts';
import { type Problem, pageProblem, problemOf } from '../api/problem.ts';
import { session, signedIn } from '../api/session.ts';
import { readKept, writeKept } from '../parts/kept.ts';
import type { PhoneOrder, SuperviseOrder } from '../parts/open-phone.ts';
import { setSupervised } from '../parts/supervise.tsx';
import { phone as words } from '../text/phone.ts';
import type { LineEnd } from './line.ts';
import { type Device, listDevices, NoMicrophone, openMicrophone, stopMicrophone } from './microphone.ts';
import { Talk } from './talk.ts';

export type Shown =
  | { readonly state: 'idle' }
  | { readonly state: 'starting' | 'calling' | 'ringing' | 'up'; readonly name: string }
  /** Why it ended, when it was not wished. */
  | { readonly state: 'ended'; readonly name: string; readonly problem: Problem | null };

export const shown = signal<Shown>({ state: 'idle' });
/** When it was answered, ms since the epoch. */
export const upSince = signal(0);
export const muted = signal(false);
export const held = signal(false);
/** The way to the edge is broken, and is being repaired. */
export const broken = signal(false);
/** What failed in a call that goes on. */
export const trouble = signal<Problem | null>(null);
export const microphones = signal<readonly Device[]>([]);
export const speakers = signal<readonly Device[]>([]);
export const ownLevel = signal(0);
export const otherLevel = signal(0);
export const chosen = {
  microphone: signal(readKept('microphone') ?? ''),
  speaker: signal(readKept('speaker') ?? ''),
};

let talk: Talk | null = null;
/** Counts the calls, up to the present one. */
let attempt = 0;

const inCall = () => !['idle', 'ended'].includes(shown.peek().state);

/** Of the present call: whether it has ended since, also when another one has begun. */
function whetherOver(): () => boolean {
  const own = attempt;
  return () => own !== attempt || !inCall();
}

/** Calls. A call that is up goes on: the order is left out. */
export async function begin(order: PhoneOrder | SuperviseOrder): Promise<void> {
  if (inCall()) return;
  attempt++;
  const { name } = order;
  const isOver = whetherOver();
  /** What happens to a call that was hung up while it was set up is not shown. */
  const show = (state: 'calling' | 'ringing' | 'up') => {
    shown.value = { state, name };
  };
  shown.value = { state: 'starting', name };
  for (const one of [muted, held, broken]) one.value = false;
  trouble.value = null;
  try {
    const microphone = await openChosen();
    if (isOver()) return stopMicrophone(microphone);
    const own = new Talk(microphone, (levels) => {
      ownLevel.value = levels.own;
      otherLevel.value = levels.other;
    });
    talk = own;
    void refreshDevices();
    const [{ Line }, { credentials, supervisor }] = await Promise.all([
      import('./line.ts'),
      credentialsFor(order),
    ]);
    if (isOver()) return;
    show('calling');
    await own.begin(Line, credentials, {
      ringing: () => show('ringing'),
      up: () => {
        upSince.value = Date.now();
        if (supervisor)
          setSupervised({ callId: supervisor.call_id, id: supervisor.id, mode: supervisor.mode });
        show('up');
        void useSpeaker(chosen.speaker.peek());
      },
      unheard: fail,
      broken: (isBroken) => {
        broken.value = isBroken;
      },
      ended: (end) => {
        if (!isOver()) finish(name, problemOfEnd(end, credentials.url));
      },
    });
  } catch (error) {
    if (!isOver()) finish(name, error instanceof NoMicrophone ? microphoneProblem(error) : problemOf(error));
  }
}

/** With `supervisor` a call is joined. */
async function credentialsFor(order: PhoneOrder | SuperviseOrder) {
  const caller = callerName();
  if ('session' in order) {
    const { session: wanted } = order;
    const { data } =
      'thread_id' in wanted
        ? await request('POST /v1/widget/{id}/threads/{thread_id}/call', { path: wanted })
        : await request('POST /v1/phone-sessions', { body: { ...wanted, caller } });
    return { credentials: data.credentials, supervisor: null };
  }
  const path = { call_id: order.supervise };
  return (await request('POST /v1/calls/{call_id}/supervisors', { path, body: { caller } })).data;
}

/** The one that is chosen once it is open, which may not be the one that was asked for. */
async function openChosen(): Promise<MediaStream> {
  const id = chosen.microphone.peek();
  const microphone = await openOrPreferred(id);
  if (id === chosen.microphone.peek()) return microphone;
  stopMicrophone(microphone);
  return openChosen();
}

/** The chosen one may be gone since. */
async function openOrPreferred(id: string): Promise<MediaStream> {
  try {
    return await openMicrophone(id);
  } catch (error) {
    if (id === '' || !(error instanceof NoMicrophone) || error.fault !== 'none') throw error;
    return openMicrophone('');
  }
}

/** Shown as the caller in the call log. */
function callerName(): string {
  return words.caller(session.peek()?.key.name ?? '').slice(0, 64);
}

function finish(name: string, problem: Problem | null): void {
  if (!inCall()) return;
  talk?.close();
  talk = null;
  setSupervised(null);
  shown.value = { state: 'ended', name, problem };
}

export function hangUp(): void {
  const now = shown.peek();
  talk?.line?.hangUp();
  // Before there is a line.
  if (now.state !== 'idle') finish(now.name, null);
}

export function press(key: string): void {
  if (!talk?.line?.press(key)) trouble.value = pageProblem('NO_KEYS', words.problems.noKeys, null);
}

export function mute(on: boolean): void {
  talk?.line?.mute(on);
  muted.value = on;
}

export async function hold(on: boolean): Promise<void> {
  try {
    await talk?.line?.hold(on);
    held.value = on;
    trouble.value = null;
  } catch (error) {
    trouble.value = pageProblem(
      'HOLD_REFUSED',
      words.problems.hold,
      error instanceof Error ? error.message : null,
    );
  }
}

export async function useMicrophone(id: string): Promise<void> {
  chosen.microphone.value = id;
  writeKept('microphone', id);
  const own = talk;
  // A call that still opens its first microphone, and the next call, begin with this one.
  if (!own) return;
  try {
    const microphone = await openMicrophone(id);
    // The call ended meanwhile, or yet another one was chosen.
    if (own !== talk || id !== chosen.microphone.peek()) return stopMicrophone(microphone);
    await own.useMicrophone(microphone);
    trouble.value = null;
  } catch (error) {
    if (own !== talk) return;
    if (error instanceof NoMicrophone) trouble.value = microphoneProblem(error);
    else fail(error);
  }
}

export async function useSpeaker(id: string): Promise<void> {
  chosen.speaker.value = id;
  writeKept('speaker', id);
  // Not every browser lets a page choose.
  if (id !== '' && talk && 'setSinkId' in talk.player) await talk.player.setSinkId(id).catch(fail);
}

export async function refreshDevices(): Promise<void> {
  microphones.value = await listDevices('audioinput');
  speakers.value = await listDevices('audiooutput');
}

function fail(error: unknown): void {
  trouble.value = problemOf(error);
}

function microphoneProblem({ fault }: NoMicrophone): Problem {
  return pageProblem('NO_MICROPHONE', words.microphone[fault].what, words.microphone[fault].helps);
}

function problemOfEnd(end: LineEnd, url: string): Problem | null {
  const { problems } = words;
  switch (end.why) {
    case 'over':
      return null;
    case 'refused':
      return pageProblem(`SIP_${end.status}`, problems.refused(end.phrase), problems.refusedHelps);
    case 'lost':
      return pageProblem('CONNECTION_LOST', problems.lost, problems.lostHelps);
    case 'forbidden':
      return pageProblem('EDGE_NEW', problems.newEdge, problems.newEdgeHelps);
    case 'unreachable':
      return pageProblem(
        'EDGE_UNREACHABLE',
        problems.unreachable(url),
        problems.unreachableHelps(url.replace(/^wss/, 'https')),
      );
  }
}

window.addEventListener('beforeunload', (event) => {
  if (inCall()) event.preventDefault();
});
// Else the edge waits for the page as for one whose network broke, and the other side hears nothing.
window.addEventListener('pagehide', () => hangUp());
effect(() => {
  if (signedIn.value.state === 'out') hangUp();
});
if (window.isSecureContext)
  navigator.mediaDevices.addEventListener('devicechange', () => void refreshDevices());

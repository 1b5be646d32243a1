/** The phone's one call: from the microphone and the session's credentials to the line, and what is shown of it. */
import { effect, signal } from '@preact/signals';
import { request } from '../api/client.ts';
import { type Problem, problemOf } from '../api/problem.ts';
import { session, signedIn } from '../api/session.ts';
import { readKept, writeKept } from '../parts/kept.ts';
import type { PhoneOrder } from '../parts/open-phone.ts';
import { phone as words } from '../text/phone.ts';
import { Meters } from './levels.ts';
import type { Line, LineEnd } from './line.ts';
import { type Device, listDevices, NoMicrophone, openMicrophone } from './microphone.ts';

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
export const chosen = {
  microphone: signal(readKept('microphone') ?? ''),
  speaker: signal(readKept('speaker') ?? ''),
};

interface Parts {
  microphone: MediaStream;
  readonly meters: Meters;
  readonly player: HTMLAudioElement;
  line: Line | null;
}

let parts: Parts | null = null;
/** Counts the calls, up to the present one. */
let attempt = 0;

const inCall = () => !['idle', 'ended'].includes(shown.peek().state);

/** Of the present call: whether it has ended since, also when another one has begun. */
function whetherOver(): () => boolean {
  const own = attempt;
  return () => own !== attempt || !inCall();
}

/** Calls. A call that is up goes on: the order is left out. */
export async function begin({ name, session: order }: PhoneOrder): Promise<void> {
  if (inCall()) return;
  attempt++;
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
    if (isOver()) return stop(microphone);
    const own: Parts = { microphone, meters: new Meters(), player: new Audio(), line: null };
    parts = own;
    own.meters.measureOwn(microphone);
    void refreshDevices();
    const [{ Line }, { data }] = await Promise.all([
      import('./line.ts'),
      request('POST /v1/phone-sessions', { body: { ...order, caller: callerName() } }),
    ]);
    if (isOver()) return;
    own.line = new Line(data.credentials, own.microphone, {
      ringing: () => show('ringing'),
      up: (sound) => {
        upSince.value = Date.now();
        show('up');
        play(own, sound);
      },
      broken: (isBroken) => {
        broken.value = isBroken;
      },
      ended: (end) => {
        if (!isOver()) finish(name, problemOfEnd(end, data.credentials.url));
      },
    });
    show('calling');
    await own.line.begin();
  } catch (error) {
    if (!isOver()) finish(name, error instanceof NoMicrophone ? microphoneProblem(error) : problemOf(error));
  }
}

/** The one that is chosen once it is open, which may not be the one that was asked for. */
async function openChosen(): Promise<MediaStream> {
  const id = chosen.microphone.peek();
  const microphone = await openOrPreferred(id);
  if (id === chosen.microphone.peek()) return microphone;
  stop(microphone);
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

function stop(microphone: MediaStream): void {
  for (const track of microphone.getTracks()) track.stop();
}

/** Shown as the caller in the call log. */
function callerName(): string {
  return words.caller(session.peek()?.key.name ?? '').slice(0, 64);
}

function play({ meters, player }: Parts, sound: MediaStream): void {
  meters.measureOther(sound);
  player.srcObject = sound;
  void useSpeaker(chosen.speaker.peek());
  void player.play().catch(fail);
}

function finish(name: string, problem: Problem | null): void {
  if (!inCall()) return;
  if (parts) {
    stop(parts.microphone);
    parts.meters.close();
    parts.player.srcObject = null;
  }
  parts = null;
  shown.value = { state: 'ended', name, problem };
}

export function hangUp(): void {
  const now = shown.peek();
  parts?.line?.hangUp();
  // Before there is a line.
  if (now.state !== 'idle') finish(now.name, null);
}

export function press(key: string): void {
  if (!parts?.line?.press(key)) trouble.value = own('NO_KEYS', words.problems.noKeys, null);
}

export function mute(on: boolean): void {
  parts?.line?.mute(on);
  muted.value = on;
}

export async function hold(on: boolean): Promise<void> {
  try {
    await parts?.line?.hold(on);
    held.value = on;
    trouble.value = null;
  } catch (error) {
    trouble.value = own('HOLD_REFUSED', words.problems.hold, error instanceof Error ? error.message : null);
  }
}

export async function useMicrophone(id: string): Promise<void> {
  chosen.microphone.value = id;
  writeKept('microphone', id);
  const own = parts;
  // A call that still opens its first microphone, and the next call, begin with this one.
  if (!own) return;
  try {
    const microphone = await openMicrophone(id);
    // The call ended meanwhile, or yet another one was chosen.
    if (own !== parts || id !== chosen.microphone.peek()) return stop(microphone);
    const former = own.microphone;
    own.microphone = microphone;
    own.meters.measureOwn(microphone);
    await own.line?.useMicrophone(microphone);
    stop(former);
    trouble.value = null;
  } catch (error) {
    if (own !== parts) return;
    if (error instanceof NoMicrophone) trouble.value = microphoneProblem(error);
    else fail(error);
  }
}

export async function useSpeaker(id: string): Promise<void> {
  chosen.speaker.value = id;
  writeKept('speaker', id);
  // Not every browser lets a page choose.
  if (id !== '' && parts && 'setSinkId' in parts.player) await parts.player.setSinkId(id).catch(fail);
}

export async function refreshDevices(): Promise<void> {
  microphones.value = await listDevices('audioinput');
  speakers.value = await listDevices('audiooutput');
}

function fail(error: unknown): void {
  trouble.value = problemOf(error);
}

function own(code: string, message: string, helps: string | null): Problem {
  return { status: 0, code, message, helps, requestId: null };
}

function microphoneProblem({ fault }: NoMicrophone): Problem {
  return own('NO_MICROPHONE', words.microphone[fault].what, words.microphone[fault].helps);
}

function problemOfEnd(end: LineEnd, url: string): Problem | null {
  const { problems } = words;
  switch (end.why) {
    case 'over':
      return null;
    case 'refused':
      return own(`SIP_${end.status}`, problems.refused(end.phrase), problems.refusedHelps);
    case 'lost':
      return own('CONNECTION_LOST', problems.lost, problems.lostHelps);
    case 'unreachable':
      return own(
        'EDGE_UNREACHABLE',
        problems.unreachable(url),
        problems.unreachableHelps(url.replace(/^wss/, 'https')),
      );
  }
}

// The only sign of it: the WebSocket that the policy of the page forbids never opens nor closes, and sip.js waits.
document.addEventListener('securitypolicyviolation', ({ effectiveDirective }) => {
  const now = shown.peek();
  if (effectiveDirective !== 'connect-src' || now.state !== 'calling') return;
  const line = parts?.line;
  finish(now.name, own('EDGE_NEW', words.problems.newEdge, words.problems.newEdgeHelps));
  line?.hangUp();
});
window.addEventListener('online', () => parts?.line?.moved());
window.addEventListener('beforeunload', (event) => {
  if (inCall()) event.preventDefault();
});
effect(() => {
  if (signedIn.value.state === 'out') hangUp();
});
if (window.isSecureContext)
  navigator.mediaDevices.addEventListener('devicechange', () => void refreshDevices());

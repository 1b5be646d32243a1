/** One registration at a registrar that the test plays. */
import { expect } from 'vitest';
import { FakeClock } from '#shared/clock.ts';
import type { ConnectionFailure } from '#shared/connection-faults.ts';
import type { DialTarget } from '../../../edge/call/ports/dialing.ts';
import type { BindingState } from '../../../edge/signaling/registration/binding-state.ts';
import { RefusalBudget } from '../../../edge/signaling/registration/refusal-budget.ts';
import type { RegistrarTargets } from '../../../edge/signaling/registration/register-exchange.ts';
import {
  Registration,
  type RegistrationSettings,
} from '../../../edge/signaling/registration/registration.ts';
import type { Outcome } from '../../../edge/signaling/srf/exchange.ts';
import type { NewRequest } from '../../../edge/signaling/srf/srf.ts';
import { QuietLog } from '../fakes/quiet-log.ts';

const settings: RegistrationSettings = {
  perSecond: 50,
  timeoutMs: 8_000,
  keepaliveMs: 30_000,
  retryMs: 5_000,
  retryMaxMs: 600_000,
  refusedPauseMs: 300_000,
};

const registrar = {
  host: 'pbx.example.com',
  port: 5061,
  username: 'acme',
  password: 'a-derived-secret',
  expiresS: 300,
};

export const target = (address: string): DialTarget => ({
  host: 'pbx.example.com',
  serverName: 'pbx.example.com',
  address,
  port: 5061,
});

export const first = target('192.0.2.1');
export const via = (rport: number) => `SIP/2.0/TLS 198.51.100.1:5061;branch=z9hG4bK1;rport=${rport}`;
export const ours = '<sip:acme@198.51.100.1:5061;transport=tls>';
export const challenge = (nonce: string, rest = '') =>
  `Digest realm="pbx", nonce="${nonce}", qop="auth", algorithm=SHA-256${rest}`;

/** A registration at a registrar played by the test. */
export class Scene {
  readonly clock = new FakeClock();
  readonly log = new QuietLog();
  readonly states: BindingState[] = [];
  readonly requests: { readonly message: NewRequest; readonly done: (outcome: Outcome) => void }[] = [];
  resolution: RegistrarTargets = { ok: true, targets: [first] };
  readonly registration: Registration;

  constructor({
    random = 0,
    setUp = false,
    ...changes
  }: Partial<RegistrationSettings> & { random?: number; setUp?: boolean } = {}) {
    this.registration = new Registration({
      environment: {
        clock: this.clock,
        random: () => random,
        publicAddress: '198.51.100.1:5061',
        software: 'Trunkline/test',
        engineIsEmbedded: () => true,
      },
      log: this.log,
      registrar,
      settings: { ...settings, ...changes },
      setUp,
      budget: new RefusalBudget(this.clock).shareOf('org'),
      exchange: (message, timeoutMs, done) => {
        const timer = this.clock.after(timeoutMs, () => done({ kind: 'silent', why: { kind: 'timeout' } }));
        this.requests.push({
          message,
          done: (outcome) => {
            timer.cancel();
            done(outcome);
          },
        });
      },
      resolve: () => Promise.resolve(this.resolution),
      changed: () => this.states.push(this.registration.state),
    });
  }

  /** The next request; pending DNS queries have been answered by then. */
  async request(): Promise<{
    message: NewRequest;
    answer: (status: number, headers?: Record<string, string>) => void;
    silence: (what: 'timeout' | ConnectionFailure) => void;
  }> {
    await settled();
    const next = this.requests.shift();
    if (!next) throw new Error('no request was sent');
    const { message, done } = next;
    return {
      message,
      answer: (status, headers = {}) =>
        done({ kind: 'answered', status, reason: 'Reason', headers, sent: { contact: ours } }),
      silence: (what) =>
        done({
          kind: 'silent',
          why: what === 'timeout' ? { kind: what } : { kind: 'unreachable', failure: what },
        }),
    };
  }

  async nothingSent(): Promise<void> {
    await settled();
    expect(this.requests.map(({ message }) => message.method)).toEqual([]);
  }

  /** Registers; the registrar sees us at port 40000. */
  async registered(headers: Record<string, string> = {}): Promise<void> {
    this.registration.start();
    (await this.request()).answer(200, { via: via(40_000), contact: `${ours};expires=300`, ...headers });
    expect(this.registration.state.state).toBe('registered');
  }
}

export const settled = () => new Promise((resolve) => setImmediate(resolve));

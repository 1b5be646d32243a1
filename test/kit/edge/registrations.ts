/** All registrations of an edge, at registrars that the test plays. */
import { createHash } from 'node:crypto';
import { beforeEach } from 'vitest';
import { FakeClock } from '#shared/clock.ts';
import type { InboundTrunk } from '#shared/edge-protocol/numbers.ts';
import type { RegistrationState } from '#shared/edge-protocol/reports.ts';
import { noRefusals, type RefusalStore } from '../../../edge/signaling/registration/refused-registrations.ts';
import { Registrations } from '../../../edge/signaling/registration/registrations.ts';
import type { Outcome } from '../../../edge/signaling/srf/exchange.ts';
import type { NewRequest } from '../../../edge/signaling/srf/srf.ts';
import { QuietLog } from '../fakes/quiet-log.ts';

export const epoch = Date.UTC(2030, 0, 1);
export const settled = () => new Promise((resolve) => setImmediate(resolve));

export function trunk(
  id: string,
  changes: Partial<NonNullable<InboundTrunk['registration']>> = {},
  org_id = 'org',
): { org_id: string; inbound: InboundTrunk[] } {
  const registration = {
    host: 'pbx.example.com',
    port: 5061,
    username: 'acme',
    password: 'secret',
    expires_s: 300,
    ...changes,
  };
  const common = { allowed_ips: [], source_host: null, headers: [], codecs: [] };
  return { org_id, inbound: [{ id, auth_mode: 'register', ...common, registration }] };
}

/** Fresh registrations for each test. */
export function registrationsScene() {
  let clock: FakeClock;
  let log: QuietLog;
  let registrations: Registrations;
  let requests: { readonly message: NewRequest; readonly done: (outcome: Outcome) => void }[];
  let reports: (RegistrationState & { readonly trunkId: string; readonly orderId?: string })[];
  beforeEach(() => build(0));

  /** @param refusals stored by an earlier edge @param at time of the clock, ms since the epoch of the tests */
  function build(keepaliveMs: number, refusals: RefusalStore = noRefusals, at = 0): void {
    clock = new FakeClock(epoch + at);
    log = new QuietLog();
    requests = [];
    reports = [];
    registrations = new Registrations({
      environment: {
        clock,
        log,
        random: () => 0,
        software: 'Trunkline/test',
        engineIsEmbedded: () => true,
        publicAddress: '198.51.100.1:5061',
      },
      exchange: (message, timeoutMs, done) => {
        const timer = clock.after(timeoutMs, () => done({ kind: 'silent', why: { kind: 'timeout' } }));
        requests.push({
          message,
          done: (outcome) => {
            timer.cancel();
            done(outcome);
          },
        });
      },
      resolve: async (host, port) => ({
        ok: true,
        targets: [{ host, serverName: host, address: '192.0.2.1', port }],
      }),
      refusals,
      nameOf: (key) => createHash('sha256').update(key).digest('hex'),
      report: (trunkId, state, orderId) =>
        reports.push({ trunkId, ...(orderId !== undefined && { orderId }), ...state }),
      settings: {
        perSecond: 10,
        timeoutMs: 8_000,
        keepaliveMs,
        retryMs: 5_000,
        retryMaxMs: 600_000,
        refusedPauseMs: 300_000,
      },
    });
  }

  /** Pending requests, abbreviated: the user and the requested interval. */
  async function sent(): Promise<string[]> {
    await settled();
    return requests.map(({ message }) => {
      const user = /<sip:([^@]+)@/.exec(message.headers.To ?? '')?.[1];
      return `${user} ${message.headers.Expires}`;
    });
  }

  async function answerAll(
    status = 200,
    headers: Record<string, string> = { expires: '300' },
  ): Promise<void> {
    await settled();
    for (const { message, done } of requests.splice(0)) {
      const contact = message.headers.Contact ?? '';
      done({
        kind: 'answered',
        status,
        reason: 'Reason',
        headers: { contact, ...headers },
        sent: { contact },
      });
    }
  }

  /** Applies a configuration and lets everything in it register. */
  async function registered(...numbers: { org_id: string; inbound: InboundTrunk[] }[]): Promise<void> {
    registrations.follow(numbers);
    registrations.engineUp();
    clock.advance(1_000);
    await answerAll();
    reports.length = 0;
  }

  const reported = () => reports.map(({ trunkId, state }) => `${trunkId} ${state}`);

  return {
    get clock() {
      return clock;
    },
    get log() {
      return log;
    },
    get registrations() {
      return registrations;
    },
    get requests() {
      return requests;
    },
    get reports() {
      return reports;
    },
    build,
    sent,
    answerAll,
    registered,
    reported,
  };
}

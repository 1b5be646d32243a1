/** Registering at SIPp as a customer's registrar: signaling and engine are real. */
import { afterAll, beforeAll, beforeEach, expect, test } from 'vitest';
import type { EdgeConfig } from '#shared/edge-protocol/config.ts';
import type { RegistrationState } from '#shared/edge-protocol/reports.ts';
import { TestEdge } from '../kit/edge/signaling.ts';
import { echoAgent, FakeAgents } from '../kit/fakes/fake-agents.ts';
import { FakeRoutes } from '../kit/fakes/fake-hunt.ts';
import { FakeMedia } from '../kit/fakes/fake-media.ts';
import { eventually } from '../kit/programs/eventually.ts';
import { freeTcpPort } from '../kit/programs/ports.ts';
import { serveScenario } from './serve.ts';

let edge: TestEdge;
let states: RegistrationState[] = [];
let version = 0;
/** Of the last scenario. */
let registrarPort = 0;

beforeAll(async () => {
  edge = await TestEdge.start({
    media: new FakeMedia(),
    agents: new FakeAgents(),
    outbound: { routes: new FakeRoutes(), ringTimeoutMs: 1_000 },
    registrars: {
      resolve: async (host, port) => ({
        ok: true,
        targets: [{ host, serverName: host, address: '127.0.0.1', port }],
      }),
      report: (_trunkId, state) => states.push(state),
      settings: {
        perSecond: 50,
        timeoutMs: 1_500,
        keepaliveMs: 0,
        retryMs: 250,
        retryMaxMs: 500,
        refusedPauseMs: 60_000,
      },
    },
  });
});

afterAll(() => edge?.stop());

beforeEach(() => {
  states = [];
});

/** @param port of the registrar; null: none */
function configure(port: number | null): void {
  const registration = { host: 'trunk.example', port: port ?? 0, username: 'acme', password: 'derived' };
  const trunk = {
    id: 'trunk',
    auth_mode: 'register',
    allowed_ips: [],
    source_host: null,
    headers: [],
    codecs: [],
    registration: { ...registration, expires_s: 300 },
  } as const;
  const number = { number: '+14155550100', org_id: 'org', outbound: [], agent: echoAgent };
  const config: EdgeConfig = {
    version: ++version,
    organizations: [],
    numbers: [
      { ...number, inbound: port === null ? [] : [{ ...trunk, allowed_ips: [], headers: [], codecs: [] }] },
    ],
    pathways: [],
    allowed_private_targets: [],
    open_inbound: false,
  };
  edge.signaling.configure(config);
}

/** Registers at SIPp with `scenario` until `reached`, then stops. The scenario must pass. */
async function registerAt(
  scenario: string,
  reached: RegistrationState['state'],
  keys: Record<string, string> = {},
): Promise<RegistrationState> {
  registrarPort = await freeTcpPort();
  const server = await serveScenario(scenario, registrarPort, edge.certificate, keys);
  try {
    configure(server.port);
    const state = await eventually(`the state ${reached}`, () => {
      const last = states.at(-1);
      return last?.state === reached ? last : null;
    });
    // After a rejection the scenario waits for a while and ends when no other REGISTER has arrived.
    if (reached === 'failed') await server.ended();
    configure(null);
    const { passed, report } = await server.ended();
    expect(passed, report).toBe(true);
    await eventually('the end of the registration', () => states.at(-1)?.state === 'ended' || null);
    return state;
  } finally {
    configure(null);
    await server.close();
  }
}

/** Lifetime of the binding; the two times are read a moment apart. */
function boundS({ at, expires_at }: RegistrationState): number {
  return Math.round((Date.parse(expires_at ?? '') - Date.parse(at)) / 1000);
}

test.each(['MD5', 'SHA-256'])('a stale nonce does not count as a refusal (%s)', async (algorithm) => {
  const state = await registerAt('uas-registrar-stale-nonce-expect-new-digest', 'registered', { algorithm });
  expect(state).toMatchObject({ sip_code: 200, last_error: null });
  expect(boundS(state)).toBe(60);
});

test('a registrar that requires a longer interval gets it', async () => {
  const state = await registerAt('uas-registrar-brief-interval-expect-min-expires', 'registered');
  expect(boundS(state)).toBe(900);
});

test('a wrong password is sent once', async () => {
  const state = await registerAt('uas-registrar-wrong-password-expect-one-try', 'failed');
  expect(state).toMatchObject({
    sip_code: 401,
    last_error: `trunk.example:${registrarPort} rejected our user name and password; the account there must have the derived password, returned by attach and update (register_password_for_pbx) (401 Unauthorized).`,
  });
});

test.each([
  ['403 Forbidden', '', 403, /^trunk\.example:\d+ forbids this registration; /],
  ['404 Not Found', '', 404, /^trunk\.example:\d+ does not know this user; /],
  [
    '302 Moved Temporarily',
    'Contact: <sip:127.0.0.1:9>\n',
    302,
    /redirects the registration to sip:127\.0\.0\.1:9; redirects are not followed/,
  ],
  [
    '503 Service Unavailable',
    'Retry-After: 60\n',
    503,
    /^trunk\.example:\d+ is out of service or overloaded \(503 Service Unavailable; try again after 60 s\)\.$/,
  ],
])(
  'a registrar that answers %s gets no further REGISTER for a while',
  async (status, fields, code, error) => {
    const state = await registerAt('uas-registrar-refusal-expect-pause', 'failed', { status, fields });
    expect(state.sip_code).toBe(code);
    expect(state.last_error).toMatch(error);
  },
);

test('the REGISTER to a silent registrar is retried', async () => {
  await registerAt('uas-registrar-silence-expect-another-try', 'registered');
  expect(states.map(({ state, last_error }) => [state, last_error])).toEqual([
    ['registering', null],
    [
      'failed',
      `trunk.example:${registrarPort} did not respond to the REGISTER in time; check that a SIP registrar listens there and accepts requests from our addresses.`,
    ],
    ['registered', null],
    ['ended', null],
  ]);
});

test('a registrar that gets the password late has the binding within seconds', async () => {
  // Records of the first configuration do not count as new; later ones do.
  configure(null);
  const state = await registerAt('uas-registrar-late-password-expect-close-tries', 'registered');
  expect(state).toMatchObject({ sip_code: 200, last_error: null, next_try_at: null });
  const failed = states.filter((one) => one.state === 'failed');
  expect(failed).toHaveLength(2);
  for (const { at, next_try_at } of failed) {
    const pauseS = (Date.parse(next_try_at ?? '') - Date.parse(at)) / 1000;
    expect(pauseS).toBeGreaterThanOrEqual(4);
    expect(pauseS).toBeLessThanOrEqual(10);
  }
});

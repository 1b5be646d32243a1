/** Registering at SIPp as a customer's registrar: signaling and engine are real. */
import { afterAll, beforeAll, beforeEach, expect, test } from 'vitest';
import type { EdgeConfig } from '#shared/edge-protocol/config.ts';
import type { RegistrationState } from '#shared/edge-protocol/reports.ts';
import { TestEdge } from '../../edge/signaling/testing.ts';
import { echoAgent, FakeAgents } from '../fakes/fake-agents.ts';
import { FakeRoutes } from '../fakes/fake-hunt.ts';
import { FakeMedia } from '../fakes/fake-media.ts';
import { eventually } from '../system/eventually.ts';
import { freeTcpPort } from '../system/ports.ts';
import { serveScenario } from './serve.ts';

let edge: TestEdge;
let states: RegistrationState[] = [];
let version = 0;

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

/** @param port of the registrar; null: there is none */
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

/** Registers at SIPp with `scenario` until `reached`, then no more. SIPp must have seen what it wants. */
async function registerAt(
  scenario: string,
  reached: RegistrationState['state'],
  keys: Record<string, string> = {},
): Promise<RegistrationState> {
  const server = await serveScenario(scenario, await freeTcpPort(), edge.certificate, keys);
  try {
    configure(server.port);
    const state = await eventually(`the state ${reached}`, () => {
      const last = states.at(-1);
      return last?.state === reached ? last : null;
    });
    // A refusal is watched for a while: the scenario ends when no other REGISTER has come.
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

/** How long the binding lasts; the two times are read a moment apart. */
function boundS({ at, expires_at }: RegistrationState): number {
  return Math.round((Date.parse(expires_at ?? '') - Date.parse(at)) / 1000);
}

test.each(['MD5', 'SHA-256'])('a stale nonce is no refusal (%s)', async (algorithm) => {
  const state = await registerAt('uas-registrar-stale-nonce-expect-new-digest', 'registered', { algorithm });
  expect(state).toMatchObject({ sip_code: 200, last_error: null });
  expect(boundS(state)).toBe(60);
});

test('a registrar that wants longer bindings gets them', async () => {
  const state = await registerAt('uas-registrar-brief-interval-expect-min-expires', 'registered');
  expect(boundS(state)).toBe(900);
});

test('a wrong password is given once', async () => {
  const state = await registerAt('uas-registrar-wrong-password-expect-one-try', 'failed');
  expect(state).toMatchObject({
    sip_code: 401,
    last_error:
      'The registrar refused the username or password (401): the PBX must have the derived password.',
  });
});

test.each([
  ['403 Forbidden', '', 403, /^The registrar forbids this registration/],
  ['404 Not Found', '', 404, /^The registrar does not know this user/],
  ['302 Moved Temporarily', 'Contact: <sip:127.0.0.1:9>\n', 302, /redirects are not followed\.$/],
  ['503 Service Unavailable', 'Retry-After: 60\n', 503, /^The registrar refused with 503/],
])('a registrar that answers %s is left alone', async (status, fields, code, error) => {
  const state = await registerAt('uas-registrar-refusal-expect-pause', 'failed', { status, fields });
  expect(state.sip_code).toBe(code);
  expect(state.last_error).toMatch(error);
});

test('a silent registrar is asked again', async () => {
  await registerAt('uas-registrar-silence-expect-another-try', 'registered');
  expect(states.map(({ state, last_error }) => [state, last_error])).toEqual([
    ['registering', null],
    ['failed', 'The registrar does not answer.'],
    ['registered', null],
    ['ended', null],
  ]);
});

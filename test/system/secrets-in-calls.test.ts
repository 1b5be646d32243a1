/**
 * Keys and credentials of calls over real TLS, in hostile encodings, then a search for each of them in everything that
 * is stored or shown: trace, capture, database files, outbox, logs. The files are readable only by the owner, without
 * trunk passwords in clear.
 */
import { randomBytes } from 'node:crypto';
import { readdirSync, readFileSync, statSync } from 'node:fs';
import { join, relative } from 'node:path';
import { afterAll, beforeAll, expect, test } from 'vitest';
import { Health } from '#shared/api/deployment.ts';
import { pickUp } from '../kit/programs/caller.ts';
import { eventually } from '../kit/programs/eventually.ts';
import { TestSystem } from '../kit/programs/harness.ts';

let system: TestSystem;
beforeAll(async () => {
  system = await TestSystem.start({ LOG_LEVEL: 'debug', ALLOW_PRIVATE_TARGETS: '127.0.0.0/8' });
});
afterAll(() => system?.stop());

const newKey = () => randomBytes(30).toString('base64');
const hex = (text: string) => Buffer.from(text, 'utf8').toString('hex');
const base64 = (text: string) => Buffer.from(text, 'utf8').toString('base64');
const urlSafe = (text: string) => text.replaceAll('+', '-').replaceAll('/', '_');
const percent = (text: string) => hex(text).replaceAll(/../g, (octet) => `%${octet}`);
const spaced = (text: string) => text.replaceAll(/.{7}/g, '$& ');

/** Headers that repeat a key in every reversible encoding. Not X- headers: they are variables. */
const echoes = (key: string): string[] => [
  `Trial-Plain: ${key}`,
  `Trial-Hex: ${hex(key)}`,
  `Trial-Octets: ${Buffer.from(key, 'base64').toString('hex').toUpperCase()}`,
  `Trial-Base64: ${base64(key)}`,
  `Trial-Shifted: ${base64(`ab${key}`)}`,
  `Trial-Url: ${urlSafe(key)}`,
  `Trial-Percent: ${percent(key)}`,
  `Reason: SIP;cause=200;text="${spaced(key)}"`,
];

const keyOf = (sdp: string): string => {
  const key = /inline:([A-Za-z0-9+/]{40})/.exec(sdp)?.[1];
  if (key === undefined) throw new Error(`no key in ${sdp}`);
  return key;
};

/** The `secrets` in `text`, also with spaces and line ends in between. */
function readable(text: string, secrets: Readonly<Record<string, string>>): string[] {
  const dense = text.replaceAll(/\\[nrt"]|[\s"\\]/g, '');
  return Object.entries(secrets).flatMap(([name, secret]) => {
    const octets = Buffer.from(secret, 'base64').toString('hex');
    const spellings = {
      plain: secret,
      url: urlSafe(secret),
      hex: hex(secret),
      octets,
      OCTETS: octets.toUpperCase(),
      base64: base64(secret).slice(0, 48),
      shifted: base64(`ab${secret}`).slice(4, 48),
      percent: percent(secret),
    };
    return Object.entries(spellings)
      .filter(([, spelling]) => dense.includes(spelling))
      .map(([spelling]) => `${name} as ${spelling}`);
  });
}

/** Everything stored about the calls. */
function kept(): Record<string, string> {
  const files = readdirSync(system.folder, { recursive: true, encoding: 'utf8', withFileTypes: true })
    .filter((entry) => entry.isFile() && !entry.parentPath.endsWith('tls'))
    .map(({ name, parentPath }): [string, string] => {
      const path = join(parentPath, name);
      return [relative(system.folder, path), textIn(path)];
    });
  return {
    ...Object.fromEntries(files),
    'log of the edge': system.edge.output,
    'log of control': system.control.output,
  };
}

/** The outbox deletes files at any time. */
function textIn(path: string): string {
  try {
    return readFileSync(path, 'latin1');
  } catch (error) {
    if ((error as NodeJS.ErrnoException).code === 'ENOENT') return '';
    throw error;
  }
}

async function expectHidden(callId: string, secrets: Readonly<Record<string, string>>): Promise<void> {
  const call = await system.api.endedCall(callId);
  const path = `/v1/sip/calls/${encodeURIComponent(call.id)}`;
  // The response to the BYE comes with a later report.
  const trace = await eventually('the whole trace', async () => {
    const { text } = await system.api.request('GET', `${path}/trace`);
    return text.includes('BYE') ? text : null;
  });
  expect(trace).toContain('Trial-Plain');
  const places = {
    ...kept(),
    trace,
    pcap: (await system.api.request('GET', `${path}/trace.pcap`)).bytes.toString('latin1'),
    record: (await system.api.request('GET', path)).text,
  };
  expect(Object.keys(places)).toEqual(
    expect.arrayContaining(['control.db', 'control.db-wal', expect.stringMatching(/^outbox\/\d{8}$/)]),
  );
  const found = Object.entries(places).flatMap(([place, text]) =>
    readable(text, secrets).map((what) => `${what} in ${place}`),
  );
  expect(found).toEqual([]);
}

test('nothing stored about a call contains its keys, whatever the peer writes', async () => {
  const caller = await pickUp(system);
  const secrets: Record<string, string> = {
    longer: newKey(),
    blanks: newKey(),
    capitals: newKey(),
    bare: newKey(),
    basic: newKey(),
  };
  const { longer = '', blanks = '', capitals = '', bare = '', basic = '' } = secrets;
  const sdp = `${caller.media.sdp()}${[
    `a=crypto:2 AES_256_CM_HMAC_SHA1_80 inline:${longer}|2^31`,
    `a=crypto:3 AES_CM_128_HMAC_SHA1_32 inline: ${blanks}`,
    `a=CRYPTO:4 F8_128_HMAC_SHA1_80 INLINE:${capitals}|1:4`,
    `a=crypto:5 AES_CM_128_HMAC_SHA1_80 ${bare}`,
    '',
  ].join('\r\n')}`;
  secrets.peer = keyOf(sdp);
  const response = await caller.phone.invite(system.tone.number, sdp, [
    `Authorization: Basic ${basic}`,
    ...echoes(secrets.peer),
    ...echoes(longer).map((line) => `L-${line}`),
  ]);
  expect(response.status).toBe(200);
  secrets.ours = keyOf(response.body);
  caller.media.connect(response.body);
  caller.phone.ack(response);
  await caller.phone.request('BYE', null, echoes(secrets.ours));
  await caller.close();
  await expectHidden(caller.callId, secrets);
});

test('the same applies to a rejected offer', async () => {
  const caller = await pickUp(system);
  const refused = newKey();
  const sdp = caller.media
    .sdp()
    .replace(/a=crypto:[^\r]*/, `a=crypto:1 AES_256_CM_HMAC_SHA1_80 inline:${refused}|2^31`);
  const response = await caller.phone.invite(system.tone.number, sdp, echoes(refused));
  expect(response.status).toBe(488);
  await caller.close();
  const call = await system.api.endedCall(caller.callId);
  const path = `/v1/sip/calls/${encodeURIComponent(call.id)}`;
  const trace = await eventually('the trace', async () => {
    const { text, status } = await system.api.request('GET', `${path}/trace`);
    return status === 200 ? text : null;
  });
  const places = {
    ...kept(),
    trace,
    pcap: (await system.api.request('GET', `${path}/trace.pcap`)).bytes.toString('latin1'),
  };
  expect(
    Object.entries(places).flatMap(([place, text]) =>
      readable(text, { refused }).map((what) => `${what} in ${place}`),
    ),
  ).toEqual([]);
});

/** Of a trunk. */
const password = 'a-password-that-nobody-else-has';

const files = () =>
  readdirSync(system.folder, { recursive: true, withFileTypes: true })
    .filter((entry) => entry.isFile())
    .map((entry) => join(entry.parentPath, entry.name));

/** Null: the file is gone, as the outbox deletes its files when they are delivered. */
function ifThere<T>(read: () => T): T | null {
  try {
    return read();
  } catch (error) {
    if ((error as NodeJS.ErrnoException).code === 'ENOENT') return null;
    throw error;
  }
}

test('no file contains the trunk password, and no file is readable by others', async () => {
  const { config_version: before } = await edgeOf();
  await system.api.ok('POST', '/v1/sip/attach', {
    phone_number: '+14155550177',
    directions: [
      {
        type: 'outbound',
        sip_endpoint: '127.0.0.1:5999',
        options: { sip_username: 'bob', sip_password: password },
      },
    ],
  });
  await eventually('the edge to have the trunk', async () => {
    const { config_version: version, applied_version: applied } = await edgeOf();
    return (version > before && applied === version) || null;
  });
  for (const file of files())
    expect([file, ifThere(() => readFileSync(file).includes(password))]).not.toEqual([file, true]);
  expect(files().map((file) => file.slice(system.folder.length + 1))).toEqual(
    expect.arrayContaining(['edge-config.json', 'edge-secret.key', 'outbox.lock', 'control.db']),
  );
  expect(statSync(system.folder).mode & 0o777).toBe(0o700);
  for (const file of files())
    expect([file, ifThere(() => statSync(file).mode & 0o077) ?? 0]).toEqual([file, 0]);
});

async function edgeOf() {
  return (await system.api.request('GET', '/health')).read(Health).edge;
}

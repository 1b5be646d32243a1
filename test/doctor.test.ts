/**
 * The checks of `npm run doctor`, on a machine whose state is given.
 *
 * Long because all of them run on one place.
 */
import {
  mkdirSync,
  mkdtempSync,
  readdirSync,
  readFileSync,
  rmSync,
  symlinkSync,
  writeFileSync,
} from 'node:fs';
import { createServer, type Server } from 'node:http';
import type { AddressInfo } from 'node:net';
import { tmpdir } from 'node:os';
import { dirname, join } from 'node:path';
import { afterAll, afterEach, beforeEach, describe, expect, it } from 'vitest';
import { WebSocketServer } from 'ws';
import { openDatabase } from '../control/db/index.ts';
import type { Dns } from '../edge/trunks/dns.ts';
import { type Check, type CheckState, type Finding, runChecks } from '../scripts/doctor/check.ts';
import { checksOf } from '../scripts/doctor/checks.ts';
import { doctor, exit } from '../scripts/doctor/command.ts';
import { loadParts } from '../scripts/doctor/parts.ts';
import type { Place } from '../scripts/doctor/place.ts';
import { readPlace } from '../scripts/doctor/read-place.ts';
import { reportText } from '../scripts/doctor/report.ts';
import { doctorPage } from '../scripts/doctor-page.ts';
import { createAuthority } from './kit/fakes/certificates.ts';

const root = dirname(import.meta.dirname);
const parts = await loadParts();
const checks = checksOf(parts);
const authority = createAuthority();
const pair = authority.issue({ names: ['DNS:sip.example.com'], days: 90 });

let folder: string;
beforeEach(() => {
  folder = mkdtempSync(join(tmpdir(), 'doctor-'));
});
afterEach(() => rmSync(folder, { recursive: true, force: true }));

function write(name: string, text: string): string {
  const file = join(folder, name);
  mkdirSync(dirname(file), { recursive: true, mode: 0o700 });
  writeFileSync(file, text, { mode: 0o600 });
  return file;
}

type Env = Readonly<Record<string, string>>;

function place(env: Env = {}, more: Partial<Place> = {}): Place {
  const programs = ['edge', 'control'] as const;
  return {
    ...readPlace({ programs, settingsFolder: null, apiKey: null }, parts, {
      TRUNKLINE_DATA: join(folder, 'data'),
      ...env,
    }),
    proc: join(folder, 'proc'),
    dns: names({}),
    kernelClock: () => ({ synchronized: true }),
    runTool: async () => ({ reason: 'not allowed' }),
    ...more,
  };
}

/** DNS of these addresses, and of SRV records at their port. */
function names(
  addresses: Readonly<Record<string, string>>,
  srvPort?: number,
): Pick<Dns, 'a' | 'aaaa' | 'srv'> {
  const none = { records: [], ttlS: null };
  return {
    a: async (host) => ({ records: [addresses[host] ?? []].flat(), ttlS: 60 }),
    aaaa: async () => none,
    srv: async (name) =>
      srvPort === undefined
        ? none
        : {
            records: [{ target: name.replace('_sips._tcp.', ''), port: srvPort, priority: 0, weight: 0 }],
            ttlS: 60,
          },
  };
}

async function found(name: string, at: Place): Promise<Finding> {
  const wanted = checks.filter((check) => check.name === name);
  expect(wanted).toHaveLength(1);
  const [finding] = await runChecks(wanted, at);
  if (!finding) throw new Error(`no result of ${name}`);
  return finding;
}

async function expectState(name: string, at: Place, state: CheckState, words: RegExp): Promise<void> {
  const finding = await found(name, at);
  expect(`${finding.state}: ${finding.found}`).toMatch(new RegExp(`^${state}: [^]*${words.source}`));
  expect(finding.advice === null).toBe(state === 'ok' || state === 'skipped');
}

describe('the list of checks', () => {
  it('has each name once, as area.subject, and is that of docs/doctor.md', async () => {
    const all = checks.map(({ name }) => name);
    expect(new Set(all).size).toBe(all.length);
    for (const name of all) expect(name).toMatch(/^[a-z]+\.[a-z_]+$/);
    expect(readFileSync(join(root, 'docs', 'doctor.md'), 'utf8')).toBe(await doctorPage());
  });
});

describe('a check', () => {
  const check = (run: Check['run']): Check => ({ name: 'a.b', program: 'edge', about: '', bad: '', run });

  it('of a program that is not on the machine is skipped', async () => {
    const at = place({}, { scope: new Set(['control']) });
    const [result] = await runChecks([check(() => ({ state: 'ok', found: '', advice: null }))], at);
    expect(result?.state).toBe('skipped');
  });

  it('that throws has failed, with its reason', async () => {
    const broken = check(() => {
      throw new Error('no such thing');
    });
    expect(await runChecks([broken], place())).toMatchObject([
      { state: 'failed', found: 'the check could not be made: no such thing' },
    ]);
  });

  it('that never ends has failed, and the next one is made', async () => {
    const never = check(() => new Promise(() => undefined));
    const good = check(() => ({ state: 'ok', found: 'all is well', advice: null }));
    const results = await runChecks([never, good], place(), 1);
    expect(results.map(({ state }) => state)).toEqual(['failed', 'ok']);
  });
});

describe('settings', () => {
  it('that cannot be used fail with their sentence, and what needs them is skipped', async () => {
    const at = place({ MAX_CALLS: 'many' });
    await expectState('settings.edge', at, 'failed', /MAX_CALLS must be a whole number/);
    await expectState('settings.control', at, 'ok', /can be used/);
    await expectState('ports.rtp', at, 'skipped', /settings of the edge/);
  });

  it('of files count before the environment', () => {
    write('edge.env', 'MAX_CALLS=7\n');
    const { edge } = readPlace({ programs: ['edge'], settingsFolder: folder, apiKey: null }, parts, {
      MAX_CALLS: '5',
    });
    expect('settings' in edge && edge.settings.maxCalls).toBe(7);
  });

  it('decide by the files of a data folder which programs are checked', () => {
    write('data/edge-id', 'x');
    const at = readPlace({ programs: [], settingsFolder: null, apiKey: null }, parts, {
      TRUNKLINE_DATA: join(folder, 'data'),
    });
    expect([...at.scope]).toEqual(['edge']);
  });
});

describe('certificates', () => {
  const env = (cert: string, key: string, more: Env = {}): Env => ({
    TLS_CERT: write('cert.pem', cert),
    TLS_KEY: write('key.pem', key),
    SIP_PUBLIC_HOST: 'sip.example.com',
    ...more,
  });
  const chain = pair.cert + authority.cert;

  it('that fit are ok', async () => {
    const at = place(env(chain, pair.key));
    await expectState('certificates.files', at, 'ok', /cert\.pem/);
    await expectState('certificates.key', at, 'ok', /key is that/);
    await expectState('certificates.chain', at, 'ok', /2 in the chain/);
    await expectState('certificates.validity', at, 'ok', /89 days|90 days/);
    await expectState('certificates.names', at, 'ok', /sip\.example\.com/);
  });

  it('that cannot be read fail once', async () => {
    const at = place({ TLS_CERT: '/nowhere/cert.pem', TLS_KEY: '/nowhere/key.pem' });
    await expectState('certificates.files', at, 'failed', /TLS_CERT: ENOENT/);
    await expectState('certificates.key', at, 'skipped', /cannot be read/);
  });

  it.each([
    ['certificates.key', chain, authority.key, 'failed', /is not the key of/],
    ['certificates.chain', authority.cert + pair.cert, pair.key, 'failed', /certificate 1 was not issued/],
    ['certificates.chain', pair.cert, pair.key, 'warning', /issuer is known neither here/],
    ['certificates.validity', authority.issue({ expired: true }).cert, pair.key, 'failed', /has expired/],
    ['certificates.validity', authority.issue({ days: 12 }).cert, pair.key, 'ok', /1[12] days/],
    [
      'certificates.names',
      authority.issue({ names: ['DNS:other.example.com'] }).cert,
      pair.key,
      'failed',
      /other\.example\.com/,
    ],
  ] as const)('%s notices %#', async (name, cert, key, state, words) => {
    await expectState(name, place(env(cert, key)), state, words);
  });

  it('issued by TLS_CA have a known issuer', async () => {
    const at = place(env(pair.cert, pair.key, { TLS_CA: write('ca.pem', authority.cert) }));
    await expectState('certificates.chain', at, 'ok', /known authority/);
  });

  it('expire soon in the last third of a short life', async () => {
    const at = place(env(pair.cert, pair.key), { now: () => Date.now() + 80 * 86_400_000 });
    await expectState('certificates.validity', at, 'warning', /expires soon/);
  });
});

describe('before the first start of a machine', () => {
  it('nothing has failed that the start makes', async () => {
    await expectState('certificates.files', place(), 'skipped', /the first start of control makes it/);
    await expectState('control.reachable', place(), 'skipped', /the first start of control/);
    const alone = place({}, { scope: new Set(['edge']) });
    await expectState('certificates.files', alone, 'failed', /TLS_CERT: ENOENT/);
    await expectState('control.reachable', alone, 'failed', /CONTROL_URL and EDGE_TOKEN are not both set/);
  });
});

describe('names', () => {
  const env = { SIP_PUBLIC_HOST: 'sip.example.com', RTP_PUBLIC_IP: '198.51.100.7' };

  it.each([
    ['dns.public_host', names({ 'sip.example.com': '198.51.100.7' }), 'ok', /198\.51\.100\.7/],
    [
      'dns.public_host',
      names({ 'sip.example.com': '198.51.100.8' }),
      'warning',
      /neither an address of this machine/,
    ],
    ['dns.public_host', names({}), 'failed', /no address/],
    ['dns.srv', names({}), 'ok', /port 5061 of/],
    ['dns.srv', names({}, 5061), 'ok', /sip\.example\.com:5061/],
    ['dns.srv', names({}, 5071), 'warning', /none with port 5061/],
  ] as const)('%s, case %#', async (name, dns, state, words) => {
    await expectState(name, place(env, { dns }), state, words);
  });

  it('that no resolver knows fail with their setting', async () => {
    const at = place({ CONTROL_URL: 'http://control.invalid:8080' });
    await expectState('dns.servers', at, 'failed', /CONTROL_URL: .*control\.invalid/);
  });
});

describe('addresses', () => {
  it.each([
    [{ RTP_PUBLIC_IP: '10.1.2.3' }, 'warning', /10\.1\.2\.3 is a private address/],
    [{ RTP_PUBLIC_IP: '8.8.4.4' }, 'ok', /must forward the UDP ports 10000 to 20000/],
    [{ RTP_PUBLIC_IP: 'edge.example.com' }, 'failed', /no address/],
  ] as const)('of media, %#', async (env, state, words) => {
    await expectState('nat.media_address', place(env), state, words);
  });

  it('to listen on must be of this machine', async () => {
    await expectState('nat.bind_address', place({ SIP_HOST: '8.8.4.4' }), 'failed', /SIP_HOST is 8\.8\.4\.4/);
    await expectState('nat.bind_address', place({ SIP_HOST: '127.0.0.1' }), 'ok', /SIP on 127/);
  });
});

/** A table as proc(5) describes it, with one socket. */
function socketTable(port: number, state: string, inode: number): string {
  const hex = port.toString(16).toUpperCase().padStart(4, '0');
  return `  sl  local_address rem_address   st tx_queue rx_queue tr tm->when retrnsmt   uid  timeout inode\n   0: 0100007F:${hex} 00000000:0000 ${state} 00000000:00000000 00:00000000 00000000  1000        0 ${inode} 1 0 100 0 0 10 0\n`;
}

function fakeProcess(pid: number, command: string, inode: number): void {
  write(`proc/${pid}/cmdline`, `${command.replaceAll(' ', '\0')}\0`);
  mkdirSync(join(folder, 'proc', String(pid), 'fd'));
  symlinkSync(`socket:[${inode}]`, join(folder, 'proc', String(pid), 'fd', '5'));
}

describe('ports', () => {
  it('that nobody listens on are free; connections that are no listeners do not count', async () => {
    write('proc/net/tcp', socketTable(5061, '01', 77));
    await expectState('ports.sip', place(), 'ok', /5061 is free/);
  });

  it('below 1024 need a privilege', async () => {
    write('proc/sys/net/ipv4/ip_unprivileged_port_start', '1024\n');
    await expectState('ports.sip', place({ SIP_TLS_PORT: '443' }), 'warning', /443 is free, but/);
  });

  it.each([
    ['/usr/bin/node /opt/trunkline/edge/engine/main.ts', 'ok', /the engine listens on 5061 \(process 42\)/],
    ['/usr/sbin/asterisk -f', 'failed', /process 42: \/usr\/sbin\/asterisk$/],
    ['/usr/bin/proxy --password hidden', 'failed', /process 42: \/usr\/bin\/proxy$/],
    ['node server.js token=hidden', 'failed', /process 42: node server\.js$/],
  ] as const)('of %s', async (command, state, words) => {
    write('proc/net/tcp', socketTable(5061, '0A', 77));
    fakeProcess(42, command, 77);
    await expectState('ports.sip', place(), state, words);
  });

  it('of processes that this user cannot see are in use', async () => {
    write('proc/net/tcp', socketTable(5061, '0A', 77));
    await expectState('ports.sip', place(), 'ok', /another user/);
  });

  it('for media suffice for all calls, and are not those of others', async () => {
    const few = place({ RTP_PORT_MIN: '10000', RTP_PORT_MAX: '10100', MAX_CALLS: '500' });
    await expectState('ports.rtp', few, 'failed', /pairs for MAX_CALLS 500/);
    await expectState('ports.rtp', place(), 'ok', /10000 to 20000/);
    write('proc/net/udp', socketTable(10_500, '07', 78));
    fakeProcess(43, '/usr/sbin/asterisk -f', 78);
    await expectState('ports.rtp', place(), 'warning', /10500 \(\/usr\/sbin\/asterisk/);
  });
});

describe('the kernel', () => {
  it('tells whether the clock is kept', async () => {
    await expectState('clock.synchronized', place(), 'ok', /synchronized/);
    const free = { kernelClock: () => ({ synchronized: false }) };
    await expectState('clock.synchronized', place({}, free), 'warning', /nothing keeps the clock/);
  });

  it.each([
    ['1024', 'warning'],
    ['65536', 'ok'],
    ['unlimited', 'ok'],
  ] as const)('allows %s open files', async (most, state) => {
    write(
      'proc/self/limits',
      `Limit  Soft Limit  Hard Limit  Units\nMax open files            1024                 ${most}               files\n`,
    );
    await expectState(
      'kernel.descriptors',
      place(),
      state,
      new RegExp(`${most} open files at most \\(of this shell`),
    );
  });

  it('gives media ports to others only where the ranges overlap and none are reserved', async () => {
    write('proc/sys/net/ipv4/ip_local_port_range', '32768\t60999\n');
    await expectState('kernel.port_range', place(), 'ok', /32768 to 60999/);
    const inside = place({ RTP_PORT_MIN: '40000', RTP_PORT_MAX: '50000' });
    await expectState('kernel.port_range', inside, 'warning', /may take ports of media/);
    write('proc/sys/net/ipv4/ip_local_reserved_ports', '4000,40000-50000\n');
    await expectState('kernel.port_range', inside, 'ok', /40000 to 50000/);
  });

  it('limits the buffer for copies of SIP messages', async () => {
    write('proc/sys/net/core/rmem_max', '212992\n');
    write('proc/sys/net/core/wmem_max', '212992\n');
    await expectState('kernel.buffers', place(), 'ok', /defaults suffice/);
    const drachtio = place({ DRACHTIO_HOST: '127.0.0.1', DRACHTIO_SECRET: 'secret' });
    await expectState('kernel.buffers', drachtio, 'warning', /asks for 4194304/);
  });
});

describe('the disk', () => {
  it('is measured with a file that is removed', async () => {
    write('data/edge-id', 'x');
    const finding = await found('disk.sync', place());
    expect(finding.found).toMatch(/on the disk after [\d.]+ ms/);
    expect(readdirSync(join(folder, 'data'))).toEqual(['edge-id']);
    expect((await found('disk.space', place())).found).toMatch(/GiB free, \d+ %/);
  });

  it('is not looked at before there is a data folder', async () => {
    await expectState('disk.space', place(), 'skipped', /no data folder yet/);
    await expectState('data.folder', place(), 'ok', /does not exist yet/);
  });

  it('holds a folder in place of a file, and one that others can read', async () => {
    mkdirSync(join(folder, 'data', 'control.lock'), { recursive: true, mode: 0o755 });
    await expectState('data.folder', place(), 'failed', /cannot be used/);
    rmSync(join(folder, 'data', 'control.lock'), { recursive: true });
    await expectState('data.folder', place(), 'warning', /other users can read/);
  });
});

describe('the database', () => {
  it('of this version is ok, with its key; a damaged one is not', async () => {
    await expectState('database.schema', place(), 'skipped', /does not exist yet/);
    const file = join(folder, 'data', 'control.db');
    mkdirSync(dirname(file));
    await (await openDatabase(file)).close();
    const before = readFileSync(file);
    await expectState('database.schema', place(), 'ok', /schema is that of this version/);
    await expectState('database.integrity', place(), 'ok', /quick_check finds nothing/);
    await expectState('database.key', place(), 'failed', /There is no secret\.key/);
    write('data/secret.key', 'a'.repeat(64));
    await expectState('database.key', place(), 'ok', /opens what is sealed/);
    expect(readFileSync(file).equals(before)).toBe(true);

    const damaged = Buffer.from(before);
    damaged.fill(0xff, 4096 * 3, 4096 * 30);
    writeFileSync(file, damaged);
    expect((await found('database.integrity', place())).state).toBe('failed');
  });

  it('on a server that is away cannot be opened, and its password is not shown', async () => {
    const at = place({ DATABASE_URL: 'postgres://user:hidden@127.0.0.1:1/none' });
    await expectState(
      'database.schema',
      at,
      'failed',
      /postgres:\/\/user@127\.0\.0\.1:1\/none cannot be opened/,
    );
    expect(JSON.stringify(await found('database.schema', at))).not.toContain('hidden');
  });
});

describe('the link to control', () => {
  const token = 'et_good';
  const servers: Server[] = [];
  afterAll(() => {
    for (const server of servers) server.close().closeAllConnections();
  });

  /** @param offsetMs of its clock @param health status of /health */
  async function control({ offsetMs = 0, health = 200 } = {}): Promise<Env> {
    const sockets = new WebSocketServer({ noServer: true });
    const server = createServer((request, response) => {
      response.sendDate = false;
      response.setHeader('date', new Date(Date.now() + offsetMs).toUTCString());
      if (request.url === '/v1/sip/numbers?limit=1000') {
        const numbers = ['healthy', 'unreachable'].map((health_status, at) => ({
          phone_number: `+1415555010${at}`,
          health_status,
        }));
        response.statusCode = request.headers.authorization === 'Bearer tk_good' ? 200 : 401;
        return response.end(JSON.stringify({ data: { numbers } }));
      }
      response.statusCode = request.url === '/health' ? health : 200;
      response.end(
        JSON.stringify({ status: health === 200 ? 'ok' : 'unavailable', database: { status: 'down' } }),
      );
    });
    server.on('upgrade', (request, socket, head) => {
      if (request.headers.authorization === `Bearer ${token}`)
        return sockets.handleUpgrade(request, socket, head, () => undefined);
      socket.end('HTTP/1.1 401 Unauthorized\r\nconnection: close\r\n\r\n');
    });
    servers.push(server);
    await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve));
    const { port } = server.address() as AddressInfo;
    return { CONTROL_URL: `http://127.0.0.1:${port}`, EDGE_TOKEN: token };
  }

  it('is checked up to the token, and for the clock', async () => {
    const at = place(await control());
    await expectState('control.reachable', at, 'ok', /answers/);
    await expectState('control.token', at, 'ok', /accepts the token/);
    await expectState('clock.offset', at, 'ok', /0\.\d s/);
    await expectState('control.health', at, 'ok', /says ok/);
  });

  it('fails with a wrong token, a clock that is off, and a part that is down', async () => {
    const env = await control({ offsetMs: -90_000, health: 503 });
    const at = place({ ...env, EDGE_TOKEN: 'et_wrong' });
    await expectState('control.token', at, 'failed', /does not accept EDGE_TOKEN/);
    await expectState('clock.offset', at, 'failed', /(?:89|90)\.\d s ahead of/);
    await expectState('control.health', at, 'failed', /"database":\{"status":"down"\}/);
  });

  it('fails where nothing listens, and what needs it is skipped', async () => {
    const at = place({ CONTROL_URL: 'http://127.0.0.1:2', EDGE_TOKEN: token });
    await expectState('control.reachable', at, 'failed', /cannot be reached: connect ECONNREFUSED/);
    await expectState('control.token', at, 'skipped', /cannot be reached/);
    await expectState('control.health', at, 'skipped', /nothing answers/);
  });

  it('tells the health of trunks with a key', async () => {
    const env = await control();
    await expectState('trunks.health', place(env), 'skipped', /TRUNKLINE_API_KEY/);
    await expectState(
      'trunks.health',
      place(env, { apiKey: 'tk_good' }),
      'warning',
      /\+14155550101 cannot be reached/,
    );
    await expectState(
      'trunks.health',
      place(env, { apiKey: 'tk_bad' }),
      'failed',
      /does not accept the API key/,
    );
    for (const apiKey of ['tk_good\ntk_good', '{"api_key":\n"tk_good"}', 'tk_good\u200b'])
      expect(await found('trunks.health', place(env, { apiKey }))).toMatchObject({
        state: 'failed',
        found: 'the API key has characters that are in no key',
      });
  });
});

describe('the command', () => {
  const run = async (args: readonly string[], env: Env = {}) => {
    const texts = { out: '', err: '' };
    const code = await doctor(
      args,
      { TRUNKLINE_DATA: join(folder, 'data'), ...env },
      { out: (text) => (texts.out += text), err: (text) => (texts.err += text), coloured: false },
    );
    return { code, ...texts };
  };

  it('prints JSON of the checks of the programs it is asked for, exits with 1 when one has failed, and leaves the machine as it was', async () => {
    const { code, out } = await run(['control', '--json'], { CONTROL_PORT: 'none' });
    const { checks: results, counts } = JSON.parse(out);
    expect(results.map(({ name }: Check) => name)).toEqual(
      checks.filter(({ program }) => program !== 'edge').map(({ name }) => name),
    );
    expect(results.find(({ name }: Check) => name === 'settings.control').state).toBe('failed');
    expect(counts.failed).toBeGreaterThan(0);
    expect(code).toBe(exit.failed);
    expect(readdirSync(folder)).toEqual([]);
  });

  it('rejects unknown words with its usage', async () => {
    expect(await run(['console'])).toMatchObject({
      code: exit.usage,
      err: expect.stringContaining('no program "console"'),
    });
    expect((await run(['--help'])).code).toBe(exit.good);
    expect(await run(['--key-file', join(folder, 'none')])).toMatchObject({
      code: exit.usage,
      err: expect.stringContaining('cannot read the key'),
    });
  });

  it('says for people what to do, below what was found', () => {
    const result = {
      name: 'a.b',
      program: 'edge',
      state: 'failed',
      found: 'it is broken',
      advice: 'repair it',
    } as const;
    expect(reportText([result], false)).toBe(
      `failed   a.b  it is broken\n${' '.repeat(14)}-> repair it\n\n0 ok, 0 warnings, 1 failed, 0 skipped`,
    );
  });
});

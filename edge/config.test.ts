import { mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterEach, beforeEach, describe, expect, it } from 'vitest';
import { certificates, controlAddress, readSettings } from './config.ts';
import { settings } from './settings.ts';

let folder: string;
beforeEach(() => {
  folder = mkdtempSync(join(tmpdir(), 'edge-config-'));
});
afterEach(() => rmSync(folder, { recursive: true }));

describe('the settings of the edge', () => {
  it('have defaults for everything', () => {
    expect(readSettings({ TRUNKLINE_DATA: folder })).toEqual({
      dataDir: folder,
      secretKey: null,
      sip: { host: '0.0.0.0', port: 5061, publicHost: null, wssPort: null },
      rtp: { host: '0.0.0.0', publicIp: null, portMin: 10_000, portMax: 20_000 },
      tls: {
        cert: join(folder, 'tls/server.crt'),
        key: join(folder, 'tls/server.key'),
        ca: null,
        clients: join(folder, 'tls/clients'),
      },
      drachtio: null,
      hep: { host: '127.0.0.1', port: 0 },
      controlUrl: null,
      edgeToken: null,
      engineLimits: {
        maxConnections: 10_000,
        maxConnectionsPerAddress: 5_000,
        handshakesPerSecond: 500,
        strangersPerAddress: 200,
        strangersPerNetwork: 500,
        firstMessageTimeoutMs: 5_000,
        requestsPerSecond: 10_000,
        maxMessageBytes: 65_536,
        maxHeaders: 128,
        connectTimeoutMs: 4_000,
      },
      maxCalls: 500,
      strangers: { tries: 5, windowS: 60, blockS: 600, maxSources: 10_000 },
      call: { ringAfterMs: 200, prepareTimeoutMs: 10_000, mediaTimeoutMs: 60_000, followRefer: true },
      agent: {
        greetingMs: 5000,
        voicemail: { watchMs: 20_000, greetingMs: 10_000 },
        acceptWithinMs: 15_000,
      },
      session: { expiresS: 1800, minS: 90 },
      refers: { subscriptionMs: 180_000, outcomeMs: 60_000 },
      trunks: {
        ringTimeoutMs: 60_000,
        dnsServers: [],
        probes: { intervalMs: 60_000, limitMs: 5_000, concurrency: 64 },
        failbackAfter: 3,
        failoverAfter: 2,
      },
      registration: {
        perSecond: 50,
        timeoutMs: 8_000,
        keepaliveMs: 30_000,
        retryMs: 5_000,
        retryMaxMs: 600_000,
        refusedPauseMs: 300_000,
      },
      testCalls: {
        caller: { turnEndMs: 1_000, patienceMs: 15_000, maxTurnSeconds: 120 },
        ringMs: 60_000,
        otherEndMs: 3_000,
        socketMs: 5_000,
      },
      drainTimeoutMs: 60_000,
      media: {
        workers: null,
        workerBin: expect.stringMatching(/mediasoup-worker/),
        acceptUnmarked: false,
        codecLibraries: null,
      },
      voice: 'slt',
      tts: null,
      stt: null,
      models: {
        agent: null,
        turbo: null,
        limits: { timeoutMs: 10_000, maxRetries: 2, maxTokens: 1024, concurrency: 64 },
      },
      logLevel: 'info',
    });
  });

  it('come from the environment', () => {
    const config = readSettings({
      TRUNKLINE_DATA: folder,
      SIP_TLS_PORT: '15061',
      DRACHTIO_HOST: '192.0.2.1',
      DRACHTIO_SECRET: 'cymru',
      STT_BASE_URL: 'https://speech.example.com/v1',
      MEDIA_TIMEOUT_S: '0',
      DNS_SERVERS: '192.0.2.53, 192.0.2.54:5353',
    });
    expect(config.sip.port).toBe(15_061);
    expect(config.drachtio).toEqual({ host: '192.0.2.1', port: 9022, secret: 'cymru' });
    expect(config.hep).toEqual({ host: '127.0.0.1', port: 9060 });
    expect(config.stt).toEqual({
      baseUrl: 'https://speech.example.com/v1',
      apiKey: null,
      model: 'whisper-1',
    });
    expect(config.call.mediaTimeoutMs).toBe(0);
    expect(config.trunks.dnsServers).toEqual(['192.0.2.53', '192.0.2.54:5353']);
  });

  it.each([
    [{ SIP_TLS_PORT: '70000' }, 'SIP_TLS_PORT must be a whole number from 1 to 65535, not "70000"'],
    [{ MAX_CALLS: 'many' }, 'MAX_CALLS must be a whole number from 1 to 100000, not "many"'],
    [{ RTP_PORT_MIN: '20000' }, 'RTP_PORT_MAX must be greater than RTP_PORT_MIN (20000), not "20000"'],
    [
      { TLS_CLIENT_CERTS: '/nowhere' },
      'TLS_CLIENT_CERTS: the folder /nowhere does not exist; create it, or unset the setting',
    ],
    [{ DRACHTIO_HOST: '192.0.2.1' }, 'DRACHTIO_SECRET must be set when DRACHTIO_HOST is'],
    [
      { CONTROL_URL: 'control:8080' },
      'CONTROL_URL must be a URL that begins with http:// or https://, not "control:8080"',
    ],
    [
      { LOG_LEVEL: 'loud' },
      'LOG_LEVEL must be one of fatal, error, warn, info, debug, trace, silent, not "loud"',
    ],
    [{ MEDIASOUP_WORKER_ACCEPT: 'yes' }, 'MEDIASOUP_WORKER_ACCEPT must be true or false, not "yes"'],
    [{ TTS_VOICE: 'alloy' }, 'TTS_VOICE must be one of slt, kal, kal16, rms, awb, not "alloy"'],
    [{ SESSION_MIN_S: '2000' }, 'SESSION_MIN_S must be a whole number from 90 to 1800, not "2000"'],
  ])('reject %o', (env, message) => {
    expect(() => readSettings({ TRUNKLINE_DATA: folder, ...env })).toThrow(message);
  });

  it('name every setting once, with a description', () => {
    const names = settings.map((setting) => setting.name);
    expect(new Set(names).size).toBe(names.length);
    for (const { name, description } of settings) expect(description.endsWith('.'), name).toBe(true);
  });
});

describe('the address of control', () => {
  it('comes from bootstrap.json, but settings win', async () => {
    writeFileSync(
      join(folder, 'bootstrap.json'),
      JSON.stringify({ control_url: 'http://127.0.0.1:8080', edge_token: 't1' }),
    );
    expect(await controlAddress(readSettings({ TRUNKLINE_DATA: folder }), 0)).toEqual({
      controlUrl: 'http://127.0.0.1:8080',
      edgeToken: 't1',
    });
    expect(await controlAddress(readSettings({ TRUNKLINE_DATA: folder, EDGE_TOKEN: 't2' }), 0)).toEqual({
      controlUrl: 'http://127.0.0.1:8080',
      edgeToken: 't2',
    });
  });

  it('is requested when it is not configured anywhere', async () => {
    writeFileSync(join(folder, 'bootstrap.json'), '{"control_url":');
    await expect(controlAddress(readSettings({ TRUNKLINE_DATA: folder }), 0)).rejects.toThrow(
      /CONTROL_URL and EDGE_TOKEN are not both set and .*bootstrap.json is missing or incomplete/,
    );
  });

  it('is not enough without certificates', async () => {
    await expect(certificates(readSettings({ TRUNKLINE_DATA: folder }), 0)).rejects.toThrow(
      /TLS_CERT: the file .* does not exist/,
    );
  });
});

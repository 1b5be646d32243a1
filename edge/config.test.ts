import { mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterEach, beforeEach, describe, expect, it } from 'vitest';
import { certificates, controlAddress, readSettings } from './config.ts';

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
      maxConnections: 10_000,
      maxCalls: 500,
      mediaTimeoutMs: 60_000,
      followRefer: true,
      probeIntervalMs: 60_000,
      drainTimeoutMs: 60_000,
      media: {
        shards: null,
        workerBin: expect.stringMatching(/mediasoup-worker/),
      },
      voice: 'slt',
      tts: null,
      stt: [],
      models: { agent: null, turbo: null, concurrency: 64 },
      log: { level: 'info', form: null },
      tracing: null,
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
    });
    expect(config.sip.port).toBe(15_061);
    expect(config.drachtio).toEqual({ host: '192.0.2.1', port: 9022, secret: 'cymru' });
    expect(config.hep).toEqual({ host: '127.0.0.1', port: 9060 });
    expect(config.stt).toEqual([
      {
        protocol: 'utterances',
        url: new URL('https://speech.example.com/v1'),
        apiKey: null,
        model: 'whisper-1',
      },
    ]);
    expect(config.mediaTimeoutMs).toBe(0);
  });

  it.each([
    ['https://a.example/v1', 'openai', 'tts-1', 'alloy'],
    ['wss://b.example/v1/speak', 'deepgram', '', 'aura-2-thalia-en'],
  ])('name the text-to-speech server %s by protocol', (TTS_BASE_URL, protocol, model, voice) => {
    const { tts } = readSettings({ TRUNKLINE_DATA: folder, TTS_BASE_URL, TTS_API_KEY: 'k' });
    expect(tts).toEqual({ protocol, url: new URL(TTS_BASE_URL), apiKey: 'k', model, voice });
  });

  it('name transcription servers by protocol, each with its key and model', () => {
    const config = readSettings({
      TRUNKLINE_DATA: folder,
      STT_BASE_URL:
        'wss://a.example/v1/listen?endpointing=200, wss://b.example/v2/listen, ws://c.example/v1/realtime,https://d.example',
      STT_API_KEY: 'ka,,kc,',
      STT_MODEL: ',flux-general-multi,,',
    });
    expect(config.stt.map(({ protocol, url, apiKey, model }) => [protocol, url.host, apiKey, model])).toEqual(
      [
        ['deepgram', 'a.example', 'ka', 'nova-3'],
        ['deepgram-flux', 'b.example', null, 'flux-general-multi'],
        ['openai-realtime', 'c.example', 'kc', 'gpt-live-transcribe'],
        ['utterances', 'd.example', null, 'whisper-1'],
      ],
    );
    expect(config.stt[0]?.url.search).toBe('?endpointing=200');
  });

  it.each([
    [{ SIP_TLS_PORT: '70000' }, 'SIP_TLS_PORT must be a whole number from 1 to 65535, not "70000"'],
    [{ MAX_CALLS: 'many' }, 'MAX_CALLS must be a whole number from 1 to 100000, not "many"'],
    [{ RTP_PORT_MIN: '20000' }, 'RTP_PORT_MAX must be greater than RTP_PORT_MIN (20000), not "20000"'],
    [{ HEP_HOST: '127.0.0.1:70000' }, 'HEP_HOST must be a host, or host:port with a port of at most 65535'],
    [{ DRACHTIO_HOST: 'a b:x', DRACHTIO_SECRET: 's' }, 'DRACHTIO_HOST must be a host, or host:port'],
    [{ DRACHTIO_HOST: '192.0.2.1' }, 'DRACHTIO_SECRET must be set when DRACHTIO_HOST is'],
    [
      { CONTROL_URL: 'control:8080' },
      'CONTROL_URL must be a URL that begins with http:// or https://, not "control:8080"',
    ],
    [
      { LOG_LEVEL: 'info,yaml' },
      'LOG_LEVEL must be a level, or a level with ,json or ,text behind it, not "info,yaml"',
    ],
    [
      { LOG_LEVEL: 'loud' },
      'LOG_LEVEL must be one of fatal, error, warn, info, debug, trace, silent, not "loud"',
    ],
    [{ FOLLOW_REFER: 'yes' }, 'FOLLOW_REFER must be true or false, not "yes"'],
    [{ TTS_VOICE: 'alloy' }, 'TTS_VOICE must be one of slt, kal, kal16, rms, awb, not "alloy"'],
    [
      { STT_BASE_URL: 'wss://speech.example.com/v3/hear?key=k' },
      'STT_BASE_URL must be one of http(s)://… (OpenAI-compatible /audio/transcriptions), wss://…/realtime (OpenAI Realtime), wss://…/v1/listen (Deepgram), wss://…/v2/listen (Deepgram Flux), not "wss://speech.example.com/v3/hear"',
    ],
    [
      { STT_BASE_URL: 'wss://a.example/v1/listen, https://b.example', STT_API_KEY: 'k' },
      'STT_API_KEY must have one entry for each of the 2 servers of STT_BASE_URL, separated by commas (an entry may be empty); it has 1',
    ],
    [
      { STT_BASE_URL: 'http://a,http://b,http://c,http://d,http://e' },
      'STT_BASE_URL lists 5 servers; at most 4 are possible',
    ],
    [
      { TTS_BASE_URL: 'wss://a.example/v1/text-to-speech' },
      'TTS_VOICE must be the ID of a voice of ElevenLabs',
    ],
    [
      { TTS_BASE_URL: 'wss://a.example/v1/listen' },
      'TTS_BASE_URL must be one of http(s)://… (OpenAI-compatible /audio/speech), wss://…/v1/text-to-speech (ElevenLabs), wss://…/v1/speak (Deepgram), not "wss://a.example/v1/listen"',
    ],
    [{ MEDIA_WORKERS: '0' }, 'MEDIA_WORKERS must be a whole number from 1 to 256, not "0"'],
  ])('reject %o', (env, message) => {
    expect(() => readSettings({ TRUNKLINE_DATA: folder, ...env })).toThrow(message);
  });

  it.each([
    ['10.0.0.9', { host: '10.0.0.9', port: 9022 }],
    ['engine.example.com:9023', { host: 'engine.example.com', port: 9023 }],
    ['2001:db8::1', { host: '2001:db8::1', port: 9022 }],
    ['[2001:db8::1]:9023', { host: '2001:db8::1', port: 9023 }],
  ])('read the address %s', (DRACHTIO_HOST, address) => {
    const env = { TRUNKLINE_DATA: folder, DRACHTIO_HOST, DRACHTIO_SECRET: 's' };
    expect(readSettings(env).drachtio).toEqual({ ...address, secret: 's' });
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

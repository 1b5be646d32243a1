/**
 * `trunkline call [number]`: a real call over TLS and SRTP to the running Trunkline. Listens, presses 1, listens
 * again, hangs up, and prints the call as the API shows it.
 */
import { setTimeout as pause } from 'node:timers/promises';
import { checkServerIdentity, type PeerCertificate } from 'node:tls';
import { parseArgs } from 'node:util';
import { nodeCommand, ownCommand, startCommand } from '#shared/own-command.ts';
import type { HeardStats } from '../test/kit/fakes/heard-media.ts';
import { SrtpPeer } from '../test/kit/fakes/srtp-peer.ts';
import { loudness } from './call/loudness.ts';
import { Phone, type PhoneOptions } from './call/phone.ts';
import { reportTrouble, Trouble } from './setup/trouble.mjs';
import { type Bootstrap, bootstrapFile, caCertificate, readBootstrap } from './supervisor/bootstrap.ts';

const usage = `Usage: ${ownCommand('call')} [number] [--json]

Calls a number of the first organization (+14155550100), listens, presses 1, listens again, hangs up, and prints the call
as the API shows it; with --json only that, as JSON.`;
const { values, positionals } = readArguments();
const number = positionals[0] ?? '+14155550100';
const stillRunning = `check that Trunkline still runs (\`${startCommand()}\`)`;
interface Refused {
  readonly call_id: string;
  readonly summary: string;
  readonly advice: string;
}

const silence = Buffer.alloc(160, 0xff);
const listenMs = 5000;

await reportTrouble(async () => {
  if (values.help) return console.log(usage);
  const file = bootstrapFile(process.env);
  const bootstrap = await readBootstrap(file).catch((error: NodeJS.ErrnoException) => {
    const advice =
      error.code === 'ENOENT'
        ? `start Trunkline with \`${startCommand()}\` first; its data folder is TRUNKLINE_DATA (./data)`
        : 'run this as the owner of that file, or correct the file';
    throw new Trouble('cannot place a call', error.message, advice);
  });
  await checkNumber(bootstrap);
  const callId = await placeCall(bootstrap);
  await showRecord(bootstrap, callId);
});

/** @throws Trouble when the number is not the first organization's: its key could not read the call */
async function checkNumber(bootstrap: Bootstrap): Promise<void> {
  const url = `${bootstrap.control_url}/v1/inbound/${encodeURIComponent(number)}`;
  const headers = { authorization: `Bearer ${bootstrap.api_key}` };
  const response = await fetch(url, { headers }).catch((error: Error) => {
    const why = error.cause instanceof Error ? error.cause.message : error.message;
    throw new Trouble('cannot reach the API', `${url}: ${why}`, stillRunning);
  });
  if (response.status !== 404) return;
  throw new Trouble(
    `${number} is not a number of the organization that the first start made`,
    'the number belongs to another organization, whose call log the key in bootstrap.json cannot read, or it does not exist (write it as E.164 with plus)',
    'call a number of GET /v1/inbound, or call this one from a phone and read the call with a key of its organization',
  );
}

async function placeCall(bootstrap: Bootstrap): Promise<string> {
  const { host, port } = bootstrap.sip;
  const phone = await connectPhone({ host, port, ca: await caCertificate(bootstrap) }).catch(
    (error: Error) => {
      throw new Trouble(`cannot reach ${host}:${port} over TLS`, error.message, stillRunning);
    },
  );
  const media = await SrtpPeer.open();
  try {
    say(`calling ${number} at ${host}:${port} over TLS`);
    const response = await phone.invite(number, media.sdp());
    if (response.status !== 200) {
      throw new Trouble(
        'the call was not answered',
        `${response.startLine} ${response.header('warning') ?? ''}`,
        (await adviceOnRefusal(bootstrap, phone.callId)) ?? 'look at the log of the edge',
      );
    }
    media.connect(response.body);
    phone.ack(response);
    say('answered; sending silence, listening');
    await talk(phone, media);
    return phone.callId;
  } finally {
    media.close();
    await phone.close();
  }
}

/**
 * The demo number accepts calls of this machine. So the call goes over the loopback if the edge listens there, whatever
 * host its peers dial.
 */
function connectPhone(options: PhoneOptions): Promise<Phone> {
  const nearby = '127.0.0.1';
  const tls = {
    host: nearby,
    checkServerIdentity: (_name: string, certificate: PeerCertificate) =>
      checkServerIdentity(options.host, certificate),
  };
  return Phone.connect({ ...options, tls }).catch(() => Phone.connect(options));
}

/** What the list of refused calls says about a call; null: the call is not in it. */
async function adviceOnRefusal(bootstrap: Bootstrap, callId: string): Promise<string | null> {
  const headers = { authorization: `Bearer ${bootstrap.api_key}` };
  for (let attempt = 0; attempt < 30; attempt++) {
    const response = await fetch(`${bootstrap.control_url}/v1/sip/refused`, { headers }).catch(() => null);
    if (response?.status !== 200) return null;
    const { data } = (await response.json()) as { data: { refused: Refused[] } };
    const refused = data.refused.find((one) => one.call_id === callId);
    if (refused) return `${refused.summary} ${refused.advice}`;
    await pause(100);
  }
  return null;
}

async function talk(phone: Phone, media: SrtpPeer): Promise<void> {
  await listen(phone, media);
  if (!hungUp(phone)) {
    await media.press('1');
    say('pressed 1');
    await listen(phone, media);
  }
  if (hungUp(phone)) return say('the other side hung up');
  await phone.request('BYE');
  say('hung up');
}

async function listen(phone: Phone, media: SrtpPeer): Promise<void> {
  const before = media.samples().length;
  const fifth = Array.from({ length: 10 }, () => silence);
  let reported = media.stats;
  for (let ms = 0; ms < listenMs && !hungUp(phone); ms += 200) {
    await media.play(fifth);
    if (ms % 1000 === 800) reported = reportReception(media, reported);
  }
  const heard = media.samples().subarray(before);
  const { seconds, soundSeconds, level } = loudness(heard);
  say(
    soundSeconds > 0
      ? `received ${seconds.toFixed(1)} s of audio, ${soundSeconds.toFixed(1)} s with sound, at ${level.toFixed(0)} dBFS`
      : `heard ${seconds.toFixed(1)} s of audio, all silence`,
  );
}

/** Tells the edge what arrived since the last report, as phones do, so that the record can say what the caller heard. */
function reportReception(media: SrtpPeer, before: HeardStats): HeardStats {
  const now = media.stats;
  const lost = now.lost - before.lost;
  const expected = now.packets - before.packets + lost;
  media.report(expected > 0 ? Math.max(0, lost / expected) : 0);
  return now;
}

function hungUp(phone: Phone): boolean {
  return phone.received.some((message) => message.method === 'BYE');
}

async function showRecord(bootstrap: Bootstrap, callId: string): Promise<void> {
  const url = `${bootstrap.control_url}/v1/sip/calls/${encodeURIComponent(callId)}`;
  const headers = { authorization: `Bearer ${bootstrap.api_key}` };
  for (let attempt = 0; attempt < 50; attempt++) {
    const response = await fetch(url, { headers });
    if (response.status === 200) {
      const { data } = (await response.json()) as { data: { call: Record<string, unknown> } };
      if (data.call.ended_at !== null) {
        if (values.json) return console.log(JSON.stringify(data.call, null, 2));
        console.log(`\nin the call log:\n${JSON.stringify(data.call, null, 2)}`);
        console.log(`\nits SIP messages:\n  curl -H "authorization: $KEY" ${url}/trace`);
        console.log(`  curl -H "authorization: $KEY" -O ${url}/trace.pcap`);
        console.log(`with KEY=$(${nodeCommand()} -p 'require("${bootstrapFile(process.env)}").api_key')`);
        return;
      }
    }
    await pause(100);
  }
  throw new Trouble(
    'the call is not in the call log',
    `GET ${url} shows no ended call`,
    'look at the logs of the edge and of control',
  );
}

/** Beside the JSON, if that was asked for. */
function say(line: string): void {
  if (values.json) console.error(line);
  else console.log(line);
}

function readArguments() {
  try {
    return parseArgs({
      allowPositionals: true,
      options: { json: { type: 'boolean' }, help: { type: 'boolean', short: 'h' } },
    });
  } catch (error) {
    console.error(`${error instanceof Error ? error.message : String(error)}\n\n${usage}`);
    process.exit(1);
  }
}

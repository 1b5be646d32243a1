/** baresip without sound card or screen: a real phone that a test controls and whose recordings it measures. */
import { type ChildProcess, spawn } from 'node:child_process';
import { mkdir, mkdtemp, readdir, readFile, rm, writeFile } from 'node:fs/promises';
import { connect, type Socket } from 'node:net';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { digestRealm } from '#shared/edge-protocol/numbers.ts';
import { pbxExample } from '#shared/pbx/example.ts';
import { type PbxFile, passwordToFill } from '#shared/pbx/facts.ts';
import { pbxFiles } from '#shared/pbx/text.ts';
import { createAuthority, type TestKeyPair } from '../kit/fakes/certificates.ts';
import { eventually, saw } from '../kit/programs/eventually.ts';
import { freeTcpPort, freeUdpRange } from '../kit/programs/ports.ts';
import { encodeNetstring, NetstringReader } from './netstring.ts';
import { readWav, type Wav, writeWav } from './wav.ts';

export interface BaresipOptions {
  /** codecs in order of preference, in baresip's names, for example `PCMU` or `opus/48000/2` */
  readonly codecs?: string;
  /** the audio that the phone sends; default silence */
  readonly speech?: Int16Array;
  /** certificate for inbound TLS calls at `tlsPort`; default its own */
  readonly certificate?: TestKeyPair;
  /** whether it answers calls to +14155550199 at once */
  readonly answers?: boolean;
  /** user name and password for challenges */
  readonly credentials?: { readonly username: string; readonly password: string };
  /** Port of a registrar on 127.0.0.1; default none. */
  readonly registrar?: number;
  /** The account and the configuration; default those of the page, with codecs and credentials from here. */
  readonly files?: readonly PbxFile[];
  /** PEM of the authorities that it trusts; default it checks no certificates. */
  readonly trusted?: string;
  /** Whether somebody sits at it and types. */
  readonly typed?: boolean;
  /** name server, `address:port`; default the machine's */
  readonly nameServer?: string;
}

/** baresip hangs up when its audio file ends, so the file is longer than any test. */
const speechSeconds = 120;

export interface BaresipEvent {
  readonly type: string;
  readonly param?: string;
}

interface Message {
  readonly event?: boolean;
  readonly response?: boolean;
  readonly ok?: boolean;
  readonly data?: string;
  readonly type?: string;
  readonly param?: string;
}

export class Baresip {
  readonly #folder: string;
  readonly #child: ChildProcess;
  readonly #socket: Socket;
  readonly #reader = new NetstringReader();
  readonly #responses: ((message: Message) => void)[] = [];
  /** All events, in order. */
  readonly events: BaresipEvent[] = [];
  /** Where it accepts calls over TLS. */
  readonly tlsPort: number;

  private constructor(folder: string, child: ChildProcess, socket: Socket, tlsPort: number) {
    this.#folder = folder;
    this.tlsPort = tlsPort;
    this.#child = child;
    this.#socket = socket;
    socket.on('data', (chunk: Buffer) => {
      for (const text of this.#reader.read(chunk)) this.#take(JSON.parse(text) as Message);
    });
    socket.on('error', () => socket.destroy());
  }

  static async start(options: BaresipOptions = {}): Promise<Baresip> {
    const folder = await mkdtemp(join(tmpdir(), 'trunkline-baresip-'));
    const control = await freeTcpPort();
    const sip = await freeTcpPort();
    await writeConfiguration(folder, control, sip, options);
    const child = spawn('baresip', ['-f', folder], {
      stdio: [options.typed ? 'pipe' : 'ignore', 'pipe', 'pipe'],
    });
    let output = '';
    for (const stream of [child.stdout, child.stderr]) {
      stream?.on('data', (chunk: Buffer) => {
        output = (output + chunk.toString('utf8')).slice(-4000);
      });
    }
    try {
      const socket = await eventually('the control port of baresip', () => {
        if (child.exitCode !== null) throw new Error(`baresip ended:\n${output}`);
        return tryConnect(control);
      });
      return new Baresip(folder, child, socket, sip + 1);
    } catch (error) {
      child.kill('SIGKILL');
      await rm(folder, { recursive: true, force: true });
      throw error;
    }
  }

  /** Runs a command of baresip's menu. @throws Error when baresip reports a failure */
  command(command: string, params = ''): Promise<string> {
    return new Promise((resolve, reject) => {
      this.#responses.push((message) =>
        message.ok === false
          ? reject(new Error(`baresip ${command}: ${message.data}`))
          : resolve(message.data ?? ''),
      );
      this.#socket.write(encodeNetstring(JSON.stringify({ command, params, token: 't' })));
    });
  }

  /**
   * Waits for an event of the call, including past ones.
   * @throws Error when the call is closed first
   */
  event(type: string, limitMs = 30_000): Promise<BaresipEvent> {
    return eventually(
      `baresip's event ${type}`,
      () => {
        saw(`the events ${this.events.map((event) => event.type).join(', ')}`);
        const found = this.events.find((event) => event.type === type);
        const closed = this.events.find((event) => event.type === 'CALL_CLOSED');
        if (!found && closed) throw new Error(`the call was closed before ${type}: ${closed.param}`);
        return found;
      },
      limitMs,
    );
  }

  /** What a person types. */
  type(text: string): void {
    this.#child.stdin?.write(text);
  }

  /** Sends key presses as RFC 4733 events. */
  async press(digits: string): Promise<void> {
    for (const digit of digits) await this.command('sndcode', digit);
  }

  /** The recording so far. Complete only after the call. */
  async heard(): Promise<Wav> {
    const recordings = join(this.#folder, 'recordings');
    const name = (await readdir(recordings)).find((file) => file.endsWith('-dec.wav'));
    if (!name) throw new Error(`no recording among ${(await readdir(recordings)).join(', ')}`);
    return readWav(await readFile(join(recordings, name)));
  }

  async close(): Promise<void> {
    this.#socket.destroy();
    if (this.#child.exitCode === null && this.#child.signalCode === null) {
      const exited = new Promise((resolve) => this.#child.once('exit', resolve));
      this.#child.kill('SIGKILL');
      await exited;
    }
    await rm(this.#folder, { recursive: true, force: true });
  }

  #take(message: Message): void {
    if (message.response) this.#responses.shift()?.(message);
    else if (message.type) {
      this.events.push({ type: message.type, ...(message.param !== undefined && { param: message.param }) });
    }
  }
}

/** What the page of baresip writes, without a sound card, and on ports of the test. */
async function writeConfiguration(
  folder: string,
  control: number,
  sip: number,
  options: BaresipOptions,
): Promise<void> {
  const { cert, key } = options.certificate ?? createAuthority('phone').issue({ names: ['IP:127.0.0.1'] });
  const speech = new Int16Array(speechSeconds * 8000);
  speech.set(options.speech ?? []);
  const rtp = await freeUdpRange(100);
  await mkdir(join(folder, 'recordings'));
  await writeFile(join(folder, 'phone.pem'), `${cert}${key}`);
  await writeFile(join(folder, 'trusted.pem'), options.trusted ?? '');
  await writeFile(join(folder, 'speech.wav'), writeWav({ sampleRate: 8000, samples: speech }));
  const [accounts, config] = options.files ?? ownFiles(options);
  const text = withoutSoundCard({
    copied: config?.text ?? '',
    folder,
    settings: {
      sip_listen: `127.0.0.1:${sip}`,
      net_interface: '127.0.0.1',
      ...(options.nameServer !== undefined && { dns_server: options.nameServer }),
      rtp_ports: `${rtp}-${rtp + 99}`,
      ctrl_tcp_listen: `127.0.0.1:${control}`,
    },
    // Those of a person who sits at the phone, and a certificate that only some tests check.
    without: [
      ...(options.typed ? [] : ['stdio.so']),
      ...(options.trusted === undefined ? ['sip_cafile'] : []),
    ],
  });
  await writeFile(join(folder, 'config'), `${text}module_app ctrl_tcp.so\n`);
  const answers = options.answers ? ';answermode=auto' : '';
  await writeFile(join(folder, 'accounts'), `${accounts?.text ?? ''}${answers}\n`);
  await writeFile(join(folder, 'contacts'), '');
}

export interface WithoutSoundCard {
  /** The configuration of the page. */
  readonly copied: string;
  /** Of certificates, of the audio that it sends (speech.wav), and of recordings. */
  readonly folder: string;
  /** Those of this phone alone. */
  readonly settings: Readonly<Record<string, string>>;
  /** Words whose lines are left out. */
  readonly without: readonly string[];
}

/** The configuration of a phone on a machine that has no sound card. */
export function withoutSoundCard({ copied, folder, settings, without }: WithoutSoundCard): string {
  const all: Readonly<Record<string, string>> = {
    audio_source: `aufile,${join(folder, 'speech.wav')}`,
    audio_player: 'aubridge,nil',
    audio_alert: 'aubridge,nil',
    ausrc_srate: '8000',
    auplay_srate: '8000',
    ausrc_channels: '1',
    auplay_channels: '1',
    ausrc_format: 's16',
    auplay_format: 's16',
    auenc_format: 's16',
    audec_format: 's16',
    audio_buffer: '20-160',
    audio_level: 'no',
    rtcp_mux: 'no',
    jitter_buffer_delay: '2-10',
    rtp_stats: 'yes',
    snd_path: join(folder, 'recordings'),
    opus_bitrate: '28000',
    ring_aufile: 'none',
    menu_bell: 'no',
    statmode_default: 'off',
    ...settings,
  };
  const lines = copied
    .replaceAll('/etc/baresip/', `${folder}/`)
    .split('\n')
    .filter(
      (line) => !line.split(' ').some((word) => word in all || word === 'alsa.so' || without.includes(word)),
    );
  const modules = ['aufile', 'aubridge', 'sndfile'].map((name) => `module ${name}.so`);
  return [...Object.entries(all).map(([name, value]) => `${name} ${value}`), ...lines, ...modules, ''].join(
    '\n',
  );
}

/** Seconds of silence: baresip hangs up when its audio file ends, so that is longer than any call of a test. */
export const silence = (): Buffer =>
  writeWav({ sampleRate: 8000, samples: new Int16Array(speechSeconds * 8000) });

/** The account of a test that copies none. */
function ownFiles({ credentials, codecs = 'PCMU', registrar }: BaresipOptions): readonly PbxFile[] {
  const files = pbxFiles('baresip', {
    ...pbxExample,
    server: '127.0.0.1',
    port: registrar ?? pbxExample.port,
    access: credentials
      ? { how: 'digest', username: credentials.username, realm: digestRealm }
      : { how: 'address' },
  });
  return (files ?? []).map(({ path, text }) => ({
    path,
    text: text
      .replace(/audio_codecs=[^;\n]*/, `audio_codecs=${codecs}`)
      .replace('regint=0', registrar === undefined ? 'regint=0' : 'regint=600')
      .replace(passwordToFill, credentials?.password ?? ''),
  }));
}

function tryConnect(port: number): Promise<Socket | null> {
  return new Promise((resolve) => {
    const socket = connect(port, '127.0.0.1');
    socket.once('connect', () => resolve(socket));
    socket.once('error', () => resolve(null));
  });
}

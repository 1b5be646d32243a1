/** baresip without sound card or screen: a real phone that a test controls and whose recordings it measures. */
import { type ChildProcess, spawn } from 'node:child_process';
import { mkdir, mkdtemp, readdir, readFile, rm, writeFile } from 'node:fs/promises';
import { connect, type Socket } from 'node:net';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
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
    const child = spawn('baresip', ['-f', folder], { stdio: ['ignore', 'pipe', 'pipe'] });
    let output = '';
    for (const stream of [child.stdout, child.stderr]) {
      stream.on('data', (chunk: Buffer) => {
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

/** baresip listens for TLS on the port above its plain one. */
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
  await writeFile(join(folder, 'speech.wav'), writeWav({ sampleRate: 8000, samples: speech }));
  const settings = {
    poll_method: 'epoll',
    sip_listen: `127.0.0.1:${sip}`,
    sip_certificate: join(folder, 'phone.pem'),
    net_interface: '127.0.0.1',
    ...(options.nameServer !== undefined && { dns_server: options.nameServer }),
    call_local_timeout: '60',
    call_max_calls: '4',
    audio_path: '/usr/share/baresip',
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
    rtp_ports: `${rtp}-${rtp + 99}`,
    rtcp_mux: 'no',
    jitter_buffer_delay: '2-10',
    rtp_stats: 'yes',
    snd_path: join(folder, 'recordings'),
    opus_bitrate: '28000',
    ctrl_tcp_listen: `127.0.0.1:${control}`,
    module_path: '/usr/lib/baresip/modules',
    ring_aufile: 'none',
    menu_bell: 'no',
    statmode_default: 'off',
  };
  const modules = ['g711', 'g722', 'opus', 'aufile', 'aubridge', 'sndfile', 'srtp'].map(
    (name) => `module ${name}.so`,
  );
  const apps = ['module_tmp account.so', 'module_app menu.so', 'module_app ctrl_tcp.so'];
  const lines = Object.entries(settings).map(([name, value]) => `${name} ${value}`);
  await writeFile(join(folder, 'config'), [...lines, ...modules, ...apps, ''].join('\n'));
  const codecs = options.codecs ?? 'PCMU';
  const answers = options.answers ? ';answermode=auto' : '';
  const { username, password } = options.credentials ?? { username: '', password: '' };
  const authentication = options.credentials ? `;auth_user=${username};auth_pass=${password}` : '';
  await writeFile(
    join(folder, 'accounts'),
    `<sip:+14155550199@127.0.0.1;transport=tls>;regint=0;mediaenc=srtp-mand;audio_codecs=${codecs}${answers}${authentication}\n`,
  );
  await writeFile(join(folder, 'contacts'), '');
}

function tryConnect(port: number): Promise<Socket | null> {
  return new Promise((resolve) => {
    const socket = connect(port, '127.0.0.1');
    socket.once('connect', () => resolve(socket));
    socket.once('error', () => resolve(null));
  });
}

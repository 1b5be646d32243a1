/** Asterisk, a customer's PBX, from Debian testing: `scripts/setup/asterisk.ts`. */
import { type ChildProcess, execFile, spawn } from 'node:child_process';
import { existsSync } from 'node:fs';
import { mkdir, mkdtemp, readFile, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { promisify } from 'node:util';
import { asteriskProgram, asteriskRoot } from '../../scripts/setup/asterisk.ts';
import type { TestKeyPair } from '../kit/fakes/certificates.ts';
import { eventually, witness } from '../kit/programs/eventually.ts';

const run = promisify(execFile);

export interface AsteriskOptions {
  readonly port: number;
  readonly pair: TestKeyPair;
  /** PEM of the authorities that it trusts. */
  readonly trusted: string;
  /** First of its RTP ports, of which it has 40. */
  readonly rtpPort: number;
  /** As it belongs into /etc/asterisk, where a test wants other paths and another port. */
  readonly pjsip: string;
  readonly extensions: string;
}

/** Nothing that a PBX with one trunk does not need: it starts within a second. */
const modules = [
  'app_dial',
  'app_echo',
  'app_playtones',
  'app_read',
  'app_record',
  'app_senddtmf',
  'app_verbose',
  'bridge_builtin_features',
  'bridge_native_rtp',
  'bridge_simple',
  'bridge_softmix',
  'chan_pjsip',
  'codec_a_mu',
  'codec_alaw',
  'codec_g722',
  'codec_opus_open_source',
  'codec_resample',
  'codec_ulaw',
  'format_wav',
  'func_callerid',
  'func_channel',
  'func_strings',
  'pbx_config',
  'res_clioriginate',
  'res_crypto',
  'res_format_attr_opus',
  'res_musiconhold',
  'res_pjproject',
  'res_pjsip',
  'res_pjsip_authenticator_digest',
  'res_pjsip_caller_id',
  'res_pjsip_dtmf_info',
  'res_pjsip_endpoint_identifier_ip',
  'res_pjsip_endpoint_identifier_user',
  'res_pjsip_header_funcs',
  'res_pjsip_nat',
  'res_pjsip_outbound_authenticator_digest',
  'res_pjsip_pubsub',
  'res_pjsip_refer',
  'res_pjsip_registrar',
  'res_pjsip_rfc3326',
  'res_pjsip_sdp_rtp',
  'res_pjsip_session',
  'res_rtp_asterisk',
  'res_sorcery_astdb',
  'res_sorcery_config',
  'res_sorcery_memory',
  'res_srtp',
  'res_timing_timerfd',
];

const keptOutput = 400_000;

export class Asterisk {
  readonly folder: string;
  readonly #child: ChildProcess;
  readonly #endWitness: () => void;
  #output = '';

  private constructor(folder: string, child: ChildProcess) {
    this.folder = folder;
    this.#child = child;
    this.#endWitness = witness(() => `Asterisk said last:\n${this.#output.slice(-3000)}`);
    for (const stream of [child.stdout, child.stderr]) {
      stream?.on('data', (chunk: Buffer) => {
        this.#output = (this.#output + chunk.toString('utf8')).slice(-keptOutput);
      });
    }
  }

  /** Resolves when it is ready for calls. */
  static async start(options: AsteriskOptions): Promise<Asterisk> {
    const folder = await mkdtemp(join(tmpdir(), 'trunkline-asterisk-'));
    await configure(folder, options);
    const child = spawn(asteriskProgram(), ['-f', '-n', '-vvv', '-C', join(folder, 'asterisk.conf')], {
      stdio: ['ignore', 'pipe', 'pipe'],
    });
    const asterisk = new Asterisk(folder, child);
    try {
      await eventually('Asterisk to be ready', async () => {
        if (child.exitCode !== null) throw new Error(`Asterisk ended: ${asterisk.output}`);
        // A command is a program of its own, which is answered over this socket.
        if (!existsSync(join(folder, 'run', 'asterisk.ctl'))) return null;
        return (
          (await asterisk.command('core waitfullybooted').catch(() => '')).includes('fully booted') || null
        );
      });
      return asterisk;
    } catch (error) {
      await asterisk.stop();
      throw error;
    }
  }

  /** What it printed. */
  get output(): string {
    return this.#output;
  }

  /** @returns what a command of its console prints */
  async command(text: string): Promise<string> {
    const words = ['-C', join(this.folder, 'asterisk.conf'), '-rx', text];
    const { stdout } = await run(asteriskProgram(), words).catch((error: unknown) => {
      const { exitCode, signalCode } = this.#child;
      throw new Error(`Asterisk (${exitCode ?? signalCode ?? 'running'}): ${this.output.slice(-4000)}`, {
        cause: error,
      });
    });
    if (stdout.includes('No such command')) throw new Error(stdout);
    return stdout;
  }

  /** How a shell starts this program for this PBX. */
  get start(): string {
    return `${asteriskProgram()} -C ${join(this.folder, 'asterisk.conf')}`;
  }

  /** A sound that it recorded. */
  recorded(name: string): Promise<Buffer> {
    return readFile(join(this.folder, `${name}.wav`));
  }

  async stop(): Promise<void> {
    this.#endWitness();
    if (this.#child.exitCode === null && this.#child.signalCode === null) {
      const ended = new Promise((resolve) => this.#child.once('exit', resolve));
      this.#child.kill('SIGKILL');
      await ended;
    }
    await rm(this.folder, { recursive: true, force: true });
  }
}

async function configure(folder: string, options: AsteriskOptions): Promise<void> {
  const { port, pair, trusted, rtpPort, pjsip, extensions } = options;
  const root = asteriskRoot();
  const folders = {
    astetcdir: folder,
    astvarlibdir: root.varLib,
    astdatadir: root.data,
    astmoddir: root.modules,
  };
  const own = ['astdbdir', 'astspooldir', 'astrundir', 'astlogdir', 'astkeydir', 'astagidir'];
  await mkdir(join(folder, 'run', 'keys'), { recursive: true });
  const files: Readonly<Record<string, string>> = {
    'asterisk.conf': [
      '[directories]',
      ...Object.entries(folders).map(([name, path]) => `${name} = ${path}`),
      ...own.map((name) => `${name} = ${join(folder, 'run')}`),
      '[options]',
      'nofork = yes',
      'entityid = 02:00:00:00:00:01',
      // What records sends sound, as a person who listens.
      'transmit_silence = yes',
    ].join('\n'),
    'modules.conf': ['[modules]', 'autoload = no', ...modules.map((one) => `load = ${one}.so`)].join('\n'),
    'logger.conf': '[general]\n[logfiles]\nconsole = notice,warning,error,verbose',
    'rtp.conf': `[general]\nrtpstart = ${rtpPort}\nrtpend = ${rtpPort + 39}`,
    'musiconhold.conf': '',
    'pjsip.conf': pjsip
      .replace('bind = 0.0.0.0:5061', `bind = 127.0.0.1:${port}`)
      .replaceAll('/etc/asterisk/keys', folder),
    'extensions.conf': extensions.replaceAll('FOLDER', folder),
    'pbx.crt': pair.cert,
    'pbx.key': pair.key,
    'trusted.pem': trusted,
  };
  for (const [name, text] of Object.entries(files)) await writeFile(join(folder, name), `${text}\n`);
}

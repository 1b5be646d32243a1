/** The control plane alone, as a separate program that a test may kill. */
import { mkdtempSync, readFileSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import type { ControlOptions } from '../../../control/program.ts';
import { Api } from './api.ts';
import { eventually, saw } from './eventually.ts';
import type { ControlOfEdges } from './further-edge.ts';
import { freeTcpPort } from './ports.ts';
import { TestProgram } from './program.ts';

/** A start needs two seconds of CPU, which takes up to a minute on a heavily overloaded machine, ms. */
const limitMs = 180_000;

interface Keys {
  readonly org_id: string;
  readonly api_key: string;
  readonly operator_key: string;
  readonly edge_token: string;
}

export class ControlProgram {
  readonly folder = mkdtempSync(join(tmpdir(), 'control-program-'));
  readonly #env: Readonly<Record<string, string>>;
  readonly #options: ControlOptions;
  #port = 0;
  #program: TestProgram | null = null;

  /** @param env settings in addition to the defaults of tests */
  constructor(env: Readonly<Record<string, string>> = {}, options: ControlOptions = {}) {
    this.#env = env;
    this.#options = options;
  }

  /** Of the running process. */
  get pid(): number | undefined {
    return this.#program?.running ? this.#program.pid : undefined;
  }

  /** The end of the last start's output, for failure messages. */
  get output(): string {
    return this.#program?.output ?? '';
  }

  get url(): string {
    return `http://127.0.0.1:${this.#port}`;
  }

  /** As an edge of the kit needs it. */
  get forEdges(): ControlOfEdges {
    return { controlPort: this.#port, folder: this.folder, bootstrap: this.keys };
  }

  /** The file that the first start wrote. */
  get keys(): Keys {
    return JSON.parse(readFileSync(join(this.folder, 'bootstrap.json'), 'utf8'));
  }

  /**
   * Resolves when it listens; after a kill with the same port and data.
   * @param env settings only for this start
   * @param options limits only for this start
   */
  async start(env: Readonly<Record<string, string>> = {}, options = this.#options): Promise<void> {
    if (this.#port === 0) this.#port = await freeTcpPort();
    const settings = {
      ...process.env,
      TRUNKLINE_DATA: this.folder,
      CONTROL_PORT: String(this.#port),
      ALLOW_PRIVATE_TARGETS: '127.0.0.1/32',
      NODE_NO_WARNINGS: '1',
      ...this.#env,
      ...env,
    };
    const program = TestProgram.control(settings, options);
    this.#program = program;
    program.start();
    await eventually(
      'control to listen',
      async () => {
        if (saw(program.output).includes('control plane is listening')) return true;
        if (program.running) return null;
        // Its last output may not have arrived yet.
        await program.closed;
        if (program.output.includes('control plane is listening')) return true;
        throw new Error(`control ended before it listened:\n${program.output}`);
      },
      limitMs,
    );
  }

  /** Resolves when it has ended for any reason. */
  async ended(): Promise<void> {
    const running = () => {
      saw(this.output);
      return this.#program?.running ? null : true;
    };
    await eventually('control to end', running, limitMs);
  }

  /** @returns as TestProgram.end @throws Error with its output when it does not end */
  async end(signal: 'SIGTERM' | 'SIGKILL'): Promise<number | null> {
    return (await this.#program?.end(signal)) ?? null;
  }

  /** Kills it if it still runs, and deletes its data. */
  async remove(): Promise<void> {
    await this.end('SIGKILL');
    rmSync(this.folder, { recursive: true });
  }

  /** Its API, by the key that the first start wrote. */
  get api(): Api {
    return new Api(this.url, this.keys.api_key);
  }
}

/**
 * Runs control and edge as one service.
 *
 *     start: control -> its /health answers -> edge -> /health is 200 -> ready
 *     stop:  edge drains (calls end, reports go out) -> control
 */
import { access } from 'node:fs/promises';
import { type Clock, systemClock } from '#shared/clock.ts';
import { supervisorAgent } from '#shared/supervisor-agent.ts';
import { checkPorts, StartFailed } from './before-start.ts';
import { type Bootstrap, bootstrapFile, readBootstrap } from './bootstrap.ts';
import { nodeFlags } from './node-flags.ts';
import { Program } from './program.ts';

export interface SupervisorOptions {
  /** Files of both. */
  readonly programs: Readonly<Record<'control' | 'edge', string>>;
  readonly env: NodeJS.ProcessEnv;
  readonly say: (line: string) => void;
}

const pollMs = 200;
const startLimitMs = 60_000;

export class Supervisor {
  readonly #options: SupervisorOptions;
  readonly #clock: Clock = systemClock;
  readonly #control: Program;
  #edge: Program | null = null;
  #ready = false;
  #lost: string | null = null;

  constructor(options: SupervisorOptions) {
    this.#options = options;
    this.#control = this.#program('control', options.env);
  }

  /** @returns the bootstrap file's content, once /health is 200 @throws StartFailed */
  async start(): Promise<Bootstrap> {
    const { env } = this.#options;
    const file = bootstrapFile(env);
    // Checked again, because the set-up may have taken minutes.
    await checkPorts(env);
    this.#control.start();
    await this.#until('control', async () => (await health(env)) !== null && (await exists(file)));
    const bootstrap = await readBootstrap(file);
    this.#edge = this.#program('edge', {
      ...env,
      CONTROL_URL: env.CONTROL_URL || bootstrap.control_url,
      EDGE_TOKEN: env.EDGE_TOKEN || bootstrap.edge_token,
    });
    this.#edge.start();
    await this.#until('edge', async () => (await health(env)) === 200);
    this.#ready = true;
    return bootstrap;
  }

  /** Stops both in order. */
  async stop(): Promise<void> {
    await this.#edge?.stop();
    await this.#control.stop();
  }

  /** Makes the edge end its live calls now. */
  hurry(): void {
    void this.#edge?.stop();
  }

  kill(): void {
    this.#edge?.kill();
    this.#control.kill();
  }

  #program(name: 'control' | 'edge', env: NodeJS.ProcessEnv): Program {
    return new Program({
      name,
      args: [...nodeFlags[name], this.#options.programs[name]],
      // Control then counts as ready only with an edge that has its configuration.
      env: { ...env, EXPECT_EDGE: env.EXPECT_EDGE || 'true' },
      clock: this.#clock,
      onLost: (how, line, isCrash) => {
        if (this.#ready || isCrash) this.#options.say(line);
        else this.#lost = `${name} ${how}`;
      },
    });
  }

  async #until(name: string, condition: () => Promise<boolean>): Promise<void> {
    const limit = this.#clock.now() + startLimitMs;
    while (!(await condition())) {
      if (this.#lost)
        throw new StartFailed(
          `${this.#lost} while starting`,
          `its last line above says what is wrong and what to do`,
        );
      if (this.#clock.now() > limit)
        throw new StartFailed(
          `${name} was not ready within a minute`,
          'read its last log lines above; on a busy machine, start again',
        );
      await new Promise<void>((resolve) => this.#clock.after(pollMs, resolve));
    }
  }
}

/** @returns the HTTP status of /health, null when nothing answers */
async function health(env: NodeJS.ProcessEnv): Promise<number | null> {
  const host = env.CONTROL_HOST || '127.0.0.1';
  const reachable = host === '0.0.0.0' || host === '::' ? '127.0.0.1' : host;
  try {
    const headers = { 'user-agent': supervisorAgent };
    const response = await fetch(`http://${reachable}:${env.CONTROL_PORT || '8080'}/health`, { headers });
    await response.arrayBuffer();
    return response.status;
  } catch {
    return null;
  }
}

async function exists(file: string): Promise<boolean> {
  return access(file).then(
    () => true,
    () => false,
  );
}

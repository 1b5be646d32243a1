/** The far ends of a media benchmark, which run in a separate process (media-load.ts). */
import { type ChildProcess, fork } from 'node:child_process';
import { once } from 'node:events';
import type { FromLoad, LoadCodec, LoadResult, ToLoad } from './media-load.ts';

export class FarEnds {
  readonly #process: ChildProcess = fork(new URL('./media-load.ts', import.meta.url));

  /** Opens endpoints that speak `codecs` in turn. @returns their offers */
  async open(count: number, codecs: readonly LoadCodec[]): Promise<readonly string[]> {
    this.#tell({ type: 'open', calls: count, codecs });
    return (await this.#next('offers')).offers;
  }

  /** Starts their audio. @param answers one for each offer, in order */
  start(answers: readonly string[]): void {
    this.#tell({ type: 'start', answers });
  }

  /** Counts from here on. */
  measure(): void {
    this.#tell({ type: 'measure' });
  }

  async stop(): Promise<LoadResult> {
    this.#tell({ type: 'stop' });
    return (await this.#next('result')).result;
  }

  /** Ends the process if it still runs. */
  async close(): Promise<void> {
    if (this.#process.exitCode !== null) return;
    this.#process.kill();
    await once(this.#process, 'exit');
  }

  #tell(message: ToLoad): void {
    this.#process.send(message);
  }

  #next<T extends FromLoad['type']>(type: T): Promise<Extract<FromLoad, { type: T }>> {
    return new Promise((resolve, reject) => {
      const exited = () => reject(new Error('the load generator ended early'));
      this.#process.once('exit', exited);
      this.#process.once('message', (message: FromLoad) => {
        this.#process.removeListener('exit', exited);
        if (isOf(message, type)) resolve(message);
        else reject(new Error(`the load generator said ${message.type}, not ${type}`));
      });
    });
  }
}

function isOf<T extends FromLoad['type']>(
  message: FromLoad,
  type: T,
): message is Extract<FromLoad, { type: T }> {
  return message.type === type;
}

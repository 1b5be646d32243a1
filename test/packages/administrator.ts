/**
 * Somebody who types what a page shows on a machine with the packages. There is no systemd in a root: what the page asks
 * of `systemctl`, and what the packages ask of it around an installation, is done to the programs as it would.
 */
import type { PackageName } from '../../scripts/command/table.ts';
import { eventually } from '../kit/programs/eventually.ts';
import type { ShownCommand } from '../kit/shown-commands.ts';
import { type Deployment, limitMs } from './deployment.ts';
import { shownIn } from './guides.ts';

const programs = ['edge', 'control'] as const satisfies readonly PackageName[];

/** A line of a page. What is known only when the command runs may be anything: times, sizes, ids, numbers of files. */
const asPattern = (shown: string) =>
  shown
    .split(/(\S*…|\d+)/)
    .map((part, at) => (at % 2 === 0 ? part.replaceAll(/[.*+?^${}()|[\]\\]/g, '\\$&') : '\\S+'))
    .join('')
    .replace('\\S+ files', '\\S+ files?');

export class Administrator {
  readonly #deployment: Deployment;

  constructor(deployment: Deployment) {
    this.#deployment = deployment;
  }

  /** Runs lines one after the other, and compares what they print with what the page shows below them. */
  async types(page: string, lines: readonly ShownCommand[]): Promise<void> {
    const { machine } = this.#deployment;
    if (lines.length === 0) throw new Error(`docs/${page} shows no commands`);
    for (const { line, output } of lines) {
      const said = await this.#line(line);
      const seen = said.trim().split('\n');
      const missing = output.filter(
        (shown) => !seen.some((one) => new RegExp(`^${asPattern(shown)}$`).test(one.trim())),
      );
      machine.check(
        missing.length === 0,
        `docs/${page}: ${line}`,
        `the page shows ${missing.join('; ')}; it printed:\n${said}`,
      );
    }
  }

  async #line(line: string): Promise<string> {
    if (line.startsWith('systemctl ')) return await this.#systemctl(line.split(/\s+/).slice(1));
    if (line.startsWith('apt-get ')) return await this.#apt(line);
    const { machine } = this.#deployment;
    const { code, output } = await machine.shell(line);
    if (code !== 0)
      throw new Error(
        `${machine.name}: ${line} ended with ${code}\n${output}\n${this.#deployment.programs.logs()}`,
      );
    return output;
  }

  async #systemctl([verb = '', ...units]: readonly string[]): Promise<string> {
    const named = units.map((unit) => {
      const found = programs.find((program) => unit === `trunkline-${program}`);
      if (found === undefined) throw new Error(`systemctl ${verb} ${unit}: there is no such unit`);
      return found;
    });
    const running = named.filter((program) => this.#deployment.programs.isRunning(program));
    if (verb === 'is-active')
      return named.map((one) => (running.includes(one) ? 'active' : 'inactive')).join('\n');
    if (!['start', 'stop', 'restart'].includes(verb)) throw new Error(`systemctl ${verb}: not known here`);
    if (verb !== 'start') for (const program of running) await this.#deployment.stop(program);
    if (verb !== 'stop') {
      for (const program of named)
        if (verb === 'restart' || !running.includes(program)) await this.#deployment.programs.start(program);
      await this.#deployment.isHealthy();
    }
    return '';
  }

  /** Its maintainer scripts stop a program before its files are replaced, and start it afterwards. */
  async #apt(line: string): Promise<string> {
    const { machine } = this.#deployment;
    const replaced = programs.filter(
      (program) => line.includes(`trunkline-${program}_`) && this.#deployment.programs.isRunning(program),
    );
    for (const program of replaced) await this.#deployment.stop(program);
    const said = await machine.chroot('bash', ['-c', `cd /root && ${line}`]);
    for (const program of replaced) await this.#deployment.programs.start(program);
    return said;
  }

  /** An upgrade of both packages while the edge is drained, without the replacement of files. */
  async restartsDrained(page: string, [drain, undo]: readonly [ShownCommand, ShownCommand]): Promise<void> {
    const { machine } = this.#deployment;
    const wait = shownIn(page, /wait until `(curl -sf [^`]+)` answers before `drain --undo`/);
    await this.types(page, [drain]);
    await this.#deployment.stopBoth();
    await this.#deployment.programs.start('control');
    await this.#deployment.programs.start('edge');
    await eventually(
      'control to be ready',
      async () => (await machine.shell(wait)).code === 0 || null,
      limitMs,
    );
    machine.tell(`docs/${page}: ${wait} answers while the only edge is drained`);
    await this.types(page, [undo]);
    await this.#deployment.isHealthy();
  }
}

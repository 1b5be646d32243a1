/** The command line as a program that runs one command after another, each a line of its input (admin-program.ts). */
import { Console } from 'node:console';
import { createInterface } from 'node:readline';
import { Writable } from 'node:stream';
import { runCommandLine } from '../../../control/command-line.ts';
import type { CommandInput, CommandResult } from './admin-program.ts';

for await (const line of createInterface({ input: process.stdin })) {
  const { args, dataFolder }: CommandInput = JSON.parse(line);
  const written = { stdout: '', stderr: '' };
  const into = (name: keyof typeof written) =>
    new Writable({
      write: (chunk, _encoding, done) => {
        written[name] += String(chunk);
        done();
      },
    });
  const output = new Console({ stdout: into('stdout'), stderr: into('stderr') });
  const code = await runCommandLine(args, { env: { ...process.env, TRUNKLINE_DATA: dataFolder }, output });
  const result: CommandResult = { code, ...written };
  process.stdout.write(`${JSON.stringify(result)}\n`);
}

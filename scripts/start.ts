/** `npm start`: set-up, then control and edge until a signal stops them. */
import { join } from 'node:path';
import { collectGarbage } from '#shared/give-memory-back.ts';
import { setUp } from './setup/steps.ts';
import { reportTrouble, Trouble } from './setup/trouble.mjs';
import { checkBeforeStart, StartFailed } from './supervisor/before-start.ts';
import { readyLines } from './supervisor/ready-lines.ts';
import { Supervisor } from './supervisor/supervisor.ts';

const program = (name: string) => join(import.meta.dirname, '..', name, 'main.ts');
const programs = { control: program('control'), edge: program('edge') };
/** One Ctrl-C may arrive twice: from the terminal, and forwarded by npm. */
const sameSignalMs = 500;

await reportTrouble(async () => {
  await checkBeforeStart(process.env).catch(notStarted);
  await setUp({ peers: false });
  const startedAt = Date.now();
  const supervisor = new Supervisor({ programs, env: process.env, say });
  let signals = 0;
  let lastAt = 0;
  const stop = async (): Promise<void> => {
    if (Date.now() - lastAt < sameSignalMs) return;
    lastAt = Date.now();
    signals++;
    if (signals === 2) supervisor.hurry();
    if (signals === 3) supervisor.kill();
    if (signals > 1) return;
    say(
      'stopping: waiting for running calls (press again to end them, a third time to stop everything at once)',
    );
    await supervisor.stop();
    process.exit();
  };
  for (const signal of ['SIGINT', 'SIGTERM', 'SIGHUP']) process.on(signal, () => void stop());
  try {
    const bootstrap = await supervisor.start();
    console.log(readyLines(bootstrap, process.env, Date.now() - startedAt));
    // From here on this program only waits.
    collectGarbage();
  } catch (error) {
    if (signals > 0) return;
    await supervisor.stop();
    notStarted(error);
  }
});

/** @throws Trouble with the cause and its remedy; other errors unchanged */
function notStarted(error: unknown): never {
  if (!(error instanceof StartFailed)) throw error;
  throw new Trouble('Trunkline did not start', error.message, error.remedy);
}

function say(line: string): void {
  console.log(`trunkline: ${line}`);
}

/** `npm start`: set-up, then control and edge until a signal stops them. */
import { dirname, relative } from 'node:path';
import { collectGarbage } from '#shared/give-memory-back.ts';
import { setUp } from './setup/steps.ts';
import { reportTrouble, Trouble } from './setup/trouble.mjs';
import { checkBeforeStart, StartFailed } from './supervisor/before-start.ts';
import { type Bootstrap, bootstrapFile } from './supervisor/bootstrap.ts';
import { Supervisor } from './supervisor/supervisor.ts';

const root = dirname(import.meta.dirname);
/** One Ctrl-C may arrive twice: from the terminal, and forwarded by npm. */
const sameSignalMs = 500;

await reportTrouble(async () => {
  await checkBeforeStart(process.env).catch(notStarted);
  await setUp({ peers: false });
  const startedAt = Date.now();
  const supervisor = new Supervisor({ root, env: process.env, say });
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
    console.log(summary(bootstrap, Date.now() - startedAt));
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

function summary(bootstrap: Bootstrap, ms: number): string {
  const { env } = process;
  const file = relative(process.cwd(), bootstrapFile(env));
  // The second shell does not have this setting.
  const setting = env.TRUNKLINE_DATA ? `TRUNKLINE_DATA='${env.TRUNKLINE_DATA}' ` : '';
  const rtp = `${env.RTP_PORT_MIN || '10000'}-${env.RTP_PORT_MAX || '20000'}`;
  return `
Trunkline is ready (${(ms / 1000).toFixed(1)} s).

  SIP over TLS    ${env.SIP_HOST || '0.0.0.0'}:${bootstrap.sip.port}
  SRTP            UDP ${rtp}
  Console         ${bootstrap.control_url} (sign in with the API key)
  API             ${bootstrap.control_url}/v1 (reference: ${bootstrap.control_url}/docs)
  API key         "api_key" in ${file}

Place a call, from a second shell:

  ${setting}npm run call
`;
}

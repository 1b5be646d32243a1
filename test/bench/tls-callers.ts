/** The callers of tls-calls.ts as a process of their own, whose CPU time is no part of the bench's. */
import { fork } from 'node:child_process';
import { once } from 'node:events';
import { type CallsOrder, type CallsRun, callOverTls } from './tls-calls.ts';

export interface CallersRun extends Omit<CallsRun, 'setUpMs'> {
  readonly cpuMs: number;
  /** From INVITE to 200, 99 of 100 calls, ms. */
  readonly setUpMs: number;
}

/** @throws Error when the callers cannot begin: no server, or no session to resume */
export async function runTlsCallers(order: CallsOrder): Promise<CallersRun> {
  const callers = fork(import.meta.filename, ['callers']);
  callers.send(order);
  const ended = once(callers, 'exit').then(([code]) => {
    throw new Error(`the callers ended early (${code})`);
  });
  ended.catch(() => {});
  const [said] = (await Promise.race([once(callers, 'message'), ended])) as [CallersRun];
  return said;
}

async function run(order: CallsOrder): Promise<void> {
  const before = process.cpuUsage();
  const { setUpMs, ...result } = await callOverTls(order);
  const { user, system } = process.cpuUsage(before);
  const said: CallersRun = {
    ...result,
    cpuMs: (user + system) / 1000,
    setUpMs: setUpMs[Math.floor(setUpMs.length * 0.99)] ?? Number.NaN,
  };
  process.send?.(said, () => process.disconnect());
}

if (process.argv[2] === 'callers') process.once('message', (order: CallsOrder) => void run(order));

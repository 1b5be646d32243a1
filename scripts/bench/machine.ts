import { readFileSync } from 'node:fs';
import { arch, cpus, totalmem } from 'node:os';

/** One paragraph about the machine. */
export function describeMachine(at: Date): string {
  const processors = cpus();
  const system = /^PRETTY_NAME="(.*)"/m.exec(readFileSync('/etc/os-release', 'utf8'))?.[1] ?? 'Linux';
  const memory = Math.round(totalmem() / 2 ** 30);
  return `Measured on ${at.toISOString().slice(0, 10)} with ${processors.length} cores (${processors[0]?.model.trim()}, ${arch()}), ${memory} GiB of memory, ${system}, Node ${process.versions.node}, the load generator on the same machine.`;
}

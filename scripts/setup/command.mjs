import { spawn } from 'node:child_process';

/**
 * Runs a program to its end and collects its output.
 *
 * @param {string} program
 * @param {readonly string[]} args
 * @param {{ cwd?: string, env?: NodeJS.ProcessEnv, onLine?: (line: string) => void }} [options]
 *   `onLine` gets every line of standard output as it arrives
 * @returns {Promise<{ code: number, stdout: string, output: string }>} `code` is 127 when the program does not
 *   exist; `output` is standard output and standard error, interleaved
 */
export function command(program, args, { cwd, env, onLine } = {}) {
  return new Promise((resolve) => {
    const child = spawn(program, args, { cwd, env: env ?? process.env, stdio: ['ignore', 'pipe', 'pipe'] });
    let stdout = '';
    let output = '';
    let line = '';
    child.stdout.setEncoding('utf8').on('data', (chunk) => {
      stdout += chunk;
      output += chunk;
      if (!onLine) return;
      const lines = (line + chunk).split('\n');
      line = lines.pop() ?? '';
      for (const complete of lines) onLine(complete);
    });
    child.stderr.setEncoding('utf8').on('data', (chunk) => {
      output += chunk;
    });
    child.on('error', (error) => resolve({ code: 127, stdout, output: `${output}${error.message}\n` }));
    child.on('close', (code, signal) =>
      resolve({ code: code ?? 128, stdout, output: signal ? `${output}${signal}\n` : output }),
    );
  });
}

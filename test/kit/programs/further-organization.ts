/** Another organization of a running system, made with the command line. */
import { AdminProgram } from './admin-program.ts';
import { Api } from './api.ts';
import type { TestSystem } from './harness.ts';

/** @returns the API with a key of the new organization, which may attach numbers */
export async function furtherOrganization(system: TestSystem): Promise<Api> {
  const admin = new AdminProgram();
  try {
    const run = async (...args: string[]) => {
      const { code, stdout, stderr } = await admin.run(system.folder, args);
      if (code !== 0) throw new Error(`npm run admin -- ${args.join(' ')}: ${stderr}`);
      return stdout;
    };
    const made = await run('org', 'create', 'Another', '--sip');
    const id = /[0-9a-f-]{36}/.exec(made)?.[0] ?? '';
    const key = /tk_[A-Za-z0-9_-]+/.exec(await run('key', 'create', id))?.[0] ?? '';
    return new Api(`http://127.0.0.1:${system.controlPort}`, key);
  } finally {
    await admin.end();
  }
}

/**
 * Checks that a mediasoup worker is the one that this edge needs. The unmodified worker drops telephone events
 * and rejects peers that signal no SSRC, so calls would be answered and silent; the edge then does not start.
 *
 * The build writes `<binary>.json` next to the binary: `{ "mediasoup": "3.27.1", "patches": "<hash>" }`.
 */
import { access, constants, readFile } from 'node:fs/promises';

/**
 * @param version of the mediasoup package that will talk to the worker
 * @param acceptUnmarked accepts a worker without the mark; for tests
 * @throws Error that says what is wrong and what to do
 */
export async function checkWorkerBinary(
  workerBin: string,
  version: string,
  acceptUnmarked: boolean,
): Promise<void> {
  const build = 'run npm start, which builds it, or set MEDIASOUP_WORKER to a worker that was built';
  try {
    await access(workerBin, constants.X_OK);
  } catch {
    throw new Error(`the media worker ${workerBin} is missing or not executable: ${build}`);
  }
  if (acceptUnmarked) return;
  const marker = await readMarker(`${workerBin}.json`);
  if (!marker) {
    throw new Error(
      `the media worker ${workerBin} is not marked as built with Trunkline's patches (${workerBin}.json): ${build}, ` +
        'with the mediasoup-worker.json of its build beside it',
    );
  }
  if (marker.mediasoup !== version) {
    throw new Error(
      `the media worker ${workerBin} was built for mediasoup ${marker.mediasoup}, but the installed package is ${version}: ${build}`,
    );
  }
}

async function readMarker(path: string): Promise<{ mediasoup: string; patches: string } | null> {
  let value: unknown;
  try {
    value = JSON.parse(await readFile(path, 'utf8'));
  } catch {
    return null;
  }
  if (typeof value !== 'object' || value === null) return null;
  const { mediasoup, patches } = value as Record<string, unknown>;
  if (typeof mediasoup !== 'string' || typeof patches !== 'string' || patches === '') return null;
  return { mediasoup, patches };
}

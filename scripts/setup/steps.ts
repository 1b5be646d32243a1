/** The set-up steps after the npm packages, in order. Each checks first and does nothing when it is done already. */
import { ensureAptPackages, ensureOptionalPackages } from './apt.ts';
import { ensureConsole } from './console.ts';
import { ensureWorker } from './worker.ts';

/** Shared libraries of the media worker and of the codecs. */
const runtimePackages = ['libuv1|libuv1t64', 'libssl3|libssl3t64', 'libstdc++6', 'libopus0'];

/** Without them these codecs are not offered. */
const codecPackages = ['libspandsp2|libspandsp2t64', 'libbcg729-0'];

/** @throws Trouble from setup/trouble.mjs */
export async function setUp({ peers }: { readonly peers: boolean }): Promise<void> {
  await ensureAptPackages(runtimePackages, 'run the media worker');
  await ensureOptionalPackages(codecPackages, 'offer G.722 and G.729');
  await ensureWorker();
  await ensureConsole();
  if (peers) {
    const { ensurePeers } = await import('./peers.ts');
    await ensurePeers();
  }
}

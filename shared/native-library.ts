/**
 * Codec libraries of the operating system, loaded with koffi on first use. koffi itself is loaded only then: an
 * edge that uses only G.711 needs neither.
 */
import { createRequire } from 'node:module';
import { join } from 'node:path';
import type { LibraryHandle } from 'koffi';

/** An opaque pointer returned by a library. */
export type Pointer = object | bigint | null;

/** Folder of this process's libraries; null: the dynamic linker's search path. */
let folder: string | null = null;

/** Looks for libraries only in `path` from now on; libraries already requested are unaffected. */
export function lookForLibrariesIn(path: string | null): void {
  folder = path;
}

/** The functions of a library, or why it is unavailable. */
export type Loaded<Functions> = { readonly functions: Functions } | { readonly reason: string };

/**
 * Creates a loader that opens `file` once and caches the outcome.
 * @param file name for the dynamic linker, with its version
 * @param debianPackage what to install when it is missing
 * @param bind looks up the functions; may throw when one is missing
 */
export function libraryLoader<Functions>(
  file: string,
  debianPackage: string,
  bind: (library: LibraryHandle) => Functions,
): () => Loaded<Functions> {
  let loaded: Loaded<Functions> | undefined;
  return () => {
    loaded ??= open(file, debianPackage, bind);
    return loaded;
  };
}

function open<Functions>(
  file: string,
  debianPackage: string,
  bind: (library: LibraryHandle) => Functions,
): Loaded<Functions> {
  const path = folder === null ? file : join(folder, file);
  try {
    const koffi: typeof import('koffi') = createRequire(import.meta.url)('koffi');
    return { functions: bind(koffi.load(path)) };
  } catch (error) {
    const detail = error instanceof Error ? error.message : String(error);
    return { reason: `${path} cannot be loaded (install the package ${debianPackage}): ${detail}` };
  }
}

/**
 * Codec libraries of the operating system, opened through koffi when they are first asked for. koffi itself
 * is loaded only then: an edge that speaks G.711 alone needs neither.
 */
import { createRequire } from 'node:module';
import { join } from 'node:path';
import type { LibraryHandle } from 'koffi';

/** A pointer that a library handed out; opaque here. */
export type Pointer = object | bigint | null;

/** Where the libraries of this process are; null: where the dynamic linker looks. */
let folder: string | null = null;

/** Looks for libraries in `path` alone from now on; those that were asked for already stay what they are. */
export function lookForLibrariesIn(path: string | null): void {
  folder = path;
}

/** The functions of a library, or why there are none. */
export type Loaded<Functions> = { readonly functions: Functions } | { readonly reason: string };

/**
 * Makes a loader that opens `file` once and remembers the outcome.
 * @param file name as the dynamic linker knows it, with its version
 * @param debianPackage what to install when it is missing
 * @param bind looks the functions up; may throw when one is missing
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

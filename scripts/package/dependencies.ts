/** The npm packages that a program needs, with what they need themselves, from the lock file; and their files. */
import { existsSync, readdirSync, readFileSync, statSync } from 'node:fs';
import { dirname, join } from 'node:path';

export interface LockedPackage {
  readonly version: string;
  /** The name that the registry has, where an alias replaces another package. */
  readonly name?: string;
  readonly integrity?: string;
  readonly license?: string;
  readonly optional?: boolean;
  readonly dependencies?: Readonly<Record<string, string>>;
  readonly optionalDependencies?: Readonly<Record<string, string>>;
  readonly peerDependencies?: Readonly<Record<string, string>>;
  readonly peerDependenciesMeta?: Readonly<Record<string, { readonly optional?: boolean }>>;
}

export interface Lock {
  /** By path, such as `node_modules/a/node_modules/b`; the project itself has the empty path. */
  readonly packages: Readonly<Record<string, LockedPackage>>;
}

/**
 * Paths of the packages that belong to `names`, sorted, and which needs which. Types are left out, and so is what is
 * optional and not installed here: it is for other systems.
 * @throws Error for a package that the lock file does not have
 */
export function packagesFor(
  lock: Lock,
  names: readonly string[],
  isInstalled: (path: string) => boolean,
): ReadonlyMap<string, readonly string[]> {
  const found = new Map<string, readonly string[]>();
  const follow = (path: string): void => {
    if (found.has(path)) return;
    const { dependencies, optionalDependencies, peerDependencies, peerDependenciesMeta } =
      lock.packages[path] ?? {};
    const isOptional = (name: string) =>
      optionalDependencies?.[name] !== undefined ||
      (dependencies?.[name] === undefined && peerDependenciesMeta?.[name]?.optional === true);
    const present = Object.keys({ ...dependencies, ...optionalDependencies, ...peerDependencies })
      .filter((name) => !name.startsWith('@types/'))
      .map((name) => resolved(lock, path, name, isOptional(name)))
      .filter((one) => one !== null)
      .filter(isInstalled)
      .sort();
    found.set(path, present);
    for (const one of present) follow(one);
  };
  for (const name of names) {
    const path = resolved(lock, '', name, false);
    if (path !== null) follow(path);
  }
  return new Map([...found].sort(([a], [b]) => (a < b ? -1 : 1)));
}

/** As Node looks for it: beside the package, then in each folder above. */
function resolved(lock: Lock, from: string, name: string, isOptional: boolean): string | null {
  for (let base = from; ; ) {
    const path = base === '' ? `node_modules/${name}` : `${base}/node_modules/${name}`;
    if (lock.packages[path]) return path;
    if (base === '') break;
    const above = base.lastIndexOf('/node_modules/');
    base = above < 0 ? '' : base.slice(0, above);
  }
  if (isOptional) return null;
  throw new Error(`package-lock.json has no ${name}, which ${from || 'the program'} needs`);
}

/** Whether a package of the lock file is in this checkout. */
export const installedIn = (root: string) => (path: string) => existsSync(join(root, path, 'package.json'));

/** What no program reads: sources of native code that is built already, types, and what is for other systems. */
const leftOut: readonly RegExp[] = [
  /\.(?:d\.[cm]?ts|[cm]?ts|map|md|markdown|flow)$/i,
  /^mediasoup\/worker\//,
  /^better-sqlite3\/(?:deps|src|binding\.gyp)/,
  /^koffi\/(?:vendor|doc)\//,
  /\.(?:c|cc|cpp|h|hh|hpp|S|asm|inc)$/,
  /^onnxruntime-node\/script\//,
  /^node\//,
];

/** What a licence asks for stays. */
const licence = /(?:^|\/)(?:licen[cs]e|copying|notice)/i;

/** Names of platforms in paths of prebuilt native code, such as `linux-x64`, `linuxmusl-arm64.node`, `musl_x64`. */
const platform =
  /(?:^|\/)(linux|linuxmusl|musl|darwin|win32|android|freebsd|openbsd)[-_](x64|arm64|ia32|arm)(?:\.node)?(?:\/|$)/;

/** Files of a package that belong into ours, by path in the project, sorted; not those of packages inside it. */
export function filesOf(root: string, path: string, arch: string = process.arch): readonly string[] {
  const name = path.slice(path.lastIndexOf('node_modules/') + 'node_modules/'.length);
  return readdirSync(join(root, path), { recursive: true, withFileTypes: true })
    .filter((entry) => entry.isFile())
    .map((entry) => join(entry.parentPath, entry.name).slice(join(root, path).length + 1))
    .filter((file) => !/(?:^|\/)node_modules\//.test(file) && isNeeded(`${name}/${file}`, arch))
    .map((file) => join(path, file))
    .sort();
}

/** Native code that is built for another system. */
function isForeign(file: string, arch: string): boolean {
  const built = platform.exec(file);
  return built !== null && (built[1] !== 'linux' || built[2] !== arch);
}

/** @param file with the name of its package, such as `koffi/index.js` */
export function isNeeded(file: string, arch: string): boolean {
  if (licence.test(file)) return true;
  if (isForeign(file, arch)) return false;
  return !leftOut.some((pattern) => pattern.test(file));
}

/** `require('./x')`, `import './x'`, `from './x'`, `import('./x')` in JavaScript as it is published, also minified. */
const relative =
  /\b(?:require|import)\(\s*["'](\.{1,2}\/[^"'\n]+)["']\s*\)|\b(?:from|import)\s*["'](\.{1,2}\/[^"'\n]+)["']/g;

/**
 * What was left out of packages although other files of theirs load it: each as the file that loads, and the name.
 * @param files of packages, by path in the project
 */
export function missingFiles(
  root: string,
  files: readonly string[],
  arch: string = process.arch,
): readonly string[] {
  const included = new Set(files);
  return files
    .filter((file) => /\.[cm]?js$/.test(file))
    .flatMap((file) =>
      [...readFileSync(join(root, file), 'utf8').matchAll(relative)]
        .map(([, called, named]) => called ?? named ?? '')
        // Types, in comments.
        .filter((name) => !name.endsWith('.ts') && !isForeign(name, arch))
        .filter((name) => {
          const there = candidates(join(dirname(file), name)).filter((path) => isFile(join(root, path)));
          return there.length > 0 && !there.some((path) => included.has(path));
        })
        .map((name) => `${file} loads ${name}`),
    );
}

/** As Node looks for a relative name. */
function candidates(path: string): string[] {
  const endings = ['', '.js', '.cjs', '.mjs', '.json', '.node', '/index.js', '/index.cjs', '/index.json'];
  return endings.map((ending) => `${path}${ending}`);
}

const isFile = (path: string) => statSync(path, { throwIfNoEntry: false })?.isFile() === true;

/** The files of the built console, in memory: a few hundred kilobytes, each with its compressed forms. */
import { readdir, readFile } from 'node:fs/promises';
import { extname, join } from 'node:path';
import { pathExists } from '#shared/path-exists.ts';
import { consoleLocation } from './location.ts';

export interface ConsoleFile {
  readonly type: string;
  readonly plain: Buffer;
  /** By the name of the coding. */
  readonly encoded: ReadonlyMap<string, Buffer>;
}

export interface ConsoleBundle {
  readonly page: ConsoleFile;
  /** By their names, which have the hash of their content. */
  readonly assets: ReadonlyMap<string, ConsoleFile>;
  /** The name of the phone of widgets' visitors among them. */
  readonly phone: string | null;
}

/** Name of the one file that pages of others load (console/vite.config.ts). */
const visitorPhone = /^visitor-phone-[\w-]+\.js$/;

/** Looked for until it is there: set-up may build it while control runs. */
export class ConsoleBuild {
  readonly #env: NodeJS.ProcessEnv;
  #bundle: ConsoleBundle | null = null;

  /** @param env where set-up puts the console: the environment of the program */
  constructor(env: NodeJS.ProcessEnv) {
    this.#env = env;
  }

  /** @returns null when set-up has not built it yet */
  async read(): Promise<ConsoleBundle | null> {
    this.#bundle ??= await readBundle(this.#env);
    return this.#bundle;
  }

  /** Of the visitors' phone. */
  async phonePath(): Promise<string | null> {
    const phone = (await this.read())?.phone ?? null;
    return phone === null ? null : `/assets/${phone}`;
  }
}

/** The better one first. */
export const codings = [
  ['br', '.br'],
  ['gzip', '.gz'],
] as const;

const types: Readonly<Record<string, string>> = {
  '.html': 'text/html; charset=utf-8',
  '.js': 'text/javascript; charset=utf-8',
  '.css': 'text/css; charset=utf-8',
  '.svg': 'image/svg+xml',
};

async function readBundle(env: NodeJS.ProcessEnv): Promise<ConsoleBundle | null> {
  const { folder, mark } = consoleLocation(env);
  if (!pathExists(mark)) return null;
  const assets = join(folder, 'assets');
  const names = (await readdir(assets)).filter((name) => extname(name) in types);
  const files = await Promise.all(
    names.map(async (name): Promise<[string, ConsoleFile]> => [name, await readOne(join(assets, name))]),
  );
  return {
    page: await readOne(join(folder, 'index.html')),
    assets: new Map(files),
    phone: names.find((name) => visitorPhone.test(name)) ?? null,
  };
}

async function readOne(file: string): Promise<ConsoleFile> {
  const encoded = await Promise.all(
    codings.map(
      async ([coding, ending]): Promise<[string, Buffer]> => [coding, await readFile(`${file}${ending}`)],
    ),
  );
  return {
    type: types[extname(file)] ?? 'application/octet-stream',
    plain: await readFile(file),
    encoded: new Map(encoded),
  };
}

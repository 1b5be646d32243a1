/**
 * The commands that documents and comments of deploy/ show exist, with their options, settings and files; their requests
 * are ones that the API has, with fields and values that it takes. What they do is tested elsewhere: the guides by
 * guides.test.ts, the commands by the tests of their programs.
 */
import { existsSync, readdirSync, readFileSync } from 'node:fs';
import { join } from 'node:path';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { formerSettings } from '#shared/settings/former.ts';
import { settings } from '#shared/settings/table.ts';
import { allCommands } from '../control/admin/index.ts';
import { describedIn } from '../control/deployment/docs/groups.ts';
import { curlOf } from '../control/deployment/docs/request-code.ts';
import type { OpenApiDocument } from '../control/deployment/openapi-document.ts';
import { requestExamples, requestQueries } from '../control/deployment/request-examples.ts';
import { commandTable } from '../scripts/command/table.ts';
import { startRoutes, type TestControl } from './kit/control/harness.ts';
import { openApiOf } from './kit/control/openapi.ts';
import { type DocumentedCommand, documentedCommands } from './kit/documented-commands.ts';

const root = join(import.meta.dirname, '..');
const pages = [
  'README.md',
  'deploy/README.md',
  'clients/typescript/README.md',
  ...readdirSync(join(root, 'docs'), { recursive: true, encoding: 'utf8' })
    .filter((name) => name.endsWith('.md'))
    .map((name) => join('docs', name)),
];
const textOf = (page: string) => readFileSync(join(root, page), 'utf8');
/** Comments of containers, manifests and units, each as a block of its own. */
const commented = readdirSync(join(root, 'deploy'), { recursive: true, encoding: 'utf8' })
  .filter((name) => /\.(?:ya?ml|service|cfg)$|Containerfile$/.test(name))
  .map((name) => join('deploy', name));
const commentsOf = (file: string) =>
  textOf(file).replaceAll(/^.*$/gm, (line) => {
    const [, text] = /^\s*# {1,3}(\S.*)$/.exec(line) ?? [];
    return text === undefined ? '' : `    ${text.replace(/^.*: (?=trunkline )/, '')}`;
  });
const commands = [
  ...pages.flatMap((page) => documentedCommands(page, textOf(page))),
  ...commented.flatMap((file) => documentedCommands(file, commentsOf(file))),
];
const { scripts } = JSON.parse(textOf('package.json')) as { scripts: Record<string, string> };

/** A word of the page in place of a value, such as `<id>`, `$EDGE` or `…`. */
const placeholder = /[<>$…]|^\.{3}$/;

const of = (program: string) => commands.filter(({ words }) => words[0] === program);
const wrong = (found: readonly (readonly [DocumentedCommand, string | null])[]) =>
  found.flatMap(([{ place, words }, why]) => (why === null ? [] : [`${place}: ${words.join(' ')}: ${why}`]));

describe('npm', () => {
  /** The script, and what it gets. */
  function scriptOf([, verb = '', ...rest]: readonly string[]): { name: string; options: string[] } | null {
    const words = rest.filter((word) => !/^(?:-s|--silent|--)$/.test(word));
    if (verb === 'run') return { name: words[0] ?? '', options: words.slice(1) };
    return ['start', 'test'].includes(verb) ? { name: verb, options: words } : null;
  }

  it('runs scripts that there are', () => {
    const found = of('npm').map((one) => [one, scriptOf(one.words)] as const);
    expect(found.length).toBeGreaterThan(100);
    expect(
      wrong(
        found.map(([one, script]) => [
          one,
          script && !placeholder.test(script.name) && !(script.name in scripts) ? 'no such script' : null,
        ]),
      ),
    ).toEqual([]);
  });

  it('and trunkline: the commands take the options', async () => {
    const admin = await allCommands();
    const given = [
      ...of('npm').map((one) => [one, scriptOf(one.words)] as const),
      ...of('trunkline').map(
        (one) => [one, { name: one.words[1] ?? '', options: one.words.slice(2) }] as const,
      ),
    ].map(([one, script]): readonly [DocumentedCommand, string | null] => {
      if (!script || script.name === '' || script.name.startsWith('-') || placeholder.test(script.name))
        return [one, null];
      const row = commandTable.find(({ name }) => name === script.name);
      if (!row) return [one, one.words[0] === 'trunkline' ? 'no such command' : null];
      const used = script.options
        .filter((word) => word.startsWith('--'))
        .map((word) => word.slice(2).split('=')[0]);
      const words = script.options.filter((word) => !word.startsWith('-'));
      const known =
        row.name === 'admin' && words.length > 1 ? adminOptions(admin, words) : [...row.options, 'help'];
      if (known === null) return [one, `no such command of admin`];
      const unknown = used.filter((option) => !known.includes(option ?? ''));
      return [one, unknown.length === 0 ? null : `unknown ${unknown.join(', ')}`];
    });
    expect(given.length).toBeGreaterThan(100);
    expect(wrong(given)).toEqual([]);
  });

  function adminOptions(
    admin: Awaited<ReturnType<typeof allCommands>>,
    [area = '', verb = '']: readonly string[],
  ): readonly string[] | null {
    if (placeholder.test(`${area}${verb}`))
      return [...Object.values(admin).flatMap(({ options }) => options)];
    const command = admin[`${area} ${verb}`];
    return command ? [...command.options, 'json', 'help'] : null;
  }
});

/** Files that the reader writes. */
const written = new Set(['first-call.mjs']);

it('node runs files that there are', () => {
  const found = [...of('node'), ...of('node_modules/.bin/node')].flatMap((one) => {
    if (one.words.some((word) => /^-[pe]$/.test(word))) return [];
    const file = one.words.slice(1).find((word) => !word.startsWith('-'));
    return file === undefined || placeholder.test(file) || written.has(file) ? [] : [[one, file] as const];
  });
  expect(found.length).toBeGreaterThan(5);
  expect(
    wrong(found.map(([one, file]) => [one, existsSync(join(root, file)) ? null : 'no such file'])),
  ).toEqual([]);
});

it('npm run bench and npx vitest name benchmarks and files that there are', () => {
  const isThere = (path: string) => existsSync(join(root, path));
  const missing = [...of('npm'), ...of('npx')].flatMap(({ place, words }) => {
    const [program, verb, what, ...rest] = words.filter((word) => !/^-(?:s|-silent)?$/.test(word));
    const isBench = program === 'npm' && verb === 'run' && what === 'bench';
    const isVitest = program === 'npx' && verb === 'vitest';
    const names = isBench ? rest.map((name) => `test/bench/${name}.bench.ts`) : isVitest ? rest : [];
    return names
      .filter(
        (name) => name.includes('/') && !placeholder.test(name) && !name.includes('[name') && !isThere(name),
      )
      .map((name) => `${place}: ${name}`);
  });
  expect(missing).toEqual([]);
});

it('systemctl and journalctl name units that there are', () => {
  const units = [...of('systemctl'), ...of('journalctl')].flatMap(({ place, words }) =>
    words
      .filter((word) => word.startsWith('trunkline'))
      .map((word) => [place, word.replace(/\.service$/, '')] as const),
  );
  expect(units.length).toBeGreaterThan(10);
  expect(units.filter(([, unit]) => !existsSync(join(root, 'deploy', `${unit}.service`)))).toEqual([]);
});

it('kubectl names resources and files that the manifests have', () => {
  const manifests = readdirSync(join(root, 'deploy', 'kubernetes'))
    .map((name) => textOf(join('deploy', 'kubernetes', name)))
    .join('\n---\n');
  const there = manifests
    .split(/^---$/m)
    .map((text) =>
      [/^kind: (\w+)$/m, /^ {2}name: ([\w-]+)$/m]
        .map((form) => form.exec(text)?.[1]?.toLowerCase())
        .join('/'),
    );
  const named = of('kubectl').flatMap(({ place, words }) =>
    words
      .filter((word) => /^(?:statefulset|service|secret)\//.test(word))
      .map((word) => [place, word] as const),
  );
  const folders = of('kubectl').flatMap(({ place, words }) => {
    const at = words.findIndex((word) => word === '-k' || word === '-f');
    return at < 0 ? [] : [[place, words[at + 1]?.replace(/[,.]$/, '') ?? ''] as const];
  });
  expect(named.length).toBeGreaterThan(2);
  expect(named.filter(([, word]) => !there.includes(word))).toEqual([]);
  expect(folders.filter(([, folder]) => !existsSync(join(root, folder)))).toEqual([]);
});

it('the settings in front of commands are settings', () => {
  // Those of benchmarks are no settings of the programs.
  const known = new Set<string>([...settings.map(({ name }) => name), 'SIP_ENGINE', 'TALK_SEED']);
  const ours = commands.filter(({ words }) => ['npm', 'node', 'trunkline'].includes(words[0] ?? ''));
  const unknown = ours.flatMap(({ place, settings: names }) =>
    names
      .filter((name) => !known.has(name) && !(name in formerSettings) && !/^(?:OTEL|NODE)_/.test(name))
      .map((name) => `${place}: ${name}`),
  );
  expect(unknown).toEqual([]);
});

describe('requests', () => {
  let test: TestControl;
  beforeAll(async () => {
    test = await startRoutes();
  });
  afterAll(() => test.close());

  const flags = /^-(?:[sSfNivkL]+|-(?:silent|fail|no-buffer|compressed|insecure))$/;
  const methods = ['GET', 'POST', 'PUT', 'PATCH', 'DELETE'] as const;
  type Method = (typeof methods)[number];

  interface Sent {
    readonly method: Method;
    readonly url: string;
    readonly body: string | null;
    readonly type: string | null;
  }

  /** What a curl command sends to control; null: it is for another server. */
  function requestOf({ words }: DocumentedCommand): Sent | null {
    let method: string | null = null;
    let url: string | null = null;
    let body: string | null = null;
    let type: string | null = null;
    for (let at = 1; at < words.length; at += 1) {
      const word = words[at] ?? '';
      if (flags.test(word)) continue;
      const value = words[at + 1] ?? '';
      if (word === '-X' || word === '--request') method = value;
      else if (/^(?:-d|--data(?:-\w+)?)$/.test(word)) body = value;
      else if (word === '-F') body = '';
      else if (word === '-H') type = /^content-type: *(\S+)/i.exec(value)?.[1] ?? type;
      else if (!word.startsWith('-')) {
        url = word;
        continue;
      } else if (!/^-(?:[ouDwm]|-cacert|-max-time)$/.test(word)) throw new Error(`option ${word} of curl`);
      at += 1;
    }
    const path =
      /^(?:"?\$\{?(?:TRUNKLINE_)?URL\}?|(?:https?:\/\/)?(?:localhost|127\.0\.0\.1|[\w.-]*control[\w.-]*)(?::8080)?)(\/.*)$/.exec(
        url ?? '',
      )?.[1];
    if (path === undefined) return null;
    return { method: (method ?? (body === null ? 'GET' : 'POST')) as Method, url: path, body, type };
  }

  const id = '01890a5d-ac96-774b-bcce-b302099a8057';

  /** What the function that begins each guide sends. */
  function requestOfApi({ words: [, method = '', path = '', body] }: DocumentedCommand): Sent | null {
    if (!path.startsWith('/')) return null;
    return { method: method as Method, url: path, body: body ?? null, type: 'application/json' };
  }

  /** The body is in a file of the reader, made by another command or of variables, or run in a guide as it stands. */
  const isMade = ({ place, words: [program] }: DocumentedCommand, { body }: Sent) =>
    /^@|\$\(|"wav"/.test(body ?? '') ||
    (program === 'api' && (body?.includes('$') || place.startsWith('docs/guides/')));

  /** Why the API does not take it; null: it does, undefined: nobody asked it. */
  async function refusal(one: DocumentedCommand, control: TestControl): Promise<string | null | undefined> {
    const sent = one.words[0] === 'api' ? requestOfApi(one) : requestOf(one);
    // A stream would not end; the guide of webhooks and events is run.
    if (sent === null || one.words.includes('-N') || endless.test(sent.url)) return undefined;
    const made = isMade(one, sent);
    const url = sent.url.replace(/<[^>]*>|\$\{?\w+\}?|\$\([^)]*\)|…/g, id);
    const body = sent.body?.replace(/<[^>]*>|\$\{?\w+\}?|…/g, id) ?? null;
    if (sent.type === 'application/json' && body !== null && !made) {
      try {
        JSON.parse(body);
      } catch {
        return 'its body is no JSON';
      }
    }
    const answer = await control.call(sent.method, url, {
      key: /^\/v1\/admin|^\/metrics/.test(url) ? control.operatorKey : control.key,
      ...(body !== null && {
        body,
        headers: { 'content-type': sent.type ?? 'application/x-www-form-urlencoded' },
      }),
    });
    const refused = answer.codes.some((code) => (made ? unknownPath : notTaken).test(code));
    // No edge is connected: 503.
    const failed = answer.status >= 500 && answer.status !== 503;
    return refused || failed ? `${answer.status} ${answer.text}` : null;
  }

  async function refusals(all: readonly DocumentedCommand[], control = test) {
    const found: [DocumentedCommand, string | null][] = [];
    for (const one of all) {
      const why = await refusal(one, control);
      if (why !== undefined) found.push([one, why]);
    }
    return found;
  }

  it('of curl, and of the function api of the guides, are ones that the API takes', async () => {
    const found = await refusals([...of('curl'), ...of('api')]);
    expect(found.length).toBeGreaterThan(110);
    expect(wrong(found)).toEqual([]);
  });

  it('of curl on the pages of endpoints are ones that the API takes', async () => {
    const all = describedIn((await openApiOf(test)).paths);
    const names = all.map(({ method, path }) => `${method} ${path}`);
    const written = [...Object.keys(requestExamples), ...Object.keys(requestQueries)];
    expect(written.filter((name) => !names.includes(name.replaceAll(/:(\w+)/g, '{$1}')))).toEqual([]);
    const shown = all.flatMap((one) =>
      documentedCommands(`${one.method} ${one.path}`, `    ${curlOf(one)}`).slice(0, 1),
    );
    // Of its own, where commands of pages have changed nothing.
    const control = await startRoutes();
    try {
      const found = await refusals(shown, control);
      expect(found.length).toBeGreaterThan(150);
      expect(wrong(found)).toEqual([]);
    } finally {
      await control.close();
    }
  });

  /** Streams of events, also of runs and widgets. */
  const endless = /\/events(?:\?|$)/;

  /** Of the form of a request; others are about what there is. */
  const notTaken =
    /^(?:INVALID_(?:PARAMETER|JSON|GRAPH|SIP_ENDPOINT|PHONE_NUMBERS?|INPUT_SCHEMA)|ROUTE_NOT_FOUND|AUTH_FAILURE)$/;
  const unknownPath = /^(?:ROUTE_NOT_FOUND|AUTH_FAILURE)$/;

  it('in the text, such as `GET /v1/calls`, are in the API, with the names of their query', async () => {
    const { paths } = await openApiOf(test);
    // Paths of this page begin below that of its heading.
    const start = (page: string) => (page.endsWith('06-agent-testing.md') ? '/v1/agent-testing' : '');
    const named = pages.flatMap((page) =>
      [...textOf(page).matchAll(/`(GET|POST|PUT|PATCH|DELETE) (\/[^`\s]*)/g)]
        .map(([, method = '', path = '']) => ({ page, method, path }))
        .map((one) => (one.path.startsWith('/v') ? one : { ...one, path: `${start(page)}${one.path}` })),
    );
    // Of edges and carriers; they are in no document for customers. And those of a carrier's own API.
    const foreign = /^\/v1\/(?:edge|carrier)\/|^\/(?!v\d)/;
    const unknown = named.filter(({ method, path }) => !foreign.test(path) && !isIn(paths, method, path));
    expect(named.length).toBeGreaterThan(300);
    expect([...new Set(unknown.map(({ page, method, path }) => `${page}: ${method} ${path}`))]).toEqual([]);
  });

  /** A segment in braces of either side is any; a query is names with or without values. */
  function isIn(paths: OpenApiDocument['paths'], method: string, text: string): boolean {
    const [path = '', query] = text.replace(/\[|\]|…/g, '').split('?');
    const segments = path.split('/');
    return Object.entries(paths ?? {}).some(([known, operations]) => {
      const operation = operations[method.toLowerCase()];
      const own = known.split('/');
      if (!operation || own.length !== segments.length) return false;
      const free = /^[{<$:]/;
      if (!own.every((one, at) => one === segments[at] || free.test(one) || free.test(segments[at] ?? '')))
        return false;
      const names = query?.split('&').map((one) => one.split('=')[0]) ?? [];
      return names.every((name) => name === '' || operation.parameters?.some((one) => one.name === name));
    });
  }
});

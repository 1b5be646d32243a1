/** The page of the request's life (docs/internals/http.md) against the hooks that control adds. */
import { globSync, readFileSync } from 'node:fs';
import { dirname, join } from 'node:path';
import { expect, test } from 'vitest';

const root = dirname(import.meta.dirname);
const page = readFileSync(join(root, 'docs/internals/http.md'), 'utf8');

/** `onRequest control/http/base.ts` for each hook of the whole server. */
const shown = [...page.matchAll(/^\| \d+ \| `(\w+)` \| `([^`]+)` \|/gm)].map(
  ([, hook = '', file = '']) => `${hook} ${file}`,
);

/** Hooks of one scope, such as the signature pages, are in the row of their step. */
const scoped = new Set(['onRequest control/porting/sign-routes.ts']);

test('every hook is on the page of a request, each once', () => {
  const added = globSync('control/**/*.ts', { cwd: root })
    .filter((file) => !file.endsWith('.test.ts'))
    .flatMap((file) =>
      [...readFileSync(join(root, file), 'utf8').matchAll(/\.addHook\('(\w+)'/g)].map(
        ([, hook]) => `${hook} ${file}`,
      ),
    )
    .filter((hook) => !/^(onRoute|preClose|onClose) /.test(hook) && !scoped.has(hook));
  expect(shown.toSorted()).toEqual(added.toSorted());
});

test('hooks of one kind are in the order in which the server adds them', () => {
  const calls: readonly [string, string][] = [
    ['control/http/base.ts', readFileSync(join(root, 'control/http/base.ts'), 'utf8')],
    ['control/app.ts', readFileSync(join(root, 'control/app.ts'), 'utf8')],
  ];
  const adders: Readonly<Record<string, string>> = {
    "app.addHook('onRequest'": 'control/http/base.ts',
    'addUnreadBodies(app)': 'control/http/unread-body.ts',
    'addCors(app,': 'control/http/cors.ts',
    'addJsonBodies(app)': 'control/http/json-body.ts',
    'addAccessLog(app);': 'control/http/base.ts',
    'traceRequests(app,': 'control/http/traced-requests.ts',
    'trackRequests(app,': 'control/http/under-way.ts',
    'createMetrics(app,': 'control/deployment/metrics.ts',
    'leaving.follow(app)': 'control/leaving.ts',
    'addGuard(app,': 'control/organizations/guard.ts',
    'addIdempotency(app,': 'control/http/idempotency.ts',
    'addDurableAnswers(app,': 'control/http/durable-answers.ts',
  };
  const order = calls.flatMap(([file, text]) =>
    Object.entries(adders)
      .map(([call, adds]) => ({ at: text.indexOf(call), adds, call }))
      .filter(({ at }) => at >= 0)
      .sort((one, other) => one.at - other.at)
      .map(({ adds, call }) => ({ file, adds, call })),
  );
  expect(order.map(({ call }) => call)).toHaveLength(Object.keys(adders).length);
  for (const hook of ['onRequest', 'preValidation', 'onSend', 'onResponse']) {
    const onPage = shown.filter((one) => one.startsWith(`${hook} `)).map((one) => one.slice(hook.length + 1));
    const adding = order.map(({ adds }) => adds).filter((file) => onPage.includes(file));
    expect([...new Set(adding)].filter((file) => onPage.includes(file))).toEqual([...new Set(onPage)]);
  }
});

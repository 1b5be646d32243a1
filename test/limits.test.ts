/**
 * Checks docs/limits.md against the settings and the code. Limits are: a setting with a number, a constant or field whose
 * name looks like a limit, a field of the transport limits, a rate of a route.
 */
import { readdirSync, readFileSync } from 'node:fs';
import { dirname, join } from 'node:path';
import { expect, test } from 'vitest';
import { controlLimits } from '../control/limits.ts';
import { DEFAULT_TRANSPORT_LIMITS } from '../edge/engine/transport/limits.ts';
import { edgeLimits } from '../edge/limits.ts';
import { apiErrors } from '../shared/errors.ts';
import { quotas, retention } from '../shared/settings/amounts.ts';
import { settings } from '../shared/settings/table.ts';

const root = dirname(import.meta.dirname);
const page = readFileSync(join(root, 'docs', 'limits.md'), 'utf8');

/** Numeric settings that are not limits, and why. */
const noLimits: Readonly<Record<string, string>> = {
  SIP_TLS_PORT: 'a port',
  CONTROL_PORT: 'a port',
  RTP_PORT_MIN: 'a port; the page names the range',
  RTP_PORT_MAX: 'a port; the page names the range',
  TRUNK_PROBE_INTERVAL_S: 'an interval',
};

/** Values of the programs' tables of limits that are not limits, and why. */
const noTableLimits: Readonly<Record<string, string>> = {
  'probes.standInAfter': 'intervals, not a limit',
  'alerts.evaluationMs': 'an interval',
  'answering.pauseMs': 'a threshold',
  'answering.patienceMs': 'a threshold',
  'answering.silenceMs': 'a threshold',
  'answering.suspectMs': 'a threshold',
  'answering.suspectPauseMs': 'a threshold',
  'calls.ringAfterMs': 'a pause',
  'consult.repeats': 'a number of turns',
  'consult.tailMs': 'a pause',
  'db.beatMs': 'an interval',
  'events.lookMs': 'an interval',
  'events.sweepMs': 'an interval',
  'failover.failbackAfter': 'a threshold',
  'failover.failoverAfter': 'a threshold',
  'porting.pollMs': 'an interval',
  'probes.intervalMs': 'the setting TRUNK_PROBE_INTERVAL_S replaces it',
  'probes.jitter': 'a share',
  'registration.keepaliveMs': 'an interval',
  'replicas.lookMs': 'an interval',
  'registration.retryMs': 'the base of growing pauses',
  'shards.lookMs': 'an interval',
  'shards.restartMs': 'a pause',
  'workers.lookMs': 'an interval',
  'talk.listenMs': 'a pause',
  'talk.repeats': 'a number of turns',
  'talk.tailMs': 'a pause',
  'testCaller.turnEndMs': 'a pause',
};

/** Constants whose name looks like a limit, and why they are none. */
const noBounds: Readonly<Record<string, string>> = {
  'edge/engine/transport/websocket-frames.ts LONGEST_HEAD': 'a format',
  'control/db/sqlite/storage.ts lookBytes': 'the space of the test file for a full disk',
  'control/replicas/shared-counts.ts entriesBytes': 'a step',
  'control/replicas/transients.ts frameBytes': 'an estimate',
  'control/testing/analysis/model-edits.ts mostCertain': 'a share',
  'control/testing/callers/profile.ts mostKnown': 'a cache',
  'control/testing/scenarios/drafts.ts mostAnswerWords': 'a rule of language',
  'control/db/copy/rows.ts mostValues': 'a batch',
  'control/db/postgres/dialect.ts longestPrepared': 'a cache',
  'control/db/postgres/dialect.ts mostPrepared': 'a cache',
  'control/db/sqlite/statements.ts longestText': 'a cache',
  'control/db/sqlite/statements.ts mostStatements': 'a cache',
  'control/operations/private-files.ts maxmem': 'a parameter of scrypt',
  'control/edge-link/reports.ts mostMarked': 'a cache',
  'control/events/feed.ts mostPages': 'a cache',
  'control/events/record.ts mostRead': 'a step',
  'control/porting/document-parts-store.ts partBytes': 'a step',
  'control/porting/documents.ts ivBytes': 'a format',
  'control/porting/documents.ts tagBytes': 'a format',
  'control/porting/expiry.ts longestWaitMs': 'an interval',
  'scripts/doctor/command.ts mostOutput': 'what is read of nft',
  'scripts/doctor/database.ts largestChecked': 'a threshold',
  'scripts/doctor/machine.ts littleBytes': 'a threshold',
  'scripts/doctor/machine.ts scarceBytes': 'a threshold',
  'scripts/doctor/trunks.ts mostNumbers': 'a page of the API',
  'scripts/doctor/trunks.ts mostShown': 'a form of text',
  'control/porting/expiry.ts mostPerOrganization': 'a queue of the program itself',
  'control/porting/expiry.ts mostRunning': 'a queue of the program itself',
  'control/porting/virus-scan.ts chunkBytes': 'a step',
  'control/recordings/contents.ts partBytes': 'a step',
  'control/recordings/inspect.ts blockBytes': 'a step',
  'control/recordings/inspect.ts mostPeaks': 'the resolution of a drawing',
  'control/recordings/opus/encoder.ts mostPacketBytes': 'a format',
  'control/recordings/opus/ogg.ts headBytes': 'a format',
  'control/recordings/opus/ogg.ts mostSegments': 'a format',
  'control/recordings/opus/ogg.ts segmentBytes': 'a format',
  'control/recordings/s3/client.ts mostUploads': 'a batch',
  'control/recordings/storage/reading.ts firstBlockBytes': 'a step',
  'control/recordings/storage/reading.ts longestBlockBytes': 'a step',
  'control/recordings/storage/transfer.ts partBytes': 'a step',
  'control/recordings/wav.ts wavHeadBytes': 'a format',
  'control/testing/watch/heard.ts mostLoss': 'a rule: with more loss words may be lost',
  'control/testing/watch/to-scenario.ts mostMenuKeys': 'a rule: more keys are a number',
  'control/tools/code-worker.ts pageBytes': 'a format',
  'control/tools/sent-request.ts shortestSecret': 'what is masked',
  'control/tools/within-time.ts mostTries': 'retries of work delayed by the machine',
  'edge/agent/answering/beep.ts shortestMs': 'a threshold',
  'edge/agent/audio-uplink.ts envelopeBytes': 'an estimate',
  'edge/media/dtmf/receiver.ts longestTickMs': 'a step',
  'edge/signaling/admission/digest/nonces.ts saltBytes': 'a format',
  'edge/signaling/admission/digest/nonces.ts signatureBytes': 'a format',
  'edge/signaling/admission/digest/nonces.ts timeBytes': 'a format',
  'edge/engine/drachtio-port/header-names.ts MAX_KNOWN': 'a cache',
  'edge/engine/transport/limits.ts maxConnections': 'the default of SIP_MAX_CONNECTIONS',
  'edge/engine/transport/limits.ts maxMessageBytes': 'the same as maxBytes of a message',
  'edge/engine/transport/limits.ts pingIntervalMs': 'an interval',
  'edge/engine/transport/limits.ts tcpKeepaliveMs': 'an interval',
  'edge/media/dtmf/event.ts longestSegment': 'a format',
  'edge/media/worker-pipe.ts mostPrepared': 'a cache',
  'edge/media/playout.ts maxCatchUp': 'ticks of the edge’s own clock',
  'edge/media/rtp/packet.ts maxPayload': 'the size of a buffer of the edge’s own frames',
  'edge/media/quality/reception.ts maxDropout': 'a rule of RFC 3550',
  'edge/media/quality/reception.ts maxMisorder': 'a rule of RFC 3550',
  'edge/media/recording/recording-file.ts stepBytes': 'a step',
  'edge/reporting/recordings/growing-file.ts headBytes': 'a step',
  'edge/reporting/recordings/growing-file.ts pieceBytes': 'a step',
  'edge/reporting/recordings/uploads.ts growthBytes': 'a step',
  'edge/reporting/recordings/uploads.ts longestPauseMs': 'an interval',
  'edge/reporting/recordings/uploads.ts partBytes': 'a step',
  'edge/reporting/held-reports.ts overheadBytes': 'an estimate',
  'edge/reporting/journal/frame.ts headBytes': 'a format',
  'shared/kept-values/frame.ts headBytes': 'a format',
  'edge/reporting/journal/frame.ts keptBytes': 'the size of a buffer that is used again',
  'scripts/agent-test/api.ts mostScenarios': 'the size of the batches that it starts',
  'scripts/call/phone.ts answerLimitMs': 'Timer B of the test phone',
  'shared/agent/built-in-variables.ts mostClocks': 'a cache',
  'shared/agent/keys.ts mostKnown': 'a cache',
  'shared/agent/keys.ts longestKnown': 'a cache',
  'shared/hep.ts chunkHeaderBytes': 'a format',
  'shared/hep.ts headerBytes': 'a format',
  'shared/recording/format.ts mostHeaderBytes': 'a format',
  'shared/recording/format.ts tagBytes': 'a format',
  'shared/recording/keys.ts tagBytes': 'a format',
  'shared/secret-box.ts ivBytes': 'a format',
  'shared/secret-box.ts tagBytes': 'a format',
  'edge/trunks/test-call/test-tone.ts mostly': 'a share',
  'edge/trunks/dns-question.ts maxDatagramBytes': 'a format',
  'edge/trunks/dns-question.ts maxStreamBytes': 'a format',
};

const rows = page.split('\n').filter((line) => line.startsWith('| '));
const cells = rows.map((line) => line.slice(2, -2).split(' | '));
const code = (cell: string | undefined) => /^`([^`]*)`/.exec(cell ?? '')?.[1];

test('every numeric setting has a row, or a reason why it is not a limit', () => {
  const limits = settings
    .filter((setting) => /^\d+$/.test(setting.default))
    .map(({ name }) => name)
    .filter((name) => !(name in noLimits));
  const named = cells.flatMap(([, name = '']) => /^`([A-Z][A-Z_]+)`$/.exec(name)?.[1] ?? []);
  expect(named.sort()).toEqual([...limits].sort());
});

test('the default of each setting is that of the code', () => {
  const shown = cells.flatMap(([, where = '', value]) => {
    const name = /^`([A-Z][A-Z_]+)`$/.exec(where)?.[1];
    return name ? [[name, code(value)]] : [];
  });
  const used = shown.map(([name]) => [name, settings.find((setting) => setting.name === name)?.default]);
  expect(shown).toEqual(used);
});

test.each([
  ['QUOTAS', quotas],
  ['RETENTION_DAYS', retention],
])('every kind of %s has a row with its default', (setting, kinds) => {
  const shown = cells.flatMap(([, where = '', value]) => {
    const [, name, kind] = /^`([A-Z_]+)` `(\w+)`$/.exec(where) ?? [];
    return name === setting && kind ? [[kind, value === 'none' ? null : numberOf(code(value))]] : [];
  });
  const used = Object.entries(kinds).map(([kind, { default: value }]) => [kind, value]);
  expect(shown.sort()).toEqual(used.sort());
});

test('every number in the tables of limits of the programs has a row, or a reason why it is not a limit', () => {
  const rowsOf = (name: string) => cells.filter(([, where = '']) => where.endsWith(`.ts\` \`${name}\``));
  const tables = Object.entries({ ...controlLimits, ...edgeLimits, calls: edgeLimits.calls });
  const numbers = [...tables, ['calls', controlLimits.calls] as const].flatMap(([area, limits]) =>
    Object.entries(limits)
      .filter((entry): entry is [string, number] => typeof entry[1] === 'number')
      .map(([name, value]) => ({ key: `${area}.${name}`, name, value })),
  );
  expect(numbers.length).toBeGreaterThan(60);
  const missing = numbers
    .filter(({ name, value }) => !rowsOf(name).some(([, , shown]) => numberOf(code(shown)) === value))
    .map(({ key }) => key);
  expect(missing.filter((key) => !(key in noTableLimits))).toEqual([]);
  expect(Object.keys(noTableLimits).filter((key) => !missing.includes(key))).toEqual([]);
});

/** Of a number, or a product of numbers. */
function numberOf(text = ''): number {
  return text.split('*').reduce((product, factor) => product * Number(factor.replaceAll('_', '')), 1);
}

const product = readdirSync(root, { recursive: true, withFileTypes: true })
  .filter((entry) => entry.isFile() && entry.name.endsWith('.ts') && !/\.(test|d)\.ts$/.test(entry.name))
  .map((entry) => join(entry.parentPath, entry.name).slice(root.length + 1))
  .filter((file) => /^(shared|edge|control|outgoing|scripts)\//.test(file));

const textOf = (file: string) => readFileSync(join(root, file), 'utf8');

/** A number, or a product of numbers. */
const number = '[0-9][0-9_]*(?:\\s*\\*{1,2}\\s*[0-9][0-9_]*)*|0x[0-9a-f]+';
const boundName = '(?:max|most|longest|largest|MAX_|MOST_|LONGEST_)\\w*|shortest\\w*';
const constant = new RegExp(
  `^\\s*(?:export )?const (${boundName}|\\w+(?:Limit|LimitMs|TimeoutMs|Bytes))\\b[^=\\n]*= (?:${number}|0\\.\\d+);`,
  'gm',
);
/** Fields of limits; `max_turns` and the like are values of the API, `mostBytes: 0` reads nothing. */
const field = new RegExp(
  `^ {2,}((?:max|most|longest|largest)(?:[A-Z]\\w*|mem)|\\w+TimeoutMs): (?:${number}),`,
  'gm',
);

/** The default when a caller sets nothing: `this.#maxWaiting = options.maxWaiting ?? 200;` */
const fallback = new RegExp(
  `\\b((?:max|most|longest|largest)[A-Z]\\w*)(?: =|:) [\\w.]+ \\?\\? (?:${number})[,;]`,
  'g',
);

function foundIn(file: string): string[] {
  const text = textOf(file);
  const constants = [...text.matchAll(constant)].map((match) => match[1]);
  const fields = [...text.matchAll(field), ...text.matchAll(fallback)]
    .map((match) => match[1])
    // Schemas are in the OpenAPI document; 0 reads nothing.
    .filter((name) => !/^max(Length|Items|Properties)$|^mostBytes$|^maxRetries$/.test(name ?? ''));
  return [...constants, ...fields].map((name) => `${file} ${name}`);
}

const bounds = new Set([
  ...product.flatMap(foundIn),
  ...Object.keys(DEFAULT_TRANSPORT_LIMITS)
    .filter(
      (name) => typeof DEFAULT_TRANSPORT_LIMITS[name as keyof typeof DEFAULT_TRANSPORT_LIMITS] === 'number',
    )
    .map((name) => `edge/engine/transport/limits.ts ${name}`),
]);

const constants = cells.flatMap(([, where = '', value]) => {
  const [, file, name] = /^`([^`]+\.ts)` `(\w+)`$/.exec(where) ?? [];
  return file && name ? [{ file, name, value: code(value) ?? '' }] : [];
});
const onPage = new Set(constants.map(({ file, name }) => `${file} ${name}`));

test('every constant and field that looks like a limit has a row, or a reason why it is not a limit', () => {
  expect(bounds.size).toBeGreaterThan(150);
  expect([...bounds].filter((bound) => !onPage.has(bound) && !(bound in noBounds)).sort()).toEqual([]);
});

test('the constant or setting of every exception exists and has no row', () => {
  const names = new Set<string>(settings.map(({ name }) => name));
  expect(Object.keys(noLimits).filter((name) => !names.has(name))).toEqual([]);
  expect(Object.keys(noBounds).filter((bound) => !bounds.has(bound) || onPage.has(bound))).toEqual([]);
});

test('no limit has two rows', () => {
  const named = cells.map(([, where = '']) => where).filter((where) => /^`/.test(where));
  expect(named.filter((where, index) => named.indexOf(where) !== index)).toEqual([]);
});

test.each(constants)('$name of $file is $value', ({ file, name, value }) => {
  const literals = textOf(file).matchAll(
    new RegExp(
      `(?:const ${name}\\b[^=\\n]*= |^\\s+${name}: |this\\.#${name} = )(?:[\\w.]+ \\?\\? )?([^;,\\n]+)[;,]`,
      'gm',
    ),
  );
  // The schema of the same name has no value.
  expect([...literals].map(([, literal]) => literal).find((literal) => !/^Type\./.test(literal ?? ''))).toBe(
    value,
  );
});

test('every rate of a route has a row', () => {
  const rate = /scope: '(\w+)', limit: (\d+), windowSeconds: (\d+)/g;
  const used = product
    .filter((file) => file.startsWith('control/'))
    .flatMap((file) => [...textOf(file).matchAll(rate)].map(([, ...parts]) => parts.join(' ')));
  const shown = cells.flatMap(([, scope, limit, within]) => {
    const seconds = /^(\d+) s$/.exec(within ?? '')?.[1];
    return seconds ? [`${code(scope)} ${limit} ${seconds}`] : [];
  });
  expect(used.length).toBeGreaterThan(8);
  expect(shown.sort()).toEqual(used.sort());
});

test('every constant that a rate of a route is made of has a row', () => {
  const rate = /scope: '\w+', limit: (\w+), windowSeconds: (\w+)/g;
  const named = product
    .filter((file) => file.startsWith('control/'))
    .flatMap((file) => {
      const text = textOf(file);
      return [...text.matchAll(rate)]
        .flatMap(([, ...parts]) => parts)
        .filter((name) => new RegExp(`^const ${name} = \\d`, 'm').test(text))
        .map((name) => `${file} ${name}`);
    });
  expect(named.length).toBeGreaterThan(1);
  expect(named.filter((name) => !onPage.has(name))).toEqual([]);
});

test('every metric on the page exists', () => {
  const programs = product.map(textOf).join('\n');
  const metrics = [...page.matchAll(/`(trunkline_\w+)/g)].map(([, name = '']) => name);
  const transport = textOf('edge/engine/transport/layer.ts');
  const engine = product
    .filter((file) => file.startsWith('edge/engine/'))
    .map(textOf)
    .join('\n');
  // Metrics of the engine have no prefix in the code: a field of the transport's counters, or a counter by name.
  const isKnown = (name: string) => {
    const [, ofTransport, own] = /^trunkline_engine_(transport_)?(\w+)$/.exec(name) ?? [];
    if (own === undefined) return new RegExp(`['"\`]${name}['"\`{]|\\b${name}: `).test(programs);
    if (ofTransport) return new RegExp(`\\b${own}: `).test(transport);
    return engine.includes(`count('${own}'`);
  };
  expect(metrics.length).toBeGreaterThan(50);
  expect([...new Set(metrics)].filter((name) => !isKnown(name))).toEqual([]);
});

test('every error code on the page is documented', () => {
  const errors = readFileSync(join(root, 'docs', 'errors.md'), 'utf8');
  const codes = cells.flatMap((row) => [...(row[5] ?? '').matchAll(/`(\w+)`/g)].map(([, name]) => name));
  expect(codes.filter((name) => !errors.includes(`\`${name}\``))).toEqual([]);
});

test('every status on the page matches its error code', () => {
  const shown = cells.flatMap(([what, , , happens = '', , codes = '']) => {
    const status = /^(4\d\d|503)\b/.exec(happens)?.[1];
    const name = /^`([A-Z_]+)`$/.exec(codes)?.[1];
    return status && name ? [[what, name, Number(status)] as const] : [];
  });
  expect(shown.length).toBeGreaterThan(40);
  const statusOf = (name: string) => Object.entries(apiErrors).find(([code]) => code === name)?.[1].status;
  expect(shown.filter(([, name, status]) => statusOf(name) !== status)).toEqual([]);
});

test('the error code of a row is one that the file of its constant uses', () => {
  const isApiCode = (name: string) => Object.hasOwn(apiErrors, name);
  const wrong = cells.flatMap(([what, where = '', , , , codes = '']) => {
    const file = /^`([^`]+\.ts)` `\w+`$/.exec(where)?.[1];
    const name = /^`([A-Z_]+)`$/.exec(codes)?.[1];
    if (!file || !name || !isApiCode(name)) return [];
    const text = textOf(file);
    const used = [...text.matchAll(/'([A-Z_]+)'/g)].map(([, code = '']) => code).filter(isApiCode);
    if (/ApiError\.invalid\(/.test(text)) used.push('INVALID_PARAMETER');
    if (/\bshowWindow\(/.test(text)) used.push('RATE_LIMITED');
    if (/ApiError\.unavailable\(/.test(text)) used.push('SERVICE_UNAVAILABLE');
    return used.length === 0 || used.includes(name) ? [] : [`${what}: ${name}, not ${used.join(', ')}`];
  });
  expect(wrong).toEqual([]);
});

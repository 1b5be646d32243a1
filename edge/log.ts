/** The edge's log: lines on standard output, with SRTP keys and credentials redacted. */
import { pino, stdSerializers } from 'pino';
import { logOutput } from '#shared/log-output.ts';
import type { LogSettings } from '#shared/settings/log.ts';
import { redactSip } from '#shared/sip-redaction.ts';
import { idsOfCall } from '#shared/tracing/tracing.ts';

const secretFields = [
  'secret',
  'token',
  'authorization',
  'password',
  'apiKey',
  'api_key',
  'edgeToken',
  'edge_token',
];

/**
 * @param destination standard output unless given
 * @param isTraced whether lines of a call have the ids of its span
 */
export function createLog(
  { level, form }: LogSettings,
  destination: { write(line: string): void } = logOutput(form),
  isTraced = false,
) {
  const options = {
    level,
    base: { program: 'edge' },
    redact: { paths: secretFields.flatMap((field) => [field, `*.${field}`]), censor: 'REDACTED' },
    serializers: {
      err: (error: Error) => {
        const plain = stdSerializers.err(error);
        return { ...plain, message: redactSip(plain.message), stack: redactSip(plain.stack) };
      },
    },
    ...(isTraced && { mixin: idsOfLine }),
  };
  return pino(options, destination);
}

/** Of the call that a line, or the log that it is written to, names. */
function idsOfLine(line: object, _level: number, log: { bindings(): object }): object {
  const { call_id: callId }: { call_id?: unknown } = { ...log.bindings(), ...line };
  return typeof callId === 'string' ? idsOfCall(callId) : {};
}

export type EdgeLog = ReturnType<typeof createLog>;

/** The edge's log: lines on standard output, with SRTP keys and credentials redacted. */
import { pino, stdSerializers } from 'pino';
import { logOutput } from '#shared/log-output.ts';
import type { LogSettings } from '#shared/settings/log.ts';
import { redactSip } from '#shared/sip-redaction.ts';

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

/** @param destination standard output unless given */
export function createLog(
  { level, form }: LogSettings,
  destination: { write(line: string): void } = logOutput(form),
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
  };
  return pino(options, destination);
}

export type EdgeLog = ReturnType<typeof createLog>;

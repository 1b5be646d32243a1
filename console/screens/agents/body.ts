/** What the form of a new agent of others sends. Pure. */
import type { RequestParts } from '../../api/client.ts';
import { agents } from '../../text/agents.ts';
import { objectOf } from '../tools/json-field.ts';

type AgentBody = RequestParts<'POST /v1/agent-testing/agents'>['body'];
export type AgentFormat = AgentBody['format'];

/** A field of the form; '': empty, or not there. */
type Read = (field: string) => string;

export const formats = Object.keys(agents.formats) as AgentFormat[];

export function formatOf(name: string): AgentFormat {
  return formats.find((one) => one === name) ?? 'call';
}

const settings: Readonly<Record<AgentFormat, (read: Read) => Partial<AgentBody>>> = {
  call: (read) => ({
    from: read('from'),
    to: read('to'),
    calls_per_minute: Number(read('perMinute')),
    ...headers(read),
  }),
  stream: (read) => ({ url: read('url') }),
  realtime: (read) => ({ connection: read('connection'), instructions: read('instructions') }),
  openai: (read) => ({ url: read('url'), model: read('model'), ...headers(read) }),
  form: (read) => {
    const ended = read('ended');
    return {
      url: read('url'),
      body: objectOf(agents.fields.body, read('body')),
      reply: read('reply'),
      ...(ended !== '' && { ended }),
      speaks_first: read('speaksFirst') === 'on',
      ...headers(read),
    };
  },
};

function headers(read: Read): Pick<AgentBody, 'headers'> {
  const value = read('secret');
  return value === '' ? {} : { headers: [{ name: read('header'), value }] };
}

/** @throws RequestFailed when the body of its requests is not JSON */
export function agentBody(read: Read): AgentBody {
  const format = formatOf(read('format'));
  return { name: read('name'), format, ...settings[format](read) };
}

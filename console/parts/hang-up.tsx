/** Ends a call, after a question. */
import { request } from '../api/client.ts';
import { texts } from '../text/texts.ts';
import { AskedButton } from './asked-button.tsx';

export function HangUp({ id, name }: { id: string; name: string }) {
  const run = () => request('POST /v1/calls/{call_id}/stop', { path: { call_id: id }, body: {} });
  return <AskedButton words={texts.live.hangUp} name={name} run={run} />;
}

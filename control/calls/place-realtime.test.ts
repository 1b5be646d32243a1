/** Orders of calls that a realtime agent leads (contract 9.8). */
import { expect, it } from 'vitest';
import { connectEdge } from '../../test/kit/control/edge-client.ts';
import { startRoutes } from '../../test/kit/control/harness.ts';
import { releaseAll } from '../../test/kit/fakes/release.ts';

it('names the connection in the command to the edge, without its key', async () => {
  const test = await startRoutes();
  const edge = await connectEdge(test);
  try {
    const trunk = { type: 'outbound', sip_endpoint: 'trunk.example.com' };
    await test.call('POST', '/v1/sip/attach', {
      body: { phone_number: '+14155550100', directions: [trunk] },
    });
    const connection = { name: 'main', protocol: 'openai', url: 'wss://models.example.com/', model: 'm' };
    const settings = { realtime: [{ ...connection, api_key: 'sk-model' }] };
    expect((await test.call('PATCH', '/v1/org/settings', { body: settings })).status).toBe(200);
    const realtime = { connection: 'main', instructions: 'Sell.' };
    const order = { phone_number: '+14155550123', realtime, voice: 'ash', tools: [] };
    const answer = test.call('POST', '/v1/calls', { body: order });
    const { id, command } = await edge.next('command');
    if (command.kind !== 'call.place') throw new Error(`unexpected ${command.kind}`);
    edge.send({ type: 'result', id, ok: true });
    expect((await answer).status).toBe(200);
    const agent = { kind: 'realtime', connection_id: 'main', prompt: 'Sell.', voice: 'ash' };
    expect(command.agent).toMatchObject(agent);
    expect(JSON.stringify(command)).not.toContain('sk-model');
  } finally {
    await releaseAll(
      () => edge.kill(),
      () => test.close(),
    );
  }
});

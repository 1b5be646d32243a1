/** A control plane, and the edges that a test connects to it. */
import type { ReportBody } from '#shared/edge-protocol/reports.ts';
import { callRecord, EdgeClient } from './edge-client.ts';
import { startControl, type TestControl } from './harness.ts';

export class TestEdgeLink {
  readonly test: TestControl;
  readonly url: string;
  readonly open: EdgeClient[] = [];

  private constructor(test: TestControl, url: string) {
    this.test = test;
    this.url = url;
  }

  static async start(): Promise<TestEdgeLink> {
    const test = await startControl({ EXPECT_EDGE: 'true' });
    return new TestEdgeLink(test, `${(await test.url()).replace('http', 'ws')}/v1/edge/link`);
  }

  async close(): Promise<void> {
    for (const edge of this.open.splice(0)) await edge.kill();
    await this.test.close();
  }

  async connect(hello = {}): Promise<EdgeClient> {
    const edge = await EdgeClient.connect(this.url, this.test.edgeToken, hello);
    this.open.push(edge);
    return edge;
  }

  /** The report of an ended call. */
  ended(id: string, changes = {}): ReportBody {
    return { type: 'call', call: callRecord(this.test.orgId, { id, ...changes }) };
  }
}

/** A call id. */
export const id = (last: number) => `00000000-0000-4000-8000-${String(last).padStart(12, '0')}`;

/** A control plane, and the edges that a test connects to it. */
import { afterEach, beforeEach } from 'vitest';
import type { ReportBody } from '#shared/edge-protocol/reports.ts';
import { callRecord, EdgeClient } from './edge-client.ts';
import { startControl, type TestControl } from './harness.ts';
import { emptiedForEach } from './routes-of-file.ts';

/** The control plane is one for all tests of a file, as after its start for each (routes-of-file.ts). */
export class TestEdgeLink {
  readonly test: TestControl;
  /** Ended after each test. */
  readonly open: EdgeClient[] = [];
  #url = '';

  private constructor() {
    this.test = emptiedForEach(() => startControl({ EXPECT_EDGE: 'true' }));
    beforeEach(async () => {
      this.#url = `${(await this.test.url()).replace('http', 'ws')}/v1/edge/link`;
    });
    afterEach(async () => {
      for (const edge of this.open.splice(0)) await edge.kill();
    });
  }

  /** Call it where the file begins. */
  static ofFile(): TestEdgeLink {
    return new TestEdgeLink();
  }

  get url(): string {
    return this.#url;
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

/** Two engine programs, and an application at each. */
import { afterAll, afterEach, beforeAll, beforeEach, expect } from 'vitest';
import {
  type App,
  type AppDialog,
  connectApp,
  EngineProgram,
  leave,
  newApp,
  TestCertificates,
} from './engine.ts';

export const OFFER =
  'v=0\r\no=- 1 1 IN IP4 127.0.0.1\r\ns=-\r\nt=0 0\r\nm=audio 4000 RTP/SAVP 0\r\na=sendrecv\r\n';
export const ANSWER =
  'v=0\r\no=- 2 1 IN IP4 127.0.0.1\r\ns=-\r\nt=0 0\r\nm=audio 5000 RTP/SAVP 0\r\na=sendrecv\r\n';

/** Starts the engines once, the applications for each test. */
export function engineScene() {
  let certificates: TestCertificates;
  let near: EngineProgram;
  let far: EngineProgram;

  beforeAll(async () => {
    certificates = new TestCertificates();
    [near, far] = await Promise.all([EngineProgram.start(certificates), EngineProgram.start(certificates)]);
  });

  afterAll(async () => {
    expect(await Promise.all([near.stop(), far.stop()])).toEqual([0, 0]);
    expect([...near.complaints, ...far.complaints]).toEqual([]);
    certificates.remove();
  });

  let caller: App;
  let callee: App;

  beforeEach(async () => {
    caller = await connectApp(near);
    callee = newApp();
  });

  afterEach(async () => {
    await Promise.all([leave(caller), leave(callee)]);
  });

  const uri = (user = '1000') => `sip:${user}@127.0.0.1:${far.sipPort};transport=tls`;

  async function connected(): Promise<{ uac: AppDialog; uas: AppDialog }> {
    const uas = new Promise<AppDialog>((resolve) => {
      callee.invite((request, response) => {
        void callee.createUAS(request, response, { localSdp: ANSWER }).then(resolve);
      });
    });
    await connectApp(far, callee);
    const uac = await caller.createUAC(uri(), { localSdp: OFFER });
    return { uac, uas: await uas };
  }

  return {
    get certificates() {
      return certificates;
    },
    get near() {
      return near;
    },
    get far() {
      return far;
    },
    get caller() {
      return caller;
    },
    set caller(value) {
      caller = value;
    },
    get callee() {
      return callee;
    },
    set callee(value) {
      callee = value;
    },
    uri,
    connected,
  };
}

/** The console's phone in Chromium: what it needs on loopback, and what the page hears. */
import type { Page } from 'playwright-core';

/** A microphone that beeps, media on loopback, and a certificate that no authority of the browser's has signed. */
export const phoneArguments: readonly string[] = [
  '--allow-loopback-in-peer-connection',
  '--use-fake-device-for-media-stream',
  '--use-fake-ui-for-media-stream',
  '--autoplay-policy=no-user-gesture-required',
  '--ignore-certificate-errors',
];

/** For the page before anything else: measures what each of its connections receives, and keeps its WebSockets. */
export const hearing = `(() => {
  globalThis.sockets = [];
  globalThis.keysSent = [];
  const Socket = WebSocket;
  globalThis.WebSocket = class extends Socket {
    constructor(...options) {
      super(...options);
      globalThis.sockets.push(this);
    }
  };
  const Own = RTCPeerConnection;
  globalThis.RTCPeerConnection = class extends Own {
    constructor(...options) {
      super(...options);
      const listen = ({ track }) => {
        // A context runs on after its call, and the shorter its steps, the more CPU it takes.
        globalThis.heard?.context.close();
        const context = new AudioContext({ sampleRate: 16000, latencyHint: 'playback' });
        const meter = new AnalyserNode(context, { fftSize: 8192, smoothingTimeConstant: 0 });
        const source = new MediaStreamAudioSourceNode(context, { mediaStream: new MediaStream([track]) });
        source.connect(meter);
        const splitter = new ChannelSplitterNode(context, { numberOfOutputs: 2 });
        source.connect(splitter);
        const sides = [0, 1].map((side) => {
          const one = new AnalyserNode(context, { fftSize: 8192, smoothingTimeConstant: 0 });
          splitter.connect(one, side);
          return one;
        });
        globalThis.heard = { context, meter, sides, connection: this };
      };
      // The track comes again at the end of a hold; of many contexts the browser suspends the last ones.
      this.addEventListener('track', listen, { once: true });
      this.addEventListener('connectionstatechange', () => {
        const [{ dtmf }] = this.getSenders();
        if (this.connectionState === 'connected')
          dtmf.addEventListener('tonechange', ({ tone }) => globalThis.keysSent.push(tone));
      });
    }
    close() {
      super.close();
      if (globalThis.heard?.connection !== this) return;
      globalThis.heard.context.close();
      globalThis.heard = undefined;
    }
    setRemoteDescription(description) {
      const { type, sdp } = description;
      if (!globalThis.keptBack) return super.setRemoteDescription(description);
      const candidates = sdp.match(/^a=candidate.*$/gm);
      globalThis.keptBack = () =>
        Promise.all(candidates.map((one) => this.addIceCandidate({ candidate: one.slice(2), sdpMLineIndex: 0 })));
      const rest = sdp.replace(/^a=(candidate|end-of-candidates).*\\r\\n/gm, '');
      return super.setRemoteDescription({ type, sdp: rest });
    }
  };
})()`;

/** Of the last 0.5 s, Hz; null: silence, or no call. */
export function pitchOf(page: Page): Promise<number | null> {
  return pitchBy(page, 'globalThis.heard.meter');
}

/** The same of the left (0) or the right (1) channel. */
export function pitchOfSide(page: Page, side: 0 | 1): Promise<number | null> {
  return pitchBy(page, `globalThis.heard.sides[${side}]`);
}

function pitchBy(page: Page, analyser: string): Promise<number | null> {
  return page.evaluate(`(() => {
    if (!globalThis.heard) return null;
    const { context } = globalThis.heard;
    const meter = ${analyser};
    const samples = new Float32Array(meter.fftSize);
    meter.getFloatTimeDomainData(samples);
    if (samples.slice(0, 1600).every((sample) => Math.abs(sample) < 0.02)) return null;
    const rises = [];
    for (let i = 1; i < samples.length; i++)
      if (samples[i - 1] < 0 && samples[i] >= 0) rises.push(i - samples[i] / (samples[i] - samples[i - 1]));
    return rises.length < 2 ? null : ((rises.length - 1) * context.sampleRate) / (rises.at(-1) - rises[0]);
  })()`);
}

/** As when the network of the computer changes: the edge is no longer reached over the WebSocket that there was. */
export function loseSocket(page: Page): Promise<void> {
  return page.evaluate('globalThis.sockets.at(-1).close()');
}

/** How the page is reached: a WebSocket and a username of ICE, each of which differs after it moved. */
export async function reached(page: Page): Promise<{ sockets: number; ice: string }> {
  return page.evaluate(`({
    sockets: globalThis.sockets.length,
    ice: /a=ice-ufrag:(\\S+)/.exec(globalThis.heard.connection.currentRemoteDescription.sdp)[1],
  })`);
}

/** The next call of the page is answered, and has no way for its media until {@link findWay}. */
export async function loseWay(page: Page): Promise<void> {
  await page.evaluate('globalThis.keptBack = true');
}

export async function findWay(page: Page): Promise<void> {
  await page.evaluate('globalThis.keptBack().then(() => { globalThis.keptBack = false; })');
}

/** That the browser has sent, since the page was loaded. */
export function keysSent(page: Page): Promise<string[]> {
  return page.evaluate('globalThis.keysSent.filter((key) => key !== "")');
}

/** As if the session were for an edge that the policy of the page does not know. */
export const otherEdge = `(() => {
  const Socket = WebSocket;
  globalThis.WebSocket = class extends Socket {
    constructor(_, protocols) {
      super('wss://127.0.0.1:9/', protocols);
    }
  };
})()`;

/** For the page before anything else: a microphone with a tone of so many Hz. */
export const speaking = (hz: number) => `(() => {
  navigator.mediaDevices.getUserMedia = async () => {
    const context = new AudioContext();
    const tone = new OscillatorNode(context, { frequency: ${hz} });
    const speech = new MediaStreamAudioDestinationNode(context);
    tone.connect(speech);
    tone.start();
    return speech.stream;
  };
})()`;

export const deniedMicrophone = `(() => {
  navigator.mediaDevices.getUserMedia = async () => {
    throw new DOMException('denied', 'NotAllowedError');
  };
})()`;
